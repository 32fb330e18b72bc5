package loader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// likeGap is a gap that many objects of a repository have for the same reason,
// so that one says it for all of them.
type likeGap struct {
	kind finding.GapKind
	// of is the kind of the objects, name the object's.
	of, name string
	// one and many are what could not be seen, with %s for the object or the
	// objects.
	one, many        string
	why, consequence string
	at               source.Location
}

func (g *gitops) addLike(l likeGap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alike = append(g.alike, l)
}

const notInTree = "this tree has no such directory; lint the repository that holds it, from its root where that has no .git"

// notHere records that a GitOps object applies a directory that the tree does not
// hold.
func (g *gitops) notHere(o *source.Object, pointer, why string) {
	kind := o.Kind
	if isFlux(o) {
		kind = "Flux " + kind
	}
	g.addLike(likeGap{
		kind: finding.Unresolved, of: kind, name: o.Name,
		one: "what the %s applies was not seen", many: "what %s apply was not seen",
		why: why, consequence: "the objects in it are missing from this report",
		at: o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}).Primary,
	})
}

// likeGaps makes one gap of all that are alike.
func (g *gitops) likeGaps() []finding.Gap {
	slices.SortFunc(g.alike, func(a, b likeGap) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Span.Start.Line, b.at.Span.Start.Line), cmp.Compare(a.name, b.name))
	})
	type key struct {
		kind               finding.GapKind
		of, many, why, end string
	}
	groups := map[key][]likeGap{}
	var order []key
	for _, l := range g.alike {
		k := key{l.kind, l.of, l.many, l.why, l.consequence}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], l)
	}
	var out []finding.Gap
	for _, k := range order {
		first := groups[k][0]
		names := map[string]bool{}
		for _, l := range groups[k] {
			names[l.name] = true
		}
		what := fmt.Sprintf(first.one, first.of+" "+first.name)
		if n := len(names); n > 1 {
			what = fmt.Sprintf(first.many, fmt.Sprintf("%d %ss", n, first.of)) + ": " + enumerate(sortedKeys(names), 12)
		}
		out = append(out, finding.Gap{
			Kind: first.kind, File: first.at.File, Line: first.at.Span.Start.Line, What: what, Why: first.why, Consequence: first.consequence,
		})
	}
	return out
}

// enumerate writes a list, of a long one the beginning and how many more.
func enumerate(names []string, shown int) string {
	list := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
