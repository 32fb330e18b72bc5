package vpnlint.rules.vpn402_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn402

with_tunnel(routes, given) := testing.pods([testing.pod({
	"role": "sidecar",
	"tunnels": [testing.tunnel(object.union({"routes": testing.routes(object.union({"why": "AllowedIPs = 0.0.0.0/0"}, routes))}, given))],
})])

meant := {"named": testing.prefixes(["10.60.0.0/16"])}

test_fires_at_the_default_route if {
	found := vpn402.findings with input as with_tunnel(meant, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/routes")
	contains(f.message, "names 10.60.0.0/16 and takes the default route all the same (AllowedIPs = 0.0.0.0/0)")
}

test_fires_once_for_several_networks if {
	found := vpn402.findings with input as with_tunnel({"named": testing.prefixes(["10.60.0.0/16", "192.168.40.0/24"])}, {})
	count(found) == 1
	some f in found
	contains(f.message, "10.60.0.0/16 and 192.168.40.0/24")
	count(f.related) == 2
}

test_fires_for_openvpn if {
	found := vpn402.findings with input as with_tunnel(object.union(meant, {"why": "redirect-gateway def1"}), {"kind": "openvpn"})
	some f in found
	contains(f.message, "(redirect-gateway def1)")
}

test_silent_for_a_full_tunnel if {
	count(vpn402.findings) == 0 with input as with_tunnel({}, {})
}

test_silent_without_a_default_route if {
	count(vpn402.findings) == 0 with input as with_tunnel({"default": false, "prefixes": testing.prefixes(["10.60.0.0/16"])}, {})
}

test_silent_for_a_server if {
	count(vpn402.findings) == 0 with input as with_tunnel(meant, {"side": "server"})
}

test_silent_in_user_space if {
	count(vpn402.findings) == 0 with input as with_tunnel(meant, {"user_space": "present"})
}

test_silent_when_unknown if {
	count(vpn402.findings) == 0 with input as with_tunnel(object.union(meant, {"state": "unknown"}), {})
}

carrier := {"kind": "Deployment", "name": "vpn", "ref": testing.ref("/tunnel"), "object": testing.ref("")}

with_plan(vpn, routes) := {
	"facts": object.union(with_tunnel(routes, {}).facts, {"clusters": [testing.cluster({"name": "", "plan": testing.planned({"vpn": [testing.planned_vpn(object.union({"tunnel": carrier}, vpn))]})})]}),
	"plan": testing.plan([]),
}

test_fires_for_destinations_of_the_plan if {
	found := vpn402.findings with input as with_plan({}, {})
	count(found) == 1
	some f in found
	contains(f.message, "is planned for 10.20.0.0/16 and takes the default route all the same")
}

test_fires_and_names_the_overlap if {
	found := vpn402.findings with input as with_tunnel(meant, {"captures": [testing.capture({"ranges": [testing.range("pod", "10.0.0.0/8")]})]})
	count(found) == 1
	some f in found
	contains(f.message, "it hides that this overlaps the pod range 10.0.0.0/8")
	testing.ref("/pod") in {r.ref | some r in f.related}
}

test_silent_for_a_full_tunnel_of_the_plan if {
	count(vpn402.findings) == 0 with input as with_plan({"full_tunnel": testing.switch("present")}, meant)
}

test_silent_for_another_tunnel_of_the_plan if {
	count(vpn402.findings) == 0 with input as with_plan({"tunnel": object.union(carrier, {"object": testing.nowhere})}, {})
}

test_silent_for_a_plan_of_one_of_several_clusters if {
	given := with_plan({}, {})
	count(vpn402.findings) == 0 with input as object.union(given, {"facts": object.union(given.facts, {"pods": [object.union(p, {"cluster_known": "unknown"}) | some p in given.facts.pods]})})
}
