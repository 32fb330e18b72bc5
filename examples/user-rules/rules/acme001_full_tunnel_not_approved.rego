# METADATA
# title: a tunnel takes all traffic outside the namespaces that may
# description: |
#   A client whose tunnel takes the default route sends everything the pod says to the provider, also
#   what the firewall team expects at the office's own uplink. At Acme only the namespaces of the egress
#   team may do that.
# related_resources:
#   - ref: https://wiki.example.com/network/egress
#     description: "Acme: who may leave where"
# custom:
#   id: ACME001
#   name: full-tunnel-not-approved
#   severities: [error]
#   family: sidecar
#   claims: []
#   fires: "A client's tunnel takes the default route, in a namespace that is not on the list."
#   silent: |
#     - the namespace is on the list
#     - the tunnel takes single networks only
#     - its routes cannot be seen
#   remedy: "Name the networks that the application needs, or move it to a namespace of the egress team."
#   verify: [routes]
#   since: "1.0"
package vpnlint.user.acme001

import data.vpnlint.user.lib.teams

findings contains finding if {
	some pod in input.facts.pods
	not pod.object.namespace in teams.egress
	some tunnel in pod.tunnels
	tunnel.side == "client"
	tunnel.routes.state == "present"
	tunnel.routes["default"]
	finding := {
		"ref": tunnel.container_ref,
		"pod": pod.id,
		"message": sprintf(
			"the tunnel in container %s takes the default route (%s), so everything that this pod sends leaves at the provider; namespace %s may not do that",
			[tunnel.container, tunnel.routes.why, pod.object.namespace],
		),
		"containers": [c.name | some c in pod.containers],
		"verify": {"container": tunnel.container, "tunnel": tunnel.container, "destination": "1.1.1.1"},
	}
}
