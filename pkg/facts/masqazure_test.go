package facts

import (
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

// FG A3, row by row.
func TestAzureAgent(t *testing.T) {
	const fate = ": the agent exits and keeps crashing; the rules of its node stay as they were, and a new node gets none"
	many := strings.Repeat("10.9.0.0/16, ", 65)
	testAgents(t, []agentCase{
		{"A3.1 every file that begins with ip-masq", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.0.0/16]', ip-masq-agent-reconciled: 'nonMasqueradeCIDRs: [10.8.0.0/16]', other: 'nonMasqueradeCIDRs: [10.7.0.0/16]'", ""),
			"azure-v2 explicit present [10.8.0.0/15]"},
		{"A3.2 one file, and no default", azureAgent("ip-masq-agent: '{}'", ""), "azure-v2 explicit present []"},
		{"A3.2 no file", azureAgent("other: '{}'", ""), "azure-v2 default unknown [10.0.0.0/8 172.16.0.0/12 192.168.0.0/16]"},
		{"A3.2 no file, all reserved ranges", azureAgent("other: '{}'", "--nomasq-all-reserved-ranges"),
			"azure-v2 default unknown [10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4]"},
		{"A3.2 the flag and a file", azureAgent("ip-masq-agent: '{}'", "--nomasq-all-reserved-ranges"), "azure-v2 explicit present []"},
		{"A3.3 host bits", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [10.9.1.0/16]'", ""), "azure-v2 unknown absent [] refused: 10.9.1.0/16 has bits set right of its mask; the network is 10.9.0.0/16" + fate},
		{"A3.3 IPv6 without the flag", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", ""), "azure-v2 unknown absent [] refused: fd00::/8 is IPv6 and the agent runs without --enable-ipv6" + fate},
		{"A3.3 IPv6 with it", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: [\"fd00::/8\"]'", "--enable-ipv6"), "azure-v2 explicit present [fd00::/8]"},
		{"A3.3 more than 64 in one file", azureAgent("ip-masq-agent: 'nonMasqueradeCIDRs: ["+strings.TrimSuffix(many, ", ")+"]'", ""), "azure-v2 unknown absent [] refused: 65 entries, and the agent accepts at most 64" + fate},
		{"A3.4 resyncInterval is not read", azureAgent("ip-masq-agent: '{nonMasqueradeCIDRs: [10.9.0.0/16], resyncInterval: 5}'", ""), "azure-v2 explicit present [10.9.0.0/16]"},
		{"A3.5 the keys of AKS", azureAgent("ip-masq-agent-reconciled: 'nonMasqueradeCIDRs: [10.9.0.0/16]'", ""), "azure-v2 explicit present [10.9.0.0/16]"},
	})
}
