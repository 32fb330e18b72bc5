# METADATA
# title: the cluster's ranges are written nowhere beside the VPN
# description: |
#   Whether a tunnel takes more than it should depends on four ranges: pods, services, nodes, and the
#   networks behind the VPN. Where one of the cluster's own is written nowhere, nobody can check the
#   tunnel against it, neither a reviewer nor vpnlint, and moving the workload to a cluster with
#   other ranges is a guess. A plan file, or a cluster configuration next to the manifests, is enough.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/cluster-administration/networking/
#     description: "Kubernetes: the cluster's address ranges"
# custom:
#   id: VPN403
#   name: no-route-plan
#   severities: [note]
#   family: plan
#   claims:
#     - C6: "no pod and no service range of the cluster is in the tree or the plan"
#     - C13: "whether the tunnel of price-scraper takes packets of container price-scraper for the cluster cannot be checked"
#   fires: |
#     Once a run: a VPN workload reroutes a pod whose containers need the cluster, and its cluster's pod
#     or service range can be read neither from the plan nor from the tree; or the node range, where
#     what comes from nodes has to be answered.
#   silent: |
#     - plan or tree have the ranges that decide; where pods take the nodes' addresses, these are enough
#     - no container beside a tunnel needs the cluster
#     - VPN servers, user-space data planes, and pods on the host network, which follow the node's routes
#   remedy: "Write the cluster's ranges (pods, services, nodes) into a plan file, or keep its declaration beside the workload."
#   verify: [cluster-ranges]
#   needs: [facts.pods.tunnels, facts.pods.needs]
#   since: "0.1"
package vpnlint.rules.vpn403

import data.vpnlint.lib.capture
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	ids := sort(object.keys(lacking))
	count(ids) > 0
	first := lacking[ids[0]]
	finding := {
		"ref": first.pod.ref,
		"pod": first.pod.id,
		"message": sprintf(
			"no %s range of the cluster is in the tree or the plan: whether the tunnel of %s takes packets of %s for the cluster cannot be checked%s",
			[concat(" and no ", first.missing), first.pod.object.name, text.containers(needy(first.pod)), others(count(ids) - 1)],
		),
		"containers": needy(first.pod),
	}
}

# Workloads that lack a range which decides what their tunnel takes from them.
lacking[pod.id] := {"pod": pod, "missing": missing} if {
	some pod in input.facts.pods
	pod.host_network.value == "false"
	count(capture.rerouting(pod)) > 0
	count(needy(pod)) > 0
	missing := [role |
		some role in ["pod", "service", "node"]
		asked(pod, role)
		not declared(pod, role)
	]
	count(missing) > 0
}

# Pods and services answer requests; nodes only matter to what is answered to them.
asked(_, role) if role in {"pod", "service"}

asked(pod, "node") if {
	some tunnel in capture.rerouting(pod)
	some need in capture.needs(pod, tunnel)
	need.kind == "replies"
}

declared(pod, role) if {
	some c in near(pod)
	some r in c.ranges
	r.role == role
	r.strength != "evidence"
}

# Pods may take the nodes' addresses.
declared(pod, "pod") if {
	some c in near(pod)
	pods_of_nodes(c)
	some r in c.ranges
	r.role == "node"
	r.strength != "evidence"
}

pods_of_nodes(cluster) if cluster.cni == "aws"

pods_of_nodes(cluster) if cluster.plan.masquerade.value in {"aws-vpc-cni", "azure-v2"}

# Of a pod whose cluster is not known, any may be meant.
near(pod) := pods.clusters(pod) if pods.placed(pod)

near(pod) := [c | some c in input.facts.clusters; not c.elsewhere] if not pods.placed(pod)

# Whose requests go into the cluster.
needy(pod) := {n.container | some n in pod.needs; n.kind in {"name", "service", "api"}}

others(0) := ""

others(n) := sprintf(", nor that of %d more", [n]) if n > 0
