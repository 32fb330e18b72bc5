package facts

import (
	"fmt"
	"strings"
	"testing"
)

// The clients of FG C4, row by row: what their variables keep out of the tunnel,
// whether their kill switch is on, and which resolver they write.
func TestClientsOfTheGuide(t *testing.T) {
	const nets = "10.244.0.0/16 10.96.0.0/12"
	for _, tt := range []struct {
		image, env string
		bypass     string // "?" where the list is refused or cannot be seen
		ks         Known
		dns        Known
		servers    string
	}{
		{"haugene/transmission-openvpn:5", "LOCAL_NETWORK=10.244.0.0/16,10.96.0.0/12", nets, Absent, Present, ""},
		{"haugene/transmission-openvpn:5", "LOCAL_NETWORK=10.244.0.0/16;ENABLE_UFW=true", "10.244.0.0/16", Present, Present, ""},
		{"haugene/transmission-openvpn:5", "OVERRIDE_DNS_1=10.96.0.10", "", Absent, Present, "10.96.0.10"},
		{"binhex/arch-delugevpn:1", "VPN_ENABLED=yes;LAN_NETWORK=10.244.0.0/16,10.96.0.0/12", nets, Present, Present, "1.1.1.1 1.0.0.1"},
		{"binhex/arch-delugevpn:1", "LAN_NETWORK=10.244.0.0/16;NAME_SERVERS=9.9.9.9", "10.244.0.0/16", Present, Present, "9.9.9.9"},
		{"binhex/arch-delugevpn:1", "VPN_ENABLED=no;LAN_NETWORK=10.244.0.0/16", "10.244.0.0/16", Absent, Absent, ""},
		{"dyonr/qbittorrentvpn:1", "LAN_NETWORK=10.244.0.0/16,10.96.0.0/12;NAME_SERVERS=9.9.9.9", nets, Present, Present, "9.9.9.9"},
		{"ghcr.io/bubuntux/nordlynx:1", "NET_LOCAL=10.244.0.0/16|10.96.0.0/12", nets, Present, Present, "103.86.96.100 103.86.99.100"},
		{"ghcr.io/bubuntux/nordlynx:1", "NET_LOCAL=10.244.0.0/16,10.96.0.0/12;DNS=9.9.9.9", nets, Present, Present, "9.9.9.9"},
		{"ghcr.io/bubuntux/nordlynx:1", "NETWORK=10.244.0.0/16", "10.244.0.0/16", Present, Present, "103.86.96.100 103.86.99.100"},
		{"bubuntux/nordvpn:1", "NET_LOCAL=10.244.0.0/16|10.96.0.0/12", nets, Present, Present, ""},
		{"thrnz/docker-wireguard-pia:1", "LOCAL_NETWORK=10.244.0.0/16,10.96.0.0/12", nets, Present, Present, "10.0.0.243 10.0.0.242"},
		{"thrnz/docker-wireguard-pia:1", "FIREWALL=0;VPNDNS=0", "", Absent, Absent, ""},
		{"thrnz/docker-wireguard-pia:1", "VPNDNS=9.9.9.9", "", Present, Present, "9.9.9.9"},
		{"ghcr.io/wfg/openvpn-client:3", "ALLOWED_SUBNETS=10.244.0.0/16,10.96.0.0/12", nets, Present, Unknown, ""},
		{"ghcr.io/wfg/openvpn-client:3", "KILL_SWITCH=enabled", "", Present, Unknown, ""},
		{"ghcr.io/wfg/openvpn-client:3", "KILL_SWITCH=iptables", "", Absent, Unknown, ""},
		{"dperson/openvpn-client:1", "ROUTE=10.244.0.0/16;ROUTE_2=10.96.0.0/12", nets, Absent, Absent, ""},
		{"dperson/openvpn-client:1", "ROUTE=10.244.0.0/16,10.96.0.0/12", "?", Absent, Absent, ""},
		{"dperson/openvpn-client:1", "DNS=true", "", Absent, Present, ""},
		{"ghcr.io/tprasadtp/protonwire:7", "KILL_SWITCH=1;SKIP_DNS_CONFIG=1", "", Present, Absent, ""},
		{"ghcr.io/tprasadtp/protonwire:7", "", "", Absent, Present, "10.2.0.1"},
	} {
		t.Run(tt.image+" "+tt.env, func(t *testing.T) {
			var env []string
			if tt.env != "" {
				env = strings.Split(tt.env, ";")
			}
			for i := range env {
				env[i] = strings.ReplaceAll(env[i], "|", ";")
			}
			tun := look(t, container(tt.image, env...), lab()).tunnel(t)
			bypass := prefixesOf(tun.Bypass.Entries)
			if tun.Bypass.State == Unknown {
				bypass = "?"
			}
			got := fmt.Sprint(bypass, " ks ", tun.KillSwitch.State, " dns ", tun.Resolver.Rewrites, " ", strings.Join(tun.Resolver.Servers, " "))
			if want := fmt.Sprint(tt.bypass, " ks ", tt.ks, " dns ", tt.dns, " ", tt.servers); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// WireGuard clients whose configuration stands in a file (FG C2, C4).
func TestWireGuardClientsOfTheGuide(t *testing.T) {
	for _, tt := range []struct {
		name, image, env string
		bypass           string
		ks               Known
		mark             string
	}{
		{"jordanpotter", "jordanpotter/wireguard:2", `{name: LOCAL_SUBNETS, value: "10.244.0.0/16,10.96.0.0/12"}`, "10.244.0.0/16 10.96.0.0/12", Present, "never"},
		{"k8s-at-home with its kill switch", "ghcr.io/k8s-at-home/wireguard:1", `{name: KILLSWITCH, value: "true"}, {name: KILLSWITCH_EXCLUDEDNETWORKS_IPV4, value: "10.244.0.0/16;10.96.0.0/12"}`, "10.244.0.0/16 10.96.0.0/12", Present, "unknown"},
		{"masipcat", "masipcat/wireguard-go:1", "", "", Absent, "upstream"},
		{"linuxserver", "lscr.io/linuxserver/wireguard:1", "", "", Absent, "when-unset"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := "/etc/wireguard"
			if tt.name == "linuxserver" {
				dir = "/config/wg_confs"
			}
			tun := look(t, mounted(tt.image, dir, "wg0.conf", wgHead+wgPeer+"0.0.0.0/0", "env: ["+tt.env+"]"), lab()).tunnel(t)
			if tun.Side != "client" || !tun.Routes.Default {
				t.Errorf("%s, routes %+v", tun.Side, tun.Routes)
			}
			if prefixesOf(tun.Bypass.Entries) != tt.bypass || tun.KillSwitch.State != tt.ks || tun.MarkWrite != tt.mark {
				t.Errorf("bypass %s, kill switch %+v, mark %s", prefixesOf(tun.Bypass.Entries), tun.KillSwitch, tun.MarkWrite)
			}
		})
	}
}

// The servers of FG C2 and C3 whose variables move the pool or the clients'
// routes and resolvers.
func TestServersOfTheGuide(t *testing.T) {
	for _, tt := range []struct{ image, env, pool, routes, resolvers string }{
		{"lscr.io/linuxserver/wireguard:1", "PEERS=2;INTERNAL_SUBNET=10.9.0.5;ALLOWEDIPS=10.244.0.0/16;PEERDNS=10.96.0.10", "10.9.0.0/24", "10.244.0.0/16", "10.96.0.10/32"},
		{"ghcr.io/wg-easy/wg-easy:14", "WG_DEFAULT_ADDRESS=10.9.0.x;WG_ALLOWED_IPS=10.244.0.0/16;WG_DEFAULT_DNS=10.96.0.10", "10.9.0.0/24", "10.244.0.0/16", "10.96.0.10/32"},
		{"ghcr.io/wg-easy/wg-easy:14", "A=b", "10.8.0.0/24", "0.0.0.0/0 ::/0", "1.1.1.1/32"},
		{"ghcr.io/wg-easy/wg-easy:15", "WG_DEFAULT_ADDRESS=10.9.0.x;WG_ALLOWED_IPS=10.244.0.0/16", "10.8.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112", "", ""},
		{"ghcr.io/wg-easy/wg-easy:15", "INIT_ENABLED=true;INIT_IPV4_CIDR=10.9.0.0/24;INIT_ALLOWED_IPS=10.244.0.0/16;INIT_DNS=10.96.0.10", "10.9.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112", "10.244.0.0/16", "10.96.0.10/32"},
		{"ghcr.io/wg-easy/wg-easy:15", "DISABLE_IPV6=true", "10.8.0.0/24", "", ""},
		{"ghcr.io/wg-easy/wg-easy", "WG_DEFAULT_ADDRESS=10.9.0.x", "10.9.0.0/24", "", ""},
		{"ghcr.io/wg-easy/wg-easy", "A=b", "10.8.0.0/24", "", ""},
		{"place1/wg-access-server:1", "WG_VPN_CIDR=10.9.0.0/24;WG_VPN_CIDRV6=0;WG_VPN_ALLOWED_IPS=10.244.0.0/16", "10.9.0.0/24", "10.244.0.0/16", ""},
		{"subspacecommunity/subspace:1", "SUBSPACE_IPV4_POOL=10.9.0.0/24;SUBSPACE_ALLOWED_IPS=10.244.0.0/16", "10.9.0.0/24", "10.244.0.0/16", ""},
		{"ptlange/openvpn:1", "OVPN_NETWORK=10.9.0.0/24", "10.9.0.0/24", "", ""},
		{"d3vilh/openvpn-server:1", "TRUST_SUB=10.9.0.0/24", "10.9.0.0/24 10.0.71.0/24", "", ""},
		{"hwdsl2/ipsec-vpn-server:1", "VPN_L2TP_NET=10.9.0.0/24;VPN_XAUTH_NET=10.9.1.0/24", "10.9.0.0/24 10.9.1.0/24 fddd:500:500:500::/64", "", ""},
		{"hwdsl2/ipsec-vpn-server:1", "VPN_SPLIT_IKEV2=10.244.0.0/16;VPN_DNS_SRV1=10.96.0.10;VPN_DNS_SRV2=1.1.1.1", "192.168.42.0/24 192.168.43.0/24 fddd:500:500:500::/64", "10.244.0.0/16", "10.96.0.10/32 1.1.1.1/32"},
		{"vimagick/strongswan", "VPN_NETWORK=10.9.0.0/24;VPN_DNS=10.96.0.10,1.1.1.1", "10.9.0.0/24", "0.0.0.0/0", "10.96.0.10/32 1.1.1.1/32"},
		{"vimagick/ocserv", "VPN_NETWORK=10.9.0.0;VPN_NETMASK=255.255.255.0", "10.9.0.0/24", "", ""},
		{"ngoduykhanh/wireguard-ui:1", "WGUI_MANAGE_START=true;WGUI_SERVER_INTERFACE_ADDRESSES=10.9.0.0/24", "10.9.0.0/24", "", ""},
	} {
		t.Run(tt.image+" "+tt.env, func(t *testing.T) {
			tun := look(t, container(tt.image, strings.Split(tt.env, ";")...), lab()).tunnel(t)
			routes, resolvers := prefixesOf(tun.Clients.Routes), prefixesOf(tun.Clients.Resolvers)
			if prefixesOf(tun.Pool) != tt.pool || tt.routes != "" && routes != tt.routes || tt.resolvers != "" && resolvers != tt.resolvers {
				t.Errorf("pool %q, clients' routes %q, resolvers %q", prefixesOf(tun.Pool), routes, resolvers)
			}
			if tun.Routes.Default {
				t.Errorf("a server takes the default route: %+v", tun.Routes)
			}
		})
	}
}
