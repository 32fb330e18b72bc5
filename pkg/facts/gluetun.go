package facts

import (
	"net/netip"
	"strings"
)

// gluetun reads what is peculiar to gluetun (FG C1). Its bypass list and kill
// switch come from the catalogue.
func (r *tunnelReader) gluetun() {
	t := r.t
	t.Side = "client"
	t.Interface = r.c.env("VPN_INTERFACE").or("tun0")
	kind := r.c.env("VPN_TYPE")
	t.Kind = "openvpn"
	switch {
	case kind.State == Present && strings.EqualFold(kind.Text, "wireguard"):
		t.Kind = "wireguard"
	case kind.State == Unknown:
		t.Kind = "other"
	}
	allowed := r.c.env("WIREGUARD_ALLOWED_IPS")
	if t.Kind == "wireguard" && allowed.State != Absent {
		r.routesFrom("WIREGUARD_ALLOWED_IPS", allowed, ",")
	} else {
		// The provider's default; rule 101 looks before the main table does, and
		// the firewall drops what would leave otherwise.
		r.takesDefault(t.ContainerRef, "gluetun's default", "0.0.0.0/0", "::/0")
	}
	t.Routes.MoreSpecificWin = false
	// Rule 100: packets from the pod's address leave by the original gateway.
	t.RepliesKept = Present
	if t.Kind == "wireguard" {
		t.Addresses = append(t.Addresses, hostList(r.c.env("WIREGUARD_ADDRESSES"))...)
		if mtu := r.c.env("WIREGUARD_MTU"); mtu.State == Present {
			r.interfaceMTU(mtu.Text, mtu.Ref, "WIREGUARD_MTU="+clip(mtu.Text))
		}
		endpoint, err := netip.ParseAddr(strings.TrimSpace(r.c.env("WIREGUARD_ENDPOINT_IP").Text))
		t.MTU.Outer6 = err == nil && endpoint.Is6()
	}
	r.gluetunResolver()
	r.gluetunRules()
}

// gluetunRules reads the rules that the image adds to its own; a gluetun that
// forwards for other pods needs them.
func (r *tunnelReader) gluetunRules() {
	for _, f := range r.c.files("/iptables/post-rules.txt") {
		if f.State == Present {
			r.firewall(script{Kind: scriptFile, Text: f.Text, State: Present, Ref: f.Ref, Path: f.Path, Env: r.c.knownEnv()})
		}
	}
}

// hostList reads a comma list of interface addresses as host prefixes.
func hostList(v value) []PrefixAt {
	var out []PrefixAt
	for _, e := range prefixList(v, ",") {
		if a, err := netip.ParsePrefix(e.Text); err == nil {
			e.Prefix = netip.PrefixFrom(a.Addr(), a.Addr().BitLen()).String()
		}
		out = append(out, e)
	}
	return out
}

// gluetunResolver: the image writes its own server into /etc/resolv.conf, which
// all containers share. Up to 3.40 nothing but the address decides whether
// cluster names resolve; from 3.41 the built-in server hands local names to the
// name servers that were there before.
func (r *tunnelReader) gluetunResolver() {
	res := &r.t.Resolver
	upTo41, from41 := r.versionUpTo("3.41"), r.versionFrom("3.41")
	keep := r.c.env("DNS_KEEP_NAMESERVER")
	switch {
	case keep.State == Unknown:
		r.missed(keep.Why.of("DNS_KEEP_NAMESERVER: "), keep.Ref, aspectResolver)
		if r.c.refuses("DNS_KEEP_NAMESERVER") {
			res.Rewrites = Unknown
		}
		return
	case keep.State == Present && isOn(keep.Text) && upTo41 == Present:
		res.Rewrites, res.Ref, res.Why = Absent, keep.Ref, "DNS_KEEP_NAMESERVER=on"
		return
	case keep.State == Present && isOn(keep.Text) && upTo41 == Unknown:
		r.missed(because("DNS_KEEP_NAMESERVER is read up to 3.41 only, and the image's version is not known", "write the tag"), keep.Ref, aspectResolver)
		return
	}
	for _, key := range []string{"DNS_SERVER", "DOT", "DNS_ADDRESS", "DNS_PLAINTEXT_ADDRESS", "DNS_UPSTREAM_PLAIN_ADDRESSES"} {
		if v := r.c.env(key); r.c.refuses(key) {
			res.Rewrites = Unknown
			r.missed(v.Why.of(key+": "), v.Ref, aspectResolver)
			return
		}
	}
	res.Rewrites, res.Why = Present, "gluetun's default, 127.0.0.1"
	res.Servers = []string{"127.0.0.1"}
	for _, key := range []string{"DNS_UPSTREAM_PLAIN_ADDRESSES", "DNS_ADDRESS"} {
		v := r.c.env(key)
		servers := addressList(v)
		switch {
		case v.State == Unknown && !v.Ref.IsZero() && r.namesEnv(key):
			res.Ref, res.Why, res.Servers = v.Ref, key+" is not known", nil
			return
		case len(servers) > 0 && !isLoopback(servers[0]):
			res.Ref, res.Why, res.Servers = v.Ref, key+"="+clip(v.Text), servers
			return
		}
	}
	if off := r.gluetunServerOff(); off.State == Present {
		res.Ref, res.Why, res.ReachesCluster = off.Ref, "its DNS server is off and a public resolver takes its place", Absent
		return
	}
	res.Split = from41
	if from41 == Absent {
		res.ReachesCluster = Absent // its own server asks public ones only
	}
}

// gluetunServerOff returns the switch that turns the built-in server off; DOT
// is its name up to 3.40.
func (r *tunnelReader) gluetunServerOff() value {
	for _, key := range []string{"DNS_SERVER", "DOT"} {
		if v := r.c.env(key); v.State == Present {
			if isOff(v.Text) {
				return v
			}
			return value{State: Absent}
		}
	}
	return value{State: Absent}
}

// namesEnv reports whether the container itself names a variable, so that an
// unknown value is its own and not that of a whole unseen bundle.
func (r *tunnelReader) namesEnv(key string) bool {
	for _, v := range r.c.envWithPrefix(key) {
		if v.Name == key {
			return true
		}
	}
	return false
}

// addressList reads addresses, each with an optional port, separated by commas.
func addressList(v value) []string {
	var out []string
	if v.State != Present {
		return nil
	}
	for _, field := range strings.Split(v.Text, ",") {
		field = strings.TrimSpace(field)
		if a, err := netip.ParseAddr(field); err == nil {
			out = append(out, a.String())
		} else if ap, err := netip.ParseAddrPort(field); err == nil {
			out = append(out, ap.Addr().String())
		}
	}
	return out
}

func isLoopback(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.IsLoopback()
}

func isOn(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "on", "yes", "true", "1", "enable", "enabled", "y", "t":
		return true
	default:
		return false
	}
}

func isOff(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "off", "no", "false", "0", "disable", "disabled", "n", "f":
		return true
	default:
		return false
	}
}
