# METADATA
# title: a VPN uses a range that home routers and Docker use too
# description: |
#   The range overlaps with nothing in the cluster, but with the network that a client sits in: many
#   home routers hand out 192.168.0.0/24, 192.168.1.0/24 or 10.0.0.0/24, and Docker takes
#   172.17.0.0/16 on every laptop and build host. The client has a route of its own for such a range.
#   Between two equal routes the metrics decide: either the packets never enter the tunnel, or its printer
#   and router are out of reach while the tunnel is up. Otherwise the longer prefix wins, and takes
#   that part of the home network into the tunnel. It shows for some users and in some places only.
#   It costs nothing to choose another range while nobody uses it.
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
import data.vpnlint.lib.pods
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
			"%s%s %s %s: %s",
			[text.in_cluster(claim.cluster), subject(claim), relation(claim, home), user, fate(claim, home)],
		),
		"clusters": {claim.cluster},
		"containers": {name | some name in pods.sharing_with[claim.owner]},
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
	[claim.cluster, claim.role, claim.prefix] in declared
}

declared contains [claim.cluster, claim.role, claim.prefix] if {
	some range in input.plan.ranges
	range.role in {"pool", "vpn"}
	some claim in range.claims
	claim.strength == "declared"
}

# The plan knows of it.
acknowledged(claim) if {
	some known in known_pools
	known[0] == claim.cluster
	net.cidr_contains(known[1], claim.prefix)
}

known_pools contains [c.name, pool.range.prefix] if {
	some c in input.facts.clusters
	some pool in c.plan.client_pools
	pool.range.prefix != ""
	some a in pool.acknowledge
	a.text == "VPN406"
}

subject(claim) := sprintf("the client pool %s", [claim.prefix]) if claim.role == "pool"

subject(claim) := sprintf("the VPN destination %s", [claim.prefix]) if claim.role == "vpn"

# Of two equal routes the client's metrics choose, of two others the longer prefix.
fate(claim, home) := sprintf(
	"a client in such a network has a route of its own for %s; its metrics choose between the two, and either the VPN or its own neighbours are out of reach",
	[home],
) if {
	claim.prefix == home
}

fate(claim, home) := sprintf(
	"a client in such a network has a route of its own for %s; the longer one into the tunnel wins, and it loses its own neighbours in %s",
	[home, claim.prefix],
) if {
	claim.prefix != home
}

relation(claim, home) := "is the network of" if claim.prefix == home

relation(claim, home) := sprintf("lies inside %s, the network of", [home]) if claim.prefix != home
