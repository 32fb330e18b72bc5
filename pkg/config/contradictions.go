package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// contradictions looks for what cannot all be true of one cluster. Ranges that
// overlap are none: they are findings (VPN401), so that the plan with its
// overlaps can be looked at.
func (d *decoder) contradictions(at string, c clusterDoc) {
	vpns, pools, nodePools := seenNames{}, seenNames{}, seenNames{}
	for i, v := range c.VPN {
		pointer := fmt.Sprintf("%s/vpn/%d/name", at, i)
		vpns.once(d, pointer, "VPN", string(v.Name))
		if saysNothing(d.raw(fmt.Sprintf("%s/vpn/%d", at, i))) {
			d.meaning(pointer, "nothing is said of the VPN %q but its name, so that no rule can judge by it; name its destinations, or the tunnel that carries it, or write fullTunnel: true", clip(string(v.Name)))
		}
	}
	for i, p := range c.ClientPools {
		pools.once(d, fmt.Sprintf("%s/clientPools/%d/name", at, i), "client pool", string(p.Name))
	}
	for i, p := range c.NodePools {
		nodePools.once(d, fmt.Sprintf("%s/nodePools/%d/name", at, i), "node pool", string(p.Name))
	}
	for _, field := range []struct {
		name   string
		ranges []prefix
	}{{"pods", c.Pods}, {"services", c.Services}, {"nodes", c.Nodes}, {"internal", c.Internal}} {
		for i, text := range field.ranges {
			d.notEverything(fmt.Sprintf("%s/%s/%d", at, field.name, i), text, "give the ranges that cluster "+clip(string(c.Name))+" has")
		}
	}
	for i, p := range c.ClientPools {
		d.notEverything(fmt.Sprintf("%s/clientPools/%d/range", at, i), p.Range, "give the range that clients get their addresses from")
	}
	d.outsideOfAll(at, c)
}

// outsideOfAll looks for addresses of a cluster that lie in none of its ranges.
func (d *decoder) outsideOfAll(at string, c clusterDoc) {
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

// notEverything refuses a range of all addresses, which overlaps with whatever
// there is.
func (d *decoder) notEverything(pointer string, text prefix, do string) {
	if p, err := netip.ParsePrefix(string(text)); err == nil && p.Bits() == 0 {
		d.meaning(pointer, "%s is every address there is, and no range of its own; %s", text, do)
	}
}

// raw is the value at a pointer as it was written, whether it fits or not.
func (d *decoder) raw(pointer string) any {
	var v any = d.doc.Object.Tree
	for _, token := range source.PointerTokens(pointer) {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		}
	}
	return v
}

// saysNothing reports whether a VPN has a name and perhaps a reason, and nothing
// else. What was meant by a word that does not fit is not known.
func saysNothing(vpn any) bool {
	fields, ok := vpn.(map[string]any)
	for key, v := range fields {
		switch v := v.(type) {
		case []any:
			ok = ok && len(v) == 0
		case bool:
			ok = ok && !v
		default:
			ok = ok && (key == "name" || key == "reason")
		}
	}
	return ok
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
