# METADATA
# title: the four ranges that decide about a VPN are not written down
# description: |
#   What a VPN reaches, and what it takes by mistake, follows from four ranges: pods, services, nodes, and
#   the addresses of the VPN itself (the networks behind it, or the pool of its clients). Where one of
#   them is written nowhere, a packet may leave by the tunnel or by the cluster, and neither a reviewer
#   nor vpnlint can tell which; moving the workload to a cluster with other ranges is a guess. Nothing is
#   wrong yet. A plan file, or a cluster configuration next to the manifests, makes it a check.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/networking/
#     description: "Kubernetes: the cluster's address ranges"
# custom:
#   id: VPN403
#   name: no-route-plan
#   severities: [note]
#   family: plan
#   once: true
#   claims:
#     - C6: "the pod, service and node ranges of its cluster are written neither in a plan nor in the tree"
#     - C13: "whether the bypass list of Gluetun fits this cluster (VPN408)"
#   fires: |
#     Once a run, at the first VPN workload for which one of the four ranges can be read neither from the
#     plan nor from the tree: the pod, service and node ranges of its cluster, and the addresses behind
#     its VPN. It names what is missing, and what nobody can check without it. A VPN workload carries a
#     VPN's packets: a gateway, a tunnel sidecar, a client of its own, a mesh on the nodes.
#   silent: |
#     - the plan or the tree has all four; defaults of components and images count, and a full tunnel
#       is known to lead to 0.0.0.0/0
#     - the pod range, where pods take the nodes' addresses (AWS VPC CNI, Azure CNI), and for a mesh on
#       the host network
#     - pods of which several clusters may be the one, if any of these has the ranges
#     - control planes, user interfaces, exporters, proxies, tests of charts, and pods whose part in a VPN
#       cannot be seen
#   remedy: "Write the missing ranges into a plan file; `vpnlint plan init` drafts one from what the tree says."
#   verify: [cluster-ranges]
#   needs: ["facts.pods.role=gateway | facts.pods.role=sidecar | facts.pods.role=client | facts.pods.role=mesh"]
#   since: "0.1"
package vpnlint.rules.vpn403

import data.vpnlint.lib.capture
import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

# A VPN workload for which one of the four ranges is not known. The report has the
# first of them, and counts the others.
findings contains finding if {
	some pod in input.facts.pods
	carries(pod)
	missing := [role | some role in ["pod", "service", "node", "vpn"]; asked(pod, role); not known(pod, role)]
	count(missing) > 0
	finding := {
		"ref": places.either(pod.name_ref, pod.ref),
		"pod": pod.id,
		"message": sprintf(
			"%s carries a VPN, and %s %s written neither in a plan nor in the tree: %s",
			[pod.object.name, ranges(missing), verb(missing), consequence(pod, missing)],
		),
		"containers": pods.data_plane(pod),
	}
}

# It carries a VPN's packets. An application proxy has no part in routing.
carries(pod) if {
	pod.role in {"gateway", "sidecar", "client", "mesh"}
	not pods.helm_test(pod)
	some tunnel in pod.tunnels
	tunnel.kind != "proxy"
}

# A node-level mesh is no more than its daemon.
carries(pod) if {
	pod.role == "mesh"
	count(pods.data_plane(pod)) > 0
}

asked(_, role) if role in {"service", "node", "vpn"}

# What runs on the nodes for the nodes has their addresses.
asked(pod, "pod") if not on_nodes(pod)

on_nodes(pod) if {
	pod.role == "mesh"
	pod.host_network.value == "true"
}

known(pod, role) if {
	some c in near(pod)
	some r in c.ranges
	r.role == role
	r.strength != "evidence"
}

# Pods may take the nodes' addresses.
known(pod, "pod") if {
	some c in near(pod)
	pods_of_nodes(c)
}

known(pod, "vpn") if {
	some c in near(pod)
	count(c.plan.vpn) + count(c.plan.client_pools) > 0
}

known(pod, "vpn") if {
	some t in pod.tunnels
	count(own(t)) > 0
}

# The addresses that a tunnel itself declares: its routes, also the default one, or
# its pool.
own(tunnel) := array.concat(
	[p.prefix | some p in tunnel.pool],
	[p.prefix | tunnel.routes.state == "present"; some p in tunnel.routes.prefixes],
)

pods_of_nodes(cluster) if cluster.cni == "aws"

pods_of_nodes(cluster) if cluster.plan.masquerade.value in {"aws-vpc-cni", "azure-v2"}

# Of a pod whose cluster is not known, any may be meant.
near(pod) := pods.clusters(pod) if pods.placed(pod)

near(pod) := [c | some c in input.facts.clusters; not c.elsewhere] if not pods.placed(pod)

# "the pod and node ranges of its cluster and the addresses behind it".
ranges(missing) := text.list(array.concat(
	[sprintf("the %s %s of its cluster", [text.list(roles), noun(roles)]) |
		roles := cluster_roles(missing)
		count(roles) > 0
	],
	["the addresses behind it" | "vpn" in missing],
))

these(missing) := "it" if verb(missing) == "is"

these(missing) := "them" if verb(missing) == "are"

verb(["vpn"]) := "are"

verb(missing) := "is" if {
	count(missing) == 1
	missing != ["vpn"]
}

verb(missing) := "are" if count(missing) > 1

cluster_roles(missing) := [role | some role in missing; role != "vpn"]

noun(roles) := "range" if count(roles) == 1

noun(roles) := "ranges" if count(roles) > 1

# What other rules leave unsaid because of it. They have looked at all else.
consequence(pod, missing) := sprintf("not checked is %s", [concat(", nor ", unchecked(pod, missing))]) if {
	count(unchecked(pod, missing)) > 0
}

consequence(pod, missing) := sprintf("no rule needs %s as the tree stands, and none can see when a later route or cluster overlaps %s", [these(missing), these(missing)]) if {
	count(unchecked(pod, missing)) == 0
}

unchecked(pod, missing) := array.concat(overlaps(pod, missing), array.concat(captures(pod, missing), exemptions(pod, missing)))

# VPN401 holds what is there against what is there. A default route overlaps nothing.
overlaps(_, missing) := ["whether they overlap the cluster's (VPN401) or those of home networks (VPN406)"] if {
	"vpn" in missing
}

overlaps(pod, missing) := [says |
	count(held(pod)) > 0
	says := sprintf("whether %s and the %s %s overlap (VPN401)", [some_of(held(pod)), text.list(missing), noun(missing)])
] if {
	not "vpn" in missing
}

# What the pod's own tunnels say is behind them, or is theirs, without what lies in
# another of these.
held(pod) := sort({p | some p in named(pod); count({q | some q in named(pod); net.cidr_contains(q, p)}) == 1})

named(pod) := {prefix |
	some tunnel in pod.tunnels
	tunnel.user_space != "present" # its addresses meet nothing on the node
	some prefix in own(tunnel)
	not endswith(prefix, "/0")
	not endswith(prefix, "/1")
}

some_of(prefixes) := text.list(prefixes) if count(prefixes) <= 3

some_of(prefixes) := sprintf("%s and %d more", [concat(", ", array.slice(prefixes, 0, 2)), count(prefixes) - 2]) if {
	count(prefixes) > 3
}

captures(pod, _) := [] if not pods.own_namespace(pod)

captures(pod, missing) := sort(((lists(pod, missing) | taken(pod, missing)) | mended(pod))) if pods.own_namespace(pod)

lists(pod, missing) := {sprintf("whether the bypass list of %s fits this cluster (VPN408)", [tunnel.family_title]) |
	count({"pod", "service"} & {role | some role in missing}) > 0
	some tunnel in capture.rerouting(pod)
	count(tunnel.bypass.entries) > 0
}

taken(pod, missing) := {sprintf("whether the tunnel takes packets of %s for the cluster (VPN302)", [text.containers({n.container | some n in needed})]) |
	some tunnel in pod.tunnels
	tunnel.side in {"client", "mesh"}
	tunnel.user_space != "present"
	tunnel.routes.state != "absent"
	not capture.broken(pod, tunnel)
	needed := capture.needs(pod, tunnel)
	decides(needed, missing)
}

# Without the routes or the service range nothing is known to be taken; pods and
# nodes matter to what is answered to them.
decides(needed, missing) if {
	count(needed) > 0
	some role in missing
	role in {"service", "vpn"}
}

decides(needed, missing) if {
	some n in needed
	n.kind == "replies"
	some role in missing
	role in {"pod", "node"}
}

# VPN302 has seen that the cluster is lost, and can name no list that mends it.
mended(pod) := {"which bypass list keeps the cluster reachable (VPN302)" |
	some tunnel in capture.rerouting(pod)
	count(capture.blind(pod, tunnel)) > 0
}

exemptions(pod, missing) := sort({sprintf("whether the exemption list of %s holds the pod range (VPN203)", [agent.object.name]) |
	"pod" in missing
	some agent in input.facts.agents
	agent.list.source == "explicit"
	pods.serves(pod, agent.cluster, "present")
})
