package facts

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
	spelling "github.com/vpnlint/vpnlint/pkg/suggest"
)

// typedField is a field of an object, or of the values of a chart, that facts are read
// from: its path, with * for the items of a list, and what is wrong with a value.
type typedField struct {
	path  string
	wrong func(node) string
}

// typedKind are the fields of a kind of object that its API server, or the program
// that reads it, takes in one form only.
type typedKind struct {
	groups []string
	kind   string
	// of tells the objects of the kind that are meant, nil for all.
	of     func(*source.Object) bool
	fields []typedField
	// names are all fields of spec, so that a misspelt one of fields can be told.
	names []string
	fate  string
	rules []string
}

var (
	calicoGroups = []string{"projectcalico.org", "crd.projectcalico.org"}
	masqRules    = []string{"VPN201", "VPN202", "VPN203", "VPN208", "VPN211"}
)

func typedKinds() []typedKind {
	return []typedKind{
		{
			groups: calicoGroups, kind: "IPPool", fate: "Calico's API refuses the object, and what the pool is to do is not known", rules: masqRules,
			fields: []typedField{
				{"spec.natOutgoing", wrongBool}, {"spec.disabled", wrongBool}, {"spec.blockSize", wrongInteger}, {"spec.cidr", wrongText}, {"spec.cidr", wrongPoolRange},
				{"spec.ipipMode", wrongChoice("Always", "CrossSubnet", "Never", "")}, {"spec.vxlanMode", wrongChoice("Always", "CrossSubnet", "Never", "")},
				{"spec.allowedUses", wrongList}, {"spec.allowedUses.*", wrongChoice("Workload", "Tunnel", "LoadBalancer", "HostSecondaryInterface")},
			},
			names: strings.Fields("cidr natOutgoing disabled blockSize ipipMode vxlanMode allowedUses nodeSelector namespaceSelector disableBGPExport assignmentMode nat-outgoing ipip"),
		},
		{
			groups: []string{"operator.tigera.io"}, kind: "Installation", fate: "the operator's API refuses the object, and what its pools are to do is not known", rules: masqRules,
			fields: []typedField{
				{"spec.calicoNetwork.ipPools", wrongList}, {"spec.calicoNetwork.ipPools.*.natOutgoing", wrongChoice("Enabled", "Disabled")},
				{"spec.calicoNetwork.ipPools.*.encapsulation", wrongChoice("IPIPCrossSubnet", "IPIP", "VXLAN", "VXLANCrossSubnet", "None")},
				{"spec.calicoNetwork.ipPools.*.blockSize", wrongInteger}, {"spec.calicoNetwork.ipPools.*.cidr", wrongText},
				{"spec.calicoNetwork.containerIPForwarding", wrongChoice("Enabled", "Disabled")},
			},
		},
		{
			groups: calicoGroups, kind: "FelixConfiguration", fate: "Calico refuses the setting, and which source packets get is not known", rules: masqRules,
			fields: []typedField{
				{"spec.natOutgoingAddress", wrongAddressOf}, {"spec.natOutgoingExclusions", wrongChoice("IPPoolsOnly", "IPPoolsAndHostIPs")},
				{"spec.iptablesNATOutgoingInterfaceFilter", wrongText},
			},
		},
		{
			groups: []string{""}, kind: "ConfigMap", of: isCiliumConfig, fate: "Cilium's agent does not start with it, and what it masquerades is not known", rules: masqRules,
			fields: []typedField{
				{"data.enable-ipv4-masquerade", wrongGoBool}, {"data.enable-ip-masq-agent", wrongGoBool}, {"data.enable-bpf-masquerade", wrongGoBool},
				{"data.ipv4-native-routing-cidr", wrongCIDR}, {"data.routing-mode", wrongChoice("native", "tunnel", "")}, {"data.cluster-pool-ipv4-mask-size", wrongNumberText},
				{"data.tunnel-protocol", wrongChoice("vxlan", "geneve", "")},
			},
		},
		{
			groups: []string{"kubeovn.io"}, kind: "Subnet", fate: "Kube-OVN's API refuses the object", rules: masqRules,
			fields: []typedField{{"spec.natOutgoing", wrongBool}, {"spec.cidrBlock", wrongText}},
		},
		{
			groups: []string{"operator.openshift.io"}, kind: "Network", fate: "the API server refuses the object, and what the network rewrites is not known", rules: masqRules,
			fields: []typedField{{"spec.defaultNetwork.ovnKubernetesConfig.gatewayConfig.routingViaHost", wrongBool}},
		},
		{
			groups: []string{"networking.gke.io"}, kind: "EgressNATPolicy", fate: "the API server refuses the object, and the list that is in force is not known", rules: masqRules,
			of: func(o *source.Object) bool {
				return !root(o).get("spec", "sources").exists() && !root(o).get("spec", "gatewayRef").exists()
			},
			fields: []typedField{{"spec.action", wrongChoice("NoSNAT")}, {"spec.destinations", wrongList}, {"spec.destinations.*.cidr", wrongCIDR}},
		},
		{
			groups: []string{"container.cnrm.cloud.google.com"}, kind: "ContainerCluster", fate: "the API server refuses the object, and what the cluster masquerades is not known", rules: masqRules,
			fields: []typedField{
				{"spec.enableAutopilot", wrongBool}, {"spec.defaultSnatStatus", wrongMapping}, {"spec.defaultSnatStatus.disabled", wrongBool},
				{"spec.ipAllocationPolicy.clusterIpv4CidrBlock", wrongText},
			},
		},
		{
			groups: []string{computeGroup}, kind: "ComputeVPNTunnel", fate: "the API server refuses the object, and what the tunnel takes is not known", rules: []string{"VPN201", "VPN208", "VPN401"},
			fields: []typedField{{"spec.localTrafficSelector", wrongList}, {"spec.remoteTrafficSelector", wrongList}},
		},
		{
			groups: []string{"networking.k8s.io"}, kind: "NetworkPolicy", fate: "the API server refuses the object, and what it stops is not known", rules: []string{"VPN111", "VPN303", "VPN304"},
			fields: []typedField{
				{"spec.policyTypes", wrongList}, {"spec.policyTypes.*", wrongChoice("Ingress", "Egress")}, {"spec.egress", wrongList}, {"spec.podSelector", wrongMapping},
				{"spec.egress.*.to", wrongList}, {"spec.egress.*.ports", wrongList}, {"spec.egress.*.ports.*.protocol", wrongChoice("TCP", "UDP", "SCTP")},
			},
		},
		{
			groups: []string{"kubelet.config.k8s.io"}, kind: "KubeletConfiguration", fate: "the kubelet does not start with it", rules: []string{"VPN104", "VPN502"},
			fields: []typedField{{"allowedUnsafeSysctls", wrongList}, {"allowedUnsafeSysctls.*", wrongSysctl}, {"clusterDNS", wrongList}},
		},
		{
			groups: []string{"submariner.io"}, kind: "Submariner", fate: "the API server refuses the object", rules: masqRules,
			fields: []typedField{{"spec.natEnabled", wrongBool}, {"spec.clusterCIDR", wrongText}, {"spec.serviceCIDR", wrongText}},
		},
		{
			groups: []string{"tailscale.com"}, kind: "Connector", fate: "the API server refuses the object, and what the connector takes is not known", rules: []string{"VPN101", "VPN302", "VPN401"},
			fields: []typedField{{"spec.exitNode", wrongBool}, {"spec.subnetRouter.advertiseRoutes", wrongList}},
		},
		{
			groups: []string{"tailscale.com"}, kind: "ProxyClass", fate: "the API server refuses the object, and what its proxies take is not known", rules: []string{"VPN302", "VPN401"},
			fields: []typedField{{"spec.tailscale.acceptRoutes", wrongBool}},
		},
		{
			groups: []string{"k3s.io"}, kind: "Config", fate: "k3s does not start with it", rules: masqRules,
			fields: []typedField{
				{"flannel-backend", wrongSpelling("none", "vxlan", "ipsec", "host-gw", "wireguard", "wireguard-native", "tailscale")}, {"flannel-ipv6-masq", wrongGoBool},
			},
		},
		{
			groups: []string{"kubeadm.k8s.io"}, kind: "ClusterConfiguration", fate: "kubeadm refuses the configuration and no cluster comes up", rules: []string{"VPN302", "VPN401", "VPN405", "VPN408"},
			fields: []typedField{{"networking.podSubnet", noList}, {"networking.serviceSubnet", noList}},
		},
		{
			groups: []string{"kind.x-k8s.io"}, kind: "Cluster", fate: "kind refuses the configuration and no cluster comes up", rules: []string{"VPN302", "VPN401", "VPN405", "VPN408"},
			fields: []typedField{
				{"networking.podSubnet", noList}, {"networking.serviceSubnet", noList}, {"networking.disableDefaultCNI", wrongBool},
				{"networking.kubeProxyMode", wrongChoice("iptables", "ipvs", "nftables", "none", "")},
			},
		},
	}
}

// readTypedFields notes the fields of networks' objects that their readers refuse. What
// they decide is unknown to the readers of facts by then.
func readTypedFields(ix *index, cs *clusterSet, pods []*podView) {
	for _, k := range typedKinds() {
		for _, group := range k.groups {
			for _, o := range ix.ofKind(group, k.kind) {
				if k.of != nil && !k.of(o) {
					continue
				}
				for _, f := range k.fields {
					for _, n := range fieldsAt(root(o), strings.Split(f.path, ".")) {
						ix.fieldRefused(o, n, f.path, f.wrong(n), k.fate, k.rules)
					}
				}
				if key, meant := misspeltField(root(o).get("spec"), k.names); meant != "" {
					n := root(o).get("spec").get(key)
					ix.gapAt(finding.Unresolved, o, n.ref(), "what "+key+" of "+nameOf(o).String()+" sets",
						because(k.kind+" has no field "+strconv.Quote(clip(key))+", "+meant+" is near", correctIt), k.fate, k.rules...)
				}
			}
		}
	}
	for _, f := range cs.founded {
		releases, _ := (&masqScope{ix: ix, cs: cs, f: f, pods: pods}).releases("cilium", "rke2-cilium")
		for _, r := range releases {
			for _, field := range []typedField{
				{"ipv4NativeRoutingCIDR", wrongCIDR}, {"enableIPv4Masquerade", wrongGoBool}, {"bpf.masquerade", wrongGoBool}, {"ipMasqAgent.enabled", wrongGoBool},
				{"routingMode", wrongChoice("native", "tunnel", "")},
			} {
				if n, state := r.values.lookup(strings.Split(field.path, ".")...); state == Present {
					ix.fieldRefused(r.object, n, field.path, field.wrong(n), "Cilium does not start with it, and what it masquerades is not known", masqRules)
				}
			}
		}
	}
	for _, o := range ix.ofKind("talos.dev", "MachineConfig") {
		list := root(o).get("machine", "sysctls")
		for _, key := range list.keys() {
			if meant := shell.MisspeltSysctl(normalSysctl(key)); meant != "" {
				ix.fieldRefused(o, list.get(key), "machine.sysctls", "the kernel has no setting "+strconv.Quote(clip(key))+", "+strconv.Quote(meant)+" is near",
					"the node does not set it", []string{"VPN101"})
			}
		}
	}
	for _, o := range ix.ofKind("", "ConfigMap") {
		if text := root(o).get("data", "net-conf.json"); text.exists() {
			ix.netConfRefused(o, text)
		}
	}
	for _, p := range pods {
		for _, c := range p.containers {
			c.networkRefused()
		}
	}
}

// netConfRefused looks at flannel's own configuration, whose keys may be written in
// any case.
func (ix *index) netConfRefused(o *source.Object, text node) {
	const fate = "flannel stops there and no pod gets an address"
	docs, _ := text.documents()
	if len(docs) != 1 {
		return
	}
	field := func(n node, key string) node {
		for _, k := range n.keys() {
			if strings.EqualFold(k, key) {
				return n.get(k)
			}
		}
		return n.get(key)
	}
	conf := docs[0]
	for _, f := range []typedField{
		{"EnableIPv4", wrongBool}, {"EnableIPv6", wrongBool}, {"EnableNFTables", wrongBool}, {"SubnetLen", wrongInteger}, {"IPv6SubnetLen", wrongInteger},
	} {
		n := field(conf, f.path)
		ix.fieldRefused(o, n, f.path, f.wrong(n), fate, masqRules)
	}
	backend := field(field(conf, "Backend"), "Type")
	ix.fieldRefused(o, backend, "Backend.Type", wrongSpelling("vxlan", "host-gw", "wireguard", "udp", "alloc", "ipip", "ipsec", "extension", "tencent-vpc", "ali-vpc")(backend), fate, masqRules)
	for _, key := range conf.keys() {
		if n := spelling.Distance(strings.ToLower(key), "network"); n > 0 && n < 3 && !field(conf, "Network").exists() {
			ix.fieldRefused(o, conf.get(key), key, "flannel reads no "+strconv.Quote(clip(key))+", \"Network\" is near", fate, masqRules)
		}
	}
}

// fieldRefused makes a gap of a field, if anything is wrong with it.
func (ix *index) fieldRefused(o *source.Object, n node, path, why, fate string, rules []string) {
	if text, _ := n.scalar(); why == "" || !n.exists() || placeholder(text) != "" || strings.ContainsAny(text, "$<>{}") {
		return
	}
	ix.gapAt(finding.Unresolved, o, n.ref(), "what "+path+" of "+nameOf(o).String()+" sets", because(why, correctIt), fate, rules...)
}

// fieldsAt are the fields at a path that are there.
func fieldsAt(n node, path []string) []node {
	for i, key := range path {
		if key == "*" {
			var out []node
			for _, item := range n.items() {
				out = append(out, fieldsAt(item, path[i+1:])...)
			}
			return out
		}
		n = n.get(key)
	}
	if !n.exists() {
		return nil
	}
	return []node{n}
}

// misspeltField is a field that an object of the kind does not have, and the one that
// it most likely means.
func misspeltField(spec node, names []string) (key, meant string) {
	for _, key := range spec.keys() {
		if len(names) == 0 || slices.Contains(names, key) {
			continue
		}
		for _, name := range names {
			const slips, short = 2, 4
			if spelling.Distance(key, name) <= slips && len(name) > short && !spec.get(name).exists() {
				return key, name
			}
		}
	}
	return "", ""
}

func wrongBool(n node) string {
	if _, is := n.val.(bool); is || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no boolean: true or false, without quotes"
}

func wrongInteger(n node) string {
	if _, is := n.integer(); is || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no number"
}

func wrongText(n node) string {
	if _, is := n.str(); is || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no string"
}

// noList is for a string of which readers of ranges take a list, too.
func noList(n node) string {
	if _, is := n.val.([]any); is {
		return fieldSays(n) + " is no string"
	}
	return ""
}

func wrongList(n node) string {
	if _, is := n.val.([]any); is || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no list"
}

func wrongMapping(n node) string {
	if n.isMap() || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no mapping"
}

// wrongSysctl: the kernel has no setting of the name.
func wrongSysctl(n node) string {
	if meant := shell.MisspeltSysctl(normalSysctl(n.text())); meant != "" {
		return "the kernel has no setting " + fieldSays(n) + ", " + strconv.Quote(meant) + " is near"
	}
	return ""
}

// wrongGoBool is for one that a program in Go reads as a flag.
func wrongGoBool(n node) string {
	text, is := n.scalar()
	if is && (goSwitch(text) == "" || strings.TrimSpace(text) == "") || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is neither true nor false"
}

func wrongChoice(names ...string) func(node) string {
	return func(n node) string {
		if text, is := n.str(); is && slices.Contains(names, text) || n.val == nil {
			return ""
		}
		return fieldSays(n) + " is none of " + strings.Join(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" }), ", ")
	}
}

// wrongSpelling is wrongChoice for a field that may take more.
func wrongSpelling(names ...string) func(node) string {
	return func(n node) string {
		text, is := n.str()
		for _, name := range names {
			if slips := spelling.Distance(text, name); is && !slices.Contains(names, text) && slips < 3 && len(name) > slips+2 {
				return fieldSays(n) + " is nothing that it takes, " + strconv.Quote(name) + " is near"
			}
		}
		return ""
	}
}

// wrongPoolRange: Calico's own API takes no pool with bits right of the mask.
func wrongPoolRange(n node) string {
	e := grammar.ParsePrefix(n.text(), 0)
	if !e.Valid || !e.HostBits || n.obj == nil || groupOf(n.obj) != "projectcalico.org" {
		return ""
	}
	return fieldSays(n) + " has bits right of the mask, the network is " + e.Prefix.Masked().String()
}

func wrongCIDR(n node) string {
	text, is := n.str()
	e := grammar.ParsePrefix(strings.TrimSpace(text), 0)
	if is && (e.Valid && !e.Bare || e.Unknown || text == "") || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no prefix"
}

func wrongAddressOf(n node) string {
	text, is := n.str()
	if _, err := netip.ParseAddr(text); is && (err == nil || text == "") || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no address"
}

func wrongNumberText(n node) string {
	text, is := n.scalar()
	if is && wrongNumber(text) == "" || n.val == nil {
		return ""
	}
	return fieldSays(n) + " is no number"
}

// fieldSays is a value in a message.
func fieldSays(n node) string {
	if text, is := n.scalar(); is {
		return strconv.Quote(clip(text))
	}
	if n.isMap() {
		return "a mapping"
	}
	return "a list"
}

// networkRefused looks at the flags and variables of the containers that set a
// cluster's network up.
func (c *containerView) networkRefused() {
	gap := func(at source.Ref, what, why, fate string) {
		c.pod.ix.gapAt(finding.Unresolved, c.pod.object, at, "what "+what+" sets in container "+c.c.Name, because(why, correctIt), fate, masqRules...)
	}
	switches := func(names ...string) {
		for _, n := range append(c.spec.get("command").texts(), c.spec.get("args").texts()...) {
			key, value, has := strings.Cut(n.text(), "=")
			name := strings.TrimLeft(key, "-")
			if !strings.HasPrefix(key, "-") || placeholder(value) != "" || strings.Contains(value, "$") {
				continue
			}
			if slices.Contains(names, name) && has && goSwitch(value) != "" {
				gap(n.ref(), key, goSwitch(value), "the container stops there, and what it rewrites is not known")
			}
			for _, meant := range names {
				if n1 := spelling.Distance(name, meant); n1 > 0 && n1 < 3 {
					gap(n.ref(), key, "it has no flag "+strconv.Quote(clip(key))+", --"+meant+" is near", "the container stops there, and what it rewrites is not known")
				}
			}
		}
	}
	variable := func(key, fate string, wrong func(string) string) {
		v := c.env(key)
		text := strings.TrimSpace(v.Text)
		if v.State != Present || text == "" || strings.ContainsAny(text, "$<>{}") || placeholder(text) != "" {
			return
		}
		if why := wrong(text); why != "" {
			begin := strings.Index(v.Text, text)
			gap(v.within(begin, begin+len(text)), key, key+": "+why, fate)
		}
	}
	const stops, goesOn = "the container stops there, and what it rewrites is not known", "the value is passed over, and what was meant is not known"
	switch {
	case c.c.Stage != Main:
	case c.imageNamed("kube-router"):
		switches("enable-pod-egress", "run-router")
	case c.imageNamed("flannel"):
		switches("ip-masq")
		variable("FLANNELD_IP_MASQ", stops, goSwitch)
	case c.imageNamed(awsNodeImage):
		variable(awsExternal, goesOn, goSwitch)
		variable(awsExclude, "the AWS VPC CNI passes the entry over, and rewrites the source of what goes there", eachOf(wrongPrefix))
	case isCalicoNode(c):
		variable("FELIX_NATOUTGOINGADDRESS", goesOn, wrongAddress)
		variable("FELIX_NATOUTGOINGEXCLUSIONS", goesOn, oneOf("IPPoolsOnly", "IPPoolsAndHostIPs"))
		variable("NO_DEFAULT_POOLS", goesOn, oneOf("true", "false"))
		variable("CALICO_IPV4POOL_NAT_OUTGOING", "calico-node takes it for true", oneOf("true", "1", "yes", "y", "t", "false", "0", "no", "n", "f"))
	}
}
