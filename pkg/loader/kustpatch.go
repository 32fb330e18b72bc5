package loader

import (
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// baseOfPatch is said of the place that a patch overrides.
const baseOfPatch = "the base that this patch changes"

// place says where the field of an object of the build was written, as far as
// the replay knows; by is the mark of who wrote it.
func (r *replay) place(o *source.Object, tokens []string, final any, ref source.Ref) (p source.Provenance, by int, ok bool) {
	res := r.roots[o]
	if res == nil || res.YNode() == nil || res.YNode().Line == 0 {
		return source.Provenance{}, 0, false
	}
	n, depth := followNode(res.YNode(), o.Tree, tokens)
	ref.Pointer = ""
	switch {
	case depth < len(tokens), n.Kind == yaml.ScalarNode && !holdsScalar(n, final), (n.Kind == yaml.ScalarNode) == isCollection(final):
		if p, ok := r.reference(o, n, depth, tokens, final, ref); ok {
			return p, 0, true
		}
		p = r.marks.locate(n.Line, source.Ref{}, r.a.files)
		worse := source.Parent
		if depth == 0 && len(tokens) > 0 {
			worse = source.WholeObject
		}
		p.Primary.Precision = p.Primary.Precision.Worse(worse)
		return p, 0, true
	}
	return r.marks.locate(n.Line, ref, r.a.files), n.Line, true
}

// followNode follows tokens in a replayed object as far as it is like the one of
// the build.
func followNode(n *yaml.Node, final any, tokens []string) (*yaml.Node, int) {
	for i, token := range tokens {
		if list, ok := final.([]any); ok && len(list) != len(n.Content) {
			return n, i
		}
		next := entryNode(n, token)
		if next == nil || next.Line == 0 {
			return n, i
		}
		n = next
		final, _ = member(final, token)
	}
	return n, len(tokens)
}

func holdsScalar(n *yaml.Node, final any) bool {
	if f, ok := final.(float64); ok {
		v, err := strconv.ParseFloat(n.Value, 64)
		return err == nil && v == f
	}
	if final == nil {
		return n.Tag == "!!null" || n.Value == ""
	}
	_, text := tagged(final)
	return n.Value == text
}

// reference locates a field that the library made to follow the name or the
// namespace of another object.
func (r *replay) reference(o *source.Object, n *yaml.Node, depth int, tokens []string, final any, ref source.Ref) (source.Provenance, bool) {
	text, ok := final.(string)
	if !ok || text == "" || len(tokens) == 0 {
		return source.Provenance{}, false
	}
	if tokens[len(tokens)-1] == "namespace" && depth >= len(tokens)-1 {
		holder, _ := walkTokens(o.Tree, tokens[:len(tokens)-1])
		name, _ := asMap(holder)["name"].(string)
		for _, to := range r.named[name] {
			if at := nodeAt(to.root, []string{"metadata", "namespace"}); to.object.Namespace == text && at != nil && at.Value == text && at.Line != 0 {
				return r.marks.locate(at.Line, ref, r.a.files), true
			}
		}
		return source.Provenance{}, false
	}
	if depth < len(tokens) || n.Kind != yaml.ScalarNode {
		return source.Provenance{}, false
	}
	own := n.Value
	for _, to := range r.named[own] {
		at := nodeAt(to.root, []string{"metadata", "name"})
		if to.object.Name != text || at == nil || at.Line == 0 {
			continue
		}
		offset, ok := r.marks.within(at.Line, own)
		if !ok || !strings.HasPrefix(text[offset:], own) {
			continue
		}
		if ref.End > 0 && (ref.Start < offset || ref.End > offset+len(own)) {
			if ref.End > len(at.Value) {
				return source.Provenance{}, false // the hash of a generator's content
			}
			return r.marks.locate(at.Line, ref, r.a.files), true
		}
		if ref.End > 0 {
			ref.Start, ref.End = ref.Start-offset, ref.End-offset
		}
		p := r.marks.locate(n.Line, ref, r.a.files)
		for _, other := range r.marks.list[at.Line].pieces {
			if other.start != offset || other.end != offset+len(own) {
				p.Via = append(p.Via, source.Note{At: r.marks.part(other, other.start, other.end, r.a.files).Primary, Says: "a part of the name that this refers to"})
			}
		}
		return p, true
	}
	return source.Provenance{}, false
}

// kustPatch is one document of a patch.
type kustPatch struct {
	tree   any // a mapping (strategic merge) or a list of operations (JSON 6902)
	origin source.Origin
	target *types.Selector
	// options let the patch change what it finds its target by.
	options *types.PatchArgs
	// late: of patchesJson6902, which apply behind labels and annotations.
	late bool
}

// patches returns the patches of a kustomization in the order they apply.
func (a *accumulation) patches(n *kustNode) []*kustPatch {
	if out, ok := a.patchesOf[n]; ok {
		return out
	}
	var out []*kustPatch
	for i, p := range n.older.strategicMerge {
		if n.leaves("patchesStrategicMerge", i) {
			continue
		}
		if f := a.files[path.Join(n.dir, string(p))]; f != nil && !isInline(string(p)) {
			out = append(out, a.patchFile(f, nil)...)
		} else {
			out = append(out, a.inlinePatch(n, string(p), nil, "patchesStrategicMerge", strconv.Itoa(i))...)
		}
	}
	for _, field := range []string{"patches", "patchesJson6902"} {
		list := n.spec.Patches
		if field != "patches" {
			list = n.older.json6902
		}
		for i, p := range list {
			if n.leaves(field, i) {
				continue
			}
			known := len(out)
			if f := a.files[path.Join(n.dir, p.Path)]; f != nil && p.Path != "" {
				out = append(out, a.patchFile(f, p.Target)...)
			} else if p.Patch != "" {
				out = append(out, a.inlinePatch(n, p.Patch, p.Target, field, strconv.Itoa(i), "patch")...)
			}
			for _, read := range out[known:] {
				read.options, read.late = p.Options, field != "patches"
			}
		}
	}
	a.patchesOf[n] = out
	return out
}

// patchFile returns the patches of a file, aimed at a target.
func (a *accumulation) patchFile(f *source.File, target *types.Selector) []*kustPatch {
	read, ok := a.patchFiles[f]
	if !ok {
		read = a.patchText(f, identity{f}, nil)
		a.patchFiles[f] = read
	}
	out := make([]*kustPatch, len(read))
	for i, p := range read {
		out[i] = &kustPatch{tree: p.tree, origin: p.origin, target: target}
	}
	return out
}

// inlinePatch reads a patch that stands in a string of a kustomization file.
func (a *accumulation) inlinePatch(n *kustNode, text string, target *types.Selector, keys ...string) []*kustPatch {
	return a.patchText(source.NewFile(n.file.Path(), text), inlineText{origin: n.origin, pointer: n.pointer(keys...)}, target)
}

// inlineText is the textMap of a text inside a string of a YAML file.
type inlineText struct {
	origin  source.Origin
	pointer string
}

func (m inlineText) Map(start, end int) source.Provenance {
	return m.origin.Locate(source.Ref{Pointer: m.pointer, Start: start, End: max(end, start+1)})
}

func (inlineText) Absent(int, int) []source.Guard { return nil }

func (a *accumulation) patchText(f *source.File, m textMap, target *types.Selector) []*kustPatch {
	d := decoder{file: f, m: m, limits: a.limits, aliasBudget: a.limits.AliasNodes}
	var out []*kustPatch
	for _, c := range splitDocuments(f.Text()) {
		if v, root, doc, ok := d.parse(c); ok {
			kind, _ := asMap(v)["kind"].(string)
			out = append(out, &kustPatch{tree: v, target: target, origin: &textOrigin{doc: doc, root: root, m: m, base64: kind == "Secret"}})
		}
	}
	a.gaps = append(a.gaps, d.gaps...)
	return out
}
