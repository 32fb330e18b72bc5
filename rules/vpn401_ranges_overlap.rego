# METADATA
# title: two ranges of the address plan overlap
# description: |
#   Pods, services, nodes, the networks behind a VPN and the pools of its clients must not share
#   addresses inside one routing domain. Where they do, each hop decides for itself, by the longest prefix:
#   packets for the VPN are delivered inside the cluster, or packets for the cluster enter the tunnel,
#   and nothing reports an error. A default route does not repair an overlap, it hides it.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/networking/
#     description: "Kubernetes: the cluster's address ranges"
# custom:
#   id: VPN401
#   name: ranges-overlap
#   severities: [error, warning]
#   family: plan
#   claims:
#     - C6: "lies inside 10.244.0.0/16"
#     - C13: "in cluster edge, 10.244.16.0/20"
#   fires: |
#     Two of pod range, service range, node range, VPN destination and client pool share addresses in
#     one cluster. **Error**: they overlap in part, are equal, or the VPN's range lies inside a range of
#     the cluster. **Warning**: the VPN's range strictly contains the other (more specific routes win,
#     until they do not), one range of the cluster contains another, or one side is only the default
#     of a component. The networks behind the clients of a WireGuard or OpenVPN server, and behind the
#     peers of Kilo's mesh, are VPN destinations. The pods, or nodes, of another cluster are VPN destinations where the plan says
#     that both clusters show the far side of one VPN these addresses; its pods and services are, too, where
#     Submariner joins both to one broker without globalnet.
#   silent: |
#     - ranges of the same role, and the pool and destinations of one VPN
#     - ranges of different clusters without a common VPN (one name, a common destination), or with a
#       globalnet of Submariner's (`globalCIDR`, or a Broker with `globalnetEnabled`)
#     - pods inside the nodes' range where they take its addresses: the plan says `agent: aws-vpc-cni` or
#       `azure-v2`, or the tree has the AWS VPC CNI, or the masquerade list of AKS
#     - a VPN of the plan with `fullTunnel: true` that holds a range of the cluster
#     - default routes, routes to the cluster's own ranges that a gateway hands to its clients,
#       Calico pools that only exempt a destination, ranges that enclose the cluster by design
#   remedy: "Give one of the two a range that meets none of the others."
#   verify: [capture]
#   needs: [plan.overlaps]
#   since: "0.1"
package vpnlint.rules.vpn401

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some place, group in at_places
	finding := {
		"ref": primary(group[0]),
		"severity": severity(group),
		"message": sprintf("%s%s", [text.in_cluster(place[0]), concat("; ", sort({overlaps(group, f) | some o in group; f := fate(o)}))]),
		"clusters": {place[0]},
		"containers": {name | some o in group; some claim in [o.a, o.b]; some name in pods.sharing_with[claim.owner]},
		"related": [note |
			some o in group
			some note in sides(o)
			places.written(note.ref)
			note.ref != primary(o)
		],
		"verify": {"destination": group[0].set[0]},
	}
}

# The harmful overlaps by cluster and place. OPA indexes the inner comprehension by
# its key, which makes it a grouping: there may be tens of thousands.
# regal ignore:prefer-set-or-object-rule
at_places := {place: group |
	some h in harmful

	# regal ignore:comprehension-term-assignment
	place := h.place
	group := [other.overlap | some other in harmful; other.place == place]
}

harmful := [{"place": [o.cluster, primary(o)], "overlap": o} |
	some o in input.plan.overlaps
	count(o.set) > 0
	role_name[o.a.role]
	role_name[o.b.role]
	o.a.role != o.b.role
	not one_vpn(o)
	not meant(o.a)
	not meant(o.b)
	not enclosed(o)
	not both_evidence(o)
	not pods_of_nodes(o)
	not full_tunnel(o)
	places.written(primary(o))
]

# A node's address inside its podCIDR proves two pieces of two ranges, not that
# anybody planned them to meet.
both_evidence(o) if {
	o.a.strength == "evidence"
	o.b.strength == "evidence"
}

# The AWS VPC CNI gives pods addresses of the nodes' network, and so does Azure's CNI
# without an overlay.
pods_of_nodes(o) if {
	{o.a.role, o.b.role} == {"pod", "node"}
	of_nodes[o.cluster]
}

of_nodes contains c.name if {
	some c in input.facts.clusters
	c.plan.masquerade.value in {"aws-vpc-cni", "azure-v2"}
}

of_nodes contains c.name if {
	some c in input.facts.clusters
	c.cni == "aws"
}

of_nodes contains agent.cluster if {
	some agent in input.facts.agents
	agent.kind in {"aws-vpc-cni", "azure-v2"}
}

# What is meant to take everything holds the cluster's ranges, too.
full_tunnel(o) if {
	o.relation == "b-in-a"
	o.a.role == "vpn"
	[o.cluster, o.a.owner] in full_tunnels
}

full_tunnel(o) if {
	o.relation == "a-in-b"
	o.b.role == "vpn"
	[o.cluster, o.b.owner] in full_tunnels
}

full_tunnels contains [c.name, v.owner] if {
	some c in input.facts.clusters
	some v in c.plan.vpn
	v.full_tunnel.state == "present"
}

role_name := {
	"pod": "pods",
	"service": "services",
	"node": "nodes",
	"vpn": "VPN destinations",
	"pool": "VPN clients",
}

# The pool of a gateway inside the routes that it pushes.
one_vpn(o) if {
	{o.a.role, o.b.role} == {"vpn", "pool"}
	o.a.owner == o.b.owner
}

meant(claim) if claim.idiom in {"no-snat-pool", "cluster-route", "default-route"}

enclosed(o) if {
	o.a.idiom == "encloses-cluster"
	o.relation in {"b-in-a", "equal"}
}

enclosed(o) if {
	o.b.idiom == "encloses-cluster"
	o.relation in {"a-in-b", "equal"}
}

# The side to change, if anybody wrote it.
primary(o) := places.either(o.a.at, o.b.at)

severity(group) := "error" if proved(group)

severity(group) := "warning" if not proved(group)

proved(group) if {
	some o in group
	o.a.strength != "default"
	o.b.strength != "default"
	breaks(o)
}

breaks(o) if o.relation in {"partial", "equal"}

breaks(o) if {
	o.relation == "a-in-b"
	o.a.role in {"vpn", "pool"}
	o.b.role in {"pod", "service", "node"}
}

breaks(o) if {
	o.relation == "b-in-a"
	o.b.role in {"vpn", "pool"}
	o.a.role in {"pod", "service", "node"}
}

# What has one fate says it once.
overlaps(group, f) := sprintf("%s: %s", [concat("; ", sort({shared(o) | some o in group; fate(o) == f})), f])

shared(o) := sprintf("%s and %s are the same addresses%s", [side(o.a), side(o.b), more(o)]) if {
	o.a.prefix == o.b.prefix
} else := sprintf("%s lies inside %s%s", [side(o.a), side(o.b), more(o)]) if {
	o.set == [o.a.prefix]
} else := sprintf("%s lies inside %s%s", [side(o.b), side(o.a), more(o)]) if {
	o.set == [o.b.prefix]
} else := sprintf("%s and %s share %s%s", [side(o.a), side(o.b), concat(", ", o.set), more(o)])

# A list that was pasted twice overlaps in each of its lines.
more(o) := "" if o.more == 0

more(o) := sprintf(" (%d more pairs of the %s and %s written in these places share addresses)", [o.more, role_name[o.a.role], role_name[o.b.role]]) if {
	o.more > 0
}

# "10.20.0.0/16 (VPN destinations of Deployment edge/wg)".
side(claim) := sprintf("%s (%s%s%s)", [claim.prefix, role_name[claim.role], origin(claim), by_default(claim)])

origin(claim) := sprintf(" of %s", [claim.owner]) if claim.owner != ""

origin(claim) := text.optional(claim.says, ", %s") if claim.owner == ""

by_default(claim) := ", by default" if claim.strength == "default"

by_default(claim) := "" if claim.strength != "default"

fate(o) := "a packet for these addresses goes to whichever of the two the hop at hand has a route for" if breaks(o)

fate(o) := "a packet for these addresses follows the longer prefix on hops that have it, and the other one elsewhere" if not breaks(o)

sides(o) := [
	{"ref": o.a.at, "says": sprintf("%s (%s) is declared here", [o.a.prefix, role_name[o.a.role]])},
	{"ref": o.b.at, "says": sprintf("%s (%s) is declared here", [o.b.prefix, role_name[o.b.role]])},
]
