package facts

import (
	"net/netip"
	"path"
	"strings"

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
				w.calico()
				w.flannel(pods)
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

// here: an object of the tunnel's own cluster.
func (w *rewriteReader) here(o *source.Object) bool { return w.cs.one(o) == w.cs.one(w.p.object) }

// calico masquerades what leaves a natOutgoing pool, unless it goes to any pool
// at all, disabled ones included (FG A6.1-A6.2).
func (w *rewriteReader) calico() {
	type pool struct {
		ref  source.Ref
		name string
		cidr netip.Prefix
		nat  bool
	}
	var pools []pool
	add := func(ref source.Ref, name string, cidr node, nat bool) {
		if e := grammar.ParsePrefix(cidr.text(), 0); e.Valid {
			pools = append(pools, pool{ref, name, e.Prefix.Masked(), nat})
		}
	}
	for _, group := range []string{"projectcalico.org", "crd.projectcalico.org"} {
		for _, o := range w.ix.ofKind(group, "IPPool") {
			if spec := root(o).get("spec"); w.here(o) {
				nat := spec.get("natOutgoing")
				add(nat.ref(), "natOutgoing of IPPool "+o.Name, spec.get("cidr"), nat.boolean() == Present && spec.get("disabled").boolean() == Absent)
			}
		}
	}
	for _, o := range w.ix.ofKind("operator.tigera.io", "Installation") {
		for _, n := range root(o).get("spec", "calicoNetwork", "ipPools").items() {
			if w.here(o) {
				nat := n.get("natOutgoing")
				add(nat.ref(), "natOutgoing of the Installation's pool", n.get("cidr"), !nat.exists() || nat.text() == "Enabled")
			}
		}
	}
	var all []netip.Prefix
	for _, p := range pools {
		all = append(all, p.cidr)
	}
	for _, p := range pools {
		if p.nat {
			w.add(p.ref, p.name, []netip.Prefix{p.cidr}, all)
		}
	}
}

// flannel masquerades what leaves its network when it is told to (FG A7).
func (w *rewriteReader) flannel(pods []*podView) {
	f := w.cs.one(w.p.object)
	if f == nil {
		return
	}
	network := f.prefixes(cidrplan.Pod)
	for _, p := range pods {
		for _, c := range p.containers {
			if !w.here(p.object) || path.Base(imageRepository(c.c.Image)) != "flannel" || len(network) == 0 {
				continue
			}
			for _, n := range append(c.spec.get("command").texts(), c.spec.get("args").texts()...) {
				if text := strings.TrimLeft(n.text(), "-"); text == "ip-masq" || text == "ip-masq=true" {
					w.add(n.ref(), "flannel's --ip-masq", network, network)
				}
			}
		}
	}
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
		w.add(at, "the masquerade agent "+a.Object.String(), nil, exempt)
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
