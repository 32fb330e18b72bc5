package shell

import "strings"

// RouteChange is an "ip route add", replace or del, or the route command's.
type RouteChange struct {
	Delete bool
	IPv6   bool
	// Type is unicast, or blackhole, unreachable, prohibit, throw.
	Type string
	// Destination is a prefix, an address, or "default". For the route command
	// it is made of -net NETWORK and netmask.
	Destination Word
	Netmask     Word
	Via         Word
	Dev         Word
	Table       Word // "" is main
	Src         Word
	Metric      Word
	MTU         Word
	Known       bool
	Command     *Command
}

// IPRoute reads "ip route" and the older route command.
func IPRoute(c *Command) (route *RouteChange, ok bool) {
	if c.Name() == "route" {
		return oldRoute(c)
	}
	args, v6, object := ipObject(c)
	if object != "route" {
		return nil, false
	}
	p := &ipArgs{args: args}
	r := &RouteChange{IPv6: v6, Type: "unicast", Known: known(args), Command: c}
	switch op := p.next().Text; op {
	case "add", "a", "replace", "r", "repl", "change", "append", "prepend":
	case "del", "delete", "d", "flush":
		r.Delete = true
	default:
		return nil, false
	}
	for p.more() {
		w := p.next()
		switch w.Text {
		case "unicast", "local", "broadcast", "multicast", "throw", "unreachable", "prohibit", "blackhole", "nat":
			r.Type = w.Text
		case "to":
			r.Destination = p.next()
		case "via":
			if f := p.peek().Text; f == "inet" || f == "inet6" {
				p.next()
			}
			r.Via = p.next()
		case "dev", "oif":
			r.Dev = p.next()
		case "table":
			r.Table = p.next()
		case "src", "from":
			r.Src = p.next()
		case "metric", "priority", "preference":
			r.Metric = p.next()
		case "mtu":
			r.MTU = p.next()
			if r.MTU.Text == "lock" {
				r.MTU = p.next()
			}
		case "proto", "scope", "type", "tos", "dsfield", "advmss", "initcwnd", "initrwnd", "realm", "nhid", "pref", "encap", "weight":
			p.next()
		case "onlink", "nexthop", "dead", "exact", "root", "match", "cache":
		default:
			if r.Destination.Text == "" {
				r.Destination = w
			}
		}
	}
	if strings.Contains(r.Destination.Text, ":") {
		r.IPv6 = true
	}
	return r, true
}

// oldRoute reads "route add -net 10.0.0.0 netmask 255.0.0.0 gw 10.1.1.1 eth0".
func oldRoute(c *Command) (*RouteChange, bool) {
	p := &ipArgs{args: c.args()}
	r := &RouteChange{Type: "unicast", Known: known(c.args()), Command: c}
	for strings.HasPrefix(p.peek().Text, "-") {
		switch p.next().Text {
		case "-A", "--inet6":
			r.IPv6 = true
			if p.peek().Text == "inet6" {
				p.next()
			}
		case "-6":
			r.IPv6 = true
		}
	}
	switch p.next().Text {
	case "add":
	case "del", "delete":
		r.Delete = true
	default:
		return nil, false
	}
	for p.more() {
		w := p.next()
		switch w.Text {
		case "-net", "-host":
			r.Destination = p.next()
		case "netmask":
			r.Netmask = p.next()
		case "gw":
			r.Via = p.next()
		case "dev":
			r.Dev = p.next()
		case "metric":
			r.Metric = p.next()
		case "reject":
			r.Type = "unreachable"
		case "mss", "window", "irtt":
			p.next()
		case "mod", "dyn", "reinstate":
		default:
			switch {
			case r.Destination.Text == "":
				r.Destination = w
			case r.Dev.Text == "":
				r.Dev = w
			}
		}
	}
	return r, true
}
