# METADATA
# title: IPv6 leaves outside a tunnel that carries IPv4 only
# description: |
#   In a dual-stack cluster a pod has an IPv6 address and an IPv6 default route of its own. A tunnel
#   with `AllowedIPs = 0.0.0.0/0` takes the IPv4 default route and nothing else. The resolver answers
#   with AAAA records, applications prefer them, and these connections leave by `eth0`, with the node's
#   address and outside the tunnel. Meanwhile a test of the tunnel over IPv4 shows nothing wrong. A kill switch made
#   of `iptables` rules does not see IPv6 either; that needs `ip6tables`.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/dual-stack/
#     description: "Kubernetes: IPv4/IPv6 dual-stack"
#   - ref: https://git.zx2c4.com/wireguard-tools/about/src/man/wg-quick.8
#     description: "wg-quick: a kill switch needs both families"
# custom:
#   id: VPN313
#   name: ipv6-outside-tunnel
#   severities: [warning]
#   family: sidecar
#   claims:
#     - C8: "outside the tunnel, whether it is up or down"
#   fires: |
#     The pod's cluster has pod ranges of both families, the tunnel takes the IPv4 default route and no
#     IPv6 default route, and neither it, nor a sysctl, nor an egress policy stops IPv6.
#   silent: |
#     - several clusters are equally near by directory, so that the pod's is not known
#     - the tunnel takes `::/0`, or a hook or the image drops IPv6
#     - IPv6 is disabled in the pod (`net.ipv6.conf.all.disable_ipv6=1`)
#     - a default-deny egress policy selects the pod
#     - a split tunnel, whose purpose is not all traffic
#     - the cluster's pod ranges are of one family or not in view; the tunnel's routes, hooks or the
#       image's own IPv6 rules cannot be seen
#   remedy: "Add ::/0 to the tunnel's routes, or set the pod sysctl net.ipv6.conf.all.disable_ipv6=1, or drop IPv6 with ip6tables."
#   verify: [ipv6]
#   needs: [facts.pods.tunnels.ipv6.state=absent, facts.clusters.ranges, "facts.pods.role=sidecar | facts.pods.role=client"]
#   since: "0.1"
package vpnlint.rules.vpn313

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client"}
	pods.own_namespace(pod)
	pod.ipv6_off.state == "absent"
	pod.egress.deny_by_default == "absent"
	some tunnel in pod.tunnels
	tunnel.side == "client"
	tunnel.user_space != "present"
	tunnel.routes.state == "present"
	tunnel.routes.internet
	tunnel.ipv6.state == "absent"
	dual := [c | some c in pods.clusters(pod); dual_stack(c)]
	count(dual) > 0
	finding := {
		"ref": places.either(tunnel.routes.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"%s in container %s takes IPv4 only (%s), but pods%s have IPv6 addresses too (%s): IPv6 packets of %s leave by the pod's own default route, outside the tunnel, whether it is up or down",
			[
				tunnel.family_title, tunnel.container, tunnel.routes.why, text.of_cluster(dual[0].name),
				text.set_list({r.prefix | some c in dual; some r in sixes(c)}), text.containers(pods.sharing(pod)),
			],
		),
		"containers": pods.sharing(pod),
		"clusters": {c.name | some c in dual; c.name != ""},
		"related": places.ranges([r | some c in dual; some r in sixes(c)]),
		"verify": {"container": pods.first_data_plane(pod)},
	}
}

# Evidence such as one node's part does not make a cluster dual-stack.
declared(cluster) := [r | some r in cluster.ranges; r.role == "pod"; r.strength != "evidence"]

sixes(cluster) := [r | some r in declared(cluster); contains(r.prefix, ":")]

dual_stack(cluster) if {
	count(sixes(cluster)) > 0
	some r in declared(cluster)
	not contains(r.prefix, ":")
}
