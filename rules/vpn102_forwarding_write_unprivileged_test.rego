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

test_says_what_is_left_of_forwarding if {
	some f in vpn102.findings with input as with_evidence([refused])
	contains(f.message, "takes its container with it, and one that goes on leaves net.ipv4.ip_forward as the node handed it to the sandbox; where that is 0, clients of container vpn")
}

test_says_that_the_script_goes_on if {
	some f in vpn102.findings with input as with_evidence([object.union(refused, {"tolerant": true})])
	contains(f.message, "the write fails, and the script goes on and leaves net.ipv4.ip_forward as the node handed it")
}

test_says_that_the_cni_leaves_0 if {
	some f in vpn102.findings with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"ipv4": testing.family({"evidence": [refused], "turned_off": "present", "turned_off_by": "Calico"})},
	)})])
	contains(f.message, "leaves net.ipv4.ip_forward at 0, which the cluster's CNI writes into every new pod (Calico): clients")
}

test_says_that_forwarding_stays_on if {
	some f in vpn102.findings with input as with_evidence([refused, testing.evidence({"how": "pod-sysctl", "says": "net.ipv4.ip_forward=1"})])
	endswith(f.message, "one that goes on leaves forwarding on all the same (net.ipv4.ip_forward=1)")
	not contains(f.message, "drops")
}

test_says_that_ipv6_starts_with_0 if {
	some f in vpn102.findings with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"ipv6": testing.family({"evidence": [refused]})},
	)})])
	endswith(f.message, "the gateway's kernel drops the IPv6 packets that clients of container vpn send to anything behind it")
	not contains(f.message, "as the node handed")
}
