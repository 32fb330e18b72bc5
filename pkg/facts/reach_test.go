package facts

import (
	"fmt"
	"strings"
	"testing"
)

// What a script does on some ways only is not known, unless every way does it or
// what decides is what a reader takes for granted.
func TestReachedInScripts(t *testing.T) {
	const masq = "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"
	const drop = "iptables -P OUTPUT DROP"
	for _, tt := range []struct {
		name, script string
		masquerade   Known
		killSwitch   Known
		forwarding   Known
	}{
		{"nothing", "true", Absent, Absent, Absent},
		{"all of it", masq + "\n" + drop + "\nsysctl -w net.ipv4.ip_forward=1", Present, Present, Present},
		{"on one side of if", "if [ -n \"$NAT\" ]; then " + masq + "; else " + drop + "; fi", Unknown, Unknown, Absent},
		{"on both sides of if", "if [ -n \"$NAT\" ]; then " + masq + "; else " + masq + "; fi", Present, Absent, Absent},
		{"on both sides, each in its own words", "if [ -n \"$A\" ]; then " + masq + "; else iptables-nft -t nat -A POSTROUTING -j SNAT --to-source $IP; fi", Present, Absent, Absent},
		{"behind a test of a variable", "[ \"$KILL\" = on ] && " + drop, Absent, Unknown, Absent},
		{"in a case", "case \"$MODE\" in strict) " + drop + ";; esac", Absent, Unknown, Absent},
		{"in a case whatever it is", "case \"$MODE\" in strict) " + drop + ";; *) " + drop + "; " + masq + ";; esac", Unknown, Present, Absent},
		{"in a loop over what is not known", "for d in $DEVICES; do iptables -t nat -A POSTROUTING -o $d -j MASQUERADE; done", Unknown, Absent, Absent},
		{"in a loop over what is known", "for d in eth0 eth1; do iptables -t nat -A POSTROUTING -o $d -j MASQUERADE; done", Present, Absent, Absent},
		{"in a loop without end", "while true; do " + drop + "; sleep 30; done", Absent, Present, Absent},
		{"in a loop while something holds", "while [ -z \"$(cat /state)\" ]; do " + masq + "; done", Unknown, Absent, Absent},
		{"behind a loop that waits", "until ip link show wg0; do sleep 1; done; " + drop, Absent, Present, Absent},
		{"behind an early end", "[ -n \"$OFF\" ] && exit 0\n" + drop, Absent, Unknown, Absent},
		{"behind a failure", "[ -n \"$IP\" ] || exit 1\n" + drop, Absent, Present, Absent},
		{"a tool that is there", "if command -v iptables >/dev/null; then " + masq + "; fi", Present, Absent, Absent},
		{"one tool or another", "if command -v nft; then nft add rule ip nat postrouting masquerade; else " + masq + "; fi", Present, Absent, Absent},
		{"a tool and a variable", "if command -v iptables && [ -n \"$NAT\" ]; then " + masq + "; fi", Unknown, Absent, Absent},
		{"a tool that is missing", "if ! command -v nft; then " + masq + "; fi", Unknown, Absent, Absent},
		{"an action that works", "if modprobe iptable_nat; then " + masq + "; fi", Present, Absent, Absent},
		{"the tunnel's interface", "if ip link show wg0; then " + drop + "; fi", Absent, Present, Absent},
		{"the tunnel's interface among the files", "[ -d /sys/class/net/wg0 ] && " + drop, Absent, Present, Absent},
		{"a file that the manifest mounts", "if [ -f /rules/enabled ]; then " + masq + "; fi", Present, Absent, Absent},
		{"a file that the manifest mounts, and a tool", "[ -f /rules/enabled ] && command -v iptables && " + masq, Present, Absent, Absent},
		{"a file that the manifest mounts, asked otherwise", "if [ ! -f /rules/enabled ]; then " + masq + "; fi", Absent, Absent, Absent},
		{"either of two files, one of which is mounted", "if [ -f /rules/enabled ] || [ -f /other ]; then " + masq + "; fi", Present, Absent, Absent},
		{"neither of two files, one of which is mounted", "if [ ! -f /rules/enabled ] && [ ! -f /other ]; then " + masq + "; fi", Absent, Absent, Absent},
		{"a directory that the manifest mounts", "if [ -d /rules ]; then " + masq + "; fi", Present, Absent, Absent},
		{"a file of a mounted directory that is not there", "if [ -f /rules/off ]; then " + masq + "; fi", Absent, Absent, Absent},
		{"a file of the image", "if [ -f /etc/nat ]; then " + masq + "; fi", Unknown, Absent, Absent},
		{"a mark of an earlier run", "[ -f /tmp/done ] || { " + masq + "; touch /tmp/done; }", Present, Absent, Absent},
		{"check before the rule", "iptables -t nat -C POSTROUTING -o eth0 -j MASQUERADE || " + masq, Present, Absent, Absent},
		{"check before the rule, as if", "if ! iptables -t nat -C POSTROUTING -o eth0 -j MASQUERADE; then " + masq + "; fi", Present, Absent, Absent},
		{"a look at all the rules before the rule", "iptables-save | grep -q MASQUERADE || " + masq, Present, Absent, Absent},
		{"check before the write", "[ \"$(cat /proc/sys/net/ipv4/ip_forward)\" = 1 ] || echo 1 > /proc/sys/net/ipv4/ip_forward", Absent, Absent, Present},
		{"a write on one side", "if [ -n \"$F\" ]; then sysctl -w net.ipv4.ip_forward=1; fi", Absent, Absent, Unknown},
		{"a write on both sides", "if [ -n \"$F\" ]; then sysctl -w net.ipv4.ip_forward=1; else echo 1 > /proc/sys/net/ipv4/ip_forward; fi", Absent, Absent, Present},
		{"a write in all of a case", "case $A in a) sysctl -w net.ipv4.ip_forward=1;; *) sysctl -w net.ipv4.ip_forward=1;; esac", Absent, Absent, Present},
		{"a write in a loop that waits", "while ! sysctl -w net.ipv4.ip_forward=1; do sleep 1; done", Absent, Absent, Present},
		{"a write behind a mounted file", "[ -e /rules/enabled ] && sysctl -w net.ipv4.ip_forward=1", Absent, Absent, Present},
		{"a write that a mounted file excludes", "[ -e /rules/enabled ] || sysctl -w net.ipv4.ip_forward=1", Absent, Absent, Absent},
		{"from a function on one side", "nat() { " + masq + "; }\nif [ -n \"$NAT\" ]; then nat; fi", Unknown, Absent, Absent},
		{"only for IPv6", "if [ -n \"$A\" ]; then ip6tables -P OUTPUT DROP; fi", Absent, Absent, Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, pod(`volumes:
- {name: rules, configMap: {name: rules}}
- {name: wg, configMap: {name: wg}}
initContainers:
- name: setup
  image: alpine:3.20
  command: [sh, -c]
  args:
  - |
`+indent(tt.script, 4)+`
  securityContext: {privileged: true}
  volumeMounts: [{name: rules, mountPath: /rules}]
containers:
- name: vpn
  image: masipcat/wireguard-go:1
  securityContext: {capabilities: {add: [NET_ADMIN]}}
  volumeMounts: [{name: wg, mountPath: /etc/wireguard}]`)+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: rules, namespace: jobs}
data: {enabled: "1"}
---
`+wgServer, lab())
			tun, forwarding := s.tunnel(t), s.pods[0].pod.Forwarding.IPv4.State
			killSwitch := tun.KillSwitch.State
			if tun.Side == "server" && killSwitch == Unknown && tt.killSwitch == Absent && len(s.gaps) == 0 {
				killSwitch = Absent
			}
			got := fmt.Sprint("masquerade ", tun.Masquerade.State, ", kill switch ", killSwitch, ", forwarding ", forwarding)
			if want := fmt.Sprint("masquerade ", tt.masquerade, ", kill switch ", tt.killSwitch, ", forwarding ", tt.forwarding); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			var gaps []string
			for _, g := range s.gaps {
				gaps = append(gaps, g.Why)
			}
			unknown := 0 // what hangs on one place is one gap
			for _, state := range []Known{tt.masquerade, tt.killSwitch, tt.forwarding} {
				if state == Unknown {
					unknown++
				}
			}
			if len(gaps) > unknown || len(gaps) == 0 && unknown > 0 {
				t.Errorf("%d gaps of %d unknown: %s", len(gaps), unknown, strings.Join(gaps, "\n"))
			}
		})
	}
}

// wgServer is a WireGuard server's configuration.
const wgServer = `apiVersion: v1
kind: ConfigMap
metadata: {name: wg, namespace: jobs}
data:
  wg0.conf: |
    [Interface]
    PrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
    Address = 10.9.0.1/24
    ListenPort = 51820
    [Peer]
    PublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=
    AllowedIPs = 10.9.0.2/32
`
