package vpnlint.rules.vpn314_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn314

with_mtu(pod, tunnel, cluster) := {
	"facts": testing.facts({
		"clusters": [testing.cluster({"mtu": cluster})],
		"pods": [testing.pod(object.union(
			{
				"role": "sidecar", "clusters": ["prod"], "containers": [testing.container({}), testing.application("app")],
				"tunnels": [testing.tunnel(object.union({"kind": "wireguard"}, tunnel))],
			},
			pod,
		))],
	}),
	"plan": testing.plan([]),
}

sized(size) := {"mtu": testing.mtu(size, sprintf("MTU = %d", [size]))}

overlay := {"size": 1450, "ref": testing.ref("/veth_mtu"), "says": "veth_mtu: 1450", "outer6": false}

test_fires_inside_an_overlay if {
	found := vpn314.findings with input as with_mtu({}, sized(1420), overlay)
	count(found) == 1
	some f in found
	f.ref == testing.ref("/mtu")
	f.containers == {"vpn", "app"}
	f.clusters == {"prod"}
	contains(f.message, "MTU = 1420 in container vpn does not fit")
	contains(f.message, "veth_mtu: 1450")
	contains(f.message, "packets above 1390 bytes")
	{r.ref | some r in f.related} == {testing.ref("/veth_mtu")}
}

test_fires_for_an_ipv6_endpoint if {
	six := object.union(testing.mtu(1380, "MTU = 1380"), {"outer6": true})
	found := vpn314.findings with input as with_mtu({}, {"mtu": six}, overlay)
	count(found) == 1
	some f in found
	contains(f.message, "80 bytes over IPv6")
}

test_fires_for_a_gateway if {
	count(vpn314.findings) == 1 with input as with_mtu({"role": "gateway"}, object.union(sized(1391), {"side": "server"}), overlay)
}

test_silent_when_it_just_fits if {
	count(vpn314.findings) == 0 with input as with_mtu({}, sized(1390), overlay)
}

test_silent_without_an_mtu_of_its_own if {
	count(vpn314.findings) == 0 with input as with_mtu({}, {"mtu": testing.mtu(0, "")}, overlay)
}

test_silent_for_another_cluster if {
	count(vpn314.findings) == 0 with input as with_mtu({"clusters": ["lab"]}, sized(1420), overlay)
}

test_silent_for_openvpn if {
	count(vpn314.findings) == 0 with input as with_mtu({}, object.union(sized(1500), {"kind": "openvpn"}), overlay)
}

test_silent_on_the_host_network if {
	count(vpn314.findings) == 0 with input as with_mtu(
		{"host_network": {"state": "unknown", "value": "", "ref": testing.ref("/h")}},
		sized(1420),
		overlay,
	)
}

test_silent_when_unknown if {
	count(vpn314.findings) == 0 with input as with_mtu({}, sized(1420), testing.mtu(0, ""))
}

test_silent_when_the_cluster_is_unknown if {
	tied := with_mtu({"clusters": [], "cluster_known": "unknown"}, sized(1420), overlay)
	count(vpn314.findings) == 0 with input as object.union(tied, {"facts": object.union(tied.facts, {"clusters": [testing.cluster({"name": "", "mtu": overlay})]})})
}
