package vpnlint.rules.vpn405_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn405

test_fires_for_a_cluster_range if {
	found := vpn405.findings with input as testing.invalid([testing.invalid_range({})])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/podSubnet")
	f.message == concat("", [
		"podSubnet \"10.244.0.0\" is refused by its reader: ",
		"it is an address without a mask; kubeadm refuses the configuration",
	])
	not f.pod
}

test_fires_for_a_tunnel_of_a_pod if {
	found := vpn405.findings with input as testing.invalid([testing.invalid_range({"pod": "vpn", "says": "server", "text": "255.255.0.255"})])
	some f in found
	f.pod == "vpn"
	startswith(f.message, "server \"255.255.0.255\" is refused")
}

test_fires_for_each if {
	count(vpn405.findings) == 2 with input as testing.invalid([
		testing.invalid_range({}),
		testing.invalid_range({"ref": testing.ref("/serviceSubnet"), "says": "serviceSubnet"}),
	])
}

test_silent_without_any if {
	count(vpn405.findings) == 0 with input as testing.invalid([])
}

test_silent_for_a_range_that_is_merely_odd if {
	count(vpn405.findings) == 0 with input as testing.pods([testing.pod({"tunnels": [testing.tunnel({"addresses": testing.prefixes(["10.8.0.1/24"])})]})])
}

test_silent_when_unknown if {
	count(vpn405.findings) == 0 with input as testing.pods([testing.pod({"tunnels": [testing.tunnel({"routes": testing.routes({
		"state": "unknown",
		"prefixes": [],
	})})]})])
}
