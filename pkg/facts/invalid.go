package facts

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// invalid notes a range that its reader refuses.
func (ix *index) invalidRange(r InvalidRange) {
	if o := ix.byID[r.Ref.Object]; o != nil {
		r.Object = nameOf(o)
	}
	r.Text = clip(r.Text)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.invalid = append(ix.invalid, r)
}

// sortedInvalid returns them by place, each once: two pods may read one file.
func (ix *index) sortedInvalid() []InvalidRange {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	out := slices.Clone(ix.invalid)
	slices.SortStableFunc(out, func(a, b InvalidRange) int {
		return cmp.Or(compareRefs(a.Ref, b.Ref), strings.Compare(a.Pod, b.Pod))
	})
	return orEmpty(slices.CompactFunc(out, func(a, b InvalidRange) bool { return a.Ref == b.Ref && a.Text == b.Text }))
}

// meantAsRange tells a misspelt range from a word that something else fills in
// before any reader sees it, such as __POD_CIDR__ or NETWORK.
func meantAsRange(text string) bool {
	return strings.ContainsAny(text, ".:/") && strings.ContainsAny(text, "0123456789") &&
		strings.IndexFunc(text, func(r rune) bool {
			return r > 0x7e || strings.ContainsRune("_<>{}$%@#()[]", r) || r >= 'g' && r <= 'z' || r >= 'G' && r <= 'Z'
		}) < 0
}

// wrongRange says why the reader of a cluster's range refuses an entry, "" when
// it takes it or when the text is filled in later.
func wrongRange(says string, e grammar.Prefix, address bool) string {
	says = strings.ToLower(says)
	switch {
	case e.Unknown:
		return ""
	case !e.Valid && meantAsRange(e.Text):
		return "it is no prefix"
	case !e.Valid:
		return ""
	case e.Bare && !address:
		return "it is an address without a mask"
	case strings.Contains(says, "ipv4") && !e.Prefix.Addr().Is4():
		return "it is IPv6"
	case strings.Contains(says, "ipv6") && e.Prefix.Addr().Is4():
		return "it is IPv4"
	}
	return ""
}

// fateOfCluster says what the reader of a cluster's range does with a bad one.
func fateOfCluster(o *source.Object) string {
	switch groupOf(o) {
	case "kubeadm.k8s.io":
		return "kubeadm refuses the configuration and no cluster comes up"
	case "kind.x-k8s.io":
		return "kind refuses the configuration and no cluster comes up"
	case "cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io":
		return "the control plane that is made from it does not start"
	case "operator.tigera.io", "projectcalico.org", "crd.projectcalico.org":
		return "Calico refuses it and no pod gets an address from it"
	case computeGroup, "container.cnrm.cloud.google.com", "compute.gcp.upbound.io", "compute.gcp.m.upbound.io":
		return "Google's API refuses the resource and it is never made"
	default:
		return "its reader refuses it and the network does not come up as written"
	}
}

// The sizes that OpenVPN's server directives take: options.c and helper.c of
// OpenVPN 2.0 to 2.7, the same in all of them (server-ipv6 was narrower before 2.5).
const (
	openVPNWidestPool    = 16
	openVPNNarrowestTun  = 29
	openVPNWidestPool6   = 64
	openVPNNarrowestPool = 124
)

// invalidOpenVPN notes ranges that OpenVPN or the kernel behind it refuses. A
// server's pool is checked by OpenVPN itself, a route by whoever installs it:
// Linux and Windows refuse an IPv4 route with bits right of the mask. Those of
// IPv6 routes OpenVPN clears itself.
func (r *tunnelReader) invalidOpenVPN(conf *grammar.OpenVPN, f confText) {
	report := func(d *grammar.Directive, says, fate string, more func(netip.Prefix) string) {
		if text, at, why := refusedNetwork(d, more); why != "" {
			r.pod.ix.invalidRange(InvalidRange{
				Pod: r.pod.pod.ID, Ref: f.at(at), Text: text, Says: says, Why: why, Fate: fate,
			})
		}
	}
	dev := conf.Dev().Text
	_, byScript := conf.Last("route-noexec") // a script installs them, as it likes
	for i := range conf.Directives {
		d := &conf.Directives[i]
		switch d.Name.Text {
		case "server":
			report(d, "server", "OpenVPN stops with an options error and the server never listens",
				func(p netip.Prefix) string { return refusedPool(p, dev) })
		case "server-ipv6":
			report(d, "server-ipv6", "OpenVPN stops with an options error and the server never listens", refusedPool6)
		case "ifconfig-pool":
			report(d, "ifconfig-pool", "OpenVPN stops with an options error and the server never listens", nil)
		case "route":
			if !byScript {
				report(d, "route", "OpenVPN leaves the route out", nil)
			}
		case "route-ipv6":
			report(d, "route-ipv6", "OpenVPN leaves the route out", nil)
		}
		if d.Pushed == nil {
			continue
		}
		switch d.Pushed.Name.Text {
		case "route":
			report(d.Pushed, "push \"route\"", "clients on Linux and Windows leave the route out", nil)
		case "route-ipv6":
			report(d.Pushed, "push \"route-ipv6\"", "clients leave the route out", nil)
		}
	}
}

// refused reports whether refusedNetwork finds a fault in the directive.
func refused(d *grammar.Directive) bool {
	_, _, why := refusedNetwork(d, nil)
	return why != ""
}

// refusedNetwork says what is wrong with the network and the netmask of a
// directive. An incomplete or a templated one says nothing.
func refusedNetwork(d *grammar.Directive, more func(netip.Prefix) string) (text string, at grammar.Range, why string) {
	network, mask := d.Arg(0), d.Arg(1)
	if strings.HasSuffix(d.Name.Text, "-ipv6") {
		p := grammar.ParsePrefix(network.Text, network.Start)
		switch {
		case network.Unknown || p.Unknown:
		case !p.Valid && meantAsRange(network.Text):
			return network.Text, network.Range, "it is no prefix"
		case p.Valid && p.Prefix.Addr().Is4():
			return network.Text, network.Range, "it is IPv4"
		case p.Valid && !p.Bare && more != nil:
			return network.Text, network.Range, more(p.Prefix)
		}
		return "", at, ""
	}
	if why := noAddress(network); why != "" {
		return network.Text, network.Range, "it is no address: " + why
	}
	what, between := "netmask", d.Name.Text == "ifconfig-pool" // which has two addresses
	if between {
		what = "address"
	}
	if why := noAddress(mask); why != "" {
		return mask.Text, mask.Range, "it is no " + what + ": " + why
	}
	if between {
		return "", at, ""
	}
	if p, err := netip.ParsePrefix(network.Text); err == nil && p.Addr().Is4() {
		return network.Text, network.Range, "OpenVPN reads an address and a netmask here, and no prefix length"
	}
	addr, err := netip.ParseAddr(network.Text)
	if err != nil || !addr.Is4() || !isIPv4(mask.Text) {
		return "", at, ""
	}
	p, ok := grammar.ParseNetmask(network.Text, mask.Text)
	switch {
	case !ok:
		return mask.Text, mask.Range, "it is no netmask: its ones are not in one piece"
	case p.Addr() != addr:
		return network.Text + " " + mask.Text, network.Range, "bits right of the mask are set, the network is " + p.Addr().String()
	case more != nil:
		return network.Text + " " + mask.Text, mask.Range, more(p)
	}
	return "", at, ""
}

// noAddress says why no reader takes numbers between dots for an IPv4 address.
// Fewer than four are a way to write one, and so are leading zeros: inet_aton(3).
func noAddress(w grammar.Word) string {
	parts := strings.Split(w.Text, ".")
	if w.Unknown || len(parts) < 4 {
		return ""
	}
	wrong := ""
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return "" // a host name
		}
		if n > 255 && wrong == "" {
			wrong = part + " is more than 255"
		}
	}
	if len(parts) > 4 {
		return "it has " + strconv.Itoa(len(parts)) + " numbers, and an address has four"
	}
	return wrong
}

// refusedPool says why OpenVPN does not take a network of this size for its clients.
func refusedPool(p netip.Prefix, dev string) string {
	switch {
	case p.Bits() < openVPNWidestPool:
		return "it is wider than a /16, the widest that OpenVPN takes"
	case p.Bits() > openVPNNarrowestTun && strings.HasPrefix(dev, "tun"):
		return "it is narrower than a /29, the narrowest that OpenVPN takes for a tun device"
	}
	return ""
}

func refusedPool6(p netip.Prefix) string {
	if p.Bits() < openVPNWidestPool6 || p.Bits() > openVPNNarrowestPool {
		return "it is not between /64 and /124, which is what OpenVPN takes"
	}
	return ""
}

func isIPv4(text string) bool {
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is4()
}

// invalidWireGuard notes addresses and AllowedIPs that wg refuses. Host bits are
// fine in both.
func (r *tunnelReader) invalidWireGuard(conf *grammar.WireGuard, f confText) {
	check := func(list []grammar.Prefix, says string) {
		for _, p := range list {
			if !p.Valid && !p.Unknown && meantAsRange(p.Text) {
				r.pod.ix.invalidRange(InvalidRange{
					Pod: r.pod.pod.ID, Ref: f.at(p.Range), Text: p.Text, Says: says, Why: "it is neither an address nor a prefix",
					Fate: "wg-quick stops there and the interface does not come up",
				})
			}
		}
	}
	check(conf.Interface.Address, "Address")
	for _, p := range conf.Peers {
		check(p.AllowedIPs, "AllowedIPs")
	}
}

// advertised reads what a mesh member announces, and notes what its command
// line refuses: anything but a prefix, and host bits (FG C6).
func (r *tunnelReader) advertised(keys []images.Key) {
	for _, k := range keys {
		v, name := r.lookup(k)
		if v.State != Present {
			continue
		}
		base, text, says := 0, v.Text, name
		if k.Parse != "" {
			var is bool
			if base, text, is = flagValue(v.Text, "advertise-routes"); !is {
				continue
			}
			says = "--advertise-routes"
		}
		for _, p := range grammar.ParsePrefixes(text, base, ",") {
			at := v.within(p.Start, p.End)
			if why := refusedRoute(p); why != "" {
				r.pod.ix.invalidRange(InvalidRange{
					Pod: r.pod.pod.ID, Ref: at, Text: p.Text, Says: says, Why: why,
					Fate: "tailscale refuses the whole list and the container does not come up",
				})
			}
			if entry, valid := prefixAt(p, at); valid {
				r.t.Advertised = append(r.t.Advertised, entry)
			}
		}
	}
}

// flagValue finds --name=value or --name value in a command line.
func flagValue(text, name string) (start int, value string, is bool) {
	at := strings.Index(text, "--"+name)
	if at < 0 {
		return 0, "", false
	}
	start = at + len("--"+name)
	if start >= len(text) || text[start] != '=' && text[start] != ' ' {
		return 0, "", false
	}
	start++
	value = text[start:]
	if i := strings.IndexAny(value, " \t\n"); i >= 0 {
		value = value[:i]
	}
	trimmed := strings.TrimLeft(value, `"'`)
	return start + len(value) - len(trimmed), strings.Trim(trimmed, `"'`), true
}

// rangeOrGap notes an entry of a cluster's range that is not taken over: refused
// by its reader, or not readable here.
func (f *founded) rangeOrGap(like cidrplan.Claim, n node, e grammar.Prefix, at source.Ref, address bool, why reason) {
	if wrong := wrongRange(like.Says, e, address); wrong != "" && like.Strength != cidrplan.Evidence {
		f.ix.invalidRange(InvalidRange{Ref: at, Text: e.Text, Says: like.Says, Why: wrong, Fate: fateOfCluster(n.obj)})
		return
	}
	f.unreadable(like, n, at, why)
}
