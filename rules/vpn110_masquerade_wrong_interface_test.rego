package vpnlint.rules.vpn110_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn110

rule(name) := {
	"name": name, "ref": testing.ref("/PostUp"),
	"says": sprintf("iptables -t nat -A POSTROUTING -o %s -j MASQUERADE", [name]),
}

host := {"host_network": {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")}}

multus(text) := {"attached": {"state": "present", "ref": testing.ref("/networks"), "why": text}}

gateway(rules, given) := testing.pods([testing.pod(object.union(
	{"tunnels": [testing.tunnel({"side": "server", "masquerade_out": rules})]},
	given,
))])

test_fires_on_the_host_network if {
	found := vpn110.findings with input as gateway([rule("eth0")], host)
	count(found) == 1
	some f in found
	f.ref == testing.ref("/PostUp")
	f.related[0].ref == testing.ref("/hostNetwork")
	contains(f.message, "translates only what leaves by eth0")
}

test_fires_with_further_networks if {
	some f in vpn110.findings with input as gateway([rule("eth+")], multus("lan"))
	f.related[0].ref == testing.ref("/networks")
}

test_fires_for_eth0_beside_eth1 if {
	count(vpn110.findings) == 1 with input as gateway([rule("eth0")], multus("lan@eth1"))
}

test_silent_where_the_name_matches if {
	count(vpn110.findings) == 0 with input as gateway([rule("eth+")], multus("lan@eth1"))
}

test_fires_for_a_network_card_in_an_ordinary_pod if {
	some name in ["ens3", "enp1s0", "eno1", "ens+", "bond0", "wlan0"]
	some f in vpn110.findings with input as gateway([rule(name)], {})
	f.ref == testing.ref("/PostUp")
	contains(f.message, sprintf("only what leaves by %s, and the pod has eth0", [name]))
	f.related == []
}

test_silent_for_other_tunnels_in_an_ordinary_pod if {
	every name in ["tun0", "wg1", "tailscale0", "vxlan0", "br-lan", "net1", "eth1", "end", ""] {
		count(vpn110.findings) == 0 with input as gateway([rule(name)], {})
	}
}

test_silent_for_a_network_card_beside_the_uplink if {
	count(vpn110.findings) == 0 with input as gateway([rule("ens3"), rule("eth0")], {})
}

test_silent_for_a_network_card_where_networks_are_unknown if {
	count(vpn110.findings) == 0 with input as gateway([rule("ens3")], {"attached": testing.switch("unknown")})
}

test_silent_in_an_ordinary_pod if {
	count(vpn110.findings) == 0 with input as gateway([rule("eth0")], {})
}

test_silent_for_a_rule_by_source if {
	count(vpn110.findings) == 0 with input as gateway([rule("")], host)
}

test_silent_when_another_rule_holds if {
	count(vpn110.findings) == 0 with input as gateway([rule("eth0"), rule("")], host)
}

test_silent_for_the_nodes_own_name if {
	count(vpn110.findings) == 0 with input as gateway([rule("ens3")], host)
}

test_silent_for_a_client if {
	count(vpn110.findings) == 0 with input as gateway([rule("eth0")], object.union(host, {"role": "sidecar"}))
}

test_silent_when_unknown if {
	count(vpn110.findings) == 0 with input as gateway([], object.union(
		host,
		{"tunnels": [testing.tunnel({"side": "server", "masquerade": testing.switch("unknown")})]},
	))
}
