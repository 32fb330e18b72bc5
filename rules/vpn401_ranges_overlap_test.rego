package vpnlint.rules.vpn401_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn401

vpn := testing.claim("vpn", "10.20.0.0/16")

pods := testing.claim("pod", "10.16.0.0/12")

severities(overlaps) := found if {
	found := {f.severity | some f in vpn401.findings} with input as testing.overlaps(overlaps)
}

test_fires_for_a_vpn_inside_the_pod_range if {
	found := vpn401.findings with input as testing.overlaps([testing.overlap(vpn, pods, "a-in-b", ["10.20.0.0/16"])])
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == vpn.at
	f.clusters == {"prod"}
	f.related == [{"ref": pods.at, "says": "10.16.0.0/12 (pods) is declared here"}]
	contains(f.message, "in cluster prod, 10.20.0.0/16 (VPN destinations, vpn) lies inside 10.16.0.0/12 (pods, pod): a packet")
}

test_fires_for_equal_ranges if {
	severities([testing.overlap(testing.claim("pool", "10.8.0.0/24"), testing.claim("node", "10.8.0.0/24"), "equal", ["10.8.0.0/24"])]) == {"error"}
}

test_fires_as_warning_when_the_vpn_contains_the_cluster if {
	severities([testing.overlap(testing.claim("vpn", "10.0.0.0/8"), pods, "b-in-a", ["10.16.0.0/12"])]) == {"warning"}
}

test_fires_as_warning_for_a_default if {
	severities([testing.overlap(vpn, object.union(pods, {"strength": "default"}), "a-in-b", ["10.20.0.0/16"])]) == {"warning"}
}

test_fires_as_warning_for_services_inside_pods if {
	severities([testing.overlap(pods, testing.claim("service", "10.20.0.0/16"), "b-in-a", ["10.20.0.0/16"])]) == {"warning"}
}

test_fires_once_for_one_declaration if {
	found := vpn401.findings with input as testing.overlaps([
		testing.overlap(testing.claim("vpn", "10.0.0.0/8"), pods, "b-in-a", ["10.16.0.0/12"]),
		testing.overlap(testing.claim("vpn", "10.0.0.0/8"), testing.claim("service", "10.96.0.0/12"), "b-in-a", ["10.96.0.0/12"]),
	])
	count(found) == 1
	some f in found
	count(f.related) == 2
}

test_fires_at_the_side_that_somebody_wrote if {
	pool := object.union(testing.claim("pool", "100.64.0.0/10"), {"at": testing.nowhere, "strength": "default"})
	found := vpn401.findings with input as testing.overlaps([testing.overlap(pool, testing.claim("pod", "100.64.0.0/16"), "b-in-a", ["100.64.0.0/16"])])
	{f.ref | some f in found} == {testing.ref("/pod")}
}

test_silent_for_one_role if {
	severities([testing.overlap(vpn, object.union(vpn, {"owner": "Deployment edge/second"}), "equal", ["10.20.0.0/16"])]) == set()
}

test_silent_for_the_pool_inside_the_routes_of_its_gateway if {
	pool := object.union(testing.claim("pool", "10.20.9.0/24"), {"owner": "Deployment edge/wg"})
	severities([testing.overlap(object.union(vpn, {"owner": "Deployment edge/wg"}), pool, "b-in-a", ["10.20.9.0/24"])]) == set()
}

test_silent_for_the_address_of_the_api_server if {
	severities([testing.overlap(testing.claim("vpn", "10.0.0.0/8"), testing.claim("api", "10.96.0.1/32"), "b-in-a", ["10.96.0.1/32"])]) == set()
}

test_silent_for_idioms if {
	every idiom in ["no-snat-pool", "cluster-route", "default-route"] {
		severities([testing.overlap(object.union(vpn, {"idiom": idiom}), pods, "a-in-b", ["10.20.0.0/16"])]) == set()
	}
}

test_silent_for_a_range_that_encloses_the_cluster if {
	whole := object.union(testing.claim("node", "10.0.0.0/8"), {"idiom": "encloses-cluster"})
	severities([testing.overlap(pods, whole, "a-in-b", ["10.16.0.0/12"])]) == set()
}

test_silent_for_two_pieces_of_evidence if {
	node := object.union(testing.claim("node", "10.0.0.1/32"), {"strength": "evidence"})
	pod := object.union(testing.claim("pod", "10.0.0.0/24"), {"strength": "evidence"})
	severities([testing.overlap(node, pod, "a-in-b", ["10.0.0.1/32"])]) == set()
	severities([testing.overlap(node, object.union(pod, {"strength": "declared"}), "a-in-b", ["10.0.0.1/32"])]) == {"warning"}
}

test_silent_when_unknown if {
	severities([testing.overlap(object.union(vpn, {"at": testing.nowhere}), object.union(pods, {"at": testing.nowhere}), "a-in-b", ["10.20.0.0/16"])]) == set()
}

with_plan(given, list) := {"facts": testing.facts({"clusters": [testing.cluster({"plan": testing.planned(given)})]}), "plan": testing.plan(list)}

of_nodes := [testing.overlap(testing.claim("pod", "10.0.64.0/18"), testing.claim("node", "10.0.0.0/16"), "a-in-b", ["10.0.64.0/18"])]

test_fires_for_pods_inside_the_nodes if {
	count(vpn401.findings) == 1 with input as with_plan({"masquerade": testing.set_to("calico")}, of_nodes)
}

test_silent_for_pods_inside_the_nodes_by_design if {
	count(vpn401.findings) == 0 with input as with_plan({"masquerade": testing.set_to("aws-vpc-cni")}, of_nodes)
	count(vpn401.findings) == 0 with input as with_plan({"masquerade": testing.set_to("azure-v2")}, of_nodes)
}

wide := object.union(testing.claim("vpn", "10.0.0.0/8"), {"owner": "VPN exit"})

exit := testing.planned_vpn({"name": "exit", "owner": "VPN exit", "full_tunnel": testing.switch("present")})

test_silent_for_a_full_tunnel_that_holds_a_range if {
	count(vpn401.findings) == 0 with input as with_plan({"vpn": [exit]}, [testing.overlap(wide, pods, "b-in-a", ["10.16.0.0/12"])])
}

test_fires_for_a_full_tunnel_that_lies_inside_a_range if {
	count(vpn401.findings) == 1 with input as with_plan({"vpn": [exit]}, [testing.overlap(object.union(wide, {"prefix": "10.20.0.0/16"}), pods, "a-in-b", ["10.20.0.0/16"])])
}

test_fires_for_a_wide_vpn_that_is_no_full_tunnel if {
	count(vpn401.findings) == 1 with input as with_plan({"vpn": [object.union(exit, {"full_tunnel": testing.switch("absent")})]}, [testing.overlap(wide, pods, "b-in-a", ["10.16.0.0/12"])])
}

test_counts_what_the_plan_leaves_out if {
	many := object.union(testing.overlap(vpn, pods, "a-in-b", ["10.20.0.0/16"]), {"more": 924})
	found := vpn401.findings with input as testing.overlaps([many])
	count(found) == 1
	some f in found
	contains(f.message, "(924 more pairs of the VPN destinations and pods written in these places share addresses)")
}

# All containers of the pod share the tunnel's routes.
test_names_the_containers_of_the_tunnel if {
	sidecar := testing.pod({"role": "sidecar", "tunnels": [testing.tunnel({})], "containers": [testing.container({}), testing.application("app")]})
	another := object.union(sidecar, {"id": "b", "object": object.union(sidecar.object, {"name": "b"}), "containers": [testing.application("b")]})
	owned := object.union(vpn, {"owner": "Deployment vpn/vpn"})
	found := vpn401.findings with input as {
		"facts": testing.facts({"pods": [sidecar, another]}),
		"plan": testing.plan([testing.overlap(owned, pods, "a-in-b", ["10.20.0.0/16"])]),
	}
	{f.containers | some f in found} == {{"app", "vpn"}}
}

test_names_no_container_for_a_site_of_the_nodes if {
	found := vpn401.findings with input as testing.overlaps([testing.overlap(object.union(vpn, {"owner": "VPN onprem"}), pods, "a-in-b", ["10.20.0.0/16"])])
	{f.containers | some f in found} == {set()}
}

test_says_how_the_two_lie if {
	every given in [
		["10.0.0.0/8", "10.16.0.0/12", "b-in-a", ["10.16.0.0/12"], "10.16.0.0/12 (pods, pod) lies inside 10.0.0.0/8 (VPN destinations, vpn)"],
		["10.16.0.0/12", "10.16.0.0/12", "equal", ["10.16.0.0/12"], "10.16.0.0/12 (VPN destinations, vpn) and 10.16.0.0/12 (pods, pod) are the same addresses"],
		["10.0.0.0/11", "10.16.0.0/11", "partial", ["10.16.0.0/12"], "10.0.0.0/11 (VPN destinations, vpn) and 10.16.0.0/11 (pods, pod) share 10.16.0.0/12"],
	] {
		overlap := testing.overlap(testing.claim("vpn", given[0]), testing.claim("pod", given[1]), given[2], given[3])
		found := vpn401.findings with input as testing.overlaps([overlap])
		{f | some f in found; contains(f.message, given[4])} == found
		count(found) == 1
	}
}
