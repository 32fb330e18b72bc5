package facts

import (
	"net/netip"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// readNodeRoutes reads the routes of the node network: whatever their next hop
// is, a pod without a tunnel reaches what they lead to.
func readNodeRoutes(ix *index, cs *clusterSet) []NodeRoute {
	var out []NodeRoute
	for _, o := range ix.cloud("Route") {
		dest := cloudSpec(o).get("destRange")
		cluster, known := cs.named(o)
		prefix, err := netip.ParsePrefix(dest.text())
		if err != nil || prefix.Bits() == 0 {
			continue
		}
		out = append(out, NodeRoute{Cluster: cluster, ClusterKnown: known, Prefix: prefix.Masked().String(), Ref: dest.ref()})
	}
	return out
}

// readBackends reads Endpoints and EndpointSlices, which manifests hold for
// Services of hosts outside the cluster only, and ExternalNames: those that are an
// address, which proxies that follow them take for one although DNS does not, and
// those for which the cluster's own CoreDNS has an address. What another resolver
// makes of a name cannot be seen.
func readBackends(ix *index, cs *clusterSet) []Backend {
	var out []Backend
	leads := func(o *source.Object, n node, addr netip.Addr, resolved source.Ref) {
		cluster, known := cs.named(o)
		out = append(out, Backend{
			Object: nameOf(o), Cluster: cluster, ClusterKnown: known,
			Address: addr.Unmap().WithZone("").String(), Ref: n.ref(), Resolved: resolved,
		})
	}
	add := func(o *source.Object, n node) {
		if addr, err := netip.ParseAddr(n.text()); err == nil {
			leads(o, n, addr, source.Ref{})
		}
	}
	hosts := knownHosts(ix)
	for _, o := range ix.ofKind("", "Endpoints") {
		for _, subset := range root(o).get("subsets").items() {
			for _, a := range subset.get("addresses").items() {
				add(o, a.get("ip"))
			}
		}
	}
	for _, o := range ix.ofKind("discovery.k8s.io", "EndpointSlice") {
		for _, e := range root(o).get("endpoints").items() {
			for _, a := range e.get("addresses").texts() {
				add(o, a)
			}
		}
	}
	for _, o := range ix.ofKind("", "Service") {
		if spec := root(o).get("spec"); spec.get("type").text() == "ExternalName" {
			name := spec.get("externalName")
			add(o, name)
			for _, h := range hosts[hostKey(name.text())] {
				if !cs.apart(o, ix.byID[h.ref.Object]) {
					leads(o, name, h.addr, h.ref)
				}
			}
		}
	}
	return out
}

// knownHosts returns what the CoreDNS configurations of the tree know, by name.
func knownHosts(ix *index) map[string][]knownHost {
	out := map[string][]knownHost{}
	for _, o := range ix.ofKind("", "ConfigMap") {
		if !isCoreDNSConfig(o) {
			continue
		}
		for _, h := range readKnownHosts(o) {
			out[h.name] = append(out[h.name], h)
		}
	}
	return out
}

// podMTU keeps the MTU that a CNI's configuration sets for the pods' interface;
// 0 is how Calico writes that it finds out by itself.
func (f *founded) podMTU(n node, says string) {
	text, is := n.scalar()
	size, whole := n.integer()
	if is && !whole {
		size = parseSize(text)
	}
	if size > 0 && size <= 1<<16 {
		f.MTU = MTU{Size: int(size), Ref: n.ref(), Says: says + ": " + itoa(int(size))}
	}
}

func parseSize(text string) int64 {
	var n int64
	for _, ch := range text {
		if ch < '0' || ch > '9' || n > 1<<20 {
			return 0
		}
		n = n*10 + int64(ch-'0')
	}
	return n
}
