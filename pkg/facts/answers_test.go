package facts

import (
	"strings"
	"testing"
)

func prefixTexts(list []PrefixAt) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Prefix)
	}
	return strings.Join(out, " ")
}

func TestNetworksNamedBesideADefaultRoute(t *testing.T) {
	for name, tc := range map[string]struct{ conf, want string }{
		"a network":            {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 10.60.0.0/16, 0.0.0.0/0", "10.60.0.0/16"},
		"two halves":           {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 0.0.0.0/1, 128.0.0.0/1, 192.168.40.0/24", "192.168.40.0/24"},
		"the tunnel's own":     {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 10.99.0.0/24, 0.0.0.0/0", ""},
		"the resolver":         {"Address = 10.99.0.2/32\nDNS = 10.64.0.1\n[Peer]\nAllowedIPs = 10.64.0.1/32, 0.0.0.0/0", ""},
		"no default":           {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 10.60.0.0/16", ""},
		"the other family":     {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = fd00:60::/48, 0.0.0.0/0", ""},
		"public":               {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 203.0.113.0/24, 0.0.0.0/0", ""},
		"filled in when built": {"Address = 10.99.0.2/32\n[Peer]\nAllowedIPs = 10.60.0.0/16, ${ALL}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, pod(`
      containers:
      - {name: wg, image: "lscr.io/linuxserver/wireguard:1.0.20250521", volumeMounts: [{name: c, mountPath: /config/wg_confs}]}
      - {name: app, image: app}
      volumes: [{name: c, secret: {secretName: wg}}]`)+`
---
apiVersion: v1
kind: Secret
metadata: {name: wg, namespace: jobs}
stringData:
  wg0.conf: |
    [Interface]
    PrivateKey = x
    `+strings.ReplaceAll(strings.Replace(tc.conf, "[Peer]", "[Peer]\nPublicKey = y\nEndpoint = 198.51.100.7:51820", 1), "\n", "\n    ")+"\n")
			if got := prefixTexts(s.tunnel(t).Routes.Named); got != tc.want {
				t.Errorf("named %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPeersOfVariables(t *testing.T) {
	s := look(t, pod(`
      containers:
      - name: wg
        image: lscr.io/linuxserver/wireguard:1.0.20250521
        env:
        - {name: PEERS, value: "anna,konrad"}
        - {name: SERVER_ALLOWEDIPS_PEER_anna, value: 10.61.0.0/24}
        - {name: SERVER_ALLOWEDIPS_PEER_konrad, value: 10.61.0.0/24}`))
	peers := s.tunnel(t).Peers
	if len(peers) != 2 || peers[0].Interface != peers[1].Interface || peers[0].PublicKey == peers[1].PublicKey {
		t.Fatalf("peers %+v", peers)
	}
	if got := s.at(t, peers[1].AllowedIPs[0].Ref); got != "10.61.0.0/24" {
		t.Errorf("the second peer's entry is at %q", got)
	}
}

func TestTableOfPeers(t *testing.T) {
	for conf, want := range map[string]string{"": "auto", "Table = off\n": "off", "Table = 1234\n": "1234"} {
		s := look(t, pod(`
      containers: [{name: wg, image: masipcat/wireguard-go, volumeMounts: [{name: c, mountPath: /etc/wireguard}]}]
      volumes: [{name: c, configMap: {name: wg}}]`)+`
---
apiVersion: v1
kind: ConfigMap
metadata: {name: wg, namespace: jobs}
data:
  wg0.conf: |
    [Interface]
    PrivateKey = x
    ListenPort = 51820
    `+conf+`
    [Peer]
    PublicKey = y
    AllowedIPs = 0.0.0.0/0
`)
		if peers := s.tunnel(t).Peers; len(peers) != 1 || peers[0].Table != want || peers[0].PublicKey != "y" {
			t.Errorf("%q: peers %+v", conf, peers)
		}
	}
}

func TestResolversWithoutARoute(t *testing.T) {
	for name, tc := range map[string]struct{ conf, want string }{
		"in the service range":   {`push "dhcp-option DNS 10.96.0.10"`, "10.96.0.10/32 in 10.96.0.0/12"},
		"routed":                 {"push \"route 10.96.0.0 255.240.0.0\"\npush \"dhcp-option DNS 10.96.0.10\"", ""},
		"a full tunnel":          {"push \"redirect-gateway def1\"\npush \"dhcp-option DNS 10.96.0.10\"", ""},
		"in the pool":            {`push "dhcp-option DNS 10.91.0.1"`, ""},
		"public":                 {`push "dhcp-option DNS 1.1.1.1"`, ""},
		"another private one":    {`push "dhcp-option DNS 192.168.40.53"`, "192.168.40.53/32"},
		"a route filled in":      {"push \"route NETWORK NETMASK\"\npush \"dhcp-option DNS 10.96.0.10\"", ""},
		"routes of single users": {"client-config-dir /etc/openvpn/ccd\npush \"dhcp-option DNS 10.96.0.10\"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, pod(`
      containers: [{name: vpn, image: "kylemanna/openvpn:2.4", volumeMounts: [{name: c, mountPath: /etc/openvpn}]}]
      volumes: [{name: c, configMap: {name: vpn}}]`)+`
---
apiVersion: v1
kind: ConfigMap
metadata: {name: vpn, namespace: jobs}
data:
  openvpn.conf: |
    server 10.91.0.0 255.255.255.0
    dev tun0
    `+strings.ReplaceAll(tc.conf, "\n", "\n    ")+"\n", lab())
			got := ""
			for _, u := range s.tunnel(t).Clients.Unreached {
				got += u.Resolver.Prefix
				for _, r := range u.Within {
					got += " in " + r.Prefix
				}
			}
			if got != tc.want {
				t.Errorf("unreached %q, want %q", got, tc.want)
			}
		})
	}
}
