package facts

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads what charts of a CNI are installed with where the chart itself is
// not in the tree: its values decide what its objects will say.

// release is a chart that the cluster runs, with its values.
type release struct {
	object *source.Object
	values chartValues
	// hidden: its values cannot be read.
	hidden bool
}

// lookup returns a field of the values: Absent where the chart's default decides,
// Unknown where values that are not in view may have it.
func (v chartValues) lookup(keys ...string) (node, Known) {
	name := strings.Join(keys, ".")
	if n, has := v.set[name]; has {
		return n, Present
	}
	for other := range v.set {
		if strings.HasPrefix(other, name+".") || strings.HasPrefix(other, name+"[") {
			return node{}, Unknown
		}
	}
	n := v.get(keys...)
	switch {
	case n.exists() && !v.above:
		return n, Present
	case n.exists(), v.unseen:
		return n, Unknown
	default:
		return n, Absent
	}
}

// flag reads a switch of the chart.
func (v chartValues) flag(fallback Known, keys ...string) (Known, source.Ref) {
	n, state := v.lookup(keys...)
	switch state {
	case Unknown:
		return Unknown, n.ref()
	case Absent:
		return fallback, v.at
	}
	return switchOf(n), n.ref()
}

// switchOf reads a boolean, also one in a string: ConfigMaps hold nothing else, and a
// value that is set by itself gets its type from its text.
func switchOf(n node) Known {
	text, is := n.scalar()
	switch {
	case is && text == "true":
		return Present
	case is && text == "false":
		return Absent
	default:
		return Unknown
	}
}

// releases are the cluster's of some charts. known is false where one may be another
// cluster's.
func (s *masqScope) releases(charts ...string) (out []release, known bool) {
	known = true
	byName := map[string]int{} // k3s: what a HelmChartConfig of the same name changes
	var configs []*source.Object
	for _, o := range s.ix.chartObjects() {
		if groupOf(o) == "cilium.io" && o.Kind == "CiliumConfig" && charts[0] == "cilium" && s.here(o) {
			spec := root(o).get("spec")
			out = append(out, release{object: o, values: chartValues{at: spec.ref(), layers: []node{spec}}})
			continue
		}
		for _, r := range chartReleases(o) {
			if o.Kind == "HelmChartConfig" {
				if s.here(o) {
					configs = append(configs, o)
				}
				break
			}
			if !slices.Contains(charts, r.chart) {
				continue
			}
			if !s.here(o) {
				known = known && !s.maybe(o)
				continue
			}
			if o.Kind == "HelmChart" {
				byName[o.Name] = len(out)
			}
			out = append(out, s.release(o, r))
		}
	}
	for _, o := range configs {
		own := s.release(o, chartReleases(o)[0])
		at, has := byName[o.Name]
		switch {
		case has:
			below := &out[at]
			below.values.layers = append(below.values.layers, own.values.layers...)
			below.values.unseen = below.values.unseen || own.values.unseen
			below.values.above = below.values.above || own.values.above
			below.hidden = below.hidden || own.hidden
		case slices.Contains(charts, o.Name):
			out = append(out, own)
		}
	}
	return out, known
}

// chartObjects are the objects that install charts.
func (ix *index) chartObjects() []*source.Object {
	return slices.Concat(
		ix.ofKind("helm.toolkit.fluxcd.io", "HelmRelease"), ix.ofKind("argoproj.io", "Application"),
		ix.ofKind(source.ChartEntryGroup, source.ChartEntryKind), ix.ofKind("helm.cattle.io", "HelmChart"), ix.ofKind("helm.cattle.io", "HelmChartConfig"), ix.ofKind("cilium.io", "CiliumConfig"),
	)
}

func (s *masqScope) release(o *source.Object, r chartRelease) release {
	values, readable := s.f.valuesOf(o, r)
	return release{object: o, values: values, hidden: !readable || s.patches(o)}
}

// hiddenCharts tells of the charts of the cluster's CNI whose values cannot all be
// seen, and of which nothing is known for that.
func (r *agentReader) hiddenCharts(s *masqScope) {
	for _, charts := range [][]string{{"cilium", "rke2-cilium"}, {"tigera-operator", "rke2-calico"}} {
		releases, _ := s.releases(charts...)
		for _, one := range releases {
			if one.hidden || one.values.unseen {
				r.ix.gapAt(finding.Unresolved, one.object, one.values.at, "what "+nameOf(one.object).String()+" masquerades", because("some of the values of chart "+charts[0]+" are not in the tree", lintWithValues),
					"which destinations keep pod addresses is unknown", "VPN201", "VPN208")
			}
		}
	}
}

// agentCharts: a release of a chart of ip-masq-agent, which nobody keeps for all, whose
// objects are not in view. What it reads is not known.
func (r *agentReader) agentCharts() {
	for _, o := range r.ix.chartObjects() {
		for _, one := range chartReleases(o) {
			f := r.cs.one(o)
			if !strings.Contains(one.chart, masqName) || f == nil || r.hasAgent(f.Name) {
				continue
			}
			a := &Agent{Kind: agentUpstream, Object: nameOf(o), Ref: root(o).get("spec").ref(), Cluster: f.Name}
			a.List = unreadList(a.Ref, notInTree("chart "+one.chart, noAdvice))
			r.ix.gapAt(finding.Unresolved, o, a.Ref, "the exemption list of "+a.Object.String(), a.List.unread,
				"what it masquerades on the way to a VPN is unknown", "VPN201", "VPN202", "VPN203")
			r.add(a, flags{allReserved: Unknown, ipv6: Unknown}, f, false)
		}
	}
}

// patches: the release changes what the chart makes, and that may be the objects that
// are asked for.
func (s *masqScope) patches(o *source.Object) bool {
	raw, err := json.Marshal(root(o).get("spec", "postRenderers").val)
	if err != nil {
		return true
	}
	return slices.ContainsFunc([]string{"cilium-config", "ip-masq-agent", "Installation", "IPPool"}, func(name string) bool { return strings.Contains(string(raw), name) })
}

// inline are the objects that Talos' machine configurations bring along.
func (s *masqScope) inline(kind string) []node {
	var out []node
	for _, o := range s.ix.ofKind("talos.dev", "MachineConfig") {
		if !s.here(o) {
			continue
		}
		for _, doc := range s.ix.inlined()[o.ID] {
			if doc.get("kind").text() == kind && !slices.ContainsFunc(out, func(n node) bool { return sameManifest(n, doc) }) {
				out = append(out, doc)
			}
		}
	}
	return out
}

// sameManifest: each machine's configuration repeats it.
func sameManifest(a, b node) bool { return reflect.DeepEqual(a.val, b.val) }

// readInlineManifests reads the manifests of all machine configurations.
func readInlineManifests(ix *index) map[source.ObjectID][]node {
	out := map[source.ObjectID][]node{}
	for _, o := range ix.ofKind("talos.dev", "MachineConfig") {
		for _, m := range root(o).get("cluster", "inlineManifests").items() {
			docs, _ := m.get("contents").documents()
			out[o.ID] = append(out[o.ID], docs...)
		}
	}
	return out
}
