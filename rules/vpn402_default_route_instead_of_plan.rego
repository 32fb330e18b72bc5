# METADATA
# title: a default route stands in for the networks that are meant
# description: |
#   A tunnel whose routes name private networks was built for them. A default route beside them makes
#   these entries meaningless: every destination without a more specific route enters the tunnel, the
#   public internet and the cluster's own services included, and the far side drops or carries what it
#   was never meant to see. It also hides overlaps, because a default route overlaps with nothing.
#
#   Name the networks, and leave the default route to tunnels whose purpose it is.
# related_resources:
#   - ref: https://git.zx2c4.com/wireguard-tools/about/src/man/wg-quick.8
#     description: "wg-quick: the routes that AllowedIPs make"
#   - ref: https://openvpn.net/community-resources/reference-manual-for-openvpn-2-6/
#     description: "OpenVPN: redirect-gateway and route"
# custom:
#   id: VPN402
#   name: default-route-instead-of-plan
#   severities: [warning]
#   family: plan
#   claims:
#     - C5: "everything that has no more specific route enters it"
#     - C6: "names 10.60.0.0/16 and takes the default route all the same"
#   fires: |
#     The tunnel of a client takes the default route, in one piece or as two halves, and its routes
#     name a private network of the same address family next to it, or the plan names destinations for
#     this tunnel. The message says where such a network overlaps the cluster's own ranges.
#   silent: |
#     - only the default route is named, or the plan says `fullTunnel: true`: a full tunnel is the purpose
#     - the private prefix is the tunnel's own: it holds its address or its resolver
#     - servers, whose routes lead to their clients
#     - the tunnel's routes cannot be seen
#   remedy: "Route only the private networks that are meant."
#   verify: [routes]
#   needs: ["facts.pods.tunnels.routes.named | facts.clusters.plan.vpn"]
#   since: "0.1"
package vpnlint.rules.vpn402

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client", "gateway"}
	some tunnel in pod.tunnels
	tunnel.side == "client"
	tunnel.user_space != "present"
	tunnel.routes.state == "present"
	tunnel.routes["default"]
	not purpose(pod)
	meant := array.concat(tunnel.routes.named, pods.planned(pod))
	networks := {n.prefix | some n in meant}
	count(networks) > 0
	finding := {
		"ref": places.either(tunnel.routes.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"the tunnel of container %s %s %s and takes the default route all the same (%s): everything that has no more specific route enters it, not only packets for %s%s",
			[tunnel.container, verb(tunnel), text.set_list(networks), tunnel.routes.why, text.set_list(networks), hides(tunnel, networks)],
		),
		"containers": {c.name | some c in pod.containers; c.stage != "init"},
		"related": array.concat(notes(tunnel, meant), places.ranges(hidden(tunnel, networks))),
		"verify": {"tunnel": tunnel.container, "destination": sort(networks)[0]},
	}
}

notes(tunnel, meant) := [{"ref": n.ref, "says": sprintf("%s is named here", [n.prefix])} |
	some n in meant
	places.written(n.ref)
	n.ref != tunnel.routes.ref
]

# A default route through it is the purpose.
purpose(pod) if {
	some v in pods.carried(pod)
	v.full_tunnel.state == "present"
}

verb(tunnel) := "names" if count(tunnel.routes.named) > 0

verb(tunnel) := "is planned for" if count(tunnel.routes.named) == 0

# A default route overlaps nothing; the networks that are meant do.
hidden(tunnel, networks) := [r |
	some c in tunnel.captures
	some r in c.ranges
	r.strength != "evidence"
	some n in networks
	net.cidr_intersects(n, r.prefix)
]

hides(tunnel, networks) := sprintf("; it hides that this overlaps %s", [
	text.set_list({sprintf("the %s range %s", [r.role, r.prefix]) | some r in hidden(tunnel, networks)}),
]) if {
	count(hidden(tunnel, networks)) > 0
}

hides(tunnel, networks) := "" if count(hidden(tunnel, networks)) == 0
