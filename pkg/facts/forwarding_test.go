package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// server is a gateway whose image does nothing about forwarding.
const server = `
containers:
  - name: vpn
    image: ghcr.io/wg-easy/wg-easy:14
    env: [{name: WG_HOST, value: vpn.example.com}]
    securityContext: {capabilities: {add: [NET_ADMIN]}}
`

// writer is an init container with a script.
func writer(security, script string) string {
	return "initContainers:\n  - name: fwd\n    image: busybox:1.36\n    securityContext: {" + security + "}\n    command:\n      - sh\n      - -c\n      - |\n" +
		indent(script, 8) + "\n"
}

// prepares is a pod whose init container runs a command.
func prepares(image, command, security string) string {
	return "initContainers:\n  - {name: prepare, image: '" + image + "', command: " + command + ", securityContext: {" + security + "}}\n" + server
}

func TestForwardingEvidence(t *testing.T) {
	const privileged = "privileged: true"
	for _, tt := range []struct {
		name, spec string
		state      Known
		// evidence is "how value effective when", one line each.
		evidence string
	}{
		{"nothing", server, Absent, ""},
		{"pod sysctl", "securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '1'}]}\n" + server, Present, "pod-sysctl 1 present before"},
		{"pod sysctl with slashes", "securityContext: {sysctls: [{name: net/ipv4/ip_forward, value: '1'}]}\n" + server, Present, "pod-sysctl 1 present before"},
		{"pod sysctl by its other name", "securityContext: {sysctls: [{name: net.ipv4.conf.all.forwarding, value: '1'}]}\n" + server, Present, "pod-sysctl 1 present before"},
		{"pod sysctl turns it off", "securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '0'}]}\n" + server, Absent, "pod-sysctl 0 present before"},
		{"pod sysctl of another interface", "securityContext: {sysctls: [{name: net.ipv4.conf.eth0.forwarding, value: '1'}]}\n" + server, Absent, ""},
		{"privileged init container", writer(privileged, "sysctl -w net.ipv4.ip_forward=1") + server, Present, "script 1 present before"},
		{"without -w, with busybox", writer(privileged, "busybox sysctl net.ipv4.ip_forward=1") + server, Present, "script 1 present before"},
		{"through procfs", writer(privileged, "echo 1 > /proc/sys/net/ipv4/ip_forward") + server, Present, "script 1 present before"},
		{"through tee", writer(privileged, "echo 1 | tee /proc/sys/net/ipv4/conf/all/forwarding") + server, Present, "script 1 present before"},
		{"through a file of its own", writer(privileged, "echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf\nsysctl -p") + server, Present, "script 1 present before"},
		{"through a here-document", writer(privileged, "cat > /etc/sysctl.d/99-vpn.conf <<EOT\nnet.ipv4.ip_forward = 1\nEOT\nsysctl --system") + server, Present, "script 1 present before"},
		{"unless it is already set", writer(privileged, `[ "$(cat /proc/sys/net/ipv4/ip_forward)" = 1 ] || sysctl -w net.ipv4.ip_forward=1`) + server, Present, "script 1 present before"},
		{"under a condition that nobody knows", writer(privileged, `if [ -e /etc/forward ]; then sysctl -w net.ipv4.ip_forward=1; fi`) + server, Unknown, "script 1 present before"},
		{"unprivileged", writer("capabilities: {add: [NET_ADMIN]}", "sysctl -w net.ipv4.ip_forward=1") + server, Absent, "script 1 absent before"},
		{"unmasked proc", writer("procMount: Unmasked", "sysctl -w net.ipv4.ip_forward=1") + server, Present, "script 1 present before"},
		{"for what its gateway's interfaces need", writer(privileged, "sysctl -w net.ipv4.conf.default.forwarding=1 net.ipv4.conf.eth0.forwarding=1") + server, Unknown, "script 1 unknown before"},
		{"for every interface, by a wildcard", writer(privileged, "for f in /proc/sys/net/ipv4/conf/*/forwarding; do echo 1 > $f; done") + server, Present, "script 1 present before"},
		{"for an interface whose name is not known", writer(privileged, "sysctl -w net.ipv4.conf.$IF.forwarding=1") + server, Unknown, "script 1 unknown before"},
		{"in the node's namespace", "hostPID: true\n" + writer(privileged, "nsenter -t 1 -n sysctl -w net.ipv4.ip_forward=1") + server, Absent, ""},
		{"in the namespace of process 1, which is the pod's", writer(privileged, "nsenter -t 1 -n sysctl -w net.ipv4.ip_forward=1") + server, Present, "script 1 present before"},
		{"in the namespace of a process that may be the node's", "hostPID: $X\n" + writer(privileged, "nsenter -t 1 -n sysctl -w net.ipv4.ip_forward=1") + server, Absent, ""},
		{"through the node's /proc", "volumes: [{name: proc, hostPath: {path: /proc}}]\n" + strings.Replace(writer("capabilities: {add: [NET_ADMIN]}", "echo 1 > /host/proc/sys/net/ipv4/ip_forward"), "    command:", "    volumeMounts: [{name: proc, mountPath: /host/proc}]\n    command:", 1) + server, Unknown, "script 1 unknown before"},
		{"through a /proc that nobody mounts", writer(privileged, "echo 1 > /host/proc/sys/net/ipv4/ip_forward") + server, Absent, ""},
		{"through xargs", writer(privileged, "echo net.ipv4.ip_forward=1 | xargs sysctl -w") + server, Present, "script 1 present before"},
		{"a setting whose name is not known", writer(privileged, "sysctl -w \"$SETTING\"") + server, Unknown, ""},
		{"without the privilege, whatever its name is", writer("", "sysctl -w \"$SETTING\"") + server, Absent, ""},
		{"sed changes the file that is loaded", writer(privileged, "sed -i 's/#net.ipv4.ip_forward=1/net.ipv4.ip_forward=1/' /etc/sysctl.conf && sysctl -p") + server, Unknown, "script 1 unknown before"},
		{"sed changes a file that nobody loads", writer(privileged, "sed -i 's/#net.ipv4.ip_forward=1/net.ipv4.ip_forward=1/' /etc/sysctl.conf") + server, Absent, ""},
		{"a program that nothing is known of", prepares("example.com/setup:1", "[netinit, --forward]", "privileged: true"), Unknown, ""},
		{"one without the privilege", prepares("example.com/setup:1", "[netinit, --forward]", ""), Absent, ""},
		{"one in a script", prepares("example.com/setup:1", "[sh, -c, '/app/prepare && true']", "privileged: true"), Unknown, ""},
		{"a script of Python", prepares("python:3", "[python3, /app/forward.py]", "privileged: true"), Unknown, ""},
		{"Python on the command line that speaks of something else", prepares("python:3", "[python3, -c, print(1)]", "privileged: true"), Absent, ""},
		{"Python on the command line that writes it", prepares("python:3", "[python3, -c, \"open('/proc/sys/net/ipv4/ip_forward','w').write('1')\"]", "privileged: true"), Unknown, ""},
		{"a tool of the system", prepares("example.com/tools:1", "[modprobe, wireguard]", "privileged: true"), Absent, ""},
		{"a tool of the system, by its path", prepares("example.com/tools:1", "[/sbin/modprobe, wireguard]", "privileged: true"), Absent, ""},
		{"only reads it", writer(privileged, "sysctl net.ipv4.ip_forward") + server, Absent, ""},
		{"only prints it", writer(privileged, "echo sysctl -w net.ipv4.ip_forward=1") + server, Absent, ""},
		{"set, then cleared", writer(privileged, "sysctl -w net.ipv4.ip_forward=1\nsysctl -w net.ipv4.ip_forward=0") + server, Absent, "script 1 present before\nscript 0 present before"},
		{"cleared for the pod, then set", "securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '0'}]}\n" + writer(privileged, "sysctl -w net.ipv4.ip_forward=1") + server, Present, "pod-sysctl 0 present before\nscript 1 present before"},
		{"host network", "hostNetwork: true\n" + server, Present, "host-network 1 present before"},
		{"host network refuses pod sysctls", "hostNetwork: true\nsecurityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '1'}]}\n" + server, Present, "host-network 1 present before\npod-sysctl 1 absent before"},
		{"a script that cannot be seen", "volumes: [{name: s, configMap: {name: gone}}]\ninitContainers:\n  - name: fwd\n    image: busybox\n    command: [/bin/sh, /scripts/run.sh]\n    securityContext: {privileged: true}\n    volumeMounts: [{name: s, mountPath: /scripts}]\n" + server, Unknown, ""},
		{"a hidden script without the privilege", "volumes: [{name: s, configMap: {name: gone}}]\ninitContainers:\n  - name: fwd\n    image: busybox\n    command: [/bin/sh, /scripts/run.sh]\n    volumeMounts: [{name: s, mountPath: /scripts}]\n" + server, Absent, ""},
		{"a privileged image that nothing is known of", "initContainers:\n  - {name: fwd, image: example.com/net-setup:1, securityContext: {privileged: true}}\n" + server, Unknown, ""},
		{"its own privileged container starts with it", "containers:\n  - {name: vpn, image: masipcat/wireguard-go, command: [sh, -c, 'sysctl -w net.ipv4.ip_forward=1 && exec wg-quick up wg0'], securityContext: {privileged: true}}\n", Present, "script 1 present start"},
		{"a postStart hook is too late", "containers:\n  - {name: vpn, image: 'ghcr.io/wg-easy/wg-easy:14', securityContext: {privileged: true}, lifecycle: {postStart: {exec: {command: [sh, -c, 'sysctl -w net.ipv4.ip_forward=1']}}}}\n", Absent, "hook 1 present after"},
		{"a container further down is too late", server + "  - {name: late, image: busybox, securityContext: {privileged: true}, command: [sh, -c, 'sysctl -w net.ipv4.ip_forward=1; sleep infinity']}\n", Absent, "script 1 present after"},
		{"a hook of wg-easy without the privilege", "containers:\n  - {name: vpn, image: 'ghcr.io/wg-easy/wg-easy:14', env: [{name: WG_POST_UP, value: 'sysctl -w net.ipv4.ip_forward=1; iptables -A FORWARD -j ACCEPT'}], securityContext: {capabilities: {add: [NET_ADMIN]}}}\n", Absent, "config-hook 1 absent start"},
		{"wg-easy 15 does not read that hook", "containers:\n  - {name: vpn, image: 'ghcr.io/wg-easy/wg-easy:15', env: [{name: WG_POST_UP, value: 'sysctl -w net.ipv4.ip_forward=1'}], securityContext: {privileged: true}}\n", Absent, ""},
		{"an image that does it, privileged", "containers:\n  - {name: vpn, image: d3vilh/openvpn-server, securityContext: {privileged: true}}\n", Present, "image 1 present start"},
		{"an image that does it, without the privilege", "containers:\n  - {name: vpn, image: d3vilh/openvpn-server, securityContext: {capabilities: {add: [NET_ADMIN]}}}\n", Absent, "image 1 absent start"},
		{"an image that tries and ignores errors", "containers:\n  - {name: vpn, image: hwdsl2/ipsec-vpn-server, securityContext: {capabilities: {add: [NET_ADMIN]}}}\n", Absent, "image 1 absent start"},
		{"tailscale in kernel mode, unprivileged", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_USERSPACE, value: 'false'}, {name: TS_ROUTES, value: 10.1.0.0/24}], securityContext: {capabilities: {add: [NET_ADMIN]}}}\n", Absent, "image 1 absent start"},
		{"tailscale in kernel mode, privileged", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_USERSPACE, value: 'false'}, {name: TS_ROUTES, value: 10.1.0.0/24}], securityContext: {privileged: true}}\n", Present, "image 1 present start"},
		{"tailscale told by a flag does not do it", "containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_USERSPACE, value: 'false'}, {name: TS_EXTRA_ARGS, value: '--advertise-routes=10.1.0.0/24'}], securityContext: {privileged: true}}\n", Absent, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment(tt.spec))
			var got []string
			for _, e := range p.Forwarding.IPv4.Evidence {
				got = append(got, strings.Join([]string{e.How, e.Value, string(e.Effective), e.When}, " "))
			}
			if p.Forwarding.IPv4.State != tt.state || strings.Join(got, "\n") != tt.evidence {
				t.Errorf("role %s: state %s, want %s; evidence\n%s\nwant\n%s", p.Role, p.Forwarding.IPv4.State, tt.state, strings.Join(got, "\n"), tt.evidence)
			}
		})
	}
}

func TestForwardingIsNotNeededInUserSpaceAndByClients(t *testing.T) {
	for name, tt := range map[string]struct {
		spec string
		want Known
	}{
		"kernel mode server":           {server, Present},
		"tailscale's default":          {"containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_ROUTES, value: 10.1.0.0/24}]}\n", Absent},
		"SoftEther's SecureNAT":        {"containers:\n  - {name: vpn, image: siomiz/softethervpn}\n", Absent},
		"a client beside its app":      {"containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n  - {name: app, image: example.com/app}\n", Absent},
		"no VPN":                       {"containers:\n  - {name: app, image: example.com/app}\n", Absent},
		"a role that cannot be seen":   {"containers:\n  - {name: vpn, image: example.com/wireguard}\n", Unknown},
		"tailscale with a hidden mode": {"containers:\n  - {name: ts, image: tailscale/tailscale, env: [{name: TS_ROUTES, value: 10.1.0.0/24}, {name: TS_USERSPACE, valueFrom: {configMapKeyRef: {name: gone, key: k}}}]}\n", Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if p, _ := onlyPod(t, deployment(tt.spec)); p.Forwarding.Needed != tt.want {
				t.Errorf("needed %s (%s), want %s", p.Forwarding.Needed, p.Forwarding.NeededWhy, tt.want)
			}
		})
	}
}

func TestIPv6ForwardingStandsApart(t *testing.T) {
	p, _ := onlyPod(t, deployment(writer("privileged: true", "sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")+server))
	if p.Forwarding.IPv4.State != Present || p.Forwarding.IPv6.State != Present {
		t.Errorf("both are set by one command: %s, %s", p.Forwarding.IPv4.State, p.Forwarding.IPv6.State)
	}
	p, _ = onlyPod(t, deployment(writer("privileged: true", "sysctl -w net.ipv4.ip_forward=1")+server))
	if p.Forwarding.IPv6.State != Absent {
		t.Errorf("ip_forward says nothing of IPv6: %s", p.Forwarding.IPv6.State)
	}
}

func TestClustersTurnForwardingOnAndOff(t *testing.T) {
	off := &Cluster{Name: "calico", ForwardingOff: Switch{State: Present, Ref: source.Ref{Object: "I"}, Why: "Calico"}, ForwardingOn: Switch{State: Absent}}
	on := &Cluster{Name: "gke", ForwardingOff: Switch{State: Absent}, ForwardingOn: Switch{State: Present, Why: "linuxNodeConfig"}}
	p, _ := onlyPod(t, deployment(server), off)
	if f := p.Forwarding.IPv4; f.TurnedOff != Present || f.TurnedOffBy != "Calico" || f.State != Absent {
		t.Errorf("Calico writes 0: %+v", f)
	}
	p, _ = onlyPod(t, deployment(server), on)
	if f := p.Forwarding; f.IPv4.State != Present || f.IPv6.State != Absent {
		t.Errorf("the nodes guarantee IPv4 only: %s, %s", f.IPv4.State, f.IPv6.State)
	}
	if p, _ = onlyPod(t, deployment(server), off, on); p.Forwarding.IPv4.State == Present {
		t.Error("one of two clusters guarantees nothing")
	}
}

func TestEvidencePointsAtTheWords(t *testing.T) {
	p, s := onlyPod(t, deployment(writer("privileged: true", "set -e\nsysctl -w net.ipv4.ip_forward=1 || true")+server))
	e := p.Forwarding.IPv4.Evidence[0]
	if got := s.at(t, e.Ref); got != "sysctl -w net.ipv4.ip_forward=1" || e.Says != got || !e.Tolerant {
		t.Errorf("points at %q, says %q, tolerant %v", got, e.Says, e.Tolerant)
	}
	p, s = onlyPod(t, deployment(`
volumes: [{name: conf, secret: {secretName: wg}}]
containers:
  - name: vpn
    image: masipcat/wireguard-go
    securityContext: {privileged: true}
    volumeMounts: [{name: conf, mountPath: /etc/wireguard}]
`)+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: wg, namespace: edge}\nstringData:\n  wg0.conf: |\n    [Interface]\n    ListenPort = 51820\n    Address = 10.7.0.1/24\n    PostUp = sysctl -w net.ipv4.ip_forward=1; iptables -A FORWARD -i %i -j ACCEPT\n    [Peer]\n    AllowedIPs = 10.7.0.2/32\n")
	if len(p.Forwarding.IPv4.Evidence) != 1 {
		t.Fatalf("evidence %+v", p.Forwarding.IPv4.Evidence)
	}
	e = p.Forwarding.IPv4.Evidence[0]
	if got := s.at(t, e.Ref); e.How != "config-hook" || got != "sysctl -w net.ipv4.ip_forward=1" {
		t.Errorf("%s points at %q", e.How, got)
	}
}

func TestMountedScriptsAreRead(t *testing.T) {
	text := deployment(`
volumes: [{name: s, configMap: {name: scripts, items: [{key: fwd, path: bin/run.sh}]}}]
initContainers:
  - name: fwd
    image: busybox
    command: [/bin/sh, /opt/bin/run.sh]
    securityContext: {privileged: true}
    volumeMounts: [{name: s, mountPath: /opt}]
`+server) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts, namespace: edge}\ndata:\n  fwd: |\n    #!/bin/sh\n    sysctl -w net.ipv4.ip_forward=1\n"
	p, s := onlyPod(t, text)
	f := p.Forwarding.IPv4
	if f.State != Present || len(f.Evidence) != 1 {
		t.Fatalf("%+v", f)
	}
	if got := s.at(t, f.Evidence[0].Ref); got != "sysctl -w net.ipv4.ip_forward=1" || f.Evidence[0].Ref.Object != "ConfigMap/edge/scripts" {
		t.Errorf("points at %q of %s", got, f.Evidence[0].Ref.Object)
	}
}

func TestKubectlExecOfAJobReachesNobodyForLong(t *testing.T) {
	p, _ := onlyPod(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: fix}\nspec: {template: {spec: {containers: [{name: k, image: bitnami/kubectl, command: [sh, -c, 'kubectl exec deploy/wg -- sysctl -w net.ipv4.ip_forward=1']}]}}}\n")
	e := p.Forwarding.IPv4.Evidence
	if len(e) != 1 || e[0].How != "kubectl-exec" || e[0].Effective != Absent || p.Forwarding.IPv4.State != Absent {
		t.Errorf("state %s, evidence %+v", p.Forwarding.IPv4.State, e)
	}
}

func TestForwardingBehindWhatIsNotReadIsUnknown(t *testing.T) {
	var text strings.Builder
	for i := range 60 { // two to the sixtieth calls
		fmt.Fprintf(&text, "f%d() { f%d; f%d; }\n", i, i+1, i+1)
	}
	text.WriteString("f0\nsysctl -w net.ipv4.ip_forward=1\n")
	c := &containerView{spec: node{}}
	r := &commandReader{c: c, visited: map[string]bool{}}
	r.read(script{Kind: scriptCommand, Text: text.String(), State: Present}, command{}, 0)
	if n := len(r.out); n == 0 || !r.out[n-1].opaque || !r.out[n-1].script.Why.holds() {
		t.Errorf("the script was not read to its end and %d commands do not say so", n)
	}
}

// What forwarding hangs on and cannot be seen is a gap, with its cause.
func TestForwardingGaps(t *testing.T) {
	t.Parallel()
	const tailscale = "containers:\n  - name: ts\n    image: tailscale/tailscale:v1.80.0\n    securityContext: {capabilities: {add: [NET_ADMIN]}}\n"
	for name, tt := range map[string]struct{ spec, what, why string }{
		"a privilege that is filled in": {
			writer("privileged: $PRIVILEGED", "sysctl -w net.ipv4.ip_forward=1") + server,
			"whether the pod turns IP forwarding on", "whether container fwd is privileged is filled in later",
		},
		"a privileged container of another user": {
			writer("privileged: true, runAsUser: 1000", "sysctl -w net.ipv4.ip_forward=1") + server,
			"whether the pod turns IP forwarding on", "container fwd is privileged and runs as another user",
		},
		"a value that is filled in": {
			"securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: '${FORWARD}'}]}\n" + server,
			"whether the pod turns IP forwarding on", "net.ipv4.ip_forward=${FORWARD} is filled in",
		},
		"a value that is none": {
			"securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: {on: true}}]}\n" + server,
			"whether the pod turns IP forwarding on", "net.ipv4.ip_forward has no value that can be read",
		},
		"a value that is known at run time": {
			writer("privileged: true", "sysctl -w net.ipv4.ip_forward=$(cat /forward)") + server,
			"whether the pod turns IP forwarding on", "known at run time only",
		},
		"interfaces": {
			writer("privileged: true", "sysctl -w net.ipv4.conf.wg0.forwarding=1") + server,
			"whether the pod turns IP forwarding on", "counts for some of the pod's interfaces only",
		},
		"a name that is not known": {
			writer("privileged: true", "sysctl -w $SETTING") + server,
			"whether the pod turns IP forwarding on", "which setting sysctl -w $SETTING writes is known at run time only",
		},
		"an image": {
			"containers:\n  - {name: vpn, image: hwdsl2/ipsec-vpn-server, command: [/opt/start], securityContext: {privileged: true}}\n",
			"whether the pod turns IP forwarding on", "it hangs on the image",
		},
		"Tailscale in user space or not": {
			tailscale + "    env: [{name: TS_ROUTES, value: 10.1.0.0/24}, {name: TS_USERSPACE, valueFrom: {secretKeyRef: {name: gone, key: k}}}]\n",
			"the user-space mode of the Tailscale container tunnel in container ts", "TS_USERSPACE: Secret edge/gone is not in the tree",
		},
		"Tailscale with hidden routes": {
			tailscale + "    env: [{name: TS_USERSPACE, value: 'false'}, {name: TS_ROUTES, valueFrom: {secretKeyRef: {name: gone, key: k}}}]\n",
			"the announced routes of the Tailscale container tunnel in container ts", "TS_ROUTES: Secret edge/gone is not in the tree",
		},
		"Tailscale whose settings are all hidden": {
			tailscale + "    envFrom: [{secretRef: {name: gone}}]\n",
			"the user-space mode and announced routes of the Tailscale container tunnel in container ts", "Secret edge/gone is not in the tree",
		},
		"Tailscale in user space, with hidden routes": {
			tailscale + "    env: [{name: TS_USERSPACE, value: 'true'}]\n    envFrom: [{secretRef: {name: gone}}]\n", "", "",
		},
		"nothing about forwarding": {server, "", ""},
		"forwarding is on":         {writer("privileged: true", "sysctl -w net.ipv4.ip_forward=1") + server, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			found := false
			for _, g := range factsOf(t, decode(t, "unit", deployment(tt.spec))).Gaps {
				said = append(said, g.What+": "+g.Why)
				found = found || tt.what != "" && g.What == tt.what && strings.Contains(g.Why, tt.why)
			}
			if found != (tt.what != "") || tt.what == "" && len(said) > 0 {
				t.Errorf("gaps %q, want %q: %q", said, tt.what, tt.why)
			}
		})
	}
}
