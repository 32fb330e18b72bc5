# METADATA
# title: forwarding is set after the VPN has started
# description: |
#   The containers of a pod share one network namespace, so any of them may set
#   `net.ipv4.ip_forward`. A `postStart` hook runs beside its container's process and a container
#   further down the list starts after it: for a while the VPN is up with what the node handed to the
#   sandbox. Where that is 0, clients that come back at once, as they do after every restart, time out.
#   When the hook fails, or the other container crashes, it stays that way and nothing says so. Some
#   servers look at the setting once, when they start, and do without the rules that they would have
#   made.
#
#   An init container comes before all of them, and the pod's own sysctls before those.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/
#     description: "Kubernetes: there is no guarantee that postStart runs before the entrypoint"
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/init-containers/
#     description: "Kubernetes: init containers"
# custom:
#   id: VPN107
#   name: forwarding-set-too-late
#   severities: [warning]
#   family: forwarding
#   claims:
#     - F5: "until it has run, and for good when it fails, net.ipv4.ip_forward is as the node handed it to the sandbox"
#   fires: |
#     A gateway whose only effective writer of the forwarding sysctl is a `postStart` hook of the VPN
#     container or a container that starts after it.
#   silent: |
#     - an earlier writer, or anything else that makes it certain, or may do so
#     - the late writer may not write it anyway: VPN102 speaks
#     - the pod is no gateway, or its data plane is in user space
#   remedy: "Write it in a privileged init container, which ends before the VPN container starts."
#   verify: [forwarding]
#   needs: ["facts.pods.role=gateway"]
#   since: "0.1"
#   replaces: [VPN101]
package vpnlint.rules.vpn107

import data.vpnlint.lib.pods

findings contains finding if {
	some pod in pods.forwarders4
	pod.forwarding.ipv4.state == "absent"
	late := [e | some e in pod.forwarding.ipv4.evidence; too_late(e)]
	count(late) > 0
	first := late[0]
	finding := {
		"ref": first.ref,
		"pod": pod.id,
		"message": sprintf(
			"only \"%s\" in %s turns IPv4 forwarding on, and it runs after the VPN has started: until it has run, and for good when it fails, net.ipv4.ip_forward is %s",
			[first.says, place(first), pods.left(pod)],
		),
		"containers": (pods.data_plane(pod) | {first.container}),
		"verify": pods.gateway_checks(pod),
	}
}

place(evidence) := sprintf("the postStart hook of container %s", [evidence.container]) if evidence.how == "hook"

place(evidence) := sprintf("container %s", [evidence.container]) if evidence.how != "hook"

too_late(evidence) if {
	evidence.how in {"script", "hook"}
	evidence.value == "1"
	evidence.effective == "present"
	evidence.when == "after"
}
