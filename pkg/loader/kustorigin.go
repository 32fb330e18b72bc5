package loader

import (
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// accumulation repeats, on the level of texts, what a build does: which object
// of which file (or which generator) passes through which kustomizations. The
// result of the build is then matched against it, so that the library's output
// stays free of marks.
type accumulation struct {
	t      *tree
	files  map[string]*source.File
	limits Limits
	shelf  *chartShelf
	gaps   []finding.Gap
	// decoded and patchesOf are kept by file and kustomization.
	decoded   map[string][]*source.Object
	patchesOf map[*kustNode][]*kustPatch
	// patchFiles are the documents of patch files, which may be used for many
	// targets.
	patchFiles map[*source.File][]*kustPatch
	// replacements are the files of replacements by tree path.
	replacements map[string]*replacementFile
	// charts are the objects of the charts that each kustomization inflates.
	charts map[*kustNode][][]*source.Object
}

func newAccumulation(t *tree, files map[string]*source.File, limits Limits, shelf *chartShelf) *accumulation {
	return &accumulation{t: t, files: files, limits: limits, shelf: shelf,
		decoded: map[string][]*source.Object{}, patchesOf: map[*kustNode][]*kustPatch{},
		patchFiles: map[*source.File][]*kustPatch{}, replacements: map[string]*replacementFile{}}
}

// candidate is what an object of the result may have been made from.
type candidate struct {
	object    *source.Object // nil for a generator
	generator *kustGenerator
	kind      string
	name      string
	namespace string
	// layers are the kustomizations it passes through, in order.
	layers []*kustNode
}

// target adds what kustomization n contributes to the candidates so far, in
// the library's order: resources, generators, components, and then its own
// changes to all of them.
func (a *accumulation) target(ctx context.Context, n *kustNode, candidates []*candidate) []*candidate {
	for _, item := range n.resources {
		if item.node != nil {
			candidates = append(candidates, a.target(ctx, item.node, nil)...)
			continue
		}
		for _, o := range a.objects(ctx, item.file) {
			candidates = append(candidates, &candidate{object: o, kind: o.Kind, name: o.Name, namespace: o.Namespace})
		}
	}
	for _, objects := range a.charts[n] {
		for _, o := range objects {
			candidates = append(candidates, &candidate{object: o, kind: o.Kind, name: o.Name, namespace: o.Namespace})
		}
	}
	for i, g := range n.spec.ConfigMapGenerator {
		if n.leaves("configMapGenerator", i) {
			continue
		}
		candidates = append(candidates, generated(n, "configMapGenerator", i, g.GeneratorArgs, "ConfigMap"))
	}
	for i, g := range n.spec.SecretGenerator {
		if n.leaves("secretGenerator", i) {
			continue
		}
		candidates = append(candidates, generated(n, "secretGenerator", i, g.GeneratorArgs, "Secret"))
	}
	for _, c := range n.components {
		candidates = a.target(ctx, c, candidates)
	}
	for _, c := range candidates {
		c.layers = append(c.layers, n)
	}
	return candidates
}

func (a *accumulation) objects(ctx context.Context, name string) []*source.Object {
	if objects, ok := a.decoded[name]; ok {
		return objects
	}
	f := a.files[name]
	read := a.shelf.decoded(f, func() decodedFile {
		objects, gaps := decodeObjects(ctx, f, identity{f}, unit{kind: source.Kustomization, dir: a.t.display(path.Dir(name))}, a.limits)
		return decodedFile{objects, gaps}
	})
	a.decoded[name] = read.objects
	a.gaps = append(a.gaps, read.gaps...)
	return read.objects
}

// names returns the names the candidate has on its way: as written, and after
// each kustomization.
func (c *candidate) names() []string {
	name := c.name
	out := []string{name}
	for _, n := range c.layers {
		switch c.kind {
		case "Namespace", "CustomResourceDefinition", "APIService":
		default:
			name = n.spec.NamePrefix + name + n.spec.NameSuffix
		}
		out = append(out, name)
	}
	return out
}

func (c *candidate) finalNamespace() string {
	ns := c.namespace
	for _, n := range c.layers {
		if n.spec.Namespace != "" {
			ns = n.spec.Namespace
		}
	}
	return ns
}

var hashSuffix = regexp.MustCompile(`^-[a-z0-9]{10}$`)

// score says how well c explains the object o; 0: not at all.
func (c *candidate) score(o *source.Object) int {
	if c.kind != o.Kind {
		return 0
	}
	var score int
	names := c.names()
	final := names[len(names)-1]
	rest, isPrefix := strings.CutPrefix(o.Name, final)
	switch {
	case o.Name == final, c.generator != nil && isPrefix && hashSuffix.MatchString(rest):
		score = 8
	case slices.Contains(names, o.Name):
		score = 4
	case c.name != "" && strings.Contains(o.Name, c.name):
		score = 1
	default:
		return 0
	}
	if c.finalNamespace() == o.Namespace || c.namespace == o.Namespace {
		score += 2
	}
	if c.object == nil || c.object.APIVersion == o.APIVersion {
		score++
	}
	return score
}

// kustOrigin is the Origin of an object that a kustomization produced.
type kustOrigin struct {
	object     *source.Object
	again      *rebuild
	candidates []*candidate
}

// Locate implements source.Origin.
func (o *kustOrigin) Locate(r source.Ref) source.Provenance {
	tokens := source.PointerTokens(r.Pointer)
	final, depth := walkTokens(o.object.Tree, tokens)
	missing := depth < len(tokens)
	if missing {
		tokens, r = tokens[:depth], source.Ref{}
	}
	again := o.again.replay()
	p, by, ok := again.place(o.object, tokens, final, r)
	switch {
	case !ok:
		p = o.near(tokens)
	case by != 0 && again.marks.list[by].patch && again.marks.list[by].prev == 0 && !isCollection(final):
		// The patch brought a list of its own: the base's item is the one like it.
		if from := o.from(); from != nil && from.object != nil {
			if at, v, ok := mapPath(o.object.Tree, from.object.Tree, tokens); ok && !isCollection(v) {
				base := from.object.Origin.Locate(source.Ref{Object: from.object.ID}.Child(at...))
				p.Via = append(p.Via, source.Note{At: base.Primary, Says: baseOfPatch})
			}
		}
	}
	switch {
	case missing && depth == 0:
		p.Primary.Precision = p.Primary.Precision.Worse(source.WholeObject)
	case missing:
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	return p
}

// near is a place near a field whose writer is not known: in what the object
// was most likely made from.
func (o *kustOrigin) near(tokens []string) source.Provenance {
	from := o.from()
	if from == nil {
		file := o.again.graph.root.file
		return source.Provenance{Primary: source.Location{File: file.Path(), Span: file.Span(0, 0), Precision: source.WholeFile}}
	}
	p := source.Provenance{}
	if from.object == nil {
		p = from.generator.place("", source.Ref{}, nil)
	} else {
		at, _, _ := mapPath(o.object.Tree, from.object.Tree, tokens)
		p = from.object.Origin.Locate(source.Ref{Object: from.object.ID}.Child(at...))
	}
	p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	return p
}

// from is what the object was most likely made from; nil where nothing is like
// it.
func (o *kustOrigin) from() (from *candidate) {
	best := 0
	for _, c := range o.candidates {
		if c.generator != nil && (c.generator.behavior == "merge" || c.generator.behavior == "replace") {
			continue
		}
		if s := c.score(o.object); s > best {
			best, from = s, c
		}
	}
	return from
}

// has reports whether a field is written.
func (n *kustNode) has(keys ...string) bool {
	at := n.field(keys...)
	return at != nil && at != n.field(keys[:len(keys)-1]...)
}

// replacementFile is a file of replacements: one, or a list of them.
type replacementFile struct {
	list   []types.Replacement
	isList bool
	origin source.Origin
}

// replacementFiles reads the files that a kustomization takes replacements from.
// One that holds something else is left to the library, which refuses it.
func (a *accumulation) replacementFiles(n *kustNode) {
	for _, rep := range n.spec.Replacements {
		name := path.Join(n.dir, rep.Path)
		f := a.files[name]
		if rep.Path == "" || f == nil || a.replacements[name] != nil {
			continue
		}
		v, doc, gaps := parseOne(f, "kustomize", a.limits)
		a.gaps = append(a.gaps, gaps...)
		if doc == nil {
			continue
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		out := &replacementFile{isList: isList, origin: &textOrigin{doc: doc, root: doc.root, m: identity{f}}}
		if data, err := json.Marshal(list); err != nil || json.Unmarshal(data, &out.list) != nil {
			out.list = nil
		}
		a.replacements[name] = out
	}
}
