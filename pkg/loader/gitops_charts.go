package loader

import (
	"context"

	"github.com/vpnlint/vpnlint/pkg/source"
)

type kustomizeChange struct{}

func fluxPostRenderers(homed) []kustomizeChange { return nil }

func (l *load) openCharts() error { return nil }

func (g *gitops) findChart(r *release) (chartAt, string, bool) {
	return chartAt{}, "nothing is downloaded; name a copy with --chart " + r.chart.name + "=PATH", false
}

func (g *gitops) renderRelease(ctx context.Context, r *release, at chartAt) []*source.Object {
	return nil
}

func (g *gitops) postRender(ctx context.Context, r *release, objects []*source.Object) []*source.Object {
	return objects
}

func (g *gitops) substitute(ctx context.Context, jobs []job, outcomes []outcome) {}

func (g *gitops) application(ctx context.Context, o homed) []*source.Object { return nil }
func (g *gitops) applicationSet(o homed) []homed                            { return nil }
