package facts

import (
	"cmp"
	"net/netip"
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// wgHookBypass is the bypass "key" of a wg-quick configuration: one hook a
// network (FG E1.9).
const wgHookBypass = "PostUp"

// hookBypass is the command that keeps a network out of the tunnel. A rule that
// looks into the main table is enough where fwmark rules carry the default
// route; routes that wg-quick wrote into the main table itself need a more
// specific one.
func hookBypass(t *Tunnel, prefix string) string {
	six := ""
	if strings.Contains(prefix, ":") {
		six = "-6 "
	}
	if t.Routes.FwMark {
		return "ip " + six + "rule add to " + prefix + " lookup main"
	}
	return "ip " + six + "route add " + prefix + " via $(ip " + six + "route show default | awk '{print $3}') dev eth0"
}

// endpointAddress is the address in an endpoint, "" for a name.
func endpointAddress(endpoint string) string {
	if at, err := netip.ParseAddrPort(endpoint); err == nil {
		return at.Addr().String()
	}
	return ""
}

// allowedIPs is what the tunnel routes without what is missing from its bypass,
// as the shortest list. Routes that do not hold the endpoint itself need no
// firewall mark, so it is left out, too; where its address is not known, or
// where peers share the routes, there is no such list.
func allowedIPs(t *Tunnel, missing []string) string {
	if t.Bypass.Key != wgHookBypass || len(t.Peers) != 1 {
		return ""
	}
	endpoint, err := netip.ParseAddr(t.Peers[0].EndpointAddress)
	if err != nil {
		return ""
	}
	leave := append(prefixesAt(t.Bypass.Entries), mustPrefixes(missing...)...)
	leave = append(leave, netip.PrefixFrom(endpoint, endpoint.BitLen()))
	return "AllowedIPs = " + strings.Join(texts(cidrplan.Subtract(prefixesAt(t.Routes.Prefixes), leave)), ", ")
}

// wireGuard reads the wg-quick configurations at globs, or the one that stands
// in an environment variable. Every configuration is brought up, so their
// routes add up.
func (r *tunnelReader) wireGuard(globs ...string) {
	t := r.t
	t.Kind = "wireguard"
	needed := []aspect{aspectRoutes, aspectBypass, aspectResolver, aspectKillSwitch, aspectMasquerade}
	files, complete := r.confFiles(needed, globs...)
	files = append(files, r.wireGuardEnv()...)
	var confs []*grammar.WireGuard
	var froms []confText
	for _, f := range files {
		conf := grammar.ParseWireGuard(f.text)
		r.invalidWireGuard(conf, f)
		switch {
		case conf.Unknown:
			complete = false
			r.missed(filledInLater(path.Base(f.path)), f.whole, needed...)
		case r.cut(conf.Problems, f, needed):
			complete = false
		case conf.Interface.Range != (grammar.Range{}) || len(conf.Peers) > 0:
			confs = append(confs, conf)
			froms = append(froms, f)
		}
	}
	if !complete || len(confs) == 0 {
		r.hooksUnseen()
	}
	if len(confs) == 0 {
		if complete {
			r.missed(because("no WireGuard configuration is in view", lintWithVPNConfig), t.ContainerRef, needed...)
		}
		t.Bypass.State = Unknown
		return
	}
	t.Config = froms[0].whole
	t.Interface = strings.TrimSuffix(path.Base(froms[0].path), ".conf")
	w := wgReader{tunnelReader: r, complete: complete}
	for i, conf := range confs {
		w.conf(conf, froms[i])
	}
	w.finish()
}

// hooksUnseen: a configuration that cannot be seen may hold hooks that stop or
// masquerade traffic.
func (r *tunnelReader) hooksUnseen() {
	t := r.t
	if t.KillSwitch.State == Absent {
		t.KillSwitch.State = Unknown
	}
	if t.Masquerade.State == Absent {
		t.Masquerade.State = Unknown
	}
}

// wireGuardEnv finds a whole configuration in an environment variable.
func (r *tunnelReader) wireGuardEnv() []confText {
	var out []confText
	for _, v := range r.c.envWithPrefix("") {
		if !strings.Contains(v.Text, "[Interface]") || !strings.Contains(v.Text, "[Peer]") {
			continue
		}
		out = append(out, confText{path: "wg0.conf", text: v.Text, whole: v.Ref, at: func(g grammar.Range) source.Ref {
			if g.End <= g.Start {
				return v.Ref
			}
			return v.within(g.Start, g.End)
		}})
	}
	return out
}

// wgReader joins the configurations of one container.
type wgReader struct {
	*tunnelReader
	complete bool // every configuration and every entry was read
	routes   []PrefixAt
	marked   bool // a /0 goes through fwmark rules
	sides    []string
}

func (w *wgReader) conf(conf *grammar.WireGuard, f confText) {
	t := w.t
	in := conf.Interface
	side := wgSide(conf)
	w.sides = append(w.sides, side)
	iface := strings.TrimSuffix(path.Base(f.path), ".conf")
	for _, a := range in.Address {
		at, valid := prefixAt(a, f.at(a.Range))
		if !valid {
			if !a.Unknown && !meantAsRange(a.Text) {
				w.complete = false
				w.missed(because("Address "+clip(a.Text)+" is no address", correctLine), f.at(a.Range), aspectRoutes, aspectPool)
			}
			continue
		}
		t.Addresses = append(t.Addresses, hostAt(a, at.Ref))
		if side == "server" && !a.Prefix.IsSingleIP() {
			t.Pool = append(t.Pool, at)
		}
	}
	peers := make([]Peer, 0, len(conf.Peers))
	for _, p := range conf.Peers {
		peers = append(peers, w.peer(p, in.Table, iface, f))
	}
	t.Peers = append(t.Peers, peers...)
	w.table(in, peers, f)
	if in.MTU.Set() {
		w.interfaceMTU(in.MTU.Text, f.at(in.MTU.Range), "MTU = "+in.MTU.Text)
	}
	for _, p := range conf.Peers {
		t.MTU.Outer6 = t.MTU.Outer6 || strings.HasPrefix(p.Endpoint.Text, "[")
	}
	w.dns(in, f)
	hooks := append(append([]grammar.Word{}, in.PreUp...), in.PostUp...)
	for _, hook := range hooks {
		w.hook(hook, iface, f)
	}
	if len(t.Pool) == 0 && side == "server" {
		t.Pool = append(t.Pool, singleHosts(peers)...)
	}
}

// hostAt is the address of an interface as written, without its network.
func hostAt(p grammar.Prefix, at source.Ref) PrefixAt {
	return PrefixAt{Prefix: netip.PrefixFrom(p.Addr, p.Addr.BitLen()).String(), Text: p.Text, Ref: at}
}

// singleHosts are the addresses that each are one peer's, as a server gives them
// to its clients.
func singleHosts(peers []Peer) []PrefixAt {
	var out []PrefixAt
	for _, p := range peers {
		for _, a := range p.AllowedIPs {
			if prefix, err := netip.ParsePrefix(a.Prefix); err == nil && prefix.IsSingleIP() {
				out = append(out, a)
			}
		}
	}
	return out
}

// wgSide tells a server's configuration from a client's (FG E1.12).
func wgSide(conf *grammar.WireGuard) string {
	listens := conf.Interface.ListenPort.Set()
	calls := 0
	for _, p := range conf.Peers {
		if p.Endpoint.Set() {
			calls++
		}
	}
	switch {
	case len(conf.Peers) == 0:
		if listens {
			return "server"
		}
		return "unknown"
	case calls == 0, listens && calls < len(conf.Peers):
		return "server"
	case listens && calls > 1:
		return "mesh"
	default:
		return "client"
	}
}

func (w *wgReader) peer(p grammar.Peer, table grammar.Word, iface string, f confText) Peer {
	ref := f.at(p.Header)
	if p.PublicKey.Set() {
		ref = f.at(p.PublicKey.Range)
	}
	peer := Peer{
		Ref: ref, Interface: iface, PublicKey: p.PublicKey.Text, Endpoint: p.Endpoint.Set(),
		EndpointAddress: endpointAddress(p.Endpoint.Text),
		Table:           cmp.Or(strings.ToLower(table.Text), "auto"), AllowedIPs: []PrefixAt{},
	}
	for _, a := range p.AllowedIPs {
		at, valid := prefixAt(a, f.at(a.Range))
		switch {
		case !valid:
			// What wg refuses is reported for what it is, and no gap beside it.
			w.complete = false
			if a.Unknown || !meantAsRange(a.Text) {
				w.missed(filledInLater("AllowedIPs "+clip(a.Text)), f.at(a.Range), aspectRoutes)
			}
		case a.Sign == '-':
			// It takes a prefix away from the peer.
		default:
			peer.AllowedIPs = append(peer.AllowedIPs, at)
		}
	}
	return peer
}

// table decides what wg-quick makes of the AllowedIPs (FG E1.6-E1.8).
func (w *wgReader) table(in grammar.Interface, peers []Peer, f confText) {
	switch strings.ToLower(in.Table.Text) {
	case "off":
	case "", "auto", "main", "254":
		for _, p := range peers {
			for _, a := range p.AllowedIPs {
				w.routes = append(w.routes, a)
				// Only without a table of its own does it make fwmark rules.
				if strings.HasSuffix(a.Prefix, "/0") && in.Table.Text != "main" && in.Table.Text != "254" {
					w.marked = true
				}
			}
		}
	default:
		// A table that nothing looks into, unless a hook adds the rule.
		if addsRules(in) {
			w.complete = false
			w.missed(because("Table = "+clip(in.Table.Text)+" with rules of its own", noAdvice), f.at(in.Table.Range), aspectRoutes)
		}
	}
}

func addsRules(in grammar.Interface) bool {
	for _, hook := range append(append([]grammar.Word{}, in.PreUp...), in.PostUp...) {
		if strings.Contains(hook.Text, "rule") {
			return true
		}
	}
	return false
}

// dns: resolvconf puts the addresses into the pod's resolv.conf; names are
// search domains (FG E1.10).
func (w *wgReader) dns(in grammar.Interface, f confText) {
	res := &w.t.Resolver
	if len(in.DNS) == 0 {
		if res.Rewrites == Unknown && w.resolverByConf() {
			res.Rewrites, res.Why = Absent, "no DNS ="
		}
		return
	}
	res.Rewrites, res.Ref = Present, f.at(in.DNS[0].Range)
	var all []string
	wrong := false
	for _, d := range in.DNS {
		all = append(all, d.Text)
		switch _, err := netip.ParseAddr(d.Text); {
		case err == nil:
			res.Servers = appendNew(res.Servers, d.Text)
		case !d.Unknown && (strings.Trim(d.Text, "0123456789.") == "" || strings.Contains(d.Text, ":")):
			// wg-quick takes it for a resolver by its look.
			wrong = true
			w.missed(because("DNS "+clip(d.Text)+" is no address", correctLine), f.at(d.Range), aspectResolver)
		}
	}
	res.Why = "DNS = " + clip(strings.Join(all, ", "))
	if wrong {
		res.Rewrites, res.Servers = Unknown, nil
		return
	}
	if len(res.Servers) == 0 && !in.DNS[0].Unknown {
		res.Rewrites, res.Why = Absent, "DNS = holds search domains only"
	}
}

// hook reads one PreUp or PostUp.
func (w *wgReader) hook(hook grammar.Word, iface string, f confText) {
	s := script{
		Kind: scriptFile, Text: hook.Text, State: Present, Ref: f.at(hook.Range),
		Moved: f.at(hook.Range).Start == 0 && hook.Start != 0,
	}
	w.firewallOf(s, iface)
	w.routing(s, iface, f.at(hook.Range))
}

func (w *wgReader) finish() {
	t := w.t
	w.settle()
	t.Side = joinSides(w.sides)
	rt := &t.Routes
	rt.Prefixes = w.routes
	rt.MoreSpecificWin = true
	rt.FwMark = w.marked
	t.RepliesKept = notYet(t.RepliesKept, Absent)
	switch {
	case !w.complete:
		rt.State = Unknown
	case len(w.routes) == 0:
		rt.State, rt.Why = Absent, "no AllowedIPs becomes a route"
	default:
		rt.State = Present
		rt.Default = hasDefault(w.routes)
		main := mainRoute(w.routes)
		rt.Ref, rt.Why = main.Ref, "AllowedIPs = "+main.Text
	}
	if t.Bypass.Key == "" {
		t.Bypass.Key = wgHookBypass
		t.Bypass.Ref = rt.Ref
	}
	w.takeHookRoutes()
	if t.KillSwitch.State == Unknown && w.complete && !w.filterUnknown && w.switchByConf() {
		t.KillSwitch.State, t.KillSwitch.Why = Absent, "no hook stops traffic outside the tunnel"
	}
	if t.Masquerade.State == Unknown && w.complete && !w.hookOpaque && w.masqueradeByConf() {
		t.Masquerade.State, t.Masquerade.Why = Absent, "no hook masquerades"
	}
}

// mainRoute is the entry that decides most: a default route, else the first.
func mainRoute(list []PrefixAt) PrefixAt {
	for _, p := range list {
		if strings.HasSuffix(p.Prefix, "/0") || strings.HasSuffix(p.Prefix, "/1") {
			return p
		}
	}
	return list[0]
}

func joinSides(sides []string) string {
	out := ""
	for _, s := range sides {
		switch {
		case out == "" || out == s || out == "unknown":
			out = s
		case s == "server" || out == "server":
			out = "server"
		case s != "unknown":
			out = "mesh"
		}
	}
	if out == "" {
		return "unknown"
	}
	return out
}
