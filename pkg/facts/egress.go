package facts

import (
	"net/netip"
	"sort"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// breadth is how much of the world a rule of a policy admits.
type breadth int

const (
	// admitsCluster: the resolver, pods, nodes: nothing that a tunnel to the
	// outside would have carried.
	admitsCluster breadth = iota
	// admitsTunnel: one address, or the tunnel's own port.
	admitsTunnel
	// admitsUnclear: it may be the tunnel's transport, and may be more.
	admitsUnclear
	// admitsMore: certainly more than the tunnel's transport.
	admitsMore
	// admitsAll: everything, or every public address.
	admitsAll
)

// readEgress finds out what network policies let a pod send (FG D6.1). The
// policies of a namespace add up; one that is not understood makes the answer
// unknown unless another already decides.
func readEgress(p *podView) Egress {
	e := &egressReader{p: p, ports: tunnelPorts(p), isolated: Absent, widest: admitsCluster, policies: []source.Ref{}}
	for _, o := range p.ix.ofKind("networking.k8s.io", "NetworkPolicy") {
		if e.concerns(o) {
			e.kubernetes(o)
		}
	}
	for _, o := range p.ix.ofKind("cilium.io", "CiliumNetworkPolicy") {
		if e.concerns(o) {
			e.cilium(o)
		}
	}
	for _, o := range p.ix.ofKind("cilium.io", "CiliumClusterwideNetworkPolicy") {
		if !e.elsewhere(o) {
			e.cilium(o)
		}
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, o := range p.ix.ofKind(group, "NetworkPolicy") {
			if e.concerns(o) {
				e.calico(o, Present)
			}
		}
		for _, o := range p.ix.ofKind(group, "GlobalNetworkPolicy") {
			if !e.elsewhere(o) {
				e.calico(o, e.namespaceSelected(root(o).get("spec", "namespaceSelector")))
			}
		}
	}
	for _, kind := range []string{"AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy"} {
		for _, o := range p.ix.ofKind("policy.networking.k8s.io", kind) {
			if !e.elsewhere(o) && denies(root(o).get("spec", "egress")) {
				e.admin(o)
			}
		}
	}
	return e.result()
}

// denies reports whether a policy of administrators takes anything away.
func denies(egress node) bool {
	for _, rule := range egress.items() {
		if strings.EqualFold(rule.get("action").text(), "Deny") {
			return true
		}
	}
	return false
}

// admin: which pods a policy of administrators selects, and in which order it
// stands to others, is not read.
func (e *egressReader) admin(o *source.Object) {
	e.policies = append(e.policies, root(o).get("spec").ref())
	e.isolated = or(e.isolated, Unknown)
	if e.p.pod.Role == Sidecar || e.p.pod.Role == Client {
		e.p.ix.gapAt(finding.Unmodelled, o, root(o).get("spec").ref(), "what "+nameOf(o).String()+" denies "+nameOf(e.p.object).String(),
			because("the policies of administrators are not read", noAdvice),
			"it may stop traffic outside the tunnel: VPN303 and VPN304 stay silent about this pod", "VPN303", "VPN304")
	}
}

type egressReader struct {
	p        *podView
	ports    map[string]bool
	isolated Known
	widest   breadth
	policies []source.Ref
}

// concerns reports whether a namespaced policy lies in the pod's namespace and
// cluster.
func (e *egressReader) concerns(o *source.Object) bool {
	return normalNamespace(o.Namespace) == normalNamespace(e.p.object.Namespace) && !e.elsewhere(o)
}

func (e *egressReader) elsewhere(o *source.Object) bool {
	return e.p.ix.apart != nil && e.p.ix.apart(e.p.object, o)
}

func (e *egressReader) result() Egress {
	sort.Slice(e.policies, func(i, j int) bool {
		a, b := e.policies[i], e.policies[j]
		return a.Object < b.Object || a.Object == b.Object && a.Pointer < b.Pointer
	})
	out := Egress{DenyByDefault: e.isolated, TunnelOnly: Absent, Policies: e.policies, Unenforced: Switch{State: Absent}}
	if at := e.unenforced(); !at.IsZero() {
		out.DenyByDefault = Absent
		out.Unenforced = Switch{State: Present, Ref: at, Why: "flannel"}
		return out
	}
	if e.widest == admitsAll {
		out.DenyByDefault = Absent
	}
	if out.DenyByDefault != Absent && e.p.pod.HostNetwork.Value == "true" {
		out.DenyByDefault = Unknown // undefined for the host network (FG D6.3)
	}
	switch {
	case out.DenyByDefault == Absent || e.widest >= admitsMore:
	case e.widest == admitsUnclear:
		out.TunnelOnly = Unknown
	default:
		out.TunnelOnly = out.DenyByDefault
	}
	return out
}

// unenforced returns flannel's own place when policies select the pod but
// flannel alone is in view, which enforces none (FG D6.3). k3s brings an engine
// of its own, and so may any other node agent.
func (e *egressReader) unenforced() source.Ref {
	if e.isolated == Absent || len(e.p.clusters) != 1 {
		return source.Ref{}
	}
	c := e.p.clusters[0]
	flannel := e.p.ix.byID[c.CNIRef.Object]
	if c.CNI != "flannel" || flannel == nil || flannel.Kind != "ConfigMap" && flannel.Kind != "DaemonSet" {
		return source.Ref{}
	}
	for _, at := range e.policies {
		if o := e.p.ix.byID[at.Object]; o == nil || groupOf(o) != "networking.k8s.io" {
			return source.Ref{} // somebody reads that kind
		}
	}
	for _, o := range e.p.ix.byKind["DaemonSet"] {
		if e.elsewhere(o) {
			continue
		}
		for _, container := range root(o).get("spec", "template", "spec", "containers").items() {
			image := imageRepository(container.get("image").text())
			for _, engine := range []string{"calico", "cilium", "kube-router", "antrea", "weave", "kube-network-policies", "canal", "ovn", "romana", "multi-networkpolicy"} {
				if strings.Contains(image, engine) {
					return source.Ref{}
				}
			}
		}
	}
	return c.CNIRef
}

// apply adds a policy that selects the pod, certainly or perhaps.
func (e *egressReader) apply(o *source.Object, selected Known, widest breadth) {
	if selected == Absent {
		return
	}
	e.policies = append(e.policies, root(o).get("spec").ref())
	e.isolated = or(e.isolated, selected)
	if selected == Unknown {
		widest = min(widest, admitsUnclear) // it may not apply at all
		if e.p.pod.Role == Sidecar || e.p.pod.Role == Client {
			e.p.ix.gapAt(finding.Unmodelled, o, root(o).get("spec").ref(), "whether "+nameOf(o).String()+" selects "+nameOf(e.p.object).String(),
				because("its selector is not understood, or looks at labels that are not in the tree", noAdvice),
				"it may stop traffic outside the tunnel: VPN303 and VPN304 stay silent about this pod", "VPN303", "VPN304")
		}
	}
	e.widest = max(e.widest, widest)
}

func (e *egressReader) kubernetes(o *source.Object) {
	spec := root(o).get("spec")
	rules := spec.get("egress").items()
	types := spec.get("policyTypes")
	egress := !types.exists() && len(rules) > 0
	for _, t := range types.texts() {
		egress = egress || t.text() == "Egress"
	}
	if !egress {
		return
	}
	selected := selects(spec.get("podSelector"), e.p.pod.Labels)
	widest := admitsCluster
	for _, rule := range rules {
		widest = max(widest, e.kubernetesRule(rule))
	}
	e.apply(o, selected, widest)
}

func (e *egressReader) kubernetesRule(rule node) breadth {
	ports := e.kubernetesPorts(rule.get("ports"))
	peers := rule.get("to").items()
	if len(peers) == 0 {
		return limit(admitsAll, ports)
	}
	widest := admitsCluster
	for _, peer := range peers {
		block := peer.get("ipBlock")
		if !block.exists() {
			continue // pods of the cluster
		}
		widest = max(widest, limit(e.prefix(block.get("cidr").text()), ports))
	}
	return widest
}

// portClass is what a rule's list of ports lets through.
type portClass int

const (
	anyPort portClass = iota
	otherPorts
	unclearPorts
	tunnelPort
	dnsPort
)

func limit(peers breadth, ports portClass) breadth {
	switch ports {
	case dnsPort:
		return admitsCluster
	case tunnelPort:
		return min(peers, admitsTunnel)
	case unclearPorts:
		return min(peers, admitsUnclear)
	case otherPorts:
		return min(peers, admitsMore)
	default:
		return peers
	}
}

func (e *egressReader) kubernetesPorts(list node) portClass {
	class := dnsPort
	items := list.items()
	if len(items) == 0 {
		return anyPort
	}
	for _, item := range items {
		port, _ := item.get("port").scalar()
		protocol := item.get("protocol").text()
		if item.get("endPort").exists() {
			port = "range"
		}
		class = min(class, e.port(port, protocol))
	}
	return class
}

// port classifies one port. The protocol defaults to TCP.
func (e *egressReader) port(port, protocol string) portClass {
	if protocol == "" {
		protocol = "TCP"
	}
	protocol = strings.ToUpper(protocol)
	switch {
	case port == "" || port == "0":
		return anyPort
	case port == "53" || port == "dns" || port == "dns-tcp" || port == "domain":
		return dnsPort
	case e.ports[port+"/"+protocol], e.ports[port+"/ANY"], protocol == "ANY" && (e.ports[port+"/UDP"] || e.ports[port+"/TCP"]):
		return tunnelPort
	case len(e.ports) > 0:
		return otherPorts
	case protocol == "UDP" && isNumber(port):
		// The transport is not in the tree; hardly anything else is worth one
		// UDP port.
		return tunnelPort
	default:
		return unclearPorts
	}
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// prefix classifies an address range that is admitted on every port.
func (e *egressReader) prefix(text string) breadth {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return admitsUnclear
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	p = p.Masked()
	switch {
	case p.Bits() <= 1:
		return admitsAll
	case p.IsSingleIP():
		return admitsTunnel
	case isPrivate(p):
		if e.fullTunnel() {
			return admitsCluster // what it lets out never was the tunnel's
		}
		return admitsUnclear
	case p.Addr().Is4() && p.Bits() >= 20, p.Addr().Is6() && p.Bits() >= 48:
		return admitsUnclear // perhaps the provider's servers
	default:
		return admitsMore
	}
}

// fullTunnel reports whether the pod's tunnels are for everything but private
// addresses.
func (e *egressReader) fullTunnel() bool {
	for _, t := range e.p.pod.Tunnels {
		if t.Routes.Internet {
			return true
		}
	}
	return false
}

func isPrivate(p netip.Prefix) bool {
	for _, block := range []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "fc00::/7", "fe80::/10"} {
		b := netip.MustParsePrefix(block)
		if b.Bits() <= p.Bits() && b.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

func (e *egressReader) cilium(o *source.Object) {
	specs := root(o).get("specs").items()
	if spec := root(o).get("spec"); spec.exists() {
		specs = append(specs, spec)
	}
	namespaced := map[string]string{"io.kubernetes.pod.namespace": normalNamespace(e.p.object.Namespace)}
	for k, v := range e.p.pod.Labels {
		namespaced[k] = v
	}
	for _, spec := range specs {
		egress := spec.get("egress")
		if !egress.exists() || spec.get("enableDefaultDeny", "egress").val == false {
			continue
		}
		if spec.get("nodeSelector").exists() {
			continue // policies for nodes
		}
		selected := selectsKeys(spec.get("endpointSelector"), namespaced, func(key string) string {
			return strings.TrimPrefix(strings.TrimPrefix(key, "k8s:"), "any:")
		})
		widest := admitsCluster // an empty rule admits nothing
		for _, rule := range egress.items() {
			widest = max(widest, e.ciliumRule(rule))
		}
		e.apply(o, selected, widest)
	}
}

func (e *egressReader) ciliumRule(rule node) breadth {
	ports := anyPort
	if list := rule.get("toPorts").items(); len(list) > 0 {
		ports = dnsPort
		for _, group := range list {
			inner := group.get("ports").items()
			if len(inner) == 0 {
				ports = anyPort
			}
			for _, item := range inner {
				port, _ := item.get("port").scalar()
				protocol := item.get("protocol").text()
				if protocol == "" {
					protocol = "ANY"
				}
				ports = min(ports, e.port(port, protocol))
			}
		}
	}
	widest, peers := admitsCluster, false
	for _, key := range rule.keys() {
		peers = peers || strings.HasPrefix(key, "to") && key != "toPorts"
	}
	if !peers {
		if rule.get("toPorts").exists() {
			return limit(admitsAll, ports)
		}
		return admitsCluster
	}
	for _, entity := range rule.get("toEntities").texts() {
		switch entity.text() {
		case "world", "world-ipv4", "world-ipv6", "all":
			widest = max(widest, limit(admitsAll, ports))
		}
	}
	for _, cidr := range rule.get("toCIDR").texts() {
		widest = max(widest, limit(e.prefix(cidr.text()), ports))
	}
	for _, set := range rule.get("toCIDRSet").items() {
		if set.get("cidr").exists() {
			widest = max(widest, limit(e.prefix(set.get("cidr").text()), ports))
		} else {
			widest = max(widest, limit(admitsUnclear, ports))
		}
	}
	for _, name := range rule.get("toFQDNs").items() {
		if pattern := name.get("matchPattern"); pattern.exists() {
			more := admitsUnclear
			if strings.Trim(pattern.text(), "*.") == "" {
				more = admitsAll
			}
			widest = max(widest, limit(more, ports))
		} else {
			widest = max(widest, limit(admitsTunnel, ports))
		}
	}
	for _, key := range []string{"toGroups", "toNodes", "toRequires"} {
		if rule.get(key).exists() {
			widest = max(widest, limit(admitsUnclear, ports))
		}
	}
	return widest
}

// namespaceSelected evaluates a Calico namespaceSelector against the pod's
// namespace, as far as the tree declares its labels.
func (e *egressReader) namespaceSelected(selector node) Known {
	if !selector.exists() || strings.TrimSpace(selector.text()) == "" {
		return Present
	}
	name := normalNamespace(e.p.object.Namespace)
	labels := map[string]string{"projectcalico.org/name": name, "kubernetes.io/metadata.name": name}
	ns, found := e.p.ix.find("Namespace", "", name, e.p.object)
	if found == Present {
		for k, v := range root(ns).get("metadata", "labels").stringMap() {
			labels[k] = v
		}
	}
	result := calicoSelects(selector.text(), labels)
	if found != Present && !onlyNames(selector.text()) {
		return Unknown
	}
	return result
}

// onlyNames reports whether a namespace selector looks only at names, which are
// known without the Namespace object.
func onlyNames(selector string) bool {
	for i, token := range calicoTokens(selector) {
		switch token {
		case "projectcalico.org/name", "kubernetes.io/metadata.name", "==", "!=", "in", "not", "{", "}", "(", ")", ",", "&&", "||", "!", "all", "has":
		default:
			if !strings.HasPrefix(token, "'") || i == 0 {
				return false
			}
		}
	}
	return true
}

func (e *egressReader) calico(o *source.Object, namespace Known) {
	spec := root(o).get("spec")
	rules := spec.get("egress").items()
	types := spec.get("types")
	egress := !types.exists() && len(rules) > 0
	for _, t := range types.texts() {
		egress = egress || t.text() == "Egress"
	}
	if !egress {
		return
	}
	labels := map[string]string{"projectcalico.org/namespace": normalNamespace(e.p.object.Namespace)}
	for k, v := range e.p.pod.Labels {
		labels[k] = v
	}
	selected := and(namespace, calicoSelects(spec.get("selector").text(), labels))
	if spec.get("serviceAccountSelector").exists() {
		selected = and(selected, Unknown)
	}
	widest, denied := admitsCluster, false
	for _, rule := range rules {
		switch rule.get("action").text() {
		case "Allow":
			admits := e.calicoRule(rule)
			if denied && admits > admitsUnclear {
				admits = admitsUnclear // an earlier rule takes some of it away
			}
			widest = max(widest, admits)
		case "Deny":
			denied = true
			if onlyAction(rule) {
				e.apply(o, selected, widest) // nothing after it counts
				return
			}
		case "Pass":
			widest = max(widest, admitsUnclear)
		}
	}
	e.apply(o, selected, widest)
}

// onlyAction reports whether a Calico rule matches every packet.
func onlyAction(rule node) bool {
	for _, key := range rule.keys() {
		if key != "action" && key != "metadata" {
			return false
		}
	}
	return true
}

func (e *egressReader) calicoRule(rule node) breadth {
	to := rule.get("destination")
	ports := anyPort
	if list := to.get("ports").items(); len(list) > 0 {
		ports = dnsPort
		protocol, _ := rule.get("protocol").scalar()
		for _, item := range list {
			text, _ := item.scalar()
			ports = min(ports, e.port(text, protocol))
		}
	}
	if rule.get("ipVersion").exists() || rule.get("notProtocol").exists() || to.get("notPorts").exists() || to.get("notNets").exists() {
		return limit(admitsUnclear, ports)
	}
	nets := to.get("nets").texts()
	domains := to.get("domains").texts()
	switch {
	case len(nets) > 0 || len(domains) > 0:
		widest := admitsCluster
		for _, n := range nets {
			widest = max(widest, limit(e.prefix(n.text()), ports))
		}
		for _, d := range domains {
			more := admitsTunnel
			if strings.Contains(d.text(), "*") {
				more = admitsUnclear
			}
			widest = max(widest, limit(more, ports))
		}
		return widest
	case to.get("selector").exists(), to.get("namespaceSelector").exists():
		if strings.Contains(to.get("namespaceSelector").text(), "global") {
			return limit(admitsUnclear, ports)
		}
		return admitsCluster
	case to.get("services").exists(), to.get("serviceAccounts").exists():
		return admitsCluster
	default:
		return limit(admitsAll, ports)
	}
}
