package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
)

// decideSide settles the side where a variable decides it, before anything is
// read that counts on one side only.
func (r *tunnelReader) decideSide() {
	if r.family.ID != "linuxserver-wireguard" {
		return
	}
	peers := r.c.env("PEERS")
	switch {
	case peers.State == Unknown:
		r.t.Side = "unknown"
	case strings.TrimSpace(peers.Text) != "":
		r.t.Side = "server"
	default:
		r.t.Side = "client"
	}
}

// technology reads what is peculiar to a family. Families that are not named
// here are described by the catalogue alone.
func (r *tunnelReader) technology() {
	switch r.family.ID {
	case "gluetun":
		r.gluetun()
	case "linuxserver-wireguard":
		r.linuxserver()
	case "wg-easy-v14", "wg-easy-v15":
		r.wgEasy()
	case "masipcat-wireguard-go", "cmulk-wireguard", "jordanpotter-wireguard", "boringtun", "wireguard-generic":
		r.wireGuardImage()
	case "bryopsida-wireguard", "denefoster-k8s-wireguard":
		r.wireGuardServer()
	case "k8s-at-home-wireguard":
		r.k8sAtHome()
	case "nordlynx":
		r.nordlynx()
	case "wireguard-pia":
		r.pia()
	case "protonwire":
		r.protonwire()
	case "wg-access-server", "subspace":
		r.natUnless(map[string]bool{"WG_IPV4_NAT_ENABLED": false, "WG_VPN_DISABLE_IPTABLES": true, "SUBSPACE_DISABLE_MASQUERADE": true})
		if r.family.ID == "subspace" {
			r.resolverServers("SUBSPACE_NAMESERVERS")
		}
	case "wireguard-ui":
		r.hookVariable("WGUI_SERVER_POST_UP_SCRIPT")
	case "kylemanna-openvpn":
		r.kylemanna()
	case "stable-openvpn", "sergelogvinov-openvpn", "kube-openvpn", "d3vilh-openvpn", "hwdsl2-openvpn":
		r.openVPN("/etc/openvpn/**/*.conf")
	case "openvpn-generic":
		r.openVPN(openVPNGlobs()...)
	case "dperson-openvpn-client":
		r.dperson()
	case "wfg-openvpn-client":
		r.wfg()
	case "haugene-transmission-openvpn":
		r.haugene()
	case "binhex-vpn", "dyonr-qbittorrentvpn":
		r.downloader()
	case "pod-gateway":
		r.podGateway()
	case "tailscale":
		r.tailscale()
	case "tailscale-other":
		r.tailscaleOther()
	case "netbird":
		r.netbird()
	case "zerotier", "zerotier-router", "netmaker-netclient", "nebula", "innernet":
		r.t.Interface = ""
		r.unknownRoutes("its routes are managed by the network's controller, not in the tree", r.t.ContainerRef)
	case "openconnect-client", "cloudflare-warp":
		r.unknownRoutes("the far side decides its routes at run time", r.t.ContainerRef)
		r.natIf("WARP_ENABLE_NAT")
	case "strongswan-vimagick", "strongswan-generic", "hwdsl2-ipsec":
		r.ipsec()
	case "softether":
		r.t.UserSpace = Present
		r.t.Masquerade = Switch{State: Present, Ref: r.t.ContainerRef, Why: "SecureNAT translates in user space"}
	case "shadowsocks":
		r.t.UserSpace = Present
	}
}

// linuxserver: a server iff PEERS is set; its ALLOWEDIPS go into the clients'
// files (FG C2).
func (r *tunnelReader) linuxserver() {
	t := r.t
	t.Interface = "wg0"
	switch t.Side {
	case "unknown":
		peers := r.c.env("PEERS")
		r.t.Pool = nil
		r.missed("it is a server if PEERS is set, and "+peers.Why, peers.Ref, aspectRoutes, aspectMasquerade, aspectResolver)
		return
	case "client":
		t.Pool, t.Masquerade = nil, Switch{State: Unknown, Ref: t.ContainerRef}
		r.wireGuard("/config/wg_confs/*.conf", "/config/wg0.conf")
		return
	}
	t.Masquerade = Switch{State: Present, Ref: t.ContainerRef, Why: "the server template masquerades what leaves eth+"}
	t.Resolver.Rewrites, t.Resolver.Why = Absent, "a server"
	t.Bypass.State = Absent
	if f := r.c.file("/config/templates/server.conf"); f.Text != "" {
		t.Config = f.Ref
		t.Masquerade = Switch{State: Absent, Ref: f.Ref, Why: "the mounted server template does not masquerade"}
		conf := grammar.ParseWireGuard(f.Text)
		for _, hook := range append(append([]grammar.Word{}, conf.Interface.PreUp...), conf.Interface.PostUp...) {
			r.firewallOf(script{Kind: scriptFile, Text: hook.Text, State: Present, Ref: f.Ref.Within(hook.Start, hook.End), Env: r.c.knownEnv()}, t.Interface)
		}
	}
	r.takesNothing("a server")
	for _, v := range r.c.envWithPrefix("SERVER_ALLOWEDIPS_PEER_") {
		if v.State != Present {
			continue
		}
		if list := prefixList(v.value, ","); len(list) > 0 {
			t.Peers = append(t.Peers, Peer{
				Ref: v.Ref, Interface: t.Interface, PublicKey: v.Name, Table: "auto", AllowedIPs: list,
			})
			t.Routes.State, t.Routes.Ref, t.Routes.Why = Present, list[0].Ref, v.Name+"="+list[0].Text
			t.Routes.Prefixes = append(t.Routes.Prefixes, list...)
			t.Routes.MoreSpecificWin = true
		}
	}
	t.Routes.Default = hasDefault(t.Routes.Prefixes)
	dns := r.c.env("PEERDNS")
	switch {
	case dns.State == Present && !strings.EqualFold(strings.TrimSpace(dns.Text), "auto"):
		r.resolversFor(images.Key{Key: "PEERDNS"})
	case dns.State != Unknown && len(t.Pool) > 0:
		if pool, err := netip.ParsePrefix(t.Pool[0].Prefix); err == nil {
			first := pool.Addr().Next()
			t.Clients.Resolvers = append(t.Clients.Resolvers, PrefixAt{
				Prefix: netip.PrefixFrom(first, first.BitLen()).String(), Text: first.String(), Ref: t.ContainerRef,
			})
		}
	}
}

// wgEasy: up to version 14 variables decide; from 15 a database, which INIT_*
// seed when INIT_ENABLED says so. Of an unknown version only what both agree on
// is said.
func (r *tunnelReader) wgEasy() {
	t := r.t
	t.Interface = "wg0"
	old := r.versionUpTo("14.99")
	if r.family.ID == "wg-easy-v14" {
		old = Present
	}
	if old != Present {
		init := r.c.env("INIT_ENABLED")
		if !isTrue(init) {
			// What is in the database cannot be seen; the defaults stand for it.
			t.Clients = Clients{State: Unknown}
			t.Pool = nil
			for _, p := range r.family.Defaults.DefaultClientPool {
				if at, valid := prefixAt(grammar.ParsePrefix(p, 0), t.ContainerRef); valid {
					t.Pool = append(t.Pool, at)
				}
			}
		} else {
			r.resolversFor(images.Key{Key: "INIT_DNS"})
		}
	}
	if six := r.c.env("DISABLE_IPV6"); old != Present && six.State != Absent && !isOff(six.Text) {
		t.Pool = slices.DeleteFunc(t.Pool, func(p PrefixAt) bool { return strings.Contains(p.Prefix, ":") })
	}
	postUp := r.c.env("WG_POST_UP")
	if old == Absent {
		return
	}
	if old == Unknown {
		// Version 14 has no IPv6 pool.
		t.Pool = slices.DeleteFunc(t.Pool, func(p PrefixAt) bool { return strings.Contains(p.Prefix, ":") })
		if v := r.c.env("WG_DEFAULT_ADDRESS"); v.State == Present {
			if pool := poolOf(images.X24, v, value{}, ""); len(pool) > 0 {
				t.Pool = pool
			}
		}
	} else {
		if dns := r.c.env("WG_DEFAULT_DNS"); dns.State == Absent {
			t.Clients.Resolvers = append(t.Clients.Resolvers, PrefixAt{Prefix: "1.1.1.1/32", Text: "1.1.1.1", Ref: t.ContainerRef})
		} else {
			r.resolversFor(images.Key{Key: "WG_DEFAULT_DNS"})
		}
	}
	// An empty WG_POST_UP counts as none; any other replaces the default NAT.
	if strings.TrimSpace(postUp.Text) == "" {
		return
	}
	before := t.Masquerade
	t.Masquerade = Switch{State: Absent, Ref: postUp.Ref, Why: "WG_POST_UP replaces the image's own rules and does not masquerade"}
	if postUp.State == Unknown {
		t.Masquerade.State = Unknown
		r.missed("WG_POST_UP: "+postUp.Why, postUp.Ref, aspectMasquerade)
	}
	r.hookVariable("WG_POST_UP")
	if old == Unknown && t.Masquerade.State != before.State {
		t.Masquerade.State = Unknown
		r.missed("whether WG_POST_UP is read depends on the image's version, which its tag does not tell", postUp.Ref, aspectMasquerade)
	}
}

// hookVariable reads a variable that holds shell commands of the interface.
func (r *tunnelReader) hookVariable(key string) {
	v := r.c.env(key)
	if v.Text == "" {
		return
	}
	s := script{Kind: scriptFile, Text: v.Text, State: Present, Ref: v.Ref, Moved: v.Moved, Env: r.c.knownEnv()}
	r.firewallOf(s, "wg0")
	r.routing(s, "wg0", v.Ref)
}

// wireGuardImage: wg-quick with the configuration deciding, and what a few
// images add of their own.
func (r *tunnelReader) wireGuardImage() {
	own := r.t.KillSwitch // jordanpotter's is built in
	masquerade := r.t.Masquerade
	if r.family.ID == "cmulk-wireguard" {
		r.t.Side = "unknown"
	}
	r.wireGuard(r.globs("wg", "/etc/wireguard/*.conf")...)
	switch r.family.ID {
	case "jordanpotter-wireguard":
		r.t.KillSwitch = own
	case "cmulk-wireguard":
		masq := r.c.env("IPTABLES_MASQ")
		switch {
		case r.t.Masquerade.State == Present && r.t.Masquerade != masquerade:
			// A hook does it in any case.
		case masq.State == Unknown:
			r.t.Masquerade = Switch{State: Unknown, Ref: masq.Ref, Why: "IPTABLES_MASQ is not known"}
			r.missed("IPTABLES_MASQ: "+masq.Why, masq.Ref, aspectMasquerade)
		case masq.Text == "0":
			r.t.Masquerade = Switch{State: Absent, Ref: masq.Ref, Why: "IPTABLES_MASQ=0"}
		default:
			r.t.Masquerade = masquerade
		}
	}
}

// wireGuardServer: charts whose image serves whatever the mounted file says;
// their defaults hold when it cannot be seen.
func (r *tunnelReader) wireGuardServer() {
	t := r.t
	saved := *t
	r.wireGuard(r.globs("", "/etc/wireguard/*.conf", "/config/*.conf", "/config/wg_confs/*.conf")...)
	if t.Config.IsZero() {
		lost := r.lost
		*t = saved
		r.lost = lost
		t.Interface = "wg0"
	}
	if t.Side != "client" && saved.Masquerade.State == Present && t.Masquerade.State != Present {
		t.Masquerade = saved.Masquerade
	}
	if t.Config.IsZero() || t.Side == "unknown" {
		t.Side = "server"
	}
}

// k8sAtHome: the list belongs to the kill switch, and without a list the rule
// is not installed (FG C2).
func (r *tunnelReader) k8sAtHome() {
	t := r.t
	ks := t.KillSwitch
	switch {
	case ks.State == Present && t.Bypass.State == Absent:
		ks = Switch{State: Absent, Ref: ks.Ref, Why: "KILLSWITCH without excluded networks installs no rule"}
	case ks.State == Absent && t.Bypass.State == Present:
		t.Bypass.State = Unknown
		r.missed("the excluded networks are used by the kill switch, which is off", t.Bypass.Ref, aspectBypass)
	}
	t.KillSwitch = ks
	r.wireGuard("/etc/wireguard/*.conf", "/config/*.conf")
	if ks.State == Present || t.KillSwitch.State != Present && ks.Why != "" && ks.Ref != t.ContainerRef {
		t.KillSwitch = ks
	}
}

// nordlynx writes its own wg-quick configuration out of variables.
func (r *tunnelReader) nordlynx() {
	t := r.t
	t.Interface = "wg0"
	t.Routes.FwMark = t.Routes.Default
	t.Routes.MoreSpecificWin = true
	t.Addresses = append(t.Addresses, hostList(r.c.env("ADDRESS"))...)
	if len(t.Addresses) == 0 {
		t.Addresses = []PrefixAt{{Prefix: "10.5.0.2/32", Text: "10.5.0.2/32", Ref: t.ContainerRef}}
	}
	if table := r.c.env("TABLE"); table.State == Present && table.Text != "" && !strings.EqualFold(table.Text, "auto") {
		r.unknownRoutes("TABLE="+clip(table.Text)+" takes the routes out of the image's hands", table.Ref)
	}
	r.resolverServers("DNS", "103.86.96.100", "103.86.99.100")
	r.hookVariable("PRE_UP")
	r.hookVariable("POST_UP")
}

// pia: VPNDNS unset is the provider's own resolver, 0 leaves the pod's alone.
func (r *tunnelReader) pia() {
	t := r.t
	t.Interface = "wg0"
	r.natIf("FWD_IFACE")
	if v := r.c.env("VPNDNS"); v.State == Present && strings.TrimSpace(v.Text) == "0" {
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, v.Ref, "VPNDNS=0"
		return
	}
	r.resolverServers("VPNDNS", "10.0.0.243", "10.0.0.242")
}

// protonwire routes public destinations only, unless told otherwise.
func (r *tunnelReader) protonwire() {
	t := r.t
	t.Interface = "protonwire0"
	if !r.namesEnv("PROTONVPN_ALLOWED_SUBNETS_IPV4") {
		local := mustPrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "224.0.0.0/3")
		public := cidrplan.Union(cidrplan.Subtract(mustPrefixes("0.0.0.0/0"), local), mustPrefixes("10.2.0.1/32"))
		t.Routes = Routes{State: Present, Ref: t.ContainerRef, Why: "protonwire's default, public destinations only", MoreSpecificWin: true}
		for _, p := range public {
			t.Routes.Prefixes = append(t.Routes.Prefixes, PrefixAt{Prefix: p.String(), Text: p.String(), Ref: t.ContainerRef})
		}
	}
	if skip := r.c.env("SKIP_DNS_CONFIG"); skip.State == Present && isOn(skip.Text) {
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, skip.Ref, "SKIP_DNS_CONFIG"
		return
	}
	t.Resolver.Servers = []string{"10.2.0.1"}
}

// natIf: a variable that is set at all turns masquerading on.
func (r *tunnelReader) natIf(key string) {
	v := r.c.env(key)
	m := &r.t.Masquerade
	switch {
	case v.State == Present:
		m.State, m.Ref, m.Why = Present, v.Ref, key
	case v.State == Absent && m.State == Unknown && r.masqueradeByConf():
		m.State, m.Why = Absent, key+" is not set"
	}
}

// natUnless reads variables that turn masquerading off by one of their values.
func (r *tunnelReader) natUnless(off map[string]bool) {
	for _, k := range r.family.Env.NAT {
		value, knows := off[k.Key]
		v := r.c.env(k.Key)
		if !knows || v.State != Present {
			continue
		}
		if value && isOn(v.Text) || !value && isOff(v.Text) {
			r.t.Masquerade = Switch{State: Absent, Ref: v.Ref, Why: k.Key + "=" + clip(v.Text)}
		}
	}
}

// kylemanna: ovpn_env.sh on the volume is sourced over the container's
// environment and decides about NAT (FG C3).
func (r *tunnelReader) kylemanna() {
	t := r.t
	f := r.c.file("/etc/openvpn/ovpn_env.sh")
	vars := shellSettings{}
	visible := true
	switch {
	case f.Text != "":
		vars = settingsOf(f.Text, f.Ref)
	case f.State == Unknown:
		visible = false
		r.missed("ovpn_env.sh decides about NAT, and "+f.Why, f.Ref, aspectMasquerade)
	}
	get := func(key string) value {
		if v, has := vars[key]; has {
			return v
		}
		return r.c.env(key)
	}
	if v := get("OVPN_SERVER"); v.State == Present {
		if pool := prefixList(v, ""); len(pool) > 0 {
			t.Pool = pool
		}
	}
	r.openVPN("/etc/openvpn/*.conf")
	route, nat := get("OVPN_DEFROUTE"), get("OVPN_NAT")
	switch {
	case !visible || route.State == Unknown || nat.State == Unknown:
		t.Masquerade.State = Unknown
		if visible {
			r.missed("OVPN_DEFROUTE and OVPN_NAT are not known", t.ContainerRef, aspectMasquerade)
		}
	case nat.Text == "1":
		t.Masquerade = Switch{State: Present, Ref: nat.Ref, Why: "OVPN_NAT=1"}
	case route.Text == "0":
		t.Masquerade = Switch{State: Absent, Ref: route.Ref, Why: "OVPN_DEFROUTE=0 without OVPN_NAT=1"}
	case route.State == Present:
		t.Masquerade = Switch{State: Present, Ref: route.Ref, Why: "OVPN_DEFROUTE=" + clip(route.Text)}
	default:
		t.Masquerade = Switch{State: Present, Ref: t.ContainerRef, Why: "OVPN_DEFROUTE is 1 by default"}
	}
}

// openVPNGlobs are the places where images look for an OpenVPN configuration.
func openVPNGlobs() []string {
	return []string{
		"/etc/openvpn/**/*.conf", "/etc/openvpn/**/*.ovpn", "/vpn/*.conf", "/vpn/*.ovpn", "/data/vpn/*.conf", "/data/vpn/*.ovpn",
		"/config/*.conf", "/config/*.ovpn", "/config/openvpn/*.ovpn", "/config/openvpn/*.conf",
	}
}

// dperson's start script always asks for the default route, keeps replies, and
// has options for all the rest (FG C4).
func (r *tunnelReader) dperson() {
	t := r.t
	t.Side = "client"
	options := r.getopts("cfamoRrvVp")
	for _, o := range options {
		switch o.flag {
		case 'r', 'R':
			k := images.Key{KeyPrefix: "ROUTE"}
			if t.Bypass.State == Absent {
				t.Bypass.Ref = o.at.Ref
			}
			if o.at.State == Unknown {
				t.Bypass.State = Unknown
				r.missed("-"+string(o.flag)+": "+o.at.Why, o.at.Ref, aspectBypass)
				continue
			}
			r.exemptionList(k, "-"+string(o.flag), o.at)
		case 'f':
			t.KillSwitch = Switch{State: Present, Ref: o.at.Ref, Why: "-f"}
		case 'd':
			t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Present, o.at.Ref, "-d"
		case 'D':
			t.Routes = Routes{State: Unknown, Ref: o.at.Ref}
		}
	}
	if t.Resolver.Rewrites != Present {
		switch dns := r.c.env("DNS"); {
		case dns.State == Present && r.namesEnv("DNS"):
			t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Present, dns.Ref, "DNS"
		case dns.State == Absent:
			t.Resolver.Rewrites, t.Resolver.Why = Absent, "neither DNS nor -d"
		default:
			r.missed("DNS: "+dns.Why, dns.Ref, aspectResolver)
		}
	}
	if v := r.c.env("DEFAULT_GATEWAY"); v.State == Present && isOff(v.Text) {
		t.Routes = Routes{State: Unknown, Ref: v.Ref}
	}
	if t.KillSwitch.State == Absent {
		if f := r.c.file("/vpn/.firewall"); f.State == Unknown {
			t.KillSwitch.State = Unknown
			r.missed("the file .firewall turns the kill switch on, and "+f.Why, f.Ref, aspectKillSwitch)
		} else if f.Path != "" && f.State == Present {
			t.KillSwitch = Switch{State: Present, Ref: f.Ref, Why: "/vpn/.firewall"}
		}
	}
	t.Masquerade = Switch{State: t.KillSwitch.State, Ref: t.KillSwitch.Ref, Why: "with the firewall"}
	r.openVPN("/vpn/*.conf", "/vpn/*.ovpn")
}

// option is a flag of a getopts command line.
type option struct {
	flag byte
	at   value
}

// getopts reads the container's arguments as getopts would; withValue are the
// flags that take one.
func (r *tunnelReader) getopts(withValue string) []option {
	words, _ := r.c.argv()
	var out []option
	for i := 0; i < len(words); i++ {
		text := words[i].Text
		if len(text) < 2 || text[0] != '-' || text[1] == '-' {
			continue
		}
		for j := 1; j < len(text); j++ {
			if !strings.ContainsRune(withValue, rune(text[j])) {
				out = append(out, option{text[j], words[i].value})
				continue
			}
			v := words[i].value
			switch {
			case j+1 < len(text):
				v.Text, v.Moved = strings.TrimSpace(text[j+1:]), true
			case i+1 < len(words):
				i++
				v = words[i].value
			default:
				v.Text, v.Moved = "", true
			}
			out = append(out, option{text[j], v})
			break
		}
	}
	return out
}

// wfg: the kill switch is a route-up script, so nothing is blocked before the
// first connection (FG C4); the list of allowed subnets is its.
func (r *tunnelReader) wfg() {
	t := r.t
	t.Side = "client"
	if t.KillSwitch.State == Present {
		t.KillSwitch.Why += ", from the first connection on"
	}
	if t.KillSwitch.State == Absent && t.Bypass.State == Present {
		t.Bypass.State = Unknown
		r.missed("the allowed subnets are used by the kill switch, which is off", t.Bypass.Ref, aspectBypass)
	}
	globs := []string{"/data/vpn/*.conf", "/data/vpn/*.ovpn"}
	if name := r.c.env("CONFIG_FILE"); name.State == Present && name.Text != "" && !strings.Contains(name.Text, "*") {
		globs = []string{"/data/vpn/" + strings.TrimPrefix(name.Text, "/")}
	}
	r.openVPN(globs...)
}

// haugene: the provider's configuration lies in the image; the options may
// still take its default route away.
func (r *tunnelReader) haugene() {
	t := r.t
	t.Interface = "tun0"
	var servers []string
	for _, v := range r.c.envWithPrefix("OVERRIDE_DNS") {
		if v.State == Present {
			servers = append(servers, addressList(v.value)...)
			t.Resolver.Ref, t.Resolver.Why = v.Ref, v.Name+"="+clip(v.Text)
		}
	}
	t.Resolver.Servers = servers
	if opts := r.c.env("OPENVPN_OPTS"); opts.State != Absent && r.namesEnv("OPENVPN_OPTS") {
		if opts.State == Unknown || strings.Contains(opts.Text, "pull-filter") || strings.Contains(opts.Text, "route-nopull") {
			r.unknownRoutes("OPENVPN_OPTS changes which routes are taken", opts.Ref)
		}
	}
}

// downloader are binhex's and dyonr's images: client and application in one.
func (r *tunnelReader) downloader() {
	t := r.t
	for _, key := range []string{"VPN_CLIENT", "VPN_TYPE"} {
		if v := r.c.env(key); v.State == Present && strings.EqualFold(v.Text, "wireguard") {
			t.Kind, t.Interface = "wireguard", "wg0"
			t.Routes.FwMark = true // wg-quick; the image wants the mark (FG C0)
		}
	}
	if t.Interface == "" {
		t.Interface = "tun0"
	}
	enabled := r.c.env("VPN_ENABLED")
	if enabled.State == Present && isOff(enabled.Text) {
		t.Routes = Routes{State: Absent, Ref: enabled.Ref, Why: "VPN_ENABLED=" + clip(enabled.Text)}
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, enabled.Ref, "the VPN is off"
		return
	}
	if r.family.ID == "binhex-vpn" {
		r.resolverServers("NAME_SERVERS", "1.1.1.1", "1.0.0.1")
		return
	}
	r.resolverServers("NAME_SERVERS")
}

// netbird: the management server decides about routes; netstack mode leaves the
// pod alone (FG C7).
func (r *tunnelReader) netbird() {
	t := r.t
	t.Interface = "wt0"
	rootless := strings.Contains(r.c.image.Tag, "rootless")
	netstack := r.c.env("NB_USE_NETSTACK_MODE")
	if netstack.State == Present && isOn(netstack.Text) || netstack.State == Absent && rootless {
		t.UserSpace = Present
		r.takesNothing("netstack mode")
		t.Resolver.Rewrites, t.Resolver.Why = Absent, "netstack mode"
		return
	}
	r.unknownRoutes("its routes are managed on NetBird's server, not in the tree", t.ContainerRef)
	switch dns := r.c.env("NB_DISABLE_DNS"); {
	case dns.State == Present && isOn(dns.Text), dns.State == Absent && rootless:
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, dns.Ref, "NB_DISABLE_DNS"
	default:
		// It hands on what its own zones do not hold.
		t.Resolver.ReachesCluster = Unknown
	}
}
