# METADATA
# title: a tunnel replaces the resolver of a pod that needs cluster names
# description: |
#   `/etc/resolv.conf` is one file for all containers of a pod. A tunnel that writes its provider's
#   resolver into it still resolves every public name, and takes the cluster's names away from
#   every container: `ledger.billing.svc.cluster.local` is NXDOMAIN. `dnsPolicy` and `dnsConfig` do not
#   help, because the file is rewritten after they have filled it.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/
#     description: "Kubernetes: DNS for services and pods"
# custom:
#   id: VPN501
#   name: resolver-replaced
#   severities: [warning]
#   family: names
#   claims:
#     - C2: "for all its containers"
#     - C7: "that resolver does not know the cluster's names"
#     - F3: "cannot resolve ledger.billing.svc.cluster.local any more"
#   fires: |
#     The tunnel's image or configuration rewrites the pod's resolver, the new one does not know the
#     cluster's names, and another container uses such a name. Of several name servers the first that
#     answers decides: a public one before the cluster's hides it.
#   silent: |
#     - no other container uses a cluster name
#     - the new resolver, or the first of several, is the cluster's own, or still reaches it: split DNS together with a bypass
#       for the service range, or a switch that keeps the name servers
#     - what the image does to the resolver cannot be seen; a private resolver where the cluster's ranges
#       are not in view
#     - the name stands in `hostAliases`; the resolver is a container of the pod, on the loopback address
#   remedy: "Let the pod keep the cluster's resolver, or use the image's split DNS together with a bypass of the service range."
#   verify: [resolver]
#   needs: ["facts.pods.tunnels.resolver.rewrites=present", facts.pods.needs]
#   since: "0.1"
package vpnlint.rules.vpn501

import data.vpnlint.lib.places
import data.vpnlint.lib.text

findings contains finding if {
	some pod in input.facts.pods
	pod.role in {"sidecar", "client", "gateway"}
	some tunnel in pod.tunnels
	tunnel.resolver.rewrites == "present"
	tunnel.resolver.reaches_cluster == "absent"
	names := [n | some n in pod.needs; n.kind == "name"; n.container != tunnel.container]
	count(names) > 0
	finding := {
		"ref": places.either(tunnel.resolver.ref, tunnel.container_ref),
		"pod": pod.id,
		"message": sprintf(
			"%s replaces the pod's resolver%s, for all its containers: %s cannot resolve %s any more, %s",
			[
				text.tunnel(tunnel), text.optional(new(tunnel.resolver), " (%s)"),
				text.containers({n.container | some n in names}), text.set_list({text.host(n.says) | some n in names}), lacks(tunnel.resolver),
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

# A public resolver has no names of a cluster. A private one somebody may have told.
lacks(resolver) := sprintf(
	"because %s is asked before the cluster's resolver and does not know these names, and its answer is taken",
	[resolver.first],
) if {
	resolver.first != ""
}

lacks(resolver) := "because that resolver does not know the cluster's names" if {
	resolver.first == ""
	count(private(resolver)) == 0
}

lacks(resolver) := sprintf(
	"unless the resolver at %s knows the cluster's names, which nothing in the manifests says",
	[text.set_list(private(resolver))],
) if {
	resolver.first == ""
	count(private(resolver)) > 0
}

private(resolver) := {server |
	some server in resolver.servers
	some block in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]
	net.cidr_is_valid(sprintf("%s/128", [server])) == contains(server, ":")
	net.cidr_contains(block, server)
}

# What it is replaced with, in the words of the configuration where there are any.
new(resolver) := resolver.why if resolver.why != ""

new(resolver) := concat(", ", resolver.servers) if resolver.why == ""
