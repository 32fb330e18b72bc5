package vpnlint.rules.vpn101_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn101

with_ipv4(family) := testing.pods([testing.pod({"forwarding": object.union(
	testing.forwarding([]),
	{"ipv4": testing.family(family)},
)})])

test_fires_when_nothing_sets_it if {
	found := vpn101.findings with input as with_ipv4({})
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.ref == testing.ref("/spec/template/spec")
	f.containers == {"vpn"}
	contains(f.message, "what the node hands to a new sandbox")
}

test_fires_as_error_where_the_cni_turns_it_off if {
	found := vpn101.findings with input as with_ipv4({
		"turned_off": "present", "turned_off_by": "Calico",
		"turned_off_ref": testing.ref("/calico"),
	})
	some f in found
	f.severity == "error"
	contains(f.message, "writes 0 into every new pod (Calico)")
	f.related[0].ref == testing.ref("/calico")
}

test_pings_the_gateway_by_ipv4_first if {
	found := vpn101.findings with input as testing.pods([testing.pod({"tunnels": [testing.tunnel({
		"side": "server",
		"addresses": [],
		"pool": testing.prefixes(["fd48:4c4:7aa9::/64", "10.44.0.0/24"]),
	})]})])
	some f in found
	f.verify.endpoint == "10.44.0.0/24"
}

test_names_the_field_of_the_operator if {
	found := vpn101.findings with input as with_ipv4({
		"field": "enableIpForwardOnPodInit: true",
		"field_ref": testing.ref("/spec/enableIpForwardOnPodInit"),
	})
	some f in found
	f.ref == testing.ref("/spec/enableIpForwardOnPodInit")
	contains(f.message, "in the pod that the operator makes, as enableIpForwardOnPodInit: true would: net.ipv4.ip_forward")
}

test_fires_when_the_image_may_not_write_it if {
	found := vpn101.findings with input as with_ipv4({"evidence": [testing.evidence({
		"how": "image", "effective": "absent", "ref": testing.ref("/image"),
		"says": "the image's start script",
	})]})
	some f in found
	f.related == [{
		"ref": testing.ref("/image"),
		"says": "the image's start script: without effect, for the container may not write it",
	}]
}

test_names_sysctls_of_a_container if {
	found := vpn101.findings with input as with_ipv4({"evidence": [testing.evidence({
		"how": "container-sysctl", "effective": "absent", "ref": testing.ref("/sysctls/0"),
		"says": "net.ipv4.ip_forward=1",
	})]})
	some f in found
	f.related == [{
		"ref": testing.ref("/sysctls/0"),
		"says": "net.ipv4.ip_forward=1: without effect, for a container's securityContext has no sysctls; a pod's has",
	}]
}

test_fires_when_no_container_is_recognised if {
	found := vpn101.findings with input as testing.pods([testing.pod({"containers": []})])
	count(found) == 1
	some f in found
	contains(f.message, "where that is 0, clients reach the gateway itself")
}

test_silent_when_set if {
	count(vpn101.findings) == 0 with input as with_ipv4({"state": "present"})
}

test_silent_in_user_space if {
	count(vpn101.findings) == 0 with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"needed": "absent"},
	)})])
}

test_silent_for_a_client if {
	count(vpn101.findings) == 0 with input as testing.pods([testing.pod({"role": "client"})])
}

test_silent_when_unknown if {
	count(vpn101.findings) == 0 with input as with_ipv4({"state": "unknown"})
}

test_silent_when_need_unknown if {
	count(vpn101.findings) == 0 with input as testing.pods([testing.pod({"forwarding": object.union(
		testing.forwarding([]),
		{"needed": "unknown"},
	)})])
}

test_says_who_drops_what if {
	some f in vpn101.findings with input as with_ipv4({})
	endswith(f.message, "where that is 0, clients of container vpn reach the gateway itself, and its kernel drops every packet for anything behind it")
}

test_says_that_kubectl_exec_does_not_last if {
	some f in vpn101.findings with input as with_ipv4({"evidence": [testing.evidence({
		"how": "kubectl-exec", "effective": "absent", "when": "after", "says": "kubectl exec vpn -- sysctl -w net.ipv4.ip_forward=1",
	})]})
	{r.says | some r in f.related} == {"kubectl exec vpn -- sysctl -w net.ipv4.ip_forward=1: it lasts until the pod restarts"}
}
