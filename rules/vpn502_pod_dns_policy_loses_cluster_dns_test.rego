package vpnlint.rules.vpn502_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn502

with_pod(given) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar", "tunnels": [testing.tunnel({})], "needs": [testing.need("name")],
		"cluster_resolver": {"state": "absent", "why": "dnsPolicy: Default", "ref": testing.ref("/spec/template/spec/dnsPolicy")},
	},
	given,
))])

test_fires_at_the_policy if {
	found := vpn502.findings with input as with_pod({})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec/dnsPolicy")
	contains(f.message, "dnsPolicy: Default keeps the cluster's resolver away from the pod: container app cannot resolve")
}

test_fires_for_a_gateway_on_the_host_network if {
	resolver := {"why": "hostNetwork without dnsPolicy: ClusterFirstWithHostNet"}
	found := vpn502.findings with input as with_pod({
		"role": "gateway", "host_network": {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")},
		"cluster_resolver": object.union(testing.switch("absent"), resolver),
	})
	some f in found
	startswith(f.message, "hostNetwork without")
	endswith(f.message, "the look-up goes to the node's name servers, and nothing in the manifests says that these know the cluster's names")
}

test_says_which_policy_the_host_network_needs if {
	some f in vpn502.findings with input as with_pod({
		"host_network": {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")},
		"dns_policy": {"state": "present", "value": "Default", "ref": testing.ref("/dnsPolicy")},
	})
	endswith(f.message, "; on the host network only ClusterFirstWithHostNet asks the cluster's, ClusterFirst does not")
}

test_says_whom_a_pod_without_a_policy_asks if {
	some f in vpn502.findings with input as with_pod({
		"dns_policy": {"state": "present", "value": "None", "ref": testing.ref("/dnsPolicy")},
		"cluster_resolver": object.union(testing.switch("absent"), {"why": "dnsPolicy: None with the name server 1.1.1.1"}),
	})
	endswith(f.message, "because the look-up goes to a name server outside the cluster")
}

test_says_which_resolver_is_asked_first if {
	some f in vpn502.findings with input as with_pod({
		"dns_policy": {"state": "present", "value": "None", "ref": testing.ref("/dnsPolicy")},
		"cluster_resolver": object.union(testing.switch("absent"), {"why": "dnsPolicy: None with the name servers 1.1.1.1, 10.96.0.10"}),
		"first_resolver": "1.1.1.1",
	})
	startswith(f.message, "dnsPolicy: None with the name servers 1.1.1.1, 10.96.0.10 puts 1.1.1.1 before the cluster's resolver: ")
	endswith(f.message, "because the look-up goes to 1.1.1.1 first, which does not know these names, and its answer is taken")
}

test_fires_for_a_mesh if {
	count(vpn502.findings) == 1 with input as with_pod({"role": "mesh"})
}

test_silent_with_the_cluster_resolver if {
	count(vpn502.findings) == 0 with input as with_pod({"cluster_resolver": testing.switch("present")})
}

test_silent_without_cluster_names if {
	count(vpn502.findings) == 0 with input as with_pod({"needs": [testing.need("service"), testing.need("replies")]})
}

test_silent_without_a_vpn if {
	count(vpn502.findings) == 0 with input as with_pod({"role": "none", "tunnels": []})
}

test_silent_when_unknown if {
	count(vpn502.findings) == 0 with input as with_pod({"cluster_resolver": testing.switch("unknown")})
}
