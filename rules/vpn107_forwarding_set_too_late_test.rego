package vpnlint.rules.vpn107_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn107

with_evidence(list) := testing.pods([testing.pod({"forwarding": testing.forwarding(list)})])

late := testing.evidence({"how": "hook", "when": "after", "ref": testing.ref("/postStart")})

test_fires_for_a_post_start_hook if {
	found := vpn107.findings with input as with_evidence([late])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/postStart")
	contains(f.message, "only \"sysctl -w net.ipv4.ip_forward=1\" in the postStart hook of container vpn turns")
}

test_fires_for_a_container_further_down if {
	some f in vpn107.findings with input as with_evidence([object.union(late, {"how": "script", "container": "late"})])
	f.containers == {"late", "vpn"}
}

test_fires_once_for_two_late_writers if {
	count(vpn107.findings) == 1 with input as with_evidence([late, object.union(late, {"container": "late"})])
}

test_silent_with_an_earlier_writer if {
	forwarding := object.union(testing.forwarding([]), {"ipv4": testing.family({
		"state": "present",
		"evidence": [testing.evidence({}), late],
	})})
	count(vpn107.findings) == 0 with input as testing.pods([testing.pod({"forwarding": forwarding})])
}

test_silent_when_it_may_not_write if {
	count(vpn107.findings) == 0 with input as with_evidence([object.union(late, {"effective": "absent"})])
}

test_silent_when_it_turns_it_off if {
	count(vpn107.findings) == 0 with input as with_evidence([object.union(late, {"value": "0"})])
}

test_silent_for_a_client if {
	count(vpn107.findings) == 0 with input as testing.pods([testing.pod({
		"role": "sidecar",
		"forwarding": testing.forwarding([late]),
	})])
}

test_silent_when_unknown if {
	forwarding := object.union(testing.forwarding([]), {"ipv4": testing.family({"state": "unknown", "evidence": [late]})})
	count(vpn107.findings) == 0 with input as testing.pods([testing.pod({"forwarding": forwarding})])
}

test_says_what_the_pod_has_until_then if {
	some f in vpn107.findings with input as with_evidence([object.union(late, {"how": "script", "container": "late"})])
	contains(f.message, "in container late turns IPv4 forwarding on, and it runs after the VPN has started")
	contains(f.message, "net.ipv4.ip_forward is as the node handed it to the sandbox; where that is 0, clients of container vpn")
}
