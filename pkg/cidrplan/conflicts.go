package cidrplan

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// family is one range in one address family.
type family struct {
	key int32
	v4  bool
}

// conflicts compares what is said of one range in different places.
//
// Of two declarations: a cluster has one service range a family, wherever it is
// declared; its pods may have several, but two documents that state the pod
// range in different terms must agree (one range inside the other is agreement:
// pools are cut from the pod range). Nodes, VPN destinations and pools may have
// as many as they like.
//
// Of the plan and the tree: see disagreements.
func (s *sweep) conflicts() []Conflict {
	first := make(map[family]item)
	var out []Conflict
	for _, it := range s.items {
		k := &s.keys[it.key]
		c := &s.claims[it.claim]
		if k.idiom != NoIdiom || c.Strength != Declared || (k.role != Pod && k.role != Service) {
			continue
		}
		f := family{key: it.key, v4: !it.six}
		one, ok := first[f]
		if !ok {
			first[f] = it
			continue
		}
		other := &s.claims[one.claim]
		if one.encloses(&it) || c.At.Object == other.At.Object || (k.role == Pod && c.Says == other.Says) {
			continue
		}
		out = append(out, Conflict{Cluster: k.cluster, A: s.at(one), B: s.at(it)})
	}
	out = append(out, s.disagreements()...)
	slices.SortStableFunc(out, func(x, y Conflict) int {
		return cmp.Or(strings.Compare(x.Cluster, y.Cluster), cmp.Compare(x.A.Role.order(), y.A.Role.order()))
	})
	return out
}

// disagreements holds what is planned of the pod, service and node ranges
// against what the tree says of them. Conflict.A is the planned claim, the one
// that shares addresses with the other where there is one.
//
// A declaration agrees when the plan lists it, alone or in pieces, and a piece
// (Part, or any range of nodes) when it lies inside the plan's range. The range
// of nodes agrees also where it encloses the plan's: networks of nodes are cut
// from a larger one. Evidence agrees when it lies inside. Of evidence that does
// not, one piece stands for all, and none where a declaration says it already.
// A family of which the plan says nothing is not compared.
func (s *sweep) disagreements() []Conflict {
	planned := make(map[family][]item)
	said := make(map[family][]item)
	var order []family
	for _, it := range s.items {
		k := &s.keys[it.key]
		if k.idiom != NoIdiom || k.owner != "" || k.role != Pod && k.role != Service && k.role != Node {
			continue
		}
		f := family{key: it.key, v4: !it.six}
		switch s.claims[it.claim].Strength {
		case Planned:
			if planned[f] == nil {
				order = append(order, f)
			}
			planned[f] = append(planned[f], it)
		case Declared, Evidence:
			said[f] = append(said[f], it)
		}
	}
	var out []Conflict
	for _, f := range order {
		out = append(out, s.against(planned[f], said[f])...)
	}
	return out
}

// against compares the claims of one range and family. Both lists are in order.
func (s *sweep) against(planned, said []item) []Conflict {
	plan := s.prefixesOf(planned)
	whole := aggregate(slices.Clone(plan)) // which overwrites what it is given
	lists := s.lists(said)
	var out []Conflict
	var evidence *Conflict
	for _, it := range said {
		if s.agrees(it, plan, whole, lists) {
			continue
		}
		at := slices.IndexFunc(planned, func(p item) bool { return p.encloses(&it) || it.encloses(&p) })
		c := Conflict{Cluster: s.keys[it.key].cluster, A: s.at(planned[max(at, 0)]), B: s.at(it)}
		if s.claims[it.claim].Strength == Evidence {
			if evidence == nil {
				evidence = &c
			}
			continue
		}
		out = append(out, c)
	}
	if len(out) == 0 && evidence != nil {
		out = append(out, *evidence)
	}
	return out
}

// list is a list of ranges in one place: all that one field of an object says.
type list struct {
	object source.ObjectID
	says   string
}

func (s *sweep) lists(said []item) map[list][]netip.Prefix {
	out := make(map[list][]netip.Prefix)
	for _, it := range said {
		c := &s.claims[it.claim]
		if c.Strength == Declared {
			of := list{c.At.Object, c.Says}
			out[of] = append(out[of], s.prefix(it))
		}
	}
	for of, prefixes := range out {
		out[of] = aggregate(prefixes)
	}
	return out
}

func (s *sweep) agrees(it item, plan, whole []netip.Prefix, lists map[list][]netip.Prefix) bool {
	c := &s.claims[it.claim]
	prefix := s.prefix(it)
	inside := within(whole, prefix)
	if c.Strength == Evidence || c.Part || c.Role == Node {
		return inside || c.Role == Node && c.Strength != Evidence && slices.ContainsFunc(plan, func(p netip.Prefix) bool { return covers(prefix, p) })
	}
	if !inside {
		return false
	}
	// Inside of one larger entry, it is a piece of a list that states all of the
	// entry, or something else than the plan says.
	entry := slices.IndexFunc(plan, func(p netip.Prefix) bool { return covers(p, prefix) })
	if entry < 0 || slices.Contains(plan, prefix) {
		return true
	}
	return within(lists[list{c.At.Object, c.Says}], plan[entry])
}

// within reports whether one prefix of a minimal list encloses p.
func within(list []netip.Prefix, p netip.Prefix) bool {
	return slices.ContainsFunc(list, func(q netip.Prefix) bool { return covers(q, p) })
}

func (s *sweep) prefixesOf(items []item) []netip.Prefix {
	out := make([]netip.Prefix, 0, len(items))
	for _, it := range items {
		out = append(out, s.prefix(it))
	}
	return out
}
