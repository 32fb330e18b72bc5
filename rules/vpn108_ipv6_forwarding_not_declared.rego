# METADATA
# title: a VPN gateway hands out IPv6 and does not forward it
# description: |
#   IPv6 has a forwarding switch of its own, `net.ipv6.conf.all.forwarding`. Setting
#   `net.ipv4.ip_forward` does not touch it, and unlike IPv4 a new network namespace starts with 0,
#   whatever the node has (unless `net.core.devconf_inherit_init_net` on the node says otherwise). A
#   gateway that gives its clients IPv6 addresses, or announces IPv6 routes, then takes their IPv6
#   packets and drops them. Clients prefer IPv6, so that names with both kinds of addresses hang or
#   fall back slowly while IPv4 addresses work.
#
#   Either forward both families or give the clients IPv4 only.
# related_resources:
#   - ref: https://docs.kernel.org/networking/ip-sysctl.html
#     description: "Linux: conf/all/forwarding of IPv6"
#   - ref: https://docs.kernel.org/admin-guide/sysctl/net.html
#     description: "Linux: devconf_inherit_init_net, what a new network namespace starts with"
# custom:
#   id: VPN108
#   name: ipv6-forwarding-not-declared
#   severities: [warning]
#   family: forwarding
#   claims:
#     - F2: "which starts as 0 in a new network namespace"
#   fires: |
#     A gateway has an IPv6 client pool or tunnel address, the image's default included, or advertises
#     IPv6 routes, and nothing in its manifest sets `net.ipv6.conf.all.forwarding=1`.
#   silent: |
#     - a pod sysctl or a privileged script sets it, or an image does that and has the privilege
#     - IPv6 is off: `disable_ipv6`, or the image's own switch
#     - only what clients route is IPv6 (`::/0` in their files)
#     - `hostNetwork: true`, a data plane in user space, scripts that cannot be seen
#   remedy: "Set net.ipv6.conf.all.forwarding=1 in the same place as the IPv4 setting, or turn IPv6 off in the VPN."
#   verify: [forwarding-ipv6]
#   needs: ["facts.pods.role=gateway", facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn108

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in pods.forwarders
	pod.forwarding.ipv6.state == "absent"
	pod.forwarding.ipv6_off == "absent"
	pod.host_network.value == "false"
	found := [p | some tunnel in pod.tunnels; some p in six(tunnel)]
	count(found) > 0
	carriers := {tunnel.container | some tunnel in pod.tunnels; count(six(tunnel)) > 0}
	finding := {
		"ref": pod.ref,
		"pod": pod.id,
		"message": sprintf(
			"%s %s IPv6 (%s), and nothing in this pod's manifest sets net.ipv6.conf.all.forwarding=1, which starts as 0 in a new network namespace: the gateway's kernel drops its clients' IPv6 packets",
			[text.containers(carriers), carry(carriers), text.set_list({p.prefix | some p in found})],
		),
		"containers": pods.data_plane(pod),
		"related": array.concat(
			[{"ref": p.ref, "says": sprintf("%s is IPv6", [p.prefix])} | some p in found; places.written(p.ref)],
			pods.misplaced(pod.forwarding.ipv6),
		),
		"missing": ["ipv6", "conf.all.forwarding", "conf/all/forwarding"],
		"verify": pods.gateway_checks(pod),
	}
}

# What a server gives to its clients, and what a member of a mesh announces. The
# addresses of a mesh itself are nothing that it forwards to.
six(tunnel) := array.concat(pool, own) if {
	tunnel.side == "server"
	tunnel.user_space != "present"
	pool := [p | some p in tunnel.pool; contains(p.prefix, ":")]
	own := [p | some p in tunnel.addresses; contains(p.prefix, ":"); not within(p.prefix, pool)]
}

six(tunnel) := [p | some p in tunnel.advertised; contains(p.prefix, ":"); p.prefix != "::/0"] if {
	tunnel.side != "server"
	tunnel.user_space == "absent"
}

within(prefix, pool) if {
	some p in pool
	net.cidr_contains(p.prefix, prefix)
}

carry(carriers) := "carries" if count(carriers) == 1

carry(carriers) := "carry" if count(carriers) > 1
