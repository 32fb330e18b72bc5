# METADATA
# title: the plan does not say which source address a VPN's far side shall see
# description: |
#   Pods reach a network behind a VPN with their own address or with their node's. Neither is a defect:
#   node addresses keep routes and firewall lists on the far side short, pod addresses keep the pods
#   apart there and need selectors, return routes and rules for the whole pod range. The mixture is
#   what breaks, and it comes from nobody having decided. A plan that records the choice and its reason
#   lets vpnlint hold the exemption list against it, and tells the next engineer why.
# related_resources:
#   - ref: https://cloud.google.com/kubernetes-engine/docs/concepts/ip-masquerade-agent
#     description: "GKE: when the pod's address is kept"
# custom:
#   id: VPN210
#   name: source-address-choice-unrecorded
#   severities: [note]
#   family: masquerade
#   claims:
#     - M8: "has no sourceAddress and reason for it"
#   fires: |
#     A VPN of the plan has destinations, but lacks `sourceAddress` or its `reason`: one note each for the first
#     100 of a cluster, the last of which counts the others.
#   silent: |
#     - both are there
#     - the plan says that a workload's own tunnel carries the VPN: the far side sees the tunnel's address
#     - only a default route goes through it
#     - nothing that is checked belongs to the cluster; there is no plan
#   remedy: "Write sourceAddress: node or pod, and a reason, next to the destinations."
#   verify: [capture]
#   needs: [facts.clusters.plan.vpn]
#   since: "0.1"
package vpnlint.rules.vpn210

import data.vpnlint.lib.text

findings contains finding if {
	some cluster in input.facts.clusters
	not cluster.elsewhere
	vpns := [vpn | some vpn in cluster.plan.vpn; undecided(vpn)]
	some i, vpn in array.slice(vpns, 0, most)
	private := destinations(vpn)
	finding := {
		"ref": place(vpn),
		"message": sprintf(
			"the plan leads %s%s through %s and has no %s for it: %s%s",
			[
				text.list(private), text.of_cluster(cluster.name), vpn.name,
				text.list(missing(vpn)), open(vpn), others(i, count(vpns) - most),
			],
		),
		"clusters": {cluster.name},
		"verify": {"destination": private[0]},
	}
}

# A plan that is written by a program lacks the choice for all of its VPNs.
most := 100

others(i, more) := sprintf(" (%d more VPNs of the cluster after this one lack it, too)", [more]) if {
	i == most - 1
	more > 0
} else := ""

undecided(vpn) if {
	not vpn.tunnel.kind in workloads
	count(destinations(vpn)) > 0
	count(missing(vpn)) > 0
}

destinations(vpn) := [d.prefix | some d in vpn.destinations; not endswith(d.prefix, "/0")]

# Their pods send with the tunnel's own address.
workloads := {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob"}

missing(vpn) := array.concat(
	["sourceAddress" | vpn.source_address.state == "absent"],
	["reason" | vpn.reason.state == "absent"],
)

# What the far side does with the other kind of address is the same either way.
open(vpn) := "whether packets of pods arrive there with the pod's or the node's address is nobody's decision, and the far side drops the kind that it does not expect" if {
	vpn.source_address.state != "present"
}

open(vpn) := sprintf("packets of pods are to arrive there with the %s's address, and nobody who changes that later can tell what on the far side depends on it", [vpn.source_address.value]) if {
	vpn.source_address.state == "present"
}

# A choice without a reason is where the reason belongs.
place(vpn) := vpn.source_address.ref if vpn.source_address.state == "present"

place(vpn) := vpn.ref if vpn.source_address.state != "present"
