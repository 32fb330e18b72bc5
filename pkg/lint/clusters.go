package lint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// reading is one look at objects in which each belongs to one planned cluster at
// most.
type reading struct {
	objects []*source.Object
	// here says what belongs to which planned cluster; nil without a plan.
	here    []facts.Members
	cluster map[source.ObjectID]string
}

// readings cuts a group so that inputs that belong to several clusters of the
// plan are looked at once for each of them: what is true in one cluster says
// nothing of another. Clusters that share no input share a reading, so that a
// repository with a directory for each cluster is read once. What no cluster
// claims is part of the first reading.
func readings(objects []*source.Object, plan *config.Config) []reading {
	if !plan.HasClusters() {
		return []reading{{objects: objects}}
	}
	members := make([]map[source.ObjectID]bool, len(plan.Clusters))
	for i := range members {
		members[i] = map[source.ObjectID]bool{}
	}
	out := []reading{{cluster: map[source.ObjectID]string{}}}
	unclaimed := map[source.ObjectID]bool{}
	clustersOf := membership(plan)
	for _, o := range objects {
		clusters := clustersOf(o)
		unclaimed[o.ID] = len(clusters) == 0
		for _, i := range clusters {
			members[i][o.ID] = true
		}
	}
	for i, of := range members {
		at := slices.IndexFunc(out, func(r reading) bool { return !r.meets(of) })
		if at < 0 {
			at = len(out)
			out = append(out, reading{cluster: map[source.ObjectID]string{}})
		}
		out[at].here = append(out[at].here, facts.Members{Cluster: i, Objects: of})
		for id := range of {
			out[at].cluster[id] = plan.Clusters[i].Name
		}
	}
	for i := range out {
		for _, o := range objects {
			if _, in := out[i].cluster[o.ID]; in || i == 0 && unclaimed[o.ID] {
				out[i].objects = append(out[i].objects, o)
			}
		}
	}
	return out
}

// membership returns a function that tells to which clusters of the plan an
// object belongs: the one of its target, or those whose paths its input matches,
// or else those of the GitOps objects that apply it.
func membership(plan *config.Config) func(*source.Object) []int {
	byPath := map[string][]int{}
	return func(o *source.Object) []int {
		if o.Cluster != "" {
			return plan.Named(o.Cluster)
		}
		of := func(input string) []int {
			known, ok := byPath[input]
			if !ok {
				known = plan.Members(input)
				byPath[input] = known
			}
			return known
		}
		if known := of(o.Path); len(known) > 0 {
			return known
		}
		var all []int
		for _, input := range o.AppliedBy {
			all = append(all, of(input)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
}

// unplanned says what the plan's paths miss: those that lead nowhere, and inputs
// that carry something of a VPN and belong to no cluster. Without it a misspelt
// path would turn rules off, and the report would look like a pass.
func unplanned(ctx context.Context, objects []*source.Object, plan *config.Config, catalog *images.Catalog) ([]finding.Gap, error) {
	if !plan.HasClusters() {
		return nil, nil
	}
	var gaps []finding.Gap
	var names []string
	for _, c := range plan.Clusters {
		names = append(names, c.Name)
		for _, m := range c.Missing {
			gaps = append(gaps, finding.Gap{
				Kind: finding.Unresolved, File: plan.File, Line: m.At.Span.Start.Line,
				What:        fmt.Sprintf("paths of cluster %s: %s", c.Name, m.Glob),
				Why:         fmt.Sprintf("there is no file or directory %s beside this file; correct the path", m.Path),
				Consequence: "no input belongs to the cluster by it",
			})
		}
	}
	clustersOf := membership(plan)
	var stray []*source.Object
	for _, o := range objects {
		if len(clustersOf(o)) == 0 {
			stray = append(stray, o)
		}
	}
	inputs, err := needRanges(ctx, stray, catalog)
	if err != nil || len(inputs) == 0 {
		return gaps, err
	}
	const shown = 3
	what := strings.Join(inputs[:min(shown, len(inputs))], ", ")
	if more := len(inputs) - shown; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	if len(names) > shown {
		names = append(names[:shown:shown], "…")
	}
	return append(gaps, finding.Gap{
		Kind: finding.Unresolved, File: plan.File, Line: plan.Clusters[0].At.Span.Start.Line,
		What:        "the cluster of " + what,
		Why:         "the paths of no cluster match (" + strings.Join(names, ", ") + "); add the input to the paths of the cluster that it runs in",
		Consequence: "rules that need the ranges of a cluster are silent about it",
	}), nil
}

// needRanges returns the inputs, sorted, in which rules look at anything and no
// cluster is declared.
func needRanges(ctx context.Context, objects []*source.Object, catalog *images.Catalog) ([]string, error) {
	asks := func(objects []*source.Object) (bool, error) {
		known, err := facts.Read(ctx, objects, catalog, facts.Options{})
		if err != nil {
			return false, fmt.Errorf("read the facts: %w", err)
		}
		declared := len(known.Clusters) > 0
		known.Gaps = nil
		return !declared && !known.Silent(), nil
	}
	if len(objects) == 0 {
		return nil, nil
	}
	if yes, err := asks(objects); err != nil || !yes {
		return nil, err
	}
	byPath := map[string][]*source.Object{}
	for _, o := range objects {
		byPath[o.Path] = append(byPath[o.Path], o)
	}
	var out []string
	for _, input := range slices.Sorted(maps.Keys(byPath)) {
		yes, err := asks(byPath[input])
		if err != nil {
			return nil, err
		}
		if yes {
			out = append(out, input)
		}
	}
	return out, nil
}

// meets reports whether one of the objects belongs to a cluster of the reading.
func (r reading) meets(objects map[source.ObjectID]bool) bool {
	for id := range objects {
		if _, in := r.cluster[id]; in {
			return true
		}
	}
	return false
}

// options are those with which the facts of a reading are read.
func (r reading) options(opts Options) facts.Options {
	if r.here == nil {
		return facts.Options{Workloads: opts.Workloads}
	}
	return facts.Options{Plan: opts.Plan.Plan, Here: r.here, Workloads: opts.Workloads}
}

// everything is what findings of a reading may point at: its objects, and the
// plan file.
func (r reading) everything(plan *config.Config) []*source.Object {
	if plan == nil {
		return r.objects
	}
	return append(slices.Clip(r.objects), plan.Plan)
}

// settle gives findings the severities of the plan file and the cluster of what
// they are about where the rule did not name any, and leaves out those of rules
// that are off.
func (r reading) settle(findings []finding.Finding, plan *config.Config) []finding.Finding {
	findings = applySeverities(findings, plan)
	for i := range findings {
		if f := &findings[i]; len(f.Clusters) == 0 && r.cluster[f.ObjectID] != "" {
			f.Clusters = []string{r.cluster[f.ObjectID]}
		}
	}
	return findings
}

func applySeverities(findings []finding.Finding, plan *config.Config) []finding.Finding {
	if plan == nil || len(plan.Severities) == 0 {
		return findings
	}
	var out []finding.Finding
	for _, f := range findings {
		if plan.Off(f.Rule) {
			continue
		}
		if severity, named := plan.Severities[f.Rule]; named {
			f.Severity = severity
		}
		out = append(out, f)
	}
	return out
}
