package grammar

import (
	"fmt"
	"strings"
	"testing"
)

const ovpnServer = `port 1194
proto udp
dev tun0
;user nobody
server 10.240.0.0 255.255.0.0
server-ipv6 fd00:8::/64
topology subnet
push "route 10.0.0.0 255.0.0.0"
push "route NETWORK NETMASK"
push "dhcp-option DNS 10.96.0.10"
push "redirect-gateway def1 bypass-dhcp"
client-config-dir /etc/openvpn/ccd
route 192.168.50.0 255.255.255.0
<ca>
-----BEGIN CERTIFICATE-----
server 1.2.3.4 255.0.0.0
</ca>
`

const ovpnClient = `client
dev tun
--remote vpn.example.com 1194 udp # main
<connection>
remote backup.example.com 443 tcp
</connection>
route-nopull
pull-filter ignore "redirect-gateway"
route 10.96.0.0 255.240.0.0 net_gateway
route 10.20.0.5
route-ipv6 fd00:20::/48
redirect-gateway def1 !ipv4 ipv6
up /etc/openvpn/update-resolv-conf
dhcp-option DNS 10.0.0.53
`

func routes(rs []Route) string {
	out := make([]string, len(rs))
	for i, r := range rs {
		out[i] = prefixes([]Prefix{r.Prefix})
		if r.Gateway.Set() {
			out[i] += " via " + r.Gateway.Text
		}
	}
	return strings.Join(out, "; ")
}

func TestOpenVPNServer(t *testing.T) {
	c := ParseOpenVPN(ovpnServer)
	pool, ok := c.Server()
	pool6, ok6 := c.ServerIPv6()
	redirect, pushed := c.PushedRedirectGateway()
	_, own := c.RedirectGateway()
	dns := c.DNS()
	for _, x := range []struct{ name, got, want string }{
		{"pool", prefixes([]Prefix{pool}), "10.240.0.0/16"},
		{"its place", ovpnServer[pool.Start:pool.End], "10.240.0.0 255.255.0.0"},
		{"IPv6 pool", prefixes([]Prefix{pool6}), "fd00:8::/64"},
		{"pushed routes", routes(c.PushedRoutes()), "10.0.0.0/8; ?NETWORK NETMASK"},
		{"own routes", routes(c.Routes()), "192.168.50.0/24"},
		{"device", c.Dev().Text, "tun0"},
		{"protocol", c.Proto().Text, "udp"},
		{"port", c.Port().Text, "1194"},
		{"side", string(c.IsServer()), "present"},
		{"redirect", fmt.Sprint(ok, ok6, pushed, own, redirect.Def1, redirect.IPv4, redirect.IPv6), "true true true false true true false"},
		{"dns", fmt.Sprintf("%d %s %s %v", len(dns), dns[0].Type, dns[0].Value.Text, dns[0].Pushed), "1 DNS 10.96.0.10 true"},
		{"problems", problems(ovpnServer, c.Problems), ""},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, x.got, x.want)
		}
	}
	r := c.PushedRoutes()[0]
	if got := ovpnServer[r.Start:r.End]; got != "route 10.0.0.0 255.0.0.0" {
		t.Errorf("the pushed route points at %q", got)
	}
	if got := ovpnServer[r.Prefix.Start:r.Prefix.End]; got != "10.0.0.0 255.0.0.0" {
		t.Errorf("its prefix points at %q", got)
	}
	ca, ok := c.Last("ca")
	if !ok || !strings.HasPrefix(ca.Inline.Text, "-----BEGIN") || len(c.All("server")) != 1 {
		t.Errorf("the inline block is not opaque: %q", ca.Inline.Text)
	}
}

func TestOpenVPNClient(t *testing.T) {
	c := ParseOpenVPN(ovpnClient)
	var remotes []string
	for _, r := range c.Remotes() {
		remotes = append(remotes, r.Host.Text+":"+r.Port.Text+"/"+r.Proto.Text)
	}
	redirect, _ := c.RedirectGateway()
	_, noPull := c.RouteNoPull()
	for _, x := range []struct{ name, got, want string }{
		{"side", string(c.IsServer()), "absent"},
		{"remotes", strings.Join(remotes, " "), "vpn.example.com:1194/udp backup.example.com:443/tcp"},
		{"routes", routes(c.Routes()), "10.96.0.0/12 via net_gateway; 10.20.0.5/32; fd00:20::/48"},
		{"redirect", fmt.Sprint(redirect.Def1, redirect.IPv4, redirect.IPv6, redirect.Local), "true false true false"},
		{"no pull", fmt.Sprint(noPull), "true"},
		{"filters", fmt.Sprintf("%d %s %s", len(c.pullFilters()), c.pullFilters()[0].Action, c.pullFilters()[0].Prefix.Text), "1 ignore redirect-gateway"},
		{"pulls", string(c.Pulls("redirect-gateway def1") + c.Pulls("route 1.0.0.0 255.0.0.0") + c.Pulls("ping 10")), "absentabsentpresent"},
		{"up", c.UpScripts()[0].Arg(0).Text, "/etc/openvpn/update-resolv-conf"},
		{"dns", fmt.Sprintf("%s %v", c.DNS()[0].Value.Text, c.DNS()[0].Pushed), "10.0.0.53 false"},
		{"problems", problems(ovpnClient, c.Problems), ""},
	} {
		if x.got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, x.got, x.want)
		}
	}
	if !c.Routes()[0].AroundTunnel() || c.Routes()[1].AroundTunnel() {
		t.Error("net_gateway leaves around the tunnel, no gateway does not")
	}
}

func TestOpenVPNWords(t *testing.T) {
	tests := []struct{ line, want string }{
		{`a b c`, "a|b|c"},
		{`a "b c" 'd "e'`, `a|b c|d "e`},
		{`a b\ c "d\"e"`, `a|b c|d"e`},
		{`a b # c`, "a|b"},
		{`a b#c ;d`, "a|b#c"},
		{"a\tb  ", "a|b"},
		{`push "route 10.0.0.0 255.0.0.0 \"x\""`, `push|route 10.0.0.0 255.0.0.0 "x"`},
		{`a 'C:\dir'`, `a|C:\dir`},
	}
	for _, tt := range tests {
		ws, closed := ovpnWords(tt.line, 0)
		got := make([]string, len(ws))
		for i, w := range ws {
			got[i] = w.Text
		}
		if s := strings.Join(got, "|"); s != tt.want || !closed {
			t.Errorf("%s: got %s (closed %v), want %s", tt.line, s, closed, tt.want)
		}
	}
}

func TestOpenVPNOddities(t *testing.T) {
	tests := []struct{ name, text, wantProblems, side string }{
		{"the byte order mark", "\ufeffclient\n", "", "absent"},
		{"a line that is no option", "client\nAllowedIPs = 10.0.0.0/8\n", `syntax@"AllowedIPs = 10.0.0.0/8"!`, "absent"},
		{"a bracket", "client\n}\n", `syntax@"}"!`, "absent"},
		{"a closing tag alone", "client\n</ca>\n", `syntax@"</ca>"!`, "absent"},
		{"a route without a network", "client\nroute\n", `syntax@"route"!`, "absent"},
		{"a server without a mask", "client\nserver 10.8.0.0\n", `syntax@"server 10.8.0.0"!`, "present"},
		{"what a script replaces", "client\nOVPN_ROUTES\n@ROUTES@\nserver $NETWORK\n%EXTRA%\n", "", "present"},
		{"an option that nobody knows here", "client\ntun-max-mtu 9000\n", "", "absent"},
		{"nothing tells the side", "dev tun\n", "", "unknown"},
		{"a remote alone is a client's", "remote a 1194\n", "", "absent"},
		{"a static key has no sides", "remote a 1194\nsecret static.key\n", "", "unknown"},
		{"mode server", "mode server\n", "", "present"},
		{"open quote", "push \"route 10.0.0.0 255.0.0.0\n", `syntax@"push \"route 10.0.0.0 255.0.0.0"!`, "unknown"},
		{"unquoted push", "push route 10.0.0.0 255.0.0.0\n", `bad-value@"push route 10.0.0.0 255.0.0.0"!`, "unknown"},
		{"open block", "<ca>\nabc\n", `syntax@"<ca>"!`, "unknown"},
		{"open connection", "<connection>\nremote a\n", `syntax@"<connection>"!`, "absent"},
		{"template text", "{{- range .x }}\nserver 10.8.0.0 255.255.255.0\n", `placeholder@"{{- range .x }}"`, "present"},
		{"as a whole", "${OPENVPN_CONF}", `placeholder@"${OPENVPN_CONF}"`, "unknown"},
		{"CRLF", "client\r\nremote a 1194\r\n", "", "absent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ParseOpenVPN(tt.text)
			if got := problems(tt.text, c.Problems); got != tt.wantProblems {
				t.Errorf("problems: got %s, want %s", got, tt.wantProblems)
			}
			if got := string(c.IsServer()); got != tt.side {
				t.Errorf("server: got %s, want %s", got, tt.side)
			}
		})
	}
	bad := ParseOpenVPN("server 10.8.0.0 255.0.255.0\n")
	if p, ok := bad.Server(); !ok || p.Valid {
		t.Errorf("a mask with a hole: ok %v, valid %v", ok, p.Valid)
	}
}
