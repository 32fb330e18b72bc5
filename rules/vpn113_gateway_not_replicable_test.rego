package vpnlint.rules.vpn113_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn113

gateway(given) := testing.pods([testing.pod(object.union(
	{"tunnels": [testing.tunnel({"side": "server", "pool": testing.prefixes(["10.8.0.0/24"])})]},
	given,
))])

surge := {"surge": {"state": "present", "value": "1", "ref": testing.ref("/maxSurge")}}

test_fires_for_replicas if {
	found := vpn113.findings with input as gateway({"replicas": 2})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/replicas")
	contains(f.message, "2 replicas run at once, and all share the key and the client pool 10.8.0.0/24")
}

test_fires_for_a_surge if {
	some f in vpn113.findings with input as gateway(surge)
	f.ref == testing.ref("/maxSurge")
}

test_fires_for_the_default_of_a_deployment if {
	found := vpn113.findings with input as gateway({"surge": {"state": "absent", "value": "25%", "ref": testing.ref("/spec")}})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec")
	contains(f.message, "maxSurge 25%, the default, runs old and new pods at once")
}

scaled := {"scaled": {"state": "present", "value": "5", "ref": testing.ref("/maxReplicas")}}

test_fires_for_an_autoscaler if {
	some f in vpn113.findings with input as gateway(scaled)
	f.ref == testing.ref("/maxReplicas")
	contains(f.message, "an autoscaler may run 5 replicas at once, and all share")
}

test_fires_once_for_replicas_and_autoscaler if {
	found := vpn113.findings with input as gateway(object.union(scaled, {"replicas": 2}))
	count(found) == 1
	some f in found
	contains(f.message, "2 replicas run at once")
}

test_fires_once_for_both if {
	count(vpn113.findings) == 1 with input as gateway(object.union(surge, {"replicas": 3}))
}

test_silent_for_one_replica if {
	count(vpn113.findings) == 0 with input as gateway({})
}

test_silent_with_state_of_its_own if {
	count(vpn113.findings) == 0 with input as gateway({"replicas": 2, "state_per_replica": true})
}

test_silent_for_a_mesh if {
	count(vpn113.findings) == 0 with input as gateway({
		"replicas": 2,
		"tunnels": [testing.tunnel({"side": "mesh", "pool": testing.prefixes(["100.64.0.0/10"])})],
	})
}

test_silent_for_a_client if {
	count(vpn113.findings) == 0 with input as gateway({"replicas": 2, "role": "sidecar"})
}

test_silent_when_unknown if {
	count(vpn113.findings) == 0 with input as gateway({"replicas": 2, "role": "unknown"})
}

test_says_pools_of_two if {
	pool := testing.tunnel({"side": "server", "pool": testing.prefixes(["10.8.0.0/24", "fd00:8::/64"])})
	some f in vpn113.findings with input as testing.pods([testing.pod({"replicas": 2, "tunnels": [pool]})])
	contains(f.message, "share the key and the client pools 10.8.0.0/24 and fd00:8::/64 of container vpn")
}
