package cidrplan

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"net/netip"
	"slices"

	"go4.org/netipx"
)

// Private returns the blocks that private networks may be cut from: RFC 1918,
// and for IPv6 the half of the unique local addresses that is assigned locally
// (RFC 4193).
func Private() []netip.Prefix {
	return []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{10}), 8),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16}), 12),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 168}), 16),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfd}), 8),
	}
}

// Home is a network that many people have at home or on their machine. A pool
// that lies in one does not reach them: their own route wins.
type Home struct {
	Prefix netip.Prefix
	Who    string // whose network it is
}

// Homes returns what VPN406 warns of: factory settings of routers, and the first
// bridge of Docker.
func Homes() []Home {
	four := func(a, b, c, d byte, bits int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, c, d}), bits)
	}
	return []Home{
		{four(10, 0, 0, 0, 24), "many home routers"},
		{four(10, 0, 1, 0, 24), "some home routers"},
		{four(172, 17, 0, 0, 16), "Docker"},
		{four(192, 168, 0, 0, 24), "many home routers"},
		{four(192, 168, 1, 0, 24), "many home routers"},
		{four(192, 168, 2, 0, 24), "some home routers"},
		{four(192, 168, 178, 0, 24), "FRITZ!Box routers"},
	}
}

// Free returns the n prefixes of the given length nearest to near, nearest
// first, that lie in within and hold no address of taken. Distance is that of
// the first addresses; of two equally far the lower comes first. Only the family
// of near counts. There may be fewer than n, and none.
//
//	near            ▼
//	within  ├──────────────────────────────┤
//	taken      ├────┤ ├─────┤   ├──┤
//	free    ▭▭       ▭         ▭    ▭▭▭▭▭▭▭   as many as fit into each gap
//
// It costs one pass over taken, sorted, and then n steps.
func Free(within, taken []netip.Prefix, near netip.Prefix, length, n int) []netip.Prefix {
	if !near.IsValid() || length < 0 || length > near.Addr().BitLen() || n <= 0 {
		return nil
	}
	gaps := slices.DeleteFunc(Subtract(within, taken), func(p netip.Prefix) bool {
		return p.Bits() > length || p.Addr().BitLen() != near.Addr().BitLen()
	})
	start := netip.PrefixFrom(near.Addr(), length).Masked().Addr()
	// The first gap that ends at or above start.
	first, _ := slices.BinarySearchFunc(gaps, start, func(p netip.Prefix, a netip.Addr) int {
		return netipx.PrefixLastIP(p).Compare(a)
	})
	up, stopUp := iter.Pull(upwards(gaps[first:], start, length))
	defer stopUp()
	down, stopDown := iter.Pull(downwards(gaps[:min(first+1, len(gaps))], start, length))
	defer stopDown()
	above, isAbove := up()
	below, isBelow := down()
	var out []netip.Prefix
	for len(out) < n && (isAbove || isBelow) {
		if isBelow && (!isAbove || !distance(above, start).less(distance(below, start))) {
			out = append(out, netip.PrefixFrom(below, length))
			below, isBelow = down()
			continue
		}
		out = append(out, netip.PrefixFrom(above, length))
		above, isAbove = up()
	}
	return out
}

// upwards yields the first addresses of the prefixes of the length in the gaps,
// from start on; downwards those below start, from the highest.
func upwards(gaps []netip.Prefix, start netip.Addr, length int) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for _, g := range gaps {
			at := g.Addr()
			if at.Less(start) {
				at = start
			}
			for at.IsValid() && g.Contains(at) {
				if !yield(at) {
					return
				}
				at = netipx.PrefixLastIP(netip.PrefixFrom(at, length)).Next()
			}
		}
	}
}

func downwards(gaps []netip.Prefix, start netip.Addr, length int) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for _, g := range slices.Backward(gaps) {
			last := netipx.PrefixLastIP(g)
			if !last.Less(start) {
				last = start.Prev()
			}
			for last.IsValid() && g.Contains(last) {
				at := netip.PrefixFrom(last, length).Masked().Addr()
				if !yield(at) {
					return
				}
				last = at.Prev()
			}
		}
	}
}

// span is a number of addresses.
type span struct{ hi, lo uint64 }

func (s span) less(t span) bool { return s.hi < t.hi || s.hi == t.hi && s.lo < t.lo }

// distance is how far two addresses of one family are apart.
func distance(a, b netip.Addr) span {
	if a.Less(b) {
		a, b = b, a
	}
	x, y := a.As16(), b.As16()
	lo, borrow := bits.Sub64(binary.BigEndian.Uint64(x[8:]), binary.BigEndian.Uint64(y[8:]), 0)
	hi, _ := bits.Sub64(binary.BigEndian.Uint64(x[:8]), binary.BigEndian.Uint64(y[:8]), borrow)
	return span{hi, lo}
}
