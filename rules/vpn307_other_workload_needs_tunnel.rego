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
#   claims: [C3]
#   fires: |
#     A pod without a tunnel names, in its environment, arguments or mounted configuration, a private
#     address that another pod of the cluster routes into its own tunnel, or Endpoints hold one.
#   silent: |
#     - the cluster has a site-to-site VPN or a route for that destination, or a site whose destinations
#       are not known
#     - a gateway or a tunnel on the host network routes it for others
#     - the address lies in a range of the cluster
#     - only a test of a chart has that tunnel
#     - the container is told to use a proxy
#     - the two belong to different clusters
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
	not routed(mention.address)
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
	ways := [w | some w in all_ways; w.pod.clusters == cluster_list(backend.cluster); net.cidr_contains(w.prefix.prefix, backend.address)]
	count(ways) > 0
	not routed(backend.address)
	finding := {
		"ref": backend.ref,
		"message": sprintf(
			"%s %s leads to %s, which is only reached through the tunnel of %s in %s: requests to the Service are translated on the node, which has no route there",
			[backend.object.kind, backend.object.name, backend.address, ways[0].tunnel.family_title, ways[0].pod.workload],
		),
		"related": related(ways),
	}
}

cluster_list("") := []

cluster_list(name) := [name] if name != ""

# Networks that pods route into tunnels of their own.
all_ways := [{"pod": pod, "tunnel": tunnel, "prefix": p} |
	some pod in input.facts.pods
	pod.role in {"sidecar", "client"}
	not pods.helm_test(pod)
	pod.host_network.state != "unknown"
	pod.host_network.value != "true"
	some tunnel in pod.tunnels
	tunnel.side == "client"
	tunnel.routes.state == "present"
	some p in tunnel.routes.prefixes
	some block in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]
	net.cidr_contains(block, p.prefix)
]

private_ways(pod) := [w | some w in all_ways; w.pod.id != pod.id; w.pod.clusters == pod.clusters]

# Somebody routes it for all pods, or may.
routed(address) if {
	address != ""
	some site in input.facts.sites
	site.remote_state != "present"
}

routed(address) if {
	some site in input.facts.sites
	some p in site.remote
	net.cidr_contains(p.prefix, address)
}

routed(address) if {
	some route in input.facts.node_routes
	net.cidr_contains(route.prefix, address)
}

routed(address) if {
	some cluster in input.facts.clusters
	not cluster.elsewhere
	some r in cluster.ranges
	net.cidr_contains(r.prefix, address)
}

routed(address) if {
	some pod in input.facts.pods
	shares(pod)
	some tunnel in pod.tunnels
	leads(tunnel, address)
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
