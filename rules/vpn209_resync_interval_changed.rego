# METADATA
# title: the masquerade agent's interval is changed without a reason
# description: |
#   ip-masq-agent reads its list and writes its rules anew every `resyncInterval`, 60s by default. The
#   interval has no bearing on which addresses are exempt. A longer one delays every change of the
#   list, a shorter one costs every node work for ever. Leave it alone, or write next to it why not.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: resyncInterval"
# custom:
#   id: VPN209
#   name: resync-interval-changed
#   severities: [note]
#   family: masquerade
#   claims:
#     - M5: "writes its rules every 1h instead of every 60s, and nothing here says why"
#   fires: |
#     `resyncInterval` of ip-masq-agent is another duration than 60s, and no comment stands behind it or
#     directly above it.
#   silent: |
#     - the interval is 60s in any spelling, or not written
#     - a comment next to it says why
#     - agents that do not read the field (Azure's, Cilium), and a configuration that the agent refuses
#     - the interval is filled in when the tree is applied
#   remedy: "Leave the interval at its default, or say why in a comment beside it."
#   verify: [agent-rules]
#   needs: [facts.agents]
#   since: "0.1"
package vpnlint.rules.vpn209

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	agent.list.resync.state == "present"
	agent.list.resync_reason == ""
	finding := {
		"ref": agent.list.resync.ref,
		"message": sprintf(
			"the masquerade agent%s writes its rules every %s instead of every 60s, and nothing here says why: for up to %s after a change of the list packets get the source address that the old one gives them",
			[text.of_cluster(agent.cluster), agent.list.resync.value, agent.list.resync.value],
		),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}
