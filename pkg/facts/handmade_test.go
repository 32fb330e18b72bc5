package facts

import (
	"strings"
	"testing"
)

// byHandPod is a pod whose first container runs a script over an image.
func byHandPod(image, script string) string {
	lines := "            " + strings.ReplaceAll(strings.TrimSpace(script), "\n", "\n            ")
	return `apiVersion: v1
kind: Pod
metadata: {name: vpn, namespace: edge}
spec:
  volumes: [{name: c, secret: {secretName: wg}}]
  containers:
    - name: vpn
      image: ` + image + `
      command: [sh, -ec]
      args:
        - |
` + lines + `
      securityContext: {capabilities: {add: [NET_ADMIN]}}
      volumeMounts: [{name: c, mountPath: /conf}]
---
apiVersion: v1
kind: Secret
metadata: {name: wg, namespace: edge}
stringData:
  wg0.conf: |
    [Interface]
    ListenPort = 51820
    [Peer]
    PublicKey = AAAA
    AllowedIPs = 10.8.0.2/32
  client.conf: |
    [Peer]
    PublicKey = AAAA
    AllowedIPs = 0.0.0.0/0
    Endpoint = 198.51.100.7:51820
`
}

// What ip and wg are told is the tunnel; AllowedIPs are no routes without wg-quick.
func TestByHand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		image, script      string
		side, iface        string
		routes             Known
		prefixes, pool     string
		bypass, addresses  string
		killSwitch, filter Known
	}{
		"a client": {
			"alpine:3.19", "ip link add wg0 type wireguard\nwg setconf wg0 /conf/client.conf\nip a add 10.64.1.2/32 dev wg0\nip route add 10.96.0.0/12 via 10.244.0.1\nip route add 0.0.0.0/1 dev wg0\nip route add 128.0.0.0/1 dev wg0\nsleep infinity",
			"client", "wg0", Present, "0.0.0.0/1 128.0.0.0/1", "", "10.96.0.0/12", "10.64.1.2/32", Present, Absent,
		},
		"a client without a route": {
			"alpine:3.19", "ip link add wg0 type wireguard\nwg setconf wg0 /conf/client.conf\nsleep infinity",
			"client", "wg0", Absent, "", "", "", "", Absent, Absent,
		},
		"a server by its file": {
			"alpine:3.19", "ip -4 link add name wg1 mtu 1380 type wireguard\nwg setconf wg1 /conf/wg0.conf\nip link set wg1 up\niptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE\nsleep infinity",
			"server", "wg1", Absent, "", "10.8.0.2/32", "", "", Absent, Present,
		},
		"a server by commands": {
			"alpine:3.19", "ip l add dev wg0 type wireguard\nip address add local 10.8.0.1/24 dev wg0\nwg set wg0 listen-port 51820 private-key /k peer AAAA allowed-ips 10.8.0.2/32,10.8.0.3/32\nsleep infinity",
			"server", "wg0", Absent, "", "10.8.0.0/24", "", "10.8.0.1/32", Absent, Absent,
		},
		"an image of WireGuard's, for its tools": {
			"masipcat/wireguard-go:latest", "wireguard-go wg0\nwg setconf wg0 /conf/client.conf\nip route add 10.200.0.0/16 dev wg0\nsleep infinity",
			"client", "wg0", Present, "10.200.0.0/16", "", "", "", Absent, Absent,
		},
		"a file that the script writes": {
			"alpine:3.19", "cat > /tmp/wg.conf <<EOF\n[Interface]\nListenPort = 51820\n[Peer]\nPublicKey = AAAA\nAllowedIPs = 10.8.0.7/32\nEOF\nip link add wg0 type wireguard\nwg setconf wg0 /tmp/wg.conf\nsleep infinity",
			"server", "wg0", Absent, "", "10.8.0.7/32", "", "", Absent, Absent,
		},
		"a configuration that is not in view": {
			"alpine:3.19", "ip link add wg0 type wireguard\nwg setconf wg0 /elsewhere/wg0.conf\nsleep infinity",
			"unknown", "wg0", Absent, "", "", "", "", Absent, Absent,
		},
		"a table of its own": {
			"alpine:3.19", "ip link add wg0 type wireguard\nwg setconf wg0 /conf/client.conf\nip route add default dev wg0 table 100\nip rule add fwmark 1 table 100\nsleep infinity",
			"client", "wg0", Unknown, "", "", "", "", Absent, Absent,
		},
		"an interface that is named at run time": {
			"alpine:3.19", "ip link add \"$IFACE\" type wireguard\nip route add default dev \"$IFACE\"\nsleep infinity",
			"unknown", "", Unknown, "", "", "", "", Absent, Absent,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := onlyPod(t, byHandPod(tt.image, tt.script))
			if len(p.Tunnels) != 1 {
				t.Fatalf("%d tunnels", len(p.Tunnels))
			}
			w := p.Tunnels[0]
			got := []string{
				w.Side, w.Interface, string(w.Routes.State), prefixWords(w.Routes.Prefixes), prefixWords(w.Pool), prefixWords(w.Bypass.Entries),
				prefixWords(w.Addresses), string(w.KillSwitch.State), string(w.Masquerade.State),
			}
			want := []string{
				tt.side, tt.iface, string(tt.routes), tt.prefixes, tt.pool, tt.bypass, tt.addresses, string(tt.killSwitch), string(tt.filter),
			}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// wg-quick, another network namespace and the preparation of keys make nothing by
// hand.
func TestNotByHand(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"wg-quick beside it":        "ip link add dummy0 type dummy\nwg-quick up /conf/client.conf",
		"another network namespace": "ip netns exec inner ip link add wg0 type wireguard\nip -n inner link add wg0 type wireguard\nsleep infinity",
		"moved there":               "ip link add wg0 type wireguard\nip link set dev wg0 netns inner\nsleep infinity",
		"a key":                     "wg genkey > /conf/key",
		"another kind of interface": "ip link add wg0 type vxlan id 7\nsleep infinity",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := onlyPod(t, byHandPod("alpine:3.19", script))
			for _, w := range p.Tunnels {
				if w.Bypass.Key == scriptBypass {
					t.Errorf("%+v", w)
				}
			}
		})
	}
}

func prefixWords(list []PrefixAt) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Prefix)
	}
	return strings.Join(out, " ")
}
