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

test_fires_for_the_provider_s_resolver_where_no_cluster_is_in_view if {
	count(vpn311.findings) == 1 with input as with_tunnel({"resolver": object.union(at_image, {"reaches_cluster": "unknown"})}, ["10.0.0.0/8"])
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

in_file(server) := testing.resolver({"rewrites": "present", "servers": [server], "ref": testing.ref("/stringData/wg0.conf"), "why": sprintf("DNS = %s", [server])})

test_fires_for_a_named_resolver_beside_the_tunnel_s_address if {
	found := vpn311.findings with input as with_tunnel({"resolver": in_file("10.2.0.1"), "addresses": testing.prefixes(["10.2.0.2/32"])}, ["10.2.0.1/32"])
	count(found) == 1
	some f in found
	contains(f.message, "covers the tunnel's resolver 10.2.0.1")
	{r.ref | some r in f.related} == {testing.ref("/stringData/wg0.conf")}
}

test_fires_for_a_provider_s_resolver_in_a_wide_entry if {
	found := vpn311.findings with input as with_tunnel({"resolver": in_file("10.64.0.1"), "addresses": testing.prefixes(["10.64.12.5/32"])}, ["10.0.0.0/8"])
	count(found) == 1
	some f in found
	contains(f.message, "covers the VPN's network around the tunnel's own address 10.64.12.5/32 and the tunnel's resolver 10.64.0.1")
}

test_fires_for_an_ipv6_resolver_beside_the_tunnel_s_address if {
	found := vpn311.findings with input as with_tunnel({"resolver": in_file("fd7d::1"), "addresses": testing.prefixes(["fd7d::2/128"])}, ["fd7d::1/128"])
	count(found) == 1
}

test_fires_for_a_named_resolver_behind_the_tunnel if {
	found := vpn311.findings with input as with_tunnel({"resolver": in_file("10.60.0.53"), "routes": testing.routes({"prefixes": testing.prefixes(["10.60.0.0/16"])})}, ["10.60.0.0/24"])
	count(found) == 1
}

test_silent_for_a_resolver_of_the_local_network if {
	count(vpn311.findings) == 0 with input as with_tunnel({"resolver": in_file("10.0.0.53"), "addresses": testing.prefixes(["10.0.3.2/32"])}, ["10.0.0.0/24"])
}

planned(given) := {
	"facts": object.union(
		with_tunnel(given, ["10.0.0.0/8"]).facts,
		{"clusters": [testing.cluster({"name": "", "plan": testing.planned({"vpn": [testing.planned_vpn({"tunnel": {"kind": "Deployment", "name": "vpn", "ref": testing.ref("/tunnel"), "object": testing.ref("")}})]})})]},
	),
	"plan": testing.plan([]),
}

test_fires_for_a_destination_of_the_plan if {
	found := vpn311.findings with input as planned({})
	count(found) == 1
	some f in found
	contains(f.message, "covers 10.20.0.0/16, which the plan says that the tunnel carries")
}

test_silent_for_a_destination_of_another_workload if {
	given := planned({})
	count(vpn311.findings) == 0 with input as object.union(given, {"facts": object.union(given.facts, {"pods": [object.union(p, {"ref": testing.nowhere}) | some p in given.facts.pods]})})
}

# Of two routes of one table the longer one wins.
main_table(prefixes) := testing.routes({"prefixes": testing.prefixes(prefixes), "more_specific_win": true})

test_silent_for_a_wider_route_than_that_of_the_tunnel if {
	count(vpn311.findings) == 0 with input as with_tunnel({"routes": main_table(["10.60.0.0/16"])}, ["10.0.0.0/8"])
	count(vpn311.findings) == 0 with input as with_tunnel(
		{"routes": main_table(["10.60.0.0/16"]), "resolver": in_file("10.60.0.53")},
		["10.0.0.0/8"],
	)
	connected := {"prefix": "10.2.0.2/32", "text": "10.2.0.2/24", "ref": testing.ref("/address")}
	count(vpn311.findings) == 0 with input as with_tunnel({"routes": main_table(["0.0.0.0/0"]), "addresses": [connected], "resolver": in_file("10.2.0.1")}, ["10.0.0.0/8"])
}

test_fires_for_a_route_as_long_as_that_of_the_tunnel if {
	count(vpn311.findings) == 1 with input as with_tunnel({"routes": main_table(["10.60.0.0/16"])}, ["10.60.0.0/16"])
}

test_fires_for_a_wider_route_around_a_captured_default if {
	found := vpn311.findings with input as with_tunnel({"routes": main_table(["0.0.0.0/0"]), "resolver": at_image}, ["10.0.0.0/8"])
	count(found) == 1
}
