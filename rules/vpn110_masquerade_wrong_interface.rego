# METADATA
# title: the masquerade rule names an interface that packets may not leave by
# description: |
#   In an ordinary pod the uplink is called `eth0`, and a rule such as `-o eth0 -j MASQUERADE` is fine.
#   On the host network the uplink is the node's: `ens3`, `enp1s0`, `bond0`. In a pod with further
#   networks (Multus) it may be `net1`, by which the default route or the clients' destinations leave.
#   The rule then matches nothing. Requests of clients go out with addresses of their pool, and the
#   replies find no way back; counters of the rule that stay at 0 show it.
#
#   The other way round, a rule that was written for a machine and names its network card does nothing in
#   an ordinary pod: container runtimes ask the CNI for `eth0`.
#
#   A rule by source holds wherever the packets leave: `-s 10.8.0.0/24 ! -o wg0 -j MASQUERADE`.
# related_resources:
#   - ref: https://www.netfilter.org/documentation/HOWTO/NAT-HOWTO.html
#     description: "netfilter: masquerading"
#   - ref: https://github.com/k8snetworkplumbingwg/multus-cni
#     description: "Multus: interfaces are named net1, net2"
# custom:
#   id: VPN110
#   name: masquerade-wrong-interface
#   severities: [warning]
#   family: forwarding
#   claims:
#     - F8: "keeps its pool address, and the replies find no way back"
#   fires: |
#     All masquerade rules in view of a gateway, the image's own among them, whose interface a variable or
#     the image's default names (`WG_DEVICE`), are bound to `eth` interfaces (`-o eth0`, `-o eth+`),
#     and the pod is on the host network or has further networks. Or they are bound to a machine's network
#     card (`-o ens3`, `-o enp1s0`), and the pod has no interface but its own.
#   silent: |
#     - `eth0` in an ordinary pod with one interface, and other tunnels there
#     - the name of a network card on the host network
#     - a rule by source, or for everything but the tunnel (`! -o wg0`)
#     - a further network whose interface is named so that the rule matches it
#     - an image that finds the uplink by itself, and rules of a script that cannot be seen
#   remedy: "Bind the rule to the source range instead of the interface: -s POOL ! -o TUNNEL; a variable that names it is best left out in a pod."
#   verify: [translation]
#   needs: ["facts.pods.role=gateway", facts.pods.tunnels.masquerade_out]
#   since: "0.1"
package vpnlint.rules.vpn110

import data.vpnlint.lib.pods

findings contains finding if {
	some pod in input.facts.pods
	pod.role == "gateway"
	some place in elsewhere(pod)
	some tunnel in pod.tunnels
	every rule in tunnel.masquerade_out { bound(rule, pod) }
	some rule in tunnel.masquerade_out
	finding := {
		"ref": rule.ref,
		"pod": pod.id,
		"message": sprintf(
			"\"%s\" translates only what leaves by %s, and %s: what %s send out by another interface keeps its pool address, and the replies find no way back",
			[rule.says, rule.name, place.says, pods.clients(pod)],
		),
		"containers": pods.data_plane(pod),
		"related": [{"ref": place.ref, "says": place.note} | not plain(pod)],
		"verify": pods.gateway_checks(pod),
	}
}

bound(rule, pod) if {
	not plain(pod)
	startswith(rule.name, "eth")
	not named_alike(rule, pod)
}

bound(rule, pod) if {
	plain(pod)
	regex.match(card, rule.name)
}

# What Linux calls a machine's network card; a pod's own is eth0.
card := `^(en[opsx]([0-9].*|\+)|em[0-9]+|bond[0-9]+|venet[0-9]+|wl[a-z0-9]+)$`

plain(pod) if {
	pod.host_network.value == "false"
	pod.attached.state == "absent"
}

# A further network may be attached under a name that eth+ matches.
named_alike(rule, pod) if {
	rule.name == "eth+"
	contains(pod.attached.why, "eth")
}

# Why the uplink may be called something else.
elsewhere(pod) := {{
	"ref": pod.host_network.ref,
	"says": "on the host network the uplink has the name that the node gives it",
	"note": "the pod is on the host network",
}} if {
	pod.host_network.value == "true"
} else := {{
	"ref": pod.attached.ref,
	"says": sprintf("the pod has further networks (%s), whose interfaces are named otherwise", [pod.attached.why]),
	"note": "further networks are attached here",
}} if {
	pod.host_network.value == "false"
	pod.attached.state == "present"
} else := {{
	"ref": pod.attached.ref,
	"says": "the pod has eth0, as container runtimes name it, and no such network card",
	"note": "",
}} if {
	plain(pod)
} else := set()
