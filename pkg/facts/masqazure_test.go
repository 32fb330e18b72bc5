package facts

import (
	"fmt"
	"strings"
	"testing"
)

// azureAgent is the DaemonSet of FG A3.5 with the keys of one ConfigMap.
func azureAgent(data, args string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: masq, namespace: kube-system, labels: {component: ip-masq-agent}}\ndata: {" + data + "}\n---\n" +
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: azure-ip-masq-agent, namespace: kube-system}\nspec: {template: {spec: {" +
		"volumes: [{name: conf, projected: {sources: [{configMap: {name: masq, optional: true}}]}}], " +
		"containers: [{name: agent, image: 'mcr.microsoft.com/aks/ip-masq-agent-v2:v0.1.15', args: [" + args + "], volumeMounts: [{name: conf, mountPath: /etc/config}]}]}}}\n"
}

// FG A3, row by row. That booleans are OR-ed (A3.1) decides no rule: both concern
// link-local addresses only.
func TestAzureAgent(t *testing.T) {
	const fate = ": the agent exits and keeps crashing; the rules of its node stay as they were, and a new node gets none"
	const taken = "azure-v2 explicit present "
	refused := func(says string) string { return "azure-v2 unknown absent [] refused: " + says + fate }
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat("10.9.0.0/16, ", n), ", ") }
	one := func(text string) string { return azureAgent("ip-masq-agent: '"+text+"'", "") }
	const good = "ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]', "
	testAgents(t, []agentCase{
		{"A3.1 every file that begins with ip-masq", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]', ip-masq-agent-reconciled: 'nonMasqueradeCIDRs: [10.8.0.0/16]', other: 'nonMasqueradeCIDRs: [10.7.0.0/16]'", ""), taken + "[10.8.0.0/15]"},
		{"A3.1 another name of that kind", azureAgent("ip-masq.yaml: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.1 one in a directory below is not read", strings.Replace(azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), "name: masq, optional: true", "name: masq, items: [{key: ip-masq-agent, path: more/ip-masq-agent}]", 1), "azure-v2 default unknown " + privateOnly},
		{"A3.1 one file has the list, the other none", azureAgent(good+"ip-masq-more: 'masqLinkLocal: true'", ""), taken + "[10.9.0.0/16]"},
		{"A3.1 the same entry twice", azureAgent(good+"ip-masq-more: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.1 a file that is filled in later", azureAgent(good+"ip-masq-more: 'nonMasqueradeCIDRs: [\"${MORE}\"]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.1 a part of a file is", azureAgent(good+"ip-masq-more: \"nonMasqueradeCIDRs:\\n- 10.8.0.0/16\\n- ${MORE}\\n\"", ""), taken + "[10.9.0.0/16]"},
		{"A3.1 the only file is", one("nonMasqueradeCIDRs: [\"${MORE}\"]"), "azure-v2 unknown unknown []"},
		{"A3.2 one file, and no default", one("{}"), taken + "[]"},
		{"A3.2 an empty list", one("nonMasqueradeCIDRs: []"), taken + "[]"},
		{"A3.2 null", one("nonMasqueradeCIDRs: null"), taken + "[]"},
		{"A3.2 a file without content", one(""), taken + "[]"},
		{"A3.2 a file of comments", one("# none"), taken + "[]"},
		{"A3.2 no file", azureAgent("other: '{}'", ""), "azure-v2 default unknown " + privateOnly},
		{"A3.2 no file, all reserved ranges", azureAgent("other: '{}'", "--nomasq-all-reserved-ranges"), "azure-v2 default unknown " + reservedToo},
		{"A3.2 no file, all reserved ranges, started by a shell", strings.Replace(azureAgent("other: '{}'", ""), "args: []", "command: [sh, -c, 'exec /ip-masq-agent-v2 --nomasq-all-reserved-ranges=true']", 1), "azure-v2 default unknown " + reservedToo},
		{"A3.2 the flag and a file", azureAgent("ip-masq-agent: '{}'", "--nomasq-all-reserved-ranges"), taken + "[]"},
		{"A3.2 no directory: it ends", strings.Replace(azureAgent("other: '{}'", ""), "mountPath: /etc/config", "mountPath: /config", 1), "azure-v2 unknown unknown []"},
		{"A3.3 host bits", one("nonMasqueradeCIDRs: [10.9.1.0/16]"), refused("10.9.1.0/16 has bits set right of its mask; the network is 10.9.0.0/16")},
		{"A3.3 a bare address", one("nonMasqueradeCIDRs: [10.9.0.1]"), refused(`"10.9.0.1" is an address without a mask`)},
		{"A3.3 nonsense", one("nonMasqueradeCIDRs: [abcdefg]"), refused(`"abcdefg" is no prefix`)},
		{"A3.3 no list", one("nonMasqueradeCIDRs: 10.9.0.0/16"), refused("nonMasqueradeCIDRs is the string \"10.9.0.0/16\", not a list")},
		{"A3.3 a wrong type", one("masqLinkLocal: \"yes\""), refused("masqLinkLocal is the string \"yes\", not a boolean")},
		{"A3.3 a file that is broken", one("nonMasqueradeCIDRs: ["), refused("neither YAML nor JSON: did not find expected node content")},
		{"A3.3 the second file is", azureAgent(good+"ip-masq-more: 'nonMasqueradeCIDRs: [10.8.1.0/16]'", ""), refused("10.8.1.0/16 has bits set right of its mask; the network is 10.8.0.0/16")},
		{"A3.3 the first one is", azureAgent("ip-masq-a: 'nonMasqueradeCIDRs: [10.8.1.0/16]', "+good, ""), refused("10.8.1.0/16 has bits set right of its mask; the network is 10.8.0.0/16")},
		{"A3.3 a broken file that it does not read", azureAgent(good+"other: 'nonMasqueradeCIDRs: [10.8.1.0/16]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.3 IPv6 without the flag", one("nonMasqueradeCIDRs: [\"fd00::/8\"]"), refused("fd00::/8 is IPv6 and the agent runs without --enable-ipv6")},
		{"A3.3 IPv6, the flag off", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", "--enable-ipv6=false"), refused("fd00::/8 is IPv6 and the agent runs without --enable-ipv6")},
		{"A3.3 IPv6 with it", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", "--enable-ipv6"), taken + "[fd00::/8]"},
		{"A3.3 IPv6, the flag filled in later", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", "'--enable-ipv6=${SIX}'"), taken + "[fd00::/8]"},
		{"A3.3 IPv6, all flags filled in later", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", "'${FLAGS}'"), taken + "[fd00::/8]"},
		{"A3.3 64 in one file", one("nonMasqueradeCIDRs: [" + many(64) + "]"), taken + "[10.9.0.0/16]"},
		{"A3.3 more than 64 in one file", one("nonMasqueradeCIDRs: [" + many(65) + "]"), refused("65 entries, and the agent accepts at most 64")},
		{"A3.3 no key raises the limit", one("{cidrLimit: 100, nonMasqueradeCIDRs: [" + many(65) + "]}"), refused("65 entries, and the agent accepts at most 64")},
		{"A3.3 or lowers it", one("{cidrLimit: 1, nonMasqueradeCIDRs: [" + many(2) + "]}"), taken + "[10.9.0.0/16]"},
		{"A3.3 64 in each of two files", azureAgent("ip-masq-a: 'nonMasqueradeCIDRs: ["+many(64)+"]', ip-masq-b: 'nonMasqueradeCIDRs: ["+many(64)+"]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.4 resyncInterval is not read", one("{nonMasqueradeCIDRs: [10.9.0.0/16], resyncInterval: 5}"), taken + "[10.9.0.0/16]"},
		{"A3.5 the keys of AKS", azureAgent("ip-masq-agent-reconciled: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), taken + "[10.9.0.0/16]"},
		{"A3.5 JSON", one(`{"nonMasqueradeCIDRs": ["10.9.0.0/16"]}`), taken + "[10.9.0.0/16]"},
		{"A3.5 lines of Windows", azureAgent(`ip-masq-agent: "nonMasqueradeCIDRs:\r\n- 10.9.0.0/16\r\nmasqLinkLocal: true\r\n"`, ""), taken + "[10.9.0.0/16]"},
		{"A3.6 the user's list, and no agent in view", azureList("azure-ip-masq-agent-config", "kube-system", "10.9.0.0/16"), taken + "[10.9.0.0/16]"},
		{"A3.6 both lists", azureList("azure-ip-masq-agent-config", "kube-system", "10.9.0.0/16") + azureList("azure-ip-masq-agent-config-reconciled", "kube-system", "10.8.0.0/16"), taken + "[10.8.0.0/15]"},
		{"A3.6 in another namespace nothing reads it", azureList("azure-ip-masq-agent-config", "default", "10.9.0.0/16"), ""},
		{"A3.6 the agent of AKS refuses it", azureList("azure-ip-masq-agent-config", "kube-system", "10.9.1.0/16"), refused("10.9.1.0/16 has bits set right of its mask; the network is 10.9.0.0/16")},
	})
	if a := factsOf(t, decode(t, "unit", one("{nonMasqueradeCIDRs: [10.9.0.0/16], resyncInterval: 5m}"))).Agents[0]; a.List.Resync != (Setting{}) {
		t.Errorf("A3.4: %+v", a.List.Resync)
	}
}

func azureList(name, namespace, cidr string) string {
	return "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + namespace + ", labels: {component: ip-masq-agent}}\ndata: {ip-masq-agent" +
		strings.TrimPrefix(name, "azure-ip-masq-agent-config") + ": 'nonMasqueradeCIDRs: [" + cidr + "]'}\n"
}

// What the platform writes beside the user's list (FG A3.6) is not in the tree: it may
// exempt what is missing here, and what is exempt here stays so.
func TestAzureListThatIsNotWhole(t *testing.T) {
	cluster := "\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {podSubnet: 10.244.0.0/16}\n"
	beside := func(name string) string {
		return strings.Replace(azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""),
			"{configMap: {name: masq, optional: true}}", "{configMap: {name: masq, optional: true}}, {configMap: {name: "+name+", optional: true}}", 1)
	}
	for _, tt := range []struct {
		name, text string
		missing    int
		gap        bool
	}{
		{"whole", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), 1, false},
		{"another one of the user's is absent", beside("masq-more"), 1, false},
		{"another one is filled in later", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]', ip-masq-more: \"nonMasqueradeCIDRs:\\n- ${MORE}\\n\"", ""), 0, true},
		{"what the platform writes", beside("masq-reconciled"), 0, true},
		{"the agent of AKS", azureList("azure-ip-masq-agent-config", "kube-system", "10.9.0.0/16"), 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := factsOf(t, decode(t, "unit", tt.text+cluster))
			a := f.Agents[0]
			if len(a.MissingPods) != tt.missing || len(a.Effective) != 1 {
				t.Errorf("missing %v, effective %v", a.MissingPods, a.Effective)
			}
			if got := strings.Contains(fmt.Sprint(f.Gaps), "the whole exemption list of"); got != tt.gap {
				t.Errorf("gaps %+v", f.Gaps)
			}
		})
	}
}
