package vpnlint.rules.vpn310_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn310

with_bypass(bypass) := testing.pods([testing.pod({"role": "sidecar", "tunnels": [testing.tunnel({"bypass": testing.bypass(bypass)})]})])

test_fires_for_the_wrong_separator if {
	found := vpn310.findings with input as with_bypass({
		"state": "unknown",
		"malformed": [testing.malformed("refused", "FIREWALL_OUTBOUND_SUBNETS is separated by commas, and 10.244.0.0/16 10.96.0.0/12 is no prefix")],
	})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/entry")
	contains(f.message, "is separated by commas")
}

test_fires_for_a_variable_that_is_not_read if {
	found := vpn310.findings with input as with_bypass({"malformed": [testing.malformed("unread", "FIREWALL is not read by this version")]})
	{f.severity | some f in found} == {"error"}
}

test_fires_for_a_default_route_on_the_list if {
	found := vpn310.findings with input as with_bypass({"state": "present", "key": "LOCAL_NETWORK", "entries": testing.prefixes(["0.0.0.0/0"])})
	count(found) == 1
	some f in found
	f.severity == "error"
	contains(f.message, "LOCAL_NETWORK holds 0.0.0.0/0")
}

test_fires_as_note_for_host_bits_and_old_names if {
	found := vpn310.findings with input as with_bypass({"malformed": [
		testing.malformed("unclear", "NET_LOCAL holds 10.1.2.3/8"),
		testing.malformed("renamed", "EXTRA_SUBNETS is an old name of FIREWALL_OUTBOUND_SUBNETS"),
	]})
	count(found) == 2
	{f.severity | some f in found} == {"note"}
}

test_silent_for_a_well_formed_list if {
	count(vpn310.findings) == 0 with input as with_bypass({"state": "present", "entries": testing.prefixes(["10.244.0.0/16", "10.96.0.0/12"])})
}

test_silent_without_a_list if {
	count(vpn310.findings) == 0 with input as with_bypass({})
}

test_silent_for_a_route_of_a_hook if {
	count(vpn310.findings) == 0 with input as with_bypass({"state": "present", "key": "PostUp", "entries": testing.prefixes(["0.0.0.0/0"])})
}

test_silent_when_unknown if {
	count(vpn310.findings) == 0 with input as with_bypass({"state": "unknown"})
}
