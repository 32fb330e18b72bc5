package facts

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What a pod's own scripts do to packets from 10.244.0.0/16 to 10.60.0.0/24, which its
// IPsec tunnel is for (VPN211, FG E3.5). The wanted text is the rule that rewrites,
// with what of it is not sure.
func TestScriptsBeforeIPsec(t *testing.T) {
	const ipt, nft = "iptables -t nat -A POSTROUTING ", "nft add rule ip nat postrouting "
	const masq, unless = "-o eth0 -j MASQUERADE", " unless the pod's own address is one of those"
	const fires = ipt + masq + unless
	elsewhere, inside := podsOf("10.16.0.0/16"), podsOf("10.244.0.0/16")
	const guard = "-m policy --dir out --pol ipsec -j ACCEPT"
	for _, tt := range []struct{ name, script, more, want string }{
		{"to the pod's own address", ipt + masq, "", fires},
		{"which is not one of the tunnel's", ipt + masq, elsewhere, ipt + masq},
		{"which is one of the tunnel's", ipt + masq, inside, ""},
		{"which may be one of the tunnel's", ipt + masq, podsOf("10.244.0.0/15"), fires},

		{"SNAT to the pod's own address", ipt + "-j SNAT --to-source $(hostname -i)", elsewhere, ipt + "-j SNAT --to-source $(hostname -i)"},
		{"in quotes", ipt + `-j SNAT --to-source "$(hostname -I | awk '{print $1}')"`, elsewhere, ipt + `-j SNAT --to-source "$(hostname -I | awk '{print $1}')"`},
		{"in a variable", "IP=$(ip -4 addr show eth0 | grep -o 'inet [0-9.]*' | cut -d' ' -f2)\n" + ipt + "-j SNAT --to-source $IP", elsewhere, ipt + "-j SNAT --to-source $IP"},
		{"by the downward API", ipt + "-j SNAT --to-source $POD_IP", elsewhere, ipt + "-j SNAT --to-source $POD_IP"},
		{"in braces and quotes", ipt + `-j SNAT --to-source "${POD_IP}"`, elsewhere, ipt + `-j SNAT --to-source "${POD_IP}"`},
		{"whose address is one of the tunnel's", ipt + "-j SNAT --to-source $(hostname -i)", inside, ""},
		{"SNAT to the node", ipt + "-j SNAT --to-source $NODE_IP", elsewhere, ""},
		{"SNAT to something else", ipt + "-j SNAT --to-source $SOMETHING", elsewhere, ""},
		{"SNAT to what is set twice", "IP=$(hostname -i); IP=10.244.0.9\n" + ipt + "-j SNAT --to-source $(cat /run/ip)", elsewhere, ""},
		{"SNAT to an address outside", ipt + "-j SNAT --to-source 198.51.100.7", "", ipt + "-j SNAT --to-source 198.51.100.7"},
		{"SNAT to an address outside, with ports", ipt + "-p tcp -j SNAT --to-source 198.51.100.7:1024-65535", "", ipt + "-p tcp -j SNAT --to-source 198.51.100.7:1024-65535"},
		{"SNAT to a range outside", ipt + "-j SNAT --to-source 198.51.100.7-198.51.100.9", "", ipt + "-j SNAT --to-source 198.51.100.7-198.51.100.9"},
		{"SNAT to an address that the tunnel carries", ipt + "-j SNAT --to-source 10.244.0.9", "", ""},
		{"and masquerading what is left", ipt + "-j SNAT --to-source 10.244.0.9; " + ipt + masq, "", ""},

		{"a guard before", ipt + guard + "; " + ipt + masq, "", ""},
		{"a guard behind", ipt + masq + "; " + ipt + guard, "", fires},
		{"a guard behind that is put first", ipt + masq + "; iptables -t nat -I POSTROUTING " + guard, "", ""},
		{"a guard that is put first, and the other before it", "iptables -t nat -I POSTROUTING " + guard + "; iptables -t nat -I POSTROUTING 1 " + masq, "", "iptables -t nat -I POSTROUTING 1 " + masq + unless},
		{"a guard at the second place", ipt + masq + "; iptables -t nat -I POSTROUTING 2 " + guard, "", fires},
		{"a guard that is taken away", ipt + guard + "; " + ipt + masq + "; iptables -t nat -D POSTROUTING " + guard, "", fires},
		{"a guard that is flushed", ipt + guard + "; iptables -t nat -F; " + ipt + masq, "", fires},
		{"a rule that is taken away", ipt + masq + "; iptables -t nat -D POSTROUTING " + masq, "", ""},
		{"taken away before it is set, as scripts begin", "iptables -t nat -D POSTROUTING " + masq + " || true; " + ipt + masq, "", fires},
		{"a guard in another table", "iptables -A FORWARD " + guard + "; " + ipt + masq, "", fires},
		{"a guard for what comes in", ipt + "-m policy --dir in --pol ipsec -j ACCEPT; " + ipt + masq, "", ""},
		{"only without a policy", ipt + "-m policy --dir out --pol none " + masq, "", ""},
		{"only with a policy", ipt + "-m policy --dir out --pol ipsec " + masq, "", ipt + "-m policy --dir out --pol ipsec " + masq + unless},
		{"a guard that may not be there", "[ -n \"$GUARD\" ] && " + ipt + guard + "; " + ipt + masq, "", ""},
		{"a rule that may not be there", "if [ -n \"$NAT\" ]; then " + ipt + masq + "; fi", "", ""},
		{"a rule that is checked for", "iptables -t nat -C POSTROUTING " + masq + " || " + ipt + masq, "", fires},

		{"not for the tunnel's destinations", ipt + "! -d 10.60.0.0/24 " + masq, "", ""},
		{"not for others", ipt + "! -d 10.61.0.0/24 " + masq, "", ipt + "! -d 10.61.0.0/24 " + masq + unless},
		{"returned before", ipt + "-d 10.60.0.0/16 -j RETURN; " + ipt + masq, "", ""},
		{"returned behind", ipt + masq + "; " + ipt + "-d 10.60.0.0/16 -j RETURN", "", fires},
		{"half of it returned", ipt + "-d 10.60.0.0/25 -j RETURN; " + ipt + masq, "", fires + " 10.60.0.128/25"},
		{"both halves", ipt + "-d 10.60.0.0/25,10.60.0.128/25 -j RETURN; " + ipt + masq, "", ""},
		{"for one source only", ipt + "-s 10.244.1.0/24 -d 10.60.0.0/24 -j ACCEPT; " + ipt + masq, "", fires},
		{"for all sources, in two steps", ipt + "-s 10.244.0.0/17 -d 10.60.0.0/24 -j ACCEPT; " + ipt + "-s 10.244.128.0/17 -d 10.60.0.0/24 -j ACCEPT; " + ipt + masq, "", ""},
		{"a destination known at run time", ipt + "-d $REMOTE -j ACCEPT; " + ipt + masq, "", ""},
		{"destinations of a loop", "for net in 10.60.0.0/24 10.61.0.0/24; do " + ipt + "-d $net -j ACCEPT; done; " + ipt + masq, "", ""},
		{"destinations of a loop over what is not known", "for net in $NETS; do " + ipt + "-d $net -j ACCEPT; done; " + ipt + masq, "", ""},
		{"a mask with dots", ipt + "-d 10.60.0.0/255.255.255.0 -j ACCEPT; " + ipt + masq, "", ""},
		{"a set", ipt + "-m set --match-set remote dst -j ACCEPT; " + ipt + masq, "", ""},
		{"the rule is for a set", ipt + "-m set ! --match-set remote dst " + masq, "", ""},
		{"a mark that leaves alone", ipt + "-m mark --mark 0x1 -j ACCEPT; " + ipt + masq, "", ""},
		{"the tunnel's own packets", ipt + "-p esp -j ACCEPT; " + ipt + "-p udp --dport 4500 -j ACCEPT; " + ipt + masq, "", fires},
		{"for one protocol", ipt + "-p tcp " + masq, "", ipt + "-p tcp " + masq + unless},
		{"for one port", ipt + "-p tcp --dport 443 " + masq, "", ""},
		{"not to the pod itself", ipt + "-m addrtype ! --dst-type LOCAL " + masq, "", ipt + "-m addrtype ! --dst-type LOCAL " + masq + unless},
		{"from the pod itself", ipt + "-m addrtype --src-type LOCAL " + masq, "", ""},
		{"with random ports", ipt + masq + " --random-fully", "", ipt + masq + " --random-fully" + unless},

		{"by a tunnel's interface", ipt + "-o wg0 -j MASQUERADE", "", ""},
		{"by any but the loopback", ipt + "! -o lo -j MASQUERADE", "", ipt + "! -o lo -j MASQUERADE" + unless},
		{"by any but the pod's own", ipt + "! -o eth0 -j MASQUERADE", "", ""},
		{"by an interface known at run time", ipt + "-o $DEV -j MASQUERADE", "", ""},
		{"IPv6 only", "ip6tables -t nat -A POSTROUTING " + masq, "", ""},

		{"in a chain", "iptables -t nat -N OUT; iptables -t nat -A OUT -d 10.60.0.0/25 -j RETURN; iptables -t nat -A OUT -j MASQUERADE; " + ipt + "-j OUT", "", "iptables -t nat -A OUT -j MASQUERADE" + unless + " 10.60.0.128/25"},
		{"in a chain that returns", "iptables -t nat -A OUT -d 10.60.0.0/16 -j RETURN; iptables -t nat -A OUT -j MASQUERADE; " + ipt + "-j OUT", "", ""},
		{"returned from a chain, and rewritten behind it", "iptables -t nat -A OUT -d 10.60.0.0/16 -j RETURN; " + ipt + "-j OUT; " + ipt + masq, "", fires},
		{"accepted in a chain", "iptables -t nat -A OUT -d 10.60.0.0/16 -j ACCEPT; " + ipt + "-j OUT; " + ipt + masq, "", ""},
		{"a chain that nothing leads to", "iptables -t nat -A OUT -j MASQUERADE", "", ""},
		{"a chain that leads to itself", "iptables -t nat -A OUT -j OUT; " + ipt + "-j OUT; " + ipt + masq, "", ""},
		{"a chain whose name is not known", ipt + "-j $CHAIN; " + ipt + masq, "", ""},
		{"a whole call that is not known", "iptables $RULE; " + ipt + masq, "", ""},
		{"an operation that is not known", "iptables -t nat $ACTION POSTROUTING " + guard + "; " + ipt + masq, "", ""},
		{"a table that is not known", "iptables -t $TABLE -I POSTROUTING " + guard + "; " + ipt + masq, "", ""},
		{"an addition that is not known", ipt + "$MORE " + masq, "", ""},

		{"iptables-restore", "iptables-restore <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -d 10.60.0.0/25 -j ACCEPT\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\nEOF", "", "iptables-restore <<EOF *nat :POSTROUTING ACCEPT [0:0] -A POSTROUTING -d 10.60.0.0/25 -j ACCEPT -A P…" + unless + " 10.60.0.128/25"},
		{"iptables-restore with a guard", "iptables-restore <<EOF\n*nat\n-A POSTROUTING " + guard + "\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\nEOF", "", ""},
		{"iptables-restore takes away what was there", ipt + masq + "; iptables-restore <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\nEOF", "", ""},
		{"or leaves it", ipt + masq + "; iptables-restore -n <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\nEOF", "", fires},
		{"iptables-restore of a file that the script wrote", "cat > /tmp/rules <<EOF\n*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -d 10.60.0.0/25 -j ACCEPT\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\nEOF\niptables-restore /tmp/rules", "", "iptables-restore /tmp/rules" + unless + " 10.60.0.128/25"},
		{"nft of a file that the script wrote", "cat > /tmp/rules <<EOF\ntable ip nat {\n  chain postrouting {\n    type nat hook postrouting priority 100;\n    masquerade\n  }\n}\nEOF\nnft -f /tmp/rules", "", "nft -f /tmp/rules" + unless},
		{"what is printed into nft", "echo 'add rule ip nat postrouting oifname eth0 masquerade' | nft -f -", "", "nft -f -" + unless},
		{"a front end", ipt + masq + "; ufw enable", "", ""},
		{"iptables-restore of a file of the image", ipt + masq + "; iptables-restore < /etc/iptables/rules.v4", "", ""},

		{"nft", nft + "oifname eth0 masquerade", "", nft + "oifname eth0 masquerade" + unless},
		{"nft in one word", "nft 'add rule ip nat postrouting oifname \"eth0\" counter masquerade'", "", `nft 'add rule ip nat postrouting oifname "eth0" counter masquerade'` + unless},
		{"nft, a chain of another name", "nft 'add chain inet fw out { type nat hook postrouting priority srcnat; policy accept; }'; nft add rule inet fw out masquerade", "", "nft add rule inet fw out masquerade" + unless},
		{"nft, a chain that packets do not come to", "nft add rule inet fw out masquerade", "", ""},
		{"nft, a chain of another type", "nft 'add chain inet fw out { type filter hook postrouting priority 0; }'; nft add rule inet fw out masquerade", "", ""},
		{"nft, for other destinations", nft + "ip daddr != 10.60.0.0/16 masquerade", "", ""},
		{"nft, for a set of others", nft + "'ip daddr != { 10.0.0.0/8, 192.168.0.0/16 } oifname eth0 masquerade'", "", ""},
		{"nft, for a set", nft + "'ip daddr { 10.60.0.0/25, 192.168.0.0/16 } masquerade'", "", nft + "'ip daddr { 10.60.0.0/25, 192.168.0.0/16 } masquerade'" + unless + " 10.60.0.0/25"},
		{"nft, for a set of a name", nft + "ip daddr @remote masquerade", "", ""},
		{"nft, left alone before", nft + "ip daddr 10.60.0.0/16 accept; " + nft + "masquerade", "", ""},
		{"nft, left alone behind", nft + "masquerade; " + nft + "ip daddr 10.60.0.0/16 accept", "", nft + "masquerade" + unless},
		{"nft, left alone by a rule that is put first", nft + "masquerade; nft insert rule ip nat postrouting ip daddr 10.60.0.0/16 return", "", ""},
		{"nft, with a policy", nft + "rt ipsec exists accept; " + nft + "masquerade", "", ""},
		{"nft, without a policy", nft + "rt ipsec missing masquerade", "", ""},
		{"nft, what came out of a tunnel", nft + "meta ipsec exists accept; " + nft + "masquerade", "", ""},
		{"nft, for other sources", nft + "ip saddr 10.99.0.0/24 masquerade", "", ""},
		{"nft, by a tunnel's interface", nft + "oifname { wg0, tun0 } masquerade", "", ""},
		{"nft, to an address outside", nft + "oifname eth0 snat to 198.51.100.7", "", nft + "oifname eth0 snat to 198.51.100.7"},
		{"nft, to an address that the tunnel carries", nft + "oifname eth0 snat to 10.244.0.9", "", ""},
		{"nft, in a chain", "nft add rule ip nat own ip daddr 10.60.0.0/25 return; nft add rule ip nat own masquerade; " + nft + "jump own", "", "nft add rule ip nat own masquerade" + unless + " 10.60.0.128/25"},
		{"nft, a file", "nft -f - <<EOF\ntable ip nat {\n  chain postrouting {\n    type nat hook postrouting priority 100; policy accept;\n    ip daddr 10.60.0.0/25 accept\n    oifname \"eth0\" masquerade\n  }\n}\nEOF", "", "nft -f - <<EOF table ip nat { chain postrouting { type nat hook postrouting priority 100; policy ac…" + unless + " 10.60.0.128/25"},
		{"nft, a file that is not in view", nft + "masquerade; nft -f /etc/nftables.conf", "", ""},
		{"nft, everything flushed", nft + "masquerade; nft flush ruleset", "", ""},
		{"nft accepts in one chain, iptables rewrites in its own", nft + "ip daddr 10.60.0.0/16 accept; " + ipt + masq, "", fires},

		{"a script of the image", "/opt/setup.sh; " + ipt + masq, "", ""},
		{"a program of the image", ipt + masq + "; exec /usr/sbin/ipsec start --nofork", "", fires},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rewritesOf(t, scriptGateway(tt.script, "")+tt.more); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// rewritesOf tells the rules, and which destinations where it is not all of them.
func rewritesOf(t *testing.T, text string) string {
	t.Helper()
	var out []string
	for _, p := range factsOf(t, decode(t, "unit", text)).Pods {
		for _, tn := range p.Tunnels {
			for _, r := range tn.Rewrites {
				said := r.Says
				if r.Ref.IsZero() || len(r.Sources) == 0 {
					t.Errorf("%+v", r)
				}
				if r.Unless != "" {
					said += " unless " + r.Unless
				}
				if to := strings.Join(r.Prefixes, " "); to != "10.60.0.0/24" {
					said += " " + to
				}
				out = append(out, said)
			}
		}
	}
	return strings.Join(out, "; ")
}

// scriptGateway is ipsecGateway for scripts of any text, with fields of the pod.
func scriptGateway(script, spec string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(script)
	text := ipsecGateway(spec, quoted)
	return lineBefore(text, "command: ", "env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: NODE_IP, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]")
}

// lineBefore puts a line before the first one that begins with a text, as deep as that.
func lineBefore(text, begins, line string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if t := strings.TrimLeft(l, " "); strings.HasPrefix(t, begins) {
			return strings.Join(append(append(append([]string{}, lines[:i]...), l[:len(l)-len(t)]+line), lines[i:]...), "\n")
		}
	}
	return text
}

// The scripts that strongSwan runs when a connection comes up, in their own variables.
func TestUpdownScripts(t *testing.T) {
	gateway := func(updown, script string) string {
		text := strings.Replace(scriptGateway("ipsec start", ""), "      rightsubnet=10.60.0.0/24\n", "      rightsubnet=10.60.0.0/24\n      leftupdown="+updown+"\n", 1)
		text = strings.Replace(text, "volumeMounts: [", "volumeMounts: [{name: c, mountPath: /etc/updown.sh, subPath: updown.sh}, ", 1)
		return text + "  updown.sh: |\n    #!/bin/sh\n    " + strings.ReplaceAll(script, "\n", "\n    ") + "\n"
	}
	const unless = " unless the pod's own address is one of those"
	cases := "case \"$PLUTO_VERB\" in\nup-client) iptables -t nat -%s POSTROUTING -s $PLUTO_MY_CLIENT -d $PLUTO_PEER_CLIENT %s ;;\ndown-client) iptables -t nat -D POSTROUTING -s $PLUTO_MY_CLIENT -d $PLUTO_PEER_CLIENT %s ;;\nesac"
	for _, tt := range []struct{ name, text, want string }{
		{"it rewrites", gateway("/etc/updown.sh", fmt.Sprintf(cases, "A", "-j MASQUERADE", "-j MASQUERADE")), "iptables -t nat -A POSTROUTING -s $PLUTO_MY_CLIENT -d $PLUTO_PEER_CLIENT -j MASQUERADE" + unless},
		{"with arguments", gateway("/etc/updown.sh iptables", fmt.Sprintf(cases, "A", "-j MASQUERADE", "-j MASQUERADE")), "iptables -t nat -A POSTROUTING -s $PLUTO_MY_CLIENT -d $PLUTO_PEER_CLIENT -j MASQUERADE" + unless},
		{"it guards", strings.Replace(gateway("/etc/updown.sh", fmt.Sprintf(cases, "I", "-j ACCEPT", "-j ACCEPT")), "ipsec start", "iptables -t nat -A POSTROUTING -j MASQUERADE; ipsec start", 1), ""},
		{"it guards behind", strings.Replace(gateway("/etc/updown.sh", fmt.Sprintf(cases, "A", "-j ACCEPT", "-j ACCEPT")), "ipsec start", "iptables -t nat -A POSTROUTING -j MASQUERADE; ipsec start", 1), "iptables -t nat -A POSTROUTING -j MASQUERADE" + unless},
		{"it is not in view", strings.Replace(gateway("/opt/updown.sh", "true"), "ipsec start", "iptables -t nat -A POSTROUTING -j MASQUERADE; ipsec start", 1), ""},
		{"strongSwan's own", strings.Replace(gateway("ipsec _updown iptables", "true"), "ipsec start", "iptables -t nat -A POSTROUTING -j MASQUERADE; ipsec start", 1), "iptables -t nat -A POSTROUTING -j MASQUERADE" + unless},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rewritesOf(t, tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// leftsourceip: what this side sends comes from an address that the tunnel gives or
// names, and masquerading takes it away.
func TestVirtualAddressBeforeIPsec(t *testing.T) {
	with := func(line, script string) string {
		return strings.Replace(scriptGateway(script, ""), "      leftsubnet=10.244.0.0/16\n", line, 1)
	}
	const masq = "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"
	for _, tt := range []struct{ name, text, want string }{
		{"named", with("      leftsourceip=10.9.0.5\n", masq) + podsOf("10.244.0.0/16"), masq},
		{"named, and SNAT to it", with("      leftsourceip=10.9.0.5\n", "iptables -t nat -A POSTROUTING -d 10.60.0.0/24 -j SNAT --to-source 10.9.0.5"), ""},
		{"given by the far side", with("      leftsourceip=%config\n", masq), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rewritesOf(t, tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// On the host network the pod's rules stand among the node's: whether before or
// behind them is not known, and a rule that leaves the tunnel's packets alone may be
// the guard.
func TestScriptsOnTheHost(t *testing.T) {
	const onHost = "\n      hostNetwork: true"
	pods := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	for _, tt := range []struct{ name, text, want string }{
		{"no guard", scriptGateway("ipsec start", onHost) + pods, "natOutgoing of IPPool pods"},
		{"a guard", scriptGateway("iptables -t nat -I POSTROUTING -s 10.244.0.0/16 -d 10.60.0.0/24 -j ACCEPT; ipsec start", onHost) + pods, ""},
		{"a guard by the policy", scriptGateway("iptables -t nat -I POSTROUTING -m policy --dir out --pol ipsec -j ACCEPT; ipsec start", onHost) + pods, ""},
		{"a guard for a half", scriptGateway("iptables -t nat -I POSTROUTING -d 10.60.0.0/25 -j ACCEPT; ipsec start", onHost) + pods, "natOutgoing of IPPool pods 10.60.0.128/25"},
		{"a guard for something else", scriptGateway("iptables -t nat -I POSTROUTING -d 10.61.0.0/24 -j ACCEPT; ipsec start", onHost) + pods, "natOutgoing of IPPool pods"},
		{"the pod rewrites to the node's address", scriptGateway("iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", onHost) + podsOf("10.244.0.0/16"), "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"},
		{"which the tunnel carries", scriptGateway("iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", onHost) + kopsCluster("10.16.0.0/16", "10.244.0.0/20"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rewritesOf(t, tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Containers that run at one time have no order.
func TestScriptsOfSeveralContainers(t *testing.T) {
	const masq, guard = "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", "iptables -t nat -A POSTROUTING -d 10.60.0.0/24 -j ACCEPT"
	side := func(field, script string) string {
		return "\n      " + field + ": [{name: side, image: alpine, command: [sh, -c, '" + script + "'], securityContext: {capabilities: {add: [NET_ADMIN]}}}]"
	}
	const unless = " unless the pod's own address is one of those"
	for _, tt := range []struct{ name, text, want string }{
		{"an init container guards", scriptGateway(masq, side("initContainers", guard)), ""},
		{"an init container rewrites before the guard", scriptGateway(guard, side("initContainers", masq)), masq + unless},
		{"another container guards", lineBefore(scriptGateway(masq, ""), "- name: strongswan", "- {name: side, image: alpine, command: [sh, -c, '"+guard+"']}"), ""},
		{"another container guards, and is listed behind", lineBefore(scriptGateway(masq, ""), "volumes:", "- {name: side, image: alpine, command: [sh, -c, '"+guard+"']}"), ""},
		{"a guard when the container ends", lineBefore(scriptGateway(masq, ""), "volumeMounts:", "lifecycle: {preStop: {exec: {command: [sh, -c, 'iptables -t nat -I POSTROUTING -d 10.60.0.0/24 -j ACCEPT']}}}"), masq + unless},
		{"a guard after its start", lineBefore(scriptGateway(masq, ""), "volumeMounts:", "lifecycle: {postStart: {exec: {command: [sh, -c, '"+guard+"']}}}"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rewritesOf(t, tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Rules and selectors without end are given up, and then nothing is said.
func TestEndlessScripts(t *testing.T) {
	var script, selectors strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&script, "iptables -t nat -A POSTROUTING -s 10.244.%d.%d/32 -d 10.60.0.%d/32 -j ACCEPT\n", i/250, i%250, i%250)
	}
	for i := range 1000 {
		fmt.Fprintf(&selectors, "172.%d.%d.0/25,", 16+i/250, i%250)
	}
	text := scriptGateway(script.String()+"iptables -t nat -A POSTROUTING -j MASQUERADE", "")
	text = strings.Replace(text, "rightsubnet=10.60.0.0/24", "rightsubnet="+selectors.String()+"10.60.0.0/24", 1)
	start := time.Now()
	if got := rewritesOf(t, text); got != "" {
		t.Errorf("got %q", got)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}
