# METADATA
# title: a tunnel container has more privilege than its tunnel needs
# description: |
#   A VPN needs NET_ADMIN and `/dev/net/tun`. A privileged container has every capability, every device
#   and the node's `/sys`, and it is the container that talks to a network which is not yours. The
#   usual reason, writing a sysctl, is better served by a pod sysctl or a short init container.
#
#   WireGuard is part of the kernel since Linux 5.6 and loads by itself, so SYS_MODULE and the node's
#   `/lib/modules` are rarely needed.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/
#     description: "Kubernetes: Pod Security Standards"
#   - ref: https://man7.org/linux/man-pages/man7/capabilities.7.html
#     description: "Linux: capabilities"
# custom:
#   id: VPN305
#   name: excess-privilege
#   severities: [warning, note]
#   family: sidecar
#   claims:
#     - C11: "is privileged, but Gluetun works with NET_ADMIN"
#   fires: |
#     A container that carries a VPN is privileged although NET_ADMIN and the tun device are enough for
#     everything that it does, or its pod shares the node's process or IPC namespace. **Note** for
#     SYS_MODULE and a mount of the node's `/lib/modules`.
#   silent: |
#     - the image needs the privilege
#     - the container writes sysctls (forwarding, `src_valid_mark`), mounts, or loads modules
#     - the pod must forward, or needs the mark, and nothing else sets it
#     - what the container runs cannot be seen
#     - a component that runs on the nodes by design
#   remedy: "Take away what the message names. A VPN needs the capability NET_ADMIN, and /dev/net/tun where its image opens one."
#   verify: [privileges]
#   needs: [facts.pods.containers.data_plane]
#   since: "0.1"
package vpnlint.rules.vpn305

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some pod in judged
	some c in pod.containers
	c.data_plane
	c.privileged == "present"
	c.needs_privilege.state == "absent"
	finding := {
		"ref": places.either(privileged(c), c.ref),
		"pod": pod.id,
		"message": sprintf(
			"container %s is privileged, but %s works %s: whoever takes the tunnel over has the node, its devices and all its capabilities",
			[c.name, c.family_title, enough(pod, c)],
		),
		"containers": {c.name},
		"verify": {"container": c.name, "tunnel": c.name},
	}
}

findings contains finding if {
	some pod in judged
	some c in pod.containers
	c.data_plane
	count(c.modules) > 0
	finding := {
		"ref": c.modules[0].ref,
		"pod": pod.id,
		"severity": "note",
		"message": sprintf(
			"container %s %s; %s",
			[c.name, loads(c), by_itself(pod, c)],
		),
		"containers": {c.name},
		"related": [{"ref": m.ref, "says": m.says} | some i, m in c.modules; i > 0],
		"verify": {"container": c.name, "tunnel": c.name},
	}
}

findings contains finding if {
	some pod in judged
	some c in pod.containers
	c.data_plane
	c.needs_privilege.state == "absent"
	shared := [s |
		some s in [{"what": "hostPID", "setting": pod.host_pid}, {"what": "hostIPC", "setting": pod.host_ipc}]
		s.setting.value == "true"
	]
	count(shared) > 0
	finding := {
		"ref": shared[0].setting.ref,
		"pod": pod.id,
		"message": sprintf(
			"%s shares the node's namespace with container %s, which carries a VPN and needs nothing of it: it sees, and as root can end or read, what runs on the node",
			[text.set_list({s.what | some s in shared}), c.name],
		),
		"containers": {c.name},
		"verify": {"container": c.name, "tunnel": c.name},
	}
}

# The capability is what loads modules. The files alone load none.
loads(c) := sprintf("may load kernel modules (%s): whoever takes the tunnel over can put code into the node's kernel", [text.set_list({m.says | some m in c.modules})]) if {
	some module in c.modules
	module.says == "SYS_MODULE"
}

loads(c) := sprintf("mounts %s, which only loading kernel modules needs", [text.set_list({m.says | some m in c.modules})]) if {
	every m in c.modules { m.says != "SYS_MODULE" }
}

# Who loads what the tunnel needs of the kernel.
by_itself(pod, c) := "the kernel loads what IPsec needs by itself when the daemon asks for it" if {
	some tunnel in pod.tunnels
	tunnel.container == c.name
	tunnel.kind == "ipsec"
} else := "WireGuard and tun are part of the kernel or loaded by it since Linux 5.6"

judged := [pod | some pod in input.facts.pods; pod.role in {"sidecar", "client", "gateway"}]

# The field itself.
privileged(c) := object.union(c.security_ref, {"pointer": sprintf("%s/privileged", [c.security_ref.pointer])})

enough(pod, c) := "in user space, without any capability" if in_user_space(pod, c)

enough(pod, c) := sprintf("with NET_ADMIN%s", [device(c)]) if not in_user_space(pod, c)

in_user_space(pod, c) if {
	count(carried(pod, c)) > 0
	{t.user_space | some t in carried(pod, c)} == {"present"}
}

carried(pod, c) := [t | some t in pod.tunnels; t.container == c.name]

device(c) := "" if c.tun_device

device(c) := " and, where the runtime keeps the device back, /dev/net/tun" if not c.tun_device
