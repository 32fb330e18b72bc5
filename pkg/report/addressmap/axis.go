package addressmap

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"net/netip"
	"slices"
)

// point is a place between two addresses of one family, as the number of
// addresses before it. The one behind the last IPv6 address does not fit; it is
// drawn as the last.
type point struct{ hi, lo uint64 }

func (p point) compare(q point) int {
	return cmp.Or(cmp.Compare(p.hi, q.hi), cmp.Compare(p.lo, q.lo))
}

// minus returns p-q, which must not be negative.
func (p point) minus(q point) float64 {
	d := p.less(q)
	return float64(d.hi)*math.Ldexp(1, 64) + float64(d.lo)
}

func (p point) plus(q point) point {
	lo, carry := bits.Add64(p.lo, q.lo, 0)
	hi, over := bits.Add64(p.hi, q.hi, carry)
	if over > 0 {
		return point{math.MaxUint64, math.MaxUint64}
	}
	return point{hi, lo}
}

// less is p-q, which must not be negative.
func (p point) less(q point) point {
	lo, borrow := bits.Sub64(p.lo, q.lo, 0)
	hi, _ := bits.Sub64(p.hi, q.hi, borrow)
	return point{hi, lo}
}

// power is two to the power of n.
func power(n int) point {
	switch {
	case n >= 128:
		return point{math.MaxUint64, math.MaxUint64}
	case n >= 64:
		return point{hi: 1 << (n - 64)}
	default:
		return point{lo: 1 << n}
	}
}

func pointOf(a netip.Addr) point {
	if a.Is4() {
		raw := a.As4()
		return point{0, uint64(binary.BigEndian.Uint32(raw[:]))}
	}
	raw := a.As16()
	return point{binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])}
}

// address is the inverse of pointOf; false behind the last address.
func (p point) address(v4 bool) (netip.Addr, bool) {
	if v4 {
		if p.hi > 0 || p.lo > math.MaxUint32 {
			return netip.Addr{}, false
		}
		return netip.AddrFrom4([4]byte{byte(p.lo >> 24), byte(p.lo >> 16), byte(p.lo >> 8), byte(p.lo)}), true
	}
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], p.hi)
	binary.BigEndian.PutUint64(raw[8:], p.lo)
	return netip.AddrFrom16(raw), true
}

// extent is a half-open piece of the axis.
type extent struct{ from, to point }

func extentOf(p netip.Prefix) extent {
	p = p.Masked()
	from := pointOf(p.Addr())
	return extent{from, from.plus(power(p.Addr().BitLen() - p.Bits()))}
}

func (e extent) size() float64 { return e.to.minus(e.from) }

// block is a piece of the axis that is drawn to one scale, from x to x+width.
type block struct {
	extent
	x, width float64
	pieces   int // how much happens in it
}

// axis maps points to the picture.
type axis struct {
	v4     bool
	blocks []block
	width  float64 // of the whole
}

// Sizes of the axis, in pixels.
const (
	breakWidth = 26 // between two blocks
	clearWidth = 14 // how wide a prefix should be at least
	pinBelow   = 3  // what is narrower gets a pin
)

// newAxis chooses the blocks for the prefixes, all of one family. Single
// addresses ask for no room of their own: they are drawn as pins.
func newAxis(prefixes []netip.Prefix, width float64) axis {
	a := axis{v4: len(prefixes) > 0 && prefixes[0].Addr().Is4(), width: width}
	var wide, hosts []extent
	for _, p := range prefixes {
		if p.IsSingleIP() {
			hosts = append(hosts, extentOf(p))
			continue
		}
		wide = append(wide, extentOf(p))
	}
	wide = distinct(wide)
	for _, h := range distinct(hosts) {
		if !slices.ContainsFunc(wide, func(w extent) bool { return w.from.compare(h.from) <= 0 && h.to.compare(w.to) <= 0 }) {
			wide = append(wide, h) // nothing else shows where it is
		}
	}
	wide = distinct(wide)
	if len(wide) == 0 {
		return a
	}
	a.split(wide)
	a.place()
	return a
}

func distinct(list []extent) []extent {
	slices.SortFunc(list, func(x, y extent) int { return cmp.Or(x.from.compare(y.from), y.to.compare(x.to)) })
	return slices.Compact(list)
}

// split chooses the blocks. Between two neighbouring ends of prefixes nothing
// changes: such a stretch may be left out. It leaves out, again and again, the
// largest stretch beside the narrowest prefix, until every prefix is clear or
// there is no room for another block.
func (a *axis) split(wide []extent) {
	var ends []point
	for _, e := range wide {
		ends = append(ends, e.from, e.to)
	}
	slices.SortFunc(ends, point.compare)
	ends = slices.Compact(ends)
	stretches := make([]stretch, len(ends)-1)
	used := union(wide)
	for i := range stretches {
		e := extent{ends[i], ends[i+1]}
		_, covered := slices.BinarySearchFunc(used, e, func(u, e extent) int {
			if u.to.compare(e.from) <= 0 {
				return -1
			}
			return max(0, u.from.compare(e.from)) // ends never lie inside of e
		})
		stretches[i] = stretch{extent: e, covered: covered}
	}
	a.blocks = blocksOf(stretches)
	for {
		at := a.worst(stretches, wide)
		if at < 0 {
			return
		}
		stretches[at].out = true
		blocks := blocksOf(stretches)
		if a.least(blocks) > a.width {
			return
		}
		a.blocks = blocks
	}
}

// stretch is a piece of the axis between two neighbouring ends of prefixes.
type stretch struct {
	extent
	covered bool // some prefix covers it
	out     bool // it is left out
}

// worst returns the stretch to leave out next, -1 for none.
func (a *axis) worst(stretches []stretch, wide []extent) int {
	runs := runsOf(stretches)
	share := a.width/float64(len(runs)) - breakWidth
	at, most := -1, 1.0
	for _, r := range runs {
		if r.last <= r.first {
			continue // a single stretch, or none: every prefix in it is clear
		}
		run := extent{stretches[r.first].from, stretches[r.last].to}
		largest := -1
		for i := r.first; i <= r.last; i++ {
			s := stretches[i]
			if largest < 0 || !s.covered && stretches[largest].covered ||
				s.covered == stretches[largest].covered && s.size() > stretches[largest].size() {
				largest = i
			}
		}
		part := stretches[largest].size() / run.size()
		need := clearWidth / (share * smallest(run, wide) / run.size()) // above 1: a prefix is too narrow
		if !stretches[largest].covered {
			need = max(need, 8*part) // no part of the plan: rather not drawn
		}
		if part >= 0.25 && need > most {
			at, most = largest, need
		}
	}
	return at
}

// run is a sequence of stretches that are drawn, first to last. It may be empty:
// then the end of a prefix before stretch number first is all there is to see.
type run struct{ first, last int }

func runsOf(stretches []stretch) []run {
	var out []run
	start := 0
	for i := 0; i <= len(stretches); i++ {
		if i < len(stretches) && !stretches[i].out {
			continue
		}
		out = append(out, run{start, i - 1})
		start = i + 1
	}
	return out
}

// blocksOf makes a block of each run. Where a prefix goes on into what is left
// out, the block shows a stub of it.
func blocksOf(stretches []stretch) []block {
	var out []block
	for _, r := range runsOf(stretches) {
		var b block
		b.pieces = r.last - r.first + 2
		before, behind := r.first-1, r.last+1
		switch {
		case r.last >= r.first:
			b.extent = extent{stretches[r.first].from, stretches[r.last].to}
		case r.first < len(stretches):
			b.extent = extent{stretches[r.first].from, stretches[r.first].from}
		default:
			b.extent = extent{stretches[before].to, stretches[before].to}
		}
		size := b.size()
		if before >= 0 && stretches[before].covered {
			b.from = b.from.less(stub(size, stretches[before].size()))
		}
		if behind < len(stretches) && stretches[behind].covered {
			b.to = b.to.plus(stub(size, stretches[behind].size()))
		}
		out = append(out, b)
	}
	return out
}

// stub is how much of what is left out stands beside a run: an eighth of the
// run, and never more than a quarter of what is left out.
func stub(run, out float64) point {
	size := out / 4
	if run > 0 {
		size = min(size, run/8)
	}
	return power(max(0, int(math.Log2(size))))
}

// smallest is the size of the narrowest prefix in a run, or of the narrowest
// part that the run shows of one.
func smallest(r extent, wide []extent) float64 {
	least := r.size()
	for _, w := range wide {
		from, to := w.from, w.to
		if from.compare(r.from) < 0 {
			from = r.from
		}
		if r.to.compare(to) < 0 {
			to = r.to
		}
		if from.compare(to) < 0 {
			least = min(least, to.minus(from))
		}
	}
	return least
}

// union joins extents, sorted by their start, that touch.
func union(list []extent) []extent {
	var out []extent
	for _, e := range list {
		if n := len(out); n > 0 && e.from.compare(out[n-1].to) <= 0 {
			if out[n-1].to.compare(e.to) < 0 {
				out[n-1].to = e.to
			}
			continue
		}
		out = append(out, e)
	}
	return out
}

// least is the room that the blocks need at least.
func (a *axis) least(blocks []block) float64 {
	sum := float64(len(blocks)-1) * breakWidth
	for _, b := range blocks {
		sum += a.room(b.extent)
	}
	return sum
}

// room is the least width of a block: its first and its last address stand above
// it, above each other if need be.
func (a *axis) room(e extent) float64 {
	return max(56, textWidth(a.name(e.from)), textWidth(a.name(e.to))) + 8
}

// name writes a point for the axis.
func (a *axis) name(p point) string {
	if addr, ok := p.address(a.v4); ok {
		return addr.String()
	}
	return "end"
}

// place gives the blocks their room: the least to each, the rest by how much
// happens in them.
func (a *axis) place() {
	squeeze := min(1, a.width/a.least(a.blocks)) // where one block alone asks for too much
	spare := max(0, a.width-a.least(a.blocks))
	pieces := 0
	for _, b := range a.blocks {
		pieces += b.pieces
	}
	x := 0.0
	for i := range a.blocks {
		b := &a.blocks[i]
		b.x, b.width = x, a.room(b.extent)*squeeze+spare*float64(b.pieces)/float64(max(pieces, 1))
		x += b.width + breakWidth
	}
}

// at maps a point. A point that is left out lies in the middle of its break;
// points outside of everything lie at the ends.
func (a *axis) at(p point) float64 {
	for i, b := range a.blocks {
		if p.compare(b.from) < 0 {
			if i == 0 {
				return 0
			}
			return b.x - breakWidth/2
		}
		if p.compare(b.to) <= 0 {
			return b.x + b.width*p.minus(b.from)/b.size()
		}
	}
	return a.width
}

// span maps an extent. Where one block ends and the next begins with the same
// address, the extent starts and ends on the side of its own addresses.
func (a *axis) span(e extent) (x1, x2 float64) {
	x1, x2 = a.at(e.from), a.at(e.to)
	for _, b := range a.blocks {
		if b.from.compare(e.from) == 0 {
			x1 = b.x
		}
	}
	return x1, x2
}
