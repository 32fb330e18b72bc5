package vpnlint.rules.vpn501_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn501

with_resolver(resolver, needs) := testing.pods([testing.pod({
	"role": "sidecar", "needs": needs,
	"tunnels": [testing.tunnel({"resolver": testing.resolver(resolver)})],
	"containers": [testing.container({}), testing.application("app")],
})])

replaced := {"rewrites": "present", "servers": ["10.2.0.1"]}

test_fires_at_the_line_that_replaces_it if {
	found := vpn501.findings with input as with_resolver(replaced, [testing.need("name")])
	count(found) == 1
	some f in found
	f.ref == testing.ref("/resolver")
	f.containers == {"app"}
	contains(f.message, "replaces the pod's resolver (DNS = 10.2.0.1)")
}

test_fires_once_for_several_names if {
	count(vpn501.findings) == 1 with input as with_resolver(replaced, [
		testing.need("name"),
		object.union(testing.need("name"), {"says": "redis"}),
	])
}

test_fires_at_the_container_when_the_image_decides if {
	found := vpn501.findings with input as with_resolver(object.union(replaced, {"ref": testing.nowhere}), [testing.need("name")])
	{f.ref.pointer | some f in found} == {"/spec/template/spec/containers/0"}
}

test_silent_without_cluster_names if {
	count(vpn501.findings) == 0 with input as with_resolver(replaced, [testing.need("service")])
}

test_silent_when_only_the_tunnel_uses_one if {
	count(vpn501.findings) == 0 with input as with_resolver(replaced, [object.union(testing.need("name"), {"container": "vpn"})])
}

test_silent_when_the_cluster_is_still_reached if {
	count(vpn501.findings) == 0 with input as with_resolver(object.union(replaced, {"reaches_cluster": "present"}), [testing.need("name")])
}

test_silent_when_the_resolver_is_kept if {
	count(vpn501.findings) == 0 with input as with_resolver({}, [testing.need("name")])
}

test_silent_when_unknown if {
	count(vpn501.findings) == 0 with input as with_resolver({"rewrites": "unknown"}, [testing.need("name")])
}

test_silent_when_reach_is_unknown if {
	count(vpn501.findings) == 0 with input as with_resolver(object.union(replaced, {"reaches_cluster": "unknown"}), [testing.need("name")])
}

test_says_the_host_of_a_url if {
	url := object.union(testing.need("name"), {"says": "http://user@ledger.billing.svc:8080/api"})
	some f in vpn501.findings with input as with_resolver({"rewrites": "present", "servers": ["1.1.1.1"]}, [url])
	endswith(f.message, "container app cannot resolve ledger.billing.svc any more, because that resolver does not know the cluster's names")
}

test_says_that_a_private_resolver_may_be_told if {
	every server in ["10.60.0.53", "fd00:60::53"] {
		found := vpn501.findings with input as with_resolver({"rewrites": "present", "servers": [server]}, [testing.need("name")])
		{f | some f in found; endswith(f.message, sprintf("unless the resolver at %s knows the cluster's names, which nothing in the manifests says", [server]))} == found
		count(found) == 1
	}
}

test_says_which_resolver_is_asked_first if {
	some f in vpn501.findings with input as with_resolver(
		{"rewrites": "present", "servers": ["1.1.1.1", "10.96.0.10"], "first": "1.1.1.1"},
		[testing.need("name")],
	)
	endswith(f.message, "because 1.1.1.1 is asked before the cluster's resolver and does not know these names, and its answer is taken")
}
