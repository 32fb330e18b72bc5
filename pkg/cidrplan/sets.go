package cidrplan

import (
	"net/netip"
	"slices"

	"go4.org/netipx"
)

// The functions of this file do arithmetic with sets of addresses. A set is a
// list of prefixes in any order, which may overlap; what comes back is minimal:
// the fewest prefixes that hold exactly those addresses, IPv4 before IPv6, by
// address. Prefixes that are not valid hold no address. The empty set is nil.

// Union returns the addresses of a or b.
func Union(a, b []netip.Prefix) []netip.Prefix {
	var s netipx.IPSetBuilder
	add(&s, a)
	add(&s, b)
	return prefixes(&s)
}

// Intersect returns the addresses of both a and b.
func Intersect(a, b []netip.Prefix) []netip.Prefix {
	var s, other netipx.IPSetBuilder
	add(&s, a)
	add(&other, b)
	set, err := other.IPSet()
	if err != nil { // cannot be: add leaves out what the builder refuses
		return nil
	}
	s.Intersect(set)
	return prefixes(&s)
}

// Subtract returns the addresses of a that are not in b.
func Subtract(a, b []netip.Prefix) []netip.Prefix {
	var s netipx.IPSetBuilder
	add(&s, a)
	for _, p := range b {
		if p.IsValid() {
			s.RemovePrefix(p)
		}
	}
	return prefixes(&s)
}

// Contains reports whether every address of inner is in outer. The empty set
// is inside of everything.
func Contains(outer, inner []netip.Prefix) bool {
	return len(Subtract(inner, outer)) == 0
}

// Overlaps reports whether a and b share an address.
func Overlaps(a, b []netip.Prefix) bool {
	return len(Intersect(a, b)) > 0
}

// Missing returns the addresses of must that list leaves out.
func Missing(list, must []netip.Prefix) []netip.Prefix {
	return Subtract(must, list)
}

// MinimalExemption is the exemption list to write into a masquerade agent:
// the ranges that shall see pod addresses (keep: pods, nodes and whatever else
// answers them) without the destinations whose far side knows node addresses
// only. Agents match on the destination alone (FG A1.11), so a destination
// inside the pod range itself is cut out of it.
func MinimalExemption(keep, wantNode []netip.Prefix) []netip.Prefix {
	return Subtract(keep, wantNode)
}

// Captured is the part of a cluster's range that a tunnel takes: what its
// routes cover and no bypass leaves out.
func Captured(routes, bypass, cluster []netip.Prefix) []netip.Prefix {
	return Subtract(Intersect(routes, cluster), bypass)
}

func add(s *netipx.IPSetBuilder, list []netip.Prefix) {
	for _, p := range list {
		if p.IsValid() {
			s.AddPrefix(p)
		}
	}
}

func prefixes(s *netipx.IPSetBuilder) []netip.Prefix {
	set, err := s.IPSet()
	if err != nil || len(set.Ranges()) == 0 {
		return nil
	}
	return set.Prefixes()
}

// aggregate makes a sorted list of masked prefixes minimal in one pass: what
// lies inside the prefix before it goes, and two halves become their parent. The
// result takes the place of the list.
func aggregate(sorted []netip.Prefix) []netip.Prefix {
	if len(sorted) == 0 {
		return nil
	}
	out := sorted[:0]
	for _, p := range sorted {
		if n := len(out); n > 0 && covers(out[n-1], p) {
			continue
		}
		out = append(out, p)
		for n := len(out); n > 1; n = len(out) {
			parent, ok := joined(out[n-2], out[n-1])
			if !ok {
				break
			}
			out = append(out[:n-2], parent)
		}
	}
	return slices.Clip(out)
}

// joined returns the prefix whose halves are low and high, in that order.
func joined(low, high netip.Prefix) (netip.Prefix, bool) {
	if low.Bits() != high.Bits() || low.Bits() == 0 || low.Addr() == high.Addr() ||
		low.Addr().BitLen() != high.Addr().BitLen() {
		return netip.Prefix{}, false
	}
	parent := netip.PrefixFrom(low.Addr(), low.Bits()-1).Masked()
	if parent.Addr() != low.Addr() || !parent.Contains(high.Addr()) {
		return netip.Prefix{}, false
	}
	return parent, true
}

// covers reports whether every address of inner is in outer.
func covers(outer, inner netip.Prefix) bool {
	return outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}
