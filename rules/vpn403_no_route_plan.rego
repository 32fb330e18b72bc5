# METADATA
# title: the cluster's ranges are written nowhere beside the VPN
# description: |
#   Whether a tunnel takes more than it should depends on four ranges: pods, services, nodes, and the
#   networks behind the VPN. Where none of the cluster's own stands in the tree, nobody can check the
#   tunnel against them, neither a reviewer nor vpnlint, and moving the workload to a cluster with
#   other ranges is a guess. A cluster configuration next to the manifests is enough.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/networking/
#     description: "Kubernetes: the cluster's address ranges"
# custom:
#   id: VPN403
#   name: no-route-plan
#   severities: [note]
#   family: plan
#   claims: [C6, C13]
#   fires: |
#     Once a run: a VPN workload reroutes a pod whose containers need the cluster, and no pod, service
#     or node range of any cluster can be read from the tree.
#   silent: |
#     - some range of the cluster is in view
#     - no container beside a tunnel needs the cluster
#     - VPN servers, user-space data planes, and pods on the host network, which follow the node's routes
#   remedy: "Keep the cluster's declaration (pods, services, nodes) beside the workload."
#   needs: [facts.pods.tunnels, facts.pods.needs]
#   since: "0.1"
package vpnlint.rules.vpn403

import data.vpnlint.lib.capture
import data.vpnlint.lib.text

findings contains finding if {
	count(ranges) == 0
	ids := sort(object.keys(workloads))
	count(ids) > 0
	first := workloads[ids[0]]
	finding := {
		"ref": first.ref,
		"pod": first.id,
		"message": sprintf(
			"no pod, service or node range of a cluster is in the tree: whether the tunnel of %s takes packets of %s for the cluster cannot be checked%s",
			[first.object.name, text.containers(needy(first)), others(count(ids) - 1)],
		),
		"containers": needy(first),
	}
}

ranges contains r if {
	some c in input.facts.clusters
	not c.elsewhere
	some r in c.ranges
	r.role in {"pod", "service", "node"}
	r.strength != "evidence"
}

workloads[pod.id] := pod if {
	some pod in input.facts.pods
	pod.host_network.value == "false"
	count(capture.rerouting(pod)) > 0
	count(needy(pod)) > 0
}

# Whose requests go into the cluster.
needy(pod) := {n.container | some n in pod.needs; n.kind in {"name", "service", "api"}}

others(0) := ""

others(n) := sprintf(", nor that of %d more", [n]) if n > 0
