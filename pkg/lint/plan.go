package lint

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ReadPlan reads the address plan of what is at the paths, of charts with their
// default values, and of the plan file. It compiles no rules. The error is one
// of usage or the context's, as in Run.
func ReadPlan(ctx context.Context, paths []string, opts Options) (report.AddressPlan, error) {
	looks, gaps, err := look(ctx, paths, opts)
	if err != nil {
		return report.AddressPlan{}, err
	}
	out := report.AddressPlan{Version: opts.Version, Gaps: gaps}
	var claims []cidrplan.Claim
	for _, l := range looks {
		claims = append(claims, l.known.Claims...)
	}
	out.Plan = cidrplan.Compute(claims)
	for _, l := range looks {
		out.Suggestions = append(out.Suggestions, lists(l.known)...)
	}
	out.Suggestions = append(out.Suggestions, freePools(out.Plan)...)
	slices.SortStableFunc(out.Suggestions, func(a, b report.Suggestion) int { return strings.Compare(a.Cluster, b.Cluster) })
	out.Places = map[source.Ref]source.Location{}
	for _, l := range looks {
		maps.Copy(out.Places, places(out, l.objects))
	}
	return out, nil
}

// looked is what is known of one reading, and what its refs point at.
type looked struct {
	known   *facts.Facts
	objects []*source.Object
}

// look loads the paths and reads the facts of the default value sets, once for
// each reading of the plan file's clusters.
func look(ctx context.Context, paths []string, opts Options) ([]looked, []finding.Gap, error) {
	loaded, err := loader.Load(ctx, paths, opts.load())
	if err != nil {
		return nil, nil, err
	}
	catalog, err := images.Load()
	if err != nil {
		return nil, nil, fmt.Errorf("read the image catalogue: %w", err)
	}
	missed, err := unplanned(ctx, loaded.Objects, opts.Plan, catalog)
	if err != nil {
		return nil, nil, err
	}
	gaps := slices.Concat(loaded.Gaps, missed)
	var out []looked
	for _, r := range readings(loaded.Objects, opts.Plan) {
		known, err := facts.Read(ctx, r.objects, catalog, r.options(opts))
		if err != nil {
			return nil, nil, fmt.Errorf("read the facts: %w", err)
		}
		all := r.everything(opts.Plan)
		gaps = append(gaps, locateGaps(known.Gaps, all)...)
		out = append(out, looked{known: known, objects: all})
	}
	return out, sortGaps(gaps), nil
}

// places locates what the plan refers to.
func places(p report.AddressPlan, objects []*source.Object) map[source.Ref]source.Location {
	byID := make(map[source.ObjectID]*source.Object, len(objects))
	for _, o := range objects {
		byID[o.ID] = o
	}
	out := map[source.Ref]source.Location{}
	add := func(ref source.Ref) {
		if o, ok := byID[ref.Object]; ok && !ref.IsZero() {
			out[ref] = o.Origin.Locate(ref).Primary
		}
	}
	for _, r := range p.Ranges {
		for _, c := range r.Claims {
			add(c.At)
		}
	}
	for _, s := range p.Suggestions {
		add(s.At)
	}
	return out
}

// lists are what arithmetic says to write where lists do not fit.
func lists(known *facts.Facts) []report.Suggestion {
	var out []report.Suggestion
	for i := range known.Agents {
		if s, ok := exemption(&known.Agents[i]); ok {
			out = append(out, s)
		}
	}
	for i := range known.Pods {
		out = append(out, bypasses(&known.Pods[i])...)
	}
	return out
}

// exemption is the list for an agent whose own keeps pod addresses where the far
// side does not know them, or loses them inside the cluster.
func exemption(a *facts.Agent) (report.Suggestion, bool) {
	if len(a.Minimal) == 0 || a.List.Source == "unknown" {
		return report.Suggestion{}, false
	}
	var wrong []string
	for _, t := range a.Targets {
		if len(t.Covered) > 0 && t.Wanted != "pod" {
			wrong = append(wrong, "packets to "+strings.Join(t.Covered, ", ")+" behind "+cmp.Or(t.Site, "the VPN")+" keep pod addresses")
		}
	}
	if len(a.MissingPods) > 0 {
		wrong = append(wrong, "packets to pods in "+strings.Join(a.MissingPods, ", ")+" lose their pod addresses")
	}
	if len(a.MissingNodes) > 0 {
		wrong = append(wrong, "packets to nodes in "+strings.Join(a.MissingNodes, ", ")+" lose their pod addresses")
	}
	if len(wrong) == 0 {
		return report.Suggestion{}, false
	}
	write := "nonMasqueradeCIDRs:"
	for _, p := range a.Minimal {
		write += "\n- " + p
	}
	return report.Suggestion{
		Kind: "exemption", Cluster: a.Cluster, Object: a.Object, At: cmp.Or(a.List.Ref, a.Ref),
		Why:   strings.Join(wrong, "; ") + "; the shortest list that exempts the cluster's own ranges and nothing else",
		Write: []string{write}, Prefixes: prefixes(a.Minimal),
	}, true
}

// bypasses are the lists for tunnels that take what their pod needs of a
// cluster.
func bypasses(p *facts.Pod) []report.Suggestion {
	var out []report.Suggestion
	if len(p.Needs) == 0 {
		return nil
	}
	for i := range p.Tunnels {
		t := &p.Tunnels[i]
		for _, c := range t.Captures {
			if c.Suggestion == "" {
				continue
			}
			s := report.Suggestion{
				Kind: "bypass", Cluster: c.Cluster, Object: p.Object, At: t.Bypass.Ref,
				Why:   fmt.Sprintf("the tunnel in container %s takes %s of the cluster, which %s needs", t.Container, strings.Join(c.Missing, ", "), p.Needs[0].Container),
				Write: []string{c.Suggestion}, Prefixes: prefixes(c.Missing),
			}
			if c.Alternative != "" {
				s.Write = append(s.Write, c.Alternative)
			}
			out = append(out, s)
		}
	}
	return out
}

// freePools are free ranges for the client pools that overlap with something.
func freePools(plan cidrplan.Plan) []report.Suggestion {
	var out []report.Suggestion
	used := taken(plan)
	seen := map[cidrplan.Claim]bool{}
	for _, o := range plan.Overlaps {
		for _, pair := range [][2]cidrplan.Claim{{o.A, o.B}, {o.B, o.A}} {
			pool, other := pair[0], pair[1]
			if pool.Role != cidrplan.Pool || pool.At.IsZero() || seen[pool] || ofMesh(pool.Prefix) || other.Idiom != cidrplan.NoIdiom {
				continue
			}
			seen[pool] = true
			free := cidrplan.Free(cidrplan.Private(), used, pool.Prefix, pool.Prefix.Bits(), 1)
			if len(free) == 0 {
				continue
			}
			used = append(used, free...) // the next one shall not get the same
			out = append(out, report.Suggestion{
				Kind: "pool", Cluster: pool.Cluster, At: pool.At, Prefixes: free, Write: []string{free[0].String()},
				Why: fmt.Sprintf("the client pool %s meets %s; the nearest free /%d", pool.Prefix, other.Prefix, pool.Prefix.Bits()),
			})
		}
	}
	return out
}

// ofMesh: the address ranges of mesh VPNs are theirs, no setting moves them.
func ofMesh(p netip.Prefix) bool {
	return cidrplan.Overlaps([]netip.Prefix{p}, []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfd, 0x7a, 0x11, 0x5c, 0xa1, 0xe0}), 48),
	})
}

// Free returns up to n private ranges of the given length that meet nothing of
// the plan, nearest to near first (cidrplan.Free).
func Free(plan cidrplan.Plan, near netip.Prefix, length, n int) []netip.Prefix {
	return cidrplan.Free(cidrplan.Private(), taken(plan), near, length, n)
}

// taken are the addresses that a new range shall keep away from: all ranges of
// the plan, of whatever cluster, and what people have at home.
func taken(plan cidrplan.Plan) []netip.Prefix {
	var out []netip.Prefix
	for _, r := range plan.Ranges {
		for _, c := range r.Claims {
			if c.Idiom != cidrplan.DefaultRoute && c.Prefix.Bits() > 0 {
				out = append(out, c.Prefix)
			}
		}
	}
	for _, h := range cidrplan.Homes() {
		out = append(out, h.Prefix)
	}
	return cidrplan.Union(out, nil)
}

func prefixes(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}
