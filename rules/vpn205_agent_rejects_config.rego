# METADATA
# title: the masquerade agent refuses its configuration
# description: |
#   A masquerade agent checks its configuration as a whole. If it refuses one entry, none of
#   the list is used. Nothing fails visibly at that moment, because the rules that are installed
#   stay. What happens then depends on the agent:
#
#   - ip-masq-agent, GKE's included, logs the error and syncs nothing. A node that reboots or is added
#     gets no rules at all, so that its pods reach networks beyond the cluster with pod addresses.
#   - Azure's ip-masq-agent-v2 exits and is restarted in a loop.
#   - Cilium keeps the list that it had. It is the only one that masks a prefix with host bits
#     (`10.4.1.0/14` is `10.4.0.0/14` to it); it also takes IPv6 and any number of entries.
#
#   The configuration may be YAML or JSON. An unknown key is ignored, not refused, so that a misspelt
#   `nonMasqueradeCIDRs` leaves the default list in force.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent"
#   - ref: https://github.com/Azure/ip-masq-agent-v2
#     description: "Azure ip-masq-agent-v2"
#   - ref: https://docs.cilium.io/en/stable/network/concepts/masquerading/
#     description: "Cilium: masquerading"
# custom:
#   id: VPN205
#   name: agent-rejects-config
#   severities: [error]
#   family: masquerade
#   claims:
#     - M3: "the agent that runs keeps its old rules; one that restarts, on a node that reboots or is added, installs none"
#   fires: |
#     The agent's own validation fails: broken YAML, a prefix that is malformed, has no length or has host bits,
#     IPv6 without `--enable-ipv6`, a wrong type, a malformed duration, or more entries than the
#     limit. Each is judged as the agent in view does.
#   silent: |
#     - the agent takes it: Cilium masks host bits and takes IPv6, Azure's agent ignores `resyncInterval`
#     - the part in question is filled in when the tree is applied
#     - the agent is not in view and agents differ about it: IPv6 entries
#   remedy: "Correct the entry; until then the agent does not apply this list."
#   verify: [agent-rules]
#   needs: [facts.agents.list.refused]
#   since: "0.1"
package vpnlint.rules.vpn205

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places

findings contains finding if {
	some agent in input.facts.agents
	some refused in agent.list.refused
	finding := {
		"ref": refused.ref,
		"message": sprintf("%s refuses its whole configuration: %s; %s", [name(agent), refused.says, refused.fate]),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"related": [{"ref": agent.ref, "says": "the agent that reads it"} | places.written(agent.ref)],
		"verify": masquerade.verify(agent, []),
	}
}

name(agent) := {
	"ip-masq-agent": "ip-masq-agent",
	"gke-managed": "GKE's ip-masq-agent",
	"azure-v2": "Azure's ip-masq-agent-v2",
	"cilium": "Cilium's masquerade agent",
}[agent.kind]
