# METADATA
# title: replies through a wg-quick default route fail reverse path filtering
# description: |
#   For `AllowedIPs = 0.0.0.0/0` wg-quick marks its own packets and sends everything else into the
#   tunnel by a rule. The far side's encrypted packets come back on `eth0`; under strict reverse path
#   filtering the kernel asks where it would send a packet to that address, without the mark, finds the
#   tunnel and drops it. `net.ipv4.conf.all.src_valid_mark=1` makes it look at the mark. The interface
#   is up, the handshake is sent, nothing returns.
#
#   NET_ADMIN is not enough to write it, because `/proc/sys` is read-only in an unprivileged container.
#   Up to version 1.0.20250521 wg-quick also writes it when it is 1 already, fails, and takes the tunnel
#   down again.
# related_resources:
#   - ref: https://git.zx2c4.com/wireguard-tools/tree/src/wg-quick/linux.bash
#     description: "wg-quick: add_default"
#   - ref: https://docs.kernel.org/networking/ip-sysctl.html
#     description: "Linux: src_valid_mark and rp_filter"
# custom:
#   id: VPN309
#   name: reverse-path-mark-unset
#   severities: [warning, error]
#   family: sidecar
#   claims:
#     - C8: "the kernel drops the packets that come back from the endpoint"
#   fires: |
#     wg-quick makes an IPv4 default route, and neither a pod sysctl, nor a privileged container, nor
#     wg-quick itself can set `src_valid_mark`. **Error** for an unprivileged wg-quick that is known to
#     write it in any case: it aborts, whatever the value.
#   silent: |
#     - the mark is set, or reverse path filtering is loose (`rp_filter=2`)
#     - the image writes it and may
#     - `Table = off`, or no IPv4 default route
#     - hostNetwork: the node decides
#     - a privileged script that cannot be seen might write it
#   remedy: "Set the pod sysctl net.ipv4.conf.all.src_valid_mark=1, or write it from a privileged init container."
#   verify: [reverse-path]
#   needs: [facts.pods.tunnels.routes.fw_mark]
#   since: "0.1"
package vpnlint.rules.vpn309

import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in marked(pod)
	not aborts(pod, tunnel)
	pod.src_valid_mark.state == "absent"
	pod.loose_filter.state == "absent"
	finding := {
		"ref": tunnel.container_ref,
		"pod": pod.id,
		"message": sprintf(
			"wg-quick in container %s routes by fwmark (%s), but nothing sets net.ipv4.conf.all.src_valid_mark=1%s: under strict reverse path filtering the kernel drops the packets that come back from the endpoint",
			[tunnel.container, tunnel.routes.why, tried(pod)],
		),
		"containers": affected(pod),
		"related": related(pod, tunnel),
		"missing": ["src_valid_mark"],
		"verify": {"container": tunnel.container, "tunnel": tunnel.container},
	}
}

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in marked(pod)
	aborts(pod, tunnel)
	finding := {
		"ref": places.either(security(pod, tunnel), tunnel.container_ref),
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"wg-quick of this image writes src_valid_mark for %s whatever its value, and container %s is not privileged, so /proc/sys is read-only: the write fails and wg-quick takes the tunnel down again; a pod sysctl does not help",
			[tunnel.routes.why, tunnel.container],
		),
		"containers": affected(pod),
		"related": related(pod, tunnel),
		"verify": {"container": tunnel.container, "tunnel": tunnel.container},
	}
}

# Tunnels whose default route hangs on the mark.
marked(pod) := [t |
	pod.host_network.state != "unknown"
	pod.host_network.value != "true"
	pod.role in {"sidecar", "client", "gateway"}
	some t in pod.tunnels
	t.side in {"client", "mesh"}
	t.routes.state == "present"
	t.routes.fw_mark
	"0.0.0.0/0" in {p.prefix | some p in t.routes.prefixes}
]

aborts(pod, tunnel) if {
	tunnel.mark_write == "always"
	some e in pod.src_valid_mark.evidence
	e.container == tunnel.container
	e.how == "image"
	e.effective == "absent"
}

security(pod, tunnel) := [c.security_ref | some c in pod.containers; c.name == tunnel.container][0]

affected(pod) := {c.name | some c in pod.containers; c.stage != "init"}

# Attempts that fail are worth naming.
tried(pod) := sprintf(" (%s fails without the privilege)", [text.set_list(failing(pod))]) if count(failing(pod)) > 0

tried(pod) := "" if count(failing(pod)) == 0

failing(pod) := {e.says |
	some e in pod.src_valid_mark.evidence
	not e.how in {"image", "container-sysctl"}
	e.effective == "absent"
	e.value == "1"
}

related(pod, tunnel) := array.flatten([
	[{"ref": tunnel.routes.ref, "says": sprintf("the default route is made here: %s", [tunnel.routes.why])} |
		places.written(tunnel.routes.ref)
		tunnel.routes.ref != tunnel.container_ref
	],
	[{"ref": e.ref, "says": sprintf("this cannot set it: %s", [e.says])} |
		some e in pod.src_valid_mark.evidence
		not e.how in {"image", "container-sysctl"}
		e.effective == "absent"
		places.written(e.ref)
	],
	pods.misplaced(pod.src_valid_mark),
])
