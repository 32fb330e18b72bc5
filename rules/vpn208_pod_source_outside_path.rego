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
#   claims:
#     - M1: "pods of cluster shop keep their address towards 10.20.0.0/16"
#     - M8: "but warehouse carries nothing from 10.44.0.0/14"
#     - M9: "their packets are dropped on the way, or the replies are, while nodes get through"
#   fires: |
#     Pod addresses are kept towards a VPN destination, because an entry of the exemption list is for
#     it, because nothing masquerades (`defaultSnatStatus.disabled`, the AWS VPC CNI's EXTERNALSNAT, no
#     pool of Calico's with natOutgoing, Cilium without `enable-ipv4-masquerade`, flannel without
#     `--ip-masq` whose CNI plugin has `ipMasq: false`, kube-router without `--enable-pod-egress`) or
#     because the plan wants it so, and the path leaves out the pod range or a part of it: the local traffic selectors of the ComputeVPNTunnel, what its ComputeRouter
#     announces, or the plan's `localTrafficSelectors`, `returnRoutes` or `farSideAllows`. Where nothing
#     masquerades, also the plan's `sourceAddress: node`.
#   silent: |
#     - the selectors, return routes and what the far side allows hold the pod range
#     - no selectors are stated, or 0.0.0.0/0: a route-based tunnel says nothing about it
#     - a wider entry or a default list covers the destination by accident (VPN201, VPN202)
#     - the pod range is not known
#     - flannel without `--ip-masq` and no `ipMasq: false` in its CNI configuration: then the plugin
#       lets the bridge masquerade in its place
#   remedy: "Narrow the exemption list so that nodes' addresses are used, or add the pod range to the tunnel's local selectors and give the far side a return route."
#   verify: [capture]
#   needs: [facts.agents.targets.lacks]
#   since: "0.1"
package vpnlint.rules.vpn208

import data.vpnlint.lib.masquerade
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some agent in input.facts.agents
	some target in agent.targets
	count(target.covered) > 0
	count(target.lacks) > 0
	kept := reason(agent, target)
	finding := {
		"ref": primary(target, kept),
		"message": sprintf(
			"pods%s keep their address towards %s (%s), but %s: %s",
			[
				text.of_cluster(agent.cluster), text.list(target.covered), because(target, kept),
				text.list([step(target, l) | some l in target.lacks]), fate(target),
			],
		),
		"related": array.concat(
			array.concat(
				[{"ref": kept.ref, "says": kept.says} | places.written(kept.ref)],
				array.concat(
					[{"ref": target.ref, "says": sprintf("%s is reached through %s", [target.prefix, masquerade.site(target)])} | places.written(target.ref)],
					[{"ref": l.ref, "says": step(target, l)} | some i, l in target.lacks; related(i, l); places.written(l.ref)],
				),
			),
			places.ranges(agent.pod_ranges),
		),
		"containers": {agent.container | agent.container != ""},
		"clusters": masquerade.clusters(agent),
		"verify": masquerade.verify(agent, [target]),
	}
}

related(i, _) if i > 0

related(_, lack) if lack.kind == "choice"

# What is to be changed: the step that leaves the pods out; where the plan wants node
# addresses, what keeps anybody from having them.
primary(target, _) := places.either(target.lacks[0].ref, target.ref) if target.lacks[0].kind != "choice"

primary(target, kept) := places.either(kept.ref, target.lacks[0].ref) if target.lacks[0].kind == "choice"

fate(target) := "their packets are dropped on the way, or the replies are, while nodes get through" if {
	target.lacks[0].kind != "choice"
}

fate(target) := "a request with a pod address gets no reply there, while nodes get through" if {
	target.lacks[0].kind == "choice"
}

# The entry is not named twice where it is the destination itself.
because(target, kept) := "which is on the exemption list" if kept.says == exempt({"text": text.list(target.covered)})

because(target, kept) := kept.says if kept.says != exempt({"text": text.list(target.covered)})

exempt(entry) := sprintf("%s is on the exemption list", [entry.text])

step(target, lack) := sprintf("%s carries nothing from %s", [masquerade.site(target), text.list(lack.outside)]) if lack.kind == "selectors"

step(target, lack) := sprintf("the far side of %s has no return route to %s", [masquerade.site(target), text.list(lack.outside)]) if {
	lack.kind == "return-route"
}

step(target, lack) := sprintf("the far side of %s expects node addresses: %s", [masquerade.site(target), target.wanted_why]) if {
	lack.kind == "choice"
}

step(target, lack) := sprintf("the far side of %s lets nothing from %s in", [masquerade.site(target), text.list(lack.outside)]) if {
	lack.kind == "far-side"
}

# The plan wants pod addresses there.
reason(_, target) := {"says": sprintf("sourceAddress: pod, %s", [target.wanted_why]), "ref": target.wanted_ref} if chosen(target)

# Nothing masquerades at all.
reason(agent, target) := {"says": agent.list.why, "ref": agent.list.ref} if {
	not chosen(target)
	agent.list.source == "none"
}

# An entry that is for this destination: it holds nothing else.
reason(agent, target) := {"says": exempt(entry), "ref": entry.ref} if {
	not chosen(target)
	agent.list.source == "explicit"
	target.entry >= 0
	entry := agent.list.entries[target.entry]
	net.cidr_contains(target.prefix, entry.prefix)
}

chosen(target) if {
	target.wanted == "pod"
	places.written(target.wanted_ref)
	startswith(target.wanted_why, "the plan says so")
}
