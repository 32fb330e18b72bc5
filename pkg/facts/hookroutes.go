package facts

import (
	"strconv"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// routing reads the routes and rules of a hook: what they keep out of the
// tunnel, and what they send into it.
func (r *tunnelReader) routing(s script, iface string, ref source.Ref) {
	for _, c := range r.hookCommands(s) {
		if state, _ := c.reached(); state == Absent {
			continue
		}
		if c.opaque {
			r.t.Bypass.State = Unknown
			r.missed(c.script.Why, c.script.Ref, aspectBypass)
			continue
		}
		r.routingCommand(c, iface, ref)
	}
}

// hookRoute is a route or rule that a hook adds.
type hookRoute struct {
	PrefixAt
	// byRule: a rule that looks into the main table; it keeps nothing out of a
	// tunnel whose routes stand in the main table themselves.
	byRule bool
	// firm: a rule that looks into another table, which no route of the main
	// table comes before.
	firm bool
}

func (r *tunnelReader) routingCommand(c command, iface string, ref source.Ref) {
	if c.cmd == nil || c.cmd.OtherNetNS || c.cmd.Refused != nil {
		return
	}
	if rule, is := shell.IPRule(c.cmd); is {
		// A rule that looks into the tunnel's own table keeps nothing out.
		if rule.Delete || rule.Not || rule.To.Text == "" || rule.Table.Text == "51820" {
			return
		}
		byRule := rule.Table.Text == "main" || rule.Table.Text == "254"
		r.around(c, rule.To, hookRoute{byRule: byRule, firm: !byRule}, ref)
		return
	}
	route, is := shell.IPRoute(c.cmd)
	if !is || route.Delete || route.Type != "unicast" {
		return
	}
	inside := route.Dev.Text == iface || route.Dev.Text == "%i"
	ownTable := route.Table.Text != "" && route.Table.Text != "main" && route.Table.Text != "254"
	switch {
	case inside && ownTable:
		// Some rule leads there, or none.
		r.inwardUnknown = true
	case inside:
		r.brings(c, "into the tunnel "+route.Destination.Text, func(k Known) {
			r.inwardUnknown = r.inwardUnknown || k == Unknown
			if k == Present {
				r.into(route, ref)
			}
		})
	case ownTable, route.Destination.Text == "default", route.Destination.Text == "":
	default:
		to := route.Destination
		if p, ok := grammar.ParseNetmask(to.Text, route.Netmask.Text); ok {
			to.Text = p.String()
		}
		r.around(c, to, hookRoute{}, ref)
	}
}

// ruleBefore reads a rule that comes before the one into the tunnel's own table.
// Without a priority the kernel puts it in front of all that are there; whether
// the tunnel's is by then is not known, and it is believed to be.
func (r *tunnelReader) ruleBefore(c command) {
	if c.cmd == nil || c.cmd.OtherNetNS || c.cmd.Refused != nil {
		return
	}
	rule, is := shell.IPRule(c.cmd)
	if !is || rule.Delete || rule.Not || rule.To.Text == "" {
		return
	}
	if at, err := strconv.Atoi(rule.Priority.Text); err == nil && at >= r.rulePriority() {
		return
	}
	r.around(c, rule.To, hookRoute{firm: true}, c.ref())
}

// rulePriority is where the tunnel's rules into its own table begin: gluetun's
// (FG C1), strongSwan's (FG E3.3), Tailscale's; no earlier than anything for
// others.
func (r *tunnelReader) rulePriority() int {
	switch {
	case r.family.ID == "gluetun":
		return 101
	case r.t.Kind == "ipsec":
		return 220
	case r.family.ID == "tailscale" || r.family.ID == "tailscale-other":
		return 5210
	default:
		return 32766
	}
}

// linkMTU: a script sets the size of the tunnel's packets, and comes last.
func (r *tunnelReader) linkMTU(dev, mtu shell.Word, c command, iface string) {
	if dev.Known && dev.Text != iface && dev.Text != "%i" {
		return
	}
	r.brings(c, "mtu", func(k Known) {
		r.t.MTU.Size = 0
		if k == Present && dev.Known && mtu.Known {
			r.interfaceMTU(mtu.Text, c.ref(), c.says())
		}
	})
}

// stopsByRoute: a route that drops packets, for those that the tunnel takes no
// longer, or no default route at all beside the tunnel's.
func (r *tunnelReader) stopsByRoute(route *shell.RouteChange, c command, iface string) {
	main := route.Table.Text == "" || route.Table.Text == "main" || route.Table.Text == "254"
	whole := route.Destination.Text == "default" || route.Destination.Text == "0.0.0.0/0" ||
		route.Destination.Text == "0.0.0.0" && (route.Netmask.Text == "" || route.Netmask.Text == "0.0.0.0")
	switch drops := route.Type == "blackhole" || route.Type == "unreachable" || route.Type == "prohibit"; {
	case route.IPv6:
	case route.Delete && whole && main:
		r.brings(c, "no default route", func(k Known) {
			if k == Present {
				r.defaultGone = append(r.defaultGone, c)
			} else {
				r.mayStop(c, c.perhaps())
			}
		})
	case route.Delete:
	case drops && whole && !main: // what the tunnel's own table ends in
		r.stopsTraffic(c)
	case drops && !whole:
		if p := grammar.ParsePrefix(route.Destination.Text, 0); p.Valid && route.Destination.Known {
			r.stopsRange(c, p)
		}
	case whole && main && route.Type == "unicast" && route.Dev.Text != iface && route.Dev.Text != "%i":
		r.defaultBack = true
	}
}

// withoutDefault: the pod has lost its default route for good.
func (r *tunnelReader) withoutDefault() {
	if len(r.defaultGone) > 0 && !r.defaultBack {
		r.stopsTraffic(r.defaultGone[0])
	}
}

// around notes a network that a hook keeps out of the tunnel.
func (r *tunnelReader) around(c command, to shell.Word, as hookRoute, ref source.Ref) {
	r.brings(c, "around the tunnel "+to.Text, func(k Known) {
		switch at, valid := prefixAt(grammar.ParsePrefix(to.Text, 0), ref); {
		case !to.Known:
			r.t.Bypass.State = Unknown
			r.missed(because("a hook adds routes for networks that are known at run time only", noAdvice), ref, aspectBypass)
		case k == Unknown && valid:
			r.t.Bypass.State = Unknown
			r.missed(c.perhaps(), ref, aspectBypass)
		case valid:
			as.PrefixAt = at
			r.bypassed = append(r.bypassed, as)
		}
	})
}

// into notes a route that a hook sends into the tunnel.
func (r *tunnelReader) into(route *shell.RouteChange, ref source.Ref) {
	text := route.Destination.Text
	if text == "default" || text == "" {
		text = "0.0.0.0/0"
		if route.IPv6 {
			text = "::/0"
		}
	}
	at, valid := prefixAt(grammar.ParsePrefix(text, 0), ref)
	if !valid || !route.Destination.Known {
		r.inwardUnknown = true
		return
	}
	r.inward = append(r.inward, at)
}

// takeHookRoutes turns what hooks and scripts keep out of the tunnel into
// bypass entries. It may be called again after more was read.
func (r *tunnelReader) takeHookRoutes() {
	t := r.t
	for _, h := range r.bypassed {
		if h.byRule && t.Routes.MoreSpecificWin && !t.Routes.FwMark {
			continue
		}
		t.Bypass.Entries = append(t.Bypass.Entries, h.PrefixAt)
		if !h.firm {
			t.Bypass.Contended = append(t.Bypass.Contended, ContendedEntry{h.PrefixAt, h.byRule})
		}
		if t.Bypass.State == Absent {
			t.Bypass.State = Present
			if t.Bypass.Key == wgHookBypass {
				t.Bypass.Ref = h.Ref
			}
		}
	}
	r.bypassed = nil
}

// scriptedRoutes adds the routes that hooks and scripts send into the tunnel.
func (r *tunnelReader) scriptedRoutes() {
	rt := &r.t.Routes
	if r.inwardUnknown {
		if rt.State == Absent || rt.State == Present && !rt.Default {
			rt.State = Unknown
			r.missed(because("hooks add routes that are known at run time only", noAdvice), anchorOf(r.t.Config, r.t.ContainerRef), aspectRoutes)
		}
		return
	}
	if rt.State == Absent {
		main := mainRoute(r.inward)
		rt.State, rt.Ref, rt.Why = Present, main.Ref, "route "+main.Text+" of a hook"
		rt.MoreSpecificWin = true
		if b := &r.t.Bypass; b.Key == scriptBypass {
			rt.Why = "route " + main.Text + " of a script"
			if b.State == Absent {
				b.Ref = rt.Ref // the bypass belongs in front of it
			}
		}
	}
	if rt.State == Present {
		rt.Prefixes = append(rt.Prefixes, r.inward...)
		rt.Default = hasDefault(rt.Prefixes)
	}
}

func anchorOf(ref, fallback source.Ref) source.Ref {
	if ref.IsZero() {
		return fallback
	}
	return ref
}
