package vpnlint.rules.vpn307_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn307

tunnelled := testing.pod({
	"id": "sync", "role": "sidecar", "workload": "deploy/sync",
	"tunnels": [testing.tunnel({"routes": testing.routes({"default": false, "prefixes": testing.prefixes(["10.60.0.0/16"])})})],
})

other(given) := testing.pod(object.union({"id": "report", "role": "none", "mentions": [testing.mention("10.60.4.20")], "containers": [testing.application("app")]}, given))

with_facts(given) := {"facts": testing.facts(object.union({"pods": [tunnelled, other({})]}, given)), "plan": testing.plan([])}

backend := {"object": testing.object_name("Endpoints", "erp"), "cluster": "", "address": "10.60.4.20", "ref": testing.ref("/ip")}

test_fires_for_another_workload if {
	found := vpn307.findings with input as with_facts({})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/env/0/value")
	f.containers == {"app"}
	contains(f.message, "in deploy/sync")
}

test_fires_for_endpoints if {
	found := vpn307.findings with input as with_facts({"pods": [tunnelled], "backends": [backend]})
	{f.ref | some f in found} == {testing.ref("/ip")}
}

test_fires_beside_a_site_for_something_else if {
	count(vpn307.findings) == 1 with input as with_facts({"sites": [testing.site({"remote": testing.prefixes(["10.20.0.0/16"])})]})
}

test_silent_with_a_node_route if {
	count(vpn307.findings) == 0 with input as with_facts({"node_routes": [{"cluster": "", "prefix": "10.60.0.0/16", "ref": testing.ref("/r")}]})
}

test_silent_with_a_site if {
	count(vpn307.findings) == 0 with input as with_facts({"sites": [testing.site({"remote": testing.prefixes(["10.60.0.0/16"])})]})
}

test_silent_when_unknown if {
	count(vpn307.findings) == 0 with input as with_facts({"sites": [testing.site({"remote_state": "unknown"})]})
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
