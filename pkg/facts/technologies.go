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
	if r.pastTheStart() {
		r.bareOpenVPN()
		return
	}
	switch r.family.ID {
	case "gluetun":
		r.gluetun()
	case "linuxserver-wireguard":
		r.linuxserver()
	case "wg-easy-v14", "wg-easy-v15":
		r.wgEasy()
	case "masipcat-wireguard-go", "cmulk-wireguard", "jordanpotter-wireguard", "boringtun", "wireguard-generic", "amneziawg":
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
	case "wg-access-server":
		r.wgAccessServer()
	case "subspace":
		r.subspace()
	case "wireguard-ui":
		r.wireGuardUI()
	case "kylemanna-openvpn":
		r.kylemanna()
	case "stable-openvpn", "sergelogvinov-openvpn", "kube-openvpn", "d3vilh-openvpn", "hwdsl2-openvpn":
		r.openVPN("/etc/openvpn/**/*.conf")
	case "openvpn-generic":
		r.openVPNGeneric()
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
	case "nebula":
		r.nebula()
	case "zerotier", "zerotier-router", "netmaker-netclient", "innernet":
		r.mesh()
	case "ocserv-generic":
		r.ocserv()
	case "openconnect-client":
		r.openConnect()
	case "openfortivpn":
		r.openFortiVPN()
	case "hotio":
		r.hotio()
	case "cloudflare-warp":
		r.warp()
	case "strongswan-vimagick", "strongswan-generic", "hwdsl2-ipsec":
		r.ipsec()
		r.ipsecClients()
	case "softether":
		r.softEther()
	case "shadowsocks":
		r.t.UserSpace = Present
	}
}
