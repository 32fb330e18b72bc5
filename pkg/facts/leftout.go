package facts

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// leftOut is what a tunnel's bypass really keeps out of it. An entry that is a
// route of the main table loses to a longer one of the tunnel's there; of two
// routes for one prefix the entry is taken to be the one that stays.
func leftOut(t *Tunnel) []netip.Prefix {
	if !t.Routes.MoreSpecificWin || len(t.Bypass.Contended) == 0 {
		return prefixesAt(t.Bypass.Entries)
	}
	type route struct {
		prefix netip.Prefix
		length int
		inward bool
	}
	var table []route
	for _, e := range t.Bypass.Contended {
		if p, err := netip.ParsePrefix(e.Entry.Prefix); err == nil {
			length := p.Bits()
			if e.Rule {
				length = 0
			}
			table = append(table, route{p.Masked(), length, false})
		}
	}
	for _, p := range prefixesAt(t.Routes.Prefixes) {
		table = append(table, route{p, p.Bits(), true})
	}
	slices.SortStableFunc(table, func(a, b route) int {
		switch {
		case a.length != b.length:
			return cmp.Compare(a.length, b.length)
		case a.inward == b.inward:
			return 0
		case a.inward:
			return -1
		default:
			return 1
		}
	})
	var out []netip.Prefix
	for _, r := range table {
		if r.inward {
			out = cidrplan.Subtract(out, []netip.Prefix{r.prefix})
		} else {
			out = cidrplan.Union(out, []netip.Prefix{r.prefix})
		}
	}
	return cidrplan.Union(out, prefixesAt(firm(t)))
}

// firm are the entries of a bypass that no route of the tunnel's wins over:
// rules in front of its table, or lists that its own program keeps.
func firm(t *Tunnel) []PrefixAt {
	var out []PrefixAt
	for _, e := range t.Bypass.Entries {
		if !slices.ContainsFunc(t.Bypass.Contended, func(c ContendedEntry) bool { return c.Entry == e }) {
			out = append(out, e)
		}
	}
	return out
}

// overruling returns the routes of a tunnel that take a part of the given ranges
// although a wider entry of the bypass is meant to keep it out.
func overruling(t *Tunnel, ranges []netip.Prefix) []string {
	out := []string{}
	if !t.Routes.MoreSpecificWin {
		return out
	}
	kept := leftOut(t)
	for _, p := range prefixesAt(t.Routes.Prefixes) {
		meant := cidrplan.Intersect(cidrplan.Intersect([]netip.Prefix{p}, prefixesAt(t.Bypass.Entries)), ranges)
		if p.Bits() > 0 && len(cidrplan.Subtract(meant, kept)) > 0 && !slices.Contains(out, p.String()) {
			out = append(out, p.String())
		}
	}
	return out
}
