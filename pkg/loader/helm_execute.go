package loader

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// untraced says that places in a template are not known.
func (r *chartRun) untraced(e *templateEntry, err error) {
	r.gap(finding.Gap{
		Kind: finding.Unmodelled, File: e.file.Path(), What: "the lines of this template could not be traced", Why: err.Error(),
		Consequence: "its objects were checked, but findings in them point at the file instead of a line",
	})
}

// execute renders the templates. One that fails is left out, for the engine
// gives nothing at all when any does; each costs a few renders, within the time
// of the chart. It returns the values as they were rendered.
func (r *chartRun) execute(values chartutil.Values) (map[string]string, chartutil.Values, bool) {
	for {
		texts, after, err := r.engine.render(r.loaded.chart, values)
		if err == nil {
			r.tellOrphans()
			return texts, after, true
		}
		if r.lost(err) {
			return nil, nil, false
		}
		at := readEngineError(err)
		if e := r.twinEntry(at.template); at.template == copiesFile || e != nil && e.deep {
			r.shallow(slices.Collect(maps.Values(r.entries)))
		} else if e != nil {
			// The plain one went through: its objects can still be checked.
			r.dropTwin(e, err)
		} else if e, err := r.culprit(at); r.lost(err) {
			return nil, nil, false
		} else if e != nil {
			switch {
			case len(r.lacking) > 0 && e.notes(): // without a chart that it needs nobody installs it
			case len(r.lacking) > 0 && at.undefined():
				r.orphans = append(r.orphans, e.file.Path())
			default:
				r.gap(r.explain(at, e, values))
			}
			r.leaveOut(e)
		} else if !r.dropTwins(err) {
			r.gap(chartGap(r.t, r.dir, err.Error()))
			return nil, nil, false
		}
		if values, err = r.values(); err != nil {
			r.gap(chartGap(r.t, r.dir, err.Error()))
			return nil, nil, false
		}
	}
}

// tellOrphans says at the first dependency that is not there which templates call
// what one would define: they fail for no reason of their own.
func (r *chartRun) tellOrphans() {
	if len(r.orphans) == 0 {
		return
	}
	const shown = 3
	slices.Sort(r.orphans)
	r.orphans = slices.Compact(r.orphans)
	r.out.gaps[r.lacking[0]].Consequence = "its objects are missing from this report, and so are those of templates that need it or another dependency: " +
		enumerate(r.orphans, shown) + "; the rest of the chart was rendered without it"
}

// lost reports whether err ends the render; the chart then has a gap, of the
// watchdog if the time is over.
func (r *chartRun) lost(err error) bool {
	if r.ctx.Err() != nil {
		return true
	}
	var lost *lostError
	if !errors.As(err, &lost) {
		return false
	}
	r.gap(chartGap(r.t, r.dir, lost.why))
	return true
}

func (r *chartRun) twinEntry(name string) *templateEntry {
	if name == "" {
		return nil
	}
	for _, e := range r.entries {
		if e.twin == name {
			return e
		}
	}
	return nil
}

// dropTwin gives up tracing a template whose marked copy does not render.
func (r *chartRun) dropTwin(e *templateEntry, err error) {
	r.removeTwin(e)
	r.untraced(e, fmt.Errorf("its marked copy does not render: %w", err))
}

// dropTwins gives up tracing any template; it reports whether there was a twin.
func (r *chartRun) dropTwins(err error) bool {
	dropped := false
	for _, key := range sortedKeys(r.entries) {
		if e := r.entries[key]; e.twin != "" {
			r.dropTwin(e, err)
			dropped = true
		}
	}
	return dropped
}

func (r *chartRun) removeTwin(e *templateEntry) {
	e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), func(f *chart.File) bool {
		return e.twin != "" && isTwin(f) && path.Base(f.Name) == e.twin
	})
	e.twin, e.parsed = "", nil
}

func isTwin(f *chart.File) bool { return strings.HasPrefix(f.Name, "../") }

// culprit finds the template that was being rendered when the engine failed.
// The error names it only when it fails itself; of a define that is reached by
// {{template}} it names the define's file. The engine runs templates in a known
// order and stops at the first that fails: a binary search finds that one.
//
// The error is a *lostError: there was no answer.
func (r *chartRun) culprit(at engineError) (*templateEntry, error) {
	if e := r.entries[at.template]; e != nil && !e.left && (at.parsing || at.itself) {
		return e, nil
	}
	var order []*templateEntry
	for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
		if e := r.entries[key]; !e.partial() && !e.left {
			order = append(order, e)
		}
	}
	var lost *lostError
	i := sort.Search(len(order), func(i int) bool {
		if r.ctx.Err() != nil || lost != nil {
			return false
		}
		err := r.tryWithout(order[i+1:])
		return err != nil && !errors.As(err, &lost)
	})
	switch {
	case lost != nil:
		return nil, lost
	case i == len(order):
		return nil, nil
	}
	return order[i], nil
}

// tryWithout returns the error of the chart when the given templates are left
// out for the time being, and all twins.
func (r *chartRun) tryWithout(out []*templateEntry) error {
	saved := map[*chart.Chart][]*chart.File{}
	for _, e := range r.entries {
		if _, ok := saved[e.chart]; !ok {
			saved[e.chart] = e.chart.Templates
			e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), isTwin)
		}
	}
	defer func() {
		for c, templates := range saved {
			c.Templates = templates
		}
	}()
	for _, e := range out {
		e.chart.Templates[e.index] = e.definesOnly()
	}
	values, err := r.values()
	if err != nil {
		return err
	}
	_, _, err = r.engine.render(r.loaded.chart, values)
	return err
}

// leaveOut takes a template's own text out of the render and leaves its
// defines, which others may include.
func (r *chartRun) leaveOut(e *templateEntry) {
	r.removeTwin(e)
	e.left = true
	e.chart.Templates = slices.Clone(e.chart.Templates)
	e.chart.Templates[e.index] = e.definesOnly()
}

// definesOnly is the template's file with nothing but line breaks outside of its
// defines, so that errors in these keep their lines.
func (e *templateEntry) definesOnly() *chart.File {
	var b strings.Builder
	text, pos := e.file.Text(), 0
	breaks := func(s string) { b.WriteString(strings.Repeat("\n", strings.Count(s, "\n"))) }
	actions := scanActions(text)
	for _, a := range actions {
		if a.word == "define" && a.next >= 0 && a.start >= pos {
			breaks(text[pos:a.start])
			pos = actions[a.next].end
			b.WriteString(text[a.start:pos])
		}
	}
	breaks(text[pos:])
	return &chart.File{Name: e.chart.Templates[e.index].Name, Data: []byte(b.String())}
}
