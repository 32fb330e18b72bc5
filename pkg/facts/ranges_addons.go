package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"go4.org/netipx"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads what is installed into a cluster and has ranges of its own:
// the values of CNI charts, load balancers, and meshes of clusters.

// networkChart recognises the release of a CNI's chart. The chart itself mostly
// lies in a registry, but its values state the ranges.
func networkChart(o *source.Object) (class string, read func(*founded, *source.Object)) {
	for _, r := range chartReleases(o) {
		switch r.chart {
		case "cilium", "rke2-cilium", "flannel", "rke2-flannel", "tigera-operator", "rke2-calico":
			return r.chart + "-chart", (*founded).networkCharts
		}
	}
	return "", nil
}

func (f *founded) networkCharts(o *source.Object) {
	for _, r := range chartReleases(o) {
		values, readable := f.valuesOf(o, r)
		if !readable {
			continue
		}
		switch r.chart {
		case "cilium", "rke2-cilium":
			f.ciliumValues(values)
		case "flannel", "rke2-flannel":
			f.rangeOf(cidrplan.Pod, values.get("podCidr"), "podCidr")
			f.rangeOf(cidrplan.Pod, values.get("podCidrv6"), "podCidrv6")
		case "tigera-operator", "rke2-calico":
			if n := values.get("defaultFelixConfiguration", felixSpoofing); n.exists() {
				f.spoofing(1, n, felixSpoofing)
			}
			f.chartInstallation(values)
			for _, pool := range values.get("installation", "calicoNetwork", "ipPools").items() {
				f.partOf(cidrplan.Pod, pool.get("cidr"), "ipPools.cidr")
			}
		}
	}
}

// chartInstallation: the chart of Calico's operator makes an Installation of its
// values unless it is told not to.
func (f *founded) chartInstallation(values chartValues) {
	installation := values.get("installation")
	if off := installation.get("enabled"); off.exists() && off.boolean() != Present || f.CNI != "" && f.CNI != "calico" {
		return
	}
	if installedCNI(installation) != "Calico" {
		return
	}
	forwarding := values.get("installation", "calicoNetwork", "containerIPForwarding")
	if !forwarding.exists() {
		forwarding = node{obj: forwarding.obj, ptr: forwarding.ptr}
		if installation.exists() {
			forwarding = installation.get("calicoNetwork", "containerIPForwarding")
		} else if len(values.layers) > 0 {
			forwarding = values.layers[len(values.layers)-1].get("installation")
		}
	}
	f.cniRanked("calico", values.at, 1)
	f.calicoForwarding(forwarding, values.elsewhere)
}

// chartValues are the values of a chart, layer on layer.
type chartValues struct {
	at     source.Ref
	layers []node // the last one that has a field decides
	// elsewhere: values that cannot be seen are laid among them, so that a field
	// which none of the layers has may be set all the same; above: they may be laid
	// over all of them.
	elsewhere, above bool
	// set are single values that win over the layers, by their dotted names; unseen is
	// elsewhere for who reads them, too.
	set    map[string]node
	unseen bool
}

// get returns a field of the values.
func (v chartValues) get(keys ...string) node {
	var n node
	for _, layer := range slices.Backward(v.layers) {
		if n = layer.get(keys...); n.exists() {
			break
		}
	}
	return n
}

// valuesOf gathers the values of a release: those of the ConfigMaps that it
// names, then its own. readable is false when its own are no YAML.
func (f *founded) valuesOf(o *source.Object, r chartRelease) (values chartValues, readable bool) {
	values = chartValues{at: r.values.ref(), elsewhere: r.elsewhere, above: r.above, set: r.set, unseen: r.unseen}
	for _, from := range r.from {
		layer, ok := f.valuesFrom(o, from)
		if ok {
			values.layers = append(values.layers, layer)
		} else {
			values.elsewhere, values.unseen = true, true
		}
	}
	own := r.values
	if _, is := own.str(); is {
		docs := f.documentsIn(own, "the values of "+r.chart)
		if len(docs) != 1 {
			return values, false
		}
		own = docs[0]
		values.at = own.ref()
	}
	values.layers = append(values.layers, own)
	return values, true
}

// valuesFrom reads an entry of Flux's valuesFrom: a whole values file in a
// ConfigMap of the tree. An entry for a single value is not followed.
func (f *founded) valuesFrom(o *source.Object, from node) (node, bool) {
	if from.get("kind").text() != "ConfigMap" || from.get("targetPath").text() != "" {
		return node{}, false
	}
	cm, known := f.ix.find("ConfigMap", o.Namespace, from.get("name").text(), o)
	if known != Present {
		return node{}, false
	}
	data := root(cm).get("data", cmp.Or(from.get("valuesKey").text(), "values.yaml"))
	if docs, broken := data.documents(); len(broken) == 0 && len(docs) == 1 {
		return docs[0], true
	}
	return node{}, false
}

// chartRelease is a chart that an object installs, and its values: a map, or
// YAML in a string.
type chartRelease struct {
	chart  string
	values node
	// from are entries that name objects with further values, below the own ones;
	// elsewhere: there are values in files or parameters besides.
	from             []node
	elsewhere, above bool
	// set are values that are given one by one and win over the others; unseen: there
	// are others than those.
	set    map[string]node
	unseen bool
}

// valuesOfMap reads k3s's set, from dotted names to values.
func valuesOfMap(n node) map[string]node {
	out := map[string]node{}
	for _, key := range n.keys() {
		out[key] = n.get(key)
	}
	return out
}

// parametersOf reads Argo CD's parameters, a list of names and values.
func parametersOf(n node) map[string]node {
	out := map[string]node{}
	for _, p := range n.items() {
		out[p.get("name").text()] = p.get("value")
	}
	return out
}

// chartReleases reads the objects of Flux, Argo CD and k3s that install charts, and
// those that stand for an entry of kustomize's helmCharts whose chart is missing.
func chartReleases(o *source.Object) []chartRelease {
	spec := root(o).get("spec")
	switch groupOf(o) + " " + o.Kind {
	case "helm.toolkit.fluxcd.io HelmRelease":
		chart := spec.get("chart", "spec", "chart").text()
		if chart == "" {
			chart = spec.get("chartRef", "name").text()
		}
		return []chartRelease{{
			chart: path.Base(chart), values: spec.get("values"), from: spec.get("valuesFrom").items(),
			elsewhere: spec.get("chart", "spec", "valuesFiles").exists(), unseen: spec.get("chart", "spec", "valuesFiles").exists(),
		}}
	case source.ChartEntryGroup + " " + source.ChartEntryKind:
		own := root(o)
		return []chartRelease{{chart: own.get("name").text(), values: own.get("valuesInline"), unseen: own.get("changed").boolean() == Present}}
	case "helm.cattle.io HelmChart":
		return []chartRelease{{
			chart: path.Base(spec.get("chart").text()), values: spec.get("valuesContent"),
			elsewhere: spec.get("set").exists() || spec.get("valuesSecrets").exists(), above: spec.get("valuesSecrets").exists(),
			set: valuesOfMap(spec.get("set")), unseen: spec.get("valuesSecrets").exists(),
		}}
	case "helm.cattle.io HelmChartConfig": // named after the chart
		return []chartRelease{{chart: o.Name, values: spec.get("valuesContent"), elsewhere: spec.get("valuesSecrets").exists(), above: spec.get("valuesSecrets").exists(), unseen: spec.get("valuesSecrets").exists()}}
	case "argoproj.io Application":
		var out []chartRelease
		for _, s := range append(spec.get("sources").items(), spec.get("source")) {
			helm := s.get("helm")
			values := helm.get("valuesObject")
			if !values.exists() {
				values = helm.get("values")
			}
			if chart := s.get("chart").text(); chart != "" {
				out = append(out, chartRelease{
					chart: path.Base(chart), values: values,
					elsewhere: helm.get("valueFiles").exists() || helm.get("parameters").exists() || helm.get("fileParameters").exists(),
					unseen:    helm.get("valueFiles").exists() || helm.get("fileParameters").exists(),
					above:     helm.get("fileParameters").exists(), set: parametersOf(helm.get("parameters")),
				})
			}
		}
		return out
	}
	return nil
}

// ciliumValues reads the chart's values (FG A5.4-A5.7). The pool counts only in
// the mode that hands it out, which is the default.
func (f *founded) ciliumValues(values chartValues) {
	f.cniRanked("cilium", values.at, 1)
	f.ciliumSourceCheck(
		values.get("daemon"), values.get("daemon", "enableSourceIPVerification"), values.get("cni", "chainingMode"),
		values.elsewhere, "daemon.enableSourceIPVerification",
	)
	f.podMTU(values.get("MTU"), "MTU")
	for _, key := range []string{"ipv4NativeRoutingCIDR", "ipv6NativeRoutingCIDR"} {
		f.nativeRange(values.get(key))
	}
	switch values.get("ipam", "mode").text() {
	case "", "cluster-pool":
	default:
		return
	}
	said := false
	for _, key := range []string{"clusterPoolIPv4PodCIDRList", "clusterPoolIPv4PodCIDR", "clusterPoolIPv6PodCIDRList", "clusterPoolIPv6PodCIDR"} {
		for _, n := range argumentsOf(values.get("ipam", "operator", key)) {
			like := cidrplan.Claim{Role: cidrplan.Pod, Says: key, Strength: cidrplan.Declared, Part: true}
			said = f.rangesIn(like, n, 0, n.text(), " ,") || said
		}
	}
	if !said && !values.elsewhere {
		f.constant(cidrplan.Pod, values.get("ipam", "operator"), "Cilium's default clusterPoolIPv4PodCIDRList", "10.0.0.0/8")
	}
}

// nativeRange notes destinations that Cilium never masquerades (FG A5.4).
func (f *founded) nativeRange(n node) {
	if e := grammar.ParsePrefix(strings.TrimSpace(n.text()), 0); e.Valid && !e.Bare {
		f.nativeRouting = append(f.nativeRouting, e.Prefix)
	}
}

func (f *founded) ciliumPool(o *source.Object) {
	for _, family := range []string{"ipv4", "ipv6"} {
		f.partOf(cidrplan.Pod, root(o).get("spec", family, "cidrs"), "CiliumPodIPPool "+family)
	}
}

func (f *founded) ciliumBalancers(o *source.Object) {
	spec := root(o).get("spec")
	for _, block := range append(spec.get("blocks").items(), spec.get("cidrs").items()...) {
		f.balancers(block.get("cidr"))
		first, last := block.get("start"), block.get("stop")
		if last.text() == "" {
			last = first
		}
		if r, ok := grammar.ParseAddressRange(first.text() + "-" + last.text()); ok {
			f.addressRange(first.ref(), r)
		}
	}
}

// balancers reads MetalLB's addresses: prefixes, or ranges such as
// 10.0.0.10-10.0.0.20, which are no prefixes and legal (FG B).
func (f *founded) balancers(n node) {
	for _, item := range argumentsOf(n) {
		if r, ok := grammar.ParseAddressRange(item.text()); ok {
			f.addressRange(item.ref(), r)
			continue
		}
		f.rangeOf(cidrplan.LB, item, "addresses")
	}
}

// addressRange adds the prefixes that make up a range.
func (f *founded) addressRange(at source.Ref, r netipx.IPRange) {
	for _, p := range r.Prefixes() {
		f.claim(cidrplan.Claim{Role: cidrplan.LB, Prefix: p, At: at, Says: r.String(), Strength: cidrplan.Declared})
	}
}

// isMetalLBConfig recognises the ConfigMap of MetalLB before 0.13.
func isMetalLBConfig(o *source.Object) bool {
	return o.Name == "config" && strings.Contains(root(o).get("data", "config").text(), "address-pools:")
}

func (f *founded) metalLBConfig(o *source.Object) {
	for _, doc := range f.documentsIn(root(o).get("data", "config"), "MetalLB's config") {
		for _, pool := range doc.get("address-pools").items() {
			f.balancers(pool.get("addresses"))
		}
	}
}

// isKilo recognises Kilo's agent, whose mesh spans the nodes.
func isKilo(o *source.Object) bool { return len(kiloContainers(o)) > 0 }

func kiloContainers(o *source.Object) []node {
	return slices.DeleteFunc(root(o).get("spec", "template", "spec", "containers").items(), func(c node) bool {
		return !strings.HasSuffix(imageRepository(c.get("image").text()), "squat/kilo")
	})
}

func (f *founded) kilo(o *source.Object) {
	for _, c := range kiloContainers(o) {
		args := append(c.get("command").texts(), c.get("args").texts()...)
		f.componentFlags(c.get("command"))
		f.componentFlags(c.get("args"))
		from := len(f.claims)
		if !f.flagRanges(componentFlag{"subnet", cidrplan.Pool}, args) {
			f.constant(cidrplan.Pool, c, "Kilo's default --subnet", "10.4.0.0/16")
		}
		for i := range f.claims[from:] {
			f.claims[from+i].Owner = nameOf(o).String()
		}
	}
}
