# METADATA
# title: the masquerade agent's default list covers a network behind a VPN
# description: |
#   Without a list of its own a masquerade agent exempts whole private blocks: 10.0.0.0/8,
#   172.16.0.0/12 and 192.168.0.0/16, on some platforms more. A network behind a VPN usually lies
#   inside them, so pods reach it with their pod address, which the far side may have no route back
#   to. The nodes, which are never rewritten, reach it fine.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: the default of nonMasqueradeCIDRs"
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/ip-masquerade-agent
#     description: "GKE: default non-masquerade destinations"
# custom:
#   id: VPN202
#   name: default-exemptions-apply
#   severities: [warning]
#   family: masquerade
#   claims:
#     - M1: "packets of pods of cluster shop keep their pod address on the way there"
#     - M2: "its default (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16) applies"
#     - M5: "the narrowest list is 10.44.0.0/14, 10.130.0.0/20"
#   fires: |
#     A default list is in force and covers a VPN destination: an agent is deployed and no ConfigMap
#     that it reads is in view, or the platform runs the agent: the plan says `masquerade.agent:
#     gke-managed`, or a GKE ContainerCluster without `defaultSnatStatus.disabled: true` is in view.
#   silent: |
#     - the defaults miss every VPN destination, or no VPN is in view
#     - the destination is meant to see pod addresses: the plan's `sourceAddress: pod`, or selectors that
#       hold the pod range
#     - what the agent reads cannot be seen
#   remedy: "Give the agent a list of its own that names the cluster's ranges only, or record that the far side expects pod addresses."
#   verify: [capture, agent-rules]
#   needs: [facts.agents.targets]
#   since: "0.1"
package vpnlint.rules.vpn202

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	agent.list.source == "default"
	targets := masquerade.unwanted(agent)
	count(targets) > 0
	finding := {
		"ref": places.either(agent.ref, agent.list.ref),
		"message": sprintf(
			"the masquerade agent has no list of its own, so its default (%s) applies: it covers %s, and packets of pods%s keep their pod address on the way there; %s%s",
			[
				concat(", ", agent.effective), masquerade.behind(targets), text.of_cluster(agent.cluster),
				masquerade.fate(targets), masquerade.narrowest(agent),
			],
		),
		"related": array.concat(
			configuration(agent),
			array.concat(masquerade.related(targets), places.ranges(agent.pod_ranges)),
		),
		"containers": {agent.container},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, targets),
	}
}

# A configuration that is there, but has no list.
configuration(agent) := [{"ref": agent.list.ref, "says": agent.list.why} |
	places.written(agent.list.ref)
	agent.list.why != ""
]
