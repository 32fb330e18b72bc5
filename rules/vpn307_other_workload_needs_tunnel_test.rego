package vpnlint.rules.vpn307_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn307

tunnelled := testing.pod({
	"id": "sync", "role": "sidecar", "workload": "deploy/sync",
	"tunnels": [testing.tunnel({"routes": testing.routes({"default": false, "prefixes": testing.prefixes(["10.60.0.0/16"])})})],
})

other(given) := testing.pod(object.union({"id": "report", "role": "none", "mentions": [testing.mention("10.60.4.20")], "containers": [testing.application("app")]}, given))

with_facts(given) := {"facts": testing.facts(object.union({"pods": [tunnelled, other({})]}, given)), "plan": testing.plan([])}

test_fires_for_another_workload if {
	found := vpn307.findings with input as with_facts({})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/env/0/value")
	f.containers == {"app"}
	contains(f.message, "in deploy/sync")
}

test_fires_for_endpoints if {
	found := vpn307.findings with input as with_facts({"pods": [tunnelled], "backends": [testing.backend({})]})
	{f.ref | some f in found} == {testing.ref("/ip")}
}

test_fires_beside_a_site_for_something_else if {
	count(vpn307.findings) == 1 with input as with_facts({"sites": [testing.site({"cluster": "", "remote": testing.prefixes(["10.20.0.0/16"])})]})
}

test_silent_with_a_node_route if {
	count(vpn307.findings) == 0 with input as with_facts({"node_routes": [testing.node_route({})]})
}

test_silent_with_a_site if {
	count(vpn307.findings) == 0 with input as with_facts({"sites": [testing.site({"cluster": "", "remote": testing.prefixes(["10.60.0.0/16"])})]})
}

test_silent_when_unknown if {
	count(vpn307.findings) == 0 with input as with_facts({"sites": [testing.site({"cluster": "", "remote_state": "unknown"})]})
}

test_silent_behind_a_proxy if {
	count(vpn307.findings) == 0 with input as with_facts({"pods": [
		tunnelled,
		other({"mentions": [object.union(testing.mention("10.60.4.20"), {"proxied": true})]}),
	]})
}

test_silent_in_another_cluster if {
	count(vpn307.findings) == 0 with input as with_facts({"pods": [tunnelled, other({"clusters": ["lab"]})]})
}

test_silent_when_a_gateway_routes_it if {
	count(vpn307.findings) == 0 with input as with_facts({"pods": [tunnelled, other({}), object.union(tunnelled, {"id": "router", "role": "gateway"})]})
}

test_silent_for_addresses_of_the_cluster if {
	count(vpn307.findings) == 0 with input as with_facts({"clusters": [testing.cluster({"ranges": [testing.range("node", "10.60.0.0/16")]})]})
}

test_silent_when_only_a_helm_test_has_the_tunnel if {
	checked := object.union(tunnelled, {"object": {"kind": "Pod", "helm": "test"}})
	count(vpn307.findings) == 0 with input as with_facts({"pods": [checked, other({})]})
}

test_fires_for_an_external_name if {
	found := vpn307.findings with input as with_facts({"pods": [tunnelled], "backends": [testing.backend({"object": testing.object_name("Service", "erp")})]})
	count(found) == 1
	some f in found
	contains(f.message, "Service erp leads to 10.60.4.20")
	contains(f.message, "pods that use the name send their packets there by the node's default route")
}

test_fires_for_an_external_name_that_coredns_knows if {
	found := vpn307.findings with input as with_facts({"pods": [tunnelled], "backends": [testing.backend({
		"object": testing.object_name("Service", "erp"), "resolved": testing.ref("/data/Corefile"),
	})]})
	count(found) == 1
	some f in found
	{"ref": testing.ref("/data/Corefile"), "says": "CoreDNS answers with 10.60.4.20"} in f.related
}

test_fires_beside_ways_of_another_cluster if {
	elsewhere := {
		"sites": [testing.site({"cluster": "lab", "remote": testing.prefixes(["10.60.0.0/16"])}), testing.site({"cluster": "lab", "remote_state": "unknown"})],
		"node_routes": [testing.node_route({"cluster": "lab"})],
		"pods": [tunnelled, other({}), object.union(tunnelled, {"id": "router", "role": "gateway", "clusters": ["lab"]})],
	}
	count(vpn307.findings) == 1 with input as with_facts(elsewhere)
}

# What the configuration of the tunnel does not show, the plan says.
hidden := object.union(tunnelled, {"tunnels": [testing.tunnel({"routes": testing.routes({"state": "unknown", "prefixes": []})})]})

planned(pod, kind) := with_facts({
	"pods": [pod, other({})],
	"clusters": [testing.cluster({"name": "", "plan": testing.planned({"vpn": [testing.planned_vpn({
		"destinations": testing.prefixes(["10.60.0.0/16"]),
		"tunnel": {"kind": kind, "name": "sync", "ref": testing.ref("/tunnel"), "object": testing.ref("")},
	})]})})],
})

test_fires_for_what_the_plan_says_that_a_tunnel_carries if {
	found := vpn307.findings with input as planned(hidden, "Deployment")
	count(found) == 1
	some f in found
	contains(f.message, "10.60.0.0/16 is only reached through the tunnel of gluetun in deploy/sync")
}

test_silent_when_the_plan_says_that_a_gateway_carries_it if {
	router := object.union(hidden, {"role": "gateway", "tunnels": [testing.tunnel({"routes": testing.routes({"state": "absent", "prefixes": []})})]})
	count(vpn307.findings) == 0 with input as planned(router, "Deployment")
}

test_silent_for_a_gateway_of_the_plan_beside_a_tunnel if {
	given := planned(object.union(hidden, {"id": "router", "role": "gateway", "tunnels": []}), "Deployment")
	count(vpn307.findings) == 0 with input as object.union(given, {"facts": object.union(given.facts, {"pods": array.concat(given.facts.pods, [object.union(tunnelled, {"ref": testing.nowhere})])})})
}

test_silent_when_a_site_may_be_of_this_cluster if {
	count(vpn307.findings) == 0 with input as with_facts({"sites": [testing.site({"cluster": "", "cluster_known": "unknown", "remote": testing.prefixes(["10.60.0.0/16"])})]})
}

test_silent_when_a_gateway_may_be_of_this_cluster if {
	count(vpn307.findings) == 0 with input as with_facts({"pods": [tunnelled, other({}), object.union(tunnelled, {"id": "router", "role": "gateway", "cluster_known": "unknown"})]})
}

test_silent_when_the_cluster_is_unknown if {
	unplaced := {"cluster_known": "unknown"}
	count(vpn307.findings) == 0 with input as with_facts({
		"pods": [object.union(tunnelled, unplaced), other(unplaced)],
		"backends": [testing.backend(unplaced)],
	})
}
