package vpnlint.rules.vpn403_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn403

workload(given) := testing.pod(object.union({"role": "sidecar", "tunnels": [testing.tunnel({})]}, given))

with_cluster(given, pod) := {
	"facts": testing.facts({
		"pods": [workload(object.union({"clusters": ["prod"]}, pod))],
		"clusters": [testing.cluster(given)],
	}),
	"plan": testing.plan([]),
}

pods := testing.range("pod", "10.244.0.0/16")

services := testing.range("service", "10.96.0.0/12")

nodes := testing.range("node", "10.128.0.0/20")

four := [pods, services, nodes]

name := testing.need("name")

unseen := testing.tunnel({"routes": testing.routes({"state": "unknown", "default": false, "prefixes": []})})

narrow := testing.tunnel({
	"routes": testing.routes({"default": false, "prefixes": testing.prefixes(["10.20.0.0/16"])}),
	"captures": [testing.capture({"known": false})],
})

says(given, text) if {
	found := vpn403.findings with input as given
	count(found) == 1
	some f in found
	contains(f.message, text)
}

test_fires_at_the_workload if {
	given := testing.pods([workload({})])
	found := vpn403.findings with input as given
	count(found) == 1
	some f in found
	f.ref == testing.ref("/metadata/name")
	f.containers == {"vpn"}
	f.message == "vpn carries a VPN, and the pod, service and node ranges of its cluster are written neither in a plan nor in the tree: no rule needs them as the tree stands, and none can see when a later route or cluster overlaps them"
}

test_fires_for_one_range if {
	says(with_cluster({"ranges": [services, nodes]}, {}), "and the pod range of its cluster is written neither")
	says(with_cluster({"ranges": [pods, nodes]}, {}), "and the service range of its cluster is written neither")
	says(with_cluster({"ranges": [pods, services]}, {}), "and the node range of its cluster is written neither")
}

test_fires_for_a_server if {
	server := testing.tunnel({"side": "server", "pool": testing.prefixes(["10.8.0.0/24"])})
	given := with_cluster({"ranges": [pods, services]}, {"role": "gateway", "tunnels": [server]})
	says(given, "not checked is whether 10.8.0.0/24 and the node range overlap (VPN401)")
}

test_fires_for_the_vpn_alone if {
	says(with_cluster({"ranges": four}, {"tunnels": [unseen]}), "and the addresses behind it are written neither")
	says(with_cluster({"ranges": four}, {"tunnels": [unseen]}), "not checked is whether they overlap the cluster's (VPN401) or those of home networks (VPN406)")
	says(with_cluster({"ranges": [pods, services]}, {"tunnels": [unseen]}), "the node range of its cluster and the addresses behind it are")
}

test_fires_with_the_ranges_of_another_cluster if {
	says(with_cluster({"name": "lab", "ranges": four}, {}), "pod, service and node ranges")
}

test_fires_with_a_mere_piece_of_evidence if {
	says(with_cluster({"ranges": [pods, nodes, object.union(services, {"strength": "evidence"})]}, {}), "service range")
}

test_fires_for_each_that_lacks_one if {
	found := vpn403.findings with input as testing.pods([workload({"id": "b"}), workload({"id": "c"}), workload({"id": "a"})])
	{f.pod | some f in found} == {"a", "b", "c"}
}

# What the tunnel takes follows from the service range, and from pods and nodes
# where these are answered.
test_names_what_vpn302_cannot_check if {
	bypassed := testing.tunnel({"bypass": testing.bypass({"state": "present", "entries": testing.prefixes(["10.96.0.0/12"])})})
	says(with_cluster({"ranges": [pods, nodes]}, {"tunnels": [bypassed], "needs": [name]}), "whether the bypass list of gluetun fits this cluster (VPN408), nor whether the tunnel takes packets of container app for the cluster (VPN302)")
	says(with_cluster({"ranges": [pods, nodes]}, {"tunnels": [narrow], "needs": [name]}), "whether the tunnel takes packets of container app for the cluster (VPN302)")
	says(with_cluster({"ranges": [pods, services]}, {"tunnels": [narrow], "needs": [testing.need("replies")]}), "whether the tunnel takes packets of container app for the cluster (VPN302)")
	says(with_cluster({"ranges": four}, {"tunnels": [unseen], "needs": [name]}), "whether the tunnel takes packets of container app for the cluster (VPN302)")
}

# A rule that has spoken did check.
test_claims_nothing_that_vpn302_has_checked if {
	says(testing.pods([workload({"needs": [name]})]), "not checked is which bypass list keeps the cluster reachable (VPN302)")
	seen := testing.tunnel({"captures": [testing.capture({})]})
	says(with_cluster({"ranges": [pods, services]}, {"tunnels": [seen], "needs": [name]}), "no rule needs it as")
}

test_names_the_exemption_list if {
	given := with_cluster({"ranges": [services, nodes]}, {})
	listed := object.union(given, {"facts": object.union(given.facts, {"agents": [testing.agent({"pod_ranges": []})]})})
	says(listed, "not checked is whether the exemption list of ip-masq-agent holds the pod range (VPN203)")
}

test_names_three_prefixes_at_most if {
	prefixes := testing.prefixes(["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16", "10.4.9.0/24", "0.0.0.0/1", "128.0.0.0/1"])
	given := with_cluster({"ranges": [pods, services]}, {"tunnels": [testing.tunnel({"routes": testing.routes({"prefixes": prefixes})})]})
	says(given, "whether 10.1.0.0/16, 10.2.0.0/16 and 2 more and the node range overlap")
}

test_silent_with_all_four if {
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": four}, {})
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": four}, {"tunnels": [narrow], "needs": [name, testing.need("replies")]})
}

test_silent_with_the_vpn_of_the_plan if {
	planned := {"ranges": four, "plan": testing.planned({"vpn": [testing.planned_vpn({})]})}
	count(vpn403.findings) == 0 with input as with_cluster(planned, {"tunnels": [unseen]})
	pooled := {"ranges": four, "plan": testing.planned({"client_pools": [testing.planned_pool("10.8.0.0/24", [])]})}
	count(vpn403.findings) == 0 with input as with_cluster(pooled, {"tunnels": [unseen]})
}

test_silent_with_a_default if {
	by_default := object.union(pods, {"strength": "default"})
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": [by_default, services, nodes]}, {})
}

test_silent_where_pods_take_the_nodes_addresses if {
	count(vpn403.findings) == 0 with input as with_cluster({"cni": "aws", "ranges": [services, nodes]}, {})
	azure := testing.planned({"masquerade": testing.set_to("azure-v2")})
	count(vpn403.findings) == 0 with input as with_cluster({"plan": azure, "ranges": [services, nodes]}, {})
}

test_silent_about_the_pod_range_of_a_mesh_on_the_nodes if {
	mesh := {"role": "mesh", "host_network": testing.set_to("true"), "tunnels": [testing.tunnel({"side": "mesh"})]}
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": [services, nodes]}, mesh)
	says(with_cluster({"ranges": [services]}, mesh), "and the node range of its cluster is")
}

test_silent_when_unknown if {
	given := with_cluster({"ranges": four}, {})
	anywhere := [workload({"clusters": [], "cluster_known": "unknown"})]
	count(vpn403.findings) == 0 with input as object.union(given, {"facts": object.union(given.facts, {"pods": anywhere})})
	count(vpn403.findings) == 0 with input as testing.pods([workload({"role": "unknown"})])
}

test_silent_without_a_data_plane if {
	count(vpn403.findings) == 0 with input as testing.pods([workload({"role": "none", "tunnels": []})])
	count(vpn403.findings) == 0 with input as testing.pods([workload({"role": "control", "tunnels": []})])
	count(vpn403.findings) == 0 with input as testing.pods([workload({"role": "client", "tunnels": [testing.tunnel({"kind": "proxy"})]})])
	cni := {"role": "mesh", "tunnels": [], "containers": [testing.application("calico-node")]}
	count(vpn403.findings) == 0 with input as testing.pods([workload(cni)])
}

test_silent_about_the_test_of_a_chart if {
	probe := workload({})
	count(vpn403.findings) == 0 with input as testing.pods([object.union(probe, {"object": object.union(probe.object, {"helm": "test"})})])
}
