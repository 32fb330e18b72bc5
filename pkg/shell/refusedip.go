package shell

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ipObjects are what ip works on.
var ipObjects = words(`address addrlabel maddress route rule neighbor neighbour ntable ntbl link l2tp fou ila macsec tunnel tunl tuntap
	tap token tcpmetrics tcp_metrics monitor xfrm mroute mrule netns netconf vrf sr nexthop mptcp ioam help stats addr`)

// What ip route does, and the words of a route with a value and without.
var (
	ipRouteOps    = words("list show lst get add append prepend test change chg replace delete flush save restore showdump help")
	ipRouteValues = words(`to src as via from tos dsfield metric priority preference scope mtu hoplimit advmss reordering rtt rto_min
		window cwnd initcwnd initrwnd features quickack congctl rttvar ssthresh realms nhid protocol table vrf dev oif pref expires
		ttl-propagate fastopen_no_cookie tcp_usec_ts proto`)
	ipRouteTypes = words("unicast local broadcast anycast multicast throw unreachable prohibit blackhole xresolve nat")
)

// What ip rule does, and the words of a rule with a value and without.
var (
	ipRuleOps    = words("list show lst add delete flush save restore help")
	ipRuleValues = words(`from to preference order priority tos dsfield fwmark realms protocol tun_id table lookup suppress_prefixlength
		sup_pl suppress_ifgroup sup_group dev iif oif uidrange nat map-to ipproto sport dport dscp flowlabel goto type`)
	ipRuleFlags = slices.Concat(words("not l3mdev nop help"), ipRouteTypes)
)

// refusedIP says what ip refuses: an object, an operation, a word, or an address.
func refusedIP(c *Command) *Refusal {
	for _, w := range c.args() {
		if strings.HasPrefix(w.Text, "-") && w.Known {
			continue
		}
		if w.Text == "inet" || w.Text == "inet6" {
			continue
		}
		if w.Known && begins(w.Text, ipObjects) == "" {
			if meant := near(w.Text, ipObjects); meant != "" {
				return refuse(w, "ip has no such object", meant)
			}
		}
		break
	}
	args, v6, object := ipObject(c)
	p := &ipArgs{args: args}
	op := p.peek()
	if !op.Known {
		return nil
	}
	switch object {
	case "route":
		if begins(op.Text, ipRouteOps) == "" {
			return refusedOp(op, "route", ipRouteOps)
		}
		switch p.next(); begins(op.Text, ipRouteOps) {
		case "add", "append", "prepend", "change", "chg", "replace":
			return refusedRoute(p, v6)
		}
	case "rule":
		if begins(op.Text, ipRuleOps) == "" {
			return refusedOp(op, "rule", ipRuleOps)
		}
		if p.next(); begins(op.Text, ipRuleOps) == "add" {
			return refusedRuleOf(p, v6)
		}
	case "link", "l", "li", "lin":
		return refusedMTU(c)
	}
	return nil
}

// refusedMTU looks at the size of packets that a command gives an interface.
func refusedMTU(c *Command) *Refusal {
	_, mtu, sets := LinkMTU(c)
	switch {
	case !sets:
		return nil
	case mtu.Text == "":
		return refuse(c.Words[len(c.Words)-1], "it takes a number and has none", "")
	case !mtu.Known:
		return nil
	}
	if n, err := strconv.ParseUint(mtu.Text, 0, 32); err != nil || n == 0 {
		return refuse(mtu, "it is no number of bytes", "")
	}
	return nil
}

// refusedOldRoute looks at a route that the route command adds.
func refusedOldRoute(c *Command) *Refusal {
	route, adds := oldRoute(c)
	if !adds || route.Delete || route.IPv6 {
		return nil
	}
	if route.Destination.Known {
		if why := noNetwork(route.Destination.Text, false, true); why != "" {
			return refuse(route.Destination, why, "")
		}
	}
	if route.Netmask.Known && numeric(route.Netmask.Text) {
		if mask, err := netip.ParseAddr(route.Netmask.Text); err != nil || !mask.Is4() || !contiguous(mask.As4()) {
			return refuse(route.Netmask, "it is no netmask", "")
		}
	}
	if bad := badAddress(c.Words[0], route.Via); route.Via.Text != "" && bad != nil {
		return bad
	}
	keys := words("netmask gw metric mss window irtt reject mod dyn reinstate dev")
	for _, w := range c.args() {
		if meant := near(w.Text, keys); w.Known && meant != "" && !slices.Contains(keys, w.Text) && len(w.Text) > 4 {
			return refuse(w, "route has no such word", meant)
		}
	}
	return nil
}

// contiguous: the ones of a netmask are in one piece.
func contiguous(mask [4]byte) bool {
	n := uint32(mask[0])<<24 | uint32(mask[1])<<16 | uint32(mask[2])<<8 | uint32(mask[3])
	return ^n&(^n+1) == 0
}

func refusedOp(op Word, object string, ops []string) *Refusal {
	if meant := near(op.Text, ops); meant != "" {
		return refuse(op, "ip "+object+" has no such operation", meant)
	}
	return nil
}

// begins returns the first word of a list that a shortened one stands for, as ip
// takes it, "" for none.
func begins(text string, list []string) string {
	if slices.Contains(list, text) {
		return text
	}
	for _, w := range list {
		if text != "" && strings.HasPrefix(w, text) {
			return w
		}
	}
	return ""
}

// refusedRoute reads a route that is added. One word without a key is its
// destination.
func refusedRoute(p *ipArgs, v6 bool) *Refusal {
	seen := false
	destination := func(w Word) *Refusal {
		if seen = true; !w.Known || slices.Contains([]string{"default", "any", "all", "help"}, w.Text) {
			return nil
		}
		if why := noNetwork(w.Text, v6, !v6); why != "" {
			return refuse(w, why, "")
		}
		if n, err := netip.ParsePrefix(w.Text); err == nil && n.Addr().Is4() && n != n.Masked() {
			return refuse(w, "bits right of the mask are set, the network is "+n.Masked().String(), "")
		}
		return nil
	}
	for p.more() {
		w := p.next()
		switch {
		case !w.Known:
			if w.several || seen {
				return nil
			}
			seen = true
		case w.Text == "to":
			if bad := destination(p.next()); bad != nil {
				return bad
			}
		case w.Text == "nexthop" || w.Text == "encap" || w.Text == "help" || w.Text == "features":
			return nil
		case w.Text == "via" || w.Text == "src":
			v := p.next()
			if v.Text == "inet" || v.Text == "inet6" {
				v = p.next()
			}
			if bad := badAddress(w, v); bad != nil {
				return bad
			}
		case w.Text == "onlink", slices.Contains(ipRouteTypes, w.Text) && !seen:
		case begins(w.Text, ipRouteValues) != "":
			if !p.more() {
				return refuse(w, "it takes a value and has none", "")
			}
			if v := p.next(); v.Text == "lock" {
				p.next()
			} else if bad := badNumber(begins(w.Text, ipRouteValues), v); bad != nil {
				return bad
			}
		case seen:
			return refuse(w, "ip route has no such word, and the route has its destination", near(w.Text, append(slices.Clone(ipRouteValues), "onlink")))
		default:
			if meant := near(w.Text, append(slices.Concat(ipRouteValues, ipRouteTypes), "default")); meant != "" && meant != w.Text {
				return refuse(w, "it is no destination", meant)
			}
			if bad := destination(w); bad != nil {
				return bad
			}
		}
	}
	return nil
}

// badAddress: ip takes addresses here and no names.
func badAddress(key, v Word) *Refusal {
	switch {
	case v.Text == "":
		return refuse(key, "it takes an address and has none", "")
	case v.Known && strings.Contains(v.Text, ".") && strings.ContainsAny(v.Text, "ghijklmnopqrstuvwxyz"):
		return refuse(v, "it is no address, and names are not looked up here", "")
	case !v.Known || !numeric(v.Text):
		return nil
	}
	if why := noNetwork(v.Text, false, true); why != "" {
		return refuse(v, why, "")
	}
	return nil
}

// badNumber: the value of a key that takes a number is none.
func badNumber(key string, v Word) *Refusal {
	if !slices.Contains([]string{"metric", "priority", "preference", "order", "mtu", "advmss", "suppress_prefixlength"}, key) || !v.Known {
		return nil
	}
	if _, err := strconv.ParseUint(v.Text, 0, 32); err != nil && v.Text != "" && v.Text[0] >= '0' && v.Text[0] <= '9' {
		return refuse(v, "it is no number", "")
	}
	return nil
}

// refusedRuleOf reads a rule that is added.
func refusedRuleOf(p *ipArgs, v6 bool) *Refusal {
	for p.more() {
		w := p.next()
		if !w.Known {
			return nil
		}
		key := begins(w.Text, ipRuleValues)
		switch {
		case slices.Contains(ipRuleFlags, w.Text):
			continue
		case key == "":
			return refuse(w, "ip rule has no such word", near(w.Text, slices.Concat(ipRuleValues, ipRuleFlags)))
		case !p.more():
			return refuse(w, "it takes a value and has none", "")
		}
		v := p.next()
		switch {
		case !v.Known:
		case key == "from" || key == "to":
			if why := noNetwork(v.Text, v6, !v6); why != "" {
				return refuse(v, why, "")
			}
		default:
			if bad := badNumber(key, v); bad != nil {
				return bad
			}
		}
	}
	return nil
}
