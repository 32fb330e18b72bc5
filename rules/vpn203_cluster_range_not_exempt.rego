# METADATA
# title: part of the cluster's own addresses is masqueraded
# description: |
#   A list that leaves out part of the pod range rewrites traffic between pods: the receiver sees the
#   sender's node instead of the pod, so network policies that select pods stop matching, and source
#   addresses in logs are wrong. An explicit empty list exempts nothing but link-local addresses.
#
#   The service range does not belong on the list: a service address is translated before the agent's
#   chain sees the packet.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: nonMasqueradeCIDRs"
# custom:
#   id: VPN203
#   name: cluster-range-not-exempt
#   severities: [warning, note]
#   family: masquerade
#   claims:
#     - M5: "leaves out 10.46.0.0/15 of the pod range 10.44.0.0/14 of cluster shop"
#   fires: |
#     **Warning**: part of the pod range is missing from an explicit list, an empty list included.
#     **Note**: part of the node range is.
#   silent: |
#     - the list is the agent's default, or cannot be seen
#     - the cluster's ranges are not in view
#     - only the service range is missing
#     - Cilium in tunnel mode, where packets between pods never reach the list; and the node range with
#       Cilium in any mode
#     - Azure's agent reads a further list that is not in view, such as the one that AKS writes
#     - the plan names a VPN with `sourceAddress: node` that leads to what is missing
#     - no agent is in view, and the plan's `masquerade.agent` is one that does not read this list, or `none`
#   remedy: "Add the missing range to the list."
#   verify: [agent-rules]
#   needs: ["facts.agents.missing_pods | facts.agents.missing_nodes"]
#   since: "0.1"
package vpnlint.rules.vpn203

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in explicit
	missing := unmeant(agent, agent.missing_pods)
	count(missing) > 0
	finding := {
		"ref": agent.list.ref,
		"severity": "warning",
		"message": sprintf(
			"the exemption list (%s) leaves out %s%s: packets between pods get the node's address on the way to these",
			[entries(agent), part("pod", missing, agent.pod_ranges), text.of_cluster(agent.cluster)],
		),
		"related": places.ranges(agent.pod_ranges),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}

findings contains finding if {
	some agent in explicit
	missing := unmeant(agent, agent.missing_nodes)
	count(missing) > 0
	finding := {
		"ref": agent.list.ref,
		"severity": "note",
		"message": sprintf(
			"the exemption list (%s) leaves out %s%s: packets from pods to other nodes get the node's address",
			[entries(agent), part("node", missing, agent.node_ranges), text.of_cluster(agent.cluster)],
		),
		"related": places.ranges(agent.node_ranges),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}

# The plan says of a VPN that the far side shall see nodes: such a part is meant
# to be rewritten.
unmeant(agent, missing) := [m | some m in missing; not meant(agent, m)]

meant(agent, prefix) if {
	some c in input.facts.clusters
	c.name == agent.cluster
	some v in c.plan.vpn
	v.source_address.value == "node"
	some d in v.destinations
	net.cidr_contains(d.prefix, prefix)
	not holds_cluster(agent, d.prefix, prefix)
}

# A network in which the cluster's whole range lies, too, does not begin there.
holds_cluster(agent, wide, prefix) if {
	some range in array.concat(agent.pod_ranges, agent.node_ranges)
	range.prefix != wide
	net.cidr_contains(range.prefix, prefix)
	net.cidr_contains(wide, range.prefix)
}

explicit contains agent if {
	some agent in input.facts.agents
	agent.list.source == "explicit"
	agent.list.valid != "absent"
}

entries(agent) := "empty" if count(agent.list.entries) == 0

entries(agent) := concat(", ", [e.prefix | some e in agent.list.entries]) if count(agent.list.entries) > 0

# "10.6.0.0/15 of the pod range 10.4.0.0/14", or all of it.
part(role, missing, ranges) := sprintf("the %s range %s", [role, declared(ranges)]) if whole(missing, ranges)

part(role, missing, ranges) := sprintf("%s of the %s range %s", [text.list(missing), role, declared(ranges)]) if {
	not whole(missing, ranges)
}

whole(missing, ranges) if {m | some m in missing} == {r.prefix | some r in ranges}

declared(ranges) := text.set_list({r.prefix | some r in ranges})
