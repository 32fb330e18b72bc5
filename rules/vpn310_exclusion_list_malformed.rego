# METADATA
# title: a bypass list that its reader does not take as written
# description: |
#   Every image has its own name and its own separator for the networks that stay outside the tunnel.
#   A list with the wrong separator is a single word, and no network: the image stops, or drops the list
#   and captures the cluster. A variable that the image's version no longer reads does nothing at all.
#   `0.0.0.0/0` on the list takes everything out of the tunnel, and images that check refuse it.
# related_resources:
#   - ref: https://github.com/qdm12/gluetun-wiki/blob/main/setup/options/firewall.md
#     description: "gluetun: firewall options"
# custom:
#   id: VPN310
#   name: exclusion-list-malformed
#   severities: [error, note]
#   family: sidecar
#   claims:
#     - C5: "the tunnel does not come up or captures what the list was to keep out"
#   fires: |
#     An entry of the bypass list that its reader refuses (wrong separator, no prefix, `0.0.0.0/0`, host
#     bits where they are known to be refused), a default route on the list, or a list or switch in a
#     variable that this version of the image does not read. **Note** for host bits that readers treat
#     differently and for old names that still work.
#   silent: |
#     - the list is well-formed in the syntax of its image
#     - the image's version is not known and decides whether the variable is read
#     - the list cannot be seen
#   remedy: "Write the list, or the switch, under the name and in the form that this version of the image reads."
#   verify: [tunnel-log]
#   needs: ["facts.pods.tunnels.bypass.malformed | facts.pods.tunnels.bypass.entries"]
#   since: "0.1"
package vpnlint.rules.vpn310

import data.vpnlint.lib.places

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	some piece in tunnel.bypass.malformed
	finding := {
		"ref": places.either(piece.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": severity(piece.effect),
		"message": sprintf("%s in container %s: %s%s", [tunnel.family_title, tunnel.container, piece.why, fate(piece.effect)]),
		"containers": {tunnel.container},
		"verify": {"container": tunnel.container, "tunnel": tunnel.container},
	}
}

# A reader that takes it leaves nothing for the tunnel.
findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	tunnel.side in {"client", "mesh"}
	regex.match(`^[A-Z][A-Z0-9_]*$`, tunnel.bypass.key)
	some entry in tunnel.bypass.entries
	entry.prefix in {"0.0.0.0/0", "::/0"}
	finding := {
		"ref": places.either(entry.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"%s in container %s: %s holds %s, which takes every destination out of the tunnel: nothing is left that goes through the VPN",
			[tunnel.family_title, tunnel.container, tunnel.bypass.key, entry.text],
		),
		"containers": {tunnel.container},
		"verify": {"container": tunnel.container, "tunnel": tunnel.container},
	}
}

severity(effect) := "error" if effect in {"refused", "ignored", "unread", "noroute"}

severity(effect) := "note" if effect in {"unclear", "renamed"}

fate("refused") := "; the list is refused, so that the tunnel does not come up or captures what the list was to keep out"

fate("ignored") := "; it does nothing, and the traffic goes where the image's default sends it"

fate("unread") := "; the variable does nothing"

fate("noroute") := "; no route is made, and what the entry was to keep out enters the tunnel"

fate("unclear") := "; readers differ in what they make of it"

fate("renamed") := "; it still works, until a version drops it"
