package fix

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// slotKind is what of a value goes to a place.
type slotKind int

const (
	slotMap        slotKind = iota // its keys become those of the mapping there
	slotItems                      // its items become items of the list there
	slotScalar                     // it is the text there
	slotEnv                        // its keys become the names of variables there
	slotJoined                     // its items are joined to the text there
	slotKeyed                      // its keys become the names of containers in the list there
	slotKeyedParts                 // the same, with an image in parts
)

// slot is a value that a chart's templates hand on to a place of the object.
type slot struct {
	kind    slotKind
	path    []string
	pointer string
	// needs are switches without which it stays out.
	needs []change
}

// prober renders a chart with marked values and looks where they turn up.
type prober struct {
	*chartView
	spec   string
	left   int // renders
	slots  []slot
	absent []source.Guard
}

// Each is a word that survives as a key, a name and a variable, in any case.
func probeMark(n int) string { return fmt.Sprintf("VPNLINTPROBE%03dX", n) }

const (
	// maxProbes bounds the values that are tried at once, maxProbeRenders the
	// renders for one object.
	maxProbes       = 300
	maxProbeRenders = 24
	maxShapes       = 5
)

// shapes are the ways to mark a value, the likeliest first. What is there is
// kept, for templates may count on it.
func shapes(is any, held bool) []func(mark string) any {
	asMap := func(m string) any { return map[string]any{m: m} }
	asItem := func(m string) any { return []any{map[string]any{"name": m, "value": m}} }
	asWord := func(m string) any { return []any{m} }
	asText := func(m string) any { return m }
	asKeyed := func(m string) any { return map[string]any{m: map[string]any{"image": m}} }
	asKeyedParts := func(m string) any {
		return map[string]any{m: map[string]any{"image": map[string]any{"repository": m, "tag": m}}}
	}
	switch is := is.(type) {
	case map[string]any:
		for _, inner := range is {
			if _, ok := inner.(map[string]any); ok {
				return []func(string) any{asKeyedParts, asKeyed, asMap}
			}
		}
		if len(is) > 0 {
			return []func(string) any{asMap}
		}
		return []func(string) any{asMap, asKeyedParts, asKeyed}
	case []any:
		if len(is) == 0 {
			return []func(string) any{asItem, asWord}
		}
		if _, ok := is[len(is)-1].(string); ok {
			return []func(string) any{func(m string) any { return append(slices.Clone(is), m) }}
		}
		if _, ok := is[len(is)-1].(map[string]any); ok {
			return []func(string) any{func(m string) any { return append(slices.Clone(is), map[string]any{"name": m, "value": m}) }}
		}
	case nil:
		return []func(string) any{asMap, asItem, asKeyedParts, asKeyed, asText}
	case string:
		if is == "" || held {
			return []func(string) any{asText}
		}
	}
	return nil
}

// slotsOf finds where the chart's values go in the object: those that its pod
// spec reads, what these are part of, and those that are empty.
func (v *chartView) slotsOf(spec string) []slot {
	if known, ok := v.bench.slots[v.slotKey(spec)]; ok {
		return known
	}
	p := &prober{chartView: v, spec: spec, left: maxProbeRenders}
	paths, absent := v.podReads(spec)
	p.absent = absent
	paths = withParents(paths)
	paths = append(paths, emptyPaths(v.values().Tree)...)
	paths = unique(paths)
	shortest(paths)
	paths = paths[:min(len(paths), maxProbes)]
	rest := p.rounds(paths, nil)
	if needs := p.allSwitches(); len(needs) > 0 && len(rest) > 0 {
		p.rounds(rest, needs)
	}
	v.bench.slots[v.slotKey(spec)] = p.slots
	return p.slots
}

// widened also looks at values that provenance does not lead to, for templates may
// put together what they print: those whose name is that of a field on the way to
// what is wanted.
func (v *chartView) widened(spec string, w want) []slot {
	var fields, names []string
	for _, token := range source.PointerTokens(strings.TrimPrefix(w.pointer, spec)) {
		if _, err := strconv.Atoi(token); err != nil {
			names, fields = append(names, token), append(fields, strings.ToLower(token))
		}
	}
	key := v.slotKey(spec) + "\x00" + strings.Join(fields, "/")
	if known, ok := v.bench.slots[key]; ok {
		return known
	}
	paths := slices.DeleteFunc(allPaths(v.values().Tree), func(path []string) bool {
		name := strings.ToLower(path[len(path)-1])
		return !slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(name, f) })
	})
	paths = append(paths, v.unset(names)...)
	shortest(paths)
	p := &prober{chartView: v, spec: spec, left: maxProbeRenders}
	p.rounds(paths[:min(len(paths), maxProbes)], nil)
	v.bench.slots[key] = p.slots
	return p.slots
}

func (v *chartView) slotKey(spec string) string {
	return strings.Join([]string{v.values().Path, v.object.Unit, v.values().Set, string(v.object.ID), spec}, "\x00")
}

// rounds marks the paths in each of their shapes until they turn up; it returns
// those that do not.
func (p *prober) rounds(paths [][]string, needs []change) [][]string {
	for round := range maxShapes {
		var probes []probe
		for _, path := range paths {
			is, held := p.values().Lookup(path)
			if ways := shapes(is, held); round < len(ways) {
				probes = append(probes, probe{path: path, shape: ways[round]})
			}
		}
		if len(probes) > 0 {
			p.render(probes, needs)
		}
		paths = slices.DeleteFunc(slices.Clone(paths), func(path []string) bool {
			return slices.ContainsFunc(p.slots, func(s slot) bool { return slices.Equal(s.path, path) })
		})
	}
	return paths
}

type probe struct {
	path  []string
	shape func(mark string) any
}

// render renders the chart with probes. Where the object does not survive that,
// each half is tried by itself.
func (p *prober) render(probes []probe, needs []change) {
	if p.left--; p.left < 0 {
		return
	}
	changes := slices.Clone(needs)
	for i, one := range probes {
		changes = append(changes, change{path: one.path, value: one.shape(probeMark(i))})
	}
	object := p.renderedWith(overlapping(changes, p.values().Tree))
	if object == nil {
		if half := len(probes) / 2; half > 0 {
			p.render(probes[:half], needs)
			p.render(probes[half:], needs)
		}
		return
	}
	for i, one := range probes {
		p.find(object, one.path, probeMark(i), needs)
	}
}

// overlapping is the override of changes of which some are inside of others.
func overlapping(changes []change, tree map[string]any) map[string]any {
	out := map[string]any{}
	for _, ch := range changes {
		merged := override(tree, []change{ch})
		out = mergeValues(out, merged)
	}
	return out
}

func mergeValues(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	for k, v := range b {
		inner, isMap := v.(map[string]any)
		had, wasMap := out[k].(map[string]any)
		if isMap && wasMap {
			out[k] = mergeValues(had, inner)
			continue
		}
		out[k] = v
	}
	return out
}

// renderedWith is the object as the chart makes it with an override; nil when it
// does not.
func (v *chartView) renderedWith(values map[string]any) *source.Object {
	return v.among(v.chartWith(values))
}

// among is the view's object as it is among others.
func (v *chartView) among(objects []*source.Object) *source.Object {
	for _, o := range objects {
		if o.Kind == v.object.Kind && o.Name == v.object.Name && o.Namespace == v.object.Namespace && o.Unit == v.object.Unit {
			return o
		}
	}
	return nil
}

// chartWith are the chart's objects under the value set of the reading, rendered
// with an override.
func (v *chartView) chartWith(values map[string]any) []*source.Object {
	r := v.bench.render(v.values().Path, v.release, values)
	if r == nil {
		return nil
	}
	objects := r.Objects
	for _, g := range r.Groups {
		if slices.Contains(g.Names, v.values().Set) {
			objects = g.Objects
		}
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o *source.Object) bool { return !v.of(o) })
}

// find looks for a mark in the rendered object.
func (p *prober) find(o *source.Object, path []string, mark string, needs []change) {
	add := func(kind slotKind, at source.Ref) {
		s := slot{kind: kind, path: path, pointer: at.Pointer, needs: needs}
		if within(s.pointer, p.spec) && !slices.ContainsFunc(p.slots, func(t slot) bool {
			return t.kind == s.kind && t.pointer == s.pointer && slices.Equal(t.path, s.path)
		}) {
			p.slots = append(p.slots, s)
		}
	}
	is := func(text any) bool { return isMark(text, mark) }
	var visit func(at source.Ref, parent, v any)
	visit = func(at source.Ref, parent, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				if is(key) && is(inner) {
					add(slotMap, at)
				}
			}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if !is(key) {
					visit(at.Child(key), v, v[key])
				}
			}
		case []any:
			for i, item := range v {
				if kind, marked := p.listSlot(path, item, mark); marked {
					add(kind, at)
				} else {
					visit(at.Child(fmt.Sprint(i)), v, item)
				}
			}
		case string:
			if variable, ok := member(parent, "name").(string); ok {
				p.bench.names[slot{path: path, pointer: at.Pointer}.key()] = variable
			}
			if is(v) {
				add(slotScalar, at)
			} else if len(v) < 4096 && slices.ContainsFunc(strings.FieldsFunc(v, isSeparator), func(s string) bool { return strings.EqualFold(s, mark) }) {
				add(slotJoined, at)
			}
		}
	}
	visit(source.Ref{}, nil, o.Tree)
}

// listSlot is what the list takes that has the item with the mark in it.
func (p *prober) listSlot(path []string, item any, mark string) (kind slotKind, marked bool) {
	m, _ := item.(map[string]any)
	image, _ := m["image"].(string)
	named := isMark(m["name"], mark)
	switch {
	case named && isMark(image, mark) && p.probesMap(path):
		return slotKeyed, true
	case named && strings.EqualFold(image, mark+":"+mark):
		return slotKeyedParts, true
	case named && p.probesMap(path):
		return slotEnv, true
	case named, isMark(item, mark):
		return slotItems, true
	}
	return kind, false
}

// isMark: charts write names in capitals or small.
func isMark(v any, mark string) bool {
	text, is := v.(string)
	return is && strings.EqualFold(text, mark)
}

func isSeparator(r rune) bool { return r == ',' || r == ';' || r == ' ' }

// probesMap reports whether the value at a path is, or may be, a mapping.
func (p *prober) probesMap(path []string) bool {
	is, _ := p.values().Lookup(path)
	_, isList := is.([]any)
	return !isList
}

// allSwitches throws everything that keeps text out of the pod spec.
func (p *prober) allSwitches() []change {
	var out []change
	for _, g := range p.absent {
		for _, ch := range p.thrown(g) {
			if !slices.ContainsFunc(out, func(o change) bool { return o.key() == ch.key() }) && ch.value == true {
				out = append(out, ch)
			}
		}
	}
	return out
}

// withParents adds the mappings that values stand in.
func withParents(paths [][]string) [][]string {
	var out [][]string
	for _, path := range paths {
		for n := len(path); n > 0; n-- {
			out = append(out, path[:n:n])
		}
	}
	return out
}

// emptyPaths are the values that hold nothing, for these wait to be filled.
func emptyPaths(tree map[string]any) [][]string {
	var out [][]string
	const deepest = 6
	var visit func(at map[string]any, path []string)
	visit = func(at map[string]any, path []string) {
		for _, key := range slices.Sorted(maps.Keys(at)) {
			here := append(slices.Clone(path), key)
			if inner, ok := at[key].(map[string]any); ok && len(inner) > 0 {
				if len(here) < deepest {
					visit(inner, here)
				}
			} else if emptyValue(at[key]) {
				out = append(out, here)
			}
		}
	}
	visit(tree, nil)
	return out
}

// unset are the fields that values might have which look like a pod or a
// container.
func (v *chartView) unset(names []string) [][]string {
	var out [][]string
	for _, path := range allPaths(v.values().Tree) {
		is, _ := v.values().Lookup(path)
		at, _ := is.(map[string]any)
		if at["containers"] == nil && at["image"] == nil {
			continue
		}
		for _, name := range names {
			if _, held := at[name]; !held {
				out = append(out, append(slices.Clone(path), name))
			}
		}
	}
	return out
}

// allPaths are the values of a tree but for the items of lists.
func allPaths(tree map[string]any) [][]string {
	var out [][]string
	const deepest = 8
	var visit func(at map[string]any, path []string)
	visit = func(at map[string]any, path []string) {
		for _, key := range slices.Sorted(maps.Keys(at)) {
			here := append(slices.Clone(path), key)
			out = append(out, here)
			if inner, ok := at[key].(map[string]any); ok && len(here) < deepest {
				visit(inner, here)
			}
		}
	}
	visit(tree, nil)
	return out
}

func unique(paths [][]string) [][]string {
	seen := map[string]bool{}
	return slices.DeleteFunc(paths, func(path []string) bool {
		key := strings.Join(path, "\x00")
		again := seen[key]
		seen[key] = true
		return again
	})
}

// bench is what the proposers of a run share for charts.
type bench struct {
	// render renders a chart alone with an override, for a release all of the run;
	// nil when that is not possible.
	render func(chart string, release bool, values map[string]any) *loader.Result
	// stopped reports whether the time for proofs is up.
	stopped func() bool
	slots   map[string][]slot
	// names are the variables that slots are the values of, by slot.
	names map[string]string
	// byValues: what the values do is wanted, not how files are edited.
	byValues bool
}

func newBench(ctx context.Context, paths []string, opts lint.Options, byValues bool) *bench {
	render := func(chart string, release bool, values map[string]any) *loader.Result {
		load := opts.Load
		if opts.Plan != nil {
			load.Targets = opts.Plan.Targets
		}
		load.Overrides = map[string]map[string]any{chart: mergeValues(load.Overrides[chart], values)}
		from := []string{chart}
		if release {
			from = paths
		}
		r, err := loader.Load(ctx, from, load)
		if err != nil {
			return nil // the chart has gone, or the time is up
		}
		return r
	}
	return &bench{render: render, stopped: func() bool { return ctx.Err() != nil }, slots: map[string][]slot{}, names: map[string]string{}, byValues: byValues}
}
