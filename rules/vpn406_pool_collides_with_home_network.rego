# METADATA
# title: a VPN uses a range that home routers and Docker use too
# description: |
#   The range overlaps with nothing in the cluster, but with the network that a client sits in: many
#   home routers hand out 192.168.0.0/24, 192.168.1.0/24 or 10.0.0.0/24, and Docker takes
#   172.17.0.0/16 on every laptop and build host. The client has a route of its own for such a range,
#   so the packets never enter the tunnel, for some users and in some places only. It costs nothing to
#   choose another range while nobody uses it.
# related_resources:
#   - ref: https://docs.docker.com/engine/network/drivers/bridge/
#     description: "Docker: the default bridge network"
#   - ref: https://datatracker.ietf.org/doc/html/rfc1918
#     description: "RFC 1918: choosing private ranges"
# custom:
#   id: VPN406
#   name: pool-collides-with-home-network
#   severities: [note]
#   family: plan
#   claims:
#     - C6: "the client pool 192.168.1.0/24 is the network of many home routers"
#   fires: |
#     A declared client pool or VPN destination equals or lies inside one of 192.168.0.0/24,
#     192.168.1.0/24, 192.168.2.0/24, 192.168.178.0/24, 10.0.0.0/24, 10.0.1.0/24 and 172.17.0.0/16.
#   silent: |
#     - a wider range that only holds one of these
#     - a pool that nobody wrote down: the image's own default
#     - the plan has the pool among its `clientPools` and acknowledges VPN406
#   remedy: "Choose a pool that home routers and Docker do not use."
#   verify: [client-route]
#   needs: [plan.ranges]
#   since: "0.1"
package vpnlint.rules.vpn406

import data.vpnlint.lib.places
import data.vpnlint.lib.text

# What is common: routers' factory settings, and Docker's first bridge.
homes := {
	"192.168.0.0/24": "many home routers", "192.168.1.0/24": "many home routers", "192.168.2.0/24": "some home routers",
	"192.168.178.0/24": "FRITZ!Box routers", "10.0.0.0/24": "many home routers", "10.0.1.0/24": "some home routers",
	"172.17.0.0/16": "Docker",
}

findings contains finding if {
	some claim in claims
	some home, user in homes
	net.cidr_contains(home, claim.prefix)
	finding := {
		"ref": claim.at,
		"message": sprintf(
			"%s%s %s %s: a client in such a network has a route of its own for %s, and its packets never enter the tunnel",
			[text.in_cluster(claim.cluster), subject(claim), relation(claim, home), user, claim.prefix],
		),
		"clusters": {claim.cluster},
		"verify": {"destination": claim.prefix},
	}
}

claims contains claim if {
	some range in input.plan.ranges
	range.role in {"pool", "vpn"}
	some claim in range.claims
	claim.strength in {"declared", "planned"}
	claim.idiom == ""
	places.written(claim.at)
	not repeated(claim)
	not acknowledged(claim)
}

# The plan repeats what a manifest declares; the manifest is what clients get.
repeated(claim) if {
	claim.strength == "planned"
	some range in input.plan.ranges
	some other in range.claims
	other.strength == "declared"
	other.cluster == claim.cluster
	other.role == claim.role
	other.prefix == claim.prefix
}

# The plan knows of it.
acknowledged(claim) if {
	some c in input.facts.clusters
	c.name == claim.cluster
	some pool in c.plan.client_pools
	"VPN406" in {a.text | some a in pool.acknowledge}
	pool.range.prefix != ""
	net.cidr_contains(pool.range.prefix, claim.prefix)
}

subject(claim) := sprintf("the client pool %s", [claim.prefix]) if claim.role == "pool"

subject(claim) := sprintf("the VPN destination %s", [claim.prefix]) if claim.role == "vpn"

relation(claim, home) := "is the network of" if claim.prefix == home

relation(claim, home) := sprintf("lies inside %s, the network of", [home]) if claim.prefix != home
