# METADATA
# title: a masquerade list is in the tree, the agent that reads it is not
# description: |
#   The list says what is meant, the agent writes the rules. Without the agent on the nodes the
#   ConfigMap changes nothing, and nobody says so. It may be that the platform or another repository
#   runs it; that is worth writing down, because the next cluster may not.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: the DaemonSet"
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/ip-masquerade-agent
#     description: "GKE: which clusters run the agent"
# custom:
#   id: VPN207
#   name: agent-not-deployed
#   severities: [note, warning]
#   family: masquerade
#   claims:
#     - M3: "this list decides nothing and pods leave as the nodes' own rules say"
#   fires: |
#     The ConfigMap `kube-system/ip-masq-agent` has the key `config`, and no agent of its cluster is in
#     view. **Warning** where the plan says that the cluster relies on `ip-masq-agent`.
#   silent: |
#     - an agent is in view
#     - its cluster is a GKE cluster of the tree, or the plan says `masquerade.agent: gke-managed`: GKE
#       runs the agent itself
#     - several clusters are equally near, so that it is not known whose list it is
#   remedy: "Deploy the agent that reads it, or delete the ConfigMap."
#   verify: [agents, agent-rules]
#   needs: [facts.agents]
#   since: "0.1"
package vpnlint.rules.vpn207

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	agent.kind == "ip-masq-agent"
	not places.written(agent.ref)
	places.written(agent.list.ref)
	finding := {
		"ref": agent.list.ref,
		"severity": severity(agent),
		"message": sprintf(
			"%s %s/%s%s holds a masquerade list and no agent that reads it is in view%s: where none runs, this list decides nothing and pods leave as the nodes' own rules say",
			[agent.object.kind, agent.object.namespace, agent.object.name, text.of_cluster(agent.cluster), relied(agent)],
		),
		"related": [{"ref": at, "says": "the plan relies on ip-masq-agent"} | some at in reliance(agent)],
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}

# Where the plan says that the cluster relies on the agent.
reliance(agent) := {c.plan.masquerade.ref |
	some c in input.facts.clusters
	c.name == agent.cluster
	c.plan.masquerade.value == "ip-masq-agent"
}

severity(agent) := "warning" if count(reliance(agent)) > 0

severity(agent) := "note" if count(reliance(agent)) == 0

relied(agent) := ", although the plan relies on one" if count(reliance(agent)) > 0

relied(agent) := "" if count(reliance(agent)) == 0
