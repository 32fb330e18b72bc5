# METADATA
# description: What several rules ask of a pod.
package vpnlint.lib.pods

import data.vpnlint.lib.text

# Pods whose own kernel must forward the packets of other hosts.
forwarders contains pod if {
	some pod in input.facts.pods
	pod.role == "gateway"
	pod.forwarding.needed == "present"
}

# Those of them through which IPv4 goes.
forwarders4 contains pod if {
	some pod in forwarders
	pod.forwarding.ipv4.carried != "absent"
}

# A test of a chart runs when somebody asks for it, sends nothing that was to be
# protected, and can be repeated.
helm_test(pod) if pod.object.helm == "test"

# What IPv4 forwarding is in a new sandbox until something of the manifest writes
# it, and what becomes of packets then: "at 0, ...", "as the node ...".
left(pod) := sprintf("at 0, which the cluster's CNI writes into every new pod (%s): %s", [pod.forwarding.ipv4.turned_off_by, dropped(pod)]) if {
	pod.forwarding.ipv4.turned_off == "present"
}

left(pod) := sprintf("as the node handed it to the sandbox; where that is 0, %s", [dropped(pod)]) if {
	pod.forwarding.ipv4.turned_off != "present"
}

# What a gateway that does not forward does.
dropped(pod) := sprintf("%s reach the gateway itself, and its kernel drops every packet for anything behind it", [clients(pod)])

# "clients of container vpn".
clients(pod) := "clients" if count(data_plane(pod)) == 0

clients(pod) := sprintf("clients of %s", [text.containers(data_plane(pod))]) if count(data_plane(pod)) > 0

# The names of the containers that carry the VPN's packets.
data_plane(pod) := {c.name | some c in pod.containers; c.data_plane}

# All containers that run while the VPN runs: they share its routes, its
# resolver and its network namespace (C1, C2).
sharing(pod) := {c.name | some c in pod.containers; c.stage != "init"}

# What the address plan calls the owner of a VPN's ranges: "Deployment edge/wg".
owner(named) := sprintf("%s %s", [named.kind, named.name]) if named.namespace == ""

owner(named) := sprintf("%s %s/%s", [named.kind, named.namespace, named.name]) if named.namespace != ""

# The containers that share the network with the VPN of an owner. OPA indexes the
# inner comprehension by its key.
# regal ignore:prefer-set-or-object-rule
sharing_with := {name: names |
	some carrier in carriers

	# regal ignore:comprehension-term-assignment
	name := carrier.owner
	names := {c | some other in carriers; other.owner == name; some c in other.containers}
}

carriers := [{"owner": owner(pod.object), "containers": sharing(pod)} |
	some pod in input.facts.pods
	count(pod.tunnels) > 0
]

# The container to run a check of the tunnel in, "" for none: a finding must
# not vanish because its check cannot be made out.
first_data_plane(pod) := first([c.name | some c in pod.containers; c.data_plane])

# The first application container, to run a check in, "" for none.
first_application(pod) := first([c.name | some c in pod.containers; c.application])

first(names) := "" if count(names) == 0

first(names) := names[0] if count(names) > 0

# The clusters of a pod, with what is known of them; one without a name is that
# of the tree. None where several are equally near.
clusters(pod) := [c | placed(pod); some c in input.facts.clusters; c.name in cluster_names(pod)]

# Its cluster is known; else it may run in any of several, whose CNIs differ.
placed(pod) if pod.cluster_known == "present"

# Both certainly run in one cluster.
together(a, b) if {
	placed(a)
	placed(b)
	cluster_names(a) == cluster_names(b)
}

# Something of this cluster serves the pod, or may: it is the pod's own, or
# either is not known.
serves(pod, cluster, known) if {
	known == "present"
	placed(pod)
	cluster in cluster_names(pod)
}

serves(_, _, known) if known != "present"

serves(pod, _, _) if not placed(pod)

cluster_names(pod) := {c | some c in pod.clusters} if count(pod.clusters) > 0

cluster_names(pod) := {""} if count(pod.clusters) == 0

# Whether it certainly has a network namespace of its own.
own_namespace(pod) if {
	pod.host_network.state != "unknown"
	pod.host_network.value != "true"
}

# What checks of a gateway are made out for: its container, and its own address
# inside the VPN where that is known.
gateway_checks(pod) := object.union({"container": first_data_plane(pod)}, endpoint(pod))

endpoint(pod) := {"endpoint": own_addresses(pod)[0]} if count(own_addresses(pod)) > 0

endpoint(pod) := {} if count(own_addresses(pod)) == 0

# A server usually takes the first address of its pool. IPv4 comes first: what a
# check pings is to answer for the family that the finding is about, and IPv6 has
# no finding that asks for an address.
own_addresses(pod) := array.concat(
	[a | some a in addresses(pod); not contains(a, ":")],
	[a | some a in addresses(pod); contains(a, ":")],
)

addresses(pod) := array.concat(
	[a.text | some t in pod.tunnels; t.side == "server"; some a in t.addresses],
	[p.prefix | some t in pod.tunnels; t.side == "server"; some p in t.pool],
)

# What the plan says of the VPNs that this pod carries.
carried(pod) := [v |
	some c in clusters(pod)
	some v in c.plan.vpn
	v.tunnel.object.object == pod.ref.object
]

# The networks that it carries these VPNs for.
planned(pod) := [d | some v in carried(pod); some d in v.destinations; not endswith(d.prefix, "/0"); not endswith(d.prefix, "/1")]

# Notes on sysctls in a container's securityContext, where Kubernetes has no such field.
misplaced(sysctl) := [{"ref": e.ref, "says": says} |
	some e in sysctl.evidence
	e.how == "container-sysctl"
	e.value == "1"
	says := sprintf("%s: without effect, for a container's securityContext has no sysctls; a pod's has", [e.says])
]
