package loader

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// stdin reads the documents of standard input, which may be what helm template
// wrote: its comments say from which template each came.
func (l *load) stdin(ctx context.Context) outcome {
	if l.opts.Stdin == nil {
		return outcome{skip: "there is no standard input"}
	}
	text, err := readLimited(l.opts.Stdin, l.opts.Limits.FileBytes, 0)
	if err != nil {
		g := unreadable(stdinName, err)
		return outcome{rendered: rendered{gaps: []finding.Gap{g}}}
	}
	if !slices.ContainsFunc(splitDocuments(text), func(c chunk) bool { return !blankDocument(text[c.start:c.end]) }) {
		// Whoever pipes means to check something, and the shell does not tell
		// that what should have written it failed.
		return outcome{rendered: rendered{gaps: []finding.Gap{{
			Kind: finding.Unreadable, File: stdinName, What: "standard input is empty",
			Why:         "the command before the pipe wrote nothing; see whether it failed (set -o pipefail)",
			Consequence: "nothing of it was checked",
		}}}}
	}
	out := l.decode(ctx, source.NewFile(stdinName, text), ".", true)
	if out.skip != "" && !emptyLists(text) {
		return outcome{rendered: rendered{gaps: []finding.Gap{noManifest(text)}}}
	}
	l.nameSources(ctx, out.objects)
	return out
}

// emptyLists reports whether a text holds lists of objects without any: what was
// asked for is not there, which is no mistake.
func emptyLists(text string) bool {
	for _, c := range splitDocuments(text) {
		doc := text[c.start:c.end]
		if blankDocument(doc) {
			continue
		}
		var list struct {
			Kind  string `json:"kind"`
			Items []any  `json:"items"`
		}
		if err := sigsyaml.Unmarshal([]byte(doc), &list); err != nil || !strings.HasSuffix(list.Kind, "List") || list.Items == nil {
			return false
		}
	}
	return true
}

// noManifest is the gap for standard input that holds text and no object: a
// message, most likely, of a command that failed.
func noManifest(text string) finding.Gap {
	file := source.NewFile(stdinName, text)
	first := (&document{file: file, chunk: chunk{0, len(text)}}).next(0)
	for first < len(text) && strings.HasPrefix(text[first:], "---") {
		first = (&document{file: file, chunk: chunk{0, len(text)}}).next(first + len("---"))
	}
	line, _, _ := strings.Cut(text[first:], "\n")
	const shown = 60
	if runes := []rune(strings.TrimSpace(line)); len(runes) > shown {
		line = string(runes[:shown]) + "…"
	}
	return finding.Gap{
		Kind: finding.Unreadable, File: stdinName, Line: file.Position(first).Line, What: "standard input holds no Kubernetes object",
		Why:         fmt.Sprintf("nothing in it has an apiVersion and a kind; it begins with %q: see whether the command before the pipe failed (set -o pipefail)", strings.TrimSpace(line)),
		Consequence: "nothing of it was checked",
	}
}

// nameSources adds to the places of objects the template that they were rendered
// from. The lines stay those of standard input: those of the template are not
// known, and a line that is only near would be a lie.
func (l *load) nameSources(ctx context.Context, objects []*source.Object) {
	if len(objects) == 0 {
		return
	}
	t, err := openTree(l.opts.Dir, l.opts)
	if err != nil {
		return // then nothing can be said beyond the lines
	}
	defer t.close()
	find := &templateFinder{t: t}
	for _, o := range objects {
		origin, ok := o.Origin.(*textOrigin)
		if !ok {
			continue
		}
		name, at := sourceComment(origin.doc)
		if name == "" {
			continue
		}
		note := source.Note{At: at, Says: "rendered from " + name}
		if file, ok := find.find(ctx, name); ok {
			note = source.Note{At: source.Location{File: file, Precision: source.WholeFile}, Says: "the template it was rendered from; lint its chart for the lines"}
		}
		o.Origin = renderedOrigin{inner: origin, from: note}
	}
}

// renderedOrigin is the origin of an object of a rendered text, with where the
// text came from.
type renderedOrigin struct {
	inner source.Origin
	from  source.Note
}

// Locate implements source.Origin.
func (o renderedOrigin) Locate(r source.Ref) source.Provenance {
	p := o.inner.Locate(r)
	p.Via = append(p.Via[:len(p.Via):len(p.Via)], o.from)
	return p
}

// sourceComment returns the path of the "# Source:" comment that helm template
// writes above a document, and where the comment stands.
func sourceComment(d *document) (string, source.Location) {
	offset := d.chunk.start
	for line := range strings.Lines(d.file.Text()[d.chunk.start:d.chunk.end]) {
		trimmed := strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(trimmed, "# Source: "); ok {
			start := offset + strings.Index(line, "#")
			return strings.TrimSpace(name), source.Location{
				File: d.file.Path(), Span: d.file.Span(start, start+len(trimmed)), Precision: source.Exact,
			}
		}
		if trimmed != "" && trimmed[0] != '#' && !strings.HasPrefix(trimmed, "---") {
			break
		}
		offset += len(line)
	}
	return "", source.Location{}
}

// templateFinder finds the files that "# Source:" comments name: their first
// element is the name of a chart, which may lie anywhere below the working
// directory.
type templateFinder struct {
	t      *tree
	charts map[string][]string // directories by the chart's name
	left   int                 // directories that may still be looked into
}

// maxFinderDirs bounds the search for charts.
const maxFinderDirs = 5000

// find returns the shown path of the file, if there is exactly one.
func (f *templateFinder) find(ctx context.Context, name string) (string, bool) {
	chartName, rest, ok := strings.Cut(name, "/")
	if !ok || path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") {
		return "", false
	}
	if f.charts == nil {
		f.charts, f.left = map[string][]string{}, maxFinderDirs
		f.look(ctx, ".")
	}
	found := ""
	for _, dir := range f.charts[chartName] {
		if p := path.Join(dir, rest); f.t.isFile(p) {
			if found != "" {
				return "", false
			}
			found = p
		}
	}
	return f.t.display(found), found != ""
}

func (f *templateFinder) look(ctx context.Context, dir string) {
	if f.left--; f.left < 0 || ctx.Err() != nil {
		return
	}
	entries, err := f.t.readDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch {
		case e.Name() == "Chart.yaml":
			file, err := f.t.readFile(path.Join(dir, e.Name()))
			var meta struct {
				Name string `json:"name"`
			}
			if err == nil && sigsyaml.Unmarshal([]byte(file.Text()), &meta) == nil && meta.Name != "" {
				f.charts[meta.Name] = append(f.charts[meta.Name], dir)
			}
		case e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules":
			f.look(ctx, path.Join(dir, e.Name()))
		}
	}
}
