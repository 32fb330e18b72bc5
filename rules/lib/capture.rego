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

# Something that a container needs is captured, or certainly would be if the
# cluster's ranges were known: VPN302 says so.
broken(pod, tunnel) if {
	some c in tunnel.captures
	c.known
	count(hits(c, needs(pod, tunnel))) > 0
}

broken(pod, tunnel) if {
	tunnel.routes["default"]
	tunnel.bypass.state == "absent"
	every c in tunnel.captures { not c.known }
	some n in needs(pod, tunnel)
	n.kind in {"name", "service", "api"}
}
