package vpnlint.rules.vpn302_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn302

with_tunnel(tunnel, needs) := testing.pods([testing.pod({
	"role": "sidecar", "tunnels": [testing.tunnel(tunnel)], "needs": needs,
	"containers": [testing.container({}), testing.application("app")],
})])

services := testing.capture({"services": ["10.96.0.0/12"], "missing": ["10.96.0.0/12"]})

unseen := testing.capture({"known": false, "ranges": []})

test_fires_for_a_service_name if {
	found := vpn302.findings with input as with_tunnel({"captures": [services]}, [testing.need("name")])
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/bypass")
	f.containers == {"app"}
	f.clusters == {"prod"}
	contains(f.message, "captures service addresses 10.96.0.0/12 of cluster prod: requests of container app to http://ledger")
	contains(f.message, "its bypass list (FIREWALL_OUTBOUND_SUBNETS) lacks 10.96.0.0/12")
	f.verify.destination == "10.96.0.0/12"
}

test_shows_only_the_ranges_it_is_about if {
	capture := object.union(services, {"ranges": [testing.range("node", "10.0.0.0/20"), testing.range("service", "10.96.0.0/12")]})
	some f in vpn302.findings with input as with_tunnel({"captures": [capture]}, [testing.need("name")])
	said := [r.says | some r in f.related; contains(r.says, " range)")]
	count(said) == 1
	contains(said[0], "(service range)")
}

test_fires_when_the_bypass_list_leaves_a_part_out if {
	count(vpn302.findings) == 1 with input as with_tunnel(
		{"captures": [services], "bypass": testing.bypass({"state": "present", "entries": testing.prefixes(["10.244.0.0/16"])})},
		[testing.need("service")],
	)
}

test_fires_once_for_two_clusters if {
	found := vpn302.findings with input as with_tunnel(
		{"captures": [services, object.union(services, {"cluster": "lab", "services": ["10.43.0.0/16"]})]},
		[testing.need("name")],
	)
	count(found) == 1
	some f in found
	f.clusters == {"lab", "prod"}
	contains(f.message, "10.43.0.0/16 of cluster lab")
}

test_fires_as_warning_for_pods_without_the_cni if {
	found := vpn302.findings with input as with_tunnel(
		{"captures": [testing.capture({"pods": ["10.244.0.0/16"]})]},
		[testing.need("pod")],
	)
	some f in found
	f.severity == "warning"
	contains(f.message, "may enter the tunnel")
}

test_fires_for_pods_with_the_cni if {
	found := vpn302.findings with input as with_tunnel(
		{"captures": [testing.capture({"pods": ["10.244.0.0/16"], "pods_certain": true})]},
		[testing.need("pod")],
	)
	{f.severity | some f in found} == {"error"}
}

test_fires_for_the_api_server if {
	count(vpn302.findings) == 1 with input as with_tunnel({"captures": [testing.capture({"api": ["10.96.0.1/32"]})]}, [testing.need("api")])
}

test_fires_for_captured_replies if {
	found := vpn302.findings with input as with_tunnel(
		{"captures": [testing.capture({"nodes": ["172.20.8.0/22"]})]},
		[testing.need("replies")],
	)
	{f.severity | some f in found} == {"warning"}
}

test_fires_as_warning_when_the_ranges_are_not_in_view if {
	found := vpn302.findings with input as with_tunnel({"captures": [unseen]}, [testing.need("name")])
	count(found) == 1
	some f in found
	f.severity == "warning"
	contains(f.message, "captures everything and no bypass list")
}

test_fires_as_warning_without_any_cluster if {
	count(vpn302.findings) == 1 with input as with_tunnel({}, [testing.need("api")])
}

test_silent_when_nobody_needs_the_cluster if {
	count(vpn302.findings) == 0 with input as with_tunnel({"captures": [services]}, [])
}

test_silent_when_the_bypass_covers_it if {
	count(vpn302.findings) == 0 with input as with_tunnel({"captures": [testing.capture({})]}, [testing.need("name")])
}

test_silent_when_something_else_is_captured if {
	count(vpn302.findings) == 0 with input as with_tunnel({"captures": [testing.capture({"nodes": ["172.20.8.0/22"]})]}, [testing.need("name")])
}

test_silent_for_replies_that_are_kept if {
	count(vpn302.findings) == 0 with input as with_tunnel(
		{"captures": [testing.capture({"pods": ["10.244.0.0/16"]})], "replies_kept": "present"},
		[testing.need("replies")],
	)
}

test_silent_for_a_server if {
	count(vpn302.findings) == 0 with input as with_tunnel({"captures": [services], "side": "server"}, [testing.need("name")])
}

test_silent_in_user_space if {
	count(vpn302.findings) == 0 with input as with_tunnel({"captures": [services], "user_space": "present"}, [testing.need("name")])
}

test_silent_when_unknown if {
	count(vpn302.findings) == 0 with input as with_tunnel(
		{"captures": [services], "routes": testing.routes({"state": "unknown"})},
		[testing.need("name")],
	)
}

test_silent_when_bypass_unknown if {
	count(vpn302.findings) == 0 with input as with_tunnel(
		{"captures": [services], "bypass": testing.bypass({"state": "unknown"})},
		[testing.need("name")],
	)
}

test_silent_when_ranges_unknown_but_something_is_bypassed if {
	count(vpn302.findings) == 0 with input as with_tunnel(
		{"captures": [unseen], "bypass": testing.bypass({"state": "present", "entries": testing.prefixes(["10.43.0.0/16"])})},
		[testing.need("name")],
	)
}

test_fires_and_writes_the_list_out if {
	with_list := object.union(services, {"suggestion": "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"})
	found := vpn302.findings with input as with_tunnel({"captures": [with_list]}, [testing.need("name")])
	some f in found
	endswith(f.message, "lacks 10.96.0.0/12; write ROUTE=10.96.0.0/12 and ROUTE_2=10.244.0.0/16")
}

test_fires_without_a_list_for_two_clusters if {
	with_list := object.union(services, {"suggestion": "ROUTE=10.96.0.0/12"})
	found := vpn302.findings with input as with_tunnel({"captures": [with_list, object.union(with_list, {"cluster": "lab"})]}, [testing.need("name")])
	some f in found
	not contains(f.message, "write ROUTE")
}

test_fires_and_names_the_longer_route if {
	some f in vpn302.findings with input as with_tunnel(
		{"captures": [object.union(services, {"overruled": ["10.96.0.0/12"]})]},
		[testing.need("name")],
	)
	contains(f.message, "the longer route 10.96.0.0/12 of the tunnel wins over it in the main table")
	not contains(f.message, "lacks")
}

# The reader holds the list against the suggestion.
test_names_what_is_lacking_in_the_order_of_the_suggestion if {
	capture := object.union(services, {
		"missing": ["10.96.0.0/12", "10.244.0.0/16", "10.96.0.0/12"],
		"suggestion": "FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16",
	})
	some f in vpn302.findings with input as with_tunnel({"captures": [capture]}, [testing.need("name")])
	contains(f.message, "lacks 10.96.0.0/12 and 10.244.0.0/16; write FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16")
}

test_names_once_what_the_list_lacks_for_two_clusters if {
	other := object.union(services, {"cluster": "stage", "missing": ["10.112.0.0/12", "10.96.0.0/12"]})
	some f in vpn302.findings with input as with_tunnel({"captures": [services, other]}, [testing.need("name")])
	contains(f.message, "lacks 10.96.0.0/12 and 10.112.0.0/12")
}
