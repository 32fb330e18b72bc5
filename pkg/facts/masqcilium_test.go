package facts

import (
	"strings"
	"testing"
)

// FG A5.4-A5.6 without the masquerade agent, whose rows are TestAgents'.
func TestCiliumLayer(t *testing.T) {
	config := func(data string) string {
		return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {cluster-pool-ipv4-cidr: 10.244.0.0/16" + data + "}\n"
	}
	const on, says = ", enable-ipv4-masquerade: 'true'", "Cilium's enable-ipv4-masquerade 10.60.0.0/24"
	testLayer(t, []layerCase{
		{"A5.6 with rules of iptables", config(on), says},
		{"A5.6 off", config(", enable-ipv4-masquerade: 'false'"), ""},
		{"A5.6 not written", config(""), ""},
		{"A5.6 filled in later", config(", enable-ipv4-masquerade: '${MASQ}'"), ""},
		{"A5.6 at the device, behind the tunnel", config(on + ", enable-bpf-masquerade: 'true'"), ""},
		{"A5.6 by some interfaces", config(on + ", egress-masquerade-interfaces: eth1"), ""},
		{"A5.4 the native range is exempt", config(on + ", ipv4-native-routing-cidr: 10.0.0.0/8"), ""},
		{"A5.4 another one", config(on + ", ipv4-native-routing-cidr: 10.244.0.0/16"), says},
		{"A5.4 filled in later", config(on + ", ipv4-native-routing-cidr: '${NATIVE}'"), ""},
	})
}

func TestCiliumExemptions(t *testing.T) {
	config := func(data string) string {
		return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {" + data + "}\n"
	}
	gateway := func(to string) string {
		return "\n---\napiVersion: cilium.io/v2\nkind: CiliumEgressGatewayPolicy\nmetadata: {name: egress}\nspec: {destinationCIDRs: ['" + to + "'], egressGateway: {egressIP: 10.128.0.9}}\n"
	}
	const on = "enable-ipv4-masquerade: 'true', "
	testExemptions(t, []layerCase{
		{"A5.4 the native range", config(on + "ipv4-native-routing-cidr: 10.0.0.0/8"), "cilium-native-routing explicit [10.20.0.0/16] wants node"},
		{"A5.4 in BPF, too", config(on + "enable-bpf-masquerade: 'true', ipv4-native-routing-cidr: 10.0.0.0/8"), "cilium-native-routing explicit [10.20.0.0/16] wants node"},
		{"A5.4 the pods only", config(on + "ipv4-native-routing-cidr: 10.244.0.0/16"), "cilium-native-routing explicit [] wants node"},
		{"A5.4 unset", config(on + "ipv4-native-routing-cidr: ''"), ""},
		{"A5.4 filled in later", config(on + "ipv4-native-routing-cidr: '${NATIVE}'"), ""},
		{"A5.6 off", config("enable-ipv4-masquerade: 'false'"), "cilium-native-routing none [10.20.0.0/16] wants node"},
		{"A5.6 off, behind another plugin", config("enable-ipv4-masquerade: 'false', cni-chaining-mode: aws-cni"), ""},
		{"A5.6 off, and nothing chained", config("enable-ipv4-masquerade: 'false', cni-chaining-mode: none"), "cilium-native-routing none [10.20.0.0/16] wants node"},
		{"A5.6 off, where the platform masquerades", config("enable-ipv4-masquerade: 'false', ipam: delegated-plugin"), ""},
		{"A5.6 filled in later", config("enable-ipv4-masquerade: '${MASQ}', ipv4-native-routing-cidr: 10.0.0.0/8"), ""},
		{"A5.5 the agent's list is in force", config(on + "enable-ip-masq-agent: 'true', ipv4-native-routing-cidr: 10.0.0.0/8"), ""},
		{"A5.8 an egress gateway decides before", config(on+"ipv4-native-routing-cidr: 10.0.0.0/8") + gateway("10.20.4.0/24"), "cilium-native-routing explicit [] wants node"},
		{"A5.8 it may", config(on+"ipv4-native-routing-cidr: 10.0.0.0/8") + gateway("${TO}"), "cilium-native-routing explicit [] wants node"},
		{"A5.8 for something else", config(on+"ipv4-native-routing-cidr: 10.0.0.0/8") + gateway("10.21.0.0/16"), "cilium-native-routing explicit [10.20.0.0/16] wants node"},
	})
}

// FG A5.1-A5.3, A5.5: the agent's list.
func TestCiliumAgent(t *testing.T) {
	agent := func(config, list string) string {
		text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {" + config + "}\n---\n" +
			"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: cilium, namespace: kube-system}\nspec: {template: {spec: {" +
			"volumes: [{name: masq, configMap: {name: ip-masq-agent, optional: true, items: [{key: config, path: ip-masq-agent}]}}], " +
			"containers: [{name: cilium-agent, image: 'quay.io/cilium/cilium:v1.19.6', volumeMounts: [{name: masq, mountPath: /etc/config}]}]}}}\n"
		if list != "" {
			text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: '" + list + "'}\n"
		}
		return text
	}
	const on, taken = "enable-ip-masq-agent: 'true'", "cilium explicit present "
	many := strings.TrimSuffix(strings.Repeat("10.9.0.0/16, ", 65), ", ")
	testAgents(t, []agentCase{
		{"A5.1 the list of the chart", agent(on, `{"nonMasqueradeCIDRs":["10.9.0.0/16"]}`), taken + "[10.9.0.0/16]"},
		{"A5.2 host bits are masked", agent(on, "nonMasqueradeCIDRs: [10.9.1.0/16]"), taken + "[10.9.0.0/16]"},
		{"A5.2 IPv6", agent(on, `nonMasqueradeCIDRs: ["fd00::/8"]`), taken + "[fd00::/8]"},
		{"A5.2 no limit", agent(on, "nonMasqueradeCIDRs: ["+many+"]"), taken + "[10.9.0.0/16]"},
		{"A5.2 resyncInterval is not read", agent(on, "{nonMasqueradeCIDRs: [10.9.0.0/16], resyncInterval: 5}"), taken + "[10.9.0.0/16]"},
		{"A5.3 no file", agent(on, ""), "cilium default unknown " + reservedToo},
		{"A5.3 a file without the key", agent(on, "masqLinkLocal: true"), taken + "[]"},
		{"A5.5 both lists apply", agent(on+", ipv4-native-routing-cidr: 10.64.0.0/16", "nonMasqueradeCIDRs: [10.9.0.0/16]"), taken + "[10.9.0.0/16 10.64.0.0/16]"},
		{"A5.1 off, and nothing reads the list", agent("enable-ip-masq-agent: 'false', enable-ipv4-masquerade: 'true', ipv4-native-routing-cidr: 10.64.0.0/16", "nonMasqueradeCIDRs: [10.9.0.0/16]"), "ip-masq-agent explicit present [10.9.0.0/16]"},
	})
}

// FG A5.5: what a list leaves out of the cluster's own ranges.
func TestCiliumListWithoutPods(t *testing.T) {
	config := func(data string) string {
		return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {enable-ip-masq-agent: 'true'" + data + "}\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: 'nonMasqueradeCIDRs: [10.9.0.0/16]'}\n"
	}
	chart := func(values string) string {
		return flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.9.0.0/16]}}"+values, "")
	}
	for _, tt := range []struct {
		name, text string
		pods       int
	}{
		{"a tunnel between nodes is the default", config(""), 0},
		{"a tunnel", config(", routing-mode: tunnel"), 0},
		{"routed", config(", routing-mode: native"), 1},
		{"routed, as old versions write it", config(", tunnel: disabled"), 1},
		{"routed, and the native range has them", config(", routing-mode: native, ipv4-native-routing-cidr: 10.244.0.0/16"), 0},
		{"filled in later", config(", routing-mode: '${MODE}'"), 0},
		{"the chart's default", chart(""), 0},
		{"the chart, routed", chart(", routingMode: native"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, a := range factsOf(t, decode(t, "unit", kopsCluster("10.244.0.0/16", "10.128.0.0/20")+tt.text)).Agents {
				if a.Kind != agentCilium || len(a.MissingPods) != tt.pods || len(a.MissingNodes) != 0 {
					t.Errorf("%s: pods %v, nodes %v", a.Kind, a.MissingPods, a.MissingNodes)
				}
			}
		})
	}
}
