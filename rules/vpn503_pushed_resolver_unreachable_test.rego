package vpnlint.rules.vpn503_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn503

with_clients(given, tunnel) := testing.pods([testing.pod({"tunnels": [testing.tunnel(object.union(
	{"side": "server", "clients": testing.clients(object.union({"state": "present"}, given))},
	tunnel,
))]})])

cluster_resolver := testing.unreached("10.96.0.10", [testing.range("service", "10.96.0.0/12")])

test_fires_for_the_cluster_resolver if {
	found := vpn503.findings with input as with_clients({"routes": testing.prefixes(["10.244.0.0/16"]), "unreached": [cluster_resolver]}, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/resolver")
	contains(f.message, "at 10.96.0.10 in the service range 10.96.0.0/12, but their only route through the tunnel is 10.244.0.0/16")
}

test_fires_for_another_private_resolver if {
	found := vpn503.findings with input as with_clients({"unreached": [testing.unreached("192.168.40.53", [])]}, {})
	some f in found
	contains(f.message, "at 192.168.40.53, but they get no route through the tunnel")
}

test_fires_for_each_resolver if {
	list := [cluster_resolver, object.union(testing.unreached("10.99.0.53", []), {"resolver": {"ref": testing.ref("/second")}})]
	count(vpn503.findings) == 2 with input as with_clients({"unreached": list}, {})
}

test_silent_when_covered if {
	count(vpn503.findings) == 0 with input as with_clients({"routes": testing.prefixes(["10.96.0.0/12"])}, {})
}

test_silent_when_nothing_is_pushed if {
	count(vpn503.findings) == 0 with input as with_clients({"state": "absent"}, {})
}

test_silent_for_a_client if {
	count(vpn503.findings) == 0 with input as with_clients({"unreached": [cluster_resolver]}, {"side": "client"})
}

test_silent_when_unknown if {
	count(vpn503.findings) == 0 with input as with_clients({"state": "unknown", "unreached": [cluster_resolver]}, {})
}

test_says_an_only_route if {
	some f in vpn503.findings with input as with_clients({"routes": testing.prefixes(["10.244.0.0/16"]), "unreached": [cluster_resolver]}, {})
	contains(f.message, "their only route through the tunnel is 10.244.0.0/16: their look-ups leave outside the tunnel, where that address is somebody else's or nobody's")
}
