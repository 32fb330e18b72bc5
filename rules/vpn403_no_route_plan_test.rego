package vpnlint.rules.vpn403_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn403

workload(given) := testing.pod(object.union(
	{"role": "sidecar", "tunnels": [testing.tunnel({})], "needs": [testing.need("name")]},
	given,
))

with_cluster(list) := {
	"facts": testing.facts({
		"pods": [workload({})],
		"clusters": [{"name": "prod", "ranges": list}],
	}),
	"plan": testing.plan([]),
}

test_fires_at_the_workload if {
	found := vpn403.findings with input as testing.pods([workload({})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec")
	startswith(f.message, "no pod, service or node range of a cluster is in the tree")
}

test_fires_once_a_run if {
	found := vpn403.findings with input as testing.pods([workload({"id": "b"}), workload({"id": "a"})])
	count(found) == 1
	some f in found
	f.pod == "a"
	endswith(f.message, "nor that of 1 more")
}

test_fires_with_a_mere_piece_of_evidence if {
	count(vpn403.findings) == 1 with input as with_cluster([object.union(testing.range("service", "10.96.0.10/32"), {"strength": "evidence"})])
}

test_silent_with_a_range_in_view if {
	count(vpn403.findings) == 0 with input as with_cluster([testing.range("service", "10.96.0.0/12")])
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
