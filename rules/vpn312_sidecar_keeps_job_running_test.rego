package vpnlint.rules.vpn312_test

import data.vpnlint.lib.testing
import data.vpnlint.rules.vpn312

with_job(given, container) := testing.pods([testing.pod(object.union(
	{
		"role": "sidecar", "runs_to_completion": true, "workload": "cronjob/nightly",
		"object": {"apiVersion": "batch/v1", "kind": "CronJob", "namespace": "jobs", "name": "nightly"},
		"containers": [testing.container(container), testing.application("app")],
	},
	given,
))])

test_fires_for_an_ordinary_container if {
	found := vpn312.findings with input as with_job({}, {})
	count(found) == 1
	some f in found
	f.ref == testing.ref("/spec/template/spec/containers/0")
	f.containers == {"vpn"}
}

test_fires_for_a_container_after_the_work if {
	count(vpn312.findings) == 1 with input as with_job({}, {"order": 2})
}

test_fires_naming_the_work_and_the_job if {
	found := vpn312.findings with input as with_job({}, {})
	some f in found
	contains(f.message, "when container app is done")
	contains(f.message, "CronJob nightly never completes")
}

test_silent_for_a_native_sidecar if {
	count(vpn312.findings) == 0 with input as with_job({}, {"stage": "sidecar"})
}

test_silent_for_a_deployment if {
	count(vpn312.findings) == 0 with input as with_job({"runs_to_completion": false}, {})
}

test_silent_when_a_command_may_end_it if {
	count(vpn312.findings) == 0 with input as with_job({}, {"own_command": true})
}

test_silent_with_shared_processes if {
	count(vpn312.findings) == 0 with input as with_job({"shared_processes": {"state": "present", "value": "true", "ref": testing.ref("/s")}}, {})
}

test_silent_when_unknown if {
	count(vpn312.findings) == 0 with input as with_job({"shared_processes": {"state": "unknown", "value": "", "ref": testing.ref("/s")}}, {})
}

test_silent_for_client_and_application_in_one if {
	count(vpn312.findings) == 0 with input as with_job({}, {"combined": true})
}

test_fires_for_a_helm_test if {
	found := vpn312.findings with input as with_job({"workload": "pod/check", "object": {"kind": "Pod", "name": "check", "helm": "test"}}, {})
	some f in found
	contains(f.message, "Pod check never completes; helm test waits for it")
}

test_fires_for_a_hook if {
	found := vpn312.findings with input as with_job({"object": {"kind": "Job", "name": "migrate", "helm": "hook"}}, {})
	some f in found
	contains(f.message, "Job migrate never completes; helm waits for this hook")
}
