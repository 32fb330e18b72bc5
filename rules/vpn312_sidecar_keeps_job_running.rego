# METADATA
# title: an ordinary tunnel container keeps a Job's pod running
# description: |
#   A Job is done when all containers of its pod have ended. A VPN client never ends, so the Job's pod
#   goes on after the work is finished: a CronJob with `concurrencyPolicy: Forbid` never runs again,
#   with `Allow` the pods and their VPN sessions pile up. A native sidecar (an init container with
#   `restartPolicy: Always`) is ended by the kubelet when the other containers are done.
#
#   Helm waits for the Jobs and Pods among a chart's hooks and tests: `helm install` and `helm test` sit
#   out their `--timeout` and fail, although the work was done.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#jobs-with-sidecar-containers
#     description: "Kubernetes: Jobs with sidecar containers"
# custom:
#   id: VPN312
#   name: sidecar-keeps-job-running
#   severities: [warning]
#   family: sidecar
#   claims:
#     - C8: "when container fetch is done the pod goes on, and CronJob nightly-prices never completes"
#   fires: |
#     A Job or CronJob whose pod has a VPN client as an ordinary container beside the containers that
#     do the work; a Pod that is a hook or test of a chart, likewise.
#   silent: |
#     - the client is a native sidecar
#     - the manifest runs the client by a command of its own, which may end it
#     - the containers share their processes, so that the work may end the client
#     - client and application are one image
#   remedy: "Run the VPN as a native sidecar: an init container with restartPolicy: Always ends with the Job."
#   verify: [job-state]
#   needs: ["facts.pods.role=sidecar", facts.pods.runs_to_completion]
#   since: "0.1"
package vpnlint.rules.vpn312

import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.runs_to_completion
	pod.role == "sidecar"
	pod.shared_processes.state != "unknown"
	pod.shared_processes.value != "true"
	some c in pod.containers
	c.data_plane
	c.stage == "main"
	not c.combined
	not c.own_command
	workers := {w.name | some w in pod.containers; w.stage == "main"; not w.data_plane}
	count(workers) > 0
	finding := {
		"ref": c.ref,
		"pod": pod.id,
		"message": sprintf(
			"container %s (%s) never ends: when %s is done the pod goes on, and %s %s never completes%s",
			[c.name, c.family_title, text.containers(workers), pod.object.kind, pod.object.name, waits(pod)],
		),
		"containers": {c.name},
	}
}

# What Helm makes of it.
waits(pod) := "; helm test waits for it until its time is over and fails" if pod.object.helm == "test"

waits(pod) := "; helm waits for this hook until its time is over and fails the release" if pod.object.helm == "hook"

waits(pod) := "" if not pod.object.helm in {"test", "hook"}
