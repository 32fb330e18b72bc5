package fix

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// want is one change of the object that mends the finding: what its manifest
// would say. How the chart's values can say it is another question.
type want struct {
	what    string // "the pod sysctl net.ipv4.ip_forward=1"
	pointer string
	value   any
	// item: value is to be an item of the list at pointer.
	item bool
}

// rank orders the kinds of changes: a switch before a value, before an item of a
// list, before a block.
const (
	rankSwitch = 1 + iota
	rankScalar
	rankItem
	rankBlock
)

// size is below that of any edit of a template: values outlive the chart's next
// version.
func size(rank int, changes []change) int {
	n := 1000*rank - 10_000
	for _, ch := range changes {
		if ch.items != nil {
			n += leaves(ch.items)
		} else {
			n += leaves(ch.value)
		}
	}
	return n
}

func leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			n += leaves(inner)
		}
	case []any:
		for _, inner := range v {
			n += leaves(inner)
		}
	}
	return max(n, 1)
}

// ways are the candidates that make the object say all the wants.
func (v *chartView) ways(spec string, wants ...want) []candidate {
	type way struct {
		changes []change
		rank    int
	}
	ways := []way{{}}
	for _, w := range wants {
		var next []way
		for _, one := range v.reach(spec, w) {
			for _, before := range ways {
				next = append(next, way{changes: append(slices.Clone(before.changes), one...), rank: max(before.rank, rankOf(w))})
			}
		}
		ways = next
	}
	var out []candidate
	for _, way := range ways {
		if len(way.changes) == 0 {
			continue
		}
		var what []string
		for _, w := range wants {
			what = append(what, w.what)
		}
		way.changes = joined(way.changes)
		title := strings.Join(what, " and ") + " with " + v.named(way.changes)
		if one := way.changes[0]; len(way.changes) == 1 && one.items == nil && way.rank == rankScalar && !isList(one.value) {
			title = fmt.Sprintf("set %s to %v", v.dotted(one.path), one.value)
		}
		out = append(out, v.candidate(title, size(way.rank, way.changes), way.changes...))
	}
	return out
}

// named lists the values of changes.
func (v *chartView) named(changes []change) string {
	var names []string
	for _, ch := range changes {
		if name := v.dotted(ch.path); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

func rankOf(w want) int {
	_, isMap := w.value.(map[string]any)
	switch {
	case w.item && isMap && leaves(w.value) > 2:
		return rankBlock
	case w.item:
		return rankItem
	case isMap:
		return rankBlock
	}
	return rankScalar
}

// reach finds the changes of values that make the object say what is wanted: by
// the value that is printed there, and by those that the templates hand on to
// the place or to what is around it.
func (v *chartView) reach(spec string, w want) [][]change {
	var out [][]change
	add := func(way ...change) {
		same := func(have []change) bool {
			return slices.EqualFunc(have, way, func(a, b change) bool { return a.key() == b.key() && sameValue(a.value, b.value) })
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, way)
		}
	}
	for _, ch := range v.mirrored(w) {
		add(ch)
	}
	use := func(slots []slot) {
		for _, s := range slots {
			ch, ok := v.through(s, w)
			if !ok {
				continue
			}
			for _, needs := range near(s) {
				add(append(slices.Clone(needs), ch)...)
			}
		}
	}
	if use(v.slotsOf(spec)); len(out) == 0 {
		use(v.widened(spec, w))
	}
	return out
}

// near are the switches that a slot may need, the likeliest first: those beside
// the value, or all.
func near(s slot) [][]change {
	if len(s.needs) == 0 {
		return [][]change{nil}
	}
	var out [][]change
	beside := slices.DeleteFunc(slices.Clone(s.needs), func(ch change) bool {
		parent := ch.path[:len(ch.path)-1]
		return len(parent) == 0 || !slices.Equal(parent, s.path) && !slices.Equal(parent, s.path[:len(s.path)-1])
	})
	if len(beside) > 0 {
		out = append(out, beside)
	}
	for _, ch := range s.needs {
		if len(beside) == 0 && len(s.needs) <= 3 {
			out = append(out, []change{ch})
		}
	}
	return append(out, s.needs)
}

// mirrored changes what is printed in the place already, or in the nearest
// collection around it.
func (v *chartView) mirrored(w want) []change {
	tokens := source.PointerTokens(w.pointer)
	for n := len(tokens); n > 0; n-- {
		at := source.Ref{}.Child(tokens[:n]...).Pointer
		is := descend(v.object, at)
		if is == nil {
			continue
		}
		path, ok := v.mirror(at)
		if !ok {
			return nil
		}
		if ch, ok := v.fill(path, tokens[n:], w); ok {
			return []change{ch}
		}
		return nil
	}
	return nil
}

// fill is the change that puts what is wanted below the value at path.
func (v *chartView) fill(path, rest []string, w want) (change, bool) {
	for i, key := range rest {
		if _, err := strconv.Atoi(key); err != nil {
			continue
		}
		// An item of a list that the value does not have.
		if is, ok := v.values().Lookup(append(slices.Clone(path), rest[:i+1]...)); !ok || is == nil {
			return change{}, false
		}
	}
	full := append(slices.Clone(path), rest...)
	if w.item {
		if is, _ := v.values().Lookup(full); is != nil {
			if _, isList := is.([]any); !isList {
				return change{}, false
			}
		}
		return v.grow(full, w.value), true
	}
	return change{path: full, value: w.value}, true
}

// through is the change of a slot's value by which the wanted text gets to its
// place.
func (v *chartView) through(s slot, w want) (change, bool) {
	env, isEnv := w.value.(map[string]any)
	name, _ := env["name"].(string)
	isEnv = isEnv && w.item && strings.HasSuffix(w.pointer, "/env")
	switch s.kind {
	case slotMap:
		if within(w.pointer, s.pointer) {
			return v.fill(s.path, source.PointerTokens(strings.TrimPrefix(w.pointer, s.pointer)), w)
		}
	case slotItems:
		if w.item && w.pointer == s.pointer {
			return v.grow(s.path, w.value), true
		}
	case slotEnv:
		if isEnv && w.pointer == s.pointer {
			return change{path: append(slices.Clone(s.path), name), value: env["value"]}, true
		}
	case slotKeyed, slotKeyedParts:
		item := maps.Clone(env)
		image, _ := item["image"].(string)
		if !w.item || w.pointer != s.pointer || image == "" {
			return change{}, false
		}
		delete(item, "name")
		if repository, tag, ok := strings.Cut(image, ":"); ok && s.kind == slotKeyedParts {
			item["image"] = map[string]any{"repository": repository, "tag": tag}
		}
		return change{path: append(slices.Clone(s.path), name), value: item}, true
	case slotScalar, slotJoined:
		value := w.value
		if isEnv {
			// The variable has its own value: it was left out, or is empty.
			holder := strings.TrimSuffix(s.pointer, "/value")
			if parent := source.PointerTokens(holder); len(parent) == 0 || holder == s.pointer || !within(holder, w.pointer) || v.bench.names[s.key()] != name {
				return change{}, false
			}
			value = env["value"]
		} else if w.pointer != s.pointer {
			return change{}, false
		}
		if is, _ := v.values().Lookup(s.path); isList(is) {
			return change{path: s.path, value: splitList(value)}, true
		}
		return change{path: s.path, value: value}, s.kind == slotScalar
	}
	return change{}, false
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// splitList takes a list apart that is written as one text.
func splitList(v any) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	var out []any
	for _, word := range strings.FieldsFunc(text, isSeparator) {
		out = append(out, word)
	}
	return out
}

func (s slot) key() string { return s.pointer + "\x00" + strings.Join(s.path, "\x00") }

// container is the container of the pod that has the name.
func container(pod *facts.Pod, name string) *facts.Container {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return &pod.Containers[i]
		}
	}
	return nil
}
