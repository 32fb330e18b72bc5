package facts

import (
	"strings"
	"testing"
)

// wgClient is a wg-quick client with a configuration in a Secret.
func wgClient(podLevel, container, allowed string) string {
	return deployment(podLevel+`
volumes: [{name: conf, secret: {secretName: tunnel}}]
containers:
  - {name: app, image: registry.example.com/demo/app:1}
  - name: wg
`+indent(container, 4)+`
    volumeMounts:
      - {name: conf, mountPath: /config/wg_confs}
      - {name: conf, mountPath: /etc/wireguard}
`) + `
---
apiVersion: v1
kind: Secret
metadata: {name: tunnel, namespace: edge}
stringData:
  wg0.conf: |
    [Interface]
    PrivateKey = AAAA
    Address = 10.2.0.2/32
    MTU = 1380
    [Peer]
    PublicKey = BBBB
    AllowedIPs = ` + allowed + `
    Endpoint = [2001:db8::7]:51820
`
}

const (
	netAdmin   = "securityContext: {capabilities: {add: [NET_ADMIN]}}"
	privileged = "securityContext: {privileged: true}"
	marked     = "securityContext: {sysctls: [{name: net.ipv4.conf.all.src_valid_mark, value: '1'}]}\n"
	lsio       = "image: lscr.io/linuxserver/wireguard:1.0.20210914\n"
	masipcat   = "image: ghcr.io/masipcat/wireguard-go-docker:0.0.20230223\n"
)

func TestReversePathMark(t *testing.T) {
	for _, tt := range []struct {
		name, manifest string
		mark, loose    Known
		write          string
	}{
		{"nothing sets it", wgClient("", lsio+netAdmin, "0.0.0.0/0"), Absent, Absent, markUnset},
		{"a pod sysctl", wgClient(marked, lsio+netAdmin, "0.0.0.0/0"), Present, Absent, markUnset},
		{"a pod sysctl with slashes", wgClient(strings.ReplaceAll(marked, "net.ipv4.conf.all.src_valid_mark", "net/ipv4/conf/all/src_valid_mark"), lsio+netAdmin, "0.0.0.0/0"), Present, Absent, markUnset},
		{"of the uplink only", wgClient(strings.Replace(marked, ".all.", ".eth0.", 1), lsio+netAdmin, "0.0.0.0/0"), Present, Absent, markUnset},
		{"of interfaces to come", wgClient(strings.Replace(marked, ".all.", ".default.", 1), lsio+netAdmin, "0.0.0.0/0"), Unknown, Absent, markUnset},
		{"a privileged init container", wgClient("initContainers:\n  - {name: mark, image: busybox, command: [sysctl, -w, net.ipv4.conf.all.src_valid_mark=1], securityContext: {privileged: true}}\n", lsio+netAdmin, "0.0.0.0/0"), Present, Absent, markUnset},
		{"an unprivileged init container", wgClient("initContainers:\n  - {name: mark, image: busybox, command: [sysctl, -w, net.ipv4.conf.all.src_valid_mark=1]}\n", lsio+netAdmin, "0.0.0.0/0"), Absent, Absent, markUnset},
		{"wg-quick writes it itself", wgClient("", lsio+privileged, "0.0.0.0/0"), Present, Absent, markUnset},
		{"a loose filter instead", wgClient("securityContext: {sysctls: [{name: net.ipv4.conf.all.rp_filter, value: '2'}]}\n", lsio+netAdmin, "0.0.0.0/0"), Absent, Present, markUnset},
		{"a strict filter", wgClient("securityContext: {sysctls: [{name: net.ipv4.conf.all.rp_filter, value: '1'}]}\n", lsio+netAdmin, "0.0.0.0/0"), Absent, Absent, markUnset},
		{"no filter of conf.all leaves the interface's", wgClient("securityContext: {sysctls: [{name: net.ipv4.conf.all.rp_filter, value: '0'}]}\n", lsio+netAdmin, "0.0.0.0/0"), Absent, Unknown, markUnset},
		{"an old wg-quick", wgClient(marked, masipcat+netAdmin, "0.0.0.0/0"), Present, Absent, markAlways},
		{"a wg-quick of unknown age", wgClient("", "image: ghcr.io/masipcat/wireguard-go-docker:latest\n"+netAdmin, "0.0.0.0/0"), Absent, Absent, markUpstream},
		{"an image that took it out", wgClient("", "image: jordanpotter/wireguard\n"+privileged, "0.0.0.0/0"), Absent, Absent, markNever},
		{"no default route", wgClient("", lsio+privileged, "10.60.0.0/16"), Absent, Absent, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := look(t, tt.manifest).pods[0].pod
			if p.SrcValidMark.State != tt.mark || p.LooseFilter.State != tt.loose || p.Tunnels[0].MarkWrite != tt.write {
				t.Errorf("mark %s, loose filter %s, wg-quick writes %q; want %s, %s, %q\n%+v", p.SrcValidMark.State, p.LooseFilter.State, p.Tunnels[0].MarkWrite, tt.mark, tt.loose, tt.write, p.SrcValidMark.Evidence)
			}
		})
	}
}

func TestNeedsPrivilege(t *testing.T) {
	one := func(image, more string) string {
		return deployment("containers:\n  - {name: app, image: registry.example.com/demo/app:1}\n  - name: vpn\n    image: " + image + "\n    " + privileged + "\n" + indent(more, 4))
	}
	for _, tt := range []struct {
		name, manifest string
		want           Known
	}{
		{"gluetun", one("ghcr.io/qdm12/gluetun:v3.40", ""), Absent},
		{"gluetun behind a visible command", one("ghcr.io/qdm12/gluetun:v3.40", "command: [sh, -c, 'sleep 5; exec /gluetun-entrypoint']"), Absent},
		{"gluetun behind a script that cannot be seen", one("ghcr.io/qdm12/gluetun:v3.40", "command: [sh, -c, /opt/start.sh]"), Unknown},
		{"a script that loads modules", one("ghcr.io/qdm12/gluetun:v3.40", "command: [sh, -c, 'modprobe tun; exec /gluetun-entrypoint']"), Present},
		{"a hook that writes a sysctl", one("ghcr.io/qdm12/gluetun:v3.40", "lifecycle: {postStart: {exec: {command: [sysctl, -w, net.ipv6.conf.all.disable_ipv6=1]}}}"), Present},
		{"an image that asks for it", one("dyonr/qbittorrentvpn", ""), Present},
		{"NetBird in kernel mode", one("netbirdio/netbird:0.30", ""), Present},
		{"an image that wants a mark which nothing sets", one("thrnz/docker-wireguard-pia", ""), Unknown},
		{"wg-quick for a private network", wgClient("", masipcat+privileged, "10.60.0.0/16"), Absent},
		{"wg-quick that writes the mark", wgClient("", lsio+privileged, "0.0.0.0/0"), Present},
		{"wg-quick that finds it written", wgClient(marked, lsio+privileged, "0.0.0.0/0"), Absent},
		{"wg-quick that writes it all the same", wgClient(marked, masipcat+privileged, "0.0.0.0/0"), Present},
		{"a gateway whose forwarding nothing else declares", one("ghcr.io/wg-easy/wg-easy:14", "env: [{name: WG_HOST, value: vpn.example.com}]"), Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := look(t, tt.manifest).pods[0].pod
			if got := p.Containers[1].NeedsPrivilege; got.State != tt.want {
				t.Errorf("needs privilege: %s (%s), want %s", got.State, got.Why, tt.want)
			}
		})
	}
}

func TestKernelModules(t *testing.T) {
	const modules = `
volumes: [{name: modules, hostPath: {path: /lib/modules/}}]
containers:
  - name: vpn
    image: IMAGE
    securityContext: {capabilities: {add: [NET_ADMIN, CAP_SYS_MODULE]}}
    volumeMounts: [{name: modules, mountPath: /lib/modules}]
`
	for image, want := range map[string]int{"lscr.io/linuxserver/wireguard": 2, "ghcr.io/wg-easy/wg-easy:14": 0} {
		p := look(t, deployment(strings.Replace(modules, "IMAGE", image, 1))).pods[0].pod
		if got := p.Containers[0].Modules; len(got) != want {
			t.Errorf("%s: %+v, want %d", image, got, want)
		}
	}
	for drop, want := range map[string]int{"SYS_MODULE": 1, "CAP_SYS_MODULE, ALL": 1, "ALL": 2} {
		text := strings.Replace(modules, "IMAGE", "lscr.io/linuxserver/wireguard", 1)
		text = strings.Replace(text, "]}}\n    volumeMounts", "], drop: ["+drop+"]}}\n    volumeMounts", 1)
		p := look(t, deployment(text)).pods[0].pod
		if got := p.Containers[0].Modules; len(got) != want {
			t.Errorf("dropped %s: %+v, want %d", drop, got, want)
		}
	}
}
