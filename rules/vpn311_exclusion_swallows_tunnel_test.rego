package vpnlint.rules.vpn311_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn311

with_tunnel(tunnel, entries) := testing.pods([testing.pod({"role": "sidecar", "tunnels": [testing.tunnel(object.union(
	{"bypass": testing.bypass({"state": "present", "entries": testing.prefixes(entries)})},
	tunnel,
))]})])

at_image := testing.resolver({"rewrites": "present", "servers": ["10.0.0.243"], "ref": testing.ref("/spec/template/spec/containers/0")})

test_fires_for_the_provider_s_resolver if {
	found := vpn311.findings with input as with_tunnel({"resolver": at_image}, ["10.0.0.0/8"])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/0")
	contains(f.message, "the tunnel's resolver 10.0.0.243")
}

test_fires_for_the_tunnel_s_own_address if {
	count(vpn311.findings) == 1 with input as with_tunnel({"addresses": testing.prefixes(["10.66.90.4/32"])}, ["10.0.0.0/8"])
}

test_fires_for_a_network_behind_the_vpn if {
	count(vpn311.findings) == 1 with input as with_tunnel({"routes": testing.routes({"prefixes": testing.prefixes(["10.60.0.0/16"])})}, ["10.0.0.0/8"])
}

test_silent_when_disjoint if {
	count(vpn311.findings) == 0 with input as with_tunnel({"resolver": at_image}, ["10.244.0.0/16", "10.96.0.0/12"])
}

test_silent_for_a_part_cut_out_of_a_routed_network if {
	count(vpn311.findings) == 0 with input as with_tunnel({"routes": testing.routes({"prefixes": testing.prefixes(["10.0.0.0/8"])})}, ["10.96.0.0/12"])
}

test_silent_for_a_resolver_that_the_manifest_names if {
	count(vpn311.findings) == 0 with input as with_tunnel(
		{"resolver": testing.resolver({"rewrites": "present", "servers": ["192.168.1.53"]})},
		["192.168.1.0/24"],
	)
}

test_silent_for_the_cluster_s_resolver if {
	count(vpn311.findings) == 0 with input as with_tunnel(
		{"resolver": object.union(at_image, {"servers": ["10.96.0.10"], "reaches_cluster": "present"})},
		["10.96.0.0/12"],
	)
}

test_silent_when_unknown if {
	count(vpn311.findings) == 0 with input as with_tunnel(
		{"resolver": at_image, "bypass": testing.bypass({"state": "unknown", "entries": testing.prefixes(["10.0.0.0/8"])})},
		[],
	)
}
