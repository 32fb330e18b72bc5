package loader

import (
	"context"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// renderChart says that charts are not rendered yet.
func renderChart(_ context.Context, t *tree, dir string, _ Options) rendered {
	return rendered{gaps: []finding.Gap{{
		Kind: finding.Unreadable, File: t.display(dir) + "/Chart.yaml", Line: 1,
		What: "the chart was not rendered", Why: "this version cannot render charts; lint the output of helm template instead",
		Consequence: "no object of the chart was checked",
	}}}
}
