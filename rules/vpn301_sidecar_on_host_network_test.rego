package vpnlint.rules.vpn301_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn301

on_host(given) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar", "tunnels": [testing.tunnel({})],
		"containers": [testing.container({}), testing.application("app")],
		"host_network": {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")},
	},
	given,
))])

mesh := {
	"role": "client", "per_node": true, "containers": [testing.container({})],
	"tunnels": [testing.tunnel({"kind": "mesh", "side": "mesh"})],
}

test_fires_for_a_sidecar if {
	found := vpn301.findings with input as on_host({})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/hostNetwork")
	f.containers == {"app", "vpn"}
}

test_fires_for_a_client_on_every_node if {
	found := vpn301.findings with input as on_host({"role": "client", "per_node": true, "containers": [testing.container({})]})
	{f.severity | some f in found} == {"error"}
}

test_fires_as_warning_for_a_server if {
	found := vpn301.findings with input as on_host({"role": "gateway"})
	{f.severity | some f in found} == {"warning"}
}

test_fires_as_warning_for_a_mesh_agent_on_every_node if {
	found := vpn301.findings with input as on_host(mesh)
	{f.severity | some f in found} == {"warning"}
}

test_fires_when_the_annotation_gives_no_reason if {
	count(vpn301.findings) == 1 with input as on_host({"annotations": {"vpnlint.dev/node-scope": " "}})
}

test_silent_in_a_pod_network if {
	count(vpn301.findings) == 0 with input as on_host({"host_network": {"state": "present", "value": "false", "ref": testing.ref("/hostNetwork")}})
}

test_silent_when_acknowledged if {
	count(vpn301.findings) == 0 with input as on_host({"annotations": {"vpnlint.dev/node-scope": "a router for the whole node"}})
}

test_silent_in_user_space if {
	count(vpn301.findings) == 0 with input as on_host({"tunnels": [testing.tunnel({"user_space": "present"})]})
}

test_silent_for_a_cni if {
	count(vpn301.findings) == 0 with input as on_host({"role": "mesh"})
}

test_silent_when_unknown if {
	count(vpn301.findings) == 0 with input as on_host({"host_network": {"state": "unknown", "value": "", "ref": testing.ref("/hostNetwork")}})
}

test_silent_when_data_plane_unknown if {
	count(vpn301.findings) == 0 with input as on_host({"tunnels": [testing.tunnel({"user_space": "unknown"})]})
}

test_fires_as_warning_for_a_mesh_whose_server_decides if {
	found := vpn301.findings with input as testing.pods([testing.pod({
		"role": "unknown", "per_node": true, "host_network": {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")},
		"tunnels": [testing.tunnel({"kind": "mesh", "side": "mesh"})],
	})])
	count(found) == 1
	some f in found
	f.severity == "warning"
}
