package facts

import (
	"net/netip"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads the declarations that found clusters (FG B).
//
// Quirks of their readers: kind names its cluster in a field of its own and
// uses 10.96.0.0/16 for services where kubeadm uses a /12; lists for two
// families are one string with commas in kubeadm and kind; Config Connector
// takes a blank or a bare netmask ("/14") for a block that Google chooses; kops
// cuts pods and services out of nonMasqueradeCIDR.

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
	case "cluster.x-k8s.io Cluster":
		d.class, d.fallback, d.read = "cluster-api", "cluster", readClusterAPI
		for _, part := range []string{"infrastructureRef", "controlPlaneRef"} {
			ref := root(o).get("spec", part)
			namespace, has := ref.get("namespace").str()
			if !has {
				namespace = o.Namespace
			}
			if name := ref.get("name").text(); name != "" {
				d.parts = append(d.parts, keyOf(ref.get("kind").text(), namespace, name))
			}
		}
	case "controlplane.cluster.x-k8s.io KubeadmControlPlane":
		// Its name is that of the control plane, not of the cluster.
		d.class, d.fallback, d.read, d.name = "control-plane", o.Name, readKubeadmControlPlane, ""
	case "infrastructure.cluster.x-k8s.io AzureCluster":
		d.class, d.fallback, d.read = "azure", "cluster", readAzureCluster
	case "infrastructure.cluster.x-k8s.io AWSCluster":
		d.class, d.fallback, d.read = "aws", "cluster", readAWSCluster
	case "container.cnrm.cloud.google.com ContainerCluster":
		d.class, d.fallback, d.read = "gke", "cluster", readContainerCluster
	case "kops.k8s.io Cluster":
		d.class, d.fallback, d.read = "kops", "cluster", readKops
	case "eksctl.io ClusterConfig":
		d.class, d.fallback, d.read = "eks", "cluster", readEksctl
	case "k3d.io Simple":
		d.class, d.fallback, d.read = "k3d", "k3s-default", readK3d
	case "config.openshift.io Network":
		d.class, d.fallback, d.read, d.name = "openshift", "openshift", readOpenShift, ""
	default:
		return nil
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

func (f *founded) rangeAs(like cidrplan.Claim, n node) bool {
	said := false
	for _, item := range n.items() {
		said = f.rangeAs(like, item) || said
	}
	text, is := n.str()
	if !is {
		if n.exists() && n.items() == nil {
			f.unreadable(like, n, n.ref(), "it is no text")
		}
		return said
	}
	return f.rangesIn(like, n, text, n.ref(), ",") || said
}

// rangesIn reads a list of prefixes that stands at ref.
func (f *founded) rangesIn(like cidrplan.Claim, n node, text string, ref source.Ref, separators string) bool {
	entries := grammar.ParsePrefixes(text, 0, separators)
	for _, e := range entries {
		at := ref
		if len(entries) > 1 || e.Text != text {
			at = ref.Within(e.Start, e.End)
		}
		address := like.Role == cidrplan.API || like.Role == cidrplan.DNS || like.Strength == cidrplan.Evidence
		switch {
		case e.Unknown:
			f.unreadable(like, n, at, e.Text+" is filled in when the tree is applied")
		case !e.Valid:
			f.rangeOrGap(like, n, e, at, address, "\""+clip(e.Text)+"\" is no prefix")
		case wrongRange(like.Says, e, address) != "" && like.Strength != cidrplan.Evidence:
			f.rangeOrGap(like, n, e, at, address, "")
		case e.Bare && !address:
			f.unreadable(like, n, at, e.Text+" is an address without a mask")
		default:
			c := like
			c.Prefix, c.At = e.Prefix, at
			f.claim(c)
		}
	}
	return len(entries) > 0
}

func (f *founded) unreadable(c cidrplan.Claim, n node, at source.Ref, why string) {
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
func (f *founded) endpoint(n node) {
	host := n.text()
	if hostPort, err := netip.ParseAddrPort(host); err == nil {
		host = hostPort.Addr().String()
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" && !a.IsUnspecified() {
		f.claim(cidrplan.Claim{Role: cidrplan.API, Prefix: netip.PrefixFrom(a, a.BitLen()), At: n.ref(), Says: "controlPlaneEndpoint", Strength: cidrplan.Declared})
	}
}

func readKubeadm(f *founded, o *source.Object) {
	top := root(o)
	f.kubeadm(top)
	if !top.get("networking", "serviceSubnet").exists() {
		f.constant(cidrplan.Service, top.get("networking"), "kubeadm's default serviceSubnet", "10.96.0.0/12")
	}
}

func (f *founded) kubeadm(conf node) {
	f.rangeOf(cidrplan.Pod, conf.get("networking", "podSubnet"), "podSubnet")
	f.rangeOf(cidrplan.Service, conf.get("networking", "serviceSubnet"), "serviceSubnet")
	f.endpoint(conf.get("controlPlaneEndpoint"))
}

func readKubeadmControlPlane(f *founded, o *source.Object) {
	f.kubeadm(root(o).get("spec", "kubeadmConfigSpec", "clusterConfiguration"))
}

func readKind(f *founded, o *source.Object) {
	networking := root(o).get("networking")
	family := networking.get("ipFamily").text()
	pods, services := []string{}, []string{}
	if family != "ipv6" {
		pods, services = append(pods, "10.244.0.0/16"), append(services, "10.96.0.0/16")
	}
	if family == "ipv6" || family == "dual" {
		pods, services = append(pods, "fd00:10:244::/56"), append(services, "fd00:10:96::/112")
	}
	if !f.rangeOf(cidrplan.Pod, networking.get("podSubnet"), "podSubnet") {
		f.constant(cidrplan.Pod, networking, "kind's default podSubnet", pods...)
	}
	if !f.rangeOf(cidrplan.Service, networking.get("serviceSubnet"), "serviceSubnet") {
		f.constant(cidrplan.Service, networking, "kind's default serviceSubnet", services...)
	}
	if networking.get("disableDefaultCNI").boolean() == Absent {
		f.cni("kindnet", networking.ref())
	}
	patches := root(o).get("kubeadmConfigPatches").texts()
	for _, n := range root(o).get("nodes").items() {
		patches = append(patches, n.get("kubeadmConfigPatches").texts()...)
	}
	for _, patch := range patches {
		f.kindPatch(patch)
	}
}

// kindPatch reads a kubeadm document that kind carries in a string.
func (f *founded) kindPatch(patch node) {
	text := patch.text()
	for _, doc := range strings.Split("\n"+text, "\n---") {
		var tree map[string]any
		if yaml.Unmarshal([]byte(doc), &tree) != nil {
			continue
		}
		n := node{obj: patch.obj, ptr: patch.ptr, val: tree, ok: tree != nil}
		switch n.get("kind").text() {
		case "ClusterConfiguration":
			for _, field := range []struct {
				role cidrplan.Role
				key  string
			}{{cidrplan.Pod, "podSubnet"}, {cidrplan.Service, "serviceSubnet"}} {
				value := n.get("networking", field.key).text()
				at := strings.Index(text, value)
				if value == "" || at < 0 {
					continue
				}
				like := cidrplan.Claim{Role: field.role, Says: field.key, Strength: cidrplan.Declared}
				for _, e := range grammar.ParsePrefixes(value, at, ",") {
					if e.Valid && !e.Bare {
						like.Prefix, like.At = e.Prefix, patch.ref().Within(e.Start, e.End)
						f.claim(like)
					}
				}
			}
		case "KubeletConfiguration":
			on, says := podSysctl(n.get("defaultPodSysctls"))
			f.kubelets = append(f.kubelets, poolClaim{on: on, ref: patch.ref(), says: says})
		}
	}
}

// podSysctl finds net.ipv4.ip_forward=1 in a map or in a list of names and
// values.
func podSysctl(n node) (on bool, says string) {
	for _, key := range []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding"} {
		text, has := n.get(key).scalar()
		for _, item := range n.items() {
			if item.get("name").text() == key {
				text, has = item.get("value").scalar()
			}
		}
		if has && strings.TrimSpace(text) == "1" {
			return true, key + "=1"
		}
	}
	return false, ""
}

func readClusterAPI(f *founded, o *source.Object) {
	network := root(o).get("spec", "clusterNetwork")
	f.rangeOf(cidrplan.Pod, network.get("pods", "cidrBlocks"), "pods.cidrBlocks")
	f.rangeOf(cidrplan.Service, network.get("services", "cidrBlocks"), "services.cidrBlocks")
	f.endpoint(root(o).get("spec", "controlPlaneEndpoint", "host"))
}

func readAzureCluster(f *founded, o *source.Object) {
	// The vnet's own range is no range of nodes: their subnet is cut from it.
	for _, subnet := range root(o).get("spec", "networkSpec", "subnets").items() {
		switch subnet.get("role").text() {
		case "node", "cluster":
			f.rangeOf(cidrplan.Node, subnet.get("cidrBlocks"), "node subnet "+subnet.get("name").text())
		}
	}
	f.endpoint(root(o).get("spec", "controlPlaneEndpoint", "host"))
}

func readAWSCluster(f *founded, o *source.Object) {
	f.rangeOf(cidrplan.Node, root(o).get("spec", "network", "vpc", "cidrBlock"), "vpc.cidrBlock")
	f.endpoint(root(o).get("spec", "controlPlaneEndpoint", "host"))
}

// readEksctl: pods take addresses of the VPC, so that the VPC's range says all
// about them that is to be said.
func readEksctl(f *founded, o *source.Object) {
	top := root(o)
	f.rangeOf(cidrplan.Node, top.get("vpc", "cidr"), "vpc.cidr")
	f.rangeOf(cidrplan.Node, top.get("vpc", "extraCIDRs"), "vpc.extraCIDRs")
	f.rangeOf(cidrplan.Service, top.get("kubernetesNetworkConfig", "serviceIPv4CIDR"), "serviceIPv4CIDR")
	f.cni("aws", top.ref())
}

func readOpenShift(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	for _, entry := range spec.get("clusterNetwork").items() {
		f.rangeOf(cidrplan.Pod, entry.get("cidr"), "clusterNetwork")
	}
	f.rangeOf(cidrplan.Service, spec.get("serviceNetwork"), "serviceNetwork")
	if kind := spec.get("networkType"); kind.text() == "OVNKubernetes" {
		f.cni("ovn", kind.ref())
	}
}

// readK3d: k3s takes its ranges from the command line, else uses its own.
func readK3d(f *founded, o *source.Object) {
	options := root(o).get("options", "k3s", "extraArgs")
	for _, want := range []struct {
		role           cidrplan.Role
		flag, fallback string
	}{{cidrplan.Pod, "--cluster-cidr", "10.42.0.0/16"}, {cidrplan.Service, "--service-cidr", "10.43.0.0/16"}} {
		said := false
		for _, entry := range options.items() {
			arg := entry.get("arg")
			name, value, has := strings.Cut(arg.text(), "=")
			if !has || name != want.flag {
				continue
			}
			like := cidrplan.Claim{Role: want.role, Says: want.flag, Strength: cidrplan.Declared}
			for _, e := range grammar.ParsePrefixes(value, len(name)+1, ",") {
				if e.Valid && !e.Bare {
					like.Prefix, like.At = e.Prefix, arg.ref().Within(e.Start, e.End)
					f.claim(like)
				}
			}
			said = true
		}
		if !said {
			f.constant(want.role, options, "k3s' default "+want.flag, want.fallback)
		}
	}
	if subnet := root(o).get("subnet"); subnet.text() != "auto" {
		f.rangeOf(cidrplan.Node, subnet, "subnet")
	}
	f.cni("flannel", root(o).ref())
	for _, entry := range options.items() {
		if strings.HasPrefix(entry.get("arg").text(), "--flannel-backend=none") {
			f.cnis = f.cnis[:len(f.cnis)-1]
			return
		}
	}
}

// readKops: v1alpha2 keeps the ranges in spec, v1alpha3 in spec.networking.
// Without podCIDR and serviceClusterIPRange, kops takes the upper half of
// nonMasqueradeCIDR for pods and its first eighth for services.
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
	if p, err := netip.ParsePrefix(whole.text()); err == nil && p.Addr().Is4() && p.Bits() <= 24 {
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
	f.rangeOf(cidrplan.Node, field("networkCIDR"), "networkCIDR")
	for key, cni := range map[string]string{
		"calico": "calico", "cilium": "cilium", "flannel": "flannel", "amazonvpc": "aws", "amazonVPC": "aws", "kindnet": "kindnet",
	} {
		if n := spec.get("networking", key); n.exists() {
			f.cni(cni, n.ref())
		}
	}
}

func readContainerCluster(f *founded, o *source.Object) {
	spec := root(o).get("spec")
	policy := spec.get("ipAllocationPolicy")
	subnet := f.subnetwork(o, spec.get("subnetworkRef"))
	f.gke, f.subnet = o, subnet
	f.block(cidrplan.Pod, policy.get("clusterIpv4CidrBlock"), "clusterIpv4CidrBlock")
	f.block(cidrplan.Service, policy.get("servicesIpv4CidrBlock"), "servicesIpv4CidrBlock")
	f.secondary(cidrplan.Pod, subnet, policy.get("clusterSecondaryRangeName"))
	f.secondary(cidrplan.Service, subnet, policy.get("servicesSecondaryRangeName"))
	for _, name := range policy.get("additionalPodRangesConfig", "podRangeNames").items() {
		f.secondary(cidrplan.Pod, subnet, name)
	}
	if !policy.exists() { // a routes-based cluster
		f.block(cidrplan.Pod, spec.get("clusterIpv4Cidr"), "clusterIpv4Cidr")
	}
	if subnet != nil {
		f.rangeOf(cidrplan.Node, root(subnet).get("spec", "ipCidrRange"), "ipCidrRange of subnetwork "+subnet.Name)
	}
	f.block(cidrplan.API, spec.get("privateClusterConfig", "masterIpv4CidrBlock"), "masterIpv4CidrBlock")
	if root(o).get("metadata", "annotations", "cnrm.cloud.google.com/remove-default-node-pool").text() != "true" {
		f.nodePool(spec.get("nodeConfig"))
	}
}

// block adds a range that Google may choose instead: blank, or a netmask only.
func (f *founded) block(role cidrplan.Role, n node, says string) {
	text := strings.TrimSpace(n.text())
	if n.exists() && (text != "" || n.val != "") && !strings.HasPrefix(text, "/") {
		f.rangeOf(role, n, says)
	}
}

// subnetwork resolves a reference to a ComputeSubnetwork: by object name, or by
// the name in Google's own path.
func (f *founded) subnetwork(o *source.Object, ref node) *source.Object {
	if name := ref.get("name").text(); name != "" {
		namespace, has := ref.get("namespace").str()
		if !has {
			namespace = o.Namespace
		}
		found, state := f.ix.find("ComputeSubnetwork", namespace, name, o)
		if state != Present {
			return nil
		}
		return found
	}
	external := ref.get("external").text()
	if external == "" {
		return nil
	}
	var found []*source.Object
	for _, s := range f.ix.ofKind("compute.cnrm.cloud.google.com", "ComputeSubnetwork") {
		name := s.Name
		if id := root(s).get("spec", "resourceID").text(); id != "" {
			name = id
		}
		if name == path.Base(external) {
			found = append(found, s)
		}
	}
	if len(found) == 0 || !allAlike(found) {
		return nil
	}
	return found[0]
}

// secondary adds the subnetwork's secondary range of the name in n.
func (f *founded) secondary(role cidrplan.Role, subnet *source.Object, n node) {
	name := n.text()
	if name == "" {
		return
	}
	for _, r := range root(subnet).get("spec", "secondaryIpRange").items() {
		if r.get("rangeName").text() == name {
			f.rangeOf(role, r.get("ipCidrRange"), "secondary range "+name+" of subnetwork "+subnet.Name)
			return
		}
	}
	f.unreadable(cidrplan.Claim{Role: role, Says: "secondary range " + name}, n, n.ref(), "the ComputeSubnetwork that has it is not in the tree")
}
