package vpnlint.rules.vpn106_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn106

host := {"state": "present", "value": "true", "ref": testing.ref("/hostNetwork")}

tuning := testing.pod({
	"id": "tuning", "role": "none", "host_network": host, "per_node": true,
	"object": {"apiVersion": "apps/v1", "kind": "DaemonSet", "namespace": "kube-system", "name": "node-tuning"},
	"forwarding": testing.forwarding([testing.evidence({"ref": testing.ref("/tuning")})]),
})

job(says) := testing.pod({
	"id": "job", "role": "none",
	"object": {"apiVersion": "batch/v1", "kind": "Job", "namespace": "vpn", "name": "enable"},
	"forwarding": testing.forwarding([testing.evidence({
		"how": "kubectl-exec", "effective": "absent", "when": "after", "says": says,
	})]),
})

test_fires_for_a_writer_on_the_nodes if {
	found := vpn106.findings with input as testing.pods([testing.pod({}), tuning])
	count(found) == 1
	some f in found
	f.severity == "warning"
	f.pod == "vpn"
	f.ref == testing.ref("/spec/template/spec")
	f.related[0].ref == testing.ref("/tuning")
	contains(f.message, "nothing but DaemonSet node-tuning sets IPv4 forwarding for container vpn")
}

test_fires_for_a_job_that_enters_the_pod if {
	some f in vpn106.findings with input as testing.pods([
		testing.pod({}),
		job("kubectl exec deploy/vpn -- sysctl -w net.ipv4.ip_forward=1"),
	])
	startswith(f.related[0].says, "this sets it until the pod restarts")
}

test_fires_for_sysctls_on_the_host_network if {
	found := vpn106.findings with input as testing.pods([testing.pod({
		"host_network": host, "sysctls": [testing.sysctl({})],
		"forwarding": object.union(testing.forwarding([]), {"ipv4": testing.family({"state": "present"})}),
	})])
	count(found) == 1
	some f in found
	f.severity == "error"
	f.ref == testing.ref("/sysctls/0")
}

test_silent_when_the_gateway_declares_it if {
	forwarding := object.union(testing.forwarding([]), {"ipv4": testing.family({"state": "present"})})
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({"forwarding": forwarding}), tuning])
}

test_silent_for_a_writer_in_its_own_pod if {
	own := object.union(tuning, {"host_network": {"state": "absent", "value": "false", "ref": testing.nowhere}})
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({}), own])
}

test_silent_in_another_cluster if {
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({"clusters": ["lab"]}), tuning])
}

test_silent_for_an_unrelated_directory if {
	elsewhere := object.union(tuning, {"unit": "apps/vpn-tuning"})
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({}), elsewhere])
}

test_fires_for_a_directory_above_or_below if {
	every unit in [".", "apps", "apps/vpn/nodes"] {
		count(vpn106.findings) == 1 with input as testing.pods([testing.pod({}), object.union(tuning, {"unit": unit})])
	}
}

in_cluster(given, unit) := {
	"facts": testing.facts({
		"clusters": [testing.cluster(given)],
		"pods": [
			testing.pod({"unit": "clusters/prod/vpn", "clusters": ["prod"]}),
			object.union(tuning, {"unit": unit, "clusters": ["prod"]}),
		],
	}),
	"plan": testing.plan([]),
}

test_fires_anywhere_in_a_cluster_of_the_plan if {
	count(vpn106.findings) == 1 with input as in_cluster({"planned": true, "unit": "."}, "infra")
}

test_fires_below_the_directory_of_a_declared_cluster if {
	count(vpn106.findings) == 1 with input as in_cluster({"unit": "clusters/prod"}, "clusters/prod/infra")
}

test_silent_elsewhere_than_a_declared_cluster if {
	count(vpn106.findings) == 0 with input as in_cluster({"unit": "clusters/prod"}, "charts/tuning")
	count(vpn106.findings) == 0 with input as in_cluster({"unit": "."}, "charts/tuning")
}

test_silent_when_the_cluster_is_not_known if {
	elsewhere := object.union(tuning, {"unit": "apps", "cluster_known": "unknown"})
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({}), elsewhere])
}

test_silent_when_the_job_enters_another_pod if {
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({}), job("kubectl exec deploy/db -- sysctl -w net.ipv4.ip_forward=1")])
}

test_silent_without_any_writer if {
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({})])
}

test_silent_for_other_sysctls_on_the_host_network if {
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({
		"role": "client", "host_network": host, "sysctls": [testing.sysctl({"name": "kernel.shm_rmid_forced"})],
	})])
}

test_silent_when_unknown if {
	forwarding := object.union(testing.forwarding([]), {"ipv4": testing.family({"state": "unknown"})})
	count(vpn106.findings) == 0 with input as testing.pods([testing.pod({"forwarding": forwarding}), tuning])
}

test_says_what_the_pod_has_all_the_same if {
	some f in vpn106.findings with input as testing.pods([testing.pod({}), tuning])
	contains(f.message, "the pod has what its node had when its sandbox was made, and where that was 0, clients of container vpn")
}

test_says_what_is_left_after_a_restart if {
	some f in vpn106.findings with input as testing.pods([testing.pod({}), job("kubectl exec deploy/vpn -- sysctl -w net.ipv4.ip_forward=1")])
	contains(f.message, "after a restart net.ipv4.ip_forward is as the node handed it to the sandbox; where that is 0, clients")
}

test_says_that_the_nodes_value_does_not_reach_past_a_cni if {
	off := object.union(testing.forwarding([]), {"ipv4": testing.family({"turned_off": "present", "turned_off_by": "Calico"})})
	some f in vpn106.findings with input as testing.pods([testing.pod({"forwarding": off}), tuning])
	contains(f.message, "a new sandbox has net.ipv4.ip_forward at 0, which the cluster's CNI writes into every new pod (Calico): clients")
}
