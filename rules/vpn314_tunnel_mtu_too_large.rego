# METADATA
# title: the tunnel's MTU does not fit into the pods' own
# description: |
#   WireGuard wraps each packet into 60 bytes of its own, 80 where the endpoint is an IPv6 address. A
#   tunnel whose MTU is larger than the pod interface's less that many bytes makes packets that do not
#   fit: they are cut into fragments at best, and firewalls and clouds drop fragments. Pings and
#   handshakes are small and pass; downloads and TLS certificates hang. Overlay networks (VXLAN, IPIP,
#   a mesh) have made the pods' MTU smaller than the usual 1500 already, so that 1420 is too much there.
# related_resources:
#   - ref: https://docs.tigera.io/calico/latest/networking/configuring/mtu
#     description: "Calico: MTU"
#   - ref: https://git.zx2c4.com/wireguard-tools/about/src/man/wg-quick.8
#     description: "wg-quick: MTU"
# custom:
#   id: VPN314
#   name: tunnel-mtu-too-large
#   severities: [warning]
#   family: sidecar
#   claims:
#     - F1: "cut into fragments or dropped on the way while pings pass"
#   fires: |
#     A WireGuard configuration or variable sets an MTU that exceeds the pods' MTU, as the CNI's
#     configuration in view says it, less 60 bytes; 80 where an endpoint is written as an IPv6 address.
#   silent: |
#     - several clusters are equally near by directory, so that the pod's is not known
#     - it fits
#     - the tunnel sets no MTU: wg-quick asks the route to the endpoint
#     - the CNI finds its MTU out by itself, or its configuration is not in view
#     - other kinds of tunnel, and hostNetwork, where the pods' MTU does not matter
#   remedy: "Set the tunnel's MTU to the pods' MTU less 60 (80 over IPv6), or leave it out."
#   verify: [packet-size]
#   needs: [facts.pods.tunnels.kind=wireguard, facts.clusters]
#   since: "0.1"
package vpnlint.rules.vpn314

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pods.own_namespace(pod)
	some tunnel in pod.tunnels
	tunnel.kind == "wireguard"
	tunnel.user_space != "present"
	tunnel.mtu.size > 0
	small := [c | some c in pods.clusters(pod); c.mtu.size > 0; tunnel.mtu.size > c.mtu.size - overhead(tunnel)]
	count(small) > 0
	finding := {
		"ref": places.either(tunnel.mtu.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"%s in container %s does not fit: pods%s have an MTU of %d (%s), and WireGuard adds %d bytes over %s: packets above %d bytes are cut into fragments or dropped on the way while pings pass",
			[
				tunnel.mtu.says, tunnel.container, text.of_cluster(small[0].name), small[0].mtu.size, small[0].mtu.says,
				overhead(tunnel), family(tunnel), small[0].mtu.size - overhead(tunnel),
			],
		),
		"containers": pods.sharing(pod),
		"clusters": {c.name | some c in small; c.name != ""},
		"related": [{"ref": c.mtu.ref, "says": sprintf("the pods' MTU is set here: %s", [c.mtu.says])} |
			some c in small
			places.written(c.mtu.ref)
		],
		"verify": {"tunnel": tunnel.container},
	}
}

overhead(tunnel) := 80 if tunnel.mtu.outer6

overhead(tunnel) := 60 if not tunnel.mtu.outer6

family(tunnel) := "IPv6" if tunnel.mtu.outer6

family(tunnel) := "IPv4" if not tunnel.mtu.outer6
