# METADATA
# title: a tunnel runs on the host network
# description: |
#   The containers of a pod share one network namespace, so a tunnel reroutes its own pod and nothing
#   else. `hostNetwork: true` gives that up: the namespace is the node's, and the tunnel's routes,
#   rules and firewall apply to the kubelet, to every other pod of the node that leaves through it,
#   and to the node's own traffic. That scope must be meant, and said.
#
#   The right to create interfaces and change routes suits an isolated pod and does not suit a node;
#   CNIs and policy engines also treat a VPN's interfaces on the node each in its own way.
#
#   To say it, annotate the workload or its pod template with
#   `vpnlint.dev/node-scope: "<why the whole node>"`.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/#pod-networking
#     description: "Kubernetes: the containers of a pod share its network namespace"
# custom:
#   id: VPN301
#   name: sidecar-on-host-network
#   severities: [error, warning]
#   family: sidecar
#   claims:
#     - C1: "not only to this pod"
#     - C4: "so its routes and firewall rules are the node's"
#     - C11: "they apply to the kubelet and to all traffic that leaves through the node"
#   fires: |
#     **Error**: a tunnel sidecar or client has `hostNetwork: true`. **Warning**: a VPN server has, or
#     a mesh agent that runs once on each node without an application container.
#   silent: |
#     - a CNI or node-level mesh that is made for it
#     - a data plane in user space, which changes no routes
#     - the annotation `vpnlint.dev/node-scope` with a reason, on the workload or its pod template
#   remedy: "Take hostNetwork out; where the node is meant, say so in the annotation vpnlint.dev/node-scope."
#   verify: [node-routes]
#   needs: ["facts.pods.host_network.value=true", facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn301

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	reroutes(pod)
	pod.host_network.state == "present"
	pod.host_network.value == "true"
	tunnels := [t | some t in pod.tunnels; t.user_space == "absent"]
	count(tunnels) > 0
	not acknowledged(pod)
	finding := {
		"ref": pod.host_network.ref,
		"pod": pod.id,
		"severity": severity(pod, tunnels),
		"message": sprintf(
			"%s %s with hostNetwork, so its routes and firewall rules are the node's: they apply to the kubelet and to all traffic that leaves through the node, not only to this pod; nothing in the manifest says that the whole node is meant",
			[text.set_list({text.tunnel(t) | some t in tunnels}), runs(pod)],
		),
		"containers": pods.sharing(pod),
		"related": [{"ref": t.container_ref, "says": sprintf("%s runs here", [t.family_title])} | some t in tunnels],
		"verify": {"tunnel": tunnels[0].container},
	}
}

reroutes(pod) if pod.role in {"sidecar", "client", "gateway"}

# A member of a mesh whose server decides whether it routes for others: it takes
# routes of the node either way.
reroutes(pod) if {
	pod.role == "unknown"
	some t in pod.tunnels
	t.kind == "mesh"
}

acknowledged(pod) if trim_space(pod.annotations["vpnlint.dev/node-scope"]) != ""

runs(pod) := "runs on every node" if pod.per_node

runs(pod) := "runs" if not pod.per_node

severity(pod, tunnels) := "warning" if lesser(pod, tunnels)

severity(pod, tunnels) := "error" if not lesser(pod, tunnels)

lesser(pod, _) if pod.role in {"gateway", "unknown"}

# A mesh agent on every node, alone: most likely meant, but not said.
lesser(pod, tunnels) if {
	pod.per_node
	every t in tunnels { t.kind == "mesh" }
	every c in pod.containers { not c.application }
}
