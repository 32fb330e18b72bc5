# METADATA
# title: no masquerade agent reads this exemption list
# description: |
#   A masquerade agent never asks the API server: it reads a file, and its ConfigMap only counts when a
#   volume puts the right key at the right path. The reference DaemonSet of ip-masq-agent mounts the
#   key `config` of the ConfigMap `ip-masq-agent` in its own namespace, and marks it optional. A list
#   under another key, another name or in another namespace is therefore ignored without a word, and
#   the default applies: 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16 keep pod addresses.
#
#   GKE Autopilot runs no such agent. There an EgressNATPolicy decides.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: the ConfigMap and its key"
#   - ref: https://github.com/Azure/ip-masq-agent-v2
#     description: "Azure's ip-masq-agent-v2: every file that starts with ip-masq"
#   - ref: https://cloud.google.com/kubernetes-engine/docs/how-to/egress-nat-policy-ip-masq-autopilot
#     description: "GKE Autopilot: EgressNATPolicy"
# custom:
#   id: VPN204
#   name: agent-ignores-config
#   severities: [error]
#   family: masquerade
#   claims:
#     - M3: "the exemption list in ConfigMap kube-system/ip-masq-agent is read by no agent"
#   fires: |
#     A ConfigMap holds an exemption list, and the agent in view does not find it where it looks: wrong
#     key, name, namespace or path, or no mount at all. Without an agent in view: the ConfigMap
#     `kube-system/ip-masq-agent` has a key that no known agent reads, or its cluster is a GKE
#     Autopilot cluster.
#   silent: |
#     - the agent's volumes lead to it, whatever its name is
#     - the agent reads another list, or several agents are in view
#     - some volume may hold the file and cannot be seen
#     - no agent is in view and the key is one that an agent reads (VPN207)
#   remedy: "Mount the ConfigMap where the agent reads it, or rename it, its key or its namespace to what the agent expects."
#   verify: [agent-rules]
#   needs: [facts.unread_lists]
#   since: "0.1"
package vpnlint.rules.vpn204

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some list in input.facts.unread_lists
	finding := {
		"ref": list.ref,
		"message": sprintf(
			"the exemption list in %s is read by no agent%s: %s; %s",
			[name(list), text.of_cluster(list.cluster), list.why, fate(list)],
		),
		"related": [{"ref": list.expected, "says": expected[list.wrong]} | places.written(list.expected)],
		"containers": {list.agent_container | list.agent_container != ""},
		"clusters": {list.cluster | list.cluster != ""},
		"verify": {"workload": list.agent, "namespace": list.agent_namespace, "container": list.agent_container},
	}
}

name(list) := sprintf("ConfigMap %s/%s", [list.object.namespace, list.object.name]) if list.object.namespace != ""

name(list) := sprintf("ConfigMap %s", [list.object.name]) if list.object.namespace == ""

expected := {
	"key": "the agent's volume shows these keys",
	"name": "the agent mounts this ConfigMap",
	"namespace": "the agent mounts the ConfigMap of its own namespace",
	"mount": "this volume is not mounted",
	"path": "it is mounted here",
	"directory": "it is mounted here",
	"autopilot": "the cluster is an Autopilot cluster",
}

fate(list) := "its policies decide which packets get the node's address" if list.wrong == "autopilot"

fate(list) := "it cannot read its configuration and writes no rules until it can" if list.wrong == "directory"

fate(list) := "the agent's default decides which packets get the node's address" if {
	not list.wrong in {"autopilot", "directory"}
}
