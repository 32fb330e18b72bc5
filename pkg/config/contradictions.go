package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// contradictions looks for what cannot all be true of one cluster. Ranges that
// overlap are none: they are findings (VPN401), so that the plan with its
// overlaps can be looked at.
func (d *decoder) contradictions(at string, c clusterDoc) {
	vpns, pools, nodePools := seenNames{}, seenNames{}, seenNames{}
	for i, v := range c.VPN {
		vpns.once(d, fmt.Sprintf("%s/vpn/%d/name", at, i), "VPN", string(v.Name))
	}
	for i, p := range c.ClientPools {
		pools.once(d, fmt.Sprintf("%s/clientPools/%d/name", at, i), "client pool", string(p.Name))
	}
	for i, p := range c.NodePools {
		nodePools.once(d, fmt.Sprintf("%s/nodePools/%d/name", at, i), "node pool", string(p.Name))
	}

	own := parsed(c.Pods, c.Services, c.Nodes, c.Internal)
	for _, p := range c.ClientPools {
		own = append(own, parsed([]prefix{p.Range})...)
	}
	if len(c.Pods) > 0 && len(c.Nodes) > 0 {
		for i, v := range c.VPN {
			for j, s := range v.LocalTrafficSelectors {
				for _, p := range parsed([]prefix{s}) {
					if p.Bits() > 0 && !meets(p, own) {
						d.meaning(fmt.Sprintf("%s/vpn/%d/localTrafficSelectors/%d", at, i, j),
							"%s of VPN %s lies outside every range of cluster %s (%s); correct it, or name the network under internal",
							s, clip(string(v.Name)), clip(string(c.Name)), list(own))
					}
				}
			}
		}
	}
	services := parsed(c.Services)
	for i, text := range c.DNS {
		a, err := netip.ParseAddr(string(text))
		if err != nil || a.IsLinkLocalUnicast() { // the cache on each node listens there
			continue
		}
		host := netip.PrefixFrom(a, a.BitLen())
		if hasFamily(services, a.Is4()) && !meets(host, own) {
			d.meaning(at+"/dns/"+strconv.Itoa(i), "the resolver %s lies outside the service range of cluster %s (%s) and every other range of it",
				text, clip(string(c.Name)), list(services))
		}
	}
}

func parsed(lists ...[]prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, texts := range lists {
		for _, text := range texts {
			if p, err := netip.ParsePrefix(string(text)); err == nil {
				out = append(out, p.Masked())
			}
		}
	}
	return out
}

func meets(p netip.Prefix, list []netip.Prefix) bool {
	for _, q := range list {
		if p.Overlaps(q) {
			return true
		}
	}
	return false
}

func hasFamily(list []netip.Prefix, v4 bool) bool {
	for _, p := range list {
		if p.Addr().Is4() == v4 {
			return true
		}
	}
	return false
}

// list writes ranges for a message.
func list(prefixes []netip.Prefix) string {
	const shown = 6
	var out []string
	for i, p := range prefixes {
		if i == shown {
			out = append(out, "…")
			break
		}
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}
