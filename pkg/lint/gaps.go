package lint

import (
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// locateGaps gives the gaps that facts found, which speak of objects only, the
// file and line of their object.
func locateGaps(gaps []finding.Gap, objects []*source.Object) []finding.Gap {
	byID := make(map[source.ObjectID]*source.Object, len(objects))
	for _, o := range objects {
		byID[o.ID] = o
	}
	for i, g := range gaps {
		if g.File != "" || g.At.IsZero() {
			continue
		}
		if o, ok := byID[g.At.Object]; ok {
			at := o.Origin.Locate(g.At).Primary
			gaps[i].File, gaps[i].Line = at.File, at.Span.Start.Line
			if g.Object == nil {
				name := finding.NameOf(o)
				gaps[i].Object = &name
			}
		}
	}
	return gaps
}
