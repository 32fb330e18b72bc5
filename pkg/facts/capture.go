package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
)

// readCaptures holds every tunnel against every cluster of its pod: what of
// the cluster's ranges the tunnel takes, and what the bypass lacks. It also
// settles whether a rewritten resolver still reaches the cluster, which needs
// the same ranges.
//
// A pod on the host network gets no captures: its routes are the node's, whose
// main table and kube-proxy decide otherwise than a pod's would (VPN301 speaks
// of it).
func readCaptures(p *podView) {
	for i := range p.pod.Tunnels {
		t := &p.pod.Tunnels[i]
		t.Captures = []Capture{}
		if p.spec.get("hostNetwork").boolean() == Absent {
			t.Captures = captures(t, p.clusters)
		}
		settleResolver(t, p)
		t.Clients.Unreached = unreached(t, p.clusters)
	}
}

// captures returns an empty list when the captured set cannot be known.
func captures(t *Tunnel, clusters []*Cluster) []Capture {
	out := []Capture{}
	if t.Routes.State != Present || t.Bypass.State == Unknown {
		return out
	}
	named := false
	for _, c := range clusters {
		named = true
		if capture, tells := captureOf(t, c); tells {
			out = append(out, capture)
		}
	}
	if !named && takesUnknownCluster(t) {
		out = append(out, Capture{Services: []string{}, Pods: []string{}, Nodes: []string{}, API: []string{}, Missing: []string{}, Overruled: []string{}, Ranges: []RangeAt{}})
	}
	return out
}

// captureOf computes what a tunnel takes of one cluster; false when nothing
// can be said: the service range is unknown and the bypass may hold it.
func captureOf(t *Tunnel, c *Cluster) (Capture, bool) {
	routes, bypass := prefixesAt(t.Routes.Prefixes), leftOut(t)
	services, pods := rangesOf(c, cidrplan.Service), rangesOf(c, cidrplan.Pod)
	nodes, api := rangesOf(c, cidrplan.Node), rangesOf(c, cidrplan.API)
	wholeServices, _ := splitRanges(c, cidrplan.Service)
	out := Capture{
		Cluster:     c.Name,
		Known:       len(wholeServices) > 0,
		Services:    texts(cidrplan.Captured(routes, bypass, services)),
		API:         texts(cidrplan.Captured(routes, bypass, api)),
		Pods:        []string{},
		Nodes:       []string{},
		Missing:     []string{},
		Overruled:   []string{},
		PodsCertain: c.CNI != "",
		Ranges:      []RangeAt{},
	}
	// Routes of the main table win over a captured default, and flannel writes
	// one for all pods of the cluster there (FG E1.6).
	if !t.Routes.MoreSpecificWin || c.CNI != "flannel" {
		out.Pods = texts(cidrplan.Captured(routes, bypass, pods))
	}
	if t.RepliesKept == Absent {
		out.Nodes = texts(cidrplan.Captured(routes, bypass, nodes))
	}
	add := func(taken []string, ranges []netip.Prefix) {
		if len(taken) > 0 {
			out.Missing = append(out.Missing, lacking(ranges, routes, bypass, out.Missing)...)
		}
	}
	add(out.Services, services)
	add(out.Pods, pods)
	add(out.Nodes, nodes)
	add(out.API, api)
	if len(out.Missing) > 0 {
		out.Alternative = allowedIPs(t, out.Missing)
		out.Overruled = overruling(t, mustPrefixes(out.Missing...))
		if len(out.Overruled) == 0 {
			out.Suggestion = suggest(t, out.Missing)
		}
	}
	for _, r := range c.Ranges {
		switch r.Role {
		case cidrplan.Service, cidrplan.Pod, cidrplan.Node, cidrplan.API:
			out.Ranges = append(out.Ranges, r)
		}
	}
	if !out.Known && len(out.Missing) == 0 && !takesUnknownCluster(t) {
		return Capture{}, false
	}
	return out, true
}

// lacking returns the whole ranges of which the tunnel takes some part, but for
// those that the list holds already.
func lacking(ranges, routes, bypass []netip.Prefix, have []string) []string {
	var listed []netip.Prefix
	for _, text := range have {
		if p, err := netip.ParsePrefix(text); err == nil {
			listed = append(listed, p)
		}
	}
	var out []string
	for _, r := range ranges {
		one := []netip.Prefix{r}
		if len(cidrplan.Captured(routes, bypass, one)) > 0 && !cidrplan.Contains(listed, one) {
			out = append(out, r.String())
			listed = append(listed, r)
		}
	}
	return out
}

// takesUnknownCluster: the tunnel takes the default route and its bypass has no
// private range in which an unknown cluster's services could lie.
func takesUnknownCluster(t *Tunnel) bool {
	return t.Routes.Default && len(cidrplan.Intersect(prefixesAt(t.Bypass.Entries), localRanges())) == 0
}

// localRanges are the ranges that clusters take their addresses from.
func localRanges() []netip.Prefix {
	return mustPrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
}

// rangesOf returns a cluster's ranges of one role as a minimal set. Evidence
// (one address, one node's part) counts only where nothing better is known.
func rangesOf(c *Cluster, role cidrplan.Role) []netip.Prefix {
	whole, pieces := splitRanges(c, role)
	if len(whole) > 0 {
		return whole
	}
	return pieces
}

// splitRanges tells the ranges of a role from mere evidence for one.
func splitRanges(c *Cluster, role cidrplan.Role) (whole, pieces []netip.Prefix) {
	for _, r := range c.Ranges {
		if r.Role != role {
			continue
		}
		p, err := netip.ParsePrefix(r.Prefix)
		if err != nil {
			continue
		}
		if r.Strength == cidrplan.Evidence {
			pieces = append(pieces, p.Masked())
			continue
		}
		whole = append(whole, p.Masked())
	}
	return cidrplan.Union(whole, nil), cidrplan.Union(pieces, nil)
}

func prefixesAt(list []PrefixAt) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(list))
	for _, e := range list {
		if p, err := netip.ParsePrefix(e.Prefix); err == nil {
			out = append(out, p.Masked())
		}
	}
	return out
}

func texts(list []netip.Prefix) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

// mustPrefixes parses constants of this package.
func mustPrefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(list))
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// suggest writes the whole bypass, what is there and what is missing, the way
// the tunnel's own configuration spells it, as the shortest list.
func suggest(t *Tunnel, missing []string) string {
	all := texts(cidrplan.Union(prefixesAt(t.Bypass.Entries), mustPrefixes(missing...)))
	key := t.Bypass.Key
	switch {
	case key == wgHookBypass:
		lines := make([]string, 0, len(missing))
		for _, m := range missing {
			lines = append(lines, "PostUp = "+hookBypass(t, m))
		}
		return strings.Join(lines, "\n")
	case key == scriptBypass:
		lines := make([]string, 0, len(missing))
		for _, m := range missing {
			lines = append(lines, hookBypass(t, m))
		}
		return strings.Join(lines, "\n")
	case key == openVPNRouteBypass:
		lines := make([]string, 0, len(missing))
		for _, m := range missing {
			lines = append(lines, openVPNBypass(m))
		}
		return strings.Join(lines, "\n")
	case key == "":
		return ""
	case t.Bypass.Separator == "":
		return oneVariableEach(key, all)
	case t.Bypass.Separator == " ":
		return key + `="` + strings.Join(all, " ") + `"`
	default:
		return key + "=" + strings.Join(forVariable(key, all), t.Bypass.Separator[:1])
	}
}

// oneVariableEach is the dperson spelling: KEY, KEY_2, KEY_3; IPv6 has its own
// key (FG F, separators).
func oneVariableEach(key string, list []string) string {
	var out []string
	count := map[string]int{}
	for _, p := range list {
		k := key
		if strings.Contains(p, ":") {
			k += "6"
		}
		count[k]++
		if n := count[k]; n > 1 {
			out = append(out, k+"_"+itoa(n)+"="+p)
			continue
		}
		out = append(out, k+"="+p)
	}
	return strings.Join(out, "\n")
}

// forVariable keeps what a variable for one address family takes.
func forVariable(key string, list []string) []string {
	if !strings.HasSuffix(key, "_IPV4") {
		return list
	}
	var out []string
	for _, p := range list {
		if !strings.Contains(p, ":") {
			out = append(out, p)
		}
	}
	return out
}

// settleResolver decides whether names of the cluster still resolve.
func settleResolver(t *Tunnel, p *podView) {
	r := &t.Resolver
	if r.Servers == nil {
		r.Servers = []string{}
	}
	if r.Rewrites != Present {
		// What is left alone reaches what the pod's own policy says (VPN502).
		r.ReachesCluster = r.Rewrites.not()
		return
	}
	switch r.Split {
	case Present:
		r.ReachesCluster = originalResolverReached(t, p)
	case Unknown:
		// Split or not depends on what is not known, such as the version: only an
		// answer that holds either way counts.
		r.ReachesCluster, r.First = resolversReach(r.Servers, p.clusters)
		if r.ReachesCluster == Absent && originalResolverReached(t, p) != Absent {
			r.ReachesCluster = Unknown
		}
	default:
		if r.ReachesCluster == "" {
			r.ReachesCluster, r.First = resolversReach(r.Servers, p.clusters)
			// What answers on the loopback address is another container's affair: a
			// dnsmasq or CoreDNS beside the tunnel may hand cluster names on.
			if r.ReachesCluster == Absent && slices.ContainsFunc(r.Servers, isLoopback) {
				r.ReachesCluster = Unknown
				loopbackGap(t, p)
			}
		}
	}
}

// loopbackGap says that a resolver of the pod's own decides, where a container
// uses cluster names at all.
func loopbackGap(t *Tunnel, p *podView) {
	if !slices.ContainsFunc(p.pod.Needs, func(n Need) bool { return n.Kind == "name" && n.Container != t.Container }) {
		return
	}
	ref := t.Resolver.Ref
	if ref.IsZero() {
		ref = t.ContainerRef
	}
	p.ix.gapAt(finding.Unresolved, p.object, ref, "which names the resolver of "+nameOf(p.object).String()+" on the loopback address knows",
		because("it is a container's own, whose configuration is not read", noAdvice),
		"whether the cluster's names still resolve beside "+t.FamilyTitle+" is not judged: VPN501 stays silent about this pod", "VPN501")
}

// not turns the answer around.
func (k Known) not() Known {
	switch k {
	case Present:
		return Absent
	case Absent:
		return Present
	default:
		return Unknown
	}
}

// resolversReach is serversReach for the lines of /etc/resolv.conf, which are asked
// in their order: the first one's answer that there is no such name is final. A
// public resolver that stands before the cluster's is returned; a private one may
// have been told the cluster's names.
func resolversReach(servers []string, clusters []*Cluster) (reach Known, first string) {
	reach = serversReach(servers, clusters)
	if reach != Present || len(servers) < 2 {
		return reach, ""
	}
	addr, err := netip.ParseAddr(servers[0])
	if err != nil || !addr.IsGlobalUnicast() || serversReach(servers[:1], clusters) != Absent ||
		cidrplan.Contains(localRanges(), []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}) {
		return reach, ""
	}
	return Absent, servers[0]
}

// serversReach: one of the resolvers is the cluster's own. A service address is
// taken for it, and a link-local one for the node-local cache.
func serversReach(servers []string, clusters []*Cluster) Known {
	if len(servers) == 0 {
		return Unknown
	}
	answer := Absent
	for _, text := range servers {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			answer = Unknown
			continue
		}
		if addr.IsLinkLocalUnicast() {
			return Present
		}
		host := []netip.Prefix{netip.PrefixFrom(addr, addr.BitLen())}
		local := cidrplan.Contains(localRanges(), host)
		known := len(clusters) > 0
		for _, c := range clusters {
			services, dns := rangesOf(c, cidrplan.Service), rangesOf(c, cidrplan.DNS)
			if cidrplan.Contains(services, host) || cidrplan.Contains(dns, host) {
				return Present
			}
			known = known && len(services) > 0
		}
		if local && !known {
			answer = Unknown
		}
	}
	return answer
}

// originalResolverReached: the tunnel's resolver hands local names to the name
// servers that the pod had before, and the bypass lets it reach them.
func originalResolverReached(t *Tunnel, p *podView) Known {
	original, policy := originalResolvers(p)
	switch policy {
	case Absent:
		return Absent // the node's resolver never knew the cluster
	case Unknown:
		return Unknown
	}
	if t.Bypass.State == Unknown {
		return Unknown
	}
	bypass := leftOut(t)
	if len(original) > 0 {
		if serversReach(addresses(original), p.clusters) == Absent {
			return Absent
		}
		return known(cidrplan.Contains(bypass, original))
	}
	answer := Unknown
	for _, c := range p.clusters {
		dns := rangesOf(c, cidrplan.DNS)
		if len(dns) == 0 {
			dns = rangesOf(c, cidrplan.Service)
		}
		if len(dns) == 0 {
			continue
		}
		if !cidrplan.Contains(bypass, dns) {
			return Absent
		}
		answer = Present
	}
	if answer == Unknown && takesUnknownCluster(t) {
		return Absent
	}
	return answer
}

// originalResolvers returns the name servers of the pod's dnsConfig, and
// whether its policy gives it the cluster's resolver: Absent for the node's.
func originalResolvers(p *podView) ([]netip.Prefix, Known) {
	policy := p.spec.get("dnsPolicy")
	name, isText := policy.str()
	if policy.exists() && !isText {
		return nil, Unknown
	}
	host := p.spec.get("hostNetwork").boolean() == Present
	switch name {
	case "", "ClusterFirst":
		if host {
			return nil, Absent // FG D6.4
		}
		return nil, Present
	case "ClusterFirstWithHostNet":
		return nil, Present
	case "Default":
		return nil, Absent
	case "None":
		var out []netip.Prefix
		for _, n := range p.spec.get("dnsConfig", "nameservers").texts() {
			addr, err := netip.ParseAddr(n.text())
			if err != nil {
				return nil, Unknown
			}
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
		}
		if len(out) == 0 {
			return nil, Unknown
		}
		return out, Present
	default:
		return nil, Unknown
	}
}

// addresses writes host prefixes as addresses.
func addresses(hosts []netip.Prefix) []string {
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		out = append(out, h.Addr().String())
	}
	return out
}

func known(b bool) Known {
	if b {
		return Present
	}
	return Absent
}
