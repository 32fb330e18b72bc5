# METADATA
# title: peers of one WireGuard interface claim the same addresses
# description: |
#   `AllowedIPs` is a routing table: a packet goes to the one peer whose prefix is the longest. Of two
#   peers with the same prefix only the last one that is configured keeps it. The other one completes
#   its handshake, its packets are dropped because their source is not allowed to it, and nothing is sent back
#   to it. WireGuard says nothing about it.
#
#   On a server `AllowedIPs` are the addresses behind that client. `0.0.0.0/0` there makes one client
#   the default route of the whole pod: whatever the server sends, apart from replies to other
#   clients' handshakes, is handed to that client. The default route of the clients belongs in their
#   own files.
# related_resources:
#   - ref: https://www.wireguard.com/#cryptokey-routing
#     description: "WireGuard: cryptokey routing"
#   - ref: https://man7.org/linux/man-pages/man8/wg.8.html
#     description: "wg(8): AllowedIPs"
# custom:
#   id: VPN407
#   name: peers-share-allowed-ips
#   severities: [error]
#   family: plan
#   claims:
#     - C2: "packets for the other one are sent here and packets from it are dropped"
#   fires: |
#     Two peers of one interface have the same prefix in their AllowedIPs, or a server has a peer with
#     `0.0.0.0/0` or `::/0`. WireguardPeers with one address and one server, and Kilo Peers of one mesh
#     count as well: these are `spec.address`, and `spec.allowedIPs` with the routes of all nodes.
#   silent: |
#     - one prefix lies inside the other's: the longer one wins, as it is meant to
#     - the peer with the default route has an Endpoint, so that it is an upstream exit
#     - `Table = off`, where routes come from elsewhere
#     - entries that are filled in when the tree is applied
#     - `allowedIPs` of a WireguardPeer, which are the client's; a disabled one
#     - operators' peers in different clusters, or whose cluster is not known; in different directories,
#       unless the plan, a declared cluster or their server's directory holds both
#   remedy: "Give each peer addresses of its own."
#   verify: [peers]
#   needs: ["facts.pods.tunnels.peers | facts.peer_groups"]
#   since: "0.1"
package vpnlint.rules.vpn407

import data.vpnlint.lib.places
import data.vpnlint.lib.text

# The later of two peers with one prefix.
findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	some later, peer in tunnel.peers
	peer.table != "off"
	some entry in peer.allowed_ips
	before := [{"peer": other, "entry": claimed} |
		some earlier, other in tunnel.peers
		earlier < later
		one_interface(other, peer)
		other.public_key != peer.public_key
		some claimed in other.allowed_ips
		claimed.prefix == entry.prefix
	]
	count(before) > 0
	finding := {
		"ref": places.either(entry.ref, peer.ref),
		"pod": pod.id,
		"message": sprintf(
			"two peers of interface %s have %s in their AllowedIPs: this one comes last and gets it, packets for the other one are sent here and packets from it are dropped",
			[peer.interface, entry.prefix],
		),
		"containers": {tunnel.container},
		"related": [{"ref": places.either(b.entry.ref, b.peer.ref), "says": sprintf("%s is claimed here first", [entry.prefix])} | some b in before],
		"verify": {"tunnel": tunnel.container, "interface": peer.interface},
	}
}

# A client that becomes the server's default route.
findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	tunnel.side == "server"
	some peer in tunnel.peers
	not peer.endpoint
	peer.table == "auto"
	some entry in peer.allowed_ips
	everywhere(entry, peer)
	finding := {
		"ref": places.either(entry.ref, peer.ref),
		"pod": pod.id,
		"message": sprintf(
			"the server's own default route becomes this client: AllowedIPs %s of a peer without Endpoint makes %s send everything that leaves the pod to it, cluster addresses and answers to public ones among it",
			[entry.prefix, peer.interface],
		),
		"containers": {c.name | some c in pod.containers; c.stage != "init"},
		"verify": {"tunnel": tunnel.container, "interface": peer.interface},
	}
}

# Operators' peers: which of two comes last is theirs to decide.
findings contains finding if {
	some group in input.facts.peer_groups
	some later, peer in group.peers
	some entry in peer.allowed_ips
	before := [claimed |
		some earlier, other in group.peers
		earlier < later
		other.public_key != peer.public_key
		some claimed in other.allowed_ips
		claimed.prefix == entry.prefix
	]
	count(before) > 0
	finding := {
		"ref": entry.ref,
		"message": sprintf(
			"two peers of %s%s have %s: the one that is configured last gets it, packets for the other one are sent there and packets from it are dropped",
			[group.says, text.of_cluster(group.cluster), entry.prefix],
		),
		"clusters": {group.cluster | group.cluster != ""},
		"related": [{"ref": b.ref, "says": sprintf("%s is claimed here, too", [entry.prefix])} | some b in before],
	}
}

findings contains finding if {
	some group in input.facts.peer_groups
	some peer in group.peers
	not peer.endpoint
	some entry in peer.allowed_ips
	everywhere(entry, peer)
	finding := {
		"ref": entry.ref,
		"message": sprintf(
			"the default route of the nodes becomes this peer: each of its allowedIPs is a route on every node of %s%s, and %s of a peer without endpoint makes them send everything without a more specific route to it",
			[group.says, text.of_cluster(group.cluster), entry.prefix],
		),
		"clusters": {group.cluster | group.cluster != ""},
	}
}

# Two files are two interfaces even if they are called alike.
one_interface(a, b) if {
	a.interface == b.interface
	a.ref.object == b.ref.object
	a.ref.pointer == b.ref.pointer
}

# One variable a peer: they make one interface together.
one_interface(a, b) if {
	a.interface == b.interface
	a.ref.object == b.ref.object
	contains(a.ref.pointer, "/env/")
	contains(b.ref.pointer, "/env/")
}

# The whole of a family, or the first of the two halves that are written instead.
everywhere(entry, _) if endswith(entry.prefix, "/0")

everywhere(entry, peer) if {
	some low, high in {"0.0.0.0/1": "128.0.0.0/1", "::/1": "8000::/1"}
	entry.prefix == low
	some other in peer.allowed_ips
	other.prefix == high
}
