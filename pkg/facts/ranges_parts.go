package facts

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads what configures a cluster's network without declaring the
// cluster: its CNI, its address pools, its nodes, and pieces of evidence.

// cniClaim is one place that tells the CNI. A more certain one has a lower rank.
type cniClaim struct {
	name string
	ref  source.Ref
	rank int
}

func (f *founded) cni(name string, ref source.Ref) { f.cniRanked(name, ref, 1) }

func (f *founded) cniRanked(name string, ref source.Ref, rank int) {
	f.cnis = append(f.cnis, cniClaim{name, ref, rank})
}

// settleCNI picks the CNI. Two that contradict each other are none: chained and
// half-migrated networks are not understood here.
func (f *founded) settleCNI() {
	slices.SortStableFunc(f.cnis, func(a, b cniClaim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name), compareRefs(a.ref, b.ref))
	})
	for i, c := range f.cnis {
		if i > 0 && c.rank == f.cnis[0].rank && c.name != f.cnis[0].name {
			f.CNI, f.CNIRef = "", source.Ref{}
			return
		}
		if i == 0 {
			f.CNI, f.CNIRef = c.name, c.ref
		}
	}
}

// The classes of objects that configure a cluster's network. A weak one does
// not tell two clusters apart: there may be many of it in one.
const weakClass = "weak"

// networkClass returns what an object configures of a cluster's network, "" for
// nothing.
func networkClass(o *source.Object) string {
	class, _ := networkPart(o)
	return class
}

// networkPart returns the class of an object that configures a cluster's
// network, and how it is read.
func networkPart(o *source.Object) (class string, read func(*founded, *source.Object)) {
	switch groupOf(o) + " " + o.Kind {
	case "operator.tigera.io Installation":
		return "calico-installation", func(f *founded, o *source.Object) { f.calicoInstallation(root(o).get("spec")) }
	case "projectcalico.org IPPool", "crd.projectcalico.org IPPool":
		return weakClass, func(f *founded, o *source.Object) {
			f.calicoPool(root(o).get("spec"))
			if groupOf(o) == "projectcalico.org" { // the objects behind it are not checked by versions of old
				f.calicoMasked(root(o).get("spec", "cidr"))
			}
		}
	case "projectcalico.org FelixConfiguration", "crd.projectcalico.org FelixConfiguration":
		return weakClass, (*founded).felixConfiguration
	case "cilium.io CiliumConfig":
		return "cilium-config", func(f *founded, o *source.Object) {
			spec := root(o).get("spec")
			f.ciliumValues(chartValues{at: spec.ref(), layers: []node{spec}})
		}
	case "cilium.io CiliumPodIPPool":
		return weakClass, (*founded).ciliumPool
	case "cilium.io CiliumLoadBalancerIPPool":
		return weakClass, (*founded).ciliumBalancers
	case "metallb.io IPAddressPool", "metallb.io AddressPool":
		return weakClass, func(f *founded, o *source.Object) { f.balancers(root(o).get("spec", "addresses")) }
	case "networking.k8s.io ServiceCIDR":
		return weakClass, func(f *founded, o *source.Object) {
			f.partOf(cidrplan.Service, root(o).get("spec", "cidrs"), "ServiceCIDR")
			f.serviceCIDR(root(o).get("spec", "cidrs"))
		}
	case "kubelet.config.k8s.io KubeletConfiguration", "kubeproxy.config.k8s.io KubeProxyConfiguration":
		return weakClass, func(f *founded, o *source.Object) { f.kubeadmDocument(root(o)) }
	case "talos.dev MachineConfig": // the others found a cluster
		if !root(o).get("version").exists() {
			return weakClass, func(f *founded, o *source.Object) {
				f.talosMachine(fieldsOf(root(o)))
				f.talosManifests(o)
			}
		}
	case "machineconfiguration.openshift.io MachineConfig", "bootstrap.cluster.x-k8s.io KubeadmConfigTemplate", "bootstrap.cluster.x-k8s.io KubeadmConfig":
		if isMachineFiles(o) {
			return weakClass, (*founded).crio
		}
	case "submariner.io Submariner": // one in each cluster
		return "submariner", (*founded).submariner
	case "submariner.io Broker":
		return weakClass, (*founded).submarinerBroker
	case "container.cnrm.cloud.google.com ContainerNodePool":
		return weakClass, (*founded).containerNodePool
	case "kops.k8s.io InstanceGroup":
		return weakClass, func(*founded, *source.Object) {} // its kubelet is read elsewhere
	case " Node":
		return weakClass, func(f *founded, o *source.Object) { f.node(root(o)) }
	case " Service":
		if ip := root(o).get("spec", "clusterIP").text(); ip != "" && ip != "None" {
			return weakClass, (*founded).service
		}
	case " ConfigMap":
		return networkConfigMap(o)
	case " Pod":
		if isKubeComponent(o) {
			return weakClass, (*founded).kubeComponent
		}
	case "apps DaemonSet":
		switch {
		case isKubeComponent(o):
			return weakClass, (*founded).kubeComponent
		case cniOfDaemonSet(o) != "":
			return weakClass, (*founded).cniDaemonSet
		case isKilo(o):
			return weakClass, (*founded).kilo
		}
	default:
		return networkChart(o)
	}
	return "", nil
}

// networkConfigMap recognises ConfigMaps by what they hold, and by the names
// that their readers look for.
func networkConfigMap(o *source.Object) (class string, read func(*founded, *source.Object)) {
	data := root(o).get("data")
	switch {
	case isCalicoConfig(data):
		return "calico-config", (*founded).cniConfigMap
	case isFlannelConfig(data):
		return "flannel-config", (*founded).cniConfigMap
	case isCiliumConfig(o):
		return "cilium-config", (*founded).cniConfigMap
	case kubeConfigMap(o) != "":
		return weakClass, func(f *founded, o *source.Object) {
			key := kubeConfigMap(o)
			for _, doc := range f.documentsIn(root(o).get("data", key), key) {
				f.kubeadmDocument(doc)
			}
		}
	case isMetalLBConfig(o):
		return weakClass, (*founded).metalLBConfig
	}
	return "", nil
}

// readClusterPart adds what an object says of its cluster.
func readClusterPart(cs *clusterSet, o *source.Object) {
	_, read := networkPart(o)
	if read == nil {
		return
	}
	f := cs.one(o)
	if o.Kind == "ContainerNodePool" {
		f = cs.clusterOfPool(o)
	}
	if f != nil {
		read(f, o)
	}
}

// calicoInstallation: the operator installs Calico's CNI plugin unless the
// cluster's provider brings its own, and that plugin writes 0 into every pod's
// ip_forward unless told otherwise (FG D1.3, A6.5).
func (f *founded) calicoInstallation(spec node) {
	network := spec.get("calicoNetwork")
	f.podMTU(network.get("mtu"), "calicoNetwork.mtu")
	for _, pool := range network.get("ipPools").items() {
		f.partOf(cidrplan.Pod, pool.get("cidr"), "ipPools.cidr")
	}
	switch installedCNI(spec) {
	case "":
		return
	case "Calico":
		f.cniRanked("calico", spec.ref(), 0)
	case "AmazonVPC":
		f.cniRanked("aws", spec.get("cni", "type").ref(), 0)
		return
	default:
		return
	}
	f.calicoForwarding(network.get("containerIPForwarding"), false)
}

// installedCNI is the plugin that Calico's operator installs, "" where the
// cluster's provider brings one that nothing names.
func installedCNI(spec node) string {
	if kind, has := spec.get("cni", "type").str(); has {
		return kind
	}
	switch spec.get("kubernetesProvider").text() {
	case "EKS", "GKE", "AKS":
		return ""
	}
	return "Calico"
}

// calicoForwarding reads the operator's switch; elsewhere: something that cannot
// be seen may set it.
func (f *founded) calicoForwarding(forwarding node, elsewhere bool) {
	switch text, is := forwarding.str(); {
	case text == "Enabled":
		f.ForwardingOn = Switch{State: Present, Ref: forwarding.ref(), Why: "containerIPForwarding: Enabled"}
	case is && placeholder(text) != "", forwarding.exists() && !is:
		f.ForwardingOff = Switch{State: Unknown, Ref: forwarding.ref(), Why: "containerIPForwarding cannot be read"}
		f.ForwardingOn = f.ForwardingOff // it may also be Enabled
	case !forwarding.exists() && elsewhere:
		f.ForwardingOff = Switch{State: Unknown, Ref: forwarding.ref(), Why: "containerIPForwarding may be set in values that are not in the tree"}
		f.ForwardingOn = f.ForwardingOff
	case forwarding.exists():
		f.ForwardingOff = Switch{State: Present, Ref: forwarding.ref(), Why: "containerIPForwarding: " + clip(text)}
	default:
		f.ForwardingOff = Switch{State: Present, Ref: forwarding.ref(), Why: "the Installation does not set containerIPForwarding: Enabled"}
	}
}

// calicoPool: a disabled pool gives no addresses; it keeps what it covers from
// being masqueraded (FG A6.2).
func (f *founded) calicoPool(spec node) {
	like := cidrplan.Claim{Role: cidrplan.Pod, Says: "IPPool cidr", Strength: cidrplan.Declared, Part: true}
	uses := spec.get("allowedUses").texts()
	if len(uses) > 0 && !slices.ContainsFunc(uses, func(n node) bool { return n.text() == "Workload" }) {
		return
	}
	if spec.get("disabled").boolean() != Absent {
		like.Idiom = cidrplan.NoSNATPool
	} else {
		f.cniRanked("calico", spec.get("cidr").ref(), 2)
	}
	f.rangeAs(like, spec.get("cidr"))
}

func isCalicoConfig(data node) bool {
	return strings.Contains(data.get("cni_network_config").text(), `"calico"`)
}

func isFlannelConfig(data node) bool {
	return strings.Contains(data.get("net-conf.json").text(), `"Network"`)
}

func isCiliumConfig(o *source.Object) bool {
	return o.Name == "cilium-config" && o.Kind == "ConfigMap"
}

// ciliumConfig reads the data of Cilium's ConfigMap.
func (f *founded) ciliumConfig(at, data node) {
	f.cniRanked("cilium", at.ref(), 1)
	f.ciliumSourceCheck(at, data.get("enable-source-ip-verification"), data.get("cni-chaining-mode"), false, "enable-source-ip-verification")
	f.podMTU(data.get("mtu"), "mtu")
	for _, key := range []string{"ipv4-native-routing-cidr", "ipv6-native-routing-cidr"} {
		if e := grammar.ParsePrefix(data.get(key).text(), 0); e.Valid && !e.Bare {
			f.nativeRouting = append(f.nativeRouting, e.Prefix)
		}
	}
	if mode := data.get("ipam").text(); mode == "" || mode == "cluster-pool" {
		for _, key := range []string{"cluster-pool-ipv4-cidr", "cluster-pool-ipv6-cidr"} {
			if n := data.get(key); n.text() != "" {
				f.rangesIn(cidrplan.Claim{Role: cidrplan.Pod, Says: key, Strength: cidrplan.Declared, Part: true}, n, 0, n.text(), " ,")
			}
		}
	}
}

func (f *founded) cniConfigMap(o *source.Object) {
	data := root(o).get("data")
	switch {
	case isCalicoConfig(data):
		f.calicoConfig(data.get("cni_network_config"))
		f.podMTU(data.get("veth_mtu"), "veth_mtu")
		if isFlannelConfig(data) { // Canal: flannel's network, Calico's plugin
			f.flannelConfig(data.get("net-conf.json"))
		}
	case isFlannelConfig(data):
		f.cniRanked("flannel", data.get("net-conf.json").ref(), 1)
		f.flannelConfig(data.get("net-conf.json"))
		f.tuning(data.get("cni-conf.json"))
	case isCiliumConfig(o):
		f.ciliumConfig(root(o), data)
	}
}

// The calico manifest keeps placeholders such as __CNI_MTU__ where JSON wants
// numbers; a script fills them in on the node.
var barePlaceholder = regexp.MustCompile(`:\s*__[A-Za-z0-9_]+__`)

// cniPlugins reads a CNI configuration: one plugin or a list of them. What is no
// JSON is a gap, unless something fills it in.
func (ix *index) cniPlugins(n node, says string) []node {
	text := barePlaceholder.ReplaceAllStringFunc(n.text(), func(hole string) string { // places stay what they are
		return ":" + strings.Repeat(" ", len(hole)-len(":0")) + "0"
	})
	var tree map[string]any
	err := json.Unmarshal([]byte(text), &tree)
	var wrong *json.SyntaxError
	if errors.As(err, &wrong) && text != "" && placeholder(text) == "" {
		at := min(max(int(wrong.Offset)-1, 0), len(text)-1)
		ix.gapAt(finding.Unresolved, n.obj, n.part(at, at+1), "what "+says+" sets in the pods", because("it is no JSON: "+wrong.Error()+"", "correct it"),
			"it may turn forwarding on or off: VPN101 does not count it", "VPN101")
	}
	if err != nil || tree == nil {
		return nil
	}
	conf := node{obj: n.obj, ptr: n.ptr, val: tree, ok: true}
	if plugins := conf.get("plugins").items(); plugins != nil {
		return plugins
	}
	return []node{conf}
}

func (f *founded) calicoConfig(n node) {
	f.cniRanked("calico", n.ref(), 1)
	plugins := f.ix.cniPlugins(n, "cni_network_config")
	at := slices.IndexFunc(plugins, func(p node) bool { return p.get("type").text() == "calico" })
	if at < 0 {
		f.ForwardingOff = Switch{State: Unknown, Ref: n.ref(), Why: "cni_network_config cannot be read"}
		return
	}
	if plugins[at].get("container_settings", "allow_ip_forwarding").boolean() == Present {
		f.ForwardingOn = Switch{State: Present, Ref: n.ref(), Why: "container_settings.allow_ip_forwarding in cni_network_config"}
		return
	}
	if on, says := tunedOn(plugins); on {
		f.ForwardingOn = Switch{State: Present, Ref: n.ref(), Why: "the tuning plugin in cni_network_config sets " + says}
		return
	}
	f.ForwardingOff = Switch{State: Present, Ref: n.ref(), Why: "cni_network_config does not set container_settings.allow_ip_forwarding"}
}

// tuning: the cluster's own CNI chain may set sysctls in every pod (FG D1.6).
func (f *founded) tuning(n node) {
	if on, says := tunedOn(f.ix.cniPlugins(n, "cni-conf.json")); on {
		f.ForwardingOn = Switch{State: Present, Ref: n.ref(), Why: "the tuning plugin sets " + says}
	}
}

func tunedOn(plugins []node) (on bool, says string) {
	for _, p := range plugins {
		if p.get("type").text() != "tuning" {
			continue
		}
		if on, says := podSysctl(p.get("sysctl")); on {
			return true, says
		}
	}
	return false, ""
}

func (f *founded) flannelConfig(n node) {
	for _, conf := range f.documentsIn(n, "net-conf.json") {
		for _, key := range []string{"Network", "IPv6Network"} {
			f.rangeOf(cidrplan.Pod, conf.get(key), "net-conf.json "+key)
		}
	}
}

// cniOfDaemonSet recognises CNIs by the image of their agent.
func cniOfDaemonSet(o *source.Object) string {
	for _, c := range root(o).get("spec", "template", "spec", "containers").items() {
		switch repository := imageRepository(c.get("image").text()); {
		case strings.HasSuffix(repository, "calico/node"):
			return "calico"
		case strings.HasSuffix(repository, "cilium/cilium"):
			return "cilium"
		case path.Base(repository) == "flannel":
			return "flannel"
		case path.Base(repository) == "amazon-k8s-cni":
			return "aws"
		case path.Base(repository) == "kindnetd":
			return "kindnet"
		}
	}
	return ""
}

// imageRepository cuts tag and digest off.
func imageRepository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	return image
}

func (f *founded) cniDaemonSet(o *source.Object) {
	name := cniOfDaemonSet(o)
	f.cniRanked(name, root(o).ref(), 2)
	if name != "calico" {
		return
	}
	for _, c := range root(o).get("spec", "template", "spec", "containers").items() {
		for _, env := range c.get("env").items() {
			switch env.get("name").text() {
			case "CALICO_IPV4POOL_CIDR", "CALICO_IPV6POOL_CIDR":
				f.partOf(cidrplan.Pod, env.get("value"), env.get("name").text())
			case "FELIX_WORKLOADSOURCESPOOFING":
				f.spoofing(0, env.get("value"), env.get("name").text())
			}
		}
	}
}

func (f *founded) service(o *source.Object) {
	spec := root(o).get("spec")
	like := cidrplan.Claim{Role: cidrplan.Service, Says: "clusterIP of Service " + qualified(o.Namespace, o.Name), Strength: cidrplan.Evidence}
	ips := spec.get("clusterIPs")
	if len(ips.items()) == 0 {
		ips = spec.get("clusterIP")
	}
	f.rangeAs(like, ips)
	if o.Namespace == "kube-system" && (o.Name == "kube-dns" || o.Name == "coredns") {
		like.Role = cidrplan.DNS
		f.rangeAs(like, ips)
	}
}

func (f *founded) node(top node) {
	like := cidrplan.Claim{Role: cidrplan.Pod, Says: "podCIDR", Strength: cidrplan.Evidence}
	cidrs := top.get("spec", "podCIDRs")
	if len(cidrs.items()) == 0 {
		cidrs = top.get("spec", "podCIDR")
	}
	f.rangeAs(like, cidrs)
	for _, a := range top.get("status", "addresses").items() {
		if a.get("type").text() == "InternalIP" {
			f.rangeAs(cidrplan.Claim{Role: cidrplan.Node, Says: "InternalIP", Strength: cidrplan.Evidence}, a.get("address"))
		}
	}
}

// clusterOfPool follows a node pool's clusterRef, else the directory decides.
func (cs *clusterSet) clusterOfPool(o *source.Object) *founded {
	ref := root(o).get("spec", "clusterRef")
	name := ref.get("name").text()
	if name == "" {
		return cs.one(o)
	}
	namespace, has := ref.get("namespace").str()
	if !has {
		namespace = o.Namespace
	}
	cluster, state := cs.ix.find("ContainerCluster", namespace, name, o)
	if state != Present {
		return cs.one(o)
	}
	return cs.one(cluster)
}

// containerNodePool: a pool may have a pod range of its own, and its sysctls
// reach the pods too (FG B, D1.6).
func (f *founded) containerNodePool(o *source.Object) {
	spec := root(o).get("spec")
	f.nodePool(spec.get("nodeConfig"))
	f.pools[len(f.pools)-1].object = o
	f.block(cidrplan.Claim{Role: cidrplan.Pod, Part: true}, spec.get("networkConfig", "podIpv4CidrBlock"), "podIpv4CidrBlock")
	f.secondary(cidrplan.Claim{Role: cidrplan.Pod, Part: true}, f.subnet, spec.get("networkConfig", "podRange"))
}

func (f *founded) nodePool(config node) {
	sysctls := config.get("linuxNodeConfig", "sysctls")
	on, says := podSysctl(sysctls)
	f.pools = append(f.pools, poolClaim{on: on, ref: sysctls.ref(), says: says})
}

// kubelet: defaultPodSysctls reach every pod of the nodes that use this
// configuration (FG D1.6).
func (f *founded) kubelet(conf node) {
	sysctls := conf.get("defaultPodSysctls")
	on, says := podSysctl(sysctls)
	f.kubelets = append(f.kubelets, poolClaim{on: on, ref: sysctls.ref(), says: says})
}

// settlePools: only when every node pool, or every kubelet configuration, makes
// pods forward is it certain for a pod whose nodes are not known.
func (f *founded) settlePools() {
	f.settleForwarding("the kubelet's defaultPodSysctls has ", "kubelet configurations", f.kubelets)
	f.settleForwarding("linuxNodeConfig.sysctls has ", "node pools", f.pools)
	f.settleForwarding("CRI-O's default_sysctls has ", "machines", f.runtimes)
}

func (f *founded) settleForwarding(why, of string, pools []poolClaim) {
	var forwarding []poolClaim
	for _, p := range pools {
		if p.on {
			forwarding = append(forwarding, p)
		}
	}
	if len(forwarding) == 0 || f.ForwardingOn.State == Present {
		return
	}
	first := slices.MinFunc(forwarding, func(a, b poolClaim) int { return compareRefs(a.ref, b.ref) })
	f.ForwardingOn = Switch{State: Present, Ref: first.ref, Why: why + first.says}
	if len(forwarding) < len(pools) {
		f.ForwardingOn.State = Unknown
		f.ForwardingOn.Why += " in some " + of + " only"
		f.mixedPools = pools
	}
}
