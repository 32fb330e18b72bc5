package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

const wgHead = `[Interface]
PrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
Address = 10.2.0.2/32
`

const wgPeer = `
[Peer]
PublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=
Endpoint = 198.51.100.7:51820
AllowedIPs = `

func wgQuick(conf string) string {
	return mounted("ghcr.io/masipcat/wireguard-go-docker:0.0.20230223", "/etc/wireguard", "wg0.conf", conf)
}

func TestWireGuardRoutes(t *testing.T) {
	for _, tc := range []struct {
		name, hooks, allowed string
		state                Known
		isDefault, fwMark    bool
		prefixes             string
		bypass               string
		services             string // captured
	}{
		{
			name: "a default route", allowed: "0.0.0.0/0",
			state: Present, isDefault: true, fwMark: true, prefixes: "0.0.0.0/0", services: "10.96.0.0/12",
		},
		{
			name: "two halves are a default route without a mark", allowed: "0.0.0.0/1, 128.0.0.0/1",
			state: Present, isDefault: true, prefixes: "0.0.0.0/1 128.0.0.0/1", services: "10.96.0.0/12",
		},
		{
			name: "a split tunnel takes its own prefixes only", allowed: "10.60.0.0/16",
			state: Present, prefixes: "10.60.0.0/16",
		},
		{
			name: "a split tunnel may still reach into the services", allowed: "10.0.0.0/8",
			state: Present, prefixes: "10.0.0.0/8", services: "10.96.0.0/12",
		},
		{
			name: "Table = off takes nothing", hooks: "Table = off", allowed: "0.0.0.0/0", state: Absent,
		},
		{
			name: "Table = off and a route of a hook", hooks: "Table = off\nPostUp = ip route add 10.60.0.0/16 dev %i", allowed: "0.0.0.0/0",
			state: Present, prefixes: "10.60.0.0/16",
		},
		{
			name: "a table of its own that nothing looks into", hooks: "Table = 200", allowed: "0.0.0.0/0", state: Absent,
		},
		{
			name: "a table of its own with rules", hooks: "Table = 200\nPostUp = ip rule add from 10.2.0.2 table 200", allowed: "0.0.0.0/0", state: Unknown,
		},
		{
			name: "rules that look into the main table", hooks: "PostUp = ip rule add to 10.96.0.0/12 lookup main pref 100", allowed: "0.0.0.0/0",
			state: Present, isDefault: true, fwMark: true, prefixes: "0.0.0.0/0", bypass: "10.96.0.0/12",
		},
		{
			name: "such a rule finds the halves in the main table", hooks: "PostUp = ip rule add to 10.96.0.0/12 lookup main pref 100", allowed: "0.0.0.0/1, 128.0.0.0/1",
			state: Present, isDefault: true, prefixes: "0.0.0.0/1 128.0.0.0/1", services: "10.96.0.0/12",
		},
		{
			name: "a route by the old gateway", hooks: "PostUp = ip route add 10.96.0.0/12 via 10.244.0.1 dev eth0", allowed: "0.0.0.0/1, 128.0.0.0/1",
			state: Present, isDefault: true, prefixes: "0.0.0.0/1 128.0.0.0/1", bypass: "10.96.0.0/12",
		},
		{
			name: "a gateway known at run time only", hooks: `PreUp = ip route add 10.96.0.0/12 via $(ip route show default | awk '{print $3}') dev eth0`, allowed: "0.0.0.0/0",
			state: Present, isDefault: true, fwMark: true, prefixes: "0.0.0.0/0", bypass: "10.96.0.0/12",
		},
		{
			name: "everything but the private networks", allowed: "0.0.0.0/5, 8.0.0.0/7, 11.0.0.0/8, 12.0.0.0/6, 16.0.0.0/4, 32.0.0.0/3, 64.0.0.0/2, 128.0.0.0/3",
			state: Present, prefixes: "0.0.0.0/5 8.0.0.0/7 11.0.0.0/8 12.0.0.0/6 16.0.0.0/4 32.0.0.0/3 64.0.0.0/2 128.0.0.0/3",
		},
		{
			name: "an entry that is filled in later", allowed: "${ALLOWED}", state: Unknown,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hooks := tc.hooks
			if hooks != "" {
				hooks += "\n"
			}
			s := look(t, wgQuick(wgHead+hooks+wgPeer+tc.allowed), lab())
			tun := s.tunnel(t)
			if tun.Side != "client" || tun.Kind != "wireguard" || tun.Interface != "wg0" {
				t.Errorf("%s %s on %s", tun.Kind, tun.Side, tun.Interface)
			}
			if tun.Routes.State != tc.state {
				t.Fatalf("routes %+v, want %s", tun.Routes, tc.state)
			}
			if tc.state == Unknown {
				if len(tun.Captures) != 0 || len(s.gaps) != 1 {
					t.Errorf("captures %+v, gaps %+v", tun.Captures, s.gaps)
				}
				return
			}
			if tun.Routes.Default != tc.isDefault || tun.Routes.FwMark != tc.fwMark || prefixesOf(tun.Routes.Prefixes) != tc.prefixes {
				t.Errorf("routes %+v", tun.Routes)
			}
			if got := prefixesOf(tun.Bypass.Entries); got != tc.bypass {
				t.Errorf("bypass %q, want %q", got, tc.bypass)
			}
			if tc.state == Absent {
				return
			}
			if got := strings.Join(tun.Captures[0].Services, " "); got != tc.services {
				t.Errorf("captured services %q, want %q", got, tc.services)
			}
		})
	}
}

func TestWireGuardPlaces(t *testing.T) {
	conf := wgHead + "DNS = 10.2.0.1, example.org\nPostUp = ip rule add to 10.96.0.0/12 lookup main\n" + wgPeer + "10.60.0.0/16, 0.0.0.0/0"
	s := look(t, wgQuick(conf), lab())
	tun := s.tunnel(t)
	if got := s.at(t, tun.Routes.Ref); got != "0.0.0.0/0" {
		t.Errorf("routes at %q", got)
	}
	if got := s.at(t, tun.Bypass.Ref); got != "ip rule add to 10.96.0.0/12 lookup main" {
		t.Errorf("bypass at %q", got)
	}
	if got := s.at(t, tun.Resolver.Ref); got != "10.2.0.1" {
		t.Errorf("resolver at %q", got)
	}
	if got := strings.Join(tun.Resolver.Servers, " "); got != "10.2.0.1" || tun.Resolver.ReachesCluster != Absent {
		t.Errorf("resolver %+v", tun.Resolver)
	}
	if got := tun.Captures[0].Suggestion; got != "PostUp = ip rule add to 10.244.0.0/16 lookup main" {
		t.Errorf("suggestion %q", got)
	}
}

// A Secret's data is base64: the places are those of the decoded bytes.
func TestWireGuardInEnvironment(t *testing.T) {
	s := look(t, pod(`containers:
- name: vpn
  image: ghcr.io/masipcat/wireguard-go-docker:0.0.20230223
  env:
  - name: WG_CONF
    value: |
`+indent(wgHead+wgPeer+"0.0.0.0/0", 6)), lab())
	tun := s.tunnel(t)
	if tun.Routes.State != Present || s.at(t, tun.Routes.Ref) != "0.0.0.0/0" {
		t.Errorf("routes %+v", tun.Routes)
	}
}

func TestWireGuardHooks(t *testing.T) {
	for _, tc := range []struct {
		name, hooks, allowed string
		killSwitch           Known
	}{
		{"none", "", "0.0.0.0/0", Absent},
		{"the man page's", "PostUp = iptables -I OUTPUT ! -o %i -m mark ! --mark $(wg show %i fwmark) -m addrtype ! --dst-type LOCAL -j REJECT", "0.0.0.0/0", Present},
		{"drop what leaves by eth0", "PostUp = iptables -A OUTPUT -o eth0 -j DROP", "0.0.0.0/0", Present},
		{"policy", "PreUp = iptables -P OUTPUT DROP", "0.0.0.0/0", Present},
		{"for one port only", "PostUp = iptables -A OUTPUT -o eth0 -p tcp --dport 25 -j DROP", "0.0.0.0/0", Absent},
		{"split tunnel, its destinations", "PostUp = iptables -I OUTPUT -d 10.60.0.0/16 ! -o %i -j REJECT", "10.60.0.0/16", Present},
		{"split tunnel, half of its destinations", "PostUp = iptables -I OUTPUT -d 10.60.0.0/17 ! -o %i -j REJECT", "10.60.0.0/16", Absent},
		{"split tunnel, in two rules", "PostUp = iptables -I OUTPUT -d 10.60.0.0/17 ! -o %i -j REJECT\nPostUp = iptables -I OUTPUT -d 10.60.128.0/17 ! -o %i -j REJECT", "10.60.0.0/16", Present},
		{"a rule that is taken away", "PostUp = iptables -D OUTPUT ! -o %i -j REJECT", "0.0.0.0/0", Absent},
		{"in another network namespace", "PostUp = ip netns exec other iptables -A OUTPUT ! -o wg0 -j DROP", "0.0.0.0/0", Absent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, wgQuick(wgHead+tc.hooks+"\n"+wgPeer+tc.allowed), lab()).tunnel(t)
			if tun.KillSwitch.State != tc.killSwitch {
				t.Errorf("kill switch %+v, want %s", tun.KillSwitch, tc.killSwitch)
			}
		})
	}
}

func TestWireGuardServer(t *testing.T) {
	server := func(hooks, peers string) string {
		return wgQuick("[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = 10.77.0.1/24\nListenPort = 51820\n" + hooks + "\n" + peers)
	}
	peer := "[Peer]\nPublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\nAllowedIPs = "
	for _, tc := range []struct {
		name, hooks string
		masquerade  Known
	}{
		{"no NAT", "", Absent},
		{"by source", "PostUp = iptables -t nat -A POSTROUTING -s 10.77.0.0/24 -o eth0 -j MASQUERADE", Present},
		{"by interface", "PostUp = iptables -t nat -A POSTROUTING ! -o %i -j MASQUERADE", Present},
		{"SNAT", "PostUp = iptables -t nat -A POSTROUTING -o eth0 -j SNAT --to-source 10.244.1.7", Present},
		{"of another pool", "PostUp = iptables -t nat -A POSTROUTING -s 10.99.0.0/24 -j MASQUERADE", Absent},
		{"into the tunnel only", "PostUp = iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", Absent},
		{"in a script that cannot be seen", "PostUp = /opt/up.sh", Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, server(tc.hooks, peer+"10.77.0.2/32"), lab()).tunnel(t)
			if tun.Side != "server" || prefixesOf(tun.Pool) != "10.77.0.0/24" {
				t.Errorf("side %s, pool %v", tun.Side, tun.Pool)
			}
			if tun.Masquerade.State != tc.masquerade {
				t.Errorf("masquerade %+v, want %s", tun.Masquerade, tc.masquerade)
			}
		})
	}
	two := look(t, server("", peer+"10.77.0.2/32\n"+peer+"10.77.0.2/32")).tunnel(t)
	if len(two.Peers) != 2 || two.Peers[1].AllowedIPs[0].Prefix != "10.77.0.2/32" || two.Peers[0].Endpoint {
		t.Errorf("peers %+v", two.Peers)
	}
}

func TestUnseenConfiguration(t *testing.T) {
	s := look(t, pod(`volumes:
- {name: conf, secret: {secretName: tunnel}}
containers:
- name: vpn
  image: lscr.io/linuxserver/wireguard:1.0.20210914
  volumeMounts: [{name: conf, mountPath: /config/wg_confs}]`), lab())
	tun := s.tunnel(t)
	for what, state := range map[string]Known{
		"routes": tun.Routes.State, "bypass": tun.Bypass.State, "resolver": tun.Resolver.Rewrites,
		"kill switch": tun.KillSwitch.State, "masquerade": tun.Masquerade.State,
	} {
		if state != Unknown {
			t.Errorf("%s is %s although the Secret is not in the tree", what, state)
		}
	}
	if len(tun.Captures) != 0 {
		t.Errorf("captures %+v", tun.Captures)
	}
	if len(s.gaps) != 1 || !strings.Contains(s.gaps[0].Why, "Secret jobs/tunnel is not in the tree") {
		t.Fatalf("gaps %+v", s.gaps)
	}
	for _, rule := range []string{"VPN302", "VPN304", "VPN501"} {
		if !strings.Contains(strings.Join(s.gaps[0].Rules, " "), rule) {
			t.Errorf("the gap does not name %s: %+v", rule, s.gaps[0].Rules)
		}
	}
}

func TestCaptureByCNI(t *testing.T) {
	for _, tc := range []struct {
		cni     string
		pods    string
		certain bool
	}{
		{"", "10.244.0.0/16", false},
		{"flannel", "", true},
		{"calico", "10.244.0.0/16", true},
		{"cilium", "10.244.0.0/16", true},
	} {
		t.Run(tc.cni, func(t *testing.T) {
			c := lab(nodes("172.20.8.0/22"))
			c.CNI = tc.cni
			got := look(t, wgQuick(wgHead+wgPeer+"0.0.0.0/0"), c).tunnel(t).Captures[0]
			if strings.Join(got.Pods, " ") != tc.pods || got.PodsCertain != tc.certain {
				t.Errorf("pods %v, certain %v", got.Pods, got.PodsCertain)
			}
			if strings.Join(got.Services, " ") != "10.96.0.0/12" {
				t.Errorf("services %v: no CNI routes them", got.Services)
			}
			if strings.Join(got.Nodes, " ") != "172.20.8.0/22" {
				t.Errorf("nodes %v: the kubelet's probes are answered into the tunnel", got.Nodes)
			}
		})
	}
	// gluetun answers from the pod's address by the original gateway, and looks
	// into its own table before the main one.
	c := lab(nodes("172.20.8.0/22"))
	c.CNI = "flannel"
	got := look(t, container("qmcgaw/gluetun:v3.40.0"), c).tunnel(t).Captures[0]
	if len(got.Nodes) != 0 || len(got.Pods) != 1 {
		t.Errorf("gluetun: nodes %v, pods %v", got.Nodes, got.Pods)
	}
}

func TestHostNetworkHasNoCaptures(t *testing.T) {
	text := strings.Replace(container("qmcgaw/gluetun:v3.40.0"), "      containers:", "      hostNetwork: true\n      containers:", 1)
	if tun := look(t, text, lab()).tunnel(t); len(tun.Captures) != 0 {
		t.Errorf("captures %+v", tun.Captures)
	}
}

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

func TestDperson(t *testing.T) {
	for _, tc := range []struct {
		name       string
		env        []string
		args       string
		killSwitch Known
		bypass     string
		resolver   Known
		suggestion string
	}{
		{name: "defaults", killSwitch: Absent, resolver: Absent, suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
		{name: "FIREWALL set but empty", env: []string{"FIREWALL="}, killSwitch: Present, resolver: Absent, suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
		{name: "one variable a network", env: []string{"ROUTE=10.244.0.0/16", "ROUTE_2=10.96.0.0/12"}, killSwitch: Absent, resolver: Absent, bypass: "10.244.0.0/16 10.96.0.0/12"},
		{name: "flags", args: `["-f", "", "-d", "-r", "10.96.0.0/12", "-r", "10.244.0.0/16"]`, killSwitch: Present, resolver: Present, bypass: "10.96.0.0/12 10.244.0.0/16"},
		{name: "part of it", env: []string{"ROUTE=10.244.0.0/16"}, killSwitch: Absent, resolver: Absent, bypass: "10.244.0.0/16", suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := container("dperson/openvpn-client:latest", tc.env...)
			if tc.args != "" {
				text = strings.TrimRight(text, "\n") + "\n        args: " + tc.args + "\n"
			}
			tun := look(t, text, lab()).tunnel(t)
			if tun.KillSwitch.State != tc.killSwitch || tun.Resolver.Rewrites != tc.resolver || tun.RepliesKept != Present {
				t.Errorf("kill switch %+v, resolver %+v, replies %s", tun.KillSwitch, tun.Resolver, tun.RepliesKept)
			}
			if got := prefixesOf(tun.Bypass.Entries); got != tc.bypass {
				t.Errorf("bypass %q, want %q", got, tc.bypass)
			}
			if got := tun.Captures[0].Suggestion; got != tc.suggestion {
				t.Errorf("suggestion %q, want %q", got, tc.suggestion)
			}
		})
	}
}

// The kill switches of FG C0 and its traps in FG F.
func TestKillSwitchDefaults(t *testing.T) {
	for _, tc := range []struct {
		image string
		env   []string
		want  Known
	}{
		{"qmcgaw/gluetun:v3.41.0", nil, Present},
		{"binhex/arch-delugevpn:latest", nil, Present},
		{"binhex/arch-delugevpn:latest", []string{"VPN_ENABLED=no"}, Absent},
		{"dyonr/qbittorrentvpn:latest", nil, Present},
		{"ghcr.io/bubuntux/nordlynx:2024-02-01", nil, Present},
		{"thrnz/docker-wireguard-pia:latest", nil, Present},
		{"thrnz/docker-wireguard-pia:latest", []string{"FIREWALL=0"}, Absent},
		{"ghcr.io/wfg/openvpn-client:3.1.0", nil, Present},
		{"ghcr.io/wfg/openvpn-client:3.1.0", []string{"KILL_SWITCH=nope"}, Absent},
		{"haugene/transmission-openvpn:5.3", nil, Absent},
		{"haugene/transmission-openvpn:5.3", []string{"ENABLE_UFW=true"}, Present},
		{"dperson/openvpn-client:latest", nil, Absent},
		{"ghcr.io/tprasadtp/protonwire:7", nil, Absent},
		{"ghcr.io/tprasadtp/protonwire:7", []string{"KILL_SWITCH=1"}, Present},
		{"tailscale/tailscale:v1.80.0", nil, Absent},
	} {
		t.Run(tc.image+" "+strings.Join(tc.env, " "), func(t *testing.T) {
			if got := look(t, container(tc.image, tc.env...), lab()).tunnel(t).KillSwitch; got.State != tc.want {
				t.Errorf("kill switch %+v, want %s", got, tc.want)
			}
		})
	}
	conf := wgHead + wgPeer + "0.0.0.0/0"
	for _, tc := range []struct {
		name, image, env string
		want             Known
	}{
		{"jordanpotter: built in", "jordanpotter/wireguard:2.1.6", "", Present},
		{"k8s-at-home: off", "ghcr.io/k8s-at-home/wireguard:v1.0", "", Absent},
		{"k8s-at-home: on without a list installs nothing", "ghcr.io/k8s-at-home/wireguard:v1.0", `env: [{name: KILLSWITCH, value: "true"}]`, Absent},
		{"k8s-at-home: on with a list", "ghcr.io/k8s-at-home/wireguard:v1.0", `env: [{name: KILLSWITCH, value: "true"}, {name: KILLSWITCH_EXCLUDEDNETWORKS_IPV4, value: "10.96.0.0/12;10.244.0.0/16"}]`, Present},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, mounted(tc.image, "/etc/wireguard", "wg0.conf", conf, tc.env), lab()).tunnel(t)
			if tun.KillSwitch.State != tc.want {
				t.Errorf("kill switch %+v, want %s", tun.KillSwitch, tc.want)
			}
		})
	}
}

func TestServersTakeNothing(t *testing.T) {
	for _, tc := range []struct {
		name, image string
		env         []string
		pool        string
		masquerade  Known
		clients     string
	}{
		{"linuxserver: ALLOWEDIPS are the clients'", "lscr.io/linuxserver/wireguard:1.0.20210914", []string{"PEERS=3", "ALLOWEDIPS=0.0.0.0/0"}, "10.13.13.0/24", Present, "0.0.0.0/0"},
		{"linuxserver: another subnet", "lscr.io/linuxserver/wireguard:1.0.20210914", []string{"PEERS=phone", "INTERNAL_SUBNET=10.9.0.0"}, "10.9.0.0/24", Present, "0.0.0.0/0 ::/0"},
		{"wg-easy 14", "ghcr.io/wg-easy/wg-easy:14", []string{"WG_HOST=vpn.example.org", "WG_DEFAULT_ADDRESS=10.9.0.x"}, "10.9.0.0/24", Present, "0.0.0.0/0 ::/0"},
		{"wg-easy 14 with its rules replaced", "ghcr.io/wg-easy/wg-easy:14", []string{"WG_POST_UP=iptables -A FORWARD -i wg0 -j ACCEPT"}, "10.8.0.0/24", Absent, "0.0.0.0/0 ::/0"},
		{"wg-easy 14 with NAT in its own rules", "ghcr.io/wg-easy/wg-easy:14", []string{"WG_POST_UP=iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"}, "10.8.0.0/24", Present, "0.0.0.0/0 ::/0"},
		{"wg-easy 15 ignores WG_*", "ghcr.io/wg-easy/wg-easy:15", []string{"WG_DEFAULT_ADDRESS=10.9.0.x", "WG_POST_UP=true"}, "10.8.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112", Present, ""},
		{"wg-easy 15 with INIT_* but not enabled", "ghcr.io/wg-easy/wg-easy:15", []string{"INIT_IPV4_CIDR=10.9.0.0/24"}, "10.8.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112", Present, ""},
		{"wg-easy 15 seeded", "ghcr.io/wg-easy/wg-easy:15", []string{"INIT_ENABLED=true", "INIT_IPV4_CIDR=10.9.0.0/24", "INIT_ALLOWED_IPS=10.96.0.0/12"}, "10.9.0.0/24 fdcc:ad94:bacf:61a4::cafe:0/112", Present, "10.96.0.0/12"},
		{"wg-access-server without NAT", "place1/wg-access-server:v0.4.6", []string{"WG_IPV4_NAT_ENABLED=false"}, "10.44.0.0/24 fd48:4c4:7aa9::/64", Absent, "0.0.0.0/0 ::/0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, container(tc.image, tc.env...), lab()).tunnel(t)
			if tun.Side != "server" || tun.Routes.State != Absent || len(tun.Captures) != 0 {
				t.Errorf("%s, routes %+v, captures %+v", tun.Side, tun.Routes, tun.Captures)
			}
			if got := prefixesOf(tun.Pool); got != tc.pool {
				t.Errorf("pool %q, want %q", got, tc.pool)
			}
			if tun.Masquerade.State != tc.masquerade {
				t.Errorf("masquerade %+v, want %s", tun.Masquerade, tc.masquerade)
			}
			if got := prefixesOf(tun.Clients.Routes); got != tc.clients {
				t.Errorf("clients route %q, want %q", got, tc.clients)
			}
		})
	}
}

func TestLinuxserverClientHasNoPool(t *testing.T) {
	tun := look(t, mounted("lscr.io/linuxserver/wireguard:1.0.20210914", "/config/wg_confs", "wg0.conf", wgHead+wgPeer+"0.0.0.0/0",
		`env: [{name: INTERNAL_SUBNET, value: "10.244.0.0"}]`), lab()).tunnel(t)
	if tun.Side != "client" || len(tun.Pool) != 0 {
		t.Errorf("%s, pool %+v: INTERNAL_SUBNET counts with PEERS only", tun.Side, tun.Pool)
	}
}

func TestKylemanna(t *testing.T) {
	const conf = "server 10.77.0.0 255.255.255.0\ndev tun0\npush \"route 10.244.0.0 255.255.0.0\"\npush \"dhcp-option DNS 10.96.0.10\"\n"
	files := func(env string) string {
		return mounted("kylemanna/openvpn:2.4", "/etc/openvpn", "openvpn.conf", conf) + "  ovpn_env.sh: |\n" + indent(env, 4) + "\n"
	}
	for _, tc := range []struct {
		name, env  string
		masquerade Known
		at         string
	}{
		{"by default", "declare -x OVPN_SERVER=10.77.0.0/24", Present, ""},
		{"a NAT device alone does nothing", "declare -x OVPN_DEFROUTE=0\ndeclare -x OVPN_NATDEVICE=eth0", Absent, "0"},
		{"asked for", "declare -x OVPN_DEFROUTE=0\ndeclare -x OVPN_NAT=1", Present, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := look(t, files(tc.env), lab())
			tun := s.tunnel(t)
			if tun.Masquerade.State != tc.masquerade {
				t.Errorf("masquerade %+v, want %s", tun.Masquerade, tc.masquerade)
			}
			if tc.at != "" && s.at(t, tun.Masquerade.Ref) != tc.at {
				t.Errorf("masquerade at %q, want %q", s.at(t, tun.Masquerade.Ref), tc.at)
			}
			if prefixesOf(tun.Pool) != "10.77.0.0/24" || prefixesOf(tun.Clients.Routes) != "10.244.0.0/16" || prefixesOf(tun.Clients.Resolvers) != "10.96.0.10/32" {
				t.Errorf("pool %v, clients %+v", tun.Pool, tun.Clients)
			}
		})
	}
	claim := pod(`volumes: [{name: data, persistentVolumeClaim: {claimName: ovpn}}]
containers:
- {name: vpn, image: "kylemanna/openvpn:2.4", volumeMounts: [{name: data, mountPath: /etc/openvpn}]}`)
	s := look(t, claim, lab())
	if tun := s.tunnel(t); tun.Masquerade.State != Unknown || len(s.gaps) != 1 {
		t.Errorf("a volume hides ovpn_env.sh: masquerade %+v, gaps %+v", tun.Masquerade, s.gaps)
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

func TestTailscale(t *testing.T) {
	for _, tc := range []struct {
		name      string
		env       []string
		userSpace Known
		routes    Known
		isDefault bool
		resolver  Known
		nat       Known
	}{
		{"user space is the default", []string{"TS_ROUTES=10.244.0.0/16"}, Present, Absent, false, Absent, Present},
		{"advertised routes are no routes of the pod", []string{"TS_USERSPACE=false", "TS_ROUTES=10.244.0.0/16,10.96.0.0/12"}, Absent, Absent, false, Absent, Present},
		{"accepted routes are the tailnet's", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--accept-routes"}, Absent, Unknown, false, Absent, Present},
		{"not accepted", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--accept-routes=false"}, Absent, Absent, false, Absent, Present},
		{"exit node", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--exit-node=100.90.1.2"}, Absent, Present, true, Absent, Present},
		{"exit node in user space leaves the pod alone", []string{"TS_EXTRA_ARGS=--exit-node=100.90.1.2 --accept-dns"}, Present, Absent, false, Absent, Present},
		{"the flag wins over the variable", []string{"TS_USERSPACE=false", "TS_ACCEPT_DNS=false", "TS_EXTRA_ARGS=--accept-dns=true"}, Absent, Absent, false, Present, Present},
		{"no translation", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--snat-subnet-routes=false"}, Absent, Absent, false, Absent, Absent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, container("ghcr.io/tailscale/tailscale:v1.80.0", tc.env...), lab()).tunnel(t)
			if tun.UserSpace != tc.userSpace || tun.Routes.State != tc.routes || tun.Routes.Default != tc.isDefault {
				t.Errorf("user space %s, routes %+v", tun.UserSpace, tun.Routes)
			}
			if tun.Resolver.Rewrites != tc.resolver || tun.Masquerade.State != tc.nat {
				t.Errorf("resolver %+v, masquerade %+v", tun.Resolver, tun.Masquerade)
			}
		})
	}
}

func TestProtonwireLeavesPrivateNetworks(t *testing.T) {
	tun := look(t, container("ghcr.io/tprasadtp/protonwire:7"), lab()).tunnel(t)
	if got := tun.Captures[0]; len(got.Services)+len(got.Pods) != 0 {
		t.Errorf("captures %+v", got)
	}
	public := &Cluster{Name: "odd", Ranges: []RangeAt{{Role: cidrplan.Service, Prefix: "198.18.0.0/15", Strength: cidrplan.Declared}}}
	if got := look(t, container("ghcr.io/tprasadtp/protonwire:7"), public).tunnel(t).Captures[0]; len(got.Services) != 1 {
		t.Errorf("a public service range is taken: %+v", got)
	}
}

func TestPIA(t *testing.T) {
	tun := look(t, container("thrnz/docker-wireguard-pia:latest", "LOCAL_NETWORK=10.0.0.0/8"), lab()).tunnel(t)
	if got := strings.Join(tun.Resolver.Servers, " "); got != "10.0.0.243 10.0.0.242" || tun.Resolver.Rewrites != Present {
		t.Errorf("resolver %+v", tun.Resolver)
	}
	tun = look(t, container("thrnz/docker-wireguard-pia:latest", "VPNDNS=0"), lab()).tunnel(t)
	if tun.Resolver.Rewrites != Absent || tun.Resolver.ReachesCluster != Present {
		t.Errorf("resolver %+v", tun.Resolver)
	}
}

func TestPodGateway(t *testing.T) {
	const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: pod-gateway, namespace: vpn-gateway}
data:
  settings.sh: |
    VXLAN_IP_NETWORK="172.16.0"
    VPN_LOCAL_CIDRS="10.0.0.0/8"
    NOT_ROUTED_TO_GATEWAY_CIDRS="10.0.0.0/8"
`
	routed := func(namespace, labels string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: media, labels: {routed-gateway: \"" + namespace + "\"}}\n---\n" + settings + `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: player, namespace: media}
spec:
  template:
    metadata: {labels: {app: player` + labels + `}}
    spec:
      containers: [{name: player, image: "registry.example.com/demo/player:2.0"}]
`
	}
	s := look(t, routed("true", ""), lab(nodes("172.20.8.0/22")))
	tun := s.tunnel(t)
	if tun.Side != "client" || tun.KillSwitch.State != Present || tun.RepliesKept != Absent {
		t.Errorf("tunnel %+v", tun)
	}
	if s.pods[0].pod.Role != Sidecar {
		t.Errorf("role %s: the webhook adds a sidecar", s.pods[0].pod.Role)
	}
	if got := tun.Captures[0]; strings.Join(got.Nodes, " ") != "172.20.8.0/22" || got.Suggestion != `NOT_ROUTED_TO_GATEWAY_CIDRS="10.0.0.0/8 172.20.8.0/22"` {
		t.Errorf("capture %+v", got)
	}
	if got := s.at(t, tun.Bypass.Ref); got != "10.0.0.0/8" || !strings.Contains(string(tun.Bypass.Ref.Object), "ConfigMap/vpn-gateway") {
		t.Errorf("bypass at %q of %s", got, tun.Bypass.Ref.Object)
	}
	for name, text := range map[string]string{
		"a namespace that is not routed": routed("false", ""),
		"a pod that opts out":            routed("true", `, setGateway: "false"`),
	} {
		if pods := look(t, text, lab()).pods; len(pods[0].pod.Tunnels) != 0 || pods[0].pod.Role != None {
			t.Errorf("%s: tunnels %+v", name, pods[0].pod.Tunnels)
		}
	}
}

func TestPodGatewayItself(t *testing.T) {
	s := look(t, mounted("ghcr.io/angelnu/pod-gateway:v1.13.0", "/config", "settings.sh", "VXLAN_IP_NETWORK=\"172.19.4\"\nVPN_BLOCK_OTHER_TRAFFIC=false\n", `command: ["/bin/gateway_sidecar.sh"]`), lab())
	tun := s.tunnel(t)
	if tun.Side != "server" || tun.Routes.State != Absent || prefixesOf(tun.Pool) != "172.19.4.0/24" || tun.KillSwitch.State != Absent || tun.Masquerade.State != Present {
		t.Errorf("%+v", tun)
	}
}

func TestIPsec(t *testing.T) {
	for _, tc := range []struct {
		name, dir, key, conf string
		side                 string
		routes, local        string
		pool, clients        string
		state                Known
		bypass               string
	}{
		{
			name: "site to site", dir: "/etc", key: "ipsec.conf",
			conf: "config setup\n    uniqueids=no\n\nconn %default\n    leftsubnet=10.244.0.0/16\n\nconn site\n    right=198.51.100.9\n    rightsubnet=10.60.0.0/24, 10.61.0.0/24[tcp/443]\n",
			side: "server", routes: "10.60.0.0/24 10.61.0.0/24", local: "10.244.0.0/16", state: Present,
		},
		{
			name: "road warriors", dir: "/etc", key: "ipsec.conf",
			conf: "conn rw\n    leftsubnet=0.0.0.0/0\n    right=%any\n    rightsourceip=10.99.0.0/24\n",
			side: "server", pool: "10.99.0.0/24", clients: "0.0.0.0/0", state: Absent,
		},
		{
			name: "a client with a default route and a passthrough", dir: "/etc", key: "ipsec.conf",
			conf: "conn base\n    right=198.51.100.9\n    leftsourceip=%config\n\nconn out\n    also=base\n    rightsubnet=0.0.0.0/0\n\nconn lan\n    type=passthrough\n    rightsubnet=10.96.0.0/12\n",
			side: "client", routes: "0.0.0.0/0", state: Present, bypass: "10.96.0.0/12",
		},
		{
			name: "swanctl", dir: "/etc/swanctl/conf.d", key: "site.conf",
			conf: "connections {\n  site {\n    remote_addrs = 198.51.100.9\n    children {\n      net { # {comment}\n        local_ts = 10.244.0.0/16\n        remote_ts = 10.60.0.0/24\n      }\n    }\n  }\n}\n",
			side: "server", routes: "10.60.0.0/24", local: "10.244.0.0/16", state: Present,
		},
		{
			name: "a selector that is filled in later", dir: "/etc", key: "ipsec.conf",
			conf: "conn site\n    right=198.51.100.9\n    leftsubnet=10.244.0.0/16\n    rightsubnet=${REMOTE}\n",
			side: "server", local: "10.244.0.0/16", state: Unknown,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, mounted("docker.io/strongx509/strongswan:5.9.14", tc.dir, tc.key, tc.conf), lab()).tunnel(t)
			if tun.Side != tc.side || tun.Routes.State != tc.state {
				t.Errorf("%s, routes %+v", tun.Side, tun.Routes)
			}
			for what, pair := range map[string][2]string{
				"routes": {prefixesOf(tun.Routes.Prefixes), tc.routes}, "local": {prefixesOf(tun.Local), tc.local},
				"pool": {prefixesOf(tun.Pool), tc.pool}, "clients": {prefixesOf(tun.Clients.Routes), tc.clients},
				"bypass": {prefixesOf(tun.Bypass.Entries), tc.bypass},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s %q, want %q", what, pair[0], pair[1])
				}
			}
		})
	}
}

// An init container that writes routes works for all containers of the pod.
func TestRoutesOfOtherContainers(t *testing.T) {
	text := strings.Replace(wgQuick(wgHead+wgPeer+"0.0.0.0/0"), "      containers:", `      initContainers:
      - name: routes
        image: busybox:1.36
        command: [sh, -c, "for n in 10.96.0.0/12 10.244.0.0/16; do ip route add $n via $(ip route | awk '/default/ {print $3}'); done"]
        securityContext: {privileged: true}
      containers:`, 1)
	tun := look(t, text, lab()).tunnel(t)
	if got := prefixesOf(tun.Bypass.Entries); got != "10.96.0.0/12 10.244.0.0/16" || len(tun.Captures[0].Missing) != 0 {
		t.Errorf("bypass %q, captures %+v", got, tun.Captures)
	}
}

// Whatever stands in a manifest, reading it ends without a panic.
func TestHostileTunnels(t *testing.T) {
	for _, spec := range []string{
		"containers: null", "containers: [null, 1, {image: {}}]",
		"containers: [{name: vpn, image: qmcgaw/gluetun, env: {}}]",
		"containers: [{name: vpn, image: qmcgaw/gluetun, env: [{name: FIREWALL_OUTBOUND_SUBNETS, value: 1}, {name: 2}, null]}]",
		"hostNetwork: maybe\ncontainers: [{name: vpn, image: 'qmcgaw/gluetun:v3.40'}]",
		"containers: [{name: vpn, image: 'kylemanna/openvpn', volumeMounts: [{name: x, mountPath: /etc/openvpn}]}]",
		"containers: [{name: vpn, image: dperson/openvpn-client, args: ['-r', '-', '-', '-rfd', 7, '-R']}]",
		"containers: [{name: vpn, image: tailscale/tailscale, env: [{name: TS_EXTRA_ARGS, value: '-- --= -'}]}]",
	} {
		look(t, pod(spec), lab(), &Cluster{Ranges: []RangeAt{{Role: cidrplan.Service, Prefix: "nonsense"}}})
	}
	for _, conf := range []string{"", "conn", "conn a\n also=a\n also=b\nconn b\n also=a\n", "{{{{", "connections { a { children { b { local_ts = 1 } } } }", strings.Repeat("{", 5000)} {
		look(t, mounted("strongx509/strongswan:5", "/etc", "ipsec.conf", conf+" "), lab())
		look(t, mounted("strongx509/strongswan:5", "/etc/swanctl", "swanctl.conf", conf+" "), lab())
		look(t, wgQuick(conf+" "), lab())
	}
}
