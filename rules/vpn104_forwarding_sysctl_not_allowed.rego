# METADATA
# title: a VPN pod sets a sysctl that its kubelet does not allow
# description: |
#   A pod may set sysctls of its own network namespace in `securityContext.sysctls`, and needs no
#   privileged container for it. Only a short list of them is *safe*; `net.ipv4.ip_forward`,
#   `conf.*.forwarding`, `src_valid_mark` and `rp_filter` are not on it. The kubelet of the pod's node
#   must allow these by name or by a pattern with `*`. The API server does not know that list: the pod
#   is admitted and scheduled, and then the kubelet refuses it. It fails with the reason
#   `SysctlForbidden`, and a Deployment keeps making pods that fail.
#
#   Where no kubelet configuration is in view, this is a note: the nodes decide, and the tree should
#   say that they do. The places that vpnlint reads are KubeletConfiguration, kubeadm's
#   `kubeletExtraArgs` (also in Cluster API and in kind's patches), Talos, kops, eksctl, k3s and k3d
#   `kubelet-arg`, and Config Connector's `kubeletConfig`. Which of several configurations a node uses
#   is not known, so one that allows the sysctl is enough.
#
#   The plan may say it as well: `allowedUnsafeSysctls` of a cluster.
#
#   **Where the wire disagrees with the folklore.** Such a pod does not hang in
#   `CreateContainerConfigError`, as is sometimes said: its phase is Failed, the reason
#   `SysctlForbidden`. An init container that writes the sysctl needs no entry in any
#   list, but must be privileged. And for IPv4 forwarding the setting may be there
#   already: a new network namespace takes it over from the node (measured on Linux 6.18).
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
#     description: "Kubernetes: safe and unsafe sysctls"
#   - ref: https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
#     description: "Kubernetes: allowedUnsafeSysctls"
# custom:
#   id: VPN104
#   name: forwarding-sysctl-not-allowed
#   severities: [warning, note]
#   family: forwarding
#   claims:
#     - F6: "net.ipv4.ip_forward is an unsafe sysctl that no kubelet configuration of the cluster allows"
#   fires: |
#     A pod with a VPN in it sets an unsafe sysctl. **Warning** when kubelet configurations of its
#     cluster are in view and none allows it; **note** when none is in view.
#   silent: |
#     - a kubelet configuration of the cluster, or the plan, allows it, by name or by a pattern
#     - the sysctl is safe, in any version of Kubernetes
#     - the pod has no VPN in it
#     - the pod is on the host network: it is refused for that reason, whatever the kubelet allows
#     - the list, or which cluster the pod belongs to, cannot be made out
#   remedy: "Add the name to allowedUnsafeSysctls of the kubelets that may run this pod, or write it from a privileged init container instead."
#   verify: [sysctl-refused]
#   needs: [facts.pods.sysctls]
#   since: "0.1"
package vpnlint.rules.vpn104

import data.vpnlint.lib.places

findings contains finding if {
	some pod in input.facts.pods
	not pod.role in {"none", "control"}
	pod.host_network.value == "false"
	some sysctl in pod.sysctls
	not sysctl.safe
	some severity in severities[sysctl.allowed]
	finding := {
		"ref": sysctl.ref,
		"pod": pod.id,
		"severity": severity,
		"message": message(sysctl),
		"containers": {c.name | some c in pod.containers},
		"related": [{"ref": sysctl.kubelet_ref, "says": "the kubelet's list of allowed sysctls is here"} |
			places.written(sysctl.kubelet_ref)
		],
	}
}

severities := {"refused": {"warning"}, "unseen": {"note"}, "allowed": set(), "unknown": set()}

message(sysctl) := sprintf(
	"%s is an unsafe sysctl that no kubelet configuration of the cluster allows: the pod is scheduled, and then its kubelet refuses it with SysctlForbidden, so that none of its containers starts",
	[sysctl.name],
) if {
	sysctl.allowed == "refused"
}

message(sysctl) := sprintf(
	"%s is an unsafe sysctl, and no kubelet configuration in the tree says that nodes allow it: where they do not, the pod is scheduled and then refused with SysctlForbidden, and none of its containers starts",
	[sysctl.name],
) if {
	sysctl.allowed == "unseen"
}
