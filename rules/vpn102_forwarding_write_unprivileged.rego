# METADATA
# title: a script writes the forwarding sysctl but is not allowed to
# description: |
#   `/proc/sys` is mounted read-only in a container that is not privileged: `NET_ADMIN` lets a process
#   change routes and interfaces, but not write `net.ipv4.ip_forward`. The write fails with
#   "Read-only file system". A script that stops at its first error takes the container with it: an
#   init container that fails keeps the pod from starting at all. One that goes on leaves forwarding as
#   the node handed it to the sandbox. Where that is 0, the tunnel comes up and forwards nothing; IPv6
#   forwarding starts with 0 in a new network namespace, whatever the node has.
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
#     - F5: "the write fails, a script that stops at that takes its container with it"
#   fires: |
#     A script, hook or PostUp line of a gateway pod writes `ip_forward` or `conf/all/forwarding`, and
#     its container is neither privileged nor has `procMount: Unmasked`. So does the init container of a
#     proxy of Tailscale's operator, when a ProxyClass takes its privilege away.
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
			"container %s runs \"%s\" without the privilege to write /proc/sys, which is read-only there whatever its capabilities: %s",
			[write.container, text.set_list({w.says | some w in writes}), fate(pod, writes)],
		),
		"containers": (pods.data_plane(pod) | {write.container}),
		"verify": {"container": write.container},
	}
}

# What the failure does: to the container, and to the packets when it goes on.
fate(pod, writes) := sprintf("the write fails, and the script goes on and leaves %s", [kept(pod, writes)]) if {
	every w in writes { w.tolerant }
} else := sprintf("the write fails, a script that stops at that takes its container with it, and one that goes on leaves %s", [kept(pod, writes)])

kept(pod, writes) := sprintf("forwarding on all the same (%s)", [text.set_list(elsewhere(pod, writes))]) if {
	count(elsewhere(pod, writes)) > 0
} else := concat("; ", array.concat(
	[sprintf("net.ipv4.ip_forward %s", [pods.left(pod)]) | "ipv4" in versions(writes)],
	[sprintf(
		"net.ipv6.conf.all.forwarding at 0, as a new network namespace starts: the gateway's kernel drops the IPv6 packets that %s send to anything behind it",
		[pods.clients(pod)],
	) |
		"ipv6" in versions(writes)
	],
))

versions(writes) := {w.version | some w in writes}

# What turns it on all the same, for all that is written.
elsewhere(pod, writes) := {other.says |
	every w in writes { count(guarantees(pod.forwarding[w.version])) > 0 }
	some version in versions(writes)
	some other in guarantees(pod.forwarding[version])
}

refused(pod) := [object.union(write, {"version": version}) |
	some version in ["ipv4", "ipv6"]
	family := pod.forwarding[version]
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
	count(guarantees(family)) > 0
}

guarantees(family) := [other |
	some other in family.evidence
	other.how in {"pod-sysctl", "host-network", "node", "cni", "plan"}
	other.value == "1"
	other.effective == "present"
]
