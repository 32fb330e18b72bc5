package vpnlint.rules.vpn309_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn309

with_tunnel(pod, tunnel) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar",
		"tunnels": [testing.tunnel(object.union({"routes": testing.routes({"fw_mark": true, "why": "AllowedIPs = 0.0.0.0/0"})}, tunnel))],
		"containers": [testing.container({}), testing.application("app")],
	},
	pod,
))])

wg_quick(effective) := testing.evidence({"how": "image", "says": "wg-quick writes src_valid_mark", "effective": effective, "when": "start"})

unset := {"src_valid_mark": testing.sysctls("absent", [wg_quick("absent")])}

set := {"src_valid_mark": testing.sysctls("present", [testing.evidence({"how": "pod-sysctl"}), wg_quick("absent")])}

test_fires_when_nothing_sets_the_mark if {
	found := vpn309.findings with input as with_tunnel(unset, {"mark_write": "when-unset"})
	count(found) == 1
	some f in found
	not f.severity
	f.ref == testing.ref("/spec/template/spec/containers/0")
	f.containers == {"vpn", "app"}
	contains(f.message, "AllowedIPs = 0.0.0.0/0")
}

test_fires_when_the_writer_is_not_privileged if {
	found := vpn309.findings with input as with_tunnel(
		{"src_valid_mark": testing.sysctls("absent", [testing.evidence({"says": "sysctl -w net.ipv4.conf.all.src_valid_mark=1", "effective": "absent"})])},
		{"mark_write": "never"},
	)
	count(found) == 1
	some f in found
	contains(f.message, "fails without the privilege")
	count(f.related) == 2
}

test_names_sysctls_of_a_container if {
	found := vpn309.findings with input as with_tunnel(
		{"src_valid_mark": testing.sysctls("absent", [testing.evidence({"how": "container-sysctl", "says": "net.ipv4.conf.all.src_valid_mark=1", "effective": "absent"})])},
		{"mark_write": "never"},
	)
	count(found) == 1
	some f in found
	not contains(f.message, "fails without the privilege")
	contains(f.related[1].says, "a container's securityContext has no sysctls")
}

test_fires_as_error_when_wg_quick_aborts if {
	found := vpn309.findings with input as with_tunnel(unset, {"mark_write": "always"})
	{f.severity | some f in found} == {"error"}
}

test_fires_as_error_even_when_it_is_set if {
	found := vpn309.findings with input as with_tunnel(set, {"mark_write": "always"})
	{f.severity | some f in found} == {"error"}
}

test_silent_when_it_is_set if {
	count(vpn309.findings) == 0 with input as with_tunnel(set, {"mark_write": "when-unset"})
}

test_silent_when_wg_quick_may_write_it if {
	count(vpn309.findings) == 0 with input as with_tunnel(
		{"src_valid_mark": testing.sysctls("present", [wg_quick("present")])},
		{"mark_write": "always"},
	)
}

test_silent_under_a_loose_filter if {
	count(vpn309.findings) == 0 with input as with_tunnel(object.union(unset, {"loose_filter": testing.sysctls("present", [])}), {"mark_write": "never"})
}

test_silent_when_unknown if {
	count(vpn309.findings) == 0 with input as with_tunnel({"src_valid_mark": testing.sysctls("unknown", [])}, {"mark_write": "never"})
}

test_silent_without_fwmark_routing if {
	count(vpn309.findings) == 0 with input as with_tunnel(unset, {"routes": testing.routes({"fw_mark": false})})
}

test_silent_for_an_ipv6_default_route if {
	count(vpn309.findings) == 0 with input as with_tunnel(unset, {"routes": testing.routes({"fw_mark": true, "prefixes": testing.prefixes(["::/0"])})})
}

test_silent_when_routes_are_unknown if {
	count(vpn309.findings) == 0 with input as with_tunnel(unset, {"routes": testing.routes({"fw_mark": true, "state": "unknown"})})
}

test_silent_on_the_host_network if {
	count(vpn309.findings) == 0 with input as with_tunnel(
		object.union(unset, {"host_network": {"state": "present", "value": "true", "ref": testing.ref("/h")}}),
		{},
	)
}
