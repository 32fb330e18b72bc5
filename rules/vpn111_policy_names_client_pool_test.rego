package vpnlint.rules.vpn111_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn111

tree(block, tunnel, pod) := {
	"facts": testing.facts({
		"pods": [testing.pod(object.union(
			{"tunnels": [testing.tunnel(object.union(
				{"side": "server", "pool": testing.prefixes(["10.8.0.0/24"]), "masquerade": testing.switch("present")},
				tunnel,
			))]},
			pod,
		))],
		"policy_blocks": [testing.policy_block(block)],
	}),
	"plan": testing.plan([]),
}

test_fires_for_the_pool if {
	found := vpn111.findings with input as tree({}, {}, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/cidr")
	contains(f.message, "10.8.0.0/24 is the client pool, which container vpn translates")
	f.containers == {"vpn"}
	f.related[0].ref == testing.ref("/switch")
}

test_fires_for_one_client if {
	found := vpn111.findings with input as tree({"prefix": "10.8.0.7/32"}, {}, {})
	count(found) == 1
	some f in found
	startswith(f.message, "10.8.0.7/32 lies in the client pool 10.8.0.0/24, which container vpn")
}

test_fires_in_the_gateways_cluster if {
	some f in vpn111.findings with input as tree({"cluster": "prod"}, {}, {"clusters": ["prod"]})
	f.clusters == ["prod"]
}

test_silent_for_a_broader_block if {
	count(vpn111.findings) == 0 with input as tree({"prefix": "10.0.0.0/8"}, {}, {})
}

test_silent_for_an_exception if {
	count(vpn111.findings) == 0 with input as tree({"except": true}, {}, {})
}

test_silent_for_a_destination if {
	count(vpn111.findings) == 0 with input as tree({"source": false}, {}, {})
}

test_silent_without_masquerade if {
	count(vpn111.findings) == 0 with input as tree({}, {"masquerade": testing.switch("absent")}, {})
}

test_silent_in_another_cluster if {
	count(vpn111.findings) == 0 with input as tree({"cluster": "lab"}, {}, {"clusters": ["prod"]})
}

test_silent_when_unknown if {
	count(vpn111.findings) == 0 with input as tree({}, {"masquerade": testing.switch("unknown")}, {})
}

test_silent_when_the_cluster_is_unknown if {
	count(vpn111.findings) == 0 with input as tree({"known": false}, {}, {})
}
