package facts

import (
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
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
			w.scripts()
			if p.pod.HostNetwork.Value == "true" && !cs.tied(p.object) {
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
}

// add notes a rule for packets from sources, with what it leaves alone.
func (w *rewriteReader) add(ref source.Ref, says string, sources, exempt []netip.Prefix) {
	if len(sources) > 0 && !cidrplan.Overlaps(sources, w.local) {
		return
	}
	if hit := cidrplan.Subtract(w.remote, exempt); len(hit) > 0 {
		w.t.Rewrites = append(w.t.Rewrites, Rewrite{Ref: ref, Says: says, Prefixes: written(hit)})
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
		var exempt []netip.Prefix
		for _, text := range a.Effective {
			if p, err := netip.ParsePrefix(text); err == nil {
				exempt = append(exempt, p)
			}
		}
		at := a.List.Ref
		if at.IsZero() {
			at = a.Ref
		}
		w.node(nodeMasquerade{ref: at, says: "the masquerade agent " + a.Object.String(), exempt: exempt})
	}
}

// scripts reads the pod's own rules. Any rule that looks at the policy, or that
// leaves the remote network alone, is taken for the guard: where it stands among
// the others is not judged.
func (w *rewriteReader) scripts() {
	var hits []Rewrite
	for _, c := range w.p.containers {
		for _, cmd := range c.commands() {
			if cmd.opaque {
				return // the guard may be in what cannot be seen
			}
			if cmd.cmd == nil || cmd.cmd.OtherNetNS {
				continue
			}
			rule, is := shell.IPTables(cmd.cmd)
			if !is || rule.Table != "nat" || rule.Chain != "POSTROUTING" || rule.Op == "D" {
				continue
			}
			to := matched(rule.Destination)
			switch {
			case !rule.Known, rule.Policy.Set:
				return
			case rule.Target == "ACCEPT" || rule.Target == "RETURN":
				if !rule.Destination.Set || rule.Destination.Negate || cidrplan.Overlaps(to, w.remote) {
					return
				}
			case rule.Target == "MASQUERADE" || rule.Target == "SNAT":
				from := matched(rule.Source)
				if rule.Source.Set && cidrplan.Overlaps(from, w.local) == rule.Source.Negate || rule.Mark.Set || rule.Protocol.Set {
					continue
				}
				hit := w.remote
				switch {
				case rule.Destination.Set && rule.Destination.Negate:
					hit = cidrplan.Subtract(w.remote, to)
				case rule.Destination.Set:
					hit = cidrplan.Intersect(w.remote, to)
				}
				if len(hit) > 0 {
					hits = append(hits, Rewrite{Ref: cmd.ref(), Says: clip(cmd.says()), Prefixes: written(cidrplan.Union(hit, nil))})
				}
			}
		}
	}
	w.t.Rewrites = append(w.t.Rewrites, hits...)
}

func matched(m shell.Match) []netip.Prefix {
	var out []netip.Prefix
	if m.Set && m.Known {
		for _, p := range grammar.ParsePrefixes(m.Text, 0, ",") {
			if p.Valid {
				out = append(out, p.Prefix)
			}
		}
	}
	return out
}
