package facts

import (
	"strings"
	"testing"
)

// flux is a HelmRelease with values as a flow map, and more of its spec.
func flux(chart, values, more string) string {
	return "\n---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cni, namespace: kube-system}\nspec: {chart: {spec: {chart: " + chart + "}}" + more + ", values: {" + values + "}}\n"
}

// argo is an Application, k3s a HelmChart.
func argo(chart, helm string) string {
	return "\n---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: cni, namespace: argocd}\nspec: {source: {repoURL: 'https://example.com', chart: " + chart + ", helm: {" + helm + "}}}\n"
}

func k3sChart(kind, name, spec string) string {
	return "\n---\napiVersion: helm.cattle.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: kube-system}\nspec: {" + spec + "}\n"
}

func valuesMap(name, values string) string {
	return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: kube-system}\ndata: {values.yaml: '" + values + "'}\n"
}

// Cilium by a chart that is not in the tree (FG A5): what its values say of masquerading.
func TestCiliumByItsChart(t *testing.T) {
	const native = "cilium-native-routing explicit [10.20.0.0/16] wants node"
	const none = "cilium-native-routing none [10.20.0.0/16] wants node"
	const list, defaults = "cilium explicit ", "cilium default [10.20.0.0/16] wants node"
	const agent = "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.20.0.0/16]}}"
	testChart(t, []layerCase{
		{"A5.4 the native range", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8", ""), native},
		{"A5.4 the pods only", flux("cilium", "ipv4NativeRoutingCIDR: 10.244.0.0/16", ""), "cilium-native-routing explicit [] wants node"},
		{"A5.4 empty", flux("cilium", "ipv4NativeRoutingCIDR: ''", ""), ""},
		{"A5.4 filled in later", flux("cilium", "ipv4NativeRoutingCIDR: '${NATIVE}'", ""), ""},
		{"A5.6 off", flux("cilium", "enableIPv4Masquerade: false", ""), none},
		{"A5.6 off, by ConfigMap's name of it", flux("cilium", "extraConfig: {enable-ipv4-masquerade: \"false\"}", ""), none},
		{"A5.6 off, behind another plugin", flux("cilium", "enableIPv4Masquerade: false, cni: {chainingMode: aws-cni}", ""), ""},
		{"A5.6 null is the default", flux("cilium", "enableIPv4Masquerade: null, ipv4NativeRoutingCIDR: 10.0.0.0/8", ""), native},
		{"A5.6 on ENI the default is another", flux("cilium", "eni: {enabled: true}, ipv4NativeRoutingCIDR: 10.0.0.0/8", ""), ""},
		{"A5.1 the agent's list", flux("cilium", agent, ""), list + "[10.20.0.0/16] wants node"},
		{"A5.1 the agent is off", flux("cilium", strings.Replace(agent, "enabled: true", "enabled: false", 1)+", ipv4NativeRoutingCIDR: 10.0.0.0/8", ""), native},
		{"A5.1 no list: the defaults", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true}", ""), defaults},
		{"A5.1 an empty configuration is not written", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {}}", ""), defaults},
		{"A5.3 a configuration without the list", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {masqLinkLocal: true}}", ""), list + "[] wants node"},
		{"A5.3 an empty list", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: []}}", ""), list + "[] wants node"},
		{"A5.2 host bits are masked", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.20.1.0/16]}}", ""), list + "[10.20.0.0/16] wants node"},
		{"A5.2 what is no prefix is refused", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.20.1.0]}}", ""), "cilium unknown [] wants node"},
		{"A5.1 filled in later", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: ['${ONPREM}']}}", ""), "cilium unknown [] wants node"},
		{"A5.1 whether it is on is filled in later", flux("cilium", strings.Replace(agent, "enabled: true", "enabled: '${MASQ}'", 1), ""), ""},
		{"A5.1 no list in the values, one beside them", flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true}", "") + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: 'nonMasqueradeCIDRs: [10.20.1.0/16]'}\n", list + "[10.20.0.0/16] wants node"},
		{"A5.1 without masquerading in BPF it does not run", flux("cilium", "ipMasqAgent: {enabled: true}, bpf: {masquerade: false}", ""), ""},
		{"A5.5 both lists apply", flux("cilium", "ipv4NativeRoutingCIDR: 10.20.0.0/17, bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.20.128.0/17]}}", ""), list + "[10.20.0.0/16] wants node"},

		{"values of a ConfigMap", flux("cilium", "hubble: {}", ", valuesFrom: [{kind: ConfigMap, name: net}]") + valuesMap("net", "ipv4NativeRoutingCIDR: 10.0.0.0/8"), native},
		{"the release's own win", flux("cilium", "ipv4NativeRoutingCIDR: 10.244.0.0/16", ", valuesFrom: [{kind: ConfigMap, name: net}]") + valuesMap("net", "ipv4NativeRoutingCIDR: 10.0.0.0/8"), "cilium-native-routing explicit [] wants node"},
		{"values of a Secret may hold anything", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8", ", valuesFrom: [{kind: Secret, name: net}]"), ""},
		{"and the release's own win over them", flux("cilium", "enableIPv4Masquerade: true, cni: {chainingMode: none}, ipam: {mode: kubernetes}, egressMasqueradeInterfaces: '', "+agent, ", valuesFrom: [{kind: Secret, name: net}]"), list + "[10.20.0.0/16] wants node"},
		{"a patch of what the chart makes", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8", ", postRenderers: [{kustomize: {patches: [{target: {kind: ConfigMap, name: cilium-config}, patch: x}]}}]"), ""},
		{"two releases", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8", "") + argo("cilium", "valuesObject: {ipv4NativeRoutingCIDR: 10.244.0.0/16}"), ""},
		{"the ConfigMap goes before", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8", "") + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {enable-ipv4-masquerade: 'true', ipv4-native-routing-cidr: 10.244.0.0/16}\n", "cilium-native-routing explicit [] wants node"},

		{"Argo CD, an object", argo("cilium", "valuesObject: {ipv4NativeRoutingCIDR: 10.0.0.0/8}"), native},
		{"Argo CD, a string", argo("cilium", "values: \"bpf: {masquerade: true}\\nipMasqAgent:\\n  enabled: true\\n  config:\\n    nonMasqueradeCIDRs:\\n    - 10.20.0.0/16\\n\""), list + "[10.20.0.0/16] wants node"},
		{"Argo CD, a parameter", argo("cilium", "parameters: [{name: ipv4NativeRoutingCIDR, value: 10.0.0.0/8}]"), native},
		{"Argo CD, a parameter wins", argo("cilium", "valuesObject: {ipv4NativeRoutingCIDR: 10.0.0.0/8}, parameters: [{name: ipv4NativeRoutingCIDR, value: 10.244.0.0/16}]"), "cilium-native-routing explicit [] wants node"},
		{"Argo CD, a parameter that is an item of the list", argo("cilium", "valuesObject: {"+agent+"}, parameters: [{name: 'ipMasqAgent.config.nonMasqueradeCIDRs[0]', value: 10.30.0.0/16}]"), "cilium unknown [] wants node"},
		{"Argo CD, files of values", argo("cilium", "valueFiles: [$values/cilium.yaml]"), ""},
		{"k3s", k3sChart("HelmChart", "cilium", "chart: cilium/cilium, valuesContent: 'ipv4NativeRoutingCIDR: 10.0.0.0/8'"), native},
		{"k3s, and what a HelmChartConfig changes", k3sChart("HelmChart", "cni", "chart: cilium/cilium, valuesContent: 'ipv4NativeRoutingCIDR: 10.0.0.0/8'") + k3sChart("HelmChartConfig", "cni", "valuesContent: 'ipv4NativeRoutingCIDR: 10.244.0.0/16'"), "cilium-native-routing explicit [] wants node"},
		{"k3s, a value set by itself", k3sChart("HelmChart", "cilium", "chart: cilium/cilium, valuesContent: 'ipam: {mode: kubernetes}', set: {enableIPv4Masquerade: 'false'}"), none},
		{"RKE2's own chart", k3sChart("HelmChartConfig", "rke2-cilium", "valuesContent: 'ipv4NativeRoutingCIDR: 10.0.0.0/8'"), native},
		{"values that are no YAML", k3sChart("HelmChartConfig", "rke2-cilium", "valuesContent: 'a: b: c'"), ""},
		{"CiliumConfig", "\n---\napiVersion: cilium.io/v1alpha1\nkind: CiliumConfig\nmetadata: {name: cilium, namespace: cilium}\nspec: {ipv4NativeRoutingCIDR: 10.0.0.0/8}\n", native},
	})
}

// testChart is testExemptions for what has places of its own.
func testChart(t *testing.T, cases []layerCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if _, said := exemptionsOf(t, tt.text); said != tt.want {
				t.Errorf("got %q, want %q", said, tt.want)
			}
		})
	}
}

// Calico by the operator's chart (FG A6.5).
func TestCalicoByItsChart(t *testing.T) {
	const none = "calico none [10.20.0.0/16] wants node"
	pool := func(more string) string {
		return "installation: {cni: {type: Calico}, calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16" + more + "}]}}"
	}
	onprem := calicoIPPool("onprem", "cidr: 10.20.0.0/16, disabled: true")
	testChart(t, []layerCase{
		{"masquerades by default", flux("tigera-operator", pool(""), ""), ""},
		{"Disabled", flux("tigera-operator", pool(", natOutgoing: Disabled"), ""), none},
		{"filled in later", flux("tigera-operator", pool(", natOutgoing: '${NAT}'"), ""), ""},
		{"a pool beside it that gives no addresses", flux("tigera-operator", pool(""), "") + onprem, "calico explicit [10.20.0.0/16] wants node"},
		{"the chart makes no Installation", flux("tigera-operator", strings.Replace(pool(", natOutgoing: Disabled"), "installation: {", "installation: {enabled: false, ", 1), ""), ""},
		{"values of a Secret", flux("tigera-operator", "apiServer: {}", ", valuesFrom: [{kind: Secret, name: net}]") + onprem, ""},
		{"the release's own win over them", flux("tigera-operator", strings.Replace(pool(", natOutgoing: Disabled"), "installation: {", "installation: {enabled: true, kubernetesProvider: '', ", 1), ", valuesFrom: [{kind: Secret, name: net}]"), none},
		{"Argo CD", argo("tigera-operator", "valuesObject: {"+pool(", natOutgoing: Disabled")+"}"), none},
		{"RKE2's own chart", k3sChart("HelmChartConfig", "rke2-calico", "valuesContent: '"+pool(", natOutgoing: Disabled")+"'"), none},
		{"the Installation goes before", flux("tigera-operator", pool(", natOutgoing: Disabled"), "") + "\n---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {cni: {type: Calico}, calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16}]}}\n", ""},
		{"the addresses are the VPC's", flux("tigera-operator", strings.Replace(pool(", natOutgoing: Disabled"), "type: Calico", "type: AmazonVPC", 1), ""), ""},
	})
}

// What the values say rewrites before a tunnel on the host, too.
func TestChartsBeforeATunnel(t *testing.T) {
	pods := ", ipam: {operator: {clusterPoolIPv4PodCIDRList: [10.244.0.0/16]}}"
	testLayer(t, []layerCase{
		{"Cilium", flux("cilium", "enableIPv4Masquerade: true"+pods, ""), "Cilium's enableIPv4Masquerade 10.60.0.0/24"},
		{"Cilium by default", flux("cilium", "hubble: {}"+pods, ""), "Cilium's enableIPv4Masquerade 10.60.0.0/24"},
		{"Cilium in BPF", flux("cilium", "bpf: {masquerade: true}"+pods, ""), ""},
		{"Cilium, and the native range is exempt", flux("cilium", "ipv4NativeRoutingCIDR: 10.0.0.0/8"+pods, ""), ""},
		{"Cilium, and values of a Secret", flux("cilium", "hubble: {}"+pods, ", valuesFrom: [{kind: Secret, name: net}]"), ""},
		{"Calico", flux("tigera-operator", "installation: {calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16}]}}", ""), "natOutgoing of the Installation's pool 10.60.0.0/24"},
		{"Calico, Disabled", flux("tigera-operator", "installation: {calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16, natOutgoing: Disabled}]}}", ""), ""},
	})
}

// Talos installs a CNI by manifests in its machine configurations, each of which
// repeats them.
func TestInlineManifests(t *testing.T) {
	talos := func(name, contents string) string {
		return "\n---\napiVersion: talos.dev/v1alpha1\nkind: MachineConfig\nmetadata: {name: " + name + "}\nversion: v1alpha1\nmachine: {type: controlplane}\ncluster:\n  clusterName: prod.example.com\n  network: {podSubnets: [10.244.0.0/16], cni: {name: none}}\n  inlineManifests:\n  - name: cni\n    contents: |\n      " + strings.ReplaceAll(contents, "\n", "\n      ") + "\n"
	}
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {enable-ipv4-masquerade: 'true', ipv4-native-routing-cidr: 10.0.0.0/8}"
	const install = "apiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16, natOutgoing: Disabled}]}}"
	for _, tt := range []struct{ name, text, want string }{
		{"Cilium", talos("a", config), "cilium-native-routing explicit [10.20.0.0/16]"},
		{"Cilium on two machines", talos("a", config) + talos("b", config), "cilium-native-routing explicit [10.20.0.0/16]"},
		{"Cilium, two that differ", talos("a", config) + talos("b", strings.Replace(config, "10.0.0.0/8", "10.244.0.0/16", 1)), ""},
		{"Cilium among other manifests", talos("a", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n"+config), "cilium-native-routing explicit [10.20.0.0/16]"},
		{"Calico", talos("a", install), "calico none [10.20.0.0/16]"},
		{"nothing of the kind", talos("a", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range factsOf(t, decode(t, "unit", cloudVPN+tt.text)).Agents {
				said := a.Kind + " " + a.List.Source
				for _, target := range a.Targets {
					said += " [" + strings.Join(target.Covered, " ") + "]"
				}
				got = append(got, said)
			}
			if said := strings.Join(got, "; "); said != tt.want {
				t.Errorf("got %q, want %q", said, tt.want)
			}
		})
	}
}

// Values that are not in the tree leave it open what is masqueraded, which is told where
// there is a VPN to ask it for.
func TestHiddenValuesAreAGap(t *testing.T) {
	secret := ", valuesFrom: [{kind: Secret, name: net}]"
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"Cilium", cloudVPN + kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("cilium", "hubble: {}", secret), true},
		{"Calico", cloudVPN + kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("tigera-operator", "apiServer: {}", secret), true},
		{"Cilium's list", cloudVPN + kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("cilium", "bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: ['${A}']}}", ""), true},
		{"everything is in view", cloudVPN + kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("cilium", "hubble: {}", ""), false},
		{"what decides is in view", cloudVPN + kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("cilium", "cni: {chainingMode: none}, ipam: {mode: kubernetes}, bpf: {masquerade: true}, ipMasqAgent: {enabled: true, config: {nonMasqueradeCIDRs: [10.20.0.0/16]}}", secret), false},
		{"no VPN", kopsCluster("10.244.0.0/16", "10.128.0.0/20") + flux("cilium", "hubble: {}", secret), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := false
			for _, g := range factsOf(t, decode(t, "unit", tt.text)).Gaps {
				got = got || strings.Contains(g.What, "exemption") || strings.Contains(g.What, "masquerade")
			}
			if got != tt.want {
				t.Errorf("gap: %v, want %v", got, tt.want)
			}
		})
	}
}
