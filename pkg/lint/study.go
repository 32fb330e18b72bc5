package lint

import (
	"context"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Reading is one look at the objects of a run: those of a combination of value
// sets, or of a cluster of the plan, and what was learned from them.
type Reading struct {
	// Groups are the names of the value sets that it stands for.
	Groups []string
	// Objects are those that Facts refers to.
	Objects []*source.Object
	Facts   facts.Facts
	// Charts are the values of all charts of the run.
	Charts []*loader.ChartValues
}

// Study is Run for whoever goes on from a report to what is behind it: it also
// returns the readings that the findings were made in.
func (l *Linter) Study(ctx context.Context, paths []string, opts Options) (report.Report, []Reading, error) {
	loaded, err := loader.Load(ctx, paths, opts.load())
	if err != nil {
		return report.Report{}, nil, err
	}
	var readings []Reading
	r, err := l.judge(ctx, paths, loaded, opts, func(one Reading) { readings = append(readings, one) })
	return r, readings, err
}
