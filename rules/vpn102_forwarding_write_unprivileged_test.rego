package vpnlint.rules.vpn102_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn102

with_evidence(list) := testing.pods([testing.pod({"forwarding": testing.forwarding(list)})])

refused := testing.evidence({"effective": "absent"})

test_fires_for_an_unprivileged_script if {
	found := vpn102.findings with input as with_evidence([refused])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/command")
	contains(f.message, "container vpn runs \"sysctl -w net.ipv4.ip_forward=1\" without the privilege")
}

test_fires_once_for_two_writes_of_one_hook if {
	family := {"evidence": [object.union(refused, {"how": "config-hook"})]}
	six := testing.family({"evidence": [object.union(refused, {
		"how": "config-hook",
		"says": "sysctl -w net.ipv6.conf.all.forwarding=1",
	})]})
	found := vpn102.findings with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"ipv4": testing.family(family), "ipv6": six},
	)})])
	count(found) == 1
	some f in found
	contains(f.message, "ip_forward=1 and sysctl -w net.ipv6")
}

test_fires_when_the_script_dies_although_the_pod_sets_it if {
	count(vpn102.findings) == 1 with input as with_evidence([refused, testing.evidence({"how": "pod-sysctl"})])
}

test_fires_for_an_init_container if {
	found := vpn102.findings with input as with_evidence([object.union(refused, {"container": "init"})])
	some f in found
	f.containers == {"init", "vpn"}
}

test_silent_when_another_writer_may if {
	count(vpn102.findings) == 0 with input as with_evidence([refused, testing.evidence({"container": "init"})])
}

test_silent_when_redundant_and_tolerated if {
	count(vpn102.findings) == 0 with input as with_evidence([
		object.union(refused, {"tolerant": true}),
		testing.evidence({"how": "pod-sysctl"}),
	])
}

test_silent_for_an_image if {
	count(vpn102.findings) == 0 with input as with_evidence([object.union(refused, {"how": "image"})])
}

test_silent_under_a_condition if {
	count(vpn102.findings) == 0 with input as with_evidence([object.union(refused, {"conditional": true})])
}

test_silent_for_a_layer_4_proxy if {
	count(vpn102.findings) == 0 with input as testing.pods([testing.pod({
		"role": "none",
		"forwarding": testing.forwarding([refused]),
	})])
}

test_silent_when_unknown if {
	count(vpn102.findings) == 0 with input as with_evidence([object.union(refused, {"effective": "unknown"})])
}
