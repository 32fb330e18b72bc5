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
#     A VPN of the plan has destinations, and not both of `sourceAddress` and `reason`.
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
	some vpn in cluster.plan.vpn
	not vpn.tunnel.kind in workloads
	private := [d.prefix | some d in vpn.destinations; not endswith(d.prefix, "/0")]
	count(private) > 0
	lacking := missing(vpn)
	count(lacking) > 0
	finding := {
		"ref": place(vpn),
		"message": sprintf(
			"the plan leads %s%s through %s and has no %s for it: whether packets of pods arrive there with the pod's or the node's address is nobody's decision, and the far side drops the kind that it does not expect",
			[text.list(private), text.of_cluster(cluster.name), vpn.name, text.list(lacking)],
		),
		"clusters": {cluster.name},
		"verify": {"destination": private[0]},
	}
}

# Their pods send with the tunnel's own address.
workloads := {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob"}

missing(vpn) := array.concat(
	["sourceAddress" | vpn.source_address.state == "absent"],
	["reason" | vpn.reason.state == "absent"],
)

# A choice without a reason is where the reason belongs.
place(vpn) := vpn.source_address.ref if vpn.source_address.state == "present"

place(vpn) := vpn.ref if vpn.source_address.state != "present"
