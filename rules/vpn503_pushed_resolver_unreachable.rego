# METADATA
# title: clients are told to use a resolver that they have no route to
# description: |
#   A VPN server that pushes the cluster's resolver must push a route to it as well. Without one the
#   client sends its look-ups out of its own network, where the address belongs to somebody else or to
#   nobody: every name fails while addresses behind the VPN answer. The pod range does not help, the
#   resolver's address lies in the service range.
# related_resources:
#   - ref: https://openvpn.net/community-resources/reference-manual-for-openvpn-2-6/
#     description: "OpenVPN: push, route and dhcp-option DNS"
#   - ref: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/
#     description: "Kubernetes: DNS for services and pods"
# custom:
#   id: VPN503
#   name: pushed-resolver-unreachable
#   severities: [error]
#   family: names
#   claims:
#     - F3: "are told to resolve names at 10.96.0.10 in the service range 10.96.0.0/12"
#   fires: |
#     The resolver that a server pushes lies in the service range of its cluster, or is another private
#     address, and no pushed route (or AllowedIPs entry for the clients), not the pool and no full
#     tunnel covers it.
#   silent: |
#     - a public resolver
#     - the resolver is covered
#     - some pushed route is filled in later, or single clients are given routes of their own
#   remedy: "Push a route to the resolver as well, or push a resolver that clients reach."
#   verify: [ladder]
#   needs: [facts.pods.tunnels.clients.unreached]
#   since: "0.1"
package vpnlint.rules.vpn503

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	tunnel.side == "server"
	tunnel.clients.state == "present"
	some lost in tunnel.clients.unreached
	finding := {
		"ref": places.either(lost.resolver.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"clients of %s are told to resolve names at %s%s, but %s: their look-ups leave outside the tunnel, where that address is somebody else's or nobody's",
			[tunnel_of(tunnel), lost.resolver.text, place(lost), routed(tunnel)],
		),
		"containers": {tunnel.container},
		"related": array.concat(
			[{"ref": r.ref, "says": sprintf("clients are given a route to %s", [r.prefix])} |
				some r in tunnel.clients.routes
				places.written(r.ref)
				r.ref != tunnel.container_ref
			],
			places.ranges(lost.within),
		),
		"verify": pods.gateway_checks(pod),
	}
}

# " in the service range 10.96.0.0/12".
place(lost) := sprintf(" in the service range %s", [text.set_list({r.prefix | some r in lost.within})]) if count(lost.within) > 0

place(lost) := "" if count(lost.within) == 0

tunnel_of(tunnel) := sprintf("container %s", [tunnel.container]) if tunnel.container != ""

tunnel_of(tunnel) := tunnel.family_title if tunnel.container == ""

routed(tunnel) := sprintf("their routes through the tunnel are %s", [text.set_list(prefixes(tunnel))]) if count(prefixes(tunnel)) > 1

routed(tunnel) := sprintf("their only route through the tunnel is %s", [text.set_list(prefixes(tunnel))]) if count(prefixes(tunnel)) == 1

routed(tunnel) := "they get no route through the tunnel" if count(prefixes(tunnel)) == 0

prefixes(tunnel) := {r.prefix | some r in tunnel.clients.routes} | {p.prefix | some p in tunnel.pool}
