package vpnlint.rules.vpn304_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn304

sidecar(tunnel, given) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar",
		"containers": [testing.container({}), testing.application("app")],
		"tunnels": [testing.tunnel(tunnel)],
	},
	given,
))])

test_fires_for_a_full_tunnel if {
	found := vpn304.findings with input as sidecar({}, {})
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.ref == testing.ref("/switch")
	f.containers == {"app"}
	contains(f.message, "no network policy limits the pod's egress: while it is down, all packets of container app")
}

test_fires_as_note_for_a_split_tunnel if {
	found := vpn304.findings with input as sidecar(
		{"routes": testing.routes({"default": false, "prefixes": testing.prefixes(["10.60.0.0/16"])})},
		{},
	)
	some f in found
	f.severity == "note"
	contains(f.message, "packets of container app to 10.60.0.0/16")
}

test_fires_for_client_and_application_in_one_image if {
	found := vpn304.findings with input as testing.pods([testing.pod({
		"role": "client",
		"containers": [testing.container({"combined": true})],
		"tunnels": [testing.tunnel({})],
	})])
	some f in found
	f.containers == {"vpn"}
}

test_fires_where_policies_are_void if {
	egress := {
		"deny_by_default": "absent", "tunnel_only": "absent", "policies": [testing.ref("/policy")],
		"unenforced": {"state": "present", "ref": testing.ref("/flannel"), "why": "flannel"},
	}
	some f in vpn304.findings with input as sidecar({}, {"egress": egress})
	contains(f.message, "flannel enforces none")
	f.related[0].ref == testing.ref("/flannel")
}

test_fires_where_policies_admit_more if {
	some f in vpn304.findings with input as sidecar(
		{},
		{"egress": object.union(testing.egress("present"), {"tunnel_only": "absent"})},
	)
	contains(f.message, "admit more than the tunnel's transport")
}

test_silent_with_a_kill_switch if {
	count(vpn304.findings) == 0 with input as sidecar({"kill_switch": testing.switch("present")}, {})
}

test_silent_with_a_policy if {
	count(vpn304.findings) == 0 with input as sidecar({}, {"egress": testing.egress("present")})
}

test_silent_for_a_gateway if {
	count(vpn304.findings) == 0 with input as sidecar({}, {"role": "gateway"})
}

test_silent_for_a_client_alone if {
	count(vpn304.findings) == 0 with input as sidecar({}, {"role": "client", "containers": [testing.container({})]})
}

test_silent_for_a_mesh_member_without_routes if {
	count(vpn304.findings) == 0 with input as sidecar({"side": "mesh", "routes": testing.routes({"state": "absent"})}, {})
}

test_silent_when_unknown if {
	count(vpn304.findings) == 0 with input as sidecar({"kill_switch": testing.switch("unknown")}, {})
}

test_silent_when_policies_are_unknown if {
	count(vpn304.findings) == 0 with input as sidecar({}, {"egress": testing.egress("unknown")})
}

test_silent_when_routes_are_unknown if {
	count(vpn304.findings) == 0 with input as sidecar({"routes": testing.routes({"state": "unknown"})}, {})
}

test_silent_for_a_helm_test if {
	count(vpn304.findings) == 0 with input as sidecar({}, {"object": {"kind": "Pod", "helm": "test"}})
}

test_fires_for_a_hook if {
	count(vpn304.findings) == 1 with input as sidecar({}, {"object": {"kind": "Job", "helm": "hook"}})
}
