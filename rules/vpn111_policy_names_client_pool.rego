# METADATA
# title: a policy names the client pool, which nobody sees
# description: |
#   A gateway that masquerades its clients' pool sends their packets on with its own address. Network
#   policies, cloud firewalls and allow-lists look at these packets after that translation: they see the
#   address of the gateway's pod, or of its node, and not one of the pool. A rule that admits the pool
#   matches none of them, and the clients are kept out without a word; a rule that denies it lets them
#   in. Only a host that is a member of the same VPN itself sends and receives with addresses of the
#   pool, inside the tunnel, where no policy of the cluster looks.
#
#   Select the gateway's pod instead (`namespaceSelector` and `podSelector`), or stop translating and
#   route the pool. Who may use the VPN at all is decided on the gateway.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/
#     description: "Kubernetes: ipBlock and address translation"
# custom:
#   id: VPN111
#   name: policy-names-client-pool
#   severities: [warning]
#   family: forwarding
#   claims:
#     - F9: "what clients send through the gateway has that source"
#   fires: |
#     A NetworkPolicy, a policy of Calico or Cilium, or a ComputeFirewall names a source range that
#     equals or lies inside the client pool of a gateway of its cluster that masquerades the pool.
#   silent: |
#     - the pool is not masqueraded, or whether it is cannot be seen
#     - the range is wider than the pool, or takes it out of a wider one (`except`)
#     - the range is a destination
#     - policy and gateway belong to different clusters
#   remedy: "Name what the policy really sees: the gateway's pod (a podSelector, with a namespaceSelector where it is in another namespace), or its node's address in a firewall outside. Or stop masquerading the pool."
#   verify: [pool-capture]
#   needs: [facts.policy_blocks, "facts.pods.role=gateway"]
#   since: "0.1"
package vpnlint.rules.vpn111

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some block in input.facts.policy_blocks
	block.source
	not block.except
	block.known
	hidden := [h | some h in pools; same_cluster(h.pod, block); inside(h.prefix, block.prefix)]
	count(hidden) > 0
	pod := hidden[0].pod
	containers := {name | some h in hidden; some name in pods.data_plane(h.pod)}
	finding := {
		"ref": block.ref,
		"message": sprintf(
			"%s, which %s translates into the gateway's own address: what clients send through the gateway has that source, and this entry of the %s matches none of it",
			[place(block.prefix, hidden[0].prefix), text.containers(containers), block.object.kind],
		),
		"containers": containers,
		"clusters": pod.clusters,
		"related": array.concat(
			[{"ref": h.tunnel.masquerade.ref, "says": h.tunnel.masquerade.why} | some h in hidden; places.written(h.tunnel.masquerade.ref)],
			[{"ref": h.at, "says": sprintf("the clients' pool %s", [h.prefix])} | some h in hidden; places.written(h.at)],
		),
		"verify": {"workload": pod.workload, "namespace": pod.namespace, "destination": block.prefix},
	}
}

# Pools that a gateway hides.
pools := [{"pod": pod, "tunnel": tunnel, "prefix": pool.prefix, "at": pool.ref} |
	some pod in input.facts.pods
	pod.role == "gateway"
	some tunnel in pod.tunnels
	tunnel.masquerade.state == "present"
	some pool in tunnel.pool
]

inside(pool, block) if net.cidr_contains(pool, block)

same_cluster(pod, block) if block.cluster in pod.clusters

same_cluster(pod, block) if {
	block.cluster == ""
	count(pod.clusters) == 0
}

place(block, pool) := sprintf("%s is the client pool", [block]) if block == pool

place(block, pool) := sprintf("%s lies in the client pool %s", [block, pool]) if block != pool
