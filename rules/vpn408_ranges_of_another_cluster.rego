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
#   - ref: https://github.com/kubernetes-sigs/kubespray/blob/master/roles/kubespray_defaults/defaults/main/main.yml
#     description: "Kubespray: kube_pods_subnet and kube_service_addresses"
#   - ref: https://canonical.com/microk8s/docs/change-cidr
#     description: "MicroK8s: default ranges"
#   - ref: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
#     description: "EKS: serviceIpv4Cidr"
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
#     kind, flannel, OpenShift, Kubespray, MicroK8s, kops or EKS (services) that is not this cluster's. Or an entry holds only a part of a range of this
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
			"the bypass list of %s (%s) is not this cluster's: %s; %s%s %s enter the tunnel, where nobody routes them",
			[
				tunnel.family_title, concat(", ", [e.text | some e in tunnel.bypass.entries]),
				concat("; ", sort({w.says | some w in wrong})), text.list(lost), text.of_cluster(caught.cluster), stays(lost),
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

stays(lost) := "stays captured, and packets for it" if count(lost) == 1

stays(lost) := "stay captured, and packets for them" if count(lost) > 1

own(caught) := [r | some r in caught.ranges; r.role in {"pod", "service"}; r.strength != "evidence"]

# What distributions use unless told otherwise: FG B, and the sources of kubespray,
# MicroK8s and kops, and the API reference of EKS.
defaults := {
	"10.42.0.0/16": "k3s' default pod range", "10.43.0.0/16": "k3s' default service range",
	"10.244.0.0/16": "the default pod range of kind and flannel", "10.96.0.0/12": "kubeadm's default service range",
	"10.96.0.0/16": "kind's default service range",
	"10.128.0.0/14": "OpenShift's default pod range", "172.30.0.0/16": "OpenShift's default service range",
	"10.233.64.0/18": "kubespray's default pod range", "10.233.0.0/18": "kubespray's default service range",
	"10.152.183.0/24": "MicroK8s' default service range",
	"100.96.0.0/11": "kops' default pod range", "100.64.0.0/13": "kops' default service range",
	"172.20.0.0/16": "one of the two service ranges from which EKS chooses",
	"10.100.0.0/16": "one of the two service ranges from which EKS chooses",
}

# Ranges that home networks use as well are a distribution's only beside another
# one of it.
beside := {"10.1.0.0/16": {"with": "10.152.183.0/24", "says": "MicroK8s' default pod range"}}

foreign(tunnel, caught) := [{"ref": entry.ref, "says": sprintf("%s is %s", [entry.prefix, owner])} |
	some entry in tunnel.bypass.entries
	not ours(entry, caught)
	some owner in owners(tunnel, entry, caught)
]

ours(entry, caught) if {
	some r in own(caught)
	net.cidr_intersects(r.prefix, entry.prefix)
}

owners(_, entry, caught) := others(entry, caught) if count(others(entry, caught)) > 0

owners(tunnel, entry, caught) := by_default(tunnel, entry) if count(others(entry, caught)) == 0

by_default(_, entry) := {defaults[entry.prefix]}

by_default(tunnel, entry) := {other.says |
	other := beside[entry.prefix]
	some e in tunnel.bypass.entries
	e.prefix == other["with"]
} if {
	not defaults[entry.prefix]
}

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
