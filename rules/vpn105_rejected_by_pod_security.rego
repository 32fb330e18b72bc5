# METADATA
# title: the namespace's Pod Security level rejects the VPN pod
# description: |
#   A VPN in the kernel needs `NET_ADMIN`, often a privileged init container, the tun device from the
#   node or an unsafe sysctl. The *baseline* Pod Security Standard forbids each of these, *restricted*
#   also the default user. A namespace says with the label `pod-security.kubernetes.io/enforce` what it
#   takes. The check is made for pods, not for what makes them: the Deployment is accepted, perhaps
#   with a warning, and then no pod appears.
#
#   What a level forbids differs between versions of Kubernetes; `enforce-version` pins one, and
#   vpnlint evaluates that one with Kubernetes' own library. At *restricted* only the checks are made
#   that the tunnel runs into: capabilities, privileged, host namespaces, sysctls, procMount, hostPath
#   and the user.
#
#   Give the VPN a namespace of its own that enforces *privileged*, or use a data plane in user space,
#   which needs none of this.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#     description: "Kubernetes: Pod Security Standards"
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-admission/
#     description: "Kubernetes: Pod Security Admission"
# custom:
#   id: VPN105
#   name: rejected-by-pod-security
#   severities: [error]
#   family: forwarding
#   claims:
#     - F5: "no pod of this workload is ever made"
#     - C11: "forbids non-default capabilities"
#   fires: |
#     A pod whose containers carry a VPN violates the level that its namespace enforces, at the version
#     that the namespace pins. One finding a pod. Pods that operators make are judged as they will be, at
#     the object that asks for them: proxies of Tailscale's operator in its own namespace (at the
#     Connector, ProxyGroup, Service or Ingress, or at the ProxyClass that changes them), servers of
#     wireguard-operator, NetBird's routing peers. So are pods to which the webhook of the pod-gateway or
#     of NetBird adds a container, at the label, annotation or profile that makes it do so.
#   silent: |
#     - the namespace is not in the tree, has no enforce label or enforces *privileged*
#     - only `audit` or `warn` are set
#     - the pod carries no VPN, or meets the level
#     - the label's value, or the field in question, cannot be read
#     - an operator's namespace or the ProxyClass is not in the tree
#   remedy: "Move the pod to a namespace that enforces privileged, or use a user-space mode of the image that needs none of this."
#   verify: [admission]
#   needs: [facts.pods.rejections]
#   since: "0.1"
package vpnlint.rules.vpn105

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	count(pod.rejections) > 0
	first := pod.rejections[0]
	finding := {
		"ref": first.ref,
		"pod": pod.id,
		"message": sprintf(
			"namespace %s enforces the %s Pod Security level (%s), which forbids %s: no pod of %s is ever made, and the tunnel of %s never comes up",
			[namespace(pod), first.level, first.version, text.list([trim_prefix(r.says, "forbidden ") | some r in pod.rejections]), subject(pod), text.containers(carriers(pod))],
		),
		"containers": ({c.name | some c in pod.containers} | added(pod)),
		"related": array.concat(
			[{"ref": first.label_ref, "says": "the namespace's level is set here"}],
			array.concat([{"ref": i.ref, "says": sprintf("%s adds container %s because of this", [i.by, i.name])} | some i in pod.injected], [{"ref": r.ref, "says": r.says} | some r in array.slice(pod.rejections, 1, count(pod.rejections))]),
		),
	}
}

# Where the place is elsewhere, the workload has to be named.
subject(pod) := "this workload" if written(pod)

subject(pod) := sprintf("%s %s", [pod.object.kind, pod.object.name]) if {
	not written(pod)
	pod.maker == ""
}

subject(pod) := sprintf("%s for %s %s", [pod.maker, pod.object.kind, pod.object.name]) if pod.maker != ""

written(pod) if {
	pod.maker == ""
	count(pod.injected) == 0
}

# What admission webhooks add to the pod.
added(pod) := {i.name | some i in pod.injected}

carriers(pod) := pods.data_plane(pod) | {i.name | some i in pod.injected; i.carries}

namespace(pod) := pod.namespace if pod.namespace != ""

namespace(pod) := "default" if pod.namespace == ""
