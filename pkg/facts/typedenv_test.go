package facts

import (
	"fmt"
	"strings"
	"testing"
)

// A value that its image refuses decides nothing, and stands in a gap.
func TestRefusedVariables(t *testing.T) {
	for _, tt := range []struct{ image, env, why string }{
		{"qmcgaw/gluetun:v3.40.0", "DNS_KEEP_NAMESERVER=maybe", `DNS_KEEP_NAMESERVER: "maybe" is neither on nor off`},
		{"qmcgaw/gluetun:v3.38.0", "FIREWALL=onn", `FIREWALL: "onn" is neither`},
		{"qmcgaw/gluetun:v3.41.0", "DNS_SERVER=1", `DNS_SERVER: "1" is neither`},
		{"qmcgaw/gluetun", "VPN_TYPE=wiregard", `VPN_TYPE: "wiregard" is none of`},
		{"qmcgaw/gluetun:v3.40.0", "DNS_ADDRESS=10.0.0.300", `"10.0.0.300" is no address`},
		{"qmcgaw/gluetun:v3.40.0", "FIREWALL_INPUT_PORTS=80,800000", `"800000" is no port`},
		{"qmcgaw/gluetun:v3.40.0", "WIREGUARD_MTU=14x0", `"14x0" is no number`},
		{"qmcgaw/gluetun:v3.40.0", "WIREGUARD_ADDRESSES=10.64.1.2/320", `"10.64.1.2/320" is no prefix`},
		{"qmcgaw/gluetun:v3.40.0", "HTTP_CONTROL_SERVER_ADDRESS=8000", `"8000" is no address with a port`},
		{"tailscale/tailscale:v1.80.0", "TS_USERSPACE=nope", `"nope" is neither true nor false, and the image takes its default`},
		{"tailscale/tailscale:v1.80.0", "TS_EXTRA_ARGS=--acept-routes", `"--acept-routes", --accept-routes is near`},
		{"tailscale/tailscale:v1.80.0", "TS_EXTRA_ARGS=--accept-dns=maybe", `--accept-dns: "maybe" is neither`},
		{"tailscale/tailscale:v1.80.0", "TS_EXTRA_ARGS=--exit-node=10.0.0.300", `--exit-node: "10.0.0.300" is no address`},
		{"qmcgaw/gluetun:v3.40.0", "WIREGUARD_ADDRESS=10.64.1.2/320", `"10.64.1.2/320" is no prefix`},
		{"place1/wg-access-server:v0.4.6", "WG_IPV4_NAT_ENABLED=maybe", `"maybe" is neither true nor false`},
		{"linuxserver/wireguard", "PEERS=1 INTERNAL_SUBNET=10.13.300.0", `INTERNAL_SUBNET: "10.13.300.0" is no network`},
		{"ghcr.io/bubuntux/nordlynx:2024-02-01", "ALLOWED_IPS=0.0.0.0/x", `"0.0.0.0/x" is no prefix`},
		{"qmcgaw/gluetun:v3.40.0", "DNS_KEEP_NAMESERVER=On FIREWALL_INPUT_PORTS=80, WIREGUARD_ALLOWED_IPS=10.0.0.0/8 VPN_TYPE=OpenVPN FIREWALL=onn", ""},
		{"qmcgaw/gluetun:v3.30.0", "DOT=1", ""},
		{"qmcgaw/gluetun:v3.40.0", "DOT=${DOT}", ""},
		{"tailscale/tailscale:v1.80.0", "TS_USERSPACE=F TS_EXTRA_ARGS=--accept-routes", ""},
		{"linuxserver/wireguard", "PEERS=1 INTERNAL_SUBNET=10.13.13.0/24", ""},
	} {
		t.Run(tt.image+" "+tt.env, func(t *testing.T) {
			f := look(t, "kind: Pod\napiVersion: v1\nmetadata: {name: vpn, namespace: edge}\nspec:\n  containers:\n    - name: vpn\n      image: "+tt.image+"\n      env:\n"+envOf(tt.env), lab())
			var refused []string
			for _, g := range f.gaps {
				if strings.Contains(g.Why, " is neither ") || strings.Contains(g.Why, " is n") {
					refused = append(refused, g.Why)
				}
			}
			if len(refused) != min(1, len(tt.why)) || tt.why != "" && !strings.Contains(refused[0], tt.why) {
				t.Errorf("gaps %q, want %q", refused, tt.why)
			}
		})
	}
}

func envOf(env string) string {
	var b strings.Builder
	for _, field := range strings.Fields(env) {
		name, value, _ := strings.Cut(field, "=")
		fmt.Fprintf(&b, "        - {name: %s, value: %q}\n", name, value)
	}
	return b.String()
}

// Ranges in lists of variables that readers refuse.
func TestRefusedListsOfVariables(t *testing.T) {
	for _, tt := range []struct{ image, env, want string }{
		{"linuxserver/wireguard", "PEERS=1 ALLOWEDIPS=10.0.0.0/8,10.0.0.0/99", "ALLOWEDIPS 10.0.0.0/99"},
		{"linuxserver/wireguard", "PEERS=1 SERVER_ALLOWEDIPS_PEER_1=10.0.0.0/99", "SERVER_ALLOWEDIPS_PEER_1 10.0.0.0/99"},
		{"place1/wg-access-server:v0.4.6", "WG_VPN_CIDR=10.44.0.0/240", "WG_VPN_CIDR 10.44.0.0/240"},
		{"ghcr.io/wg-easy/wg-easy:14", "WG_HOST=a.example WG_ALLOWED_IPS=10.0.0.0/8", ""},
	} {
		t.Run(tt.image+" "+tt.env, func(t *testing.T) {
			f := look(t, "kind: Pod\napiVersion: v1\nmetadata: {name: vpn, namespace: edge}\nspec:\n  containers:\n    - name: vpn\n      image: "+tt.image+"\n      env:\n"+envOf(tt.env), lab())
			got := ""
			for _, r := range f.invalid {
				got += r.Says + " " + r.Text
			}
			if got != tt.want {
				t.Errorf("refused %q, want %q", got, tt.want)
			}
		})
	}
}

// off and no are none of the words that the image knows: user space stays on.
func TestTailscaleReadsSwitchesAsGoDoes(t *testing.T) {
	for text, want := range map[string]Known{"false": Absent, "0": Absent, "off": Present, "no": Present, "true": Present} {
		f := look(t, "kind: Pod\napiVersion: v1\nmetadata: {name: vpn, namespace: edge}\nspec:\n  containers:\n    - name: vpn\n      image: tailscale/tailscale\n      env:\n"+envOf("TS_USERSPACE="+text), lab())
		if got := f.tunnel(t).UserSpace; got != want {
			t.Errorf("TS_USERSPACE=%s: %s, want %s", text, got, want)
		}
	}
}

func TestBrokenJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"TCP\": {\n    \"443\": {}\n}\n":        "{\n    \"443\"",
		"{\"Web\" {}}":                                 "{}}",
		"{\"Web\": {\"${TS_CERT_DOMAIN}:443\": {}}}\n": "",
		"{\"Web\": [":                                  "[",
	} {
		at, why := brokenJSON(text)
		if why == "" != (want == "") || !strings.HasPrefix(text[at:], want) {
			t.Errorf("%q: %q at %q, want at %q", text, why, text[at:], want)
		}
	}
}
