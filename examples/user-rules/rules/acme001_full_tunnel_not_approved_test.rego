package vpnlint.user.acme001_test

import data.fixtures
import data.vpnlint.user.acme001

# The fixtures are what "vpnlint input" prints of the two trees.
test_fires_on_full_tunnel if {
	found := acme001.findings with input as fixtures.bad
	count(found) == 1
	some finding in found
	contains(finding.message, "namespace market may not do that")
	finding.ref.pointer == "/spec/template/spec/initContainers/0"
}

test_silent_in_namespace_of_the_egress_team if {
	count(acme001.findings) == 0 with input as fixtures.good
}

# What a rule does not read may be left out.
pod(routes) := {"facts": {"pods": [{
	"id": "p",
	"object": {"namespace": "market"},
	"containers": [{"name": "vpn"}],
	"tunnels": [{"side": "client", "container": "vpn", "container_ref": {"object": "o", "pointer": ""}, "routes": routes}],
}]}}

test_silent_on_single_networks if {
	count(acme001.findings) == 0 with input as pod({"state": "present", "default": false, "why": "AllowedIPs = 10.0.0.0/8"})
}

test_silent_when_unknown if {
	count(acme001.findings) == 0 with input as pod({"state": "unknown", "default": false, "why": ""})
}
