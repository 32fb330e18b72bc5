package vpnlint.rules.vpn406_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn406

with_claim(claim) := {"facts": testing.facts({}), "plan": object.union(testing.plan([]), {"ranges": [{
	"cluster": "prod", "role": claim.role, "owner": claim.owner, "prefixes": [claim.prefix], "claims": [claim],
}]})}

test_fires_for_a_pool if {
	found := vpn406.findings with input as with_claim(testing.claim("pool", "192.168.1.0/24"))
	count(found) == 1
	some f in found
	f.ref == testing.ref("/pool")
	contains(f.message, "the client pool 192.168.1.0/24 is the network of many home routers")
}

test_fires_inside_dockers_bridge if {
	found := vpn406.findings with input as with_claim(testing.claim("pool", "172.17.8.0/24"))
	some f in found
	contains(f.message, "lies inside 172.17.0.0/16, the network of Docker")
}

test_fires_for_a_destination if {
	found := vpn406.findings with input as with_claim(testing.claim("vpn", "10.0.0.0/24"))
	some f in found
	contains(f.message, "the VPN destination 10.0.0.0/24")
}

test_silent_for_other_ranges if {
	count(vpn406.findings) == 0 with input as with_claim(testing.claim("pool", "10.77.0.0/24"))
}

test_silent_for_a_wider_range if {
	count(vpn406.findings) == 0 with input as with_claim(testing.claim("vpn", "10.0.0.0/8"))
}

test_silent_for_the_cluster_itself if {
	count(vpn406.findings) == 0 with input as with_claim(testing.claim("pod", "172.17.0.0/16"))
}

test_silent_for_an_images_default if {
	count(vpn406.findings) == 0 with input as with_claim(object.union(testing.claim("pool", "192.168.1.0/24"), {"strength": "default"}))
}

test_silent_when_unknown if {
	# a range that cannot be read claims nothing
	count(vpn406.findings) == 0 with input as {"facts": testing.facts({}), "plan": testing.plan([])}
}

with_pool(acknowledged) := object.union(
	with_claim(testing.claim("pool", "192.168.1.0/24")),
	{"facts": testing.facts({"clusters": [testing.cluster({"plan": testing.planned({"client_pools": [testing.planned_pool("192.168.0.0/16", acknowledged)]})})]})},
)

test_silent_when_the_plan_acknowledges_it if {
	count(vpn406.findings) == 0 with input as with_pool(["VPN406"])
}

test_fires_when_the_plan_acknowledges_something_else if {
	count(vpn406.findings) == 1 with input as with_pool(["VPN401"])
}

test_fires_for_a_pool_of_the_plan if {
	count(vpn406.findings) == 1 with input as with_claim(object.union(testing.claim("pool", "10.0.0.0/24"), {"strength": "planned"}))
}

test_fires_once_for_a_pool_that_the_plan_repeats if {
	declared := testing.claim("pool", "10.0.0.0/24")
	both := object.union(declared, {"at": testing.ref("/plan"), "strength": "planned"})
	found := vpn406.findings with input as object.union(with_claim(declared), {"plan": object.union(testing.plan([]), {"ranges": [{
		"cluster": "prod", "role": "pool", "owner": "", "prefixes": [declared.prefix], "claims": [declared, both],
	}]})})
	{f.ref | some f in found} == {testing.ref("/pool")}
}

test_names_the_container_that_hands_it_out if {
	server := testing.pod({"tunnels": [testing.tunnel({"side": "server"})]})
	pool := object.union(testing.claim("pool", "10.0.0.0/24"), {"owner": "Deployment vpn/vpn"})
	given := object.union(with_claim(pool), {"facts": testing.facts({"pods": [server]})})
	found := vpn406.findings with input as given
	{f.containers | some f in found} == {{"vpn"}}
}

test_says_which_route_wins if {
	some same in vpn406.findings with input as with_claim(testing.claim("pool", "192.168.1.0/24"))
	contains(same.message, "its metrics choose between the two, and either the VPN or its own neighbours are out of reach")
	some inside in vpn406.findings with input as with_claim(testing.claim("pool", "172.17.5.0/24"))
	contains(inside.message, "a route of its own for 172.17.0.0/16; the longer one into the tunnel wins, and it loses its own neighbours in 172.17.5.0/24")
}
