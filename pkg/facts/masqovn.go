package facts

import (
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// ovnRules: OVN-Kubernetes gives packets that leave the cluster the node's address
// (FG A7). By default it does so in OVN, past the tables of the host; only with
// routingViaHost do pods' packets pass those, and what runs on the host. Networks
// that are announced keep their addresses, and an EgressIP sends what it selects
// out with an address of its own, from another node perhaps: with either nothing is
// certain.
func ovnRules(s *masqScope) []nodeMasquerade {
	pods := s.ranges(cidrplan.Pod)
	if len(pods) == 0 || s.f.CNI != "ovn" {
		return nil
	}
	for _, kind := range []string{"EgressIP", "RouteAdvertisements"} {
		if slices.ContainsFunc(s.ix.ofKind("k8s.ovn.org", kind), s.maybe) {
			return nil
		}
	}
	for _, o := range s.ix.ofKind("operator.openshift.io", "Network") {
		config := root(o).get("spec", "defaultNetwork", "ovnKubernetesConfig")
		via := config.get("gatewayConfig", "routingViaHost")
		if !s.here(o) || via.boolean() != Present || config.get("routeAdvertisements").exists() {
			continue
		}
		return []nodeMasquerade{{
			ref: via.ref(), says: "OVN-Kubernetes with routingViaHost", sources: pods,
			exempt: slices.Concat(pods, s.ranges(cidrplan.Service), s.ranges(cidrplan.Node)),
		}}
	}
	return nil
}
