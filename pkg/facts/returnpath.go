package facts

import (
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readPoolRoutes finds what else leads packets for a gateway's client pool back
// to it: a route of the cloud network, or a pool of Calico's that holds it, the
// idiom for addresses that Calico routes (FG A6.2). Behind a further network of
// Multus there may be a router that knows the pool.
func readPoolRoutes(ix *index, pods []*podView) {
	type way struct {
		to   netip.Prefix
		from *source.Object
		ref  source.Ref
		says string
	}
	var ways []way
	add := func(o *source.Object, n node, says string) {
		if p, err := netip.ParsePrefix(n.text()); err == nil {
			ways = append(ways, way{p.Masked(), o, n.ref(), says})
		}
	}
	for _, o := range ix.cloud("Route") {
		add(o, cloudSpec(o).get("destRange"), o.Kind+" "+o.Name+" leads there")
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, o := range ix.ofKind(group, "IPPool") {
			add(o, root(o).get("spec", "cidr"), "Calico's IPPool "+o.Name+" holds it")
		}
	}
	for _, p := range pods {
		for i := range p.pod.Tunnels {
			t := &p.pod.Tunnels[i]
			pool := parsed(t.Pool)
			for _, w := range ways {
				if isDefaultRoute(PrefixAt{Prefix: w.to.String()}) || len(pool) == 0 || ix.apart != nil && ix.apart(p.object, w.from) {
					continue
				}
				if cidrplan.Contains([]netip.Prefix{w.to}, pool) {
					t.PoolRouted = Switch{State: Present, Ref: w.ref, Why: w.says}
				}
			}
			if t.PoolRouted.State == Absent && p.pod.Attached.State == Present {
				t.PoolRouted = Switch{State: Unknown, Ref: p.pod.Attached.Ref, Why: "a router of a further network may know the pool"}
			}
			if t.PoolRouted.State == Absent && sitesBehind(t, pool) {
				t.PoolRouted = Switch{State: Unknown, Ref: t.ContainerRef, Why: "it connects whole networks, whose routes are elsewhere"}
			}
		}
	}
}

// sitesBehind: a tunnel that leads to networks behind its peers connects sites;
// such networks are routed or not as a whole, and the pool is only the transfer
// network between them.
func sitesBehind(t *Tunnel, pool []netip.Prefix) bool {
	var behind []netip.Prefix
	for _, p := range t.Peers {
		behind = append(behind, parsed(p.AllowedIPs)...)
	}
	if t.Kind == "openvpn" && t.Routes.State == Present {
		behind = append(behind, parsed(t.Routes.Prefixes)...)
	}
	return slices.ContainsFunc(behind, func(p netip.Prefix) bool {
		return p.Bits() > 0 && !p.IsSingleIP() && !cidrplan.Contains(pool, []netip.Prefix{p})
	})
}

// plannedPoolRoutes takes the plan's word that the cluster's network has a route
// to a client pool.
func plannedPoolRoutes(pods []*podView) {
	for _, p := range pods {
		for i := range p.pod.Tunnels {
			t := &p.pod.Tunnels[i]
			pool := parsed(t.Pool)
			for _, c := range p.clusters {
				for _, planned := range c.Plan.ClientPools {
					if planned.Routed.State == Present && len(pool) > 0 && cidrplan.Contains(parsed([]PrefixAt{planned.Range}), pool) {
						t.PoolRouted = Switch{State: Present, Ref: planned.Routed.Ref, Why: "the plan says that it is routed"}
					}
				}
			}
		}
	}
}
