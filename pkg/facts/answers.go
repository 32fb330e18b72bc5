package facts

import (
	"net/netip"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// named returns the private networks that a tunnel's routes name next to a
// default route of the same family. The default makes them mean nothing, which
// is why they tell what the tunnel was for. A prefix that holds the tunnel's own
// address or its resolver is part of the tunnel itself.
func named(t *Tunnel) []PrefixAt {
	out := []PrefixAt{}
	if t.Routes.State != Present || !t.Routes.Default {
		return out
	}
	own := prefixesAt(t.Addresses)
	for _, text := range t.Resolver.Servers {
		if addr, err := netip.ParseAddr(text); err == nil {
			own = append(own, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	for _, at := range t.Routes.Prefixes {
		p, err := netip.ParsePrefix(at.Prefix)
		if err != nil || !cidrplan.Contains(privateBlocks(), []netip.Prefix{p}) || cidrplan.Overlaps([]netip.Prefix{p}, own) {
			continue
		}
		if hasDefault(sameFamily(t.Routes.Prefixes, p)) {
			out = append(out, at)
		}
	}
	return out
}

func sameFamily(list []PrefixAt, like netip.Prefix) []PrefixAt {
	var out []PrefixAt
	for _, at := range list {
		if p, err := netip.ParsePrefix(at.Prefix); err == nil && p.Addr().Is4() == like.Addr().Is4() {
			out = append(out, at)
		}
	}
	return out
}

// unreached returns the resolvers that a server tells its clients to use and
// that no route of theirs leads to: no pushed route, not the pool, and no full
// tunnel. A public resolver needs none of these.
func unreached(t *Tunnel, clusters []*Cluster) []UnreachedResolver {
	out := []UnreachedResolver{}
	if t.Clients.State != Present || t.Clients.Default {
		return out
	}
	routed := append(append(prefixesAt(t.Clients.Routes), prefixesAt(t.Pool)...), prefixesAt(t.Addresses)...)
	for _, r := range t.Clients.Resolvers {
		hosts := prefixesAt([]PrefixAt{r})
		if len(hosts) == 0 || cidrplan.Contains(routed, hosts) {
			continue
		}
		within := []RangeAt{}
		for _, c := range clusters {
			for _, rng := range c.Ranges {
				p, err := netip.ParsePrefix(rng.Prefix)
				if err == nil && rng.Role == cidrplan.Service && rng.Strength != cidrplan.Evidence && p.Overlaps(hosts[0]) {
					within = append(within, rng)
				}
			}
		}
		if len(within) > 0 || cidrplan.Contains(privateBlocks(), hosts) {
			out = append(out, UnreachedResolver{Resolver: r, Within: within})
		}
	}
	return out
}
