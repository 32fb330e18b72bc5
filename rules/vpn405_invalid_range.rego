# METADATA
# title: a range that its reader refuses
# description: |
#   Ranges are written as text in many places, and each place has a reader of its own. This rule
#   speaks where that reader is known to refuse what is written: text that is no prefix, an address
#   where a prefix is required, IPv6 where only IPv4 is read, a non-contiguous netmask,
#   and bits right of the mask where the reader insists that there are none (`TS_ROUTES`,
#   `--advertise-routes`, the selectors of a ComputeVPNTunnel, OpenVPN's `server`, `route` and pushed
#   routes). OpenVPN also bounds the size of a server's pool (/16 to /29 for a tun device, /64 to
#   /124 for `server-ipv6`) and reads netmasks only: `route 10.0.0.0/8` leads nowhere.
#
#   Some readers refuse what is well-formed: kubeadm, kind and the API server (for a ServiceCIDR) take
#   one range of each family, kubeadm no services wider than a /12 or a /108, and no pods from which its
#   nodes cannot be given a /24 or a /64 each.
#
#   Most readers mask such bits, and then nothing is wrong: WireGuard's `Address` always has them,
#   `AllowedIPs` may. Neither are these: a block that is only a netmask (`/14`) in Config Connector,
#   where Google chooses the addresses; an address range (`10.30.0.10-10.30.0.20`) in a MetalLB pool;
#   two prefixes in one string where a cluster has two families; placeholders that a start script
#   fills in.
#
#   A range in the list of a masquerade agent is VPN205's, one in the bypass list of a tunnel
#   VPN310's.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/
#     description: "kubeadm: networking"
#   - ref: https://openvpn.net/community-docs/community-articles/openvpn-2-6-manual.html
#     description: "OpenVPN: server, route"
#   - ref: https://tailscale.com/docs/features/containers/docker
#     description: "Tailscale: TS_ROUTES"
# custom:
#   id: VPN405
#   name: invalid-range
#   severities: [error]
#   family: plan
#   claims:
#     - C6: "is refused by its reader: it is no netmask"
#   fires: |
#     A pod, service or node range of a cluster declaration, a VPN selector, a WireGuard `Address` or
#     `AllowedIPs`, a network or netmask of OpenVPN, an advertised route, the source of a masquerade rule or the
#     `ipBlock` of a policy that its reader refuses.
#   silent: |
#     - the reader masks or ignores it
#     - legal oddities: a bare netmask, an address range, two families in one string
#     - the text is filled in when the tree is applied or the container starts
#   remedy: "Correct the range."
#   verify: [tunnel-log]
#   needs: [facts.invalid]
#   since: "0.1"
package vpnlint.rules.vpn405

import data.vpnlint.lib.pods

findings contains finding if {
	some range in input.facts.invalid
	finding := object.union(
		{
			"ref": range.ref,
			"message": sprintf("%s %q is refused by its reader: %s; %s", [range.says, range.text, range.why, range.fate]),
		},
		of_pod(range),
	)
}

of_pod(range) := {
	"pod": range.pod,
	"containers": {name | some pod in readers(range); some name in pods.data_plane(pod)},
	"verify": {"tunnel": name | some pod in readers(range); name := pods.first_data_plane(pod)},
} if {
	range.pod != ""
}

of_pod(range) := {} if range.pod == ""

readers(range) := [pod | some pod in input.facts.pods; pod.id == range.pod]
