package vpnlint.rules.vpn403_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn403

workload(given) := testing.pod(object.union(
	{"role": "sidecar", "tunnels": [testing.tunnel({})], "needs": [testing.need("name")]},
	given,
))

with_cluster(given, needs) := {
	"facts": testing.facts({
		"pods": [workload({"clusters": ["prod"], "needs": needs})],
		"clusters": [testing.cluster(given)],
	}),
	"plan": testing.plan([]),
}

pods := testing.range("pod", "10.244.0.0/16")

services := testing.range("service", "10.96.0.0/12")

nodes := testing.range("node", "10.128.0.0/20")

name := testing.need("name")

test_fires_at_the_workload if {
	found := vpn403.findings with input as testing.pods([workload({})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec")
	startswith(f.message, "no pod and no service range of the cluster is in the tree or the plan")
}

test_fires_for_one_range if {
	found := vpn403.findings with input as with_cluster({"ranges": [services]}, [name])
	count(found) == 1
	some f in found
	startswith(f.message, "no pod range of the cluster")
}

test_fires_for_the_node_range_where_nodes_ask if {
	found := vpn403.findings with input as with_cluster({"ranges": [pods, services]}, [name, testing.need("replies")])
	count(found) == 1
	some f in found
	startswith(f.message, "no node range of the cluster")
}

test_fires_with_the_ranges_of_another_cluster if {
	count(vpn403.findings) == 1 with input as with_cluster({"name": "lab", "ranges": [pods, services]}, [name])
}

test_fires_once_a_run if {
	found := vpn403.findings with input as testing.pods([workload({"id": "b"}), workload({"id": "a"})])
	count(found) == 1
	some f in found
	f.pod == "a"
	endswith(f.message, "nor that of 1 more")
}

test_fires_with_a_mere_piece_of_evidence if {
	count(vpn403.findings) == 1 with input as with_cluster({"ranges": [pods, object.union(services, {"strength": "evidence"})]}, [name])
}

test_silent_with_the_ranges_that_decide if {
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": [pods, services]}, [name])
	count(vpn403.findings) == 0 with input as with_cluster({"ranges": [pods, services, nodes]}, [name, testing.need("replies")])
}

test_silent_where_pods_take_the_nodes_addresses if {
	count(vpn403.findings) == 0 with input as with_cluster({"cni": "aws", "ranges": [services, nodes]}, [name])
}

test_silent_when_some_cluster_may_be_the_pod_s if {
	given := with_cluster({"ranges": [pods, services]}, [name])
	count(vpn403.findings) == 0 with input as object.union(given, {"facts": object.union(given.facts, {"pods": [workload({"clusters": [], "cluster_known": "unknown"})]})})
}

test_silent_when_nothing_needs_the_cluster if {
	count(vpn403.findings) == 0 with input as testing.pods([workload({"needs": []})])
}

test_silent_for_a_server if {
	count(vpn403.findings) == 0 with input as testing.pods([workload({"tunnels": [testing.tunnel({"side": "server"})]})])
}

test_silent_when_unknown if {
	unseen := testing.tunnel({"routes": testing.routes({"state": "unknown"})})
	count(vpn403.findings) == 0 with input as testing.pods([workload({"tunnels": [unseen]})])
}
