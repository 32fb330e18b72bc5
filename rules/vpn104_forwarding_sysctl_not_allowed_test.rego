package vpnlint.rules.vpn104_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn104

with_sysctl(given) := testing.pods([testing.pod({"sysctls": [testing.sysctl(given)]})])

test_fires_as_note_without_a_kubelet_in_view if {
	found := vpn104.findings with input as with_sysctl({})
	count(found) == 1
	some f in found
	f.severity == "note"
	f.ref == testing.ref("/sysctls/0")
	f.related == []
}

test_fires_as_warning_where_the_kubelet_allows_others if {
	found := vpn104.findings with input as with_sysctl({"allowed": "refused", "kubelet_ref": testing.ref("/kubelet")})
	some f in found
	f.severity == "warning"
	contains(f.message, "net.ipv4.ip_forward is an unsafe sysctl that no kubelet")
	f.related[0].ref == testing.ref("/kubelet")
}

test_fires_for_a_client if {
	count(vpn104.findings) == 1 with input as testing.pods([testing.pod({
		"role": "sidecar",
		"sysctls": [testing.sysctl({"name": "net.ipv4.conf.all.src_valid_mark"})],
	})])
}

test_fires_once_for_each if {
	count(vpn104.findings) == 2 with input as testing.pods([testing.pod({"sysctls": [
		testing.sysctl({}),
		testing.sysctl({"name": "net.ipv6.conf.all.forwarding", "ref": testing.ref("/sysctls/1")}),
	]})])
}

test_silent_when_allowed if {
	count(vpn104.findings) == 0 with input as with_sysctl({"allowed": "allowed"})
}

test_silent_for_a_safe_one if {
	count(vpn104.findings) == 0 with input as with_sysctl({"name": "net.ipv4.ping_group_range", "safe": true})
}

test_silent_without_a_vpn if {
	count(vpn104.findings) == 0 with input as testing.pods([testing.pod({"role": "none", "sysctls": [testing.sysctl({})]})])
}

test_silent_on_the_host_network if {
	count(vpn104.findings) == 0 with input as testing.pods([testing.pod({
		"host_network": {"state": "present", "value": "true", "ref": testing.nowhere},
		"sysctls": [testing.sysctl({})],
	})])
}

test_silent_when_unknown if {
	count(vpn104.findings) == 0 with input as with_sysctl({"allowed": "unknown"})
}
