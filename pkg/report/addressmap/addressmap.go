// Package addressmap draws prefixes to scale: one axis for everything, one lane
// a use, the shared addresses marked across the lanes. It is pure geometry and
// text: what the lanes mean is the caller's.
//
// A plan of 10.0.0.0/8, a /16 and a few /24 does not fit any straight axis. So
// the axis is cut into blocks: stretches in which something happens, each drawn
// to a scale of its own, with a break wherever a stretch without any detail was
// left out.
//
//	10.0.0.0      10.20.0.0       10.96.0.0     10.112.0.0
//	├───┤≈≈≈├────────┤≈≈≈├───────────────┤≈≈≈├───┤
//	▐████████████████████████████████████████████▌ 10.0.0.0/8
//	         ▐███████▌ 10.20.0.0/16
//
// Texts are set in a monospaced font, so that their width can be counted and no
// two ever meet.
package addressmap

import (
	"net/netip"
	"slices"
)

// Map is what is drawn: a row a use of addresses, all on one axis to scale.
type Map struct {
	// Title is read to people who do not see the picture.
	Title string
	// Groups are drawn from top to bottom.
	Groups []Group
}

// Group is a set of lanes with a heading: a cluster.
type Group struct {
	Name  string
	Lanes []Lane
	// Marks are addresses that several lanes of the group share.
	Marks []Mark
}

// Lane is one use of addresses: the pods of a cluster, the networks behind a VPN.
type Lane struct {
	Name string
	// Class chooses the colour: pod, service, node, vpn or pool; anything else is
	// grey.
	Class string
	Bars  []Bar
}

// Bar is a prefix of a lane. Bars with the same Label are labelled once.
type Bar struct {
	Prefix netip.Prefix
	Label  string
	Title  string // shown when pointed at
	Link   string // where a click leads, "" for nowhere
	// Everywhere: it covers all addresses of its family (a default route). It
	// runs through the whole lane and does not stretch the axis.
	Everywhere bool
	// Faint: it was not written by anybody.
	Faint bool
}

// Mark is a piece of the axis that is drawn through all lanes of its group.
type Mark struct {
	Prefix netip.Prefix
	Label  string
	Title  string
	Link   string
}

// MaxBars is how many bars a map shows: a reader has eyes, and a browser has
// limits. Draw reports how many it left out.
const MaxBars = 1500

// Limited returns the map with at most MaxBars bars, and how many it left out.
// Bars that share addresses with a mark stay before others.
func (m Map) Limited() (Map, int) {
	total := 0
	for _, g := range m.Groups {
		for _, l := range g.Lanes {
			total += len(l.Bars)
		}
		total += len(g.Marks)
	}
	if total <= MaxBars {
		return m, 0
	}
	out := Map{Title: m.Title}
	room := MaxBars
	for _, g := range m.Groups {
		if len(g.Marks) > 0 {
			kept := limitGroup(g, &room)
			out.Groups = append(out.Groups, kept)
		}
	}
	for _, g := range m.Groups {
		if len(g.Marks) == 0 && room > 0 {
			out.Groups = append(out.Groups, limitGroup(g, &room))
		}
	}
	return out, total - (MaxBars - room)
}

func limitGroup(g Group, room *int) Group {
	out := Group{Name: g.Name, Marks: g.Marks[:min(len(g.Marks), *room)]}
	*room -= len(out.Marks)
	for _, l := range g.Lanes {
		bars := slices.Clone(l.Bars)
		slices.SortStableFunc(bars, func(a, b Bar) int {
			return rank(marked(b, g.Marks)) - rank(marked(a, g.Marks))
		})
		bars = bars[:min(len(bars), *room)]
		*room -= len(bars)
		if len(bars) > 0 {
			out.Lanes = append(out.Lanes, Lane{Name: l.Name, Class: l.Class, Bars: bars})
		}
	}
	return out
}

func marked(b Bar, marks []Mark) bool {
	return slices.ContainsFunc(marks, func(m Mark) bool { return m.Prefix.Overlaps(b.Prefix) })
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}
