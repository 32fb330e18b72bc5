package facts

import (
	"fmt"
	"strings"
	"testing"
)

// What a script does counts wherever the manifest runs it, and however it is
// put, as far as a reader would follow it.
func TestEffectsOfScripts(t *testing.T) {
	effects := map[string]struct {
		plain, variable, loop, document string
		seen                            func(p *Pod) string
	}{
		"sysctl": {
			"sysctl -w net.ipv4.ip_forward=1", "K=net.ipv4.ip_forward; sysctl -w $K=1",
			"for k in ipv4.ip_forward; do sysctl -w net.$k=1; done", "", forwardedBy,
		},
		"proc": {
			"echo 1 > /proc/sys/net/ipv4/ip_forward", "P=/proc/sys/net/ipv4; echo 1 > $P/ip_forward",
			"for f in /proc/sys/net/ipv4/ip_forward; do echo 1 > $f; done", "", forwardedBy,
		},
		"iptables": {
			"iptables -t nat -A POSTROUTING -s 10.9.1.0/24 -o eth0 -j MASQUERADE", "IF=eth0; iptables -t nat -A POSTROUTING -o $IF -j MASQUERADE",
			"for n in 10.9.1.0/24; do iptables -t nat -A POSTROUTING -s $n -j MASQUERADE; done", "", masqueradedBy,
		},
		"nft": {
			"nft add rule ip nat post oifname eth0 masquerade", "V=masquerade; nft add rule ip nat post $V",
			"for i in eth0; do nft add rule ip nat post oifname $i masquerade; done",
			"nft -f - <<EOF\ntable ip nat {\n  chain post {\n    type nat hook postrouting priority 100;\n    oifname eth0 masquerade\n  }\n}\nEOF", masqueradedBy,
		},
		"ip route": {
			"ip route add 10.96.0.0/12 via 10.244.1.1 dev eth0", "NET=10.96.0.0/12; ip route add $NET via 10.244.1.1 dev eth0",
			"for n in 10.96.0.0/12; do ip route add $n via 10.244.1.1 dev eth0; done", "", bypassedBy,
		},
		"resolv.conf": {
			"echo nameserver 10.2.0.1 > /etc/resolv.conf", "NS=10.2.0.1; echo nameserver $NS > /etc/resolv.conf",
			"for f in /etc/resolv.conf; do echo nameserver 10.2.0.1 > $f; done", "cat > /etc/resolv.conf <<EOF\nnameserver 10.2.0.1\nEOF", resolvedBy,
		},
		"resolvconf": {
			"echo nameserver 10.2.0.1 | resolvconf -a tun0", "NS=10.2.0.1; echo nameserver $NS | resolvconf -a tun0",
			"for n in 10.2.0.1; do echo nameserver $n | resolvconf -a tun0; done", "resolvconf -a tun0 <<EOF\nnameserver 10.2.0.1\nEOF", resolvedBy,
		},
		"ip rule": {
			"ip rule add to 10.96.0.0/12 lookup main", "NET=10.96.0.0/12; ip rule add to $NET lookup main",
			"for n in 10.96.0.0/12; do ip rule add to $n lookup main; done", "", bypassedBy,
		},
	}
	for name, e := range effects {
		forms := map[string]string{
			"plain": e.plain, "variable": e.variable, "for": e.loop,
			"after &&": "true && " + e.plain, "before ||": e.plain + " || true", "after ||": "false || " + e.plain,
			"if": "if true; then " + e.plain + "; fi", "else": "if false; then :; else " + e.plain + "; fi",
			"function": "go() { " + e.plain + "; }; go", "sh -c": "sh -c '" + e.plain + "'",
			"here-document": "sh <<EOF\n" + e.plain + "\nEOF", "document": e.document,
		}
		for form, text := range forms {
			for place, manifest := range placesOf(text) {
				if text == "" || manifest == "" {
					continue
				}
				t.Run(strings.Join([]string{name, form, place}, "/"), func(t *testing.T) {
					pods := read(t, manifest).Pods
					if len(pods) != 1 || len(pods[0].Tunnels) != 1 {
						t.Fatalf("pods %+v", pods)
					}
					if got := e.seen(&pods[0]); got != "" {
						t.Errorf("%s: %s", text, got)
					}
				})
			}
		}
		never := "if false; then " + e.plain + "; fi"
		for place, manifest := range placesOf(never) {
			t.Run(strings.Join([]string{name, "never", place}, "/"), func(t *testing.T) {
				if got := e.seen(&read(t, manifest).Pods[0]); got == "" {
					t.Errorf("%s counts", never)
				}
			})
		}
	}
}

// placesOf runs a script at every place of a pod with a WireGuard tunnel; ""
// where the place takes one line only.
func placesOf(text string) map[string]string {
	quoted := fmt.Sprintf("%q", text)
	with := func(hooks, body string, more ...string) string {
		return pod(`
hostNetwork: false
volumes: [{name: c, configMap: {name: wg}}, {name: s, configMap: {name: scripts}}]
containers:
  - {name: vpn, image: "ghcr.io/masipcat/wireguard-go-docker:1", securityContext: {privileged: true}, volumeMounts: [{name: c, mountPath: /etc/wireguard}]`+body+`}
`+strings.Join(more, "")) + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts, namespace: jobs}
data: {run.sh: ` + quoted + `}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: wg, namespace: jobs}
data:
  wg0.conf: |
    [Interface]
    PrivateKey = x
    Address = 10.9.1.1/24
` + hooks + `    [Peer]
    PublicKey = y
    Endpoint = 198.51.100.7:51820
    AllowedIPs = 0.0.0.0/0
`
	}
	helper := func(runs string) string {
		return "initContainers:\n  - {name: setup, image: \"busybox:1.36\", securityContext: {privileged: true}, volumeMounts: [{name: s, mountPath: /scripts}], " + runs + "}\n"
	}
	out := map[string]string{
		"command":   with("", "", helper("command: [sh, -c, "+quoted+"]")),
		"args":      with("", "", helper("command: [/bin/sh], args: [-ec, "+quoted+"]")),
		"mounted":   with("", "", helper("command: [/scripts/run.sh]")),
		"sh file":   with("", "", helper("command: [sh, /scripts/run.sh]")),
		"postStart": with("", ", lifecycle: {postStart: {exec: {command: [sh, -c, "+quoted+"]}}}"),
	}
	if !strings.Contains(text, "\n") {
		out["PostUp"] = with("    PostUp = "+text+"\n", "")
		out["PreUp"] = with("    PreUp = "+text+"\n", "")
	}
	return out
}

func forwardedBy(p *Pod) string {
	for _, e := range p.Forwarding.IPv4.Evidence {
		if e.Value == "1" && e.Effective == Present && !e.Conditional {
			return ""
		}
	}
	return fmt.Sprintf("forwarding %+v", p.Forwarding.IPv4)
}

func masqueradedBy(p *Pod) string {
	if m := p.Tunnels[0].Masquerade; m.State != Present {
		return fmt.Sprintf("masquerade %+v", m)
	}
	return ""
}

// resolvedBy: what the tunnel's own container writes is its resolver; of what
// another writes only that it does is known.
func resolvedBy(p *Pod) string {
	res := p.Tunnels[0].Resolver
	if res.Rewrites == Present && strings.Join(res.Servers, " ") == "10.2.0.1" || res.Rewrites == Unknown && res.Why != "" {
		return ""
	}
	return fmt.Sprintf("resolver %+v", res)
}

func bypassedBy(p *Pod) string {
	if b := p.Tunnels[0].Bypass; b.State != Present || prefixesOf(b.Entries) != "10.96.0.0/12" {
		return fmt.Sprintf("bypass %+v", b)
	}
	return ""
}
