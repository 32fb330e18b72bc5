# METADATA
# title: forwarding is set in another network namespace than the gateway's
# description: |
#   `net.ipv4.ip_forward` belongs to a network namespace, and a pod has one of its own. A DaemonSet on
#   the host network that writes it sets it for the nodes; a Job that runs `kubectl exec ... sysctl -w`
#   sets it in the pod that is there at that moment. Neither lasts in the gateway's namespace: the
#   node's value reaches a pod only by inheritance, at the moment when its sandbox is made, and what
#   `kubectl exec` wrote is gone with the next restart. Whether the gateway forwards then depends on
#   which of them came first.
#
#   The other way round, a pod on the host network has no namespace of its own: Kubernetes refuses
#   `net.*` sysctls together with `hostNetwork: true`, and the pod never runs.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
#     description: "Kubernetes: sysctls of a pod"
#   - ref: https://docs.kernel.org/admin-guide/sysctl/net.html
#     description: "Linux: devconf_inherit_init_net, what a new network namespace starts with"
# custom:
#   id: VPN106
#   name: forwarding-in-wrong-namespace
#   severities: [warning, error]
#   family: forwarding
#   claims:
#     - F2: "and that does not last in this pod's network namespace"
#     - F4: "the pod has what its node had when its sandbox was made"
#   fires: |
#     **Error**: a pod with a VPN in it has `net.*` sysctls and `hostNetwork: true`. **Warning**: nothing
#     in the gateway's own manifest turns forwarding on, and a workload of the same cluster writes it on
#     the nodes, or in the gateway's pod through `kubectl exec`. That is a cluster of the plan, or one
#     that a directory around both declares; else the workload stands in the gateway's own chart,
#     kustomization or directory, or one above or below it.
#   silent: |
#     - the gateway declares it as well, or anything else makes it certain in its namespace, the plan's
#       `podForwarding: guaranteed` among it
#     - the other workload stands elsewhere in the tree, and neither the plan nor a directory around both
#       says that they share a cluster: VPN101 speaks then
#     - the other workload is a VPN itself, or writes only in its own pod
#     - whether the gateway declares it cannot be seen
#   remedy: "Set it in the gateway's own pod: a pod sysctl, or a privileged init container of this pod."
#   verify: [forwarding, refusal]
#   needs: ["facts.pods.sysctls | facts.pods.role=gateway"]
#   since: "0.1"
#   replaces: [VPN101]
package vpnlint.rules.vpn106

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	not pod.role in {"none", "control"}
	pod.host_network.value == "true"
	some sysctl in pod.sysctls
	startswith(sysctl.name, "net.")
	finding := {
		"ref": sysctl.ref,
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"%s is a sysctl of a network namespace, and with hostNetwork the pod has none of its own: Kubernetes refuses the pod, and none of its containers starts",
			[sysctl.name],
		),
		"containers": {c.name | some c in pod.containers},
		"related": [{"ref": pod.host_network.ref, "says": "the pod is on the host network"}],
		"verify": {"reason": "SysctlForbidden"},
	}
}

findings contains finding if {
	some pod in pods.forwarders4
	pod.forwarding.ipv4.state == "absent"
	not sets_itself(pod)
	found := writers(pod)
	count(found) > 0
	finding := {
		"ref": pod.ref,
		"pod": pod.id,
		"severity": "warning",
		"message": sprintf(
			"nothing but %s sets IPv4 forwarding for %s, and that does not last in this pod's network namespace: %s",
			[text.set_list({w.name | some w in found}), text.containers(pods.data_plane(pod)), fate(pod, found)],
		),
		"containers": pods.data_plane(pod),
		"related": [{"ref": w.ref, "says": w.says} | some w in found],
		"verify": pods.gateway_checks(pod),
	}
}

# What the pod has all the same. A value of the node reaches it when its sandbox
# is made, if no CNI writes over it; one written with kubectl exec until it restarts.
fate(pod, found) := sprintf(
	"the pod has what its node had when its sandbox was made, and where that was 0, %s",
	[pods.dropped(pod)],
) if {
	pod.forwarding.ipv4.turned_off != "present"
	some writer in found
	writer.how != "kubectl-exec"
} else := sprintf("a new sandbox has net.ipv4.ip_forward %s", [pods.left(pod)]) if {
	some writer in found
	writer.how != "kubectl-exec"
} else := sprintf("after a restart net.ipv4.ip_forward is %s", [pods.left(pod)])

# Another rule speaks of what the pod itself tries.
sets_itself(pod) if {
	some evidence in pod.forwarding.ipv4.evidence
	not evidence.how in {"kubectl-exec", "container-sysctl"}
	evidence.value == "1"
}

writers(pod) := [writer |
	some [other, evidence] in attempts
	other.id != pod.id
	beside(other, pod)
	some how in reaches(other, evidence, pod)
	writer := {
		"name": sprintf("%s %s", [other.object.kind, other.object.name]),
		"how": evidence.how,
		"ref": evidence.ref,
		"says": sprintf("%s: %s", [how, evidence.says]),
	}
]

# What pods without a VPN try, gathered once for all gateways.
attempts := [[other, evidence] |
	some other in input.facts.pods
	other.role in {"none", "control"}
	some evidence in other.forwarding.ipv4.evidence
	evidence.value == "1"
]

# The other one certainly works on the nodes that the gateway runs on. Things
# that no cluster is named for need not have anything to do with each other,
# unless they stand together.
beside(other, pod) if {
	other.unit == pod.unit
	other.clusters == pod.clusters
}

beside(other, pod) if {
	pods.together(other, pod)
	some c in pods.clusters(pod)
	holds(c, pod)
	holds(c, other)
}

beside(other, pod) if {
	pods.together(other, pod)
	some [outer, inner] in [[other.unit, pod.unit], [pod.unit, other.unit]]
	encloses(outer, inner)
}

# The plan says what belongs to a cluster. One that the tree declares takes in
# whatever has no nearer one, charts that nobody installs there among it: only
# what stands below its own directory is certain.
holds(cluster, _) if cluster.planned

holds(cluster, pod) if {
	not cluster.planned
	cluster.unit != "."
	inside(cluster.unit, pod.unit)
}

inside(outer, inner) if outer == inner

inside(outer, inner) if encloses(outer, inner)

encloses(".", _)

encloses(outer, inner) if startswith(inner, sprintf("%s/", [outer]))

reaches(other, evidence, pod) := {"this sets it on the nodes"} if {
	other.host_network.value == "true"
	evidence.how in {"script", "hook"}
	evidence.effective == "present"
} else := {"this sets it until the pod restarts"} if {
	evidence.how == "kubectl-exec"
	names(evidence, pod)
} else := set()

# What kubectl exec is told to enter: a workload, one of its pods, or what a
# script finds out.
names(evidence, pod) if split(evidence.target, "/")[count(split(evidence.target, "/")) - 1] == pod.object.name

names(evidence, pod) if startswith(split(evidence.target, "/")[count(split(evidence.target, "/")) - 1], sprintf("%s-", [pod.object.name]))

names(evidence, pod) if {
	evidence.target == ""
	contains(evidence.says, pod.object.name)
}
