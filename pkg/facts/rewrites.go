package facts

import (
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// readRewrites finds, for every policy-based IPsec tunnel, what masquerades
// packets that its selectors are for: a packet whose source was rewritten fits
// them no more (FG E3.5). A tunnel on the host network stands behind the node's
// own masquerading, one in a pod only behind that of its pod.
func readRewrites(ix *index, cs *clusterSet, pods []*podView, agents []Agent) {
	for _, p := range pods {
		for i := range p.pod.Tunnels {
			t := &p.pod.Tunnels[i]
			remote := prefixesAt(t.Routes.Prefixes)
			if t.Kind != "ipsec" || t.Routes.State != Present || t.Routes.Default || len(t.Local) == 0 || len(remote) == 0 {
				continue
			}
			w := rewriteReader{ix: ix, cs: cs, p: p, t: t, local: prefixesAt(t.Local), remote: remote}
			rules := natRules(p, t)
			if rules.hidden {
				continue // the guard may be in what cannot be seen
			}
			w.scripts(rules)
			if p.pod.HostNetwork.Value == "true" && !cs.tied(p.object) {
				w.guarded = rules.exempts(natFlows{w.local, w.remote})
				scope := &masqScope{ix: ix, cs: cs, f: cs.one(p.object), pods: pods}
				for _, read := range nodeMasquerades() {
					for _, m := range read(scope) {
						w.node(m)
					}
				}
				w.agents(agents)
			}
		}
	}
}

type rewriteReader struct {
	ix            *index
	cs            *clusterSet
	p             *podView
	t             *Tunnel
	local, remote []netip.Prefix
	// guarded are destinations that the pod's own rules leave alone on the host.
	guarded []netip.Prefix
}

// add notes a rule for packets from sources, with what it leaves alone.
func (w *rewriteReader) add(ref source.Ref, says string, sources, exempt []netip.Prefix) {
	if len(sources) > 0 && !cidrplan.Overlaps(sources, w.local) {
		return
	}
	from := w.local
	if len(sources) > 0 {
		from = cidrplan.Intersect(w.local, sources)
	}
	if hit := cidrplan.Subtract(cidrplan.Subtract(w.remote, exempt), w.guarded); len(hit) > 0 {
		w.t.Rewrites = append(w.t.Rewrites, Rewrite{Ref: ref, Says: says, Sources: written(from), Prefixes: written(hit)})
	}
}

// node notes a rule of the nodes' own. It changes the source to the node's address,
// which a tunnel that carries the nodes' network takes all the same: where it may,
// nothing is said.
func (w *rewriteReader) node(m nodeMasquerade) {
	if m.to.IsValid() {
		if cidrplan.Overlaps([]netip.Prefix{m.to}, w.local) {
			return
		}
	} else if w.carriesNodes(m.sources) != Absent {
		return
	}
	w.add(m.ref, m.says, m.sources, m.exempt)
}

// carriesNodes: the local selectors hold addresses of nodes. Without a node range
// in view, whatever they hold beside pods and services may be one.
func (w *rewriteReader) carriesNodes(pods []netip.Prefix) Known {
	f := w.cs.one(w.p.object)
	if f != nil {
		if nodes := f.prefixes(cidrplan.Node); len(nodes) > 0 {
			if cidrplan.Overlaps(nodes, w.local) {
				return Present
			}
			return Absent
		}
		pods = slices.Concat(pods, f.prefixes(cidrplan.Pod), f.prefixes(cidrplan.Service))
	}
	if len(cidrplan.Subtract(w.local, pods)) > 0 {
		return Unknown
	}
	return Absent
}

// agents match on the destination alone (FG A1.11).
func (w *rewriteReader) agents(agents []Agent) {
	name, known := w.cs.name(w.p.object)
	for _, a := range agents {
		if !known || a.Cluster != name || a.Ref.IsZero() || a.Kind == agentCilium || ownRangesExempt(a.Kind) || a.List.Source != "explicit" && a.List.Source != "default" {
			continue
		}
		exempt := parsedTexts(a.Effective)
		at := a.List.Ref
		if at.IsZero() {
			at = a.Ref
		}
		w.node(nodeMasquerade{ref: at, says: "the masquerade agent " + a.Object.String(), exempt: exempt})
	}
}

// scripts asks the pod's own rules, in their order. What they rewrite to is an address
// that the tunnel carries all the same where the local selectors hold it.
func (w *rewriteReader) scripts(rules *natTables) {
	own, says := w.ownAddress()
	carried := func(r natRule) bool {
		return r.own && own == Present || len(r.source) > 0 && cidrplan.Overlaps(r.source, w.local)
	}
	found := map[source.Ref]int{}
	for _, hit := range rules.run(natFlows{w.local, w.remote}, carried) {
		at, has := found[hit.rule.ref]
		if !has {
			at = len(w.t.Rewrites)
			found[hit.rule.ref] = at
			made := Rewrite{Ref: hit.rule.ref, Says: hit.rule.says, Sources: []string{}, Prefixes: []string{}}
			if hit.rule.own && own == Unknown {
				made.Unless = says
			}
			w.t.Rewrites = append(w.t.Rewrites, made)
		}
		add := func(list *[]string, more []netip.Prefix) {
			*list = written(cidrplan.Union(parsedTexts(*list), more))
		}
		add(&w.t.Rewrites[at].Sources, hit.from)
		add(&w.t.Rewrites[at].Prefixes, hit.to)
	}
}

func parsedTexts(list []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range list {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// ownAddress: the local selectors hold the address that the pod itself has, which is
// its node's on the host network. says is what would have to hold where that is not
// known.
func (w *rewriteReader) ownAddress() (held Known, says string) {
	if w.p.pod.HostNetwork.Value == "true" {
		return w.carriesNodes(nil), "the node's own address is one of those"
	}
	says = "the pod's own address is one of those"
	f := w.cs.one(w.p.object)
	if f == nil || w.cs.tied(w.p.object) {
		return Unknown, says
	}
	switch pods := f.prefixes(cidrplan.Pod); {
	case len(pods) == 0:
		return Unknown, says
	case cidrplan.Contains(w.local, pods):
		return Present, says
	case cidrplan.Overlaps(w.local, pods):
		return Unknown, says
	default:
		return Absent, says
	}
}
