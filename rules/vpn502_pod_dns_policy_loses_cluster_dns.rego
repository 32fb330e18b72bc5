# METADATA
# title: a VPN pod that needs cluster names is not given the cluster's resolver
# description: |
#   `dnsPolicy: Default` gives a pod the resolver of its node, and `None` only what `dnsConfig` lists.
#   On the host network the usual `ClusterFirst` falls back to the node's resolver as well; only
#   `ClusterFirstWithHostNet` asks the cluster. People choose these for the VPN client, which must find
#   its endpoint, but there is one `/etc/resolv.conf` for all containers of a pod: the application
#   beside it cannot resolve cluster names, whatever the tunnel does.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-dns-policy
#     description: "Kubernetes: the pod's DNS policy"
# custom:
#   id: VPN502
#   name: pod-dns-policy-loses-cluster-dns
#   severities: [warning]
#   family: names
#   claims:
#     - C7: "keeps the cluster's resolver away from the pod"
#   fires: |
#     `dnsPolicy: None` or `Default` without a resolver of the cluster in `dnsConfig`, or `hostNetwork`
#     without `ClusterFirstWithHostNet`, in a pod with a VPN in which another container uses a cluster
#     name; or `None` with a public name server before the cluster's, whose answer is taken.
#   silent: |
#     - no container uses a cluster name
#     - the name servers hold an address of the service range, or the node-local cache
#     - a name server on a loopback address: it is the pod's own and may know the cluster
#     - a private name server where the cluster's ranges are not in view
#     - the name stands in `hostAliases`
#   remedy: "Use dnsPolicy ClusterFirst (on the host network: ClusterFirstWithHostNet, the only one that works there), or name the cluster's resolver in dnsConfig."
#   verify: [resolver]
#   needs: [facts.pods.tunnels, facts.pods.needs]
#   since: "0.1"
package vpnlint.rules.vpn502

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client", "gateway", "mesh"}
	count(pod.tunnels) > 0
	pod.cluster_resolver.state == "absent"
	names := [n | some n in pod.needs; n.kind == "name"]
	count(names) > 0
	finding := {
		"ref": pod.cluster_resolver.ref,
		"pod": pod.id,
		"message": sprintf(
			"%s %s: %s cannot resolve %s, because the look-up goes to %s%s",
			[
				pod.cluster_resolver.why, keeps(pod), text.containers({n.container | some n in names}), text.set_list({text.host(n.says) | some n in names}),
				asked(pod), policy(pod),
			],
		),
		"containers": {n.container | some n in names},
		"related": [{"ref": n.ref, "says": sprintf("%s uses a cluster name: %s", [n.container, n.says])} |
			some n in names
			places.written(n.ref)
		],
		"verify": {
			"container": sort({n.container | some n in names})[0],
			"name": "kubernetes.default.svc.cluster.local",
		},
	}
}

keeps(pod) := "keeps the cluster's resolver away from the pod" if pod.first_resolver == ""

keeps(pod) := sprintf("puts %s before the cluster's resolver", [pod.first_resolver]) if pod.first_resolver != ""

# Whom the pod asks instead.
asked(pod) := "a name server outside the cluster" if {
	pod.dns_policy.value == "None"
	pod.first_resolver == ""
}

asked(pod) := sprintf("%s first, which does not know these names, and its answer is taken", [pod.first_resolver]) if {
	pod.first_resolver != ""
}

asked(pod) := "the node's name servers, and nothing in the manifests says that these know the cluster's names" if pod.dns_policy.value != "None"

# Where to go from Default on the host network, which is not ClusterFirst.
policy(pod) := "; on the host network only ClusterFirstWithHostNet asks the cluster's, ClusterFirst does not" if {
	pod.host_network.value == "true"
	pod.dns_policy.value == "Default"
} else := ""
