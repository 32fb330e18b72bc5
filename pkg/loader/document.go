package loader

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Document is a YAML or JSON file of one document that is no Kubernetes object,
// such as vpnlint's own configuration. Its Object has no apiVersion, kind or
// name; Tree is nil for an empty file.
type Document struct {
	Object *source.Object
	File   *source.File

	doc *document
}

// Problem is a reason why a document cannot be used, at its place.
type Problem struct {
	At   source.Location
	Says string
}

// ReadDocument reads a file of one document, as strictly as people who write it
// by hand need it: a key that is written twice is a problem, and so is a second
// document. With problems the document may be nil.
func ReadDocument(f *source.File, limits Limits) (*Document, []Problem) {
	f = withoutBOM(f)
	d := decoder{file: f, m: identity{f}, unit: unit{kind: source.Manifest, dir: path.Dir(f.Path())}, limits: limits.withDefaults(), strict: true}
	d.aliasBudget = d.limits.AliasNodes
	out := &Document{File: f, Object: &source.Object{Unit: path.Dir(f.Path()), Input: source.Manifest, Path: f.Path()}}
	var problems []Problem
	at := func(offset int) source.Location { return identity{f}.Map(offset, offset).Primary }
	if text, as, ok := otherEncoding(f.Text()); ok && text != "" {
		return nil, []Problem{{at(0), "it is " + string(as) + "; save it as UTF-8"}}
	}
	first := true
	for _, c := range splitDocuments(f.Text()) {
		if blankDocument(f.Text()[c.start:c.end]) {
			continue
		}
		if !first {
			problems = append(problems, Problem{at(c.start), "a second document starts here; the file must hold one"})
			break
		}
		first = false
		v, root, doc, ok := d.parse(c)
		if !ok {
			continue
		}
		if root == nil {
			problems = append(problems, Problem{at(c.start), "the places in it cannot be told; write it in plain YAML"})
			continue
		}
		tree, isMap := v.(map[string]any)
		if !isMap {
			problems = append(problems, Problem{out.markOf(doc, root), "it holds no mapping; its keys stand at the start of lines"})
			continue
		}
		out.doc, out.Object.Tree = doc, tree
		out.Object.Origin = &textOrigin{doc: doc, root: root, m: d.m}
	}
	for i, g := range d.gaps {
		says := g.What + ": " + g.Why
		if g.What == "the document could not be parsed" || g.What == "the document could not be read" {
			says = g.Why
		}
		problems = append(problems, Problem{at(d.offsets[i]), says})
	}
	if out.Object.Origin == nil {
		start := at(0)
		out.Object.Origin = fixedOrigin{start}
	}
	return out, problems
}

func (d *Document) markOf(doc *document, n *yaml.Node) source.Location {
	start, end := doc.mark(n)
	return identity{d.File}.Map(start, end).Primary
}

// Key returns the place of the key at a JSON pointer; for a list item the place
// of the item, and for what does not exist that of its nearest ancestor.
func (d *Document) Key(pointer string) source.Location {
	if d.doc == nil {
		return d.Object.Origin.Locate(source.Ref{}).Primary
	}
	f := find(d.doc.root, source.PointerTokens(pointer))
	if f.key == nil {
		return d.markOf(d.doc, f.node)
	}
	return d.markOf(d.doc, f.key)
}

// fixedOrigin is the origin of what has one place.
type fixedOrigin struct{ at source.Location }

// Locate implements source.Origin.
func (o fixedOrigin) Locate(source.Ref) source.Provenance {
	return source.Provenance{Primary: o.at}
}

// FindUp looks for a file of that name in dir and in the directories above it,
// up to the root of the git work tree around dir; outside of one, in dir alone.
// It returns the file's absolute path, "" when there is none. A link that leads
// out of the work tree is an error.
func FindUp(dir, name string) (string, error) {
	root := treeRoot(dir, dir, true)
	for d := dir; ; d = filepath.Dir(d) {
		found := filepath.Join(d, name)
		switch _, err := os.Lstat(found); {
		case err == nil:
			resolved, err := filepath.EvalSymlinks(found)
			if err != nil {
				return "", &PathError{Path: shownPath(dir, found), Err: reason(err)}
			}
			if rel, err := filepath.Rel(root, resolved); err != nil || !filepath.IsLocal(rel) {
				return "", &PathError{Path: shownPath(dir, found), Err: errLeavesTree}
			}
			return found, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", &PathError{Path: shownPath(dir, found), Err: reason(err)}
		}
		if d == root || d == filepath.Dir(d) {
			return "", nil
		}
	}
}

// TreeRoot returns the root of the git work tree around the absolute path dir,
// dir itself outside of one.
func TreeRoot(dir string) string { return treeRoot(dir, dir, true) }

// StatInTree describes the file at an absolute path, which must lie in the tree
// at root, links followed. The error is a *PathError.
func StatInTree(root, name string) (fs.FileInfo, error) {
	t, err := openTree(root, Options{Dir: root})
	if err != nil {
		return nil, &PathError{Path: name, Err: reason(err)}
	}
	defer t.close()
	rel, ok := t.rel(name)
	if !ok {
		return nil, &PathError{Path: name, Err: errOutside}
	}
	info, err := t.stat(rel)
	if err != nil {
		return nil, &PathError{Path: name, Err: plainReason(err)}
	}
	return info, nil
}

var errOutside = errors.New("it lies outside the repository")

// plainReason is the reason of an error of a tree, for messages that name the
// file themselves.
func plainReason(err error) error {
	if errors.Is(err, errLeavesTree) {
		return errLeavesTree
	}
	return reason(err)
}

// ReadFile reads a file that the user named, within Limits.FileBytes. name is
// relative to dir, and so is the path of the result. The error is a *PathError.
func ReadFile(dir, name string, limits Limits) (*source.File, error) {
	f, err := readValuesFile(Options{Dir: dir}, name, limits.withDefaults())
	if err != nil {
		return nil, &PathError{Path: name, Err: err}
	}
	return f, nil
}
