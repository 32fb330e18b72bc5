package lint

import (
	"path"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suppress"
)

// readSuppressions finds all suppressions of a run.
func readSuppressions(files map[string]*source.File, groups []loader.Group, entries []suppress.Entry) *suppress.Set {
	objects := groups[0].Objects
	for _, g := range groups[1:] {
		objects = append(slices.Clip(objects), difference(g.Objects, groups[0].Objects)...)
	}
	return suppress.New(files, objects, entries)
}

// applySuppressions marks the findings that are suppressed, and returns what
// is to be said of the suppressions themselves. It works on the findings of each
// group of value sets, before they are merged: what is suppressed in one and not
// in another is not suppressed.
func applySuppressions(set *suppress.Set, said []held, run suppress.Run) []finding.Finding {
	if set.Empty() {
		return nil
	}
	used := map[suppress.Use]bool{}
	for i := range said {
		by, uses := set.Of(said[i].finding)
		said[i].finding.Suppressed = by
		for _, u := range uses {
			used[u] = true
		}
	}
	return set.Complaints(used, run)
}

// unseen tells from the gaps whether a rule could judge all of a file: all of
// the chart or kustomization that the file belongs to.
func unseen(gaps []finding.Gap, files map[string]*source.File) func(file, rule string) bool {
	byUnit := map[string][]finding.Gap{}
	for _, g := range gaps {
		unit := unitOf(g.File, files)
		byUnit[unit] = append(byUnit[unit], g)
	}
	return func(file, rule string) bool {
		return slices.ContainsFunc(byUnit[unitOf(file, files)], func(g finding.Gap) bool {
			return g.Kind == finding.Unreadable || slices.Contains(g.Rules, rule)
		})
	}
}

// unitOf returns the directory of the chart or kustomization around a file, or
// the file itself.
func unitOf(file string, files map[string]*source.File) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range [...]string{"Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"} {
			if files[path.Join(dir, name)] != nil {
				return dir
			}
		}
		if dir == "." || dir == "/" || dir == path.Dir(dir) {
			return file
		}
	}
}
