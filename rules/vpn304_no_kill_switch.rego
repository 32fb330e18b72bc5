# METADATA
# title: nothing stops traffic outside the tunnel while it is down
# description: |
#   A tunnel sidecar changes routes. While it starts, reconnects or has crashed, those routes are not
#   there, and the application's packets take the pod's ordinary default route: they leave with the
#   node's address, unencrypted. On a healthy cluster the gap is short, on a broken one it is
#   permanent, and the application sees no error.
#
#   A running sidecar is no egress policy. What stops such packets is the image's own kill switch, a
#   firewall rule in `PostUp`, or a NetworkPolicy that denies egress by default and admits the
#   tunnel's own transport: its address or port, and DNS. A policy outside the pod also holds when
#   the sidecar is gone. Inside the tunnel it sees nothing.
#
#   Plain flannel enforces no NetworkPolicy at all: the objects are accepted and have no effect.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/network-policies/
#     description: "Kubernetes: network policies"
#   - ref: https://man7.org/linux/man-pages/man8/wg-quick.8.html
#     description: "wg-quick: a kill switch in PostUp"
# custom:
#   id: VPN304
#   name: no-kill-switch
#   severities: [warning, note]
#   family: sidecar
#   claims:
#     - C8: "has no kill switch that is on, and no network policy limits the pod's egress"
#     - C9: "while it is down, all packets of container fetcher leave the node in the clear"
#   fires: |
#     A pod with an application sends it through a tunnel whose kill switch is off or which has none,
#     and no policy in force limits the pod's egress to the tunnel's transport (none is in force where
#     plain flannel is the only CNI in view). **Warning** for a tunnel
#     that carries the default route, or most of it, **note** for a split tunnel.
#   silent: |
#     - the image's kill switch is on, or hooks or scripts reject what would leave outside the tunnel
#     - a policy of Kubernetes, Calico or Cilium limits egress to the tunnel's address or port, with or
#       without DNS and the cluster
#     - an ordinary init container has made WireGuard's interface, which stays with its routes as long
#       as the pod, and no script takes it down
#     - servers and gateways, members of a mesh that take no routes, data planes in user space
#     - a test of a chart, which only runs when `helm test` asks for it
#     - the configuration, a hook or a policy cannot be made out
#   remedy: "Turn the image's kill switch on, or add an egress policy that admits only the tunnel's endpoint."
#   verify: [kill-test]
#   needs: [facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn304

import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client"}
	not pods.helm_test(pod)
	pod.egress.tunnel_only == "absent"
	some tunnel in pod.tunnels
	leaks(pod, tunnel)
	finding := {
		"ref": tunnel.kill_switch.ref,
		"pod": pod.id,
		"severity": severity(tunnel),
		"message": message(pod, tunnel),
		"containers": affected(pod, tunnel),
		"related": related(pod),
		"verify": {"tunnel": tunnel.container, "container": pods.first_application(pod)},
	}
}

leaks(pod, tunnel) if {
	tunnel.side in {"client", "mesh"}
	tunnel.user_space == "absent"
	tunnel.routes.state == "present"
	tunnel.kill_switch.state == "absent"
	count(affected(pod, tunnel)) > 0
}

# Those whose packets the tunnel is for.
affected(pod, tunnel) := {c.name | some c in pod.containers; concerned(c, tunnel)}

concerned(container, _) if container.application

concerned(container, tunnel) if {
	container.combined
	container.name == tunnel.container
}

severity(tunnel) := "warning" if tunnel.routes.internet

severity(tunnel) := "note" if not tunnel.routes.internet

message(pod, tunnel) := sprintf(
	"%s has no kill switch that is on, and %s: while it is down, %s leave the node in the clear",
	[text.tunnel(tunnel), policy(pod), what(pod, tunnel)],
)

what(pod, tunnel) := sprintf("all packets of %s", [text.containers(affected(pod, tunnel))]) if tunnel.routes.default

what(pod, tunnel) := sprintf("packets of %s to %s%s", [text.containers(affected(pod, tunnel)), most(tunnel), text.list(prefixes(tunnel))]) if {
	not tunnel.routes.default
}

# A list without the private ranges, too long to show what it comes to.
most(tunnel) := "most of the internet, " if tunnel.routes.internet

most(tunnel) := "" if not tunnel.routes.internet

# A long list is cut short.
prefixes(tunnel) := list if {
	list := [p.prefix | some p in tunnel.routes.prefixes]
	count(list) <= 4
}

prefixes(tunnel) := array.concat(array.slice(list, 0, 3), [sprintf("%d more", [count(list) - 3])]) if {
	list := [p.prefix | some p in tunnel.routes.prefixes]
	count(list) > 4
}

policy(pod) := "the pod's network policies are void, since flannel enforces none" if pod.egress.unenforced.state == "present"

policy(pod) := "no network policy limits the pod's egress" if {
	pod.egress.unenforced.state != "present"
	pod.egress.deny_by_default == "absent"
}

policy(pod) := "the pod's network policies admit more than the tunnel's transport" if {
	pod.egress.unenforced.state != "present"
	pod.egress.deny_by_default != "absent"
}

related(pod) := array.concat(
	[{"ref": pod.egress.unenforced.ref, "says": "the cluster's CNI is flannel"} | pod.egress.unenforced.state == "present"],
	[{"ref": p, "says": "this policy selects the pod"} | some p in pod.egress.policies],
)
