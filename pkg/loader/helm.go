package loader

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file and its neighbours (helm_*.go, values.go) are all that knows Helm's
// library. What it may do is kept small: no DNS, no lookup, no network, no file
// beside those of the tree and the values files that the user names.
//
// Helm writes warnings ("cannot overwrite table ...") to the standard logger of
// package log. A library has no business in redirecting that for the whole
// process while others may write to it; the program's main function does, once,
// before anything runs.

// renderChart renders the chart in the tree's directory dir with one set of
// values and those of opts, and reads its objects. What cannot be rendered is a
// gap; the templates around it are rendered all the same. seen holds what
// earlier sets of the chart came to, and what this one does is added: texts that
// are the same are read once.
//
// Helm's engine knows neither contexts nor limits. A render that outlives its
// time is abandoned: its goroutine runs on until the engine returns, which costs
// memory and a core but nothing else, for all that it reads is its own.
func renderChart(ctx context.Context, at chartAt, opts Options, set valueSet, seen *seenTexts) rendered {
	limits := opts.Limits.withDefaults()
	within := time.Duration(limits.RenderSeconds) * time.Second
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	failed := func(why string) rendered {
		return rendered{gaps: []finding.Gap{chartGap(at.t, at.dir, why)}, used: []string{path.Join(at.dir, "Chart.yaml")}}
	}
	done := make(chan rendered, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- failed(fmt.Sprintf("Helm's library gave up: %v", r))
			}
		}()
		run := &chartRun{ctx: ctx, t: at.t, dir: at.dir, at: at, opts: opts, limits: limits, set: set, seen: seen, engine: ownEngine{limits}}
		if run.shared = at.readings; run.shared == nil {
			run.shared = newChartReadings()
		}
		if opts.children != nil {
			run.engine = &childEngine{ctx: ctx, children: opts.children}
		}
		done <- run.render()
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return failed(fmt.Sprintf("it took longer than %s; look for a loop or a huge repeat in its templates, or raise --limit-render-seconds", within))
		}
		return failed("the run was stopped")
	}
}

// chartGap says that a chart could not be rendered at all.
func chartGap(t *tree, dir, why string) finding.Gap {
	return finding.Gap{
		Kind: finding.Unreadable, File: t.display(path.Join(dir, "Chart.yaml")), Line: 1,
		What: "the chart was not rendered", Why: why, Consequence: "none of the chart's objects were checked",
	}
}

// chartRun renders one chart.
type chartRun struct {
	ctx    context.Context
	t      *tree
	dir    string
	opts   Options
	limits Limits
	at     chartAt
	set    valueSet
	seen   *seenTexts
	shared *chartReadings
	engine chartEngine

	loaded  *loadedChart
	user    *userValues
	caps    *chartutil.Capabilities
	release chartutil.ReleaseOptions
	layers  []*valueLayer
	entries map[string]*templateEntry // by the engine's name for them
	printer *twinPrinter
	lacking []int    // gaps of dependencies that are on and not there, in out.gaps
	orphans []string // templates that call what such a dependency would define
	out     rendered
}

// templateEntry is one template as the engine names it: a chart that is used
// under two aliases has its templates twice.
type templateEntry struct {
	key    string
	chart  *chart.Chart
	index  int // in chart.Templates
	file   *source.File
	fixed  *source.Location
	prefix []string // of the chart's values
	// parsed is nil for a template without a twin.
	parsed *templateFile
	twin   string // the engine's name for the twin, "" when there is none
	// deep: the twin prints marked copies of defines.
	deep bool
	// events are those of the last render, strayed is why there are none.
	events  []event
	strayed error
	// left says that the template failed and is left out.
	left bool
}

func (e *templateEntry) partial() bool { return strings.HasPrefix(path.Base(e.key), "_") }
func (e *templateEntry) notes() bool   { return strings.HasSuffix(e.key, "NOTES.txt") }

func (r *chartRun) gap(g finding.Gap) { r.out.gaps = append(r.out.gaps, g) }

func (r *chartRun) fail(why string) rendered {
	r.gap(chartGap(r.t, r.dir, why))
	return r.out
}

// refused says at the file of the chart that Helm refuses why it does.
func (r *chartRun) refused(err error) rendered {
	name, line, why := refusedAt(err)
	g := chartGap(r.t, r.dir, why)
	if name != "" {
		g.File, g.Line = r.t.display(path.Join(r.dir, name)), line
	}
	r.gap(g)
	return r.out
}

func (r *chartRun) render() rendered {
	read := r.shared.chart(r.ctx, r.at, r.limits)
	r.out.used = append(r.out.used, read.used...)
	r.out.gaps = append(r.out.gaps, read.gaps...)
	if read.err != nil {
		return r.refused(read.err)
	}
	c := copyChart(read.loaded.chart)
	r.loaded = &loadedChart{chart: c, sources: read.loaded.sources, files: read.loaded.files, copies: read.loaded.copies}
	if strings.EqualFold(c.Metadata.Type, "library") {
		return r.out // it has no objects of its own; charts that use it are rendered with it
	}
	user, gap := readUserValues(r.opts, r.set, r.limits)
	if gap != nil {
		r.gap(*gap)
		return r.out
	}
	r.user = user
	if err := r.prepare(c); err != nil {
		return r.fail(err.Error())
	}
	values, err := r.values()
	if err != nil {
		return r.fail(err.Error())
	}
	r.layers = r.valueLayers(c)
	for _, l := range r.layers {
		r.out.gaps = append(r.out.gaps, l.dropped()...)
	}
	scope := r.scope(c, nil, values)
	r.out.values = &ChartValues{Unit: r.at.unit(), Set: r.set.name, Name: c.Name(), Tree: scope.values, scope: scope}
	r.out.gaps = append(r.out.gaps, checkSchemas(c, scope, r.loaded)...)
	r.missingDependencies(c)
	r.collect(c, nil)
	r.addTwins()
	texts, values, ok := r.execute(values)
	if ok && r.shallow(r.align(texts)) {
		if values, err = r.values(); err != nil {
			return r.fail(err.Error())
		}
		if texts, values, ok = r.execute(values); ok {
			r.align(texts)
		}
	}
	if ok {
		r.readOnce(texts, r.scope(c, nil, values))
	}
	r.collectFiles()
	return r.out
}

// prepare sets what the templates see beside the values, and lets Helm decide
// which dependencies are on.
func (r *chartRun) prepare(c *chart.Chart) error {
	version := r.opts.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return fmt.Errorf("the Kubernetes version %q cannot be read: %w", version, err)
	}
	r.caps = chartutil.DefaultCapabilities.Copy()
	r.caps.KubeVersion = *kube
	r.caps.APIVersions = append(slices.Clone(r.caps.APIVersions), r.opts.APIVersions...)
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, kube.Version) {
		r.gap(finding.Gap{
			Kind: finding.Unmodelled, File: r.t.display(path.Join(r.dir, "Chart.yaml")), Line: 1,
			What:        fmt.Sprintf("the chart wants Kubernetes %s and was rendered for %s", want, kube.Version),
			Why:         "helm refuses to install it there; name the cluster's version with --kube-version",
			Consequence: "what was checked may differ from what that cluster gets",
		})
	}
	r.release = chartutil.ReleaseOptions{Name: r.opts.ReleaseName, Namespace: r.opts.Namespace, Revision: 1, IsInstall: true}
	if r.release.Name == "" {
		r.release.Name = c.Name()
	}
	if r.release.Namespace == "" {
		r.release.Namespace = defaultNamespace
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, r.user.merged); err != nil {
		return fmt.Errorf("working out its dependencies: %w", err)
	}
	return nil
}
