# METADATA
# title: the plan says one range, the tree another
# description: |
#   The plan file is what every check of a range is made against: what a tunnel may capture, which
#   destinations keep pod addresses, what the far side lets pass. A cluster that is built from another
#   range sends packets with addresses that none of those lists was written for, and all of them look
#   right in review. Either the plan is out of date, or the declaration is a mistake.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/networking/
#     description: "Kubernetes: the cluster's address ranges"
# custom:
#   id: VPN404
#   name: plan-disagrees-with-manifests
#   severities: [error]
#   family: plan
#   claims:
#     - C6: "the plan gives services 10.44.0.0/20, but serviceSubnets is 10.96.0.0/12"
#   fires: |
#     The plan file gives the pod, service or node range of a cluster, and a declaration that belongs
#     to the cluster gives another. Or a single address or block proves that another one is in use:
#     a Service's clusterIP, a node's podCIDR.
#   silent: |
#     - the plan lists the declared range, alone or in pieces
#     - pools that are cut from the planned range, and pieces of evidence inside of it
#     - a network of nodes that encloses the planned node range
#     - what a component uses by default, and a family (IPv4, IPv6) that the plan leaves out
#   remedy: "Write the range that the cluster has into the plan, or the planned one into the declaration."
#   needs: [plan.conflicts]
#   verify: [cluster-ranges]
#   since: "0.1"
package vpnlint.rules.vpn404

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some conflict in input.plan.conflicts
	conflict.a.strength == "planned"
	places.written(conflict.b.at)
	finding := {
		"ref": conflict.b.at,
		"message": sprintf(
			"%sthe plan gives %s %s, but %s is %s: %s",
			[
				text.in_cluster(conflict.cluster), holders[conflict.a.role],
				text.list(planned(conflict)), conflict.b.says, conflict.b.prefix, fate(conflict),
			],
		),
		"clusters": {conflict.cluster},
		"related": [{
			"ref": conflict.a.at,
			"says": sprintf("the plan says %s", [conflict.a.prefix]),
		}],
	}
}

# A range that is smaller than planned leaves nobody out.
fate(conflict) := "the rest of the planned range is not the cluster's, and the exemption lists, bypasses and routes that fit the plan take packets for it out of the VPN" if {
	net.cidr_contains(conflict.a.prefix, conflict.b.prefix)
}

fate(conflict) := "packets with addresses outside the plan are in use, and the exemption lists, bypasses and routes that fit the plan miss them" if {
	not net.cidr_contains(conflict.a.prefix, conflict.b.prefix)
}

holders := {"pod": "pods", "service": "services", "node": "nodes"}

# All that the plan says of the range, in the order of the address plan.
planned(conflict) := [claim.prefix |
	some r in input.plan.ranges
	r.cluster == conflict.cluster
	r.role == conflict.a.role
	r.owner == conflict.a.owner
	some claim in r.claims
	claim.strength == "planned"
]
