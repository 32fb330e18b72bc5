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
#   claims: [C5]
#   fires: |
#     An entry of the bypass list covers an address of the tunnel's own interface, the resolver that its
#     image brings, or all of a network that the tunnel routes.
#   silent: |
#     - they are disjoint, or the entry only cuts a smaller range out of a routed network
#     - the resolver is the cluster's, or one that the manifest names without the tunnel's help
#     - the list cannot be seen, or is refused (VPN310)
#   remedy: "Narrow the bypass so that the tunnel's own addresses and resolver stay inside."
#   verify: [routes]
#   needs: [facts.pods.tunnels.bypass.entries]
#   since: "0.1"
package vpnlint.rules.vpn311

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	tunnel.side in {"client", "mesh"}
	tunnel.bypass.state == "present"
	some entry in tunnel.bypass.entries
	not endswith(entry.prefix, "/0")
	swallowed := [s | some s in own(tunnel); net.cidr_contains(entry.prefix, s.prefix)]
	count(swallowed) > 0
	finding := {
		"ref": places.either(entry.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"bypass entry %s of %s in container %s covers %s: packets to it leave outside the tunnel, where nobody has it",
			[entry.text, tunnel.family_title, tunnel.container, text.set_list({s.says | some s in swallowed})],
		),
		"containers": {c.name | some c in pod.containers; c.stage != "init"},
		"related": [{"ref": s.ref, "says": s.says} | some s in swallowed; places.written(s.ref)],
		"verify": {"tunnel": tunnel.container, "container": tunnel.container, "destination": swallowed[0].prefix},
	}
}

# What must go through the tunnel.
own(tunnel) := array.concat(
	array.concat(
		[{"prefix": a.prefix, "says": sprintf("the tunnel's own address %s", [a.text]), "ref": a.ref} | some a in tunnel.addresses],
		[{"prefix": p.prefix, "says": sprintf("%s, which the tunnel routes", [p.text]), "ref": p.ref} |
			some p in tunnel.routes.prefixes
			tunnel.routes.state == "present"
			not endswith(p.prefix, "/0")
			not endswith(p.prefix, "/1")
		],
	),
	[{"prefix": host(server), "says": sprintf("the tunnel's resolver %s", [server]), "ref": tunnel.resolver.ref} |
		tunnel.resolver.rewrites == "present"
		tunnel.resolver.reaches_cluster == "absent"
		tunnel.resolver.ref == tunnel.container_ref # the image's own
		some server in tunnel.resolver.servers
		not startswith(server, "127.")
		not contains(server, "%") # a zone: link-local
	],
)

host(server) := sprintf("%s/32", [server]) if not contains(server, ":")

host(server) := sprintf("%s/128", [server]) if contains(server, ":")
