package facts

import (
	"strings"
	"testing"
)

func TestPrivilegeNeeds(t *testing.T) {
	for _, tt := range []struct {
		name, container string
		admin           Known
		tun             bool
	}{
		{"a server in the kernel", "image: kylemanna/openvpn", Present, true},
		{"a server that mounts its device", "image: hwdsl2/openvpn-server", Present, false},
		{"tailscale in user space", "image: tailscale/tailscale", Absent, true},
		{"tailscale in the kernel", "image: tailscale/tailscale, env: [{name: TS_USERSPACE, value: 'false'}]", Present, true},
		{"tailscale by a configuration that cannot be seen", "image: tailscale/tailscale, env: [{name: TS_USERSPACE, valueFrom: {configMapKeyRef: {name: gone, key: a}}}]", Unknown, true},
		{"a proxy", "image: shadowsocks/shadowsocks-libev", Absent, false},
		{"a translator in user space", "image: siomiz/softethervpn", Absent, false},
		{"an image that only sounds like one", "image: example.com/team/openvpn-server", Unknown, false},
		{"no VPN", "image: nginx", Absent, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment("containers: [{name: vpn, "+tt.container+"}]"))
			if c := p.Containers[0]; c.NeedsAdmin != tt.admin || c.MakesTun != tt.tun {
				t.Errorf("family %s: needs NET_ADMIN %s, makes tun %v; want %s, %v", c.Family, c.NeedsAdmin, c.MakesTun, tt.admin, tt.tun)
			}
		})
	}
}

func TestSurge(t *testing.T) {
	for _, tt := range []struct {
		name, strategy, value string
		want                  Known
	}{
		{"none written", "", "25%", Absent},
		{"recreate", "strategy: {type: Recreate}", "", Absent},
		{"a rolling update without a surge written", "strategy: {type: RollingUpdate}", "25%", Absent},
		{"another part of it", "strategy: {rollingUpdate: {maxUnavailable: 1}}", "25%", Absent},
		{"no surge", "strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0}}", "", Absent},
		{"no surge in percent", "strategy: {rollingUpdate: {maxSurge: 0%}}", "", Absent},
		{"one", "strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}", "1", Present},
		{"a part", "strategy: {rollingUpdate: {maxSurge: 25%}}", "25%", Present},
		{"a wrong type", "strategy: {rollingUpdate: {maxSurge: [1]}}", "", Absent},
		{"filled in later", "strategy: {type: '${STRATEGY}'}", "", Absent},
		{"a number that is filled in later", "strategy: {rollingUpdate: {maxSurge: '${SURGE}'}}", "", Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(deployment("containers: [{name: vpn, image: kylemanna/openvpn}]"), "\nspec:\n", "\nspec:\n  "+tt.strategy+"\n", 1)
			if p, _ := onlyPod(t, text); p.Surge.State != tt.want || p.Surge.Value != tt.value {
				t.Errorf("got %+v, want %s %q", p.Surge, tt.want, tt.value)
			}
		})
	}
}

func TestIPv6Off(t *testing.T) {
	for _, tt := range []struct {
		name, spec string
		want       Known
	}{
		{"nothing", "containers: [{name: vpn, image: kylemanna/openvpn}]", Absent},
		{"a pod sysctl", "securityContext: {sysctls: [{name: net.ipv6.conf.all.disable_ipv6, value: '1'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", Present},
		{"a pod sysctl that leaves it on", "securityContext: {sysctls: [{name: net.ipv6.conf.all.disable_ipv6, value: '0'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]", Absent},
		{"a script", writer("privileged: true", "sysctl -w net.ipv6.conf.all.disable_ipv6=1") + server, Present},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if p, _ := onlyPod(t, deployment(tt.spec)); p.Forwarding.IPv6Off != tt.want {
				t.Errorf("got %s, want %s", p.Forwarding.IPv6Off, tt.want)
			}
		})
	}
}

// wg-easy's own switch takes the IPv6 pool away.
func TestPoolWithoutIPv6(t *testing.T) {
	for env, want := range map[string]int{"{name: HOST, value: x}": 2, "{name: DISABLE_IPV6, value: 'true'}": 1, "{name: DISABLE_IPV6, value: 'false'}": 2} {
		s := look(t, deployment("containers: [{name: vpn, image: 'ghcr.io/wg-easy/wg-easy:15', env: ["+env+"]}]"))
		if pool := s.tunnel(t).Pool; len(pool) != want {
			t.Errorf("%s: pool %+v", env, pool)
		}
	}
}

func TestFlannelEnforcesNoPolicy(t *testing.T) {
	const policy = `---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: n, namespace: edge}
spec: {podSelector: {}, policyTypes: [Egress]}
`
	const flannel = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data: {net-conf.json: '{"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}'}
`
	engine := "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: e, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: e, image: docker.io/cloudnativelabs/kube-router:v2}]}}}\n"
	for _, tt := range []struct {
		name, more string
		deny       Known
		unenforced Known
	}{
		{"no CNI in view", policy, Present, Absent},
		{"flannel", policy + flannel, Absent, Present},
		{"flannel and an engine for policies", policy + flannel + engine, Present, Absent},
		{"flannel without a policy", flannel, Absent, Absent},
		{"k3d brings its own engine", policy + "---\napiVersion: k3d.io/v1alpha5\nkind: Simple\nmetadata: {name: k}\n", Present, Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, p := range read(t, deployment("containers: [{name: vpn, image: qmcgaw/gluetun}, {name: app, image: example.com/app}]")+tt.more).Pods {
				if p.Object.Name != "gate" {
					continue
				}
				if got := p.Egress; got.DenyByDefault != tt.deny || got.Unenforced.State != tt.unenforced {
					t.Errorf("deny by default %s, unenforced %+v; want %s, %s", got.DenyByDefault, got.Unenforced, tt.deny, tt.unenforced)
				}
			}
		})
	}
}

func TestMasqueradeByInterface(t *testing.T) {
	for _, tt := range []struct{ name, hook, want string }{
		{"by interface", "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", "eth0"},
		{"by source", "iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE", ""},
		{"all but the tunnel", "iptables -t nat -A POSTROUTING ! -o wg0 -j MASQUERADE", ""},
		{"IPv6 is another matter", "iptables -t nat -A POSTROUTING -o eth+ -j MASQUERADE; ip6tables -t nat -A POSTROUTING -j MASQUERADE", "eth+"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, wgQuick("[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = 10.8.0.1/24\nListenPort = 51820\nPostUp = "+tt.hook+"\n"))
			if out := s.tunnel(t).MasqueradeOut; len(out) != 1 || out[0].Name != tt.want {
				t.Errorf("got %+v, want %q", out, tt.want)
			}
		})
	}
}
