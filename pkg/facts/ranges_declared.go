package facts

import (
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads the declarations that found clusters (FG B).
//
// Quirks of their readers: kind names its cluster in a field of its own and
// uses 10.96.0.0/16 for services where kubeadm uses a /12; lists for two
// families are one string with commas in kubeadm and kind; kops cuts pods and
// services out of nonMasqueradeCIDR.

// declare returns the declaration that an object makes, nil for none.
func declare(o *source.Object) *declaration {
	d := &declaration{obj: o, name: o.Name}
	switch groupOf(o) + " " + o.Kind {
	case "kubeadm.k8s.io ClusterConfiguration":
		d.class, d.fallback, d.read = "kubeadm", "kubernetes", readKubeadm
		d.name = root(o).get("clusterName").text()
	case "kind.x-k8s.io Cluster":
		d.class, d.fallback, d.read = "kind", "kind", readKind
		d.name = root(o).get("name").text()
	case "k3s.io Config":
		// Every server and agent has a file of its own, none of which names the
		// cluster.
		d.class, d.fallback, d.read, d.many = "k3s", "k3s", readK3s, true
	case "k3d.io Simple":
		d.class, d.fallback, d.read = "k3d", "k3s-default", readK3d
	case "provisioning.cattle.io Cluster":
		d.class, d.fallback, d.read = "rancher", "cluster", readRancher
	case "talos.dev MachineConfig":
		if !root(o).get("version").exists() { // a patch, which founds nothing
			return nil
		}
		d.class, d.fallback, d.read, d.many = "talos", "talos", readTalos, true
		d.name = root(o).get("cluster", "clusterName").text()
	case "talhelper.budimanjojo.com TalosConfig":
		d.class, d.fallback, d.read = "talhelper", "talos", readTalhelper
		d.name = root(o).get("clusterName").text()
	case "cluster.x-k8s.io Cluster":
		d.class, d.fallback, d.read = "cluster-api", "cluster", readClusterAPI
		d.parts = clusterAPIParts(o)
	case "container.cnrm.cloud.google.com ContainerCluster":
		d.class, d.fallback, d.read = "gke", "cluster", readContainerCluster
	case "kops.k8s.io Cluster":
		d.class, d.fallback, d.read = "kops", "cluster", readKops
	case "eksctl.io ClusterConfig":
		d.class, d.fallback, d.read = "eks", "cluster", readEksctl
	case "config.openshift.io Network":
		d.class, d.fallback, d.read, d.name = "openshift", "openshift", readOpenShift, ""
	case "operator.openshift.io Network":
		d.class, d.fallback, d.read, d.name = "openshift-operator", "openshift", readOpenShift, ""
	case "install.openshift.io InstallConfig":
		d.class, d.fallback, d.read = "openshift-install", "openshift", readInstallConfig
	case "hypershift.openshift.io HostedCluster", "extensions.hive.openshift.io AgentClusterInstall":
		d.class, d.fallback, d.read = "openshift-hosted", "openshift", readHostedCluster
	default:
		if !declareProvider(d) {
			return nil
		}
	}
	if placeholder(d.name) != "" {
		d.name = ""
	}
	return d
}

// rangeOf adds what a field says of a range: a prefix, a comma list of them, or
// a list of strings. It reports whether it says anything.
func (f *founded) rangeOf(role cidrplan.Role, n node, says string) bool {
	return f.rangeAs(cidrplan.Claim{Role: role, Says: says, Strength: cidrplan.Declared}, n)
}

// partOf adds a piece that is cut from a range, which may be larger.
func (f *founded) partOf(role cidrplan.Role, n node, says string) {
	f.rangeAs(cidrplan.Claim{Role: role, Says: says, Strength: cidrplan.Declared, Part: true}, n)
}

func (f *founded) rangeAs(like cidrplan.Claim, n node) (said bool) {
	items := n.items()
	if items == nil {
		items = []node{n}
	}
	for _, item := range items {
		switch text, is := item.str(); {
		case is:
			said = f.rangesIn(like, item, 0, text, ",") || said
		case item.exists():
			f.unreadable(like, item, item.ref(), because("it is no text", noAdvice))
			said = true
		}
	}
	return said
}

// rangesIn reads a list of prefixes that stands in the string at n from a byte
// on. It reports whether there are any, readable or not.
func (f *founded) rangesIn(like cidrplan.Claim, n node, start int, text, separators string) bool {
	entries := grammar.ParsePrefixes(text, start, separators)
	for _, e := range entries {
		at := n.ref()
		if len(entries) > 1 || e.Text != n.text() {
			at = n.part(e.Start, e.End)
		}
		address := like.Role == cidrplan.API || like.Role == cidrplan.DNS || like.Strength == cidrplan.Evidence
		switch {
		case e.Unknown:
			f.unreadable(like, n, at, filledIn(e.Text))
		case !e.Valid:
			f.rangeOrGap(like, n, e, at, address, because("\""+clip(e.Text)+"\" is no prefix", noAdvice))
		case wrongRange(like.Says, e, address) != "" && like.Strength != cidrplan.Evidence:
			f.rangeOrGap(like, n, e, at, address, reason{})
		case e.Bare && !address:
			f.unreadable(like, n, at, because(e.Text+" is an address without a mask", noAdvice))
		default:
			c := like
			c.Prefix, c.At = e.Prefix, at
			f.claim(c)
		}
	}
	return len(entries) > 0
}

func (f *founded) unreadable(c cidrplan.Claim, n node, at source.Ref, why reason) {
	f.ix.gapAt(finding.Unresolved, n.obj, at, "the "+string(c.Role)+" range in "+c.Says, why,
		"this part of the cluster's ranges is unknown: overlaps with it and captures of it are not reported", "VPN302", "VPN401")
}

// constant adds a range that a component uses because nothing else is written;
// n is where it would be written.
func (f *founded) constant(role cidrplan.Role, n node, says string, prefixes ...string) {
	for _, text := range prefixes {
		if p, err := netip.ParsePrefix(text); err == nil {
			f.claim(cidrplan.Claim{Role: role, Prefix: p, At: n.ref(), Says: says, Strength: cidrplan.Default})
		}
	}
}

// endpoint adds the API server's address, when it is one.
func (f *founded) endpoint(n node) { f.apiAddress(n.text(), n, "controlPlaneEndpoint") }

// apiAddress adds the API server's address, which may have a port.
func (f *founded) apiAddress(host string, n node, says string) {
	if hostPort, err := netip.ParseAddrPort(host); err == nil {
		host = hostPort.Addr().String()
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && a.Zone() == "" && !a.IsUnspecified() && !a.IsLoopback() {
		f.claim(cidrplan.Claim{Role: cidrplan.API, Prefix: netip.PrefixFrom(a, a.BitLen()), At: n.ref(), Says: says, Strength: cidrplan.Declared})
	}
}

// podSysctl finds net.ipv4.ip_forward=1 in a map or in a list of names and
// values.
func podSysctl(n node) (on bool, says string) {
	set := func(name string, value node) {
		text, has := value.scalar()
		if yes, how := forwards(normalSysctl(name), strings.TrimSpace(text)); has && yes && !on {
			on, says = true, how
		}
	}
	for _, key := range n.keys() {
		set(key, n.get(key))
	}
	for _, item := range n.items() {
		set(item.get("name").text(), item.get("value"))
	}
	return on, says
}

// forwards reports whether a setting turns IPv4 forwarding on.
func forwards(name, value string) (on bool, says string) {
	on = value == "1" && (name == "net.ipv4.ip_forward" || name == "net.ipv4.conf.all.forwarding")
	return on, name + "=" + value
}

// cloudNetwork reports whether a kops cluster has its addresses from the cloud.
func cloudNetwork(networking node) bool {
	for _, key := range []string{"amazonvpc", "amazonVPC", "gce", "gcp"} {
		if networking.get(key).exists() {
			return true
		}
	}
	return false
}

// readKops: v1alpha2 keeps the ranges in spec, v1alpha3 in spec.networking.
// Without podCIDR and serviceClusterIPRange, kops takes the upper half of
// nonMasqueradeCIDR for pods and its first eighth for services. It has no
// nonMasqueradeCIDR of its own on Google's network, and takes the network's own
// for Amazon's CNI (kops, PerformAssignments).
func readKops(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	field := func(key string) node {
		if n := spec.get(key); n.exists() {
			return n
		}
		return spec.get("networking", key)
	}
	whole := field("nonMasqueradeCIDR")
	f.rangeAs(cidrplan.Claim{
		Role: cidrplan.Pod, Says: "nonMasqueradeCIDR", Strength: cidrplan.Declared, Idiom: cidrplan.EnclosesCluster,
	}, whole)
	pods := f.rangeOf(cidrplan.Pod, field("podCIDR"), "podCIDR")
	services := f.rangeOf(cidrplan.Service, field("serviceClusterIPRange"), "serviceClusterIPRange")
	text := whole.text()
	if !whole.exists() && !cloudNetwork(spec.get("networking")) {
		text = "100.64.0.0/10" // kops' own (FG B)
	}
	// Inside the VPC, which pods with its addresses want, kops cuts them where no
	// subnet is: they meet the network by design.
	network, err := netip.ParsePrefix(field("networkCIDR").text())
	ofVPC := func(p netip.Prefix) bool { return err == nil && network.Overlaps(p) }
	if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is4() && p.Bits() <= 24 && !ofVPC(p) {
		p = p.Masked()
		if !pods {
			upper := p.Addr().As4()
			upper[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
			f.constant(cidrplan.Pod, whole, "kops' default podCIDR", netip.PrefixFrom(netip.AddrFrom4(upper), p.Bits()+1).String())
		}
		if !services {
			f.constant(cidrplan.Service, whole, "kops' default serviceClusterIPRange", netip.PrefixFrom(p.Addr(), p.Bits()+3).String())
		}
	}
	for _, subnet := range field("subnets").items() {
		f.rangeOf(cidrplan.Node, subnet.get("cidr"), "subnet "+subnet.get("name").text())
	}
	f.rangeOf(cidrplan.Node, field("additionalNetworkCIDRs"), "additionalNetworkCIDRs")
	f.rangeOf(cidrplan.Node, field("networkCIDR"), "networkCIDR")
	for key, cni := range map[string]string{
		"calico": "calico", "cilium": "cilium", "flannel": "flannel", "amazonvpc": "aws", "amazonVPC": "aws", "kindnet": "kindnet",
	} {
		if n := spec.get("networking", key); n.exists() {
			f.cni(cni, n.ref())
		}
	}
}
