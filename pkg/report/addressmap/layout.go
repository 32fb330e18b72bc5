package addressmap

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Sizes of the picture, in pixels.
const (
	pictureWidth = 1080
	margin       = 16
	gutter       = 150 // of the names of lanes
	fontSize     = 11
	// charWidth is what a character of any usual monospaced font takes at most.
	charWidth   = fontSize * 0.62
	barHeight   = 15
	rowHeight   = 19
	axisHeight  = 34
	headHeight  = 26
	laneGap     = 6
	labelGap    = 5
	titleHeight = 24
	legendSize  = 30
)

func textWidth(s string) float64 {
	return float64(displaywidth.Options{EastAsianWidth: false}.String(s)) * charWidth
}

// clipped cuts a text so that it is no wider than room.
func clipped(s string, room float64) string {
	s = printable(s)
	if textWidth(s) <= room {
		return s
	}
	var b strings.Builder
	graphemes := displaywidth.StringGraphemes(s)
	used := charWidth // of the ellipsis
	for graphemes.Next() {
		used += textWidth(graphemes.Value())
		if used > room {
			break
		}
		b.WriteString(graphemes.Value())
	}
	return b.String() + "…"
}

// panel is the picture of one address family.
type panel struct {
	axis   axis
	top    float64 // of its axis
	groups []placedGroup
	bottom float64
}

type placedGroup struct {
	name  string
	y     float64 // of its heading
	lanes []placedLane
	marks []placedMark
	// top and bottom of what the marks run through.
	top, bottom float64
}

type placedLane struct {
	name, class string
	y, bottom   float64
	bars        []placedBar
}

// placedBar is a bar and its label. A label that stands for several bars hangs
// on the first of them.
type placedBar struct {
	Bar
	x, width float64
	y        float64 // of the row
	pin      bool    // narrower than can be seen: a pin marks it
	label    placedLabel
}

type placedLabel struct {
	text   string
	x      float64
	anchor string // start or end
}

type placedMark struct {
	Mark
	x, width float64
	y        float64
	pin      bool
	label    placedLabel
}

// layout places everything; the result's height is that of the picture.
func layout(m Map) (panels []panel, height float64) {
	y := float64(margin)
	if m.Title != "" {
		y += titleHeight
	}
	for _, v4 := range []bool{true, false} {
		family := ofFamily(m.Groups, v4)
		prefixes := prefixesOf(family)
		if len(prefixes) == 0 {
			continue // nothing, or default routes only: there is no axis to show them on
		}
		p := panel{axis: newAxis(prefixes, pictureWidth-2*margin-gutter), top: y}
		p.axis.v4 = v4
		y += axisHeight
		for _, g := range family {
			placed := p.axis.group(g, y)
			y = placed.bottom + laneGap
			p.groups = append(p.groups, placed)
		}
		p.bottom = y
		y += 2 * laneGap
		panels = append(panels, p)
	}
	return panels, y + legendSize
}

// prefixesOf are the prefixes that the axis must show.
func prefixesOf(groups []Group) []netip.Prefix {
	var out []netip.Prefix
	for _, g := range groups {
		for _, l := range g.Lanes {
			for _, b := range l.Bars {
				if !b.Everywhere {
					out = append(out, b.Prefix)
				}
			}
		}
		for _, mark := range g.Marks {
			out = append(out, mark.Prefix)
		}
	}
	return out
}

func ofFamily(groups []Group, v4 bool) []Group {
	var out []Group
	for _, g := range groups {
		kept := Group{Name: g.Name}
		for _, l := range g.Lanes {
			bars := filter(l.Bars, func(b Bar) bool { return b.Prefix.IsValid() && b.Prefix.Addr().Is4() == v4 })
			if len(bars) > 0 {
				kept.Lanes = append(kept.Lanes, Lane{Name: l.Name, Class: l.Class, Bars: bars})
			}
		}
		kept.Marks = filter(g.Marks, func(m Mark) bool { return m.Prefix.IsValid() && m.Prefix.Addr().Is4() == v4 })
		if len(kept.Lanes) > 0 {
			out = append(out, kept)
		}
	}
	return out
}

func filter[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

func (a *axis) group(g Group, y float64) placedGroup {
	out := placedGroup{name: g.Name, y: y, top: y}
	if g.Name != "" {
		y += headHeight
		out.top = y
	}
	for _, l := range g.Lanes {
		lane := placedLane{name: l.Name, class: l.Class, y: y}
		var rows packer
		bars := slices.Clone(l.Bars)
		slices.SortStableFunc(bars, func(x, y Bar) int {
			return cmp.Or(cmp.Compare(rank(y.Everywhere), rank(x.Everywhere)),
				pointOf(x.Prefix.Addr()).compare(pointOf(y.Prefix.Addr())), cmp.Compare(x.Prefix.Bits(), y.Prefix.Bits()))
		})
		labelled := map[string]int{} // the row of what carries the label
		for _, b := range bars {
			placed := placedBar{Bar: b}
			placed.x, placed.width = a.extent(b.Prefix, b.Everywhere)
			placed.pin = placed.width < pinBelow
			if row, ok := labelled[b.Label]; ok && b.Label != "" && placed.pin {
				placed.y = y + float64(row)*rowHeight // its label stands with the first
				lane.bars = append(lane.bars, placed)
				continue
			}
			row, label := rows.put(placed.x, placed.width, a.width, b.Label)
			placed.y, placed.label = y+float64(row)*rowHeight, label
			if placed.pin {
				labelled[b.Label] = row
			}
			lane.bars = append(lane.bars, placed)
		}
		y += float64(rows.count()) * rowHeight
		lane.bottom = y
		y += laneGap
		out.lanes = append(out.lanes, lane)
	}
	if len(g.Marks) > 0 {
		var rows packer
		for _, m := range g.Marks {
			placed := placedMark{Mark: m}
			placed.x, placed.width = a.extent(m.Prefix, false)
			placed.pin = placed.width < pinBelow
			row, label := rows.put(placed.x, placed.width, a.width, m.Label)
			placed.y, placed.label = y+float64(row)*rowHeight, label
			out.marks = append(out.marks, placed)
		}
		y += float64(rows.count())*rowHeight + laneGap
	}
	out.bottom = y
	return out
}

// extent is where a prefix lies on the axis.
func (a *axis) extent(p netip.Prefix, everywhere bool) (x, width float64) {
	if everywhere {
		return 0, a.width
	}
	from, to := a.span(extentOf(p))
	return from, to - from
}

// packer puts bars and labels into rows so that none meets another.
type packer struct{ rows []packedRow }

// packedRow is what a row has: the taken pieces, in no order.
type packedRow []struct{ from, to float64 }

func (r packedRow) free(from, to float64) bool {
	for _, taken := range r {
		if from < taken.to && taken.from < to {
			return false
		}
	}
	return true
}

func (p *packer) count() int { return len(p.rows) }

// put finds the first row with room for the bar and its label: inside the bar,
// behind it, or before it. A label that fits nowhere is cut.
func (p *packer) put(x, width, most float64, text string) (row int, label placedLabel) {
	seen := max(width, pinBelow)
	from, to := x, x+seen
	text = printable(text)
	need := textWidth(text) + 2*labelGap
	switch {
	case text == "":
	case need <= width:
		label = placedLabel{text: text, x: x + labelGap, anchor: "start"}
	case need <= most-to:
		label = placedLabel{text: text, x: to + labelGap, anchor: "start"}
		to += need
	case need <= from:
		label = placedLabel{text: text, x: from - labelGap, anchor: "end"}
		from -= need
	default:
		// Wherever there is more room.
		inside, behind, before := width, most-to, from
		switch max(inside, behind, before) {
		case inside:
			label = placedLabel{text: clipped(text, inside-2*labelGap), x: x + labelGap, anchor: "start"}
		case behind:
			label = placedLabel{text: clipped(text, behind-2*labelGap), x: to + labelGap, anchor: "start"}
			to = most
		default:
			label = placedLabel{text: clipped(text, before-2*labelGap), x: from - labelGap, anchor: "end"}
			from = 0
		}
	}
	to += labelGap
	for i := range p.rows {
		if p.rows[i].free(from, to) {
			p.rows[i] = append(p.rows[i], struct{ from, to float64 }{from, to})
			return i, label
		}
	}
	p.rows = append(p.rows, packedRow{{from, to}})
	return len(p.rows) - 1, label
}
