package facts

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// openVPNRouteBypass is the bypass "key" of an OpenVPN configuration: one
// directive a network (FG E2.9).
const openVPNRouteBypass = "route"

// openVPNBypass is the directive that keeps a network out of the tunnel.
func openVPNBypass(prefix string) string {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return ""
	}
	if !p.Addr().Is4() {
		return "route-ipv6 " + p.String() + " net_gateway_ipv6"
	}
	return "route " + p.Addr().String() + " " + netmask(p.Bits()) + " net_gateway"
}

func netmask(bits int) string {
	m := uint32(0xffffffff) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}).String()
}

// confText is a configuration with the way back to its place.
type confText struct {
	path string
	text string
	// options: the command line's, which count on top of any file.
	options bool
	whole   source.Ref
	at      func(grammar.Range) source.Ref
}

func confOf(f mountedFile) confText {
	return confText{path: f.Path, text: f.Text, whole: f.Ref, at: func(g grammar.Range) source.Ref {
		if g.End <= g.Start {
			return f.Ref
		}
		return f.Ref.Within(g.Start, g.End)
	}}
}

// confFiles returns the visible files, and notes those that cannot be seen.
func (r *tunnelReader) confFiles(what []aspect, globs ...string) (confs []confText, complete bool) {
	complete = true
	for _, f := range r.c.files(globs...) {
		if f.State == Unknown && (f.Text == "" || placeholder(f.Text) == "") {
			complete = false
			r.missed(f.Why, f.Ref, what...)
			continue
		}
		confs = append(confs, confOf(f))
	}
	return confs, complete
}

// cut notes a configuration whose reader takes nothing of it, because a line, a
// block or a value in it is none. Then the rest decides nothing either. Of prefixes
// that are none VPN405 speaks, and a key that is not there was most likely taken out.
func (r *tunnelReader) cut(problems []grammar.Problem, f confText, what []aspect) bool {
	for _, p := range problems {
		if p.Fatal && p.Kind != grammar.Malformed && p.Kind != grammar.NoKey {
			r.missed(because("its reader refuses "+path.Base(f.path)+": "+p.Says, correctLine), f.at(p.Range), what...)
			r.t.Routes.State = Unknown
			r.hooksUnseen()
			return true
		}
	}
	return false
}

// openVPN reads the configuration files at globs, and the options on the
// command line. It leaves what neither says as it is.
func (r *tunnelReader) openVPN(globs ...string) {
	t := r.t
	t.Kind = "openvpn"
	if t.Interface == "" {
		t.Interface = "tun0"
	}
	needed := []aspect{aspectRoutes, aspectResolver, aspectKillSwitch, aspectMasquerade}
	files, complete := r.confFiles(needed, globs...)
	var confs []*grammar.OpenVPN
	var froms []confText
	for _, f := range append(files, r.openVPNArgs()...) {
		conf := grammar.ParseOpenVPN(f.text)
		r.invalidOpenVPN(conf, f)
		if !isOpenVPNConf(conf) {
			// Another program's file may have words that look like options.
			conf.Problems = slices.DeleteFunc(conf.Problems, func(p grammar.Problem) bool { return p.Kind != grammar.Syntax })
		}
		switch {
		case conf.Unknown:
			complete, t.Pool = false, nil // the image's default is not what it gives out
			r.missed(filledInLater(path.Base(f.path)), f.whole, needed...)
		case r.cut(conf.Problems, f, needed):
			complete, t.Pool = false, nil
			if conf.IsServer() == grammar.No {
				t.clientRefused, t.Side = true, "unknown"
			}
		case len(conf.Directives) > 0 && isOpenVPNConf(conf):
			confs = append(confs, conf)
			froms = append(froms, f)
		}
	}
	if len(confs) == 0 {
		return
	}
	t.Config = froms[0].whole
	server, client := false, false
	for _, conf := range confs {
		switch conf.IsServer() {
		case grammar.Yes:
			server = true
		case grammar.No:
			client = true
		}
	}
	if d := confs[0].Dev().Text; d != "" && strings.ContainsAny(d, "0123456789") {
		t.Interface = d
	}
	if server {
		t.Side = "server"
		// The configuration's pool takes the place of the image's default.
		image := t.Pool
		t.Pool = nil
		for i, conf := range confs {
			r.openVPNServer(conf, froms[i])
		}
		if len(t.Pool) == 0 && !slices.ContainsFunc(confs, hasOwnPool) {
			t.Pool = image
		}
		return
	}
	if client {
		t.Side = "client"
	}
	r.openVPNClients(confs, froms, complete)
}

// isOpenVPNConf tells a tunnel's configuration from other files that end alike.
func isOpenVPNConf(conf *grammar.OpenVPN) bool {
	return conf.IsServer() != grammar.Unknown || conf.Dev().Set() || len(conf.Remotes()) > 0 ||
		len(conf.Routes()) > 0 || len(conf.All("redirect-gateway")) > 0 || len(conf.All("pull-filter")) > 0 || len(conf.All("route-nopull")) > 0
}

// hasOwnPool reports whether a server's configuration says where the addresses of
// its clients come from, readable or not: the image's default is then not the
// pool. Those of a bridge come from the network that it is part of. What a start
// script fills in it fills with the image's.
func hasOwnPool(conf *grammar.OpenVPN) bool {
	for _, name := range []string{"server-bridge", "ifconfig-pool"} {
		if _, has := conf.Last(name); has {
			return true
		}
	}
	pool, has := conf.Server()
	return has && !pool.Unknown
}

// openVPNServer: what it pushes is routed by the clients; its own routes lead
// to networks behind them.
func (r *tunnelReader) openVPNServer(conf *grammar.OpenVPN, f confText) {
	t := r.t
	if pool, has := conf.Server(); has {
		if at, valid := prefixAt(pool, f.at(pool.Range)); valid {
			t.Pool = append(t.Pool, at)
		} else if d, _ := conf.Last("server"); !pool.Unknown && !refused(&d) {
			r.missed(because("server "+clip(pool.Text)+" is no network and netmask of four numbers each", correctLine), f.at(pool.Range), aspectPool)
		}
	}
	if pool, has := conf.ServerIPv6(); has {
		if at, valid := prefixAt(pool, f.at(pool.Range)); valid {
			t.Pool = append(t.Pool, at)
		}
	}
	t.Clients.State = Present
	for _, route := range conf.PushedRoutes() {
		if route.AroundTunnel() {
			continue // it keeps the clients' packets out of the tunnel
		}
		if at, valid := prefixAt(route.Prefix, f.at(route.Range)); valid {
			t.Clients.Routes = append(t.Clients.Routes, at)
		} else {
			t.Clients.State = Unknown
			r.shortRoute(&route, f, aspectPushed)
		}
	}
	if len(conf.All("client-config-dir")) > 0 || len(conf.All("client-connect")) > 0 {
		t.Clients.State = Unknown // single clients may be pushed more (FG E2.4)
	}
	redirect, all := conf.PushedRedirectGateway()
	if all && redirect.IPv4 {
		t.Clients.Default = true
	}
	for _, option := range conf.DNS() {
		if !option.Pushed || option.Type != "DNS" && option.Type != "DNS6" && option.Type != "address" {
			continue
		}
		resolver := grammar.ParsePrefix(option.Value.Text, option.Value.Start)
		if all && redirect.IPv6 && resolver.Prefix.Addr().Is6() {
			continue // the family's default route leads to it
		}
		if at, valid := prefixAt(resolver, f.at(option.Range)); valid {
			t.Clients.Resolvers = append(t.Clients.Resolvers, at)
		} else if !option.Value.Unknown && meantAsRange(option.Value.Text) {
			r.missed(because("dhcp-option "+option.Type+" "+clip(option.Value.Text)+" is no address", correctLine), f.at(option.Range), aspectPushed)
		}
	}
	r.takesNothing("a server")
	for _, route := range conf.Routes() {
		if at, valid := prefixAt(route.Prefix, f.at(route.Range)); valid && !route.AroundTunnel() {
			t.Routes.State, t.Routes.Ref, t.Routes.Why = Present, at.Ref, "route "+at.Text
			t.Routes.Prefixes = append(t.Routes.Prefixes, at)
		} else if !valid {
			r.shortRoute(&route, f, aspectPool) // a network behind clients
		}
	}
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "a server"
	r.openVPNScripts(conf)
}

// openVPNClients joins the configurations that a client may start with. Where
// they disagree about the default route, or a server may push one, the routes
// are unknown.
func (r *tunnelReader) openVPNClients(confs []*grammar.OpenVPN, froms []confText, complete bool) {
	t := r.t
	t.RepliesKept = notYet(t.RepliesKept, Absent)
	// An image that always captures the default route does so whatever the
	// configuration adds.
	always := t.Routes.State == Present && t.Routes.Default
	files, redirects, pushes := 0, 0, false
	byOption, noPull := false, false
	for i, conf := range confs {
		if !froms[i].options {
			files++
			continue
		}
		_, redirect := conf.RedirectGateway()
		_, alone := conf.RouteNoPull()
		byOption, noPull = byOption || redirect, noPull || alone
	}
	unclear := !complete
	for i, conf := range confs {
		f := froms[i]
		redirect, has := conf.RedirectGateway()
		switch {
		case has:
			redirects++
			if !always {
				r.openVPNRedirect(redirect, f)
			}
		case noPull || f.options && files > 0:
		case conf.Pulls("redirect-gateway") != grammar.No || conf.Pulls("route ") != grammar.No:
			pushes = true
		}
		unclear = !r.openVPNRoutes(conf, f) || unclear
		r.openVPNResolver(conf, f)
		r.openVPNScripts(conf)
	}
	r.openVPNBypass()
	switch {
	case always:
		t.Routes.MoreSpecificWin = true
	case byOption, redirects == len(confs) && complete:
	case redirects > 0:
		t.Routes.State, t.Routes.Default = Unknown, false
		r.missed(because("the container's configurations differ, and which one it uses is not known", noAdvice), t.Config, aspectRoutes)
	case pushes || unclear:
		t.Routes.State = Unknown
		why := "the server may push routes, redirect-gateway among them"
		if !pushes {
			why = "some routes are filled in later"
		}
		r.missed(because(why, "write redirect-gateway or route-nopull into the configuration to settle it"), t.Config, aspectRoutes)
	case len(t.Routes.Prefixes) > 0:
		t.Routes.State, t.Routes.Ref, t.Routes.Why = Present, t.Routes.Prefixes[0].Ref, "route "+t.Routes.Prefixes[0].Text
		t.Routes.Default, t.Routes.MoreSpecificWin = hasDefault(t.Routes.Prefixes), true
	default:
		r.takesNothing("no redirect-gateway and no route")
	}
}

// openVPNRoutes adds the routes of a client's own configuration; false when some
// cannot be read.
func (r *tunnelReader) openVPNRoutes(conf *grammar.OpenVPN, f confText) (read bool) {
	t := r.t
	read = true
	for _, route := range conf.Routes() {
		at, valid := prefixAt(route.Prefix, f.at(route.Range))
		around := route.AroundTunnel() || route.Gateway.Set() && route.Gateway.Text != "vpn_gateway"
		switch {
		case around && valid:
			t.Bypass.Entries = append(t.Bypass.Entries, at)
			t.Bypass.Contended = append(t.Bypass.Contended, ContendedEntry{Entry: at})
		case around:
			t.Bypass.State = Unknown
			r.missed(filledInLater("route "+clip(route.Prefix.Text)), f.at(route.Range), aspectBypass)
		case valid:
			t.Routes.Prefixes = append(t.Routes.Prefixes, at)
		default:
			read = false
			r.shortRoute(&route, f, aspectRoutes)
		}
	}
	return read
}

// shortRoute notes a route whose network or netmask has fewer than four numbers.
// OpenVPN's versions and the C libraries behind them disagree on what that is.
func (r *tunnelReader) shortRoute(route *grammar.Route, f confText, of aspect) {
	short := func(word string) bool { return strings.Count(word, ".") < 3 }
	p := route.Prefix
	if !route.IPv6 && !p.Unknown && strings.Trim(p.Text, "0123456789. ") == "" && slices.ContainsFunc(strings.Fields(p.Text), short) {
		r.missed(because("route "+clip(p.Text)+" is no network and netmask of four numbers each", correctLine), f.at(route.Range), of)
	}
}

// openVPNBypass sums up the routes around the tunnel, where no variable of the image
// is the list.
func (r *tunnelReader) openVPNBypass() {
	b := &r.t.Bypass
	if len(b.Entries) > 0 && b.State == Absent {
		b.State = Present
	}
	if b.Key != "" {
		return
	}
	b.Key, b.Ref = openVPNRouteBypass, r.t.Routes.Ref
	if len(b.Entries) > 0 {
		b.Ref = b.Entries[0].Ref
	}
}

func (r *tunnelReader) openVPNRedirect(redirect grammar.Redirect, f confText) {
	rt := &r.t.Routes
	ref := f.at(redirect.Range)
	kept := rt.Prefixes
	var all []string
	if redirect.IPv4 {
		all = append(all, "0.0.0.0/0")
	}
	if redirect.IPv6 {
		all = append(all, "::/0")
	}
	r.takesDefault(ref, clip(f.text[redirect.Start:redirect.End]), all...)
	rt.Prefixes = append(rt.Prefixes, kept...)
	rt.Default = len(all) > 0
	// With def1 and without, connected and static routes of the main table stay
	// more specific (FG E2.5).
	rt.MoreSpecificWin = true
}

// openVPNResolver: on Linux only a script changes /etc/resolv.conf (FG E2.6).
func (r *tunnelReader) openVPNResolver(conf *grammar.OpenVPN, f confText) {
	res := &r.t.Resolver
	for _, d := range conf.UpScripts() {
		script := d.Arg(0).Text
		if !strings.Contains(script, "resolv") && path.Base(script) != "up.sh" {
			continue
		}
		res.Rewrites, res.Ref, res.Why = Present, f.at(d.Range), d.Name.Text+" "+clip(script)
	}
	if res.Rewrites == Unknown && r.resolverByScript() {
		res.Rewrites, res.Why = Absent, "no up script writes the resolver"
	}
	if res.Rewrites != Present {
		return
	}
	for _, option := range conf.DNS() {
		if !option.Pushed && (option.Type == "DNS" || option.Type == "DNS6" || option.Type == "address") && !option.Value.Unknown {
			res.Servers = appendNew(res.Servers, option.Value.Text)
		}
	}
}

// openVPNScripts reads what the configuration's mounted scripts do to the
// firewall.
func (r *tunnelReader) openVPNScripts(conf *grammar.OpenVPN) {
	for _, d := range conf.UpScripts() {
		words := strings.Fields(d.Arg(0).Text)
		if len(words) == 0 {
			continue
		}
		if s, mounted := r.c.scriptFile(words[0], r.c.knownEnv()); mounted {
			r.firewall(s)
		}
	}
}

// notYet returns the answer, or fallback while there is none.
func notYet(answer, fallback Known) Known {
	if answer == Unknown {
		return fallback
	}
	return answer
}

// openVPNGeneric reads an image of which the configuration alone is known: the
// file that the command line names, else those in the usual places.
func (r *tunnelReader) openVPNGeneric() {
	globs := r.namedOpenVPNConfigs()
	if len(globs) == 0 {
		globs = openVPNGlobs()
	}
	r.openVPN(globs...)
	if r.plainOpenVPN() {
		// OpenVPN itself stops nothing and translates nothing.
		for _, s := range []*Switch{&r.t.KillSwitch, &r.t.Masquerade} {
			if s.State == Unknown {
				*s = Switch{State: Absent, Ref: r.t.ContainerRef, Why: "no script of the configuration touches the packet filter"}
			}
		}
	}
	if r.t.Config.IsZero() && len(r.lost) == 0 {
		r.missed(notInTree("its configuration", lintWithVPNConfig), r.t.ContainerRef, aspectRoutes, aspectResolver, aspectKillSwitch, aspectMasquerade)
	}
}

// pastTheStart: the command starts OpenVPN itself in an image whose own script would
// have asked for the default route and set up a firewall. dperson's also runs
// what the arguments name.
func (r *tunnelReader) pastTheStart() bool {
	switch r.family.ID {
	case "dperson-openvpn-client":
		if args := r.c.spec.get("args").texts(); len(r.c.spec.get("command").texts()) == 0 && len(args) > 1 && path.Base(args[0].text()) == "openvpn" {
			return true
		}
	case "haugene-transmission-openvpn", "wfg-openvpn-client", "binhex-vpn", "dyonr-qbittorrentvpn":
	default:
		return false
	}
	_, past := r.c.startsPast("", "openvpn")
	return past
}

// bareOpenVPN reads such a container: nothing is left of what its image does.
func (r *tunnelReader) bareOpenVPN() {
	*r.t, r.lost = *newTunnelReader(r.pod, r.c, r.family).t, nil
	r.openVPNGeneric()
}

// plainOpenVPN reports whether OpenVPN is all that runs: the command starts it, or
// the image is nothing else, and the configuration is in view with each script
// that it calls.
func (r *tunnelReader) plainOpenVPN() bool {
	if r.t.Config.IsZero() || len(r.lost) > 0 || r.c.image.Repository != "alpine/openvpn" && !r.runsOpenVPN() {
		return false
	}
	for _, f := range r.c.files("/**") {
		if len(f.Text) > maxConfigBytes {
			return false
		}
		for _, d := range grammar.ParseOpenVPN(f.Text).UpScripts() {
			words := strings.Fields(d.Arg(0).Text)
			if len(words) == 0 || strings.Contains(words[0], "resolv") {
				continue
			}
			if s, mounted := r.c.scriptFile(words[0], nil); !mounted || s.State != Present {
				return false
			}
		}
	}
	return true
}

// runsOpenVPN: the container's own command starts the program.
func (r *tunnelReader) runsOpenVPN() bool {
	for _, cmd := range r.c.commands() {
		if cmd.name() == "openvpn" && (cmd.script.Kind == scriptCommand || cmd.script.Kind == scriptFile) {
			return true
		}
	}
	return false
}

// openVPNGlobs are the places where images look for an OpenVPN configuration.
func openVPNGlobs() []string {
	return []string{
		"/etc/openvpn/**/*.conf", "/etc/openvpn/**/*.ovpn", "/vpn/*.conf", "/vpn/*.ovpn", "/data/vpn/*.conf", "/data/vpn/*.ovpn",
		"/config/*.conf", "/config/*.ovpn", "/config/openvpn/*.ovpn", "/config/openvpn/*.conf",
	}
}
