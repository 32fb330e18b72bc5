package loader

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/filters/replacement"
	"sigs.k8s.io/kustomize/api/resmap"
	kustres "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/utils"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// replace runs the replacements of n.
func (r *replay) replace(m resmap.ResMap, n *kustNode) error {
	for i, rep := range n.spec.Replacements {
		if rep.Path == "" {
			err := r.replaceOne(m, rep.Replacement, n.origin, n.pointer("replacements", strconv.Itoa(i)))
			if err != nil {
				return err
			}
			continue
		}
		file := r.a.replacements[path.Join(n.dir, rep.Path)]
		if file == nil {
			continue
		}
		for j, one := range file.list {
			at := ""
			if file.isList {
				at = "/" + strconv.Itoa(j)
			}
			if err := r.replaceOne(m, one, file.origin, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewritten is a scalar that a replacement writes: its path in an object and what
// it looks like with a placeholder in place of the new value.
type rewritten struct {
	root   *yaml.Node
	tokens []string
	text   string
}

// replaceOne runs one replacement, which stands at a pointer of an origin.
func (r *replay) replaceOne(m resmap.ResMap, rep types.Replacement, origin source.Origin, at string) error {
	rep = ownReplacement(rep)
	from, value := r.replacementSource(m, rep, origin, at)
	targets, places := r.replacedPlaces(m, rep, origin, at)
	before := map[*yaml.Node]int{}
	for _, t := range targets {
		if n := nodeAt(t.root, t.tokens); n != nil {
			before[n] = n.Line
		}
	}
	if err := m.ApplyFilter(replacement.Filter{Replacements: []types.Replacement{rep}}); err != nil {
		return err
	}
	for _, t := range targets {
		n := nodeAt(t.root, t.tokens)
		if n == nil || n.Kind != yaml.ScalarNode || from == 0 {
			continue // a structure keeps the marks of its source
		}
		k := r.replacedMark(t.text, n.Value, value, from, before[n], places)
		k.text = n.Value
		n.Line = r.marks.add(k)
		r.marks.seen[n] = n.Line
	}
	r.settle(m, func(_ string, _ *yaml.Node, old int) writer {
		return writer{origin: origin, at: at, vague: true}.overrides(old)
	})
	return nil
}

// replacedPlaces are the nodes that a replacement writes to: a copy of each object
// that it selects is written to with a placeholder for each field path. places are
// the marks of the field paths, by placeholder.
func (r *replay) replacedPlaces(m resmap.ResMap, rep types.Replacement, origin source.Origin, at string) (targets []rewritten, places []int) {
	copies := map[*kustres.Resource]*kyaml.RNode{}
	for j, target := range rep.Targets {
		if target == nil || target.Select == nil {
			continue
		}
		paths := target.FieldPaths
		if len(paths) == 0 {
			paths = []string{types.DefaultReplacementFieldPath}
		}
		for f, fieldPath := range paths {
			places = append(places, r.marks.add(writer{origin: origin, at: at + "/targets/" + strconv.Itoa(j) + "/fieldPaths/" + strconv.Itoa(f)}))
			text := placeholder(len(places) - 1)
			one := *target
			one.FieldPaths = []string{fieldPath}
			filter := replacement.Filter{Replacements: []types.Replacement{{SourceValue: &text, Targets: []*types.TargetSelector{&one}}}}
			for _, res := range m.Resources() {
				c := copies[res]
				if c == nil {
					if !selectsAny(&one, res) {
						continue
					}
					c = res.Copy()
					copies[res] = c
				}
				if _, err := filter.Filter([]*kyaml.RNode{c}); err != nil {
					continue // the real one decides
				}
			}
		}
	}
	for _, res := range m.Resources() {
		if c := copies[res]; c != nil {
			targets = append(targets, findPlaceholders(res.YNode(), c.YNode())...)
		}
	}
	return targets, places
}

// ownReplacement copies what the library fills in.
func ownReplacement(rep types.Replacement) types.Replacement {
	if rep.Source != nil {
		from := *rep.Source
		rep.Source = &from
	}
	rep.Targets = slices.Clone(rep.Targets)
	for i, t := range rep.Targets {
		if t != nil {
			target := *t
			rep.Targets[i] = &target
		}
	}
	return rep
}

// placeholder i is of characters that no path and no delimiter has.
func placeholder(i int) string { return "\ue000" + strconv.Itoa(i) + "\ue001" }

// selectsAny reports whether a target may select the object by one of its names.
func selectsAny(target *types.TargetSelector, res *kustres.Resource) bool {
	s, err := types.NewSelectorRegex(target.Select)
	if err != nil {
		return false
	}
	for _, id := range append(res.PrevIds(), res.CurId()) {
		if s.MatchGvk(id.Gvk) && s.MatchName(id.Name) && s.MatchNamespace(id.EffectiveNamespace()) {
			return true
		}
	}
	return false
}

func findPlaceholders(root, changed *yaml.Node) []rewritten {
	var out []rewritten
	var walk func(n *yaml.Node, tokens []string)
	walk = func(n *yaml.Node, tokens []string) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], append(tokens[:len(tokens):len(tokens)], n.Content[i].Value))
			}
		case yaml.SequenceNode:
			for i, c := range n.Content {
				walk(c, append(tokens[:len(tokens):len(tokens)], strconv.Itoa(i)))
			}
		case yaml.ScalarNode:
			if strings.Contains(n.Value, "\ue000") {
				out = append(out, rewritten{root, tokens, n.Value})
			}
		}
	}
	walk(changed, nil)
	return out
}

// replacementSource is the mark of the value that a replacement takes, and the
// value; 0 where it is none that can be followed.
func (r *replay) replacementSource(m resmap.ResMap, rep types.Replacement, origin source.Origin, at string) (id int, value string) {
	if rep.SourceValue != nil {
		return r.marks.add(writer{origin: origin, at: at + "/sourceValue", text: *rep.SourceValue}), *rep.SourceValue
	}
	if rep.Source == nil {
		return 0, ""
	}
	fieldPath := rep.Source.FieldPath
	if fieldPath == "" {
		fieldPath = types.DefaultReplacementFieldPath
	}
	for _, res := range m.Resources() {
		for _, resID := range append([]resid.ResId{res.CurId()}, res.PrevIds()...) {
			if !resID.IsSelectedBy(rep.Source.ResId) {
				continue
			}
			found, err := res.Pipe(kyaml.Lookup(utils.SmarterPathSplitter(fieldPath, ".")...))
			if err != nil || found.IsNilOrEmpty() || found.YNode().Kind != yaml.ScalarNode || found.YNode().Line == 0 {
				return 0, ""
			}
			n := found.YNode()
			o := rep.Source.Options
			if o == nil || o.Delimiter == "" {
				return n.Line, n.Value
			}
			parts := strings.Split(n.Value, o.Delimiter)
			if o.Index < 0 || o.Index >= len(parts) {
				return 0, ""
			}
			value := parts[o.Index]
			start := len(strings.Join(parts[:o.Index], o.Delimiter))
			if o.Index > 0 {
				start += len(o.Delimiter)
			}
			if value == "" {
				return 0, ""
			}
			return r.marks.add(writer{text: value, pieces: []fragment{{0, len(value), n.Line, start}}}), value
		}
	}
	return 0, ""
}

// replacedMark is the mark of a text in which a value stands for placeholders.
func (r *replay) replacedMark(shape, text, value string, from, old int, places []int) writer {
	was := r.marks.list[old].text
	var k writer
	n := 0
	put := func(size, by, offset int) {
		if size > 0 {
			k.pieces = append(k.pieces, fragment{n, n + size, by, offset})
		}
		n += size
	}
	rest, first := shape, true
	for {
		before, after, ok := strings.Cut(rest, "\ue000")
		switch {
		case ok && (first && strings.HasPrefix(was, before) || before == ""):
			put(len(before), old, 0)
		case !ok && strings.HasSuffix(was, before):
			put(len(before), old, len(was)-len(before))
		case ok && first && was != "" && strings.HasPrefix(before, was):
			// It was added behind a delimiter,
			put(len(was), old, 0)
			n += len(before) - len(was)
		case !ok && was != "" && strings.HasSuffix(before, was):
			// or in front of one.
			n += len(before) - len(was)
			put(len(was), old, 0)
		default:
			k.vague = true
			put(len(before), old, 0)
		}
		if !ok {
			break
		}
		number, end, _ := strings.Cut(after, "\ue001")
		if i, err := strconv.Atoi(number); err == nil && i < len(places) {
			k.note, k.remark = places[i], "put here by this replacement"
		}
		k.main = len(k.pieces)
		put(len(value), from, 0)
		rest, first = end, false
	}
	if n != len(text) || len(k.pieces) <= k.main {
		return writer{pieces: []fragment{{0, len(text), from, 0}}, note: k.note, remark: k.remark, vague: true}.overrides(old)
	}
	if old != 0 && len(k.pieces) == 1 {
		return k.overrides(old)
	}
	return k
}
