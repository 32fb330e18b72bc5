# METADATA
# title: the masquerade exemption covers a network behind a VPN
# description: |
#   The masquerade agent leaves alone packets whose destination is on its list: they keep the pod's
#   address. When the list covers a network behind a VPN, pods reach it with an address that the far
#   side may have no route back to, while the nodes, which are never rewritten, reach it fine.
#
#   The fix narrows the list; it does not delete it. The pod range (and the node range) stay exempt,
#   and the networks behind the VPN leave the list. This changes the source address of every pod in the
#   cluster towards those networks: allow-lists and firewall rules over there that name pod addresses
#   stop matching.
# related_resources:
#   - ref: https://github.com/kubernetes-sigs/ip-masq-agent
#     description: "ip-masq-agent: nonMasqueradeCIDRs"
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/ip-masq-agent/
#     description: "Kubernetes: IP masquerade agent"
# custom:
#   id: VPN201
#   name: exemption-too-broad
#   severities: [error, warning]
#   family: masquerade
#   claims:
#     - M1: "packets of pods of cluster shop keep their pod address on the way there"
#     - M2: "the exemption 10.0.0.0/8 covers 10.20.0.0/16 behind warehouse"
#     - M5: "the narrowest list is 10.44.0.0/14, 10.130.0.0/20"
#   fires: |
#     An explicit list covers a VPN destination, or part of one. Destinations are those of Cloud VPN
#     tunnels, of the plan, and of tunnels that a DaemonSet brings up on the nodes. The list is
#     that of a masquerade agent (on AKS
#     also the ConfigMap `azure-ip-masq-agent-config`), of Autopilot's
#     EgressNATPolicies, `AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS`, a disabled IPPool of Calico's, or Cilium's
#     `ipv4-native-routing-cidr`; also as values of Cilium's, Calico's or the AWS VPC CNI's chart in a HelmRelease, an
#     Application, a HelmChart or HelmChartConfig. **Error** when that destination must
#     see node addresses: the plan says `sourceAddress: node`, or the tunnel's local selectors or
#     advertisements, or the plan's `returnRoutes` or `farSideAllows`, leave the pod range out.
#     **Warning** when nothing says which address the far side expects, or when an entry is a whole
#     private block far beyond the pod range and a VPN with unknown destinations is in view.
#   silent: |
#     - no VPN in view, or the list's excess meets none of its destinations
#     - the entry holds nothing but the cluster's own ranges, where the VPN leads to a private block around them
#     - the destinations are unknown, and what the tunnel's router announces, or its local selectors, hold the pod range
#     - the destination is meant to see pod addresses: the plan says `sourceAddress: pod`, or the tunnel's
#       local selectors or the plan's return routes hold the pod range
#     - a disabled IPPool or Cilium's native range holds it, and nothing says which address is expected:
#       both are written for networks that route pod addresses
#     - a CiliumEgressGatewayPolicy names the destination
#     - a tunnel of the nodes whose own rules translate, or may translate, what enters it; and such
#       a tunnel beside Cilium, which rewrites at the network cards only
#     - the list is the agent's default (VPN202)
#     - the agent refuses the list (VPN205)
#   remedy: "Replace the entry by the narrowest list in the message, roll the agent out, and look at one known request's source address before and after."
#   verify: [capture, agent-rules]
#   needs: [facts.agents]
#   since: "0.1"
package vpnlint.rules.vpn201

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in explicit
	some index, entry in agent.list.entries
	targets := [t | some t in masquerade.unwanted(agent); t.entry == index]
	count(targets) > 0
	finding := {
		"ref": entry.ref,
		"severity": severity(targets),
		"message": sprintf(
			"the exemption %s %s, so packets of pods%s keep their pod address on the way there; %s%s",
			[
				entry.prefix, covers(entry, targets), text.of_cluster(agent.cluster),
				masquerade.fate(targets), masquerade.narrowest(agent),
			],
		),
		"related": array.concat(masquerade.related(targets), places.ranges(agent.pod_ranges)),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, targets),
	}
}

findings contains finding if {
	some agent in explicit
	hidden := [site |
		some site in input.facts.sites
		site.cluster == agent.cluster
		site.remote_state == "unknown"
		not carries_pods(site, agent)
	]
	count(hidden) > 0
	some entry in agent.wide
	not entry.ref in convicted(agent)
	finding := {
		"ref": entry.ref,
		"severity": "warning",
		"message": sprintf(
			"the exemption %s reaches far beyond the pod range %s%s, and %s leads to networks that are not in view: packets of pods to any of them inside %s keep their pod address%s",
			[
				entry.prefix, text.set_list({r.prefix | some r in agent.pod_ranges}), text.of_cluster(agent.cluster),
				text.set_list({site.name | some site in hidden}), entry.prefix, masquerade.narrowest(agent),
			],
		),
		"related": array.concat(
			[{"ref": site.ref, "says": sprintf("%s: its destinations are not in view", [site.name])} | some site in hidden],
			places.ranges(agent.pod_ranges),
		),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, []),
	}
}

# Wherever it leads, the far side is told of the pods. A selector of 0.0.0.0/0 tells
# nobody anything.
carries_pods(site, agent) if {
	count(agent.pod_ranges) > 0
	every range in agent.pod_ranges {
		some local in site.local
		not endswith(local.prefix, "/0")
		net.cidr_contains(local.prefix, range.prefix)
	}
}

# The entry may be the destination itself.
covers(entry, targets) := sprintf("is a network behind %s", [text.set_list({masquerade.site(t) | some t in targets})]) if {
	masquerade.covered(targets) == {entry.prefix}
}

covers(entry, targets) := sprintf("covers %s", [masquerade.behind(targets)]) if {
	masquerade.covered(targets) != {entry.prefix}
}

# Agents with a list that somebody wrote and that the agent takes.
explicit contains agent if {
	some agent in input.facts.agents
	agent.list.source == "explicit"
	agent.list.valid != "absent"
}

# Places of entries that already cover a known destination.
convicted(agent) := {agent.list.entries[t.entry].ref | some t in masquerade.unwanted(agent); t.entry >= 0}

severity(targets) := "error" if "node" in {t.wanted | some t in targets}

severity(targets) := "warning" if not "node" in {t.wanted | some t in targets}
