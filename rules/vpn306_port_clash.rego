# METADATA
# title: two containers listen on one port of the shared namespace
# description: |
#   Containers of a pod share one network namespace, and so one set of ports. A tunnel image brings
#   listeners of its own: a control server, a health server, proxies. Where one of them and an
#   application want the same port, whichever starts second fails with "address already in use", or
#   answers requests that were meant for the other.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/#pod-networking
#     description: "Kubernetes: pod networking"
# custom:
#   id: VPN306
#   name: port-clash
#   severities: [error]
#   family: sidecar
#   claims:
#     - C1: "both listen on port 8000/TCP of the pod's one network namespace"
#   fires: |
#     In a pod with a VPN, two containers listen on the same port and protocol: a port that one declares
#     and on which the tunnel's image is known to listen, given its variables; or a port that two
#     applications declare and both use, as a probe, a flag or a variable of each shows.
#   silent: |
#     - the tunnel's container declares the application's port on its behalf
#     - two applications declare one port, and nothing else shows that both listen there: a declared port
#       is only documentation
#     - the listener is off, or moved to another port
#     - the variables that place it cannot be seen
#     - an init container that ends before the others start
#   remedy: "Move one of the two listeners to another port."
#   verify: [listeners]
#   needs: [facts.pods.containers.listeners, "facts.pods.role=sidecar | facts.pods.role=client | facts.pods.role=gateway"]
#   since: "0.1"
package vpnlint.rules.vpn306

import data.vpnlint.lib.places

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client", "gateway"}
	some a in pod.containers
	some b in pod.containers
	a.order < b.order
	a.stage != "init"
	b.stage != "init"
	some first in a.listeners
	some second in b.listeners
	first.port == second.port
	first.protocol == second.protocol
	proven(first, second)
	pair := sorted([{"container": a, "listener": first}, {"container": b, "listener": second}])
	finding := {
		"ref": places.either(pair.change.listener.ref, pair.change.container.ref),
		"pod": pod.id,
		"message": sprintf(
			"containers %s and %s both listen on port %d/%s of the pod's one network namespace (%s): whichever starts second cannot bind it",
			[pair.change.container.name, pair.other.container.name, first.port, first.protocol, concat("; ", says(pair))],
		),
		"containers": {a.name, b.name},
		"related": [{"ref": pair.other.listener.ref, "says": sprintf("%s in container %s", [pair.other.listener.says, pair.other.container.name])} |
			places.written(pair.other.listener.ref)
		],
		"verify": {"container": pair.other.container.name, "tunnel": pair.change.container.name},
	}
}

# Two ports that are declared alike are said once.
says(pair) := [pair.change.listener.says] if pair.change.listener.says == pair.other.listener.says

says(pair) := [pair.change.listener.says, pair.other.listener.says] if pair.change.listener.says != pair.other.listener.says

# A port that is only declared may be the other container's, declared on its
# behalf: two such declarations are one listener at best.
proven(first, _) if first.source == "image"

proven(_, second) if second.source == "image"

proven(first, second) if {
	first.used
	second.used
}

# The VPN side is the one to change: its listeners are moved by a variable.
sorted(list) := {"change": list[0], "other": list[1]} if not own_side(list[1], list[0])

sorted(list) := {"change": list[1], "other": list[0]} if own_side(list[1], list[0])

own_side(side, other) if {
	side.container.data_plane
	not other.container.data_plane
}
