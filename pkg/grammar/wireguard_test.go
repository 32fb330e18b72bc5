package grammar

import (
	"fmt"
	"strings"
	"testing"
)

const wgClient = `# provider
[Interface]
PrivateKey = redacted
Address = 10.2.0.2/32, fd00::2/128
DNS = 10.2.0.1, corp.example.com
MTU = 1420
PostUp = ip route add 10.96.0.0/12 via $(ip route | awk '/default/ {print $3}') dev eth0 # cluster
PostUp = iptables -I OUTPUT ! -o %i -j REJECT
PreDown = true

[Peer]
PublicKey = redacted
PresharedKey = redacted
AllowedIPs = 0.0.0.0/0, ::/0
Endpoint = vpn.example.com:51820
PersistentKeepalive = 25
`

const wgServer = `[Interface]
Address = 10.8.0.1/24
ListenPort = 51820
SaveConfig = false
Table = off
FwMark = 0xca6c

[Peer]
PublicKey = a
AllowedIPs = 10.8.0.2/32

[Peer]
PublicKey = b
AllowedIPs = 10.8.0.3, 192.168.50.7/24
PersistentKeepalive = off
`

func words(ws []Word) string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = w.Text
	}
	return strings.Join(out, " | ")
}

func prefixes(ps []Prefix) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		switch {
		case p.Unknown:
			out[i] = "?" + p.Text
		case !p.Valid:
			out[i] = "!" + p.Text
		default:
			out[i] = p.Prefix.String()
		}
		if p.Sign != 0 {
			out[i] = string(p.Sign) + out[i]
		}
		if p.HostBits {
			out[i] += " (host bits)"
		}
		if p.Bare {
			out[i] += " (bare)"
		}
	}
	return strings.Join(out, " | ")
}

func problems(text string, ps []Problem) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = fmt.Sprintf("%s@%q", p.Kind, text[p.Start:p.End])
		if p.Fatal {
			out[i] += "!"
		}
	}
	return strings.Join(out, " ")
}

func TestWireGuardClient(t *testing.T) {
	c := ParseWireGuard(wgClient)
	if len(c.Problems) != 0 {
		t.Errorf("problems: %s", problems(wgClient, c.Problems))
	}
	in := c.Interface
	for _, x := range []struct{ name, got, want string }{
		{"address", prefixes(in.Address), "10.2.0.2/32 | fd00::2/128"},
		{"dns", words(in.DNS), "10.2.0.1 | corp.example.com"},
		{"mtu", in.MTU.Text, "1420"},
		{"a hook keeps its #", words(in.PostUp), "ip route add 10.96.0.0/12 via $(ip route | awk '/default/ {print $3}') dev eth0 # cluster | iptables -I OUTPUT ! -o %i -j REJECT"},
		{"pre down", words(in.PreDown), "true"},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, x.got, x.want)
		}
	}
	if len(c.Peers) != 1 {
		t.Fatalf("%d peers", len(c.Peers))
	}
	p := c.Peers[0]
	if got := prefixes(p.AllowedIPs); got != "0.0.0.0/0 | ::/0" {
		t.Errorf("allowed IPs %q", got)
	}
	if p.Endpoint.Text != "vpn.example.com:51820" || p.PersistentKeepalive.Text != "25" || in.ListenPort.Set() {
		t.Errorf("endpoint %q keepalive %q port %q", p.Endpoint.Text, p.PersistentKeepalive.Text, in.ListenPort.Text)
	}
	if got := wgClient[p.AllowedIPs[1].Start:p.AllowedIPs[1].End]; got != "::/0" {
		t.Errorf("the second entry points at %q", got)
	}
	if got := wgClient[p.AllowedIPsKey.Start:p.AllowedIPsKey.End]; got != "AllowedIPs" {
		t.Errorf("the key points at %q", got)
	}
}

func TestWireGuardServer(t *testing.T) {
	c := ParseWireGuard(wgServer)
	if got := problems(wgServer, c.Problems); got != `unaligned-prefix@"192.168.50.7/24"` {
		t.Errorf("problems: %s", got)
	}
	if len(c.Peers) != 2 || c.Interface.ListenPort.Text != "51820" || c.Interface.Table.Text != "off" {
		t.Fatalf("%d peers, port %q, table %q", len(c.Peers), c.Interface.ListenPort.Text, c.Interface.Table.Text)
	}
	if got := prefixes(c.Peers[1].AllowedIPs); got != "10.8.0.3/32 (bare) | 192.168.50.0/24 (host bits)" {
		t.Errorf("allowed IPs %q", got)
	}
	if got := wgServer[c.Peers[1].Start:c.Peers[1].End]; !strings.HasPrefix(got, "[Peer]\nPublicKey = b") || !strings.HasSuffix(got, "= off") {
		t.Errorf("the second peer is %q", got)
	}
}

func TestWireGuardOddities(t *testing.T) {
	tests := []struct{ name, text, wantProblems string }{
		{"case does not matter", "[INTERFACE]\naddress=10.0.0.1/24\n[peer]\nPUBLICKEY=a\nallowedips=10.0.0.0/8\n", ""},
		{"CRLF", "[Interface]\r\nAddress = 10.0.0.1/24\r\n", ""},
		{"a comment behind a value", "[Interface]\nListenPort = 51820 # default\n", ""},
		{"unknown key", "[Interface]\nAdress = 10.0.0.1/24\n", `unknown-key@"Adress"!`},
		{"keys of AmneziaWG", "[Interface]\nJc = 4\nS1 = 15\nH1 = 1\n", `unknown-key@"Jc" unknown-key@"S1" unknown-key@"H1"`},
		{"a wg-quick key in a peer", "[Peer]\nPublicKey = a\nMTU = 1400\n", `unknown-key@"MTU"!`},
		{"unknown section", "[Interfaces]\nAddress = 1\n", `unknown-key@"[Interfaces]"!`},
		{"text before a section", "Address = 10.0.0.1/24\n", `syntax@"Address = 10.0.0.1/24"!`},
		{"text without =", "[Interface]\nup\n", `syntax@"up"!`},
		{"bad prefix", "[Peer]\nPublicKey=a\nAllowedIPs = 10.0.0.0/33\n", `malformed-prefix@"10.0.0.0/33"!`},
		{"a space is no separator of AllowedIPs", "[Peer]\nPublicKey=a\nAllowedIPs = 10.0.0.0/8 10.1.0.0/16\n", `malformed-prefix@"10.0.0.0/8 10.1.0.0/16"!`},
		{"but of Address", "[Interface]\nAddress = 10.0.0.1/24 fd00::1/64\n", ""},
		{"port out of range", "[Interface]\nListenPort = 70000\n", `bad-value@"70000"!`},
		{"endpoint without port", "[Peer]\nPublicKey=a\nEndpoint = vpn.example.com\n", `bad-value@"vpn.example.com"!`},
		{"IPv6 endpoint", "[Peer]\nPublicKey=a\nEndpoint = [2001:db8::1]:51820\n", ""},
		{"IPv6 endpoint without brackets", "[Peer]\nPublicKey=a\nEndpoint = 2001:db8::1:51820\n", `bad-value@"2001:db8::1:51820"!`},
		{"words in capitals", "[Peer]\nPublicKey = a\nEndpoint = REPLACE_ME\nPersistentKeepalive = XX\n", `placeholder@"REPLACE_ME" placeholder@"XX"`},
		{"a peer without a key", "[Peer]\nAllowedIPs = 10.0.0.0/8\n", `no-key@"[Peer]"!`},
		{"SaveConfig", "[Interface]\nSaveConfig = yes\n", `bad-value@"yes"!`},
		{"empty AllowedIPs", "[Peer]\nPublicKey = a\nAllowedIPs =\n", ""},
		{"placeholders", "[Interface]\nAddress = ${ADDR}\nListenPort = __PORT__\n[Peer]\nPublicKey = {{ .key }}\nAllowedIPs = 10.0.0.0/8, <more nets>\n",
			`placeholder@"${ADDR}" placeholder@"__PORT__" placeholder@"<more nets>"`},
		{"template text", "[Interface]\n{{- range .peers }}\n{{- end }}\n", `placeholder@"{{- range .peers }}" placeholder@"{{- end }}"`},
		{"encrypted as a whole", "ENC[AES256_GCM,data:abc,iv:x,tag:y,type:str]", `placeholder@"ENC[AES256_GCM,data:abc,iv:x,tag:y,type:str]"`},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ParseWireGuard(tt.text)
			if got := problems(tt.text, c.Problems); got != tt.wantProblems {
				t.Errorf("problems: got %s, want %s", got, tt.wantProblems)
			}
		})
	}
}

func TestWireGuardSignedAllowedIPs(t *testing.T) {
	text := "[Peer]\nPublicKey = a\nAllowedIPs = 0.0.0.0/0, -10.0.0.0/8, +fd00::/8\n"
	p := ParseWireGuard(text).Peers[0]
	if got := prefixes(p.AllowedIPs); got != "0.0.0.0/0 | -10.0.0.0/8 | +fd00::/8" {
		t.Errorf("got %s", got)
	}
	if got := text[p.AllowedIPs[1].Start:p.AllowedIPs[1].End]; got != "-10.0.0.0/8" {
		t.Errorf("the entry points at %q", got)
	}
}
