# METADATA
# description: What a tunnel takes from the cluster that the pod's containers need.
package vpnlint.lib.capture

# Tunnels that reroute the pod itself, with all that decides it in view.
rerouting(pod) := [t |
	pod.role in {"sidecar", "client", "gateway"}
	some t in pod.tunnels
	t.side in {"client", "mesh"}
	t.user_space != "present"
	t.routes.state == "present"
	t.bypass.state != "unknown"
]

# The needs that a capture of an address of this kind would break.
needs(pod, tunnel) := [n |
	some n in pod.needs
	not answered(n, tunnel)
]

# Replies leave by the original gateway although the default route is taken.
answered(need, tunnel) if {
	need.kind == "replies"
	tunnel.replies_kept != "absent"
}

kinds(needed) := {n.kind | some n in needed}

# The captured prefixes that a need meets, by what they are, and whether that
# is beyond doubt. Service and API addresses have no route of their own in any
# CNI (a name needs the resolver's address); pod addresses depend on the CNI.
hits(capture, needed) := [hit |
	some hit in [
		{"what": "service", "prefixes": capture.services, "for": {"name", "service"}, "certain": true},
		{"what": "API server", "prefixes": capture.api, "for": {"api"}, "certain": true},
		{"what": "pod", "prefixes": capture.pods, "for": {"pod", "replies"}, "certain": capture.pods_certain},
		{"what": "node", "prefixes": capture.nodes, "for": {"replies"}, "certain": false},
	]
	count(hit.prefixes) > 0
	count(hit.for & kinds(needed)) > 0
]

# The clusters of which something is captured that a container needs.
caught(pod, tunnel) := [c |
	some c in tunnel.captures
	c.known
	count(hits(c, needs(pod, tunnel))) > 0
]

# What is captured whatever the cluster's ranges are, where none is known: a
# default route without any bypass.
blind(pod, tunnel) := [n |
	tunnel.routes["default"]
	tunnel.bypass.state == "absent"
	unseen(tunnel)
	some n in needs(pod, tunnel)
	n.kind in {"name", "service", "api"}
]

# No range of the pod's clusters is known.
unseen(tunnel) if every c in tunnel.captures { not c.known }

# VPN302 reports the tunnel.
broken(pod, tunnel) if count(caught(pod, tunnel)) > 0

broken(pod, tunnel) if count(blind(pod, tunnel)) > 0
