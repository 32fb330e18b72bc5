package facts

import (
	"strings"
	"testing"
)

const (
	reservedToo = "[10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4]"
	privateOnly = "[10.0.0.0/8 172.16.0.0/12 192.168.0.0/16]"
)

// FG A2, row by row. Who gets the DaemonSet by itself (A2.4) decides nothing here:
// with it and without, the same destinations are exempt (A2.3). masqLinkLocal (A2.5)
// and Windows nodes (A2.9) decide no rule.
func TestGKE(t *testing.T) {
	snatOff := strings.Replace(gkeCluster, "subnetworkRef", "defaultSnatStatus: {disabled: true}\n  subnetworkRef", 1)
	unread := strings.Replace(gkeCluster, "subnetworkRef", "defaultSnatStatus: {disabled: '${SNAT}'}\n  subnetworkRef", 1)
	autopilot := strings.Replace(gkeCluster, "subnetworkRef", "enableAutopilot: true\n  subnetworkRef", 1)
	list := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: 'nonMasqueradeCIDRs: [10.4.0.0/14]'}\n"
	policy := "---\napiVersion: networking.gke.io/v1\nkind: EgressNATPolicy\nmetadata: {name: default}\nspec: {action: NoSNAT, destinations: [{cidr: 10.9.0.0/16}]}\n"
	testAgents(t, []agentCase{
		{"A2.1 the agent of GKE exempts all reserved ranges", gkeCluster, "gke-managed default unknown " + reservedToo},
		{"A2.2 one that is deployed from git does not", gkeCluster + "---" + masqDaemonSet(), "ip-masq-agent default unknown " + privateOnly},
		{"A2.2 with the flag that its manifest has in a comment", gkeCluster + "---" + masqDaemonSet("--nomasq-all-reserved-ranges"), "ip-masq-agent default unknown " + reservedToo},
		{"A2.2 Dataplane V2", gkeCluster + "---" + masqDaemonSet("--random-fully=false"), "ip-masq-agent default unknown " + privateOnly},
		{"A2.3 a list decides", gkeCluster + list, "gke-managed explicit present [10.4.0.0/14]"},
		{"A2.3 a DaemonSet with a list", gkeCluster + "---" + masqAgent("config", "nonMasqueradeCIDRs: [10.4.0.0/14]"), "ip-masq-agent explicit present [10.4.0.0/14]"},
		{"A2.3, A2.10 neither, and default SNAT off", snatOff, "gke-managed none unknown []"},
		{"A2.3 default SNAT off beside a list", snatOff + list, "gke-managed explicit present [10.4.0.0/14]"},
		{"A2.10 filled in later", unread, "gke-managed unknown unknown []"},
		{"A2.7 Autopilot reads its policies", autopilot + policy, "gke-autopilot explicit present [10.9.0.0/16]"},
		{"A2.7 and no ConfigMap", autopilot + policy + list, "gke-autopilot explicit present [10.9.0.0/16]"},
	})
}
