# METADATA
# title: a script writes the forwarding sysctl but is not allowed to
# description: |
#   `/proc/sys` is mounted read-only in a container that is not privileged: `NET_ADMIN` lets a process
#   change routes and interfaces, but not write `net.ipv4.ip_forward`. The write fails with
#   "Read-only file system". A script that stops at its first error takes the container with it; one
#   that goes on leaves a gateway whose tunnel comes up and which forwards nothing.
# related_resources:
#   - ref: https://github.com/containerd/containerd/blob/main/pkg/oci/spec.go
#     description: "containerd: /proc/sys is a read-only path of unprivileged containers"
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
#     description: "Kubernetes: sysctls of a pod"
# custom:
#   id: VPN102
#   name: forwarding-write-unprivileged
#   severities: [error]
#   family: forwarding
#   claims:
#     - F2: "without the privilege to write /proc/sys, which is read-only there whatever its capabilities"
#     - F5: "the write fails, and clients of container openvpn reach the gateway itself but nothing behind it"
#   fires: |
#     A script, hook or PostUp line of a gateway pod writes `ip_forward` or `conf/all/forwarding`, and
#     its container is neither privileged nor has `procMount: Unmasked`.
#   silent: |
#     - another container or hook that may write it does so
#     - the pod's sysctls, the host network, the nodes or the CNI make the write redundant *and* the
#       script tolerates its failure (`|| true`)
#     - the write is only reached under a condition of the script, such as a check of the present value
#     - the container's privilege cannot be seen
#     - the pod is no gateway, or its data plane is in user space
#   remedy: "Write it from a privileged init container, or set it as a pod sysctl that the kubelet allows; NET_ADMIN does not make /proc/sys writable."
#   verify: [forwarding]
#   needs: ["facts.pods.role=gateway"]
#   since: "0.1"
#   replaces: [VPN101]
package vpnlint.rules.vpn102

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in pods.forwarders
	some ref in {write.ref | some write in refused(pod)}
	writes := [write | some write in refused(pod); write.ref == ref]
	write := writes[0]
	finding := {
		"ref": ref,
		"pod": pod.id,
		"message": sprintf(
			"container %s runs \"%s\" without the privilege to write /proc/sys, which is read-only there whatever its capabilities: the write fails, and clients of %s reach the gateway itself but nothing behind it",
			[write.container, text.set_list({w.says | some w in writes}), text.containers(pods.data_plane(pod))],
		),
		"containers": (pods.data_plane(pod) | {write.container}),
		"verify": {"container": write.container},
	}
}

refused(pod) := [write |
	some family in [pod.forwarding.ipv4, pod.forwarding.ipv6]
	some write in family.evidence
	by_script(write)
	write.value == "1"
	write.effective == "absent"
	not write.conditional
	not writable_elsewhere(family)
	not redundant(family, write)
]

by_script(evidence) if evidence.how in {"script", "hook", "config-hook"}

# Another writer that may.
writable_elsewhere(family) if {
	some other in family.evidence
	other.how in {"script", "hook", "config-hook", "image"}
	other.value == "1"
	other.effective == "present"
}

# Nothing is lost when the write fails.
redundant(family, write) if {
	write.tolerant
	some other in family.evidence
	other.how in {"pod-sysctl", "host-network", "node", "cni", "plan"}
	other.value == "1"
	other.effective == "present"
}
