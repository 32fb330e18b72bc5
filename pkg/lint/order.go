package lint

import (
	"cmp"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// compareFindings is the one order that every format shows, file by file from
// top to bottom. Nothing else sorts findings, so that output does not depend on
// the order of files, rules or workers; findings that compare equal are one.
func compareFindings(a, b finding.Finding) int {
	return cmp.Or(
		cmp.Compare(a.Primary.File, b.Primary.File),
		cmp.Compare(a.Primary.Span.Start.Line, b.Primary.Span.Start.Line),
		cmp.Compare(a.Primary.Span.Start.Column, b.Primary.Span.Start.Column),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Object.Namespace, b.Object.Namespace),
		cmp.Compare(a.Object.Name, b.Object.Name),
		cmp.Compare(a.Object.Kind, b.Object.Kind),
		cmp.Compare(a.Pointer, b.Pointer),
		cmp.Compare(a.Message, b.Message),
	)
}

// sortGaps returns gaps as a report shows them.
func sortGaps(gaps []finding.Gap) []finding.Gap {
	for i := range gaps {
		g := &gaps[i]
		g.What, g.Why, g.Consequence = finding.WithoutCredentials(g.What), finding.WithoutCredentials(g.Why), finding.WithoutCredentials(g.Consequence)
	}
	slices.SortFunc(gaps, compareGaps)
	return slices.CompactFunc(gaps, func(a, b finding.Gap) bool { return compareGaps(a, b) == 0 })
}

func compareGaps(a, b finding.Gap) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.What, b.What),
		cmp.Compare(a.Why, b.Why),
		cmp.Compare(a.Consequence, b.Consequence),
	)
}
