# METADATA
# description: What several rules ask of a pod.
package vpnlint.lib.pods

# Pods whose own kernel must forward the packets of other hosts.
forwarders contains pod if {
	some pod in input.facts.pods
	pod.role == "gateway"
	pod.forwarding.needed == "present"
}

# The names of the containers that carry the VPN's packets.
data_plane(pod) := {c.name | some c in pod.containers; c.data_plane}

# All containers that run while the VPN runs: they share its routes, its
# resolver and its network namespace (C1, C2).
sharing(pod) := {c.name | some c in pod.containers; c.stage != "init"}

# The container to run a check of the tunnel in.
first_data_plane(pod) := [c.name | some c in pod.containers; c.data_plane][0]

# The first application container, to run a check in.
first_application(pod) := [c.name | some c in pod.containers; c.application][0]
