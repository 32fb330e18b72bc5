package facts

import "testing"

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
