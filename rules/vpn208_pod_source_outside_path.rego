# METADATA
# title: pods keep their address on a path that does not carry it
# description: |
#   A packet that keeps its pod address needs a path for that address, in both directions: the tunnel's
#   local traffic selectors must hold it, and the far side must route it back. A tunnel whose selectors
#   or announcements hold the nodes only drops the packet at this end, or the reply never returns. Nodes
#   reach the same destination without trouble.
#
#   Either let the destination see node addresses, or teach the path: add the pod range to the
#   selectors and give the far side a return route. Neither is a defect; the mixture is.
# related_resources:
#   - ref: https://cloud.google.com/network-connectivity/docs/vpn/concepts/choosing-networks-routing
#     description: "Cloud VPN: traffic selectors and routing"
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/ip-masquerade-agent
#     description: "GKE: when the pod's address is kept"
# custom:
#   id: VPN208
#   name: pod-source-outside-path
#   severities: [error]
#   family: masquerade
#   claims: [M1, M8, M9]
#   fires: |
#     Pod addresses are kept towards a VPN destination, because an entry of the exemption list is for
#     it or because nothing masquerades, and the local traffic selectors of the ComputeVPNTunnel, or
#     what its ComputeRouter announces, leave out the pod range or a part of it.
#   silent: |
#     - the selectors hold the pod range
#     - no selectors are stated, or 0.0.0.0/0: a route-based tunnel says nothing about it
#     - a wider entry or a default list covers the destination by accident (VPN201, VPN202)
#     - the pod range is not known
#   remedy: "Narrow the exemption list so that nodes' addresses are used, or add the pod range to the tunnel's local selectors and give the far side a return route."
#   verify: [capture]
#   needs: [facts.agents.targets.outside]
#   since: "0.1"
package vpnlint.rules.vpn208

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	some target in agent.targets
	count(target.covered) > 0
	count(target.outside) > 0
	kept := reason(agent, target)
	finding := {
		"ref": places.either(target.wanted_ref, target.ref),
		"message": sprintf(
			"pods%s keep their address towards %s (%s), but %s carries nothing from %s: their packets are dropped on the way, or the replies are, while nodes get through",
			[text.of_cluster(agent.cluster), text.list(target.covered), kept.says, masquerade.site(target), text.list(target.outside)],
		),
		"related": array.concat(
			array.concat(
				[{"ref": kept.ref, "says": kept.says} | places.written(kept.ref)],
				[{"ref": target.ref, "says": sprintf("%s is reached through %s", [target.prefix, masquerade.site(target)])} | places.written(target.ref)],
			),
			places.ranges(agent.pod_ranges),
		),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, [target]),
	}
}

# Nothing masquerades at all.
reason(agent, _) := {"says": agent.list.why, "ref": agent.list.ref} if agent.list.source == "none"

# An entry that is for this destination: it holds nothing else.
reason(agent, target) := {"says": sprintf("%s is on the exemption list", [entry.text]), "ref": entry.ref} if {
	agent.list.source == "explicit"
	target.entry >= 0
	entry := agent.list.entries[target.entry]
	net.cidr_contains(target.prefix, entry.prefix)
}
