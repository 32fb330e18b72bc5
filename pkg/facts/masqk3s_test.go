package facts

import "testing"

// FG A7, k3s: the flannel that is built in always masquerades IPv4, so that no rule
// asks for what it keeps.
func TestK3sLayer(t *testing.T) {
	k3s := func(options string) string {
		return "\n---\napiVersion: k3s.io/v1\nkind: Config\ncluster-cidr: 10.244.0.0/16\n" + options
	}
	const says = "the flannel of k3s 10.60.0.0/24"
	testLayer(t, []layerCase{
		{"vxlan", k3s("flannel-backend: vxlan\n"), says},
		{"wireguard-native", k3s("flannel-backend: wireguard-native\n"), says},
		{"none: another CNI decides", k3s("flannel-backend: none\n"), ""},
		{"the same file may be RKE2's", k3s("tls-san: [a]\n"), ""},
		{"filled in later", k3s("flannel-backend: '${BACKEND}'\n"), ""},
		{"pods elsewhere", "\n---\napiVersion: k3s.io/v1\nkind: Config\nflannel-backend: vxlan\n", ""},
		{"k3d", "\n---\napiVersion: k3d.io/v1alpha5\nkind: Simple\noptions: {k3s: {extraArgs: [{arg: '--cluster-cidr=10.244.0.0/16'}]}}\n", says},
		{"k3d without flannel", "\n---\napiVersion: k3d.io/v1alpha5\nkind: Simple\noptions: {k3s: {extraArgs: [{arg: '--cluster-cidr=10.244.0.0/16'}, {arg: '--flannel-backend=none'}]}}\n", ""},
	})
}

func TestK3sFlannelLeavesIPv6(t *testing.T) {
	for flag, want := range map[string]Known{"--tls-san=a": Absent, "--flannel-ipv6-masq": Present, "--flannel-ipv6-masq=true": Present, "--flannel-ipv6-masq=false": Absent, "--flannel-ipv6-masq=${M}": Unknown} {
		for _, o := range decode(t, "unit", "apiVersion: v1\nkind: List\nargs: ['"+flag+"']\n") {
			if got := k3dMasqueradesIPv6(root(o).get("args").texts()); got != want {
				t.Errorf("%s: %s, want %s", flag, got, want)
			}
		}
	}
	for ipv6, want := range map[string]int{"false": 1, "true": 2} {
		objects := decode(t, "unit", "apiVersion: k3s.io/v1\nkind: Config\nflannel-backend: vxlan\ncluster-cidr: '10.42.0.0/16,2001:db8:42::/56'\nflannel-ipv6-masq: "+ipv6+"\n")
		ix := newIndex(objects)
		f := readClusters(ix, Options{}).founded[0]
		rules := k3sRules(&masqScope{ix: ix, f: f})
		if len(rules) != 1 || len(rules[0].sources) != want {
			t.Errorf("flannel-ipv6-masq: %s rewrites %+v", ipv6, rules)
		}
	}
}
