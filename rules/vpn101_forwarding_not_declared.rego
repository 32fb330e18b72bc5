# METADATA
# title: a VPN gateway pod does not declare that it forwards
# description: |
#   A VPN server, subnet router or exit node forwards the packets of other hosts. The kernel drops
#   them unless `net.ipv4.ip_forward` is 1 in the pod's own network namespace. The tunnel then comes
#   up and its own address answers, because that packet ends there; everything behind it times out.
#   Setting it on the node or in another pod is no declaration, and `kubectl exec ... sysctl -w` is
#   gone with the next restart: only what the pod's manifest holds lasts.
#
#   Before writing it by hand, see whether the chart has a switch for it. A pod-level sysctl needs no
#   privileged container, but the kubelet must allow it (`allowedUnsafeSysctls`): a pod whose sysctl
#   is not allowed is scheduled and then fails with the reason `SysctlForbidden`. An init container
#   works everywhere, but must be privileged. Clients that only need services of the cluster can also
#   end at a proxy in front of them: nothing is forwarded then, and the clients' pool stays out of the
#   cluster's routing.
#
#   **Where the wire disagrees with the folklore.** It is often said that a new network namespace
#   starts with forwarding off. For IPv4 that is not so: with `net.core.devconf_inherit_init_net=0`,
#   the default, Linux copies the IPv4 settings of the initial namespace, `ip_forward` among them.
#   Measured on Linux 6.18: on a node with 1 a new namespace has 1, on a node with 0 it has 0, and
#   IPv6 forwarding is 0 on both. So vpnlint does not claim that forwarding *is* 0 in this pod, only
#   that nothing in the manifest says otherwise: what the pod gets is the node's setting at the moment
#   when its sandbox is made, which the next node image may change. Where a CNI in view writes 0 into
#   every pod, as Calico's does unless told otherwise, it is 0 for certain, and this is an error.
# related_resources:
#   - ref: https://docs.kernel.org/networking/ip-sysctl.html
#     description: "Linux: ip_forward and conf/all/forwarding"
#   - ref: https://docs.kernel.org/admin-guide/sysctl/net.html
#     description: "Linux: devconf_inherit_init_net, what a new network namespace starts with"
#   - ref: https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/
#     description: "Kubernetes: sysctls of a pod"
#   - ref: https://docs.tigera.io/calico/latest/reference/installation/api
#     description: "Calico: containerIPForwarding"
# custom:
#   id: VPN101
#   name: forwarding-not-declared
#   severities: [warning, error]
#   family: forwarding
#   claims:
#     - F1: "reach the gateway itself, and its kernel drops every packet for anything behind it"
#     - F2: "nothing in this pod's manifest turns IPv4 forwarding on"
#     - F4: "net.ipv4.ip_forward is what the node hands to a new sandbox"
#     - F10: "end at a proxy in front of them: nothing is forwarded then"
#   fires: |
#     A gateway pod whose manifest nowhere makes `net.ipv4.ip_forward=1` certain in its own network
#     namespace. An image that writes the setting itself, but lacks the privilege to do so, counts
#     here. **Error** where a CNI of the same cluster in view writes 0 into every new pod: Calico
#     without `containerIPForwarding: Enabled` or `allow_ip_forwarding`. **Warning** otherwise.
#   silent: |
#     - everything that the gateway's tunnels carry is IPv6
#     - the pod's `securityContext.sysctls` sets it
#     - a privileged init or main container writes it before the VPN needs it, in any spelling
#     - the image writes it and has the privilege
#     - `hostNetwork: true`, or a data plane in user space
#     - the plan says `podForwarding: guaranteed`, or nodes or CNI in view guarantee it in every pod: GKE's
#       `linuxNodeConfig.sysctls`, CRI-O's `default_sysctls`, the tuning plugin, `defaultPodSysctls`
#     - VPN102, VPN103, VPN106 or VPN107 reports the pod
#     - a script that might set it cannot be seen
#   remedy: "Declare it where it lasts: the pod sysctl net.ipv4.ip_forward=1 (the kubelet must allow it), or a privileged init container that runs sysctl -w net.ipv4.ip_forward=1; in a chart, throw its switch."
#   verify: [forwarding, ladder]
#   needs: ["facts.pods.role=gateway"]
#   since: "0.1"
package vpnlint.rules.vpn101

import data.vpnlint.lib.places
import data.vpnlint.lib.pods

findings contains finding if {
	some pod in pods.forwarders4
	ipv4 := pod.forwarding.ipv4
	ipv4.state == "absent"
	finding := {
		"ref": places.either(ipv4.field_ref, pod.ref),
		"pod": pod.id,
		"severity": severity(ipv4),
		"message": message(pod, ipv4),
		"containers": pods.data_plane(pod),
		"related": related(ipv4),
		"missing": ["ip_forward", "conf.all.forwarding", "conf/all/forwarding"],
		"verify": pods.gateway_checks(pod),
	}
}

severity(ipv4) := "error" if ipv4.turned_off == "present"

severity(ipv4) := "warning" if ipv4.turned_off != "present"

message(pod, ipv4) := sprintf(
	"%s, and the cluster's CNI writes 0 into every new pod (%s): %s",
	[nothing(ipv4), ipv4.turned_off_by, pods.dropped(pod)],
) if {
	ipv4.turned_off == "present"
}

message(pod, ipv4) := sprintf(
	"%s: net.ipv4.ip_forward is what the node hands to a new sandbox; where that is 0, %s",
	[nothing(ipv4), pods.dropped(pod)],
) if {
	ipv4.turned_off != "present"
}

nothing(ipv4) := "nothing in this pod's manifest turns IPv4 forwarding on" if ipv4.field == ""

# Nobody but the operator has the manifest of a pod that it makes.
nothing(ipv4) := sprintf("nothing turns IPv4 forwarding on in the pod that the operator makes, as %s would", [ipv4.field]) if {
	ipv4.field != ""
}

related(ipv4) := array.flatten([
	[{"ref": ipv4.turned_off_ref, "says": "forwarding is turned off in every pod of the cluster here"} |
		ipv4.turned_off == "present"
	],
	[{"ref": e.ref, "says": sprintf("%s: %s", [e.says, why(e)])} |
		some e in ipv4.evidence
		e.how != "container-sysctl"
		e.value == "1"
		e.effective == "absent"
	],
	pods.misplaced(ipv4),
])

why(e) := "without effect, for the container may not write it" if e.how != "kubectl-exec"

why(e) := "it lasts until the pod restarts" if e.how == "kubectl-exec"
