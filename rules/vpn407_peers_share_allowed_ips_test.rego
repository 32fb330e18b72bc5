package vpnlint.rules.vpn407_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn407

peers(list) := testing.pods([testing.pod({"tunnels": [testing.tunnel({"side": "server", "peers": list})]})])

# Peers of one file, as the facts give them.
peer(given, key, list) := object.union(
	object.union(testing.peer(key, list), {
		"ref": testing.ref("/stringData/wg0.conf"),
		"allowed_ips": [{"prefix": p, "text": p, "ref": object.union(testing.ref("/stringData/wg0.conf"), {"start": count(key)})} | some p in list],
	}),
	given,
)

test_fires_at_the_later_peer if {
	found := vpn407.findings with input as peers([peer({}, "anna", ["10.77.0.2/32"]), peer({}, "konrad", ["10.77.0.2/32"])])
	count(found) == 1
	some f in found
	f.ref.start == count("konrad")
	f.related[0].ref.start == count("anna")
	contains(f.message, "two peers of interface wg0 have 10.77.0.2/32 in their AllowedIPs")
}

test_fires_for_two_exits_of_a_client if {
	exit := {"endpoint": true}
	found := vpn407.findings with input as testing.pods([testing.pod({"role": "sidecar", "tunnels": [testing.tunnel({
		"peers": [peer(exit, "a", ["0.0.0.0/0"]), peer(exit, "bb", ["0.0.0.0/0"])],
	})]})])
	count(found) == 1
}

test_fires_for_a_default_route_to_a_client if {
	found := vpn407.findings with input as peers([peer({}, "anna", ["0.0.0.0/0"])])
	some f in found
	contains(f.message, "the server's own default route becomes this client")
}

of_env(i, key) := object.union(
	testing.peer(key, ["10.61.0.0/24"]),
	{"ref": testing.ref(sprintf("/spec/template/spec/containers/0/env/%d/value", [i]))},
)

test_fires_for_peers_made_of_variables if {
	count(vpn407.findings) == 1 with input as peers([of_env(0, "anna"), of_env(1, "konrad")])
}

test_silent_for_one_address_each if {
	count(vpn407.findings) == 0 with input as peers([peer({}, "anna", ["10.77.0.2/32"]), peer({}, "konrad", ["10.77.0.3/32", "10.61.0.0/24"])])
}

test_silent_for_a_longer_prefix_inside_another if {
	count(vpn407.findings) == 0 with input as peers([peer({}, "anna", ["10.61.0.0/24"]), peer({}, "konrad", ["10.61.0.7/32"])])
}

test_silent_for_two_interfaces if {
	count(vpn407.findings) == 0 with input as peers([peer({}, "anna", ["10.77.0.2/32"]), peer({"interface": "wg1"}, "konrad", ["10.77.0.2/32"])])
}

test_silent_for_one_peer_in_two_sections if {
	count(vpn407.findings) == 0 with input as peers([peer({}, "anna", ["10.77.0.2/32"]), peer({}, "anna", ["10.77.0.2/32"])])
}

test_silent_for_an_upstream_exit if {
	count(vpn407.findings) == 0 with input as peers([peer({"endpoint": true}, "exit", ["0.0.0.0/0"]), peer({}, "anna", ["10.77.0.2/32"])])
}

test_silent_with_table_off if {
	off := {"table": "off"}
	count(vpn407.findings) == 0 with input as peers([peer(off, "anna", ["0.0.0.0/0"]), peer(off, "konrad", ["0.0.0.0/0"])])
}

test_silent_when_unknown if {
	# what is filled in later is no entry
	count(vpn407.findings) == 0 with input as peers([peer({}, "anna", []), peer({}, "konrad", [])])
}

group(list) := {
	"facts": testing.facts({"peer_groups": [{"says": "Kilo's mesh", "cluster": "prod", "peers": list}]}),
	"plan": testing.plan([]),
}

test_fires_for_peers_of_an_operator if {
	found := vpn407.findings with input as group([testing.peer("anna", ["10.4.0.2/32"]), testing.peer("konrad", ["10.4.0.2/32"])])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/konrad/0")
	{r.ref | some r in f.related} == {testing.ref("/anna/0")}
	f.clusters == {"prod"}
	contains(f.message, "two peers of Kilo's mesh of cluster prod have 10.4.0.2/32")
}

test_fires_for_a_default_route_of_all_nodes if {
	found := vpn407.findings with input as group([testing.peer("anna", ["0.0.0.0/0"])])
	count(found) == 1
	some f in found
	contains(f.message, "the default route of the nodes becomes this peer")
}

test_silent_for_an_operators_peers_with_one_address_each if {
	count(vpn407.findings) == 0 with input as group([testing.peer("anna", ["10.4.0.2/32"]), testing.peer("konrad", ["10.4.0.3/32"])])
}

test_silent_for_one_peer_in_two_objects if {
	count(vpn407.findings) == 0 with input as group([testing.peer("anna", ["10.4.0.2/32"]), testing.peer("anna", ["10.4.0.2/32"])])
}

test_silent_for_an_exit_of_the_mesh if {
	count(vpn407.findings) == 0 with input as group([object.union(testing.peer("exit", ["0.0.0.0/0"]), {"endpoint": true})])
}
