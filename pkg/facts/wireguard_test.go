package facts

import (
	"strings"
	"testing"
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
