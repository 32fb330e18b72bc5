# METADATA
# title: no way back to the clients' addresses
# description: |
#   Forwarding is necessary and not sufficient. A gateway that only forwards sends the clients'
#   packets on with addresses of its client pool. The cluster's network has no route to a private
#   pool, so the request arrives, the reply is sent to the default gateway and is lost there. From the
#   client it looks as if forwarding were off.
#
#   Usually the gateway translates the pool into its own address: `iptables -t nat -A POSTROUTING -s
#   POOL -o eth0 -j MASQUERADE` in a hook or start script, or the image does it by itself. Otherwise
#   something must lead the pool back to this pod: a route of the cloud network, or Calico routing it.
#   A pool that is routed also has to pass the source checks of the CNI, which this rule looks at where
#   a plan says that the pool is routed. Calico drops what a pod sends with foreign addresses, unless its
#   annotation `cni.projectcalico.org/allowedSourcePrefixes` asks for them and Felix heeds it
#   (`workloadSourceSpoofing: Any`); without that setting Felix refuses the endpoint of such a pod
#   altogether. Cilium has a switch for all pods only: `enable-source-ip-verification` of its ConfigMap,
#   `daemon.enableSourceIPVerification` of its chart.
#
#   With translation, policies and firewalls see the gateway's address and never the client's.
#
#   Clients that only need services of the cluster need no way back for their pool at all: a VPN that
#   ends at a service's address, with a proxy behind it, is the smaller design and keeps the pool out
#   of the cluster's routing.
# related_resources:
#   - ref: https://www.netfilter.org/documentation/HOWTO/NAT-HOWTO.html
#     description: "netfilter: masquerading"
#   - ref: https://github.com/kylemanna/docker-openvpn
#     description: "kylemanna/openvpn: OVPN_NAT, OVPN_DEFROUTE"
#   - ref: https://docs.tigera.io/calico/latest/reference/resources/felixconfig
#     description: "Calico: workloadSourceSpoofing"
# custom:
#   id: VPN109
#   name: return-path-missing
#   severities: [error, warning]
#   family: forwarding
#   claims:
#     - F8: "nothing in this pod translates the clients' pool 10.246.0.0/24"
#     - M9: "requests of clients leave it with pool addresses, and the replies find no way back"
#   fires: |
#     A gateway with a private client pool forwards in the kernel, nothing in the pod masquerades the
#     pool, and nothing in the tree leads it back. **Error** when what the image does by itself is known
#     and its configuration is in view, **warning** otherwise. **Warning**, too: the plan says that the
#     pool is routed, and the source check of Calico or Cilium in view drops the clients' packets.
#   silent: |
#     - a script, a hook, a variable or the image itself masquerades the pool
#     - a route or a Calico pool in the tree holds the pool
#     - the tunnel connects whole networks (peers with networks behind them, OpenVPN `route`)
#     - translation in user space: Tailscale, SecureNAT, NetBird's netstack mode
#     - for the source check: the annotation `cni.projectcalico.org/allowedSourcePrefixes`, unless a
#       FelixConfiguration in view does not allow it; Cilium without that check, behind another CNI, or
#       whose configuration is not in view; another CNI, a cluster that is not known, and a translation
#       that cannot be seen
#     - the pod is on the host network, or has further networks whose routers may know the pool
#     - scripts or configuration that may masquerade cannot be seen
#   remedy: "Masquerade the pool in the pod (iptables -t nat -A POSTROUTING -s POOL ! -o TUNNEL -j MASQUERADE), or give the cluster network a route to it."
#   verify: [translation, forwarding, ladder]
#   needs: ["facts.pods.role=gateway", facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn109

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in pods.forwarders
	pod.host_network.value == "false"
	some tunnel in pod.tunnels
	tunnel.side == "server"
	tunnel.user_space != "present"
	tunnel.masquerade.state == "absent"
	tunnel.pool_routed.state == "absent"
	count(private(tunnel)) > 0
	finding := {
		"ref": tunnel.masquerade.ref,
		"pod": pod.id,
		"severity": severity(tunnel),
		"message": sprintf(
			"nothing in this pod translates the clients' pool %s (%s), and nothing in the tree leads it back here: requests of clients leave it with pool addresses, and %s",
			[text.set_list(private(tunnel)), tunnel.masquerade.why, lost(pod)],
		),
		"containers": pods.data_plane(pod),
		"related": array.concat(
			[{"ref": p.ref, "says": sprintf("clients get addresses of %s", [p.prefix])} |
				some p in tunnel.pool
				places.written(p.ref)
				p.prefix in private(tunnel)
			],
			[{"ref": c.source_check.ref, "says": c.source_check.why} | some c in checkers(pod); places.written(c.source_check.ref)],
		),
		"missing": ["MASQUERADE", "SNAT"],
		"verify": pods.gateway_checks(pod),
	}
}

# A pool that is routed to the pod leaves it with the clients' addresses.
findings contains finding if {
	some pod in pods.forwarders
	pod.host_network.value == "false"
	pod.attached.state == "absent"
	some tunnel in pod.tunnels
	tunnel.side == "server"
	tunnel.user_space != "present"
	tunnel.masquerade.state == "absent"
	some cluster in pods.clusters(pod)
	cluster.source_check.state == "present"
	some planned in cluster.plan.client_pools
	routed := brought(planned, tunnel)
	count(routed) > 0
	fate := checked(pod, cluster)
	finding := {
		"ref": places.either(pod.metadata, pod.ref),
		"pod": pod.id,
		"severity": "warning",
		"message": sprintf(
			"the plan routes the clients' pool %s to this pod and nothing translates it, but %s",
			[text.set_list(routed), fate],
		),
		"containers": pods.data_plane(pod),
		"clusters": {cluster.name | cluster.name != ""},
		"related": reasons(planned, cluster),
		"verify": pods.gateway_checks(pod),
	}
}

# Where the packets end: at the node, if its CNI checks sources, else the replies.
lost(pod) := sprintf("%s drops them at the node, because they are not the pod's own", [text.set_list({title(c.cni) | some c in checkers(pod)})]) if {
	count(checkers(pod)) > 0
} else := "the replies find no way back"

# Further interfaces are nothing that the CNI checks.
checkers(pod) := [c |
	pod.attached.state == "absent"
	not pod.annotations["cni.projectcalico.org/allowedSourcePrefixes"]
	some c in pods.clusters(pod)
	c.source_check.state == "present"
	c.cni in {"calico", "cilium"}
]

title("calico") := "Calico"

title("cilium") := "Cilium"

# What the CNI makes of the pod's packets with the clients' addresses.
checked(pod, cluster) := sprintf(
	"Calico%s drops what a pod sends with addresses that are not its own: requests of clients end at the node unless the annotation cni.projectcalico.org/allowedSourcePrefixes names the pool and Felix's workloadSourceSpoofing is Any",
	[text.of_cluster(cluster.name)],
) if {
	cluster.cni == "calico"
	not pod.annotations["cni.projectcalico.org/allowedSourcePrefixes"]
}

checked(pod, cluster) := sprintf(
	"Calico%s does not allow what the pod's annotation cni.projectcalico.org/allowedSourcePrefixes asks for (%s): Felix refuses the pod's endpoint, and no packet enters or leaves it",
	[text.of_cluster(cluster.name), cluster.spoofing_allowed.why],
) if {
	cluster.cni == "calico"
	pod.annotations["cni.projectcalico.org/allowedSourcePrefixes"]
	cluster.spoofing_allowed.state == "absent"
}

checked(_, cluster) := sprintf(
	"Cilium%s drops what a pod sends with addresses that are not its own: requests of clients end at the node unless enable-source-ip-verification is false there",
	[text.of_cluster(cluster.name)],
) if {
	cluster.cni == "cilium"
}

# The part of the tunnel's pool that the plan says is routed.
brought(planned, tunnel) := {p.prefix |
	planned.routed.state == "present"
	some p in tunnel.pool
	net.cidr_contains(planned.range.prefix, p.prefix)
}

reasons(planned, cluster) := [r |
	some r in [
		{"ref": planned.routed.ref, "says": sprintf("the plan says that %s is routed", [planned.range.text])},
		{"ref": cluster.source_check.ref, "says": cluster.source_check.why},
		{"ref": cluster.spoofing_allowed.ref, "says": cluster.spoofing_allowed.why},
	]
	places.written(r.ref)
]

severity(tunnel) := "error" if visible(tunnel)

severity(tunnel) := "warning" if not visible(tunnel)

visible(tunnel) if {
	tunnel.image_known
	places.written(tunnel.config)
}

# The pools that only this gateway knows. A public one is routed, or nobody uses it.
private(tunnel) := {p.prefix |
	some p in tunnel.pool
	some block in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"]
	net.cidr_contains(block, p.prefix)
}
