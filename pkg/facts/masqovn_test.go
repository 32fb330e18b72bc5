package facts

import "testing"

// FG A7, OVN-Kubernetes. The internal subnets (join, transit, masquerade) decide no
// rule: no packet has such an address outside of a node.
func TestOVNLayer(t *testing.T) {
	network := func(config string) string {
		return "\n---\napiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\nspec: {clusterNetwork: [{cidr: 10.244.0.0/16}], serviceNetwork: [172.30.0.0/16], defaultNetwork: {type: OVNKubernetes, ovnKubernetesConfig: {" + config + "}}}\n"
	}
	other := func(kind string) string {
		return "\n---\napiVersion: k8s.ovn.org/v1\nkind: " + kind + "\nmetadata: {name: e}\nspec: {}\n"
	}
	const host = "gatewayConfig: {routingViaHost: true}"
	testLayer(t, []layerCase{
		{"past the host by default", network(""), ""},
		{"past the host", network("gatewayConfig: {routingViaHost: false}"), ""},
		{"by way of the host", network(host), "OVN-Kubernetes with routingViaHost 10.60.0.0/24"},
		{"filled in later", network("gatewayConfig: {routingViaHost: '${VIA}'}"), ""},
		{"networks that are announced", network(host + ", routeAdvertisements: Enabled"), ""},
		{"announced by an object", network(host) + other("RouteAdvertisements"), ""},
		{"an EgressIP", network(host) + other("EgressIP"), ""},
		{"internal subnets", network("ipv4: {internalJoinSubnet: 100.64.0.0/16}, gatewayConfig: {ipv4: {internalMasqueradeSubnet: 169.254.0.0/17}}"), ""},
	})
}
