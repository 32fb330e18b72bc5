package lint

import (
	"context"
	"reflect"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// distinct leaves out the groups in which no rule could see anything that the
// default group does not show: a repository of a hundred charts has a hundred
// value sets, and few of them touch a VPN. Their names go to the default group.
// What another set of a chart adds is looked at by itself; that it changes what
// is known of a VPN in another chart is not expected of anything but the kinds
// that facts.Facts tells of.
func (l *Linter) distinct(ctx context.Context, groups []loader.Group, opts Options) ([]loader.Group, error) {
	out := []loader.Group{{Names: slices.Clone(groups[0].Names), Objects: groups[0].Objects}}
	for _, g := range groups[1:] {
		known, err := l.read(ctx, difference(g.Objects, groups[0].Objects), facts.Options{Workloads: opts.Workloads})
		if err != nil {
			return nil, err
		}
		if known.Silent() && len(l.user) == 0 { // a rule of the user may look at anything
			out[0].Names = append(out[0].Names, g.Names...)
			continue
		}
		out = append(out, g)
	}
	return out, nil
}

// difference returns the objects that only one of the two has. Groups hold
// copies of what they share, with one tree.
func difference(a, b []*source.Object) []*source.Object {
	tree := func(o *source.Object) uintptr { return reflect.ValueOf(o.Tree).Pointer() }
	count := make(map[uintptr]int, len(a))
	for _, o := range slices.Concat(a, b) {
		count[tree(o)]++
	}
	return slices.DeleteFunc(slices.Concat(a, b), func(o *source.Object) bool { return count[tree(o)] > 1 })
}

// held is a finding with the groups of value sets in which it was made.
type held struct {
	finding finding.Finding
	groups  []string
}

// mergeSets makes one finding of those that several groups have in common, with
// the names of the value sets under which it holds, and sorts them.
func mergeSets(said []held, groups []loader.Group) []finding.Finding {
	slices.SortStableFunc(said, func(a, b held) int { return compareFindings(a.finding, b.finding) })
	all := setNames(groups)
	var out []finding.Finding
	for start := 0; start < len(said); {
		end := start + 1
		for end < len(said) && compareFindings(said[start].finding, said[end].finding) == 0 {
			end++
		}
		out = append(out, mergeHeld(said[start:end], all))
		start = end
	}
	return out
}

// setNames returns the names of all value sets, sorted.
func setNames(groups []loader.Group) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g.Names...)
	}
	slices.SortFunc(all, loader.CompareSets)
	return all
}

// mergeHeld merges what is one finding. The first, of the default set if it has
// it, is what is shown; the others add their places.
func mergeHeld(same []held, all []string) finding.Finding {
	f := same[0].finding
	var groups, own []string
	for _, h := range same {
		if h.finding.Suppressed == nil {
			f.Suppressed = nil
		}
		own = union(own, h.finding.ValueSets)
		groups = append(groups, h.groups...)
		f.Clusters = union(f.Clusters, h.finding.Clusters)
		f.Containers = union(f.Containers, h.finding.Containers)
		for _, n := range h.finding.Related {
			if !slices.ContainsFunc(f.Related, func(have source.Note) bool { return have.At == n.At }) {
				f.Related = append(slices.Clip(f.Related), n)
			}
		}
	}
	slices.SortFunc(groups, loader.CompareSets)
	f.ValueSets = setsOf(own, slices.Compact(groups), all)
	return f
}

// setsOf names the value sets that a finding holds under. own are those of its
// object's chart or target, none for what comes of no chart; groups are the names in whose
// groups the finding was made, of all that there are.
func setsOf(own, groups, all []string) []string {
	byDefault := slices.Contains(groups, loader.DefaultSet)
	if own == nil {
		if byDefault && len(groups) == len(all) {
			return nil // no chart has a part in it
		}
		return groups
	}
	var out []string
	for _, name := range groups {
		// A group of another chart's set shows this one with its defaults: what it
		// says beyond the default group is owed to that other set.
		if slices.Contains(own, name) || !byDefault {
			out = append(out, name)
		}
	}
	return out
}

// countObjects counts the objects of all groups, those that several have once.
func countObjects(groups []loader.Group) int {
	ids := map[source.ObjectID]bool{}
	for _, g := range groups {
		for _, o := range g.Objects {
			ids[o.ID] = true
		}
	}
	return len(ids)
}

// union returns the distinct members of both, sorted; nil for none.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
