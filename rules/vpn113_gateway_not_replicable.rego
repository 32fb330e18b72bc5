# METADATA
# title: replicas of a VPN gateway share one key and one client pool
# description: |
#   A VPN server keeps state that its copies do not share: which client has which address of the pool,
#   and which session belongs to which key. Two pods with the same configuration both hand out
#   10.8.0.2, and a Service sends a client's packets to either of them. A client that changes its
#   address, or a Service that forgets it, ends at the other pod, which does not know the session;
#   clients of different pods do not reach each other. It shows as connections that hang now and then.
#
#   The same happens for a while in every rolling update that starts the new pod before the old one
#   ends. `strategy: {type: Recreate}` avoids that; a StatefulSet with a key and a pool for each replica
#   allows several.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
#     description: "Kubernetes: strategies of a Deployment"
# custom:
#   id: VPN113
#   name: gateway-not-replicable
#   severities: [note]
#   family: forwarding
#   claims:
#     - F4: "a client whose packets reach another pod than its session is dropped there"
#   fires: |
#     A VPN server with a client pool has more than one replica, an autoscaler in the tree may give it
#     more, or it is a Deployment whose rolling update starts the new pod before the old one ends, as it
#     does by default, and its replicas share key and pool.
#   silent: |
#     - one replica, with `Recreate` or `maxSurge: 0`, or in a StatefulSet; none
#     - each replica has a volume of its own (a volume claim template that the server mounts)
#     - members of a mesh, gateways whose clients a control plane sends to them, clients, proxies
#     - whether the pod is a server cannot be seen
#   remedy: "Keep one replica, in a Deployment with the strategy Recreate, or give each replica a key and pool of its own."
#   verify: [replicas]
#   needs: ["facts.pods.role=gateway", facts.pods.tunnels.pool]
#   since: "0.1"
package vpnlint.rules.vpn113

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in pods.forwarders
	not pod.state_per_replica
	not pod.per_node
	not pod.runs_to_completion
	shared := {p.prefix | some tunnel in pod.tunnels; keyed(tunnel); some p in tunnel.pool}
	count(shared) > 0
	some copies in several(pod)
	finding := {
		"ref": copies.ref,
		"pod": pod.id,
		"message": sprintf(
			"%s, and all share the key and the client %s of %s: a client whose packets reach another pod than its session is dropped there",
			[copies.says, pools(shared), text.containers(pods.data_plane(pod))],
		),
		"containers": pods.data_plane(pod),
	}
}

# Its clients know one key, and come to whatever answers at one address. To a
# gateway of a control plane (Firezone) each client is sent by itself, and each has
# a key of its own.
keyed(tunnel) if {
	tunnel.side == "server"
	tunnel.kind != "mesh"
}

pools(shared) := sprintf("pool %s", [text.set_list(shared)]) if count(shared) == 1

pools(shared) := sprintf("pools %s", [text.set_list(shared)]) if count(shared) > 1

several(pod) := {{"ref": pod.replicas_ref, "says": sprintf("%d replicas run at once", [pod.replicas])}} if {
	pod.replicas > 1
} else := {{
	"ref": pod.scaled.ref,
	"says": sprintf("an autoscaler may run %s replicas at once", [pod.scaled.value]),
}} if {
	pod.scaled.state == "present"
} else := {{
	"ref": places.either(pod.surge.ref, pod.ref),
	"says": sprintf("a rolling update with maxSurge %s%s runs old and new pods at once", [pod.surge.value, by_default(pod.surge)]),
}} if {
	pod.surge.value != ""
} else := set()

by_default(surge) := ", the default," if surge.state == "absent"

by_default(surge) := "" if surge.state != "absent"
