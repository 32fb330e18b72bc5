# METADATA
# title: a bypass list fits another cluster, or only part of this one
# description: |
#   The list that keeps the cluster out of the tunnel was written for other ranges: it was copied from
#   another cluster, it holds the defaults of a distribution that this cluster does not use, or it
#   names only a part of the range. Requests to the rest enter the tunnel, where nobody routes them,
#   and time out. Nothing reports the difference, because every entry of the list is well-formed.
# related_resources:
#   - ref: https://docs.k3s.io/cli/server#networking
#     description: "k3s: cluster-cidr and service-cidr"
#   - ref: https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/
#     description: "kubeadm: podSubnet and serviceSubnet"
# custom:
#   id: VPN408
#   name: ranges-of-another-cluster
#   severities: [error]
#   family: plan
#   claims:
#     - C6: "10.96.0.0/12 and 10.244.0.0/16 of cluster home stay captured"
#     - C13: "(10.42.0.0/16, 10.43.0.0/16) is not this cluster's"
#   replaces: [VPN302]
#   fires: |
#     A tunnel captures service or pod addresses of its cluster although it has a bypass list, and an
#     entry of that list equals a range of another cluster in the tree or a default of k3s, kubeadm,
#     kind or flannel that is not this cluster's. Or an entry holds only a part of a range of this
#     cluster, and a container needs the rest. It speaks instead of VPN302.
#   silent: |
#     - the list covers the pod and service ranges; further entries, such as a home network, never
#       count
#     - no entry is another cluster's or touches this one's (VPN302)
#     - the cluster's ranges, the tunnel's routes or the list cannot be seen
#   remedy: "Write this cluster's pod and service ranges into the list."
#   verify: [routes]
#   needs: [facts.pods.tunnels.captures.known]
#   since: "0.1"
package vpnlint.rules.vpn408

import data.vpnlint.lib.capture
import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	some tunnel in capture.rerouting(pod)
	tunnel.bypass.state == "present"
	some caught in tunnel.captures
	caught.known
	lost := array.concat(caught.services, caught.pods)
	count(lost) > 0
	wrong := array.concat(foreign(tunnel, caught), partial(pod, tunnel, caught))
	count(wrong) > 0
	finding := {
		"ref": places.either(tunnel.bypass.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"the bypass list of %s (%s) is not this cluster's: %s; %s%s stay captured, and packets for them enter the tunnel, where nobody routes them",
			[
				tunnel.family_title, concat(", ", [e.text | some e in tunnel.bypass.entries]),
				concat("; ", sort({w.says | some w in wrong})), text.list(lost), text.of_cluster(caught.cluster),
			],
		),
		"containers": {c.name | some c in pod.containers; c.stage != "init"},
		"clusters": {caught.cluster},
		"related": array.concat(
			[{"ref": w.ref, "says": w.says} | some w in wrong; places.written(w.ref); w.ref != tunnel.bypass.ref],
			places.ranges(own(caught)),
		),
		"verify": {"tunnel": tunnel.container, "destination": lost[0]},
	}
}

own(caught) := [r | some r in caught.ranges; r.role in {"pod", "service"}; r.strength != "evidence"]

# What distributions use unless told otherwise. Ranges that home networks use as
# well are left out.
defaults := {
	"10.42.0.0/16": "k3s' default pod range", "10.43.0.0/16": "k3s' default service range",
	"10.244.0.0/16": "the default pod range of kind and flannel", "10.96.0.0/12": "kubeadm's default service range",
	"10.96.0.0/16": "kind's default service range",
}

foreign(tunnel, caught) := [{"ref": entry.ref, "says": sprintf("%s is %s", [entry.prefix, owner])} |
	some entry in tunnel.bypass.entries
	not ours(entry, caught)
	some owner in owners(entry, caught)
]

ours(entry, caught) if {
	some r in own(caught)
	net.cidr_intersects(r.prefix, entry.prefix)
}

owners(entry, caught) := others(entry, caught) if count(others(entry, caught)) > 0

owners(entry, caught) := {said | said := defaults[entry.prefix]} if count(others(entry, caught)) == 0

others(entry, caught) := {sprintf("the %s range of cluster %s", [r.role, c.name]) |
	some c in input.facts.clusters
	c.name != caught.cluster
	some r in c.ranges
	r.role in {"pod", "service"}
	r.strength != "evidence"
	r.prefix == entry.prefix
}

# A part of a range whose rest somebody in the pod needs.
partial(pod, tunnel, caught) := [{"ref": entry.ref, "says": sprintf("%s is only a part of the %s range %s", [entry.prefix, r.role, r.prefix])} |
	count(capture.hits(caught, capture.needs(pod, tunnel))) > 0
	some entry in tunnel.bypass.entries
	some r in own(caught)
	entry.prefix != r.prefix
	net.cidr_contains(r.prefix, entry.prefix)
	rest(caught, r)
]

rest(caught, r) if {
	some prefix in array.concat(caught.services, caught.pods)
	net.cidr_intersects(r.prefix, prefix)
}
