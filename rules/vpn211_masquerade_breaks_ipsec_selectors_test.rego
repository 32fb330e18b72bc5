package vpnlint.rules.vpn211_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn211

with_tunnel(given) := testing.pods([testing.pod({"tunnels": [testing.tunnel(object.union(
	{
		"kind": "ipsec", "side": "server", "local": testing.prefixes(["10.244.0.0/16"]),
		"routes": testing.routes({"default": false, "prefixes": testing.prefixes(["10.60.0.0/24"])}),
	},
	given,
))]})])

test_fires_at_the_rule if {
	found := vpn211.findings with input as with_tunnel({"rewrites": [testing.rewrite(["10.60.0.0/24"])]})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/natOutgoing")
	startswith(f.message, "natOutgoing of IPPool pods rewrites the source of packets from 10.244.0.0/16 to 10.60.0.0/24")
	count(f.related) == 2
}

test_fires_for_each_rule if {
	another := object.union(testing.rewrite(["10.60.0.0/24"]), {"ref": testing.ref("/args/1"), "says": "flannel's --ip-masq"})
	count(vpn211.findings) == 2 with input as with_tunnel({"rewrites": [testing.rewrite(["10.60.0.0/24"]), another]})
}

test_fires_with_what_is_not_known if {
	open := object.union(testing.rewrite(["10.60.0.0/24"]), {"unless": "the pod's own address is one of those"})
	found := vpn211.findings with input as with_tunnel({"rewrites": [open]})
	some f in found
	contains(f.message, "to 10.60.0.0/24: unless the pod's own address is one of those, they no longer match the selectors")
}

test_fires_for_a_part_of_the_remote_network if {
	found := vpn211.findings with input as with_tunnel({"rewrites": [testing.rewrite(["10.60.0.128/25"])]})
	some f in found
	contains(f.message, "to 10.60.0.128/25:")
}

test_silent_when_exempt if {
	count(vpn211.findings) == 0 with input as with_tunnel({})
}

test_silent_when_nothing_is_rewritten if {
	count(vpn211.findings) == 0 with input as with_tunnel({"rewrites": [testing.rewrite([])]})
}

test_silent_without_a_tunnel if {
	count(vpn211.findings) == 0 with input as testing.pods([testing.pod({})])
}

test_silent_when_unknown if {
	# rules that cannot be seen rewrite nothing that is known
	count(vpn211.findings) == 0 with input as with_tunnel({"routes": testing.routes({"state": "unknown"})})
}
