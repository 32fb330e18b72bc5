package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// egressNATPolicies reads Autopilot's list, which stands in objects of the cluster
// (FG A2.7). Those of Google's distributed clouds have the same kind and sources
// or a gateway of their own (FG A2.8).
func (r *agentReader) egressNATPolicies() {
	byCluster := map[*founded][]*source.Object{}
	var order []*founded
	for _, o := range r.ix.ofKind("networking.gke.io", "EgressNATPolicy") {
		spec := root(o).get("spec")
		if !strings.EqualFold(spec.get("action").text(), "NoSNAT") || spec.get("sources").exists() || spec.get("gatewayRef").exists() || r.cs.tied(o) {
			continue
		}
		f := r.cs.one(o)
		if byCluster[f] == nil {
			order = append(order, f)
		}
		byCluster[f] = append(byCluster[f], o)
	}
	for _, f := range order {
		first := byCluster[f][0]
		a := &Agent{Kind: agentAutopilot, Object: nameOf(first), Ref: root(first).ref(), Workload: "egressnatpolicy/" + first.Name}
		if f != nil {
			a.Cluster = f.Name
		}
		if r.hasAgent(a.Cluster) {
			continue
		}
		a.List = List{Source: "explicit", Ref: root(first).get("spec", "destinations").ref(), Why: "spec.destinations", Valid: Present, Entries: []PrefixAt{}}
		for _, o := range byCluster[f] {
			for _, d := range root(o).get("spec", "destinations").items() {
				cidr := d.get("cidr")
				if wrongCIDR(cidr) != "" {
					a.List.Source, a.List.Valid = "unknown", Unknown // the whole object is refused
				}
				if at, valid := prefixAt(grammar.ParsePrefix(strings.TrimSpace(cidr.text()), 0), cidr.ref()); valid {
					a.List.Entries = append(a.List.Entries, at)
				}
			}
		}
		r.add(a, flags{}, f, false)
	}
}
