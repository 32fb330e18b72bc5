package vpnlint.rules.vpn408_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn408

captured := testing.capture({"services": ["10.96.0.0/12"], "pods": ["10.244.0.0/16"], "ranges": [
	testing.range("service", "10.96.0.0/12"),
	testing.range("pod", "10.244.0.0/16"),
]})

with_list(entries, capture, given) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar",
		"tunnels": [testing.tunnel({
			"bypass": testing.bypass({"state": "present", "entries": testing.prefixes(entries)}),
			"captures": [capture],
		})],
	},
	given,
))])

needing := {"needs": [testing.need("service")]}

test_fires_for_a_distributions_default if {
	found := vpn408.findings with input as with_list(["10.42.0.0/16", "10.43.0.0/16"], captured, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/bypass")
	contains(f.message, "10.42.0.0/16 is k3s' default pod range; 10.43.0.0/16 is k3s' default service range; 10.96.0.0/12 and 10.244.0.0/16 of cluster prod stay captured")
}

test_fires_for_another_clusters_range if {
	other := {"name": "lab", "ranges": [testing.range("pod", "10.200.0.0/16")]}
	tree := with_list(["10.200.0.0/16"], captured, {})
	found := vpn408.findings with input as object.union(tree, {"facts": object.union(tree.facts, {"clusters": [other]})})
	some f in found
	contains(f.message, "10.200.0.0/16 is the pod range of cluster lab")
}

test_fires_for_a_part_of_the_range if {
	left := object.union(captured, {"services": ["10.97.0.0/16"], "pods": []})
	found := vpn408.findings with input as with_list(["10.244.0.0/16", "10.96.0.0/16"], left, needing)
	some f in found
	contains(f.message, "10.96.0.0/16 is only a part of the service range 10.96.0.0/12; 10.97.0.0/16 of cluster prod stays captured, and packets for it enter the tunnel")
}

test_silent_for_a_part_that_is_enough if {
	left := object.union(captured, {"services": ["10.97.0.0/16"], "pods": []})
	count(vpn408.findings) == 0 with input as with_list(["10.96.0.0/16"], left, {})
}

test_silent_for_a_home_network if {
	count(vpn408.findings) == 0 with input as with_list(["192.168.40.0/24"], captured, needing)
}

test_silent_when_the_list_covers_the_cluster if {
	free := object.union(captured, {"services": [], "pods": []})
	count(vpn408.findings) == 0 with input as with_list(["10.244.0.0/16", "10.96.0.0/12", "10.42.0.0/16"], free, needing)
}

test_silent_when_one_of_two_own_ranges_is_listed if {
	left := object.union(captured, {"pods": []})
	count(vpn408.findings) == 0 with input as with_list(["10.244.0.0/16"], left, needing)
}

test_silent_when_unknown if {
	count(vpn408.findings) == 0 with input as with_list(["10.42.0.0/16"], object.union(captured, {"known": false}), needing)
}

test_fires_for_the_defaults_of_microk8s_kops_and_eks if {
	microk8s := vpn408.findings with input as with_list(["10.1.0.0/16", "10.152.183.0/24"], captured, {})
	some a in microk8s
	contains(a.message, "10.1.0.0/16 is MicroK8s' default pod range; 10.152.183.0/24 is MicroK8s' default service range")
	kops := vpn408.findings with input as with_list(["100.96.0.0/11", "100.64.0.0/13"], captured, {})
	some b in kops
	contains(b.message, "100.64.0.0/13 is kops' default service range; 100.96.0.0/11 is kops' default pod range")
	eks := vpn408.findings with input as with_list(["172.20.0.0/16"], captured, {})
	some c in eks
	contains(c.message, "172.20.0.0/16 is one of the two service ranges from which EKS chooses")
}

# 10.1.0.0/16 alone is as likely a home network.
test_silent_for_half_of_microk8s if {
	count(vpn408.findings) == 0 with input as with_list(["10.1.0.0/16"], captured, {})
}
