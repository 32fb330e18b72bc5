package facts

import (
	"slices"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

const ovpnHead = "client\ndev tun\nremote 198.51.100.20 1194\n"

func TestOpenVPNClient(t *testing.T) {
	for _, tc := range []struct {
		name, conf string
		state      Known
		isDefault  bool
		prefixes   string
		bypass     string
	}{
		{"redirect-gateway", "redirect-gateway def1", Present, true, "0.0.0.0/0", ""},
		{"redirect-gateway for IPv6 too", "redirect-gateway def1 ipv6", Present, true, "0.0.0.0/0 ::/0", ""},
		{"the server may push it", "", Unknown, false, "", ""},
		{"route-nopull", "route-nopull\nroute 10.60.0.0 255.255.0.0", Present, false, "10.60.0.0/16", ""},
		{"route-nopull alone takes nothing", "route-nopull", Absent, false, "", ""},
		{"redirect ignored, routes still pushed", `pull-filter ignore "redirect-gateway"`, Unknown, false, "", ""},
		{"both ignored", "pull-filter ignore \"redirect-gateway\"\npull-filter ignore \"route\"\nroute 10.60.0.0 255.255.0.0", Present, false, "10.60.0.0/16", ""},
		{"around the tunnel", "redirect-gateway def1\nroute 10.96.0.0 255.240.0.0 net_gateway", Present, true, "0.0.0.0/0", "10.96.0.0/12"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := look(t, mounted("registry.example.com/infra/openvpn-client:2.6", "/etc/openvpn", "client.conf", ovpnHead+tc.conf), lab())
			tun := s.tunnel(t)
			if tun.Side != "client" || tun.Routes.State != tc.state || tun.Routes.Default != tc.isDefault {
				t.Fatalf("%s, routes %+v", tun.Side, tun.Routes)
			}
			if got := prefixesOf(tun.Bypass.Entries); got != tc.bypass {
				t.Errorf("bypass %q, want %q", got, tc.bypass)
			}
			if tun.Resolver.Rewrites != Absent {
				t.Errorf("without an up script nothing writes the resolver: %+v", tun.Resolver)
			}
			if tc.state == Unknown {
				if len(s.gaps) != 1 {
					t.Errorf("gaps %+v", s.gaps)
				}
				return
			}
			if got := prefixesOf(tun.Routes.Prefixes); got != tc.prefixes {
				t.Errorf("prefixes %q, want %q", got, tc.prefixes)
			}
		})
	}
	s := look(t, mounted("registry.example.com/infra/openvpn-client:2.6", "/etc/openvpn", "client.conf", ovpnHead+"redirect-gateway def1"), lab())
	tun := s.tunnel(t)
	if s.at(t, tun.Routes.Ref) != "redirect-gateway def1" {
		t.Errorf("routes at %q", s.at(t, tun.Routes.Ref))
	}
	if got := tun.Captures[0].Suggestion; got != "route 10.96.0.0 255.240.0.0 net_gateway\nroute 10.244.0.0 255.255.0.0 net_gateway" {
		t.Errorf("suggestion %q", got)
	}
}

func TestOpenVPNOptionsOnTheCommandLine(t *testing.T) {
	s := look(t, mounted("registry.example.com/infra/openvpn-client:2.6", "/etc/openvpn", "client.conf", ovpnHead,
		"command: [openvpn, --config, /etc/openvpn/client.conf]", "args: [--redirect-gateway, def1, --route, 10.96.0.0, 255.240.0.0, net_gateway]"), lab())
	tun := s.tunnel(t)
	// Two sources of one client: the file does not redirect, the line does.
	if tun.Routes.State != Present || !tun.Routes.Default || prefixesOf(tun.Bypass.Entries) != "10.96.0.0/12" {
		t.Errorf("routes %+v, bypass %+v", tun.Routes, tun.Bypass)
	}
}

func TestChartPlaceholders(t *testing.T) {
	conf := "server 10.240.0.0 255.255.0.0\nverb 3\npush \"route NETWORK NETMASK\"\npush \"route 10.0.0.0 255.0.0.0\"\nOVPN_K8S_SEARCH\npush \"dhcp-option DNS OVPN_K8S_DNS\"\n"
	tun := look(t, mounted("jfelten/openvpn-docker:1.1.0", "/etc/openvpn/setup", "openvpn.conf", conf), lab()).tunnel(t)
	if tun.Side != "server" || prefixesOf(tun.Pool) != "10.240.0.0/16" || prefixesOf(tun.Clients.Routes) != "10.0.0.0/8" || len(tun.Clients.Resolvers) != 0 {
		t.Errorf("%s, pool %v, clients %+v", tun.Side, tun.Pool, tun.Clients)
	}
	if tun.Clients.State != Unknown {
		t.Errorf("some routes are filled in at start: %s", tun.Clients.State)
	}
}

// A server's configuration says which pool it gives out, be it readable or not:
// the image's default is not the pool then.
func TestOpenVPNPoolIsNotTheImages(t *testing.T) {
	for _, tt := range []struct{ name, server, pool, gap string }{
		{"its own", "server 10.77.0.0 255.255.255.0", "10.77.0.0/24", ""},
		{"refused", "server 10.77.0.0 255.255.255.300", "", ""},
		{"not readable", "server 10.77.0 255.255.255.0", "", "server 10.77.0 255.255.255.0 is no network and netmask of four numbers each; correct that line"},
		{"by its ends", "mode server\ntls-server\nifconfig-pool 10.77.0.10 10.77.0.20", "", ""},
		{"none", "mode server\ntls-server", "192.168.255.0/24 192.168.254.0/24", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, mounted("kylemanna/openvpn:2.4", "/etc/openvpn", "openvpn.conf", tt.server+"\ndev tun0\n")+"  ovpn_env.sh: |\n    declare -x OVPN_NAT=1\n", lab())
			if got := prefixesOf(s.tunnel(t).Pool); got != tt.pool {
				t.Errorf("pool %q, want %q", got, tt.pool)
			}
			said := slices.ContainsFunc(s.gaps, func(g finding.Gap) bool { return g.Why == tt.gap })
			if said != (tt.gap != "") {
				t.Errorf("gaps %+v, want %q", s.gaps, tt.gap)
			}
		})
	}
}
