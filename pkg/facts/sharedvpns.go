package facts

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// sharedVPNs are the ranges of clusters that lie in those of others, where both
// show them to the far side of one VPN: it has one route back. Which range it sees
// is the plan's choice of the source address. Each such range is a destination
// behind the VPN of the cluster whose own range holds it.
//
// It costs what there is to read and the pairs of clusters that have a VPN of one
// name: plans that a program writes have thousands of VPNs.
func sharedVPNs(clusters []*founded) []cidrplan.Claim {
	byName := map[string][]*shownVPN{}
	own := map[*founded]map[string]prefixSet{}
	for i, f := range clusters {
		if f.Elsewhere {
			continue
		}
		for j := range f.Plan.VPN {
			v := &f.Plan.VPN[j]
			if role := v.SourceAddress.Value; v.Name != "" && (role == "pod" || role == "node") {
				byName[v.Name] = append(byName[v.Name], &shownVPN{VPN: v, in: f, at: i, role: role})
			}
		}
		own[f] = shownRanges(f)
	}
	var out []cidrplan.Claim
	for i, a := range clusters {
		for _, s := range shownTogether(a, i, byName) {
			b := s.in
			for _, c := range b.claims {
				if string(c.Role) != s.role || !plainly(c) || !own[a][s.role].holds(c.Prefix, i < s.at) {
					continue
				}
				c.Cluster, c.Role, c.Part = a.Name, cidrplan.VPN, false
				c.Says = s.role + " range of cluster " + b.Name + ", behind the VPN " + s.VPN.Name + " as well"
				c.Owner = "cluster " + b.Name + " behind " + s.VPN.Name
				out = append(out, c)
			}
		}
	}
	return out
}

// shownVPN is a VPN of a cluster's plan whose far side is to see one of its ranges.
type shownVPN struct {
	VPN  *PlannedVPN
	in   *founded
	at   int    // the cluster's place among all
	role string // of the range that the far side sees
	// destinations, minimal and in order, once somebody asked for them.
	destinations []netip.Prefix
	read         bool
}

// leads are the networks behind the VPN, default routes apart.
func (s *shownVPN) leads() []netip.Prefix {
	if !s.read {
		s.read = true
		s.destinations = cidrplan.Union(slices.DeleteFunc(parsed(s.VPN.Destinations), func(p netip.Prefix) bool { return p.Bits() == 0 }), nil)
	}
	return s.destinations
}

// shownTogether are the VPNs of other clusters whose far side sees the same role of
// a's ranges: of one name, and with a destination that both reach through it. Of
// several of one cluster and role it is the first in a's plan.
func shownTogether(a *founded, at int, byName map[string][]*shownVPN) []*shownVPN {
	type cell struct {
		cluster int
		role    string
	}
	seen := map[cell]bool{}
	var out []*shownVPN
	if a.Elsewhere {
		return nil
	}
	for i := range a.Plan.VPN {
		named := byName[a.Plan.VPN[i].Name]
		mine := slices.IndexFunc(named, func(s *shownVPN) bool { return s.VPN == &a.Plan.VPN[i] })
		if mine < 0 {
			continue
		}
		for _, other := range named {
			c := cell{other.at, other.role}
			if other.at == at || other.role != named[mine].role || seen[c] || !meet(named[mine].leads(), other.leads()) {
				continue
			}
			seen[c] = true
			out = append(out, other)
		}
	}
	slices.SortStableFunc(out, func(x, y *shownVPN) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.role, y.role))
	})
	return out
}

// meet reports whether two lists share an address, each of which is minimal and in
// order.
func meet(a, b []netip.Prefix) bool {
	for len(a) > 0 && len(b) > 0 {
		if a[0].Overlaps(b[0]) {
			return true
		}
		if a[0].Addr().Less(b[0].Addr()) {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return false
}

// prefixSet is a set of prefixes by which what encloses another one is found.
type prefixSet map[netip.Prefix]bool

// holds reports whether p lies inside one of the set, or is one of it where that
// counts.
func (s prefixSet) holds(p netip.Prefix, orIsOne bool) bool {
	if len(s) == 0 {
		return false
	}
	if orIsOne && s[p] {
		return true
	}
	for bits := p.Bits() - 1; bits >= 0; bits-- {
		if s[netip.PrefixFrom(p.Addr(), bits).Masked()] {
			return true
		}
	}
	return false
}

// shownRanges are the pod and node ranges that somebody wrote for a cluster.
func shownRanges(f *founded) map[string]prefixSet {
	out := map[string]prefixSet{}
	for _, c := range f.claims {
		if !plainly(c) {
			continue
		}
		switch c.Role {
		case cidrplan.Pod, cidrplan.Node:
			role := string(c.Role)
			if out[role] == nil {
				out[role] = prefixSet{}
			}
			out[role][c.Prefix] = true
		}
	}
	return out
}

// plainly: somebody wrote this range of a cluster, in the tree or in the plan.
func plainly(c cidrplan.Claim) bool {
	return c.Prefix.IsValid() && (c.Strength == cidrplan.Planned || c.Strength == cidrplan.Declared)
}
