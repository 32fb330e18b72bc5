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
	contains(f.message, "is set by DaemonSet node-tuning")
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
