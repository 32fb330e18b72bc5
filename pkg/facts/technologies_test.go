package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

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
