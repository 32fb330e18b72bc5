# METADATA
# title: a VPN container lacks the capability that it works with
# description: |
#   A VPN in the kernel makes an interface and changes routes, addresses and the packet filter. All of
#   that needs `NET_ADMIN` in the pod's network namespace. Without it the container stops at the first
#   such step ("Operation not permitted") and is restarted, over and over.
#
#   Two other causes are less visible. An image that makes `/dev/net/tun` itself with `mknod` needs `MKNOD`,
#   which is among the default capabilities and gone with `drop: [ALL]`. And an added capability
#   only takes effect for processes of user 0: with `runAsUser: 1000` or `runAsNonRoot: true` the process starts
#   without it, unless the image's program is marked to keep it.
#
#   A data plane in user space needs none of this: Tailscale's image unless `TS_USERSPACE=false`,
#   NetBird's rootless image, SecureNAT, proxies.
# related_resources:
#   - ref: https://man7.org/linux/man-pages/man7/capabilities.7.html
#     description: "Linux: CAP_NET_ADMIN, CAP_MKNOD"
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
#     description: "Kubernetes: capabilities of a container"
# custom:
#   id: VPN112
#   name: gateway-capability-missing
#   severities: [error, warning]
#   family: forwarding
#   claims:
#     - C11: "has neither NET_ADMIN nor privilege: the kernel lets it make no interface and no route"
#   fires: |
#     **Error**: a container whose image is known to need `NET_ADMIN` has neither that, `ALL`, nor
#     `privileged`; or its image makes the tun device itself, `MKNOD` is dropped and no tun device is
#     mounted; or its own command starts OpenVPN past the script of the image that makes the device, and
#     none is mounted. **Warning**: it has `NET_ADMIN` and certainly runs as another user than 0.
#   silent: |
#     - data planes in user space, proxies, control planes, user interfaces, exporters
#     - an image of which only the name speaks of a VPN
#     - `NET_ADMIN` with the default capabilities
#     - the container's privilege cannot be seen
#   remedy: "Give the container what the message says it lacks: NET_ADMIN among its capabilities; MKNOD, or a mounted /dev/net/tun, where its image makes the device; user 0. Or choose a user-space mode of the image."
#   verify: [tunnel-log]
#   needs: [facts.pods.containers.data_plane]
#   since: "0.1"
package vpnlint.rules.vpn112

findings contains finding if {
	some pod in input.facts.pods
	some container in pod.containers
	container.data_plane
	container.needs_admin == "present"
	container.privileged == "absent"
	some lack in lacks(container)
	finding := {
		"ref": lack.ref,
		"pod": pod.id,
		"severity": lack.severity,
		"message": sprintf("container %s (%s) %s", [container.name, container.family_title, lack.says]),
		"containers": {container.name},
		"missing": ["NET_ADMIN", "privileged"],
		"verify": {"tunnel": container.name},
	}
}

lacks(container) := {{
	"ref": container.security_ref, "severity": "error",
	"says": "has neither NET_ADMIN nor privilege: the kernel lets it make no interface and no route, and the tunnel never comes up",
}} if {
	not may(container, "NET_ADMIN")
} else := {{
	"ref": container.security_ref, "severity": "error",
	"says": "makes /dev/net/tun itself, MKNOD is dropped and no tun device is mounted: it finds no device to open, and the tunnel never comes up",
}} if {
	container.makes_tun
	not container.tun_device
	some gone in container.dropped
	gone in {"ALL", "MKNOD"}
	not may(container, "MKNOD")
} else := {{
	"ref": container.tun_unmade.ref, "severity": "error",
	"says": sprintf("finds no device to open: %s, no tun device is mounted, and the tunnel never comes up", [container.tun_unmade.why]),
}} if {
	container.tun_unmade.state == "present"
	not container.tun_device
} else := {{
	"ref": container.non_root.ref, "severity": "warning",
	"says": "has NET_ADMIN but does not run as user 0, and an added capability is not effective for another user: unless the image marks its program to keep it, the kernel refuses to make interface and routes, and the tunnel does not come up",
}} if {
	container.non_root.state == "present"
} else := set()

may(container, capability) if capability in container.capabilities

may(container, capability) if {
	"ALL" in container.capabilities
	not capability in container.dropped
}
