package fix

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// thrown are the changes that may let in what a condition keeps out, one for
// each value that it reads.
func (v *chartView) thrown(g source.Guard) []change {
	var out []change
	for _, read := range g.Reads {
		path := loader.SplitPath(read.Path)
		is, _ := v.values().Lookup(path)
		switch is := is.(type) {
		case bool:
			if !is {
				out = append(out, change{path: path, value: true})
			}
		case nil:
			out = append(out, change{path: path, value: true})
		case string:
			for _, word := range v.words(g) {
				if word != is {
					out = append(out, change{path: path, value: word})
				}
			}
		}
	}
	return out
}

var quoted = regexp.MustCompile(`"([^"\\]+)"`)

// words are those that a condition compares with: {{ if eq .Values.mode "init" }}.
func (v *chartView) words(g source.Guard) []string {
	f := v.Report.Files[g.At.File]
	if f == nil || g.At.Span.Start.Line == 0 {
		return nil
	}
	text := f.Text()[f.Offset(g.At.Span.Start):f.Offset(g.At.Span.End)]
	if !strings.Contains(text, "eq ") {
		return nil
	}
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// maxSwitches bounds the ways that are rendered for one finding, maxThrown the
// switches of one.
const (
	maxSwitches = 24
	maxThrown   = 3
)

// switches are the ways to let text in that a condition keeps out of the pod
// spec, and that is about what the words say: each value by itself, then all
// that one condition reads. Only those are returned for which proves says so of
// what the chart then renders to.
func (v *chartView) switches(spec string, words []string, proves func(after []*source.Object) bool) [][]change {
	absent := slices.Clone(v.object.Origin.Locate(source.Ref{Object: v.object.ID, Pointer: spec}).Absent)
	says := func(g source.Guard) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(g.Keeps, w) })
	}
	slices.SortStableFunc(absent, func(a, b source.Guard) int {
		switch x, y := says(a), says(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	var ways [][]change
	for _, g := range absent {
		all := v.thrown(g)
		for _, ch := range all {
			ways = withWay(ways, []change{ch})
		}
		ways = withWay(ways, all)
	}
	var out [][]change
	for i := 0; i < min(len(ways), maxSwitches); i++ {
		way := ways[i]
		if slices.ContainsFunc(out, func(smaller []change) bool { return contains(way, smaller) }) {
			continue
		}
		after := v.chartWith(override(v.values().Tree, way))
		if after != nil && proves(after) {
			out = append(out, way)
			continue
		}
		if o := v.among(after); o != nil && len(way) < maxThrown {
			still := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: spec}).Absent
			for _, longer := range v.longer(way, slices.DeleteFunc(slices.Clone(still), func(g source.Guard) bool { return !says(g) })) {
				ways = withWay(ways, longer)
			}
		}
	}
	if len(out) == 0 {
		out = v.hidden(proves)
	}
	return out
}

// longer are a way and one change more, of what the conditions read that still
// keep text out: a condition is read up to what decides it, so that behind one
// value another may be waiting, and inside of one condition another.
func (v *chartView) longer(way []change, still []source.Guard) [][]change {
	var out [][]change
	for _, g := range still {
		for _, ch := range v.thrown(g) {
			if !slices.ContainsFunc(way, func(w change) bool { return w.key() == ch.key() }) {
				out = append(out, append(slices.Clone(way), ch))
			}
		}
	}
	return out
}

// withWay adds a way that changes something and is not there yet.
func withWay(ways [][]change, way []change) [][]change {
	same := func(have []change) bool {
		return slices.EqualFunc(have, way, func(a, b change) bool { return a.key() == b.key() && a.value == b.value })
	}
	if len(way) == 0 || slices.ContainsFunc(ways, same) {
		return ways
	}
	return append(ways, way)
}

// contains reports whether a way makes every change of a smaller one.
func contains(way, smaller []change) bool {
	for _, s := range smaller {
		if !slices.ContainsFunc(way, func(ch change) bool { return ch.key() == s.key() && ch.value == s.value }) {
			return false
		}
	}
	return true
}

// hidden finds a switch without the help of provenance, among all values that
// are false: of a template that renders to nothing no condition is known, nor of
// one in a packed subchart. All are thrown at once, and halved while that shows
// something.
func (v *chartView) hidden(proves func(after []*source.Object) bool) [][]change {
	all := turnedOn(v.values().Tree, nil)
	left := maxSwitches
	var halve func(some []change) []change
	shows := func(some []change) bool {
		if left--; left < 0 {
			return false
		}
		after := v.chartWith(override(v.values().Tree, some))
		return after != nil && proves(after)
	}
	halve = func(some []change) []change {
		if len(some) <= 1 {
			return some
		}
		for _, half := range [][]change{some[:len(some)/2], some[len(some)/2:]} {
			if shows(half) {
				return halve(half)
			}
		}
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	if shows(all) {
		if one := halve(all); len(one) == 1 {
			return [][]change{one}
		}
		return nil
	}
	// What breaks the chart with all of them may still be found by halves.
	for _, half := range [][]change{all[:len(all)/2], all[len(all)/2:]} {
		if len(half) > 0 && len(half) < len(all) && shows(half) {
			if one := halve(half); len(one) == 1 {
				return [][]change{one}
			}
		}
	}
	return nil
}

// turnedOn are the changes of all values that are false, down to the depth at which
// charts have their switches.
func turnedOn(at map[string]any, path []string) []change {
	const deepest = 6
	var out []change
	for _, key := range orderedKeys(at) {
		here := append(slices.Clone(path), key)
		switch is := at[key].(type) {
		case map[string]any:
			if len(here) < deepest {
				out = append(out, turnedOn(is, here)...)
			}
		case bool:
			if !is {
				out = append(out, change{path: here, value: true})
			}
		}
	}
	return out
}

// thrownBack are the changes that may keep out what a condition lets in.
func (v *chartView) thrownBack(g source.Guard) []change {
	var out []change
	for _, read := range g.Reads {
		path := loader.SplitPath(read.Path)
		if is, _ := v.values().Lookup(path); is == true {
			out = append(out, change{path: path, value: false})
		}
	}
	return out
}
