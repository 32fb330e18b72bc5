# METADATA
# title: a bypass entry covers the tunnel's own addresses, resolver or destinations
# description: |
#   A bypass list is for the cluster and the local network. An entry as wide as `10.0.0.0/8` also
#   covers the tunnel's own addresses, the provider's resolver and often the network behind the VPN:
#   packets to them leave by `eth0`, where nobody knows them. The tunnel is up and names do not resolve.
# related_resources:
#   - ref: https://github.com/qdm12/gluetun-wiki/blob/main/setup/options/firewall.md
#     description: "gluetun: FIREWALL_OUTBOUND_SUBNETS"
# custom:
#   id: VPN311
#   name: exclusion-swallows-tunnel
#   severities: [warning]
#   family: sidecar
#   claims:
#     - C5: "packets there leave outside the tunnel, where that address is somebody else's or nobody's"
#   fires: |
#     An entry of the bypass list covers an address of the tunnel's own interface, the resolver that its
#     image brings, or all of a network that the tunnel routes or that the plan says it carries. A
#     resolver that `DNS =` or a variable names counts where it certainly is one of the VPN: beside the
#     tunnel's own address, or inside such a network.
#   silent: |
#     - they are disjoint, or the entry only cuts a smaller range out of a routed network
#     - the entry is a route of the main table (a hook's `ip route add`, OpenVPN's `net_gateway`) and the
#       tunnel has a longer one there, which wins
#     - the resolver is the cluster's, or the manifest names one that may be of the local network
#     - the list cannot be seen, or is refused (VPN310)
#   remedy: "Narrow the bypass so that the tunnel's own addresses and resolver stay inside."
#   verify: [routes]
#   needs: [facts.pods.tunnels.bypass.entries]
#   since: "0.1"
package vpnlint.rules.vpn311

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	tunnel.side in {"client", "mesh"}
	tunnel.bypass.state == "present"
	some entry in tunnel.bypass.entries
	not endswith(entry.prefix, "/0")
	swallowed := [s |
		some s in array.concat(own(pod, tunnel), named(pod, tunnel, entry))
		net.cidr_contains(entry.prefix, s.prefix)
		not wins(tunnel, entry.prefix, s.prefix)
	]
	count(swallowed) > 0
	finding := {
		"ref": places.either(entry.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"bypass entry %s of %s in container %s covers %s: packets there leave outside the tunnel, where that address is somebody else's or nobody's",
			[entry.text, tunnel.family_title, tunnel.container, text.list(array.concat(networks(swallowed), servers(swallowed)))],
		),
		"containers": {c.name | some c in pod.containers; c.stage != "init"},
		"related": [{"ref": s.ref, "says": s.says} | some s in swallowed; places.written(s.ref)],
		"verify": {"tunnel": tunnel.container, "container": tunnel.container, "destination": swallowed[0].prefix},
	}
}

networks(swallowed) := sort({s.says | some s in swallowed; not s.server})

servers(swallowed) := [said |
	found := sort({s.server | some s in swallowed; s.server})
	count(found) > 0
	said := sprintf("the tunnel's resolver%s %s", [{true: "s", false: ""}[count(found) > 1], text.list(found)])
]

# The entry is a route of the main table, and so is a longer one of the tunnel's:
# that of a network that it routes, or of its interface's address.
wins(tunnel, entry, prefix) if {
	tunnel.routes.more_specific_win
	some longer in array.concat([p.prefix | some p in routed(tunnel)], [a.text | some a in tunnel.addresses; not host_mask(a.text)])
	net.cidr_contains(longer, prefix)
	net.cidr_contains(entry, longer)
	not net.cidr_contains(longer, entry)
}

host_mask(text) if not contains(text, "/")

host_mask(text) if endswith(text, "/32")

host_mask(text) if endswith(text, "/128")

# What must go through the tunnel.
own(pod, tunnel) := array.concat(
	array.concat(
		[{"prefix": a.prefix, "says": sprintf("the VPN's network around the tunnel's own address %s", [a.text]), "ref": a.ref} | some a in tunnel.addresses],
		array.concat(
			[{"prefix": p.prefix, "says": sprintf("%s, which the tunnel routes", [p.text]), "ref": p.ref} | some p in routed(tunnel)],
			[{"prefix": p.prefix, "says": sprintf("%s, which the plan says that the tunnel carries", [p.text]), "ref": p.ref} | some p in carried(pod, tunnel)],
		),
	),
	[resolver(tunnel, server) |
		tunnel.resolver.ref == tunnel.container_ref # the image's own: no cluster's
		tunnel.resolver.reaches_cluster != "present"
		some server in resolvers(tunnel)
	],
)

# Resolvers that the manifest names, and that certainly are the VPN's: another
# one may as well be of the local network that the entry is for.
named(pod, tunnel, entry) := [resolver(tunnel, server) |
	tunnel.resolver.ref != tunnel.container_ref
	tunnel.resolver.reaches_cluster == "absent"
	some server in resolvers(tunnel)
	of_vpn(pod, tunnel, entry, server)
]

resolver(tunnel, server) := {"prefix": host(server), "server": server, "says": sprintf("the tunnel's resolver %s", [server]), "ref": tunnel.resolver.ref}

resolvers(tunnel) := [server |
	tunnel.resolver.rewrites == "present"
	some server in tunnel.resolver.servers
	not startswith(server, "127.")
	not contains(server, "%") # a zone: link-local
]

of_vpn(pod, tunnel, _, server) if {
	some p in array.concat(routed(tunnel), carried(pod, tunnel))
	net.cidr_contains(p.prefix, server)
}

of_vpn(_, tunnel, _, server) if {
	some a in tunnel.addresses
	net.cidr_contains(around(a.prefix, "24", "64"), server)
}

# Providers' resolvers are somewhere in the network of the tunnel's address.
of_vpn(_, tunnel, entry, server) if {
	some a in tunnel.addresses
	net.cidr_contains(entry.prefix, a.prefix)
	net.cidr_contains(around(a.prefix, "16", "48"), server)
}

# The network of some size that an address is in.
around(prefix, four, _) := sprintf("%s/%s", [split(prefix, "/")[0], four]) if not contains(prefix, ":")

around(prefix, _, six) := sprintf("%s/%s", [split(prefix, "/")[0], six]) if contains(prefix, ":")

routed(tunnel) := [p |
	tunnel.routes.state == "present"
	some p in tunnel.routes.prefixes
	not endswith(p.prefix, "/0")
	not endswith(p.prefix, "/1")
]

# With two tunnels it is not known which of them the plan means.
carried(pod, tunnel) := [p |
	count(pod.tunnels) == 1
	some p in pods.planned(pod)
	not p.prefix in {r.prefix | some r in routed(tunnel)}
]

host(server) := sprintf("%s/32", [server]) if not contains(server, ":")

host(server) := sprintf("%s/128", [server]) if contains(server, ":")
