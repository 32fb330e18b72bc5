# METADATA
# title: the masquerade agent does not run on a node pool
# description: |
#   The agent writes rules on the node that it runs on, and nowhere else. A node pool without its
#   DaemonSet keeps whatever rules it had: pods there leave with other source addresses than the same
#   pods elsewhere, and the ConfigMap shows nothing of it.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#     description: "Kubernetes: taints and tolerations"
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
#     description: "Kubernetes: where a DaemonSet runs"
# custom:
#   id: VPN206
#   name: agent-misses-node-pool
#   severities: [warning]
#   family: masquerade
#   claims:
#     - M7: "no agent writes rules on the nodes there, and their pods leave with whatever source address the nodes' old rules give them"
#   fires: |
#     A node pool of the cluster is declared in the plan (`nodePools`) or in the tree (ContainerNodePool, the managed machine pools
#     of Cluster API, Karpenter's NodePool, node groups of eksctl), and the agent's DaemonSet does not
#     tolerate its taints, or selects other nodes.
#   silent: |
#     - another agent of the cluster runs on the pool
#     - the DaemonSet selects by a label that the platform gives to nodes and no pool declares
#     - taints that only express a preference
#     - pools of Windows nodes, pools of another cluster, and agents that are no DaemonSet
#   remedy: "Let the DaemonSet select the pool, and tolerate its taints."
#   verify: [agent-rules]
#   needs: [facts.agents.missed_pools]
#   since: "0.1"
package vpnlint.rules.vpn206

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	some place in {p.ref | some p in agent.missed_pools}
	missed := [p | some p in agent.missed_pools; p.ref == place]
	finding := {
		"ref": place,
		"message": sprintf(
			"%s %s: no agent writes rules on the nodes there, and their pods leave with whatever source address the nodes' old rules give them",
			[agent.workload, text.list([sprintf("misses node pool %s, for it %s", [p.name, p.why]) | some p in missed])],
		),
		"related": [{"ref": p.pool, "says": sprintf("node pool %s is declared here", [p.name])} |
			some p in missed
			places.written(p.pool)
		],
		"containers": {agent.container},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}
