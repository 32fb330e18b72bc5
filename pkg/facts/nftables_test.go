package facts

import (
	"fmt"
	"strings"
	"testing"
)

// Rules of nft and iptables-restore, wherever they stand.
func TestLoadedRules(t *testing.T) {
	const post = "table ip nat {\n  chain post {\n    type nat hook postrouting priority 100; policy accept;\n    %s\n  }\n}\n"
	const out = "table inet filter {\n  chain out {\n    type filter hook output priority 0; policy %s;\n    oifname \"lo\" accept\n    oifname \"wg0\" accept\n    %s\n  }\n}\n"
	masq := fmt.Sprintf(post, `oifname "eth0" masquerade`)
	drop := fmt.Sprintf(out, "drop", "udp dport 51820 accept")
	for _, tt := range []struct {
		name, command, file    string
		masquerade, killSwitch Known
		gap                    string
	}{
		{"nothing", "true", "", Absent, Absent, ""},
		{"a mounted file", "nft -f /rules/file", masq, Present, Absent, ""},
		{"a mounted file with a policy", "nft -f /rules/file", drop, Absent, Present, ""},
		{"a mounted file, both", "nft -f /rules/file", masq + drop, Present, Present, ""},
		{"a file of the image", "nft -f /etc/nftables.conf", "", Unknown, Unknown, "/etc/nftables.conf is a part of the image"},
		{"a file that includes another", "nft -f /rules/file", "include \"/etc/more.nft\"\n" + masq, Unknown, Unknown, "stand elsewhere"},
		{"a file with a mistake", "nft -f /rules/file", "table ip nat {", Unknown, Unknown, "not to be understood"},
		{"a name known at run time", "nft -f $RULES", masq, Unknown, Unknown, "known at run time only"},
		{"a file by a pipe", "cat /rules/file | nft -f -", masq, Present, Absent, ""},
		{"a file by a redirection", "nft -f - < /rules/file", drop, Absent, Present, ""},
		{"a script of nft itself", "/rules/file", "#!/usr/sbin/nft -f\n" + masq, Present, Absent, ""},
		{"a script of nft by env", "/rules/file", "#!/usr/bin/env -S nft -f\n" + drop, Absent, Present, ""},
		{"a script for another program", "/rules/file", "#!/usr/bin/python3\nimport os\n", Unknown, Unknown, "script for python3"},
		{"a here-document", "nft -f - <<EOF\n" + drop + "EOF", "", Absent, Present, ""},
		{"a here-document in a file", "cat > /tmp/r.nft <<EOF\n" + masq + "EOF\nnft -f /tmp/r.nft", "", Present, Absent, ""},
		{"a file that is written line by line", "echo 'table ip nat {' > /tmp/r\necho ' chain post { type nat hook postrouting priority 100 ; }' >> /tmp/r\necho '}' >> /tmp/r\necho 'add rule ip nat post masquerade' >> /tmp/r\nnft -f /tmp/r", "", Present, Absent, ""},
		{"a file that a program writes", "generate > /tmp/r\nnft -f /tmp/r", "", Unknown, Unknown, "what a script writes into /tmp/r"},
		{"a file that is written on one side", "if [ -n \"$A\" ]; then echo 'add rule ip nat post masquerade' > /tmp/r; fi\nnft -f /tmp/r", "", Unknown, Unknown, "what a script writes into /tmp/r"},
		{"a file that is edited", "cp /rules/file /tmp/r\nsed -i s/a/b/ /tmp/r\nnft -f /tmp/r", masq, Unknown, Unknown, "what a script writes into /tmp/r"},
		{"echo", "echo 'add rule ip nat postrouting oifname eth0 masquerade' | nft -f -", "", Present, Absent, ""},
		{"what a program prints", "generate | nft -f -", "", Unknown, Unknown, "known at run time only"},
		{"loaded on one side", "[ -n \"$A\" ] && nft -f /rules/file", masq + drop, Unknown, Unknown, "whether its script comes to nft -f /rules/file"},
		{"a file of the image on a side that is never taken", "A=no; [ \"$A\" = yes ] && nft -f /etc/nftables.conf", "", Absent, Absent, ""},
		{"masquerade into the tunnel itself", "nft -f /rules/file", fmt.Sprintf(post, `oifname "wg0" masquerade`), Absent, Absent, ""},
		{"masquerade of the pool", "nft -f /rules/file", fmt.Sprintf(post, `ip saddr 10.9.0.0/24 masquerade`), Present, Absent, ""},
		{"masquerade of a pool by its name", "nft -f /rules/file", "define pool = 10.9.0.0/24\n" + fmt.Sprintf(post, `ip saddr $pool masquerade`), Present, Absent, ""},
		{"masquerade of another network", "nft -f /rules/file", fmt.Sprintf(post, `ip saddr 10.8.0.0/24 masquerade`), Absent, Absent, ""},
		{"masquerade of a set", "nft -f /rules/file", fmt.Sprintf(post, `ip saddr { 10.8.0.0/24, 10.9.0.0/24 } masquerade`), Present, Absent, ""},
		{"snat", "nft -f /rules/file", fmt.Sprintf(post, `oifname eth0 snat to 10.1.1.1`), Present, Absent, ""},
		{"masquerade of IPv6 only", "nft -f /rules/file", strings.Replace(fmt.Sprintf(post, "masquerade"), "table ip nat", "table ip6 nat", 1), Absent, Absent, ""},
		{"a policy that accepts", "nft -f /rules/file", fmt.Sprintf(out, "accept", "counter"), Absent, Absent, ""},
		{"a last rule that drops", "nft -f /rules/file", fmt.Sprintf(out, "accept", "counter drop"), Absent, Present, ""},
		{"what leaves beside the tunnel", "nft -f /rules/file", fmt.Sprintf(out, "accept", `oifname != "wg0" meta mark != 0xca6c fib daddr type != local reject`), Absent, Present, ""},
		{"what leaves beside a set", "nft -f /rules/file", fmt.Sprintf(out, "accept", `oifname != { "lo", "wg0" } drop`), Absent, Present, ""},
		{"one protocol", "nft -f /rules/file", fmt.Sprintf(out, "accept", `oifname != "wg0" tcp dport 25 drop`), Absent, Absent, ""},
		{"something else", "nft -f /rules/file", fmt.Sprintf(out, "accept", `socket cgroupv2 level 1 "x" drop`), Absent, Unknown, "looks at"},
		{"what comes in", "nft -f /rules/file", strings.ReplaceAll(drop, "hook output", "hook input"), Absent, Absent, ""},
		{"what is forwarded", "nft -f /rules/file", strings.ReplaceAll(drop, "hook output", "hook forward"), Absent, Absent, ""},
		{"a chain that another jumps to", "nft -f /rules/file", "table inet f {\n chain kill {\n  drop\n }\n}\n", Absent, Unknown, "chain kill"},
		{"a chain and its rule on the command line", "nft add table inet f; nft add chain inet f o '{ type filter hook output priority 0; }'; nft add rule inet f o oifname != wg0 drop", "", Absent, Present, ""},
		{"a chain with a policy on the command line", "nft 'add chain inet f o { type filter hook output priority 0; policy drop; }'", "", Absent, Present, ""},
		{"IPv6 only", "nft -f /rules/file", strings.ReplaceAll(drop, "table inet", "table ip6"), Absent, Absent, ""},
		{"iptables-restore with a here-document", "iptables-restore <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\nEOF", "", Present, Absent, ""},
		{"iptables-restore with a policy", "iptables-restore < /rules/file", "# rules\n*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT DROP [0:0]\n-A OUTPUT -o wg0 -j ACCEPT\nCOMMIT\n", Absent, Present, ""},
		{"iptables-restore with a file", "iptables-restore -w 5 /rules/file", "*filter\n-A OUTPUT ! -o wg0 -m comment --comment \"no way\" -j REJECT\nCOMMIT\n", Absent, Present, ""},
		{"iptables-restore with a file of the image", "iptables-restore /etc/iptables.rules", "", Unknown, Unknown, "part of the image"},
		{"iptables-restore with something else", "iptables-restore /rules/file", "hello\n", Unknown, Unknown, "not to be understood"},
		{"iptables-restore that only tries", "iptables-restore --test /rules/file", "*filter\n:OUTPUT DROP\nCOMMIT\n", Absent, Absent, ""},
		{"ip6tables-restore", "ip6tables-restore /rules/file", "*filter\n:OUTPUT DROP\nCOMMIT\n", Absent, Absent, ""},
		{"another front end", "ufw --force enable", "", Unknown, Unknown, "ufw --force enable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, pod(`volumes:
- {name: rules, configMap: {name: rules, defaultMode: 0755}}
- {name: wg, configMap: {name: wg}}
initContainers:
- name: setup
  image: alpine:3.20
  command: [sh, -c]
  args:
  - |
`+indent(tt.command, 4)+`
  securityContext: {capabilities: {add: [NET_ADMIN]}}
  volumeMounts: [{name: rules, mountPath: /rules}]
containers:
- name: vpn
  image: masipcat/wireguard-go:1
  securityContext: {capabilities: {add: [NET_ADMIN]}}
  volumeMounts: [{name: wg, mountPath: /etc/wireguard}]`)+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: rules, namespace: jobs}
data:
  file: |
`+indent(tt.file+"\n", 4)+`
---
`+wgServer, lab())
			tun := s.tunnel(t)
			got := fmt.Sprint("masquerade ", tun.Masquerade.State, ", kill switch ", tun.KillSwitch.State)
			if want := fmt.Sprint("masquerade ", tt.masquerade, ", kill switch ", tt.killSwitch); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			var gaps []string
			for _, g := range s.gaps {
				gaps = append(gaps, g.Why)
			}
			all := strings.Join(gaps, "\n")
			if (tt.gap == "") != (len(gaps) == 0) || !strings.Contains(all, tt.gap) || len(gaps) > 1 {
				t.Errorf("gaps %q, want one with %q", all, tt.gap)
			}
		})
	}
}
