package shell

import (
	"strings"
	"testing"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ script, word, why string }{
		{"iptables -t nat -A POSTROUTING -o eth0 -j MASQUERAED", "MASQUERAED", `"MASQUERADE" is near`},
		{"iptables -t nat -A POSTROUTING -o eth0 -j masquerade", "masquerade", `"MASQUERADE" is near`},
		{"iptables -t natt -A POSTROUTING -j MASQUERADE", "natt", `"nat" is near`},
		{"iptables -t nat -A POSTROUTNG -j MASQUERADE", "POSTROUTNG", `"POSTROUTING" is near`},
		{"iptables -A POSTROUTING -j MASQUERADE", "POSTROUTING", "filter has no such chain"},
		{"iptables -t nat -A PREROUTING -j MASQUERADE", "MASQUERADE", "POSTROUTING only"},
		{"iptables -t nat -A POSTROUTING -i eth0 -j MASQUERADE", "-i", "takes no interface"},
		{"iptables -A INPUT -o eth0 -j ACCEPT", "-o", "no interface that they leave by"},
		{"iptables -A INPUT -p udp --dprot 1194 -j ACCEPT", "--dprot", `"--dport" is near`},
		{"iptables -A INPUT -p udp --dport=119400 -j ACCEPT", "119400", "is no port"},
		{"iptables -A INPUT --dport 1194 -j ACCEPT", "--dport", "loads the extension"},
		{"iptables -t nat -A POSTROUTING --to-source 10.0.0.1 -j SNAT", "--to-source", "-j SNAT"},
		{"iptables -A FORWARD -p tpc -j ACCEPT", "tpc", `"tcp" is near`},
		{"iptables -A FORWARD -m conntrak --ctstate NEW -j ACCEPT", "conntrak", `"conntrack" is near`},
		{"iptables -A OUTPUT -d 10.0.0.0/8,10.0.0.0/99 -j DROP", "10.0.0.0/99", "it is no prefix"},
		{"ip6tables -A OUTPUT -d 10.0.0.0/8 -j DROP", "10.0.0.0/8", "it is IPv4"},
		{"iptables -t nat POSTROUTING -j MASQUERADE", "POSTROUTING", "no option takes it"},
		{"iptables -t nat -A POSTROUTING -j", "-j", "takes a value"},
		{"iptables -P FORWARD ACEPT", "ACEPT", "ACCEPT or DROP"},
		{"nft add rule ip nat post oifname eth0 masquerad", "masquerad", `"masquerade" is near`},
		{"nft add chain ip nat post { type nat hok postrouting priority 100 \\; }", "hok", "the word hook"},
		{"nft add chain ip nat post { type nat hook postroutin priority 100 \\; }", "postroutin", `"postrouting" is near`},
		{"nft add chain ip f out { type filter hook output priority 0 \\; policy dropp \\; }", "dropp", `"drop" is near`},
		{"nft ad rule ip nat post masquerade", "ad", `"add" is near`},
		{"nft add rule ip nat post ip sadr 10.8.0.0/24 masquerade", "sadr", `"saddr" is near`},
		{"nft add rule ip f out ip daddr { 10.0.0.0/8, 10.9.0.0/60 } drop", "{", "it is no prefix"},
		{"ip route add 10.50.0.0/160 via 10.1.1.1", "10.50.0.0/160", "it is no prefix"},
		{"ip route add 10.50.0.5/24 via 10.1.1.1", "10.50.0.5/24", "the network is 10.50.0.0/24"},
		{"ip route add 10.50.0.0/16 vai 10.1.1.1", "vai", `"via" is near`},
		{"ip route add 10.50.0.0/16 via 10.1.1.256", "10.1.1.256", "it is no address"},
		{"ip ruote add 10.50.0.0/16 via 10.1.1.1", "ruote", `"route" is near`},
		{"ip rule add form 10.8.0.0/24 table 100", "form", `"from" is near`},
		{"ip rule add from 10.8.0.0/244 table 100", "10.8.0.0/244", "it is no prefix"},
		{"ip link set dev wg0 mtu 14x0", "14x0", "no number"},
		{"iptables -t nat -I POSTROUTING one -j MASQUERADE", "one", "no number of a rule"},
		{"nft add rule ip nat", "nat", "has a table, a chain"},
		{"nft add rule ip nat post snat to", "to", "nothing stands behind"},
		{"nft add rule ip f out ct stat established accept", "stat", `"state" is near`},
		{"nft add rule ip f out meta l4prot tcp accept", "l4prot", `"l4proto" is near`},
		{"ip route add 10.50.0.0/16 via gw.example.org", "gw.example.org", "names are not looked up"},
		{"ip link set dev wg0 mtu", "mtu", "takes a number"},
		{"ifconfig wg0 mtu 14x0", "14x0", "no number"},
		{"route add -net 10.50.0.0/160 gw 10.1.1.1", "10.50.0.0/160", "no prefix"},
		{"route add -net 10.50.0.0 netmask 255.0.255.0 gw 10.1.1.1", "255.0.255.0", "no netmask"},
		{"route add -net 10.50.0.0 netmaks 255.255.0.0 gw 10.1.1.1", "netmaks", `"netmask" is near`},
		{"sysctl --writ3 net.ipv4.ip_forward=1", "--writ3", `"--write" is near`},
		{"sysctl -w net.ipv4.conf.all.src_valid_marks=1", "net.ipv4.conf.all.src_valid_marks=1", "is near"},
		{"sysctl -w net.ipv4.ip_forwrd=1", "net.ipv4.ip_forwrd=1", `"net.ipv4.ip_forward" is near`},
		{"sysctl -w net.ipv4.ip_forward = 1", "net.ipv4.ip_forward", "name=value"},
		{"sysctl -w net.ipv4.ip_forward=yes", "net.ipv4.ip_forward=yes", "is no number"},
		{"echo 1 > /proc/sys/net/ipv4/conf/all/forwading", "/proc/sys/net/ipv4/conf/all/forwading", `"net.ipv4.conf.all.forwarding" is near`},
	} {
		s := Parse(tt.script)
		if len(s.Commands) != 1 || s.Commands[0].Refused == nil {
			t.Errorf("%s is not refused", tt.script)
			continue
		}
		bad := s.Commands[0].Refused
		if bad.Word.Text != tt.word && tt.word != "{" || !strings.Contains(bad.Why, tt.why) {
			t.Errorf("%s: %q is refused, %s; want %q, %q", tt.script, bad.Word.Text, bad.Why, tt.word, tt.why)
		}
		if at := tt.script[bad.Word.Start:bad.Word.End]; !strings.Contains(at, tt.word) {
			t.Errorf("%s: the place is %q", tt.script, at)
		}
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		"iptables -t nat -A POSTROUTING -s 10.8/16 -o eth+ -j MASQUERADE --random-fully",
		"iptables -t nat -A POSTROUTING -s 10.8.0.0/255.255.255.0 ! -d 10.0.0.0/8 -m comment --comment 'VPN DNAT' -j SNAT --to-source 192.0.2.1-192.0.2.9:1024-2048",
		"iptables -N REJECTED; iptables -A INPUT -j REJECTED",
		"iptables -A INPUT -j INPUT_VPN", "iptables -A ufw-user-input -j ACCEPT", "iptables -A KUBE-FIREWALL -j KUBE-MARK-DROP",
		"iptables -N POSTROUTNG -t nat; iptables -t nat -A POSTROUTNG -j MASQUERADE",
		"iptables -w 5 -tnat -I POSTROUTING 1 -jMASQUERADE", "iptables -nvL FORWARD 2", "iptables -t nat -F", "iptables -P FORWARD DROP",
		"iptables -A FORWARD -p $PROTO --dport 80 -j ACCEPT", "iptables -A FORWARD $OPTIONS --dport 80 -j ACCEPT",
		"iptables -A INPUT -p tcp -m multiport --dports 80,443,1000:2000 -j ACCEPT", "iptables -A INPUT -p udp --dport isakmp -j ACCEPT",
		"iptables -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu",
		"iptables -A FORWARD -m geoip --src-cc DE -j ACCEPT", "iptables -A INPUT --source 10.0.0.0/8 --proto tcp --jump ACCEPT",
		"iptables -A FORWARD -s vpn.example.org -j ACCEPT", "iptables -A FORWARD -s __POD_CIDR__ -j ACCEPT", "iptables -t {{ .Table }} -A {{ .Chain }} -j {{ .Target }}",
		"iptables -m set --match-set vpn src -A FORWARD -j ACCEPT", "iptables -t nat -A OUTPUT -m owner ! --uid-owner 1000 -j REDIRECT --to-ports 1080", "iptables --version",
		"nft add rule inet f out meta l4proto { tcp, udp } th dport 53 counter packets 0 bytes 0 accept comment \"masquerad\"",
		"nft add rule inet f out ip daddr != { 10.0.0.0/8,192.168.0.0/16 } reject with icmpx type admin-prohibited",
		"nft add rule ip nat pre ip saddr . tcp dport vmap { 10.0.0.1 . 80 : accept }", "nft add rule inet f in ct state established,related accept",
		"nft 'add chain inet f out { type filter hook output priority filter + 10; policy accept; }'", "nft add chain ip nat post '{ type nat hook postrouting priority -100 ; }'",
		"nft add table ip nat", "nft list ruleset", "nft add chain inet f dev { type filter hook ingress device eth0 priority 0 \\; }", "nft add rule ip mangle pre ip daddr @vpn meta mark set 0x1",
		"nft delete rule ip nat post handle 4", "nft flush ruleset", "nft insert rule ip nat post position 3 oifname \"wan0\" snat to 192.0.2.1",
		"ip route add default via 10.0.0.1 dev eth0 onlink", "ip -6 route replace fd00::1/64 dev wg0", "ip r a 10/8 via 10.0.0.1", "ip route add blackhole default metric 4000",
		"ip route add 10.0.0.0/8 proto static scope link src 10.0.0.2 dev eth0 table vpn", "ip route add $NET via $GW dev $DEV", "ip route add POD_CIDR via GATEWAY",
		"ip route add 10.0.0.0/8 nexthop via 10.0.0.1 weight 1 nexthop via 10.0.0.2 weight 1", "ip route get 10.0.0.1", "ip route add table 51820 0.0.0.0/0 dev wg0",
		"route add -net 10.0.0.0 netmask 255.0.0.0 gw 10.1.1.1 eth0", "route add -host vpn.example.org gw 10.0.0.1", "route add default gw $GW dev eth0", "route -n", "ifconfig eth0 up",
		"nft add flowtable inet f ft { hook ingress priority 0 \\; devices = { eth0 } \\; }", "nft add counter inet f vpn", "nft add rule inet f out meta mark set ct mark", "ip route add 10.0.0.0/8 via $GW",
		"ip rule add not fwmark 51820 table 51820", "ip rule add from all lookup main suppress_prefixlength 0 pref 10", "ip -4 ru a to 10.0.0.0/8 prio 5", "ip rule add iif wg0 unreachable",
		"ip link set mtu 1420 up dev wg0", "ip link add wg0 type wireguard", "ip a add 10.0.0.1/24 dev wg0", "ip netns exec vpn true",
		"sysctl -w net.ipv4.ip_forward=1", "sysctl net.ipv4.ip_forward", "sysctl -q net.ipv4.conf.wg0.forwarding=1", "sysctl -w net/ipv4/conf/eth0.100/forwarding=1", "sysctl -w vm.max_map_count=262144",
		"sysctl -w net.ipv4.conf.all.mc_forwarding=1", "sysctl -w net.ipv4.ip_forward_use_pmtu=1", "echo 1 > /proc/sys/net/ipv4/ip_forward", "echo $V > /proc/sys/net/ipv4/ip_forward", "sysctl -e -w net.ipv4.ip_forwrd=1",
	} {
		for _, c := range Parse(script).Commands {
			if c.Refused != nil {
				t.Errorf("%s: %q is refused: %s", script, c.Refused.Word.Text, c.Refused.Why)
			}
		}
	}
}

func TestRefusedBlocksOfNFT(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, word string }{
		{"tabel ip nat {\n chain post {\n  type nat hook postrouting priority 100;\n }\n}\n", "tabel"},
		{"table ip nat {\n chian post {\n  type nat hook postrouting priority 100;\n }\n}\n", "chian"},
		{"table ipp nat {\n chain post {\n }\n}\n", "ipp"},
		{"define wan = eth0\ntable ip nat {\n chain post {\n  oifname $wann masquerade\n }\n}\n", "$wann"},
		{"table ip nat {\n chain post {\n  tpye nat hook postrouting priority 100;\n }\n}\n", "tpye"},
		{"table ip nat {\n chain post {\n  oifname \"eth0\" masquerad\n }\n}\n", "masquerad"},
		{"table ip nat {\n define lan = { 10.0.0.0/8 }\n set local {\n  type ipv4_addr\n  flags interval\n }\n chain post {\n  ip saddr $lan ip daddr @local masquerade\n }\n}\n", ""},
	} {
		_, broken, bad := NFTFile(&Command{}, tt.text)
		word := ""
		if bad != nil {
			word = tt.text[bad.Word.Start:bad.Word.End]
		}
		if word != tt.word || broken >= 0 {
			t.Errorf("%q: %q is refused, want %q; broken at %d", tt.text, word, tt.word, broken)
		}
	}
}

// A script does not surely come to what stands behind a command that is refused.
func TestBehindRefused(t *testing.T) {
	t.Parallel()
	for script, certain := range map[string]bool{
		"set -e\nip ruote add default via 10.0.0.1\nsysctl -w net.ipv4.ip_forward=1":      false,
		"ip ruote add default via 10.0.0.1 && sysctl -w net.ipv4.ip_forward=1":            false,
		"ip ruote add default via 10.0.0.1\nsysctl -w net.ipv4.ip_forward=1":              true,
		"set -e\nip ruote add default via 10.0.0.1 || :\nsysctl -w net.ipv4.ip_forward=1": true,
	} {
		list := Parse(script).Commands
		if last := list[len(list)-1]; last.Conditional == certain {
			t.Errorf("%q: the last command is conditional: %t", script, last.Conditional)
		}
	}
}
