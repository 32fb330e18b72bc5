package shell

import (
	"fmt"
	"strings"
	"testing"
)

func TestSysctls(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"-w", "sysctl -w net.ipv4.ip_forward=1", "net.ipv4.ip_forward=1 ensured"},
		{"without -w", "sysctl net.ipv4.ip_forward=1", "net.ipv4.ip_forward=1 ensured"},
		{"several", "/sbin/sysctl -w a.b=1 c.d=0", "a.b=1 ensured; c.d=0 ensured"},
		{"slashes", "sysctl -w net/ipv4/conf/eth0.100/forwarding=1", "net.ipv4.conf.eth0/100.forwarding=1 ensured"},
		{"quoted value", `sysctl -w 'net.ipv4.ip_local_port_range=1024 65535'`, "net.ipv4.ip_local_port_range=1024 65535 ensured"},
		{"quiet", "sysctl -qew a.b=1", "a.b=1 quiet ensured"},
		{"reading sets nothing", "sysctl -n net.ipv4.ip_forward", ""},
		{"unknown value", "sysctl -w net.ipv4.ip_forward=$X", "net.ipv4.ip_forward=? ensured"},
		{"unknown name", "sysctl -w $X=1", "?=1 ensured"},
		{"unknown part of the name", "sysctl -w net.ipv4.conf.$IF.rp_filter=2", "net.ipv4.conf.*.rp_filter=2 ensured"},
		{"unknown assignment", `sysctl -w "$X"`, "?=? ensured"},
		{"from a pipe", "echo a.b=1 c.d=0 | xargs sysctl -w", "a.b=1 ensured; c.d=0 ensured"},
		{"from an unknown pipe", "cat /settings | xargs -n1 sysctl -w", "?=? ensured"},
		{"-p", "sysctl -p", "file /etc/sysctl.conf ensured"},
		{"-p file", "sysctl -p /etc/sysctl.d/99-vpn.conf", "file /etc/sysctl.d/99-vpn.conf ensured"},
		{"-qp file", "sysctl -qp /x", "file /x ensured"},
		{"--system", "sysctl --system", "file * ensured"},
		{"echo", "echo 1 > /proc/sys/net/ipv4/ip_forward", "net.ipv4.ip_forward=1 ensured"},
		{"echo in quotes", `echo -n "1" >/proc/sys/net/ipv6/conf/all/forwarding`, "net.ipv6.conf.all.forwarding=1 ensured"},
		{"printf", `printf '1\n' > /proc/sys/net/ipv4/ip_forward`, "net.ipv4.ip_forward=1 ensured"},
		{"printf with a format", `printf %s 0 > /proc/sys/net/ipv4/ip_forward`, "net.ipv4.ip_forward=0 ensured"},
		{"tee", "echo 1 | sudo tee -a /proc/sys/net/ipv4/ip_forward >/dev/null", "net.ipv4.ip_forward=1 ensured"},
		{"another /proc", "echo 1 > /host/proc/sys/net/ipv4/ip_forward", "net.ipv4.ip_forward=1 below /host ensured"},
		{"another file", "echo 1 > /tmp/x", ""},
		{"echo of something unknown", "echo $X > /proc/sys/net/ipv4/ip_forward", "net.ipv4.ip_forward=? ensured"},
		{"wildcard", "echo 0 > /proc/sys/net/ipv4/conf/*/rp_filter", "net.ipv4.conf.*.rp_filter=0 ensured"},
		{"conditional", "if [ -e /x ]; then sysctl -w a.b=1; fi", "a.b=1"},
		{"unless it is set already", `if [ "$(sysctl -n net.ipv4.ip_forward)" != 1 ]; then sysctl -w net.ipv4.ip_forward=1; fi`, "net.ipv4.ip_forward=1 ensured"},
		{"unless the file says so", `grep -q 1 /proc/sys/net/ipv4/ip_forward || echo 1 > /proc/sys/net/ipv4/ip_forward`, "net.ipv4.ip_forward=1 ensured"},
		{"exit when it is set", `[ "$(cat /proc/sys/net/ipv4/ip_forward)" = 1 ] && exit 0; sysctl -w net.ipv4.ip_forward=1`, "net.ipv4.ip_forward=1 ensured"},
		{"one spelling or the other", "sysctl -w a.b=1 || echo 1 > /proc/sys/a/b", "a.b=1 ensured; a.b=1 ensured"},
		{"a comment is no command", "# sysctl -w a.b=1\necho sysctl -w a.b=1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range Parse(tt.script).Commands {
				for _, s := range Sysctls(c) {
					got = append(got, showSysctl(s))
				}
			}
			if g := strings.Join(got, "; "); g != tt.want {
				t.Errorf("%s: got %q, want %q", tt.script, g, tt.want)
			}
		})
	}
}

func showSysctl(s Sysctl) string {
	text := "file " + s.File
	if s.File == "" {
		key, value := s.Key, s.Value
		if !s.KeyKnown {
			key = "?"
		}
		if !s.Known {
			value = "?"
		}
		text = key + "=" + value
	}
	if s.Mount != "" {
		text += " below " + s.Mount
	}
	if s.Quiet {
		text += " quiet"
	}
	if s.Ensured {
		text += " ensured"
	}
	return text
}

func only(t *testing.T, script string) *Command {
	t.Helper()
	s := Parse(script)
	if len(s.Commands) == 0 {
		t.Fatalf("%s: no command", script)
	}
	return s.Commands[len(s.Commands)-1]
}

func TestIPTables(t *testing.T) {
	m := func(m Match) string {
		if m.Negate {
			return "!" + m.Text
		}
		return m.Text
	}
	tests := []struct{ script, want string }{
		{"iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -o eth0 -j MASQUERADE", "4 nat A POSTROUTING MASQUERADE s=10.8.0.0/24 o=eth0"},
		{"iptables -tnat -I POSTROUTING 1 ! -o wg0 -jMASQUERADE", "4 nat I POSTROUTING MASQUERADE o=!wg0"},
		{"iptables-nft --table=nat --append POSTROUTING --source 10.0.0.0/8 ! --destination 10.0.0.0/8 --jump SNAT --to-source 192.0.2.1",
			"4 nat A POSTROUTING SNAT s=10.0.0.0/8 d=!10.0.0.0/8 to=192.0.2.1"},
		{"iptables -A FORWARD -i ! wg0 -j DROP", "4 filter A FORWARD DROP i=!wg0"},
		{"ip6tables -P OUTPUT DROP", "6 filter P OUTPUT DROP"},
		{"iptables -w 5 -F FORWARD", "4 filter F FORWARD "},
		{"iptables -F -t nat", "4 nat F  "},
		{"iptables -I OUTPUT ! -o wg0 -m mark ! --mark 0xca6c -m addrtype ! --dst-type LOCAL -j REJECT",
			"4 filter I OUTPUT REJECT o=!wg0 mark=!0xca6c dst-type=!LOCAL"},
		{"iptables -A INPUT -p tcp -m multiport --dports 80,443 -m comment --comment 'web -j DROP' -j ACCEPT",
			"4 filter A INPUT ACCEPT p=tcp dport=80,443"},
		{"iptables -t mangle -A PREROUTING -m policy --dir in --pol ipsec -j MARK --set-mark 1", "4 mangle A PREROUTING MARK pol=ipsec set=1"},
		{"iptables -N VPN", "4 filter N VPN "},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			r, ok := IPTables(only(t, tt.script))
			if !ok {
				t.Fatal("not recognised")
			}
			v := 4
			if r.IPv6 {
				v = 6
			}
			got := fmt.Sprintf("%d %s %s %s %s", v, r.Table, r.Op, r.Chain, r.Target)
			for _, f := range []struct{ name, value string }{
				{"s", m(r.Source)}, {"d", m(r.Destination)}, {"i", m(r.In)}, {"o", m(r.Out)}, {"p", m(r.Protocol)},
				{"dport", m(r.DestinationPorts)}, {"mark", m(r.Mark)}, {"dst-type", m(r.AddrType)}, {"pol", m(r.Policy)},
				{"to", r.ToSource.Text}, {"set", r.SetMark.Text},
			} {
				if f.value != "" {
					got += " " + f.name + "=" + f.value
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, ok := IPTables(only(t, "iptables-save")); ok {
		t.Error("iptables-save is no rule")
	}
	check := only(t, "iptables -t nat -C POSTROUTING -o eth0 -j MASQUERADE || iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE")
	if r, _ := IPTables(check); !r.Ensured {
		t.Error("a rule that answers its own -C is there afterwards")
	}
	if r, _ := IPTables(only(t, "if ! iptables -C FORWARD -j ACCEPT; then iptables -A FORWARD -j ACCEPT; fi")); !r.Ensured {
		t.Error("the same with if")
	}
	if r, _ := IPTables(only(t, "if x; then iptables -t nat -A POSTROUTING -j MASQUERADE; fi")); r.Ensured {
		t.Error("a conditional rule is not certain")
	}
}

func TestNFT(t *testing.T) {
	tests := []struct{ script, want string }{
		{"nft add rule ip nat postrouting oifname eth0 masquerade", "add rule ip nat postrouting masquerade opaque=false"},
		{"nft 'add rule inet filter output oifname != \"wg0\" drop'", "add rule inet filter output drop opaque=false"},
		{"nft add chain inet filter forward '{ type filter hook forward priority 0 ; policy drop ; }'", "add chain inet filter forward drop opaque=false"},
		{"nft -f /etc/nftables.conf", "  ip    opaque=true"},
		{"nft list ruleset", "list ruleset ip    opaque=false"},
	}
	for _, tt := range tests {
		r, ok := NFT(only(t, tt.script))
		if !ok {
			t.Errorf("%s: not recognised", tt.script)
			continue
		}
		got := fmt.Sprintf("%s %s %s %s %s %s opaque=%v", r.Op, r.Object, r.Family, r.Table, r.Chain, r.Verdict, r.Opaque)
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}

func TestIPRule(t *testing.T) {
	tests := []struct {
		script string
		ok     bool
		want   string
	}{
		{"ip rule add to 10.0.0.0/8 lookup main pref 100", true, "del=false to=10.0.0.0/8 table=main pref=100"},
		{"ip -4 rule add from 10.8.0.0/24 fwmark 0x1 table 200", true, "del=false from=10.8.0.0/24 mark=0x1 table=200"},
		{"ip rule del to 10.0.0.0/8", true, "del=true to=10.0.0.0/8"},
		{"ip rule add not fwmark 51820 table 51820", true, "del=false not mark=51820 table=51820"},
		{"ip rule show", false, ""},
		{"ip route add 10.0.0.0/8 dev eth0", false, ""},
		{"ip -n vpn rule add to 10.0.0.0/8 table main", false, ""},
	}
	for _, tt := range tests {
		r, ok := IPRule(only(t, tt.script))
		if ok != tt.ok {
			t.Errorf("%s: ok=%v", tt.script, ok)
			continue
		}
		if !ok {
			continue
		}
		got := fmt.Sprintf("del=%v", r.Delete)
		if r.Not {
			got += " not"
		}
		for _, f := range []struct {
			name string
			w    Word
		}{{"from", r.From}, {"to", r.To}, {"mark", r.FwMark}, {"table", r.Table}, {"pref", r.Priority}} {
			if f.w.Text != "" {
				got += " " + f.name + "=" + f.w.Text
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}

func TestIPRoute(t *testing.T) {
	tests := []struct {
		script string
		ok     bool
		want   string
	}{
		{"ip route add 10.0.0.0/8 via 169.254.1.1 dev eth0", true, "unicast 10.0.0.0/8 via=169.254.1.1 dev=eth0"},
		{"ip -4 r replace default dev wg0 table 51820", true, "unicast default dev=wg0 table=51820"},
		{"ip -6 route add fd00::/8 dev eth0 metric 10", true, "unicast fd00::/8 dev=eth0 v6"},
		{"ip route add unreachable 10.0.0.0/8", true, "unreachable 10.0.0.0/8"},
		{"ip route del default", true, "unicast default del"},
		{"route add -net 10.0.0.0 netmask 255.0.0.0 gw 10.1.1.1 eth0", true, "unicast 10.0.0.0/255.0.0.0 via=10.1.1.1 dev=eth0"},
		{"route add default gw 10.1.1.1", true, "unicast default via=10.1.1.1"},
		{"ip route show default", false, ""},
		{"route -n", false, ""},
	}
	for _, tt := range tests {
		r, ok := IPRoute(only(t, tt.script))
		if ok != tt.ok {
			t.Errorf("%s: ok=%v", tt.script, ok)
			continue
		}
		if !ok {
			continue
		}
		got := r.Type + " " + r.Destination.Text
		if r.Netmask.Text != "" {
			got += "/" + r.Netmask.Text
		}
		for _, f := range []struct {
			name string
			w    Word
		}{{"via", r.Via}, {"dev", r.Dev}, {"table", r.Table}} {
			if f.w.Text != "" {
				got += " " + f.name + "=" + f.w.Text
			}
		}
		if r.IPv6 {
			got += " v6"
		}
		if r.Delete {
			got += " del"
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}

func TestWaitsFor(t *testing.T) {
	tests := []struct {
		script string
		want   Sign
	}{
		{"ip link show tun0", TunnelInterface},
		{"ip addr show dev wg0 | grep -q inet", TunnelInterface},
		{"ip a | grep -q tun0", TunnelInterface},
		{"ifconfig wg0", TunnelInterface},
		{"[ -d /sys/class/net/tun0 ]", TunnelInterface},
		{"test -e /sys/class/net/wg0/operstate", TunnelInterface},
		{"[[ -d /sys/class/net/nordlynx ]]", TunnelInterface},
		{"cat /sys/class/net/tun0/operstate", TunnelInterface},
		{"wg show wg0", TunnelInterface},
		{"wg show | grep -q handshake", TunnelInterface},
		{"curl --interface tun0 https://ifconfig.me", TunnelInterface},
		{"ping -I wg0 -c1 10.0.0.1", TunnelInterface},
		{"/gluetun-entrypoint healthcheck", TunnelHealth},
		{"wget -qO- http://127.0.0.1:9999", TunnelHealth},
		{"curl -sf http://localhost:8000/v1/publicip/ip | grep -q .", TunnelHealth},
		{"nc -z 127.0.0.1 9999", TunnelHealth},
		{"test -f /tmp/gluetun/ip", TunnelHealth},
		{"curl -s https://ifconfig.me", PublicNet},
		{"ping -c1 1.1.1.1", PublicNet},
		{"nslookup example.com", PublicNet},
		{"nc -z vpn.example.com 1194", PublicNet},
		{"curl http://localhost:8080/ready", NoSign},
		{"ip link show eth0", NoSign},
		{"ip link show", NoSign},
		{"[ -d /sys/class/net/eth0 ]", NoSign},
		{"sleep 10", NoSign},
	}
	for _, tt := range tests {
		if got := WaitsFor(only(t, tt.script)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.script, got, tt.want)
		}
	}
}

func TestTalksToNetwork(t *testing.T) {
	yes := []string{
		"curl https://example.com", "wget -q -O- http://10.0.0.1/x", "nc -z db 5432", "ping -c 3 8.8.8.8", "dig +short example.com",
		"git clone https://example.com/x.git", "apk add --no-cache iptables", "apt-get update", "pip install x", "getent hosts db",
		"timeout 5 curl -s $URL", "kubectl get pods",
	}
	no := []string{
		"curl http://localhost:9999", "wget -qO- 127.0.0.1:8000/v1", "nc -l -p 80", "apk info", "apt-get clean", "git status", "getent passwd root",
		"ping -c1 127.0.0.1", "ls", "ip route", "echo curl https://example.com",
	}
	for _, s := range yes {
		if !TalksToNetwork(only(t, s)) {
			t.Errorf("%s uses the network", s)
		}
	}
	for _, s := range no {
		if TalksToNetwork(only(t, s)) {
			t.Errorf("%s does not use the network", s)
		}
	}
}
