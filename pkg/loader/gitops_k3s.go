package loader

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// isHelmController tells the objects of the Helm controller in k3s and RKE2.
func isHelmController(o *source.Object) bool {
	return strings.HasPrefix(o.APIVersion, "helm.cattle.io/")
}

// k3sChart reads a HelmChart of k3s or RKE2 with the HelmChartConfig of the same
// name, whose values come after the chart's own, and before those of set.
func (g *gitops) k3sChart(o homed) *release {
	tree := o.Tree
	r := &release{object: o.Object, scan: o.scan, kind: "HelmChart", name: o.Name, crds: true}
	r.namespace = cmp.Or(fieldText(tree, "spec", "targetNamespace"), o.Namespace)
	// A chart is a name in a repository, name and repository in one, or the
	// address of an archive.
	name := fieldText(tree, "spec", "chart")
	r.chart = chartRef{at: "/spec/chart", version: fieldText(tree, "spec", "version"), repository: fieldText(tree, "spec", "repo")}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" {
		r.chart.repository = cmp.Or(r.chart.repository, name)
		name = u.Path
		if i := strings.LastIndexByte(name, '-'); strings.HasSuffix(name, ".tgz") && i > 0 {
			name = name[:i]
		}
	}
	r.chart.name = path.Base(path.Clean("/" + name))
	switch {
	case fieldText(tree, "spec", "chartContent") != "":
		r.chart.name, r.chart.at, r.chart.unknown = o.Name, "/spec/chartContent", "the chart stands in chartContent, packed"
	case r.chart.name == "/":
		r.chart.name, r.chart.unknown = "", "it names no chart"
	case !isPlain(r.chart.name):
		r.chart.unknown = "the chart's name holds a variable that nothing in the tree defines"
	}
	r.values = &releaseValues{merged: map[string]any{}}
	r.values.top = func() source.Provenance {
		return o.Origin.Locate(source.Ref{Object: o.ID, Pointer: "/spec/valuesContent"})
	}
	g.k3sValues(r, o)
	if config, _, ok := g.find("HelmChartConfig", o.Namespace, o.Name, o); ok && isHelmController(config.Object) {
		g.k3sValues(r, config)
	}
	set, _ := field(tree, "spec", "set")
	parameters := asMap(set)
	for _, key := range sortedKeys(parameters) {
		one := map[string]any{}
		if strvals.ParseInto(key+"="+strings.ReplaceAll(scalarText(parameters[key]), ",", `\,`), one) == nil {
			r.values.add(releaseLayer{by: "HelmChart set", tree: one, origin: pinned{o.Origin, source.Ref{Pointer: "/spec/set"}.Child(key).Pointer}})
		}
	}
	return r
}

// k3sValues adds the values that stand in an object as text.
func (g *gitops) k3sValues(r *release, o homed) {
	if list, has := field(o.Tree, "spec", "valuesSecrets"); has {
		if items, _ := list.([]any); len(items) > 0 {
			r.values.unseen = "a Secret of valuesSecrets may set it"
			r.gap(finding.Unresolved, "/spec/valuesSecrets", "values from Secrets could not be seen", "valuesSecrets names them", "what they set is taken for unknown")
		}
	}
	text := fieldText(o.Tree, "spec", "valuesContent")
	if text == "" {
		return
	}
	value, origin, gap := parseInner(text, stringText{o.Origin, "/spec/valuesContent"}, g.l.opts.Limits)
	tree, is := value.(map[string]any)
	switch {
	case is && gap == nil:
		r.values.add(releaseLayer{by: o.Kind + " values", tree: tree, origin: origin})
	case gap != nil || value != nil:
		why := "they are no mapping"
		if gap != nil {
			why = gap.Why
		}
		r.values.unseen = "the values of the " + o.Kind + " may set it"
		r.gap(finding.Unmodelled, "/spec/valuesContent", "the values of the "+o.Kind+" "+o.Name+" were not read", why, "what they set is taken for unknown")
	}
}
