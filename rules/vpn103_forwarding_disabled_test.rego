package vpnlint.rules.vpn103_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn103

with_evidence(list) := testing.pods([testing.pod({"forwarding": testing.forwarding(list)})])

off := testing.evidence({"value": "0", "how": "pod-sysctl", "says": "net.ipv4.ip_forward=0"})

test_fires_for_a_pod_sysctl if {
	found := vpn103.findings with input as with_evidence([off])
	count(found) == 1
	some f in found
	f.ref == off.ref
	contains(f.message, "\"net.ipv4.ip_forward=0\" turns forwarding off")
}

test_fires_for_a_script if {
	count(vpn103.findings) == 1 with input as with_evidence([object.union(off, {"how": "script"})])
}

test_fires_for_a_post_up_line if {
	count(vpn103.findings) == 1 with input as with_evidence([object.union(off, {"how": "config-hook"})])
}

test_silent_for_a_proxy if {
	count(vpn103.findings) == 0 with input as testing.pods([testing.pod({
		"role": "control",
		"forwarding": testing.forwarding([off]),
	})])
}

test_silent_when_turned_on_afterwards if {
	count(vpn103.findings) == 0 with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"ipv4": testing.family({"state": "present", "evidence": [off]})},
	)})])
}

test_silent_under_a_condition if {
	count(vpn103.findings) == 0 with input as with_evidence([object.union(off, {"conditional": true})])
}

test_silent_for_one if {
	count(vpn103.findings) == 0 with input as with_evidence([object.union(off, {"value": "1"})])
}

test_silent_when_unknown if {
	count(vpn103.findings) == 0 with input as with_evidence([object.union(off, {"effective": "unknown"})])
}
