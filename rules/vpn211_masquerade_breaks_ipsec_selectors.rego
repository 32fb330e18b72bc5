# METADATA
# title: packets are masqueraded before they reach the IPsec policy that is for them
# description: |
#   Policy-based IPsec takes a packet by its addresses: source inside the local selector, destination
#   inside the remote one. A masquerade rule on the way changes the source to the node's or the pod's
#   own address. The packet no longer fits any policy and leaves in the clear, towards an address that
#   only exists behind the tunnel. The tunnel is up all the while.
#
#   Exempt the remote networks (in Calico by a disabled IPPool that holds them), or let packets with a
#   policy pass first: `-m policy --dir out --pol ipsec -j ACCEPT`.
# related_resources:
#   - ref: https://docs.strongswan.org/docs/latest/howtos/forwarding.html
#     description: "strongSwan: forwarding and NAT"
#   - ref: https://docs.tigera.io/calico/latest/reference/resources/ippool
#     description: "Calico: natOutgoing and disabled pools"
# custom:
#   id: VPN211
#   name: masquerade-breaks-ipsec-selectors
#   severities: [warning]
#   family: masquerade
#   claims:
#     - M8: "they no longer match the selectors of the IPsec tunnel in container strongswan and leave outside it"
#   fires: |
#     A strongSwan or Libreswan tunnel has traffic selectors on both sides, and a masquerade rule
#     rewrites packets from the local ones to the remote ones: a rule of the pod's own scripts or of a
#     connection's `leftupdown` (iptables, iptables-restore, nft; MASQUERADE, or SNAT to an address that
#     the local selectors do not hold), and for a tunnel on the host network a masquerade agent, Calico's
#     natOutgoing, flannel's `--ip-masq` and the flannel of k3s, Cilium's rules of iptables,
#     kube-router's `--enable-pod-egress`, OVN-Kubernetes with `routingViaHost`, or the AWS VPC CNI.
#     Where a script masquerades and the pod range is not known, the message says what it depends on.
#   silent: |
#     - the remote networks are exempt: any IPPool of Calico holds them, the agent's list does, or a
#       rule before the other one returns or accepts for them
#     - a rule before it lets packets with an IPsec policy pass, or it takes only those without one
#     - the address that takes the source's place is one that the local selectors hold, or may be: the
#       pod range for a script's MASQUERADE in a pod, the nodes', or Calico's natOutgoingAddress
#     - masquerading that bypasses the host's netfilter: Cilium's in BPF, OVN-Kubernetes without `routingViaHost`
#     - what is exempt cannot be read: the range of one of Calico's pools, a script or a rules file that
#       is not in the tree, a rule of which a part is known at run time only
#     - selectors of 0.0.0.0/0, servers for clients that call from anywhere
#     - selectors that cannot be seen
#   remedy: "Exempt the remote selectors from the masquerade rule, or guard it with -m policy --dir out --pol none."
#   verify: [capture]
#   needs: [facts.pods.tunnels.rewrites]
#   since: "0.1"
package vpnlint.rules.vpn211

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in pod.tunnels
	some rewrite in tunnel.rewrites
	count(rewrite.prefixes) > 0
	finding := {
		"ref": rewrite.ref,
		"pod": pod.id,
		"message": sprintf(
			"%s rewrites the source of packets from %s to %s: %sthey no longer match the selectors of the IPsec tunnel in container %s and leave outside it",
			[rewrite.says, text.list(rewrite.sources), text.list(rewrite.prefixes), unless(rewrite), tunnel.container],
		),
		"containers": {tunnel.container},
		"related": array.concat(
			[{"ref": r.ref, "says": sprintf("remote selector %s", [r.prefix])} | some r in tunnel.routes.prefixes; places.written(r.ref)],
			[{"ref": l.ref, "says": sprintf("local selector %s", [l.prefix])} | some l in tunnel.local; places.written(l.ref)],
		),
		"verify": {"container": pods.first_data_plane(pod), "destination": sort(rewrite.prefixes)[0]},
	}
}

# What would have to hold for the packets to fit all the same.
unless(rewrite) := "" if rewrite.unless == ""

unless(rewrite) := sprintf("unless %s, ", [rewrite.unless]) if rewrite.unless != ""
