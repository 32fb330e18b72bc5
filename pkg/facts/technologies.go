package facts

import (
	"strings"
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
		r.ipsecClients()
	case "softether":
		r.t.UserSpace = Present
		r.t.Masquerade = Switch{State: Present, Ref: r.t.ContainerRef, Why: "SecureNAT translates in user space"}
	case "shadowsocks":
		r.t.UserSpace = Present
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

// openVPNGlobs are the places where images look for an OpenVPN configuration.
func openVPNGlobs() []string {
	return []string{
		"/etc/openvpn/**/*.conf", "/etc/openvpn/**/*.ovpn", "/vpn/*.conf", "/vpn/*.ovpn", "/data/vpn/*.conf", "/data/vpn/*.ovpn",
		"/config/*.conf", "/config/*.ovpn", "/config/openvpn/*.ovpn", "/config/openvpn/*.conf",
	}
}
