package facts

import (
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readClaims collects what the address plan is computed from.
//
// Not claimed, because they are no destinations of anything in the cluster:
// what a server makes its clients send (pushed routes, AllowedIPs of clients,
// advertisements of a mesh: FG F), pools of user-space data planes, which no
// kernel routes, and everything in a place whose cluster is not known.
func readClaims(ix *index, cs *clusterSet, pods []*podView, sites []Site) []cidrplan.Claim {
	var out []cidrplan.Claim
	for _, f := range cs.founded {
		if !f.Elsewhere {
			out = append(out, f.claims...)
		}
	}
	out = append(out, sharedVPNs(cs.founded)...)
	out = append(out, clusterSets(ix, cs)...)
	out = append(out, kiloPeers(ix, cs)...)
	for _, s := range sites {
		if s.Planned {
			continue // the plan's own claims
		}
		o := ix.byID[s.Ref.Object]
		cluster, known := cs.name(o)
		if !known {
			cs.tell(o)
			continue
		}
		for i, p := range parsed(s.Remote) {
			if at := ix.byID[s.Remote[i].Ref.Object]; at != nil && at.Kind == source.PlanKind {
				continue
			}
			out = append(out, cidrplan.Claim{
				Cluster: cluster, Role: cidrplan.VPN, Prefix: p, At: s.Remote[i].Ref, Says: "destination of " + s.Object.String(),
				Strength: cidrplan.Declared, Owner: s.Object.String(),
			})
		}
	}
	for _, p := range pods {
		if len(p.pod.Tunnels) == 0 {
			continue
		}
		cluster, known := cs.name(p.object)
		if !known {
			cs.tell(p.object)
			continue
		}
		for i := range p.pod.Tunnels {
			out = append(out, tunnelClaims(p, &p.pod.Tunnels[i], cluster)...)
		}
	}
	return out
}

func tunnelClaims(p *podView, t *Tunnel, cluster string) []cidrplan.Claim {
	like := cidrplan.Claim{Cluster: cluster, Owner: p.pod.Object.String(), Strength: cidrplan.Declared}
	var out []cidrplan.Claim
	if t.UserSpace == Absent || t.UserSpace == Unknown && t.Kind != "mesh" {
		for _, at := range t.Pool {
			c := like
			c.Role, c.At, c.Says = cidrplan.Pool, at.Ref, "address pool of "+t.FamilyTitle
			if at.Ref == t.ContainerRef { // nothing is written: the image's own
				c.Strength = cidrplan.Default
			}
			if prefix, err := netip.ParsePrefix(at.Prefix); err == nil {
				c.Prefix = prefix.Masked()
				out = append(out, c)
			}
		}
	}
	if t.Side == "server" {
		out = append(out, behindClients(p, t, like)...)
	}
	// The remote selectors of IPsec lead away from either side.
	if t.Side != "client" && t.Kind != "ipsec" || t.Routes.State != Present || t.Bypass.State == Unknown {
		return out
	}
	bypass := parsed(t.Bypass.Entries)
	like.Role, like.Says, like.PodLocal = cidrplan.VPN, t.Routes.Why, p.pod.HostNetwork.Value == "false"
	for _, at := range t.Routes.Prefixes {
		for _, prefix := range parsed([]PrefixAt{at}) {
			c := like
			c.At = at.Ref
			if at.Ref == t.ContainerRef { // nothing is written: the image's own
				c.Strength = cidrplan.Default
			} else if key, main, ok := strings.Cut(like.Says, "="); ok {
				// Why names the route that matters most; this is the same list's.
				c.Says = key + "=" + main[:len(main)-len(strings.TrimLeft(main, " "))] + at.Text
			}
			if leadsEverywhere(prefix) {
				c.Prefix, c.Idiom = prefix, cidrplan.DefaultRoute
				out = append(out, c)
				continue
			}
			for _, c.Prefix = range cidrplan.Subtract([]netip.Prefix{prefix}, bypass) {
				out = append(out, c)
			}
		}
	}
	return out
}

// leadsEverywhere: a route that holds a whole private block and more is (a part
// of) a default route, such as 0.0.0.0/1 or a piece of "everything but ...".
func leadsEverywhere(p netip.Prefix) bool {
	for _, private := range privateBlocks() {
		if p.Bits() < private.Bits() && p.Contains(private.Addr()) {
			return true
		}
	}
	return p.Bits() <= 1
}

func privateBlocks() []netip.Prefix {
	return []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{10}), 8),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16}), 12),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168}), 16),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfc}), 7),
	}
}

// behindClients are the networks behind the clients of a server, which has a route to
// each: the AllowedIPs of WireGuard's peers, the routes of OpenVPN's own. What lies
// in its pool is a client's own address.
func behindClients(p *podView, t *Tunnel, like cidrplan.Claim) []cidrplan.Claim {
	type network struct {
		at   PrefixAt
		says string
	}
	var networks []network
	switch t.Kind {
	case "wireguard":
		for i := range t.Peers {
			for _, at := range t.Peers[i].AllowedIPs {
				if t.Peers[i].Table == "auto" {
					networks = append(networks, network{at, "AllowedIPs = " + at.Text})
				}
			}
		}
	case "openvpn":
		for _, at := range t.Routes.Prefixes {
			if t.Routes.State == Present {
				networks = append(networks, network{at, "route " + at.Text})
			}
		}
	}
	var out []cidrplan.Claim
	pool := parsed(t.Pool)
	for _, n := range networks {
		for _, prefix := range parsed([]PrefixAt{n.at}) {
			if leadsEverywhere(prefix) || cidrplan.Contains(pool, []netip.Prefix{prefix}) { // the first is VPN407's
				continue
			}
			c := like
			c.Role, c.PodLocal, c.Prefix, c.At, c.Says = cidrplan.VPN, p.pod.HostNetwork.Value == "false", prefix, n.at.Ref, n.says
			out = append(out, c)
		}
	}
	return out
}
