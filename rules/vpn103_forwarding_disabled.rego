# METADATA
# title: a VPN gateway pod turns forwarding off
# description: |
#   `net.ipv4.ip_forward=0` in the gateway's own network namespace makes the kernel drop every packet
#   that is not for the pod itself. The tunnel comes up, its own address answers, and everything
#   behind it times out.
# related_resources:
#   - ref: https://docs.kernel.org/networking/ip-sysctl.html
#     description: "Linux: ip_forward and conf/all/forwarding"
# custom:
#   id: VPN103
#   name: forwarding-disabled
#   severities: [error]
#   family: forwarding
#   claims:
#     - F1: "clients of container openvpn reach the gateway itself, and its kernel drops every packet for anything behind it"
#     - F2: "turns forwarding off in the network namespace of a VPN gateway"
#   fires: |
#     A gateway pod sets `net.ipv4.ip_forward` (or `net.ipv4.conf.all.forwarding`) to 0: in its
#     sysctls, in a script that may write it, or in a mounted sysctl.conf.
#   silent: |
#     - the pod is no gateway, such as a layer-4 proxy that turns forwarding off by design
#     - something later certainly sets it to 1
#     - the write is only reached under a condition, or fails
#   remedy: "Set net.ipv4.ip_forward to 1, or remove the line if something else in this pod sets it."
#   verify: [forwarding, ladder]
#   needs: ["facts.pods.role=gateway"]
#   since: "0.1"
#   replaces: [VPN101]
package vpnlint.rules.vpn103

import data.vpnlint.lib.pods

findings contains finding if {
	some pod in pods.forwarders4
	pod.forwarding.ipv4.state == "absent"
	some off in pod.forwarding.ipv4.evidence
	off.how in {"pod-sysctl", "script", "hook", "config-hook"}
	off.value == "0"
	off.effective == "present"
	not off.conditional
	finding := {
		"ref": off.ref,
		"pod": pod.id,
		"message": sprintf(
			"\"%s\" turns forwarding off in the network namespace of a VPN gateway: %s",
			[off.says, pods.dropped(pod)],
		),
		"containers": pods.data_plane(pod),
		"verify": pods.gateway_checks(pod),
	}
}
