package facts

import (
	"testing"
)

func TestPoolRoutes(t *testing.T) {
	const server = "[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = 10.8.0.1/24\nListenPort = 51820\n" +
		"[Peer]\nPublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\nAllowedIPs = "
	route := func(to string) string {
		return "---\napiVersion: compute.cnrm.cloud.google.com/v1beta1\nkind: ComputeRoute\nmetadata: {name: back, namespace: infra}\nspec: {destRange: " + to + ", nextHopIp: 10.128.0.9}\n"
	}
	for _, tt := range []struct {
		name, allowed, more string
		want                Known
	}{
		{"nothing", "10.8.0.2/32", "", Absent},
		{"a route of the cloud", "10.8.0.2/32", route("10.8.0.0/16"), Present},
		{"a route for a part", "10.8.0.2/32", route("10.8.0.0/25"), Absent},
		{"a default route", "10.8.0.2/32", route("0.0.0.0/0"), Absent},
		{"a pool of Calico's", "10.8.0.2/32", "---\napiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: vpn}\nspec: {cidr: 10.8.0.0/24, disabled: true}\n", Present},
		{"a network behind the peer", "10.8.0.2/32, 192.168.50.0/24", "", Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := read(t, wgQuick(server+tt.allowed+"\n")+tt.more).Pods
			if len(pods) != 1 || len(pods[0].Tunnels) != 1 {
				t.Fatalf("got %+v", pods)
			}
			if got := pods[0].Tunnels[0]; got.PoolRouted.State != tt.want || got.Masquerade.State != Absent {
				t.Errorf("routed %+v, masquerade %+v; want %s", got.PoolRouted, got.Masquerade, tt.want)
			}
		})
	}
}

func TestMasqueradeOfOthersInThePod(t *testing.T) {
	const server = "[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = 10.8.0.1/24\nListenPort = 51820\n"
	for _, tt := range []struct {
		name, sidecar string
		want          Known
	}{
		{"an image that nothing is known of, with the right to", "{name: nat, image: example.com/nat, securityContext: {capabilities: {add: [NET_ADMIN]}}}", Unknown},
		{"the same without the right", "{name: nat, image: example.com/nat}", Absent},
		{"a script that does", "{name: nat, image: alpine, command: [sh, -c, 'iptables -t nat -A POSTROUTING -s 10.8.0.0/24 -j MASQUERADE'], securityContext: {capabilities: {add: [NET_ADMIN]}}}", Present},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := pod(`volumes:
- {name: conf, configMap: {name: conf}}
containers:
- name: vpn
  image: ghcr.io/masipcat/wireguard-go-docker
  volumeMounts: [{name: conf, mountPath: /etc/wireguard}]
- `+tt.sidecar) + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: jobs}\ndata:\n  wg0.conf: |\n" + indent(server, 4) + "\n"
			if got := read(t, text).Pods[0].Tunnels[0].Masquerade; got.State != tt.want {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

func TestPolicyBlocks(t *testing.T) {
	const policy = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: n, namespace: db}
spec:
  ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.8.0.0/24]}}, {podSelector: {}}]}]
  egress: [{to: [{ipBlock: {cidr: 10.9.0.0/16}}]}]
---
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: c, namespace: db}
spec: {ingress: [{fromCIDRSet: [{cidr: 10.8.0.0/25, except: [10.8.0.0/28]}], fromCIDR: [10.8.1.0/24]}]}
---
apiVersion: projectcalico.org/v3
kind: GlobalNetworkPolicy
metadata: {name: g}
spec: {ingress: [{source: {nets: [10.8.2.0/24], notNets: [10.8.3.0/24]}}]}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeFirewall
metadata: {name: f, namespace: infra}
spec: {sourceRanges: [10.8.4.0/24]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: odd, namespace: db}
spec: {ingress: [{from: [{ipBlock: {cidr: {a: b}}}, 7]}, null], egress: x}
`
	want := map[string]string{
		"10.0.0.0/8": "source", "10.8.0.0/24": "source except", "10.9.0.0/16": "",
		"10.8.0.0/25": "source", "10.8.0.0/28": "source except", "10.8.1.0/24": "source",
		"10.8.2.0/24": "source", "10.8.3.0/24": "source except", "10.8.4.0/24": "source",
	}
	blocks := read(t, policy).PolicyBlocks
	if len(blocks) != len(want) {
		t.Errorf("%d blocks, want %d", len(blocks), len(want))
	}
	for _, b := range blocks {
		got := ""
		if b.Source {
			got = "source"
		}
		if b.Except {
			got += " except"
		}
		if w, known := want[b.Prefix]; !known || got != w || !b.Known {
			t.Errorf("%s: %q, want %q", b.Prefix, got, w)
		}
	}
}

// What the CNIs make of a pod's packets with addresses that are not its own.
func TestSourceChecks(t *testing.T) {
	const calico = "apiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {cni: {type: Calico}}\n"
	felix := func(name, spec string) string {
		return calico + "---\napiVersion: crd.projectcalico.org/v1\nkind: FelixConfiguration\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
	}
	agent := func(env string) string {
		return "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: calico-node, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: calico-node, image: 'docker.io/calico/node:v3.29.0', env: [{name: FELIX_WORKLOADSOURCESPOOFING, value: " + env + "}]}]}}}\n"
	}
	cilium := func(data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {" + data + "}\n"
	}
	chart := func(values string) string {
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cilium, namespace: kube-system}\nspec: {chart: {spec: {chart: cilium}}" + values + "}\n"
	}
	for _, tt := range []struct {
		name, text      string
		check, spoofing Known
	}{
		{"Calico, Felix not in view", calico, Present, Unknown},
		{"Felix' default", felix("default", "logSeverityScreen: Info"), Present, Absent},
		{"Felix says Disabled", felix("default", "workloadSourceSpoofing: Disabled"), Present, Absent},
		{"Felix says Any", felix("default", "workloadSourceSpoofing: Any"), Present, Present},
		{"for one node", felix("node.a", "workloadSourceSpoofing: Any"), Present, Unknown},
		{"the environment says Any", felix("default", "logSeverityScreen: Info") + agent("Any"), Present, Present},
		{"filled in later", felix("default", "workloadSourceSpoofing: '${SPOOF}'"), Present, Unknown},
		{"Cilium's ConfigMap, by default", cilium("mtu: '1500'"), Present, Unknown},
		{"Cilium's ConfigMap, on", cilium("enable-source-ip-verification: 'true'"), Present, Unknown},
		{"Cilium's ConfigMap, off", cilium("enable-source-ip-verification: 'false'"), Absent, Unknown},
		{"Cilium behind another CNI", cilium("cni-chaining-mode: aws-cni"), Unknown, Unknown},
		{"Cilium's chart, off", chart(", values: {daemon: {enableSourceIPVerification: false}}"), Absent, Unknown},
		{"Cilium's chart, by default", chart(", values: {MTU: 1500}"), Present, Unknown},
		{"Cilium's chart with values elsewhere", chart(", values: {MTU: 1500}, valuesFrom: [{kind: Secret, name: more}]"), Unknown, Unknown},
		{"Cilium's agent alone", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: cilium, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: cilium-agent, image: 'quay.io/cilium/cilium:v1.19.0'}]}}}\n", Unknown, Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clusters := read(t, tt.text).Clusters
			if len(clusters) != 1 {
				t.Fatalf("%d clusters", len(clusters))
			}
			if c := clusters[0]; c.SourceCheck.State != tt.check || c.SpoofingAllowed.State != tt.spoofing {
				t.Errorf("source check %+v, spoofing %+v; want %s and %s", c.SourceCheck, c.SpoofingAllowed, tt.check, tt.spoofing)
			}
		})
	}
}

// A rule that translates something else is the one to correct, and what is said
// about it is what it does.
func TestMasqueradeThatMissesThePool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ hook, at, why string }{
		"into the tunnel": {
			"iptables -t nat -A POSTROUTING -o %i -j MASQUERADE", "iptables -t nat -A POSTROUTING -o %i -j MASQUERADE",
			`"iptables -t nat -A POSTROUTING -o %i -j MASQUERADE" translates what enters the tunnel, and not what clients send on`,
		},
		"of others": {
			"iptables -t nat -A POSTROUTING -s 10.6.0.0/24 -o eth0 -j MASQUERADE", "iptables -t nat -A POSTROUTING -s 10.6.0.0/24 -o eth0 -j MASQUERADE",
			`"iptables -t nat -A POSTROUTING -s 10.6.0.0/24 -o eth0 -j MASQUERADE" translates other addresses`,
		},
		"of others, by nft": {
			"nft add rule ip nat postrouting ip saddr 10.6.0.0/24 masquerade", "nft add rule ip nat postrouting ip saddr 10.6.0.0/24 masquerade",
			`"nft add rule ip nat postrouting ip saddr 10.6.0.0/24 masquerade" translates other addresses`,
		},
		"of IPv6": {"ip6tables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", "", "no hook masquerades"},
		"none":    {"true", "", "no hook masquerades"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := onlyPod(t, deployment("volumes: [{name: c, configMap: {name: conf}}]\ncontainers:\n  - {name: vpn, image: masipcat/wireguard-go, volumeMounts: [{name: c, mountPath: /etc/wireguard}]}\n")+
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: edge}\ndata:\n  wg0.conf: |\n    [Interface]\n    Address = 10.8.0.1/24\n    ListenPort = 51820\n    PostUp = "+tt.hook+
				"\n    [Peer]\n    PublicKey = x\n    AllowedIPs = 10.8.0.2/32\n")
			m := p.Tunnels[0].Masquerade
			if m.State != Absent || m.Why != tt.why {
				t.Fatalf("%+v, want %q", m, tt.why)
			}
			if tt.at != "" && s.at(t, m.Ref) != tt.at {
				t.Errorf("points at %q, want %q", s.at(t, m.Ref), tt.at)
			}
		})
	}
}
