package vpnlint.rules.vpn303_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn303

with_gate(gate, tunnel, pod) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar", "tunnels": [testing.tunnel(tunnel)], "gates": [testing.gate(gate)],
		"containers": [testing.container({}), testing.application("app")],
	},
	pod,
))])

late := {"stage": "main", "before": ["app"], "after": []}

wait := {"name": "wait", "ref": testing.ref("/wait"), "says": "ping 10.64.0.1"}

test_fires_for_an_ordinary_container_after_the_application if {
	found := vpn303.findings with input as with_gate(late, {}, {})
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.containers == {"app"}
	contains(f.message, "is an ordinary container that starts after app")
}

test_fires_for_an_ordinary_container_before_the_application if {
	found := vpn303.findings with input as with_gate({"stage": "main"}, {"kill_switch": testing.switch("present")}, {})
	{f.severity | some f in found} == {"warning"}
}

test_fires_for_a_native_sidecar_without_a_probe if {
	found := vpn303.findings with input as with_gate({}, {}, {})
	{f.severity | some f in found} == {"warning"}
}

test_fires_as_note_when_the_image_has_a_kill_switch if {
	found := vpn303.findings with input as with_gate({}, {"kill_switch": testing.switch("present")}, {})
	count(found) == 1
	some f in found
	f.severity == "note"
	contains(f.message, "kill switch")
}

test_fires_as_error_for_a_gate_before_the_vpn if {
	found := vpn303.findings with input as with_gate(object.union(late, {"fake_gates": [wait]}), {}, {})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == wait.ref
	contains(f.message, "waits for a VPN that does not exist yet")
}

test_fires_for_an_init_container_before_a_gated_tunnel if {
	found := vpn303.findings with input as with_gate({"startup_probe": testing.switch("present"), "early_inits": [wait]}, {}, {})
	count(found) == 1
	some f in found
	f.containers == {"wait"}
}

test_fires_for_a_gate_even_if_no_application_is_recognised if {
	count(vpn303.findings) == 1 with input as with_gate({"fake_gates": [wait]}, {}, {"containers": []})
}

test_silent_with_a_startup_probe if {
	count(vpn303.findings) == 0 with input as with_gate({"startup_probe": testing.switch("present")}, {}, {})
}

test_silent_when_the_first_containers_hook_blocks if {
	count(vpn303.findings) == 0 with input as with_gate({"stage": "main", "post_start_blocks": testing.switch("present")}, {}, {})
}

test_silent_when_the_application_waits if {
	count(vpn303.findings) == 0 with input as with_gate(object.union(late, {"waits": ["app"]}), {}, {})
}

test_silent_behind_a_default_deny_policy if {
	count(vpn303.findings) == 0 with input as with_gate(late, {}, {"egress": testing.egress("present")})
}

test_silent_in_user_space if {
	count(vpn303.findings) == 0 with input as with_gate(late, {"user_space": "present"}, {})
}

test_silent_for_a_server if {
	count(vpn303.findings) == 0 with input as with_gate(late, {"side": "server"}, {})
}

test_silent_when_unknown if {
	count(vpn303.findings) == 0 with input as with_gate({"startup_probe": testing.switch("unknown")}, {}, {})
}

test_silent_when_the_policies_are_unknown if {
	count(vpn303.findings) == 0 with input as with_gate(late, {}, {"egress": testing.egress("unknown")})
}

test_silent_when_the_hook_is_unknown if {
	count(vpn303.findings) == 0 with input as with_gate({"stage": "main", "post_start_blocks": testing.switch("unknown")}, {}, {})
}

test_silent_for_a_helm_test if {
	count(vpn303.findings) == 0 with input as with_gate(late, {}, {"object": {"kind": "Pod", "helm": "test"}})
}

test_fires_for_a_hook if {
	count(vpn303.findings) == 1 with input as with_gate(late, {}, {"object": {"kind": "Job", "helm": "hook"}})
}

combined := {"containers": [testing.container({"combined": true}), testing.application("app")]}

test_silent_beside_an_image_that_is_the_application_where_its_routes_are_unknown if {
	count(vpn303.findings) == 0 with input as with_gate(late, {"routes": testing.routes({"state": "unknown"})}, combined)
	count(vpn303.findings) == 1 with input as with_gate(late, {}, combined)
	count(vpn303.findings) == 1 with input as with_gate(late, {"routes": testing.routes({"state": "unknown"})}, {})
}
