package vpnlint.rules.vpn313_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn313

four_only := {"kind": "wireguard", "ipv6": testing.switch("absent"), "routes": testing.routes({"why": "AllowedIPs = 0.0.0.0/0"})}

both := [testing.range("pod", "10.244.0.0/16"), testing.range("pod", "fd00:10:244::/56")]

with_pod(pod, tunnel, ranges) := {
	"facts": testing.facts({
		"clusters": [testing.cluster({"ranges": ranges})],
		"pods": [testing.pod(object.union(
			{
				"role": "sidecar", "clusters": ["prod"], "containers": [testing.container({}), testing.application("app")],
				"tunnels": [testing.tunnel(object.union(four_only, tunnel))],
			},
			pod,
		))],
	}),
	"plan": testing.plan([]),
}

test_fires_in_a_dual_stack_cluster if {
	found := vpn313.findings with input as with_pod({}, {}, both)
	count(found) == 1
	some f in found
	f.ref == testing.ref("/routes")
	f.containers == {"vpn", "app"}
	f.clusters == {"prod"}
	contains(f.message, "takes IPv4 only (AllowedIPs = 0.0.0.0/0)")
	contains(f.message, "fd00:10:244::/56")
	{r.ref | some r in f.related} == {testing.ref("/pod")}
}

test_fires_for_a_client_alone if {
	count(vpn313.findings) == 1 with input as with_pod({"role": "client"}, {}, both)
}

test_fires_beside_a_kill_switch_for_ipv4 if {
	count(vpn313.findings) == 1 with input as with_pod({}, {"kill_switch": testing.switch("present")}, both)
}

test_fires_in_the_cluster_without_a_name if {
	found := vpn313.findings with input as object.union(
		with_pod({"clusters": []}, {}, both),
		{"facts": object.union(with_pod({"clusters": []}, {}, both).facts, {"clusters": [testing.cluster({"name": "", "ranges": both})]})},
	)
	{f.clusters | some f in found} == {set()}
}

test_silent_with_one_family if {
	count(vpn313.findings) == 0 with input as with_pod({}, {}, [testing.range("pod", "10.244.0.0/16")])
}

test_silent_where_only_the_nodes_have_ipv6 if {
	count(vpn313.findings) == 0 with input as with_pod({}, {}, [testing.range("pod", "10.244.0.0/16"), testing.range("node", "fd00:1::/64")])
}

test_silent_when_the_tunnel_takes_ipv6 if {
	count(vpn313.findings) == 0 with input as with_pod({}, {"ipv6": testing.switch("present")}, both)
}

test_silent_with_ipv6_off if {
	count(vpn313.findings) == 0 with input as with_pod({"ipv6_off": testing.sysctls("present", [testing.evidence({})])}, {}, both)
}

test_silent_behind_a_policy if {
	count(vpn313.findings) == 0 with input as with_pod({"egress": testing.egress("present")}, {}, both)
}

test_silent_for_a_split_tunnel if {
	some_routes := testing.routes({"default": false, "prefixes": testing.prefixes(["10.60.0.0/16"])})
	count(vpn313.findings) == 0 with input as with_pod({}, {"routes": some_routes}, both)
}

test_silent_on_the_host_network if {
	count(vpn313.findings) == 0 with input as with_pod(
		{"host_network": {"state": "present", "value": "true", "ref": testing.ref("/h")}},
		{},
		both,
	)
}

test_silent_when_unknown if {
	count(vpn313.findings) == 0 with input as with_pod({}, {"ipv6": testing.switch("unknown")}, both)
}

test_silent_when_unknown_whether_ipv6_is_off if {
	count(vpn313.findings) == 0 with input as with_pod({"ipv6_off": testing.sysctls("unknown", [])}, {}, both)
}

test_silent_when_the_cluster_is_unknown if {
	tied := with_pod({"clusters": [], "cluster_known": "unknown"}, {}, both)
	count(vpn313.findings) == 0 with input as object.union(tied, {"facts": object.union(tied.facts, {"clusters": [testing.cluster({"name": "", "ranges": both})]})})
}
