package vpnlint.rules.vpn109_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn109

server(given) := testing.tunnel(object.union(
	{
		"side": "server", "kind": "openvpn", "family_title": "OpenVPN", "pool": testing.prefixes(["10.8.0.0/24"]),
		"config": testing.ref("/data/openvpn.conf"), "masquerade": {
			"state": "absent", "ref": testing.ref("/data/ovpn_env.sh"),
			"why": "OVPN_DEFROUTE=0 without OVPN_NAT=1",
		},
	},
	given,
))

gateway(tunnel) := testing.pods([testing.pod({"tunnels": [server(tunnel)]})])

test_fires_without_masquerade if {
	found := vpn109.findings with input as gateway({})
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/data/ovpn_env.sh")
	contains(f.message, "pool 10.8.0.0/24 (OVPN_DEFROUTE=0 without OVPN_NAT=1)")
}

test_fires_as_warning_for_an_image_that_is_not_known if {
	some f in vpn109.findings with input as gateway({"image_known": false})
	f.severity == "warning"
}

test_fires_as_warning_without_its_configuration if {
	some f in vpn109.findings with input as gateway({"config": testing.nowhere})
	f.severity == "warning"
}

test_fires_for_carrier_space if {
	count(vpn109.findings) == 1 with input as gateway({"pool": testing.prefixes(["100.64.0.0/11"])})
}

test_silent_when_masqueraded if {
	count(vpn109.findings) == 0 with input as gateway({"masquerade": testing.switch("present")})
}

test_silent_when_routed if {
	count(vpn109.findings) == 0 with input as gateway({"pool_routed": testing.switch("present")})
}

test_silent_for_a_public_pool if {
	count(vpn109.findings) == 0 with input as gateway({"pool": testing.prefixes(["198.51.100.0/24"])})
}

test_silent_for_ipv6_only if {
	count(vpn109.findings) == 0 with input as gateway({"pool": testing.prefixes(["fd00:8::/64"])})
}

test_silent_in_user_space if {
	count(vpn109.findings) == 0 with input as gateway({"user_space": "present"})
}

test_silent_on_the_host_network if {
	count(vpn109.findings) == 0 with input as testing.pods([testing.pod({
		"host_network": {"state": "present", "value": "true", "ref": testing.nowhere},
		"tunnels": [server({})],
	})])
}

test_silent_for_a_client if {
	count(vpn109.findings) == 0 with input as testing.pods([testing.pod({"role": "sidecar", "tunnels": [server({"side": "client"})]})])
}

test_silent_when_unknown if {
	count(vpn109.findings) == 0 with input as gateway({"masquerade": testing.switch("unknown")})
}

test_silent_when_the_route_is_unknown if {
	count(vpn109.findings) == 0 with input as gateway({"pool_routed": testing.switch("unknown")})
}

to_pod(pod, tunnel, cluster) := {
	"facts": testing.facts({
		"clusters": [testing.cluster(object.union({"cni": "calico", "source_check": object.union(testing.switch("present"), {"ref": testing.ref("/calico")}), "plan": testing.planned({"client_pools": [object.union(testing.planned_pool("10.8.0.0/24", []), {"routed": testing.switch("present")})]})}, cluster))],
		"pods": [testing.pod(object.union({"clusters": ["prod"], "tunnels": [server(object.union({"pool_routed": testing.switch("present")}, tunnel))]}, pod))],
	}),
	"plan": testing.plan([]),
}

test_fires_for_the_source_check_of_a_routed_pool if {
	found := vpn109.findings with input as to_pod({}, {}, {})
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.ref == testing.ref("/spec/template/metadata")
	f.clusters == {"prod"}
	contains(f.message, "the plan routes the clients' pool 10.8.0.0/24 to this pod")
	{r.ref | some r in f.related} == {testing.ref("/switch"), testing.ref("/calico")}
}

test_silent_with_allowed_source_prefixes if {
	count(vpn109.findings) == 0 with input as to_pod(annotated, {}, {})
}

annotated := {"annotations": {"cni.projectcalico.org/allowedSourcePrefixes": "[\"10.8.0.0/24\"]"}}

test_silent_with_the_annotation_that_felix_heeds if {
	count(vpn109.findings) == 0 with input as to_pod(annotated, {}, {"spoofing_allowed": testing.switch("present")})
}

test_fires_for_an_annotation_that_felix_refuses if {
	felix := {"state": "absent", "ref": testing.ref("/felix"), "why": "workloadSourceSpoofing: Disabled"}
	found := vpn109.findings with input as to_pod(annotated, {}, {"spoofing_allowed": felix})
	count(found) == 1
	some f in found
	contains(f.message, "asks for (workloadSourceSpoofing: Disabled): Felix refuses the pod's endpoint")
	testing.ref("/felix") in {r.ref | some r in f.related}
}

test_fires_for_the_source_check_of_cilium if {
	found := vpn109.findings with input as to_pod({}, {}, {"cni": "cilium"})
	count(found) == 1
	some f in found
	f.severity == "warning"
	contains(f.message, "unless enable-source-ip-verification is false there")
}

test_silent_without_cilium_s_source_check if {
	every state in ["absent", "unknown"] {
		count(vpn109.findings) == 0 with input as to_pod({}, {}, {"cni": "cilium", "source_check": testing.switch(state)})
	}
}

test_silent_for_another_cni if {
	count(vpn109.findings) == 0 with input as to_pod({}, {}, {"cni": "flannel", "source_check": testing.switch("absent")})
}

test_silent_for_the_source_check_when_unknown if {
	count(vpn109.findings) == 0 with input as to_pod({"cluster_known": "unknown"}, {}, {})
	count(vpn109.findings) == 0 with input as to_pod({}, {"masquerade": testing.switch("unknown")}, {})
}

test_says_that_the_cni_drops_the_requests if {
	some f in vpn109.findings with input as to_pod({}, {"pool_routed": testing.switch("absent")}, {"plan": testing.planned({})})
	endswith(f.message, "requests of clients leave it with pool addresses, and Calico drops them at the node, because they are not the pod's own")
	testing.ref("/calico") in {r.ref | some r in f.related}
}
