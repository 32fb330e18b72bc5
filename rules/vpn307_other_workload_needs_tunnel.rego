# METADATA
# title: a workload without a tunnel names addresses that only a tunnel reaches
# description: |
#   A tunnel sidecar gives one pod a way to a network; the cluster has none. Another workload that names
#   an address of that network sends its packets to the node's default route, where they are lost.
#   Services do not help: a Service whose Endpoints lie behind the VPN is translated on the node, which
#   has no route either.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/service/#services-without-selectors
#     description: "Kubernetes: Services without selectors"
# custom:
#   id: VPN307
#   name: other-workload-needs-tunnel
#   severities: [warning]
#   family: sidecar
#   claims:
#     - C3: "this pod has no tunnel, and its packets leave by the node's default route and are lost"
#   fires: |
#     A pod without a tunnel names, in its environment, arguments or mounted configuration, a private
#     address that another pod of the cluster routes into its own tunnel, or that the plan says its
#     tunnel carries; or Endpoints or an ExternalName hold one, or the ExternalName is a name for which
#     the `hosts` plugin of the cluster's CoreDNS has such an address.
#   silent: |
#     - the cluster has a site-to-site VPN or a route for that destination, or a site whose destinations
#       are not known; one of which the cluster is not known may be this cluster's
#     - a gateway or a tunnel on the host network routes it for others
#     - the address lies in a range of a cluster in view: the network around them may route it
#     - only a test of a chart has that tunnel
#     - the container is told to use a proxy
#     - an ExternalName that another resolver knows: what it answers cannot be seen
#     - the two belong to different clusters, or it is not known to which
#   remedy: "Give this workload a tunnel of its own, or a route for the whole cluster."
#   verify: [reach]
#   needs: ["facts.pods.mentions | facts.backends", facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn307

import data.vpnlint.lib.places
import data.vpnlint.lib.pods

findings contains finding if {
	some pod in input.facts.pods
	pod.role == "none"
	pod.host_network.value != "true"
	some mention in pod.mentions
	not mention.proxied
	ways := [w | some w in private_ways(pod); net.cidr_contains(w.prefix.prefix, mention.address)]
	count(ways) > 0
	not routed(pod, mention.address)
	finding := {
		"ref": mention.ref,
		"pod": pod.id,
		"message": sprintf(
			"container %s names %s, but %s is only reached through the tunnel of %s in %s: this pod has no tunnel, and its packets leave by the node's default route and are lost",
			[mention.container, mention.says, ways[0].prefix.text, ways[0].tunnel.family_title, ways[0].pod.workload],
		),
		"containers": {mention.container},
		"related": related(ways),
		"verify": {"container": mention.container, "behind": mention.address},
	}
}

findings contains finding if {
	some backend in input.facts.backends
	home := {"clusters": [backend.cluster | backend.cluster != ""], "cluster_known": backend.cluster_known}
	ways := [w | some w in all_ways; pods.together(w.pod, home); net.cidr_contains(w.prefix.prefix, backend.address)]
	count(ways) > 0
	not routed(home, backend.address)
	finding := {
		"ref": backend.ref,
		"message": sprintf(
			"%s %s leads to %s, which is only reached through the tunnel of %s in %s: %s",
			[backend.object.kind, backend.object.name, backend.address, ways[0].tunnel.family_title, ways[0].pod.workload, fate(backend)],
		),
		"related": array.concat(
			[{"ref": backend.resolved, "says": sprintf("CoreDNS answers with %s", [backend.address])} | places.written(backend.resolved)],
			related(ways),
		),
	}
}

# An ExternalName is an answer of the resolver; nothing is translated.
fate(backend) := "pods that use the name send their packets there by the node's default route, where they are lost" if backend.object.kind == "Service"

fate(backend) := "requests to the Service are translated on the node, which has no route there" if backend.object.kind != "Service"

# Networks that pods route into tunnels of their own.
all_ways := [{"pod": pod, "tunnel": tunnel, "prefix": p} |
	some pod in input.facts.pods
	pod.role in {"sidecar", "client"}
	not pods.helm_test(pod)
	pod.host_network.state != "unknown"
	pod.host_network.value != "true"
	some tunnel in pod.tunnels
	tunnel.side != "server"
	some p in array.concat(taken(tunnel), pods.planned(pod))
	some block in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]
	net.cidr_contains(block, p.prefix)
]

taken(tunnel) := [p | tunnel.side == "client"; tunnel.routes.state == "present"; some p in tunnel.routes.prefixes]

private_ways(pod) := [w | some w in all_ways; w.pod.id != pod.id; pods.together(w.pod, pod)]

# Somebody routes it for all pods of the cluster, or may.
routed(pod, address) if {
	address != ""
	some site in input.facts.sites
	pods.serves(pod, site.cluster, site.cluster_known)
	site.remote_state != "present"
}

routed(pod, address) if {
	some site in input.facts.sites
	pods.serves(pod, site.cluster, site.cluster_known)
	some p in site.remote
	net.cidr_contains(p.prefix, address)
}

routed(pod, address) if {
	some route in input.facts.node_routes
	pods.serves(pod, route.cluster, route.cluster_known)
	net.cidr_contains(route.prefix, address)
}

# What lies between clusters in view, the network around them may route.
routed(_, address) if {
	some cluster in input.facts.clusters
	not cluster.elsewhere
	some r in cluster.ranges
	net.cidr_contains(r.prefix, address)
}

routed(pod, address) if {
	some other in input.facts.pods
	shares(other)
	not apart(pod, other)
	some p in pods.planned(other)
	net.cidr_contains(p.prefix, address)
}

routed(pod, address) if {
	some other in input.facts.pods
	shares(other)
	not apart(pod, other)
	some tunnel in other.tunnels
	leads(tunnel, address)
}

# Both certainly run in different clusters.
apart(a, b) if {
	pods.placed(a)
	pods.placed(b)
	not pods.together(a, b)
}

# Its routes serve others than its own containers.
shares(pod) if pod.role in {"gateway", "mesh", "unknown"}

shares(pod) if pod.host_network.value == "true"

shares(pod) if pod.host_network.state == "unknown"

leads(tunnel, _) if {
	tunnel.side != "server"
	tunnel.routes.state == "unknown"
}

leads(tunnel, address) if {
	some p in tunnel.routes.prefixes
	net.cidr_contains(p.prefix, address)
}

related(ways) := [{"ref": w.prefix.ref, "says": sprintf("%s routes %s into its tunnel", [w.pod.workload, w.prefix.text])} |
	some w in ways
	places.written(w.prefix.ref)
]
