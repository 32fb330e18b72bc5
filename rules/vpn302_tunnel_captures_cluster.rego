# METADATA
# title: a tunnel captures addresses of the cluster that the pod needs
# description: |
#   A tunnel that takes the default route, or a private block, takes requests to ClusterIPs, to the
#   cluster's resolver and to the API server with it: no CNI gives the service range a route of its
#   own inside the pod. The requests enter the tunnel, the far side has never heard of these
#   addresses, and they time out. It looks like a broken tunnel, or like a broken cluster.
#
#   The cluster's ranges belong on the tunnel's bypass list, in the syntax of its image.
# related_resources:
#   - ref: https://github.com/qdm12/gluetun-wiki/blob/main/setup/options/firewall.md
#     description: "gluetun: FIREWALL_OUTBOUND_SUBNETS"
#   - ref: https://git.zx2c4.com/wireguard-tools/about/src/man/wg-quick.8
#     description: "wg-quick: the routes that AllowedIPs make"
# custom:
#   id: VPN302
#   name: tunnel-captures-cluster
#   severities: [error, warning]
#   family: sidecar
#   claims:
#     - C2: "requests of container price-scraper to http://ledger.billing.svc.cluster.local:8080 enter the tunnel"
#     - C5: "write FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16,192.168.178.0/24"
#   fires: |
#     What the tunnel captures (AllowedIPs, redirect-gateway or the image's default, less the bypass
#     list) contains service, pod or API-server addresses that other containers of the pod need, or
#     their clients' addresses when replies are captured. **Error** when the captured ranges are known
#     and certain. **Warning** when the cluster's ranges are not in view and nothing bypasses a default
#     route, and for pod and node addresses, whose routes depend on the CNI.
#   silent: |
#     - no container of the pod needs the cluster
#     - the bypass list covers what is needed
#     - the tunnel's routes or its bypass list cannot be seen
#     - the cluster's ranges are not in view, and there is a bypass list
#     - a data plane in user space
#   remedy: "Keep the named ranges out of the tunnel, in the image's own bypass list or by routes that are more specific."
#   verify: [routes, three-destinations]
#   needs: [facts.pods.tunnels, facts.pods.needs]
#   since: "0.1"
package vpnlint.rules.vpn302

import data.vpnlint.lib.capture
import data.vpnlint.lib.places
import data.vpnlint.lib.text

# The cluster's ranges are known: say which part of them is captured.
findings contains finding if {
	some pod in input.facts.pods
	some tunnel in capture.rerouting(pod)
	needed := capture.needs(pod, tunnel)
	caught := capture.caught(pod, tunnel)
	count(caught) > 0
	met := [n | some n in needed; n.kind in kinds(caught, needed)]
	finding := {
		"ref": places.either(tunnel.bypass.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": severity(caught, needed),
		"message": sprintf(
			"%s captures %s: %s%s",
			[taker(tunnel), concat("; ", [ranges(c, needed) | some c in caught]), fate(caught, met, needed), bypass(tunnel, caught)],
		),
		"containers": {n.container | some n in met},
		"clusters": {c.cluster | some c in caught},
		"related": related(tunnel, met, [r | some c in caught; some r in c.ranges; spoken_of(r, c, needed)]),
		"missing": missing(tunnel),
		"verify": object.union(verify(tunnel, met), {"destination": destination(caught, needed)}),
	}
}

# They are not: a default route without any bypass captures whatever they are.
findings contains finding if {
	some pod in input.facts.pods
	some tunnel in capture.rerouting(pod)
	met := capture.blind(pod, tunnel)
	count(met) > 0
	finding := {
		"ref": places.either(tunnel.bypass.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": "warning",
		"message": sprintf(
			"%s captures everything and no bypass list leaves the cluster's service range out: requests of %s to %s enter the tunnel, where nobody routes them, and time out; the cluster's ranges are not in view",
			[taker(tunnel), text.containers({n.container | some n in met}), text.set_list({n.says | some n in met})],
		),
		"containers": {n.container | some n in met},
		"related": related(tunnel, met, []),
		"missing": missing(tunnel),
		"verify": verify(tunnel, met),
	}
}

kinds(caught, needed) := {kind | some c in caught; some hit in capture.hits(c, needed); some kind in hit.for}

severity(caught, needed) := "error" if certain(caught, needed)

severity(caught, needed) := "warning" if not certain(caught, needed)

certain(caught, needed) if {
	some c in caught
	some hit in capture.hits(c, needed)
	hit.certain
}

# The message names the range, or the bypass list must.
spoken_of(range, c, needed) if {
	some hit in capture.hits(c, needed)
	range.role == {"service": "service", "API server": "api", "pod": "pod", "node": "node"}[hit.what]
}

spoken_of(range, c, _) if {
	some prefix in c.missing
	net.cidr_contains(range.prefix, prefix)
}

# "gluetun (AllowedIPs = 0.0.0.0/0)".
taker(tunnel) := sprintf("%s in container %s%s", [tunnel.family_title, tunnel.container, text.optional(tunnel.routes.why, " (%s)")])

# "service addresses 10.96.0.0/12 of cluster prod".
ranges(c, needed) := sprintf("%s%s", [
	text.list([sprintf("%s addresses %s", [hit.what, concat(", ", hit.prefixes)]) | some hit in capture.hits(c, needed)]),
	text.of_cluster(c.cluster),
])

fate(caught, met, needed) := sprintf("%s %s the tunnel, where nobody routes them%s", [
	concat(", and ", array.concat(requests(met), replies(met))),
	verb(caught, needed),
	", and time out",
])

requests(met) := [sprintf("requests of %s to %s", [
	text.containers({n.container | some n in met; n.kind != "replies"}),
	text.set_list({n.says | some n in met; n.kind != "replies"}),
]) |
	"x" in {"x" | some n in met; n.kind != "replies"}
]

replies(met) := [sprintf("replies of %s to %s", [
	text.containers({n.container | some n in met; n.kind == "replies"}),
	text.set_list({n.says | some n in met; n.kind == "replies"}),
]) |
	"x" in {"x" | some n in met; n.kind == "replies"}
]

# Without the CNI in view, pod addresses may have a route of their own.
verb(caught, needed) := "enter" if certain(caught, needed)

verb(caught, needed) := "may enter" if not certain(caught, needed)

bypass(tunnel, caught) := sprintf("; %s lacks %s%s", [key(tunnel), text.list(lacking(caught)), suggestion(caught)]) if {
	count(lacking(caught)) > 0
	count(overruled(caught)) == 0
}

# A longer prefix of the tunnel's in the same table.
bypass(_, caught) := sprintf(
	"; the bypass holds it, but the longer route %s of the tunnel wins over it in the main table: take it from the tunnel's routes",
	[text.set_list(overruled(caught))],
) if {
	count(overruled(caught)) > 0
}

bypass(_, caught) := "" if count(lacking(caught)) == 0

overruled(caught) := {route | some c in caught; some route in c.overruled}

# The whole list as the image reads it. Each cluster has another one.
suggestion(caught) := sprintf("; write %s", [concat(" and ", split(caught[0].suggestion, "\n"))]) if one_suggestion(caught)

suggestion(caught) := "" if not one_suggestion(caught)

one_suggestion(caught) if {
	count(caught) == 1
	caught[0].suggestion != ""
}

# In the order in which the suggestion writes them: a reader holds the one against the other.
lacking(caught) := [prefix |
	some i, c in caught
	some j, prefix in c.missing
	not before(caught, i, j, prefix)
]

before(caught, i, _, prefix) if {
	some k, c in caught
	k < i
	prefix in c.missing
}

before(caught, i, j, prefix) if prefix in array.slice(caught[i].missing, 0, j)

key(tunnel) := sprintf("its bypass list (%s)", [tunnel.bypass.key]) if tunnel.bypass.key != ""

key(tunnel) := "its bypass list" if tunnel.bypass.key == ""

related(tunnel, met, declared) := array.concat(
	array.concat(
		[{"ref": tunnel.routes.ref, "says": sprintf("captured by %s", [tunnel.routes.why])} |
			places.written(tunnel.routes.ref)
			tunnel.routes.why != ""
		],
		[{"ref": n.ref, "says": sprintf("%s needs the cluster: %s", [n.container, n.says])} |
			some n in met
			places.written(n.ref)
		],
	),
	places.ranges(declared),
)

# A template may have kept the list out.
missing(tunnel) := [tunnel.bypass.key |
	tunnel.bypass.state == "absent"
	tunnel.bypass.key != ""
]

destination(caught, needed) := [prefix | some c in caught; some hit in capture.hits(c, needed); some prefix in hit.prefixes][0]

verify(tunnel, met) := object.union(
	{"tunnel": tunnel.container, "container": first_container(met)},
	behind(tunnel),
)

first_container(met) := sort([n.container | some n in met])[0]

# Something that is meant to be reached through the tunnel.
behind(tunnel) := {"behind": private(tunnel)[0]} if count(private(tunnel)) > 0

behind(tunnel) := {} if count(private(tunnel)) == 0

private(tunnel) := [p.prefix | some p in tunnel.routes.prefixes; not endswith(p.prefix, "/0"); not endswith(p.prefix, "/1")]
