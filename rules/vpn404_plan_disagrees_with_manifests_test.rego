package vpnlint.rules.vpn404_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn404

planned(role, prefix) := object.union(testing.claim(role, prefix), {
	"strength": "planned", "says": sprintf("%ss of the plan", [role]), "at": testing.ref("/clusters/0"),
})

# The plan of a cluster with these planned claims and conflicts.
plan(claims, conflicts) := testing.conflicts(
	[{"cluster": c.cluster, "role": c.role, "owner": "", "prefixes": [c.prefix], "claims": [c]} | some c in claims],
	conflicts,
)

conflict(a, b) := {"cluster": "prod", "a": a, "b": b}

pods := planned("pod", "10.4.0.0/14")

declared := object.union(testing.claim("pod", "10.244.0.0/16"), {"says": "podSubnet"})

found(claims, conflicts) := fs if fs := vpn404.findings with input as plan(claims, conflicts)

test_fires_for_another_pod_range if {
	fs := found([pods], [conflict(pods, declared)])
	count(fs) == 1
	some f in fs
	f.ref == declared.at
	f.clusters == {"prod"}
	contains(f.message, "in cluster prod, the plan gives pods 10.4.0.0/14, but podSubnet is 10.244.0.0/16")
	f.related == [{"ref": pods.at, "says": "the plan says 10.4.0.0/14"}]
}

test_fires_for_services_and_nodes if {
	every role in ["service", "node"] {
		a := planned(role, "10.8.0.0/20")
		count(found([a], [conflict(a, testing.claim(role, "10.96.0.0/12"))])) == 1
	}
}

test_fires_for_evidence if {
	a := planned("service", "10.8.0.0/20")
	b := object.union(testing.claim("service", "10.96.0.80/32"), {"strength": "evidence", "says": "clusterIP of Service web"})
	some f in found([a], [conflict(a, b)])
	contains(f.message, "the plan gives services 10.8.0.0/20, but clusterIP of Service web is 10.96.0.80/32")
}

test_fires_with_all_that_the_plan_says if {
	some f in found([pods, planned("pod", "10.9.0.0/16"), planned("service", "10.8.0.0/20")], [conflict(pods, declared)])
	contains(f.message, "the plan gives pods 10.4.0.0/14 and 10.9.0.0/16, but")
}

test_silent_without_conflicts if count(found([pods], [])) == 0

test_silent_for_two_declarations if {
	count(found([], [conflict(testing.claim("pod", "10.42.0.0/16"), declared)])) == 0
}

test_silent_when_unknown if {
	count(found([pods], [conflict(pods, object.union(declared, {"at": testing.nowhere}))])) == 0
}

test_says_of_a_smaller_range_that_the_rest_is_not_in_use if {
	fs := found([pods], [conflict(pods, object.union(declared, {"prefix": "10.4.0.0/16"}))])
	some f in fs
	contains(f.message, "podSubnet is 10.4.0.0/16: the rest of the planned range is not the cluster's")
}
