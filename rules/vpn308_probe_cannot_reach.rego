# METADATA
# title: probes or Services do not get through the tunnel to the pod
# description: |
#   The kubelet probes a pod's address from the node, and Services lead to it from other nodes. Both
#   have to pass the tunnel image's firewall, which drops what comes from beyond the pod's own subnet;
#   with Calico and Cilium that subnet is the pod's single address, so that nothing else is in it. A listener
#   on 127.0.0.1 cannot be reached from outside at all. And where the tunnel has taken the default
#   route, the answers leave through it.
# related_resources:
#   - ref: https://github.com/qdm12/gluetun-wiki/blob/main/setup/advanced/kubernetes.md
#     description: "gluetun: Kubernetes"
#   - ref: https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/
#     description: "Kubernetes: probes"
# custom:
#   id: VPN308
#   name: probe-cannot-reach
#   severities: [warning, error]
#   family: sidecar
#   claims:
#     - C8: "drops what comes from beyond the pod's own subnet"
#   fires: |
#     An `httpGet`, `tcpSocket` or `grpc` probe, or a Service that selects the pod, leads to a port that
#     the image's firewall does not let in, or to a listener that is bound to loopback, or its answers
#     enter the tunnel; or a probe names a loopback address as its host, which is the node's. **Error**
#     for loopback, and for the firewall with a CNI in view that gives pods
#     a /32 (Calico, Cilium). Answers are captured by a default route when the nodes' or pods' ranges
#     are known and not left out of it, or when none is known and nothing is left out.
#   silent: |
#     - exec probes; a probe with another host of its own, or of a container with a hostPort
#     - an image other than gluetun, and binhex', DyonR's and haugene's downloaders, whose firewall is not
#       known; binhex' with an application whose ports are not known
#     - the port is in the firewall's list or the application's own, the firewall is off, or rules of the user's own are mounted
#     - a probe where flannel or kindnet is in view: the node is in the pod's subnet; a probe, and
#       captured answers, where several clusters are equally near, of which one may have such a CNI
#     - the list cannot be seen
#     - VPN302 reports the tunnel: the bypass list that it asks for keeps the answers out, too
#   remedy: "Open the port in the tunnel's firewall, bind the listener to all addresses, or use an exec probe."
#   verify: [input-rules]
#   needs: [facts.pods.tunnels]
#   since: "0.1"
package vpnlint.rules.vpn308

import data.vpnlint.lib.capture
import data.vpnlint.lib.places
import data.vpnlint.lib.pods
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in filtered(pod)
	blocked := [i | some i in pod.inbound; not let_in(pod, tunnel, i); not loopback(pod, i)]
	count(blocked) > 0
	finding := {
		"ref": places.either(tunnel.input.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": severity(pod),
		"message": sprintf(
			"the firewall of %s in container %s drops what comes from beyond the pod's own subnet, and %s lacks %s: %s %s",
			[
				tunnel.family_title, tunnel.container, tunnel.input.key,
				text.list([sprintf("%d", [p]) | some p in sort({i.port | some i in blocked})]),
				text.set_list({i.says | some i in blocked}), verb(pod),
			],
		),
		"containers": {i.container | some i in blocked; i.container != ""},
		"related": [{"ref": i.ref, "says": sprintf("%s has to get in", [i.says])} | some i in blocked; places.written(i.ref)],
		"missing": [tunnel.input.key | count(tunnel.input.ports) == 0],
		"verify": {"tunnel": tunnel.container},
	}
}

findings contains finding if {
	some pod in input.facts.pods
	pod.tunnels != []
	some i in pod.inbound
	some found in [l | some l in bound(pod, i)]
	loopback(pod, i)
	finding := {
		"ref": i.ref,
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"%s goes to the pod's address, but %s of container %s is bound to loopback: every connection is refused, whatever the tunnel does",
			[i.says, found.listener.says, found.container],
		),
		"containers": {found.container},
		"related": [{"ref": found.listener.ref, "says": found.listener.says} | places.written(found.listener.ref)],
		"verify": {"tunnel": found.container},
	}
}

# The kubelet asks from the node.
findings contains finding if {
	some pod in input.facts.pods
	some probe in pod.node_probes
	finding := {
		"ref": probe.ref,
		"pod": pod.id,
		"severity": "error",
		"message": sprintf(
			"%s of container %s asks the node's own loopback, not the pod's: the kubelet connects from the node, where nothing of this pod listens, and the probe fails whatever the tunnel does",
			[probe.says, probe.name],
		),
		"containers": {probe.name},
		"verify": {"tunnel": pod.tunnels[0].container},
	}
}

# Answers follow the captured default route.
findings contains finding if {
	some pod in input.facts.pods
	pod.host_network.value != "true"
	some tunnel in capture.rerouting(pod)
	tunnel.routes["default"]
	tunnel.replies_kept == "absent"
	not capture.broken(pod, tunnel)
	pods.placed(pod)
	every c in pods.clusters(pod) { not c.cni in near }
	some askers in taken(tunnel)
	count(pod.inbound) > 0
	finding := {
		"ref": places.either(tunnel.bypass.ref, tunnel.container_ref),
		"pod": pod.id,
		"severity": "warning",
		"message": sprintf(
			"%s in container %s takes the default route (%s), and nothing keeps %s out: answers to %s may enter the tunnel, and the connection times out",
			[tunnel.family_title, tunnel.container, tunnel.routes.why, askers.says, text.set_list({i.says | some i in pod.inbound})],
		),
		"containers": {i.container | some i in pod.inbound; i.container != ""},
		"clusters": askers.clusters,
		"related": array.concat(
			[{"ref": i.ref, "says": sprintf("%s expects an answer", [i.says])} | some i in pod.inbound; places.written(i.ref)],
			places.ranges(askers.ranges),
		),
		"verify": {"tunnel": tunnel.container},
	}
}

# Who asks and is captured: nodes and pods, whose addresses are known or, without
# any bypass, whatever they are.
taken(tunnel) := [{
	"says": sprintf("the %s", [text.list([sprintf("%s range %s%s", [part.what, concat(", ", part.prefixes), text.of_cluster(part.cluster)]) | some part in parts(tunnel)])]),
	"clusters": {part.cluster | some part in parts(tunnel); part.cluster != ""},
	"ranges": [r | some c in tunnel.captures; c.known; some r in c.ranges; r.role in {part.what | some part in parts(tunnel)}],
} |
	count(parts(tunnel)) > 0
] if {
	located(tunnel)
}

taken(tunnel) := [{"says": "the nodes and pods of the cluster", "clusters": {c.cluster | some c in tunnel.captures; c.cluster != ""}, "ranges": []} |
	tunnel.bypass.state == "absent"
] if {
	not located(tunnel)
}

# The range of those who ask is known for some cluster.
located(tunnel) if {
	some c in tunnel.captures
	some r in c.ranges
	r.role in {"pod", "node"}
}

parts(tunnel) := [part |
	some c in tunnel.captures
	c.known
	some part in [
		{"cluster": c.cluster, "what": "node", "prefixes": c.nodes},
		{"cluster": c.cluster, "what": "pod", "prefixes": c.pods},
	]
	count(part.prefixes) > 0
]

filtered(pod) := [t |
	pod.host_network.state != "unknown"
	pod.host_network.value != "true"
	some t in pod.tunnels
	t.input.closed == "present"
]

let_in(_, tunnel, i) if i.port in tunnel.input.ports

# The node's address on the pods' bridge is in the pod's subnet.
let_in(pod, _, i) if {
	i.kind == "probe"
	some c in pods.clusters(pod)
	c.cni in near
}

# So it may be with one of the clusters that the pod may run in.
let_in(pod, _, i) if {
	i.kind == "probe"
	not pods.placed(pod)
}

near := {"flannel", "kindnet"}

# With a /32 nobody is in the pod's subnet.
severity(pod) := "error" if alone(pod)

severity(pod) := "warning" if not alone(pod)

alone(pod) if {
	some c in pods.clusters(pod)
	c.cni in {"calico", "cilium"}
}

verb(pod) := "cannot get in" if alone(pod)

verb(pod) := "may not get in" if not alone(pod)

bound(pod, i) := [{"container": c.name, "listener": l} |
	some c in pod.containers
	some l in c.listeners
	l.port == i.port
	l.protocol == i.protocol
	l.source == "image"
]

loopback(pod, i) if {
	count(bound(pod, i)) > 0
	every b in bound(pod, i) { b.listener.loopback == "present" }
}
