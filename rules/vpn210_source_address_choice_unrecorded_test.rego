package vpnlint.rules.vpn210_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn210

with_vpn(cluster, vpn) := {
	"facts": testing.facts({"clusters": [testing.cluster(object.union(
		{"planned": true, "plan": testing.planned({"vpn": [testing.planned_vpn(vpn)]})},
		cluster,
	))]}),
	"plan": testing.plan([]),
}

chosen := {"source_address": testing.set_to("node"), "reason": testing.set_to("one address per node")}

test_fires_without_a_choice if {
	found := vpn210.findings with input as with_vpn({}, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/clusters/0/vpn/0")
	f.clusters == {"prod"}
	contains(f.message, "the plan leads 10.20.0.0/16 of cluster prod through onprem and has no sourceAddress and reason for it")
}

test_fires_at_the_choice_without_a_reason if {
	found := vpn210.findings with input as with_vpn({}, {"source_address": testing.set_to("pod")})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/pod")
	contains(f.message, "has no reason for it")
}

test_fires_for_a_reason_without_a_choice if {
	found := vpn210.findings with input as with_vpn({}, {"reason": testing.set_to("because")})
	count(found) == 1
	some f in found
	contains(f.message, "has no sourceAddress for it")
}

test_silent_when_both_are_recorded if {
	count(vpn210.findings) == 0 with input as with_vpn({}, chosen)
}

test_silent_for_a_tunnel_of_a_workload if {
	count(vpn210.findings) == 0 with input as with_vpn(
		{},
		{"tunnel": {"kind": "Deployment", "name": "sync", "ref": testing.ref("/tunnel"), "object": testing.nowhere}},
	)
}

test_silent_for_a_default_route if {
	count(vpn210.findings) == 0 with input as with_vpn({}, {"destinations": testing.prefixes(["0.0.0.0/0"])})
}

test_silent_for_a_cluster_elsewhere if {
	count(vpn210.findings) == 0 with input as with_vpn({"elsewhere": true}, {})
}

test_silent_when_unknown if {
	# no plan: nothing is known of the choice
	count(vpn210.findings) == 0 with input as testing.agents([testing.agent({"targets": [testing.target({"wanted": "unknown"})]})])
}

test_counts_what_it_does_not_list if {
	vpns := [testing.planned_vpn({"name": sprintf("v%d", [i]), "ref": testing.ref(sprintf("/vpn/%d", [i]))}) | some i in numbers.range(1, 103)]
	found := vpn210.findings with input as {
		"facts": testing.facts({"clusters": [testing.cluster({"planned": true, "plan": testing.planned({"vpn": vpns})})]}),
		"plan": testing.plan([]),
	}
	count(found) == 100
	[f.ref.pointer | some f in found; contains(f.message, "(3 more VPNs of the cluster after this one lack it, too)")] == ["/vpn/100"]
}
