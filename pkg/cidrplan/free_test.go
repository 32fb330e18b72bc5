package cidrplan

import (
	"cmp"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFree(t *testing.T) {
	tests := []struct {
		name          string
		within, taken []netip.Prefix
		near          string
		length, n     int
		want          []netip.Prefix
	}{
		{"itself, when it is free", Private(), nil, "10.8.0.0/24", 24, 1, pfx("10.8.0.0/24")},
		{"the lower of two neighbours", Private(), pfx("10.8.0.0/24"), "10.8.0.0/24", 24, 3, pfx("10.7.255.0/24", "10.8.1.0/24", "10.7.254.0/24")},
		{"beyond what is taken", Private(), pfx("10.0.0.0/9"), "10.8.0.0/24", 24, 2, pfx("10.128.0.0/24", "10.128.1.0/24")},
		{"in another block", Private(), pfx("10.0.0.0/8"), "10.8.0.0/24", 24, 1, pfx("172.16.0.0/24")},
		{"a larger one around", Private(), pfx("10.8.0.0/24"), "10.8.0.0/24", 16, 1, pfx("10.7.0.0/16")},
		{"an aligned one for an odd place", Private(), nil, "10.8.0.77/32", 24, 1, pfx("10.8.0.0/24")},
		{"the last of a block", pfx("10.255.255.0/24"), nil, "192.168.0.0/24", 25, 3, pfx("10.255.255.128/25", "10.255.255.0/25")},
		{"IPv6", Private(), pfx("fd00:8::/64"), "fd00:8::/64", 64, 2, pfx("fd00:7:ffff:ffff::/64", "fd00:8:0:1::/64")},
		{"the end of all addresses", pfx("255.255.255.0/24"), nil, "255.255.255.255/32", 32, 2, pfx("255.255.255.255/32", "255.255.255.254/32")},
		{"the start of all addresses", pfx("0.0.0.0/24"), pfx("0.0.0.0/32"), "0.0.0.0/32", 32, 1, pfx("0.0.0.1/32")},
		{"no room", pfx("10.0.0.0/24"), pfx("10.0.0.128/25"), "10.0.0.0/24", 24, 1, nil},
		{"no such length", Private(), nil, "10.0.0.0/24", 33, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Free(tt.within, tt.taken, netip.MustParsePrefix(tt.near), tt.length, tt.n); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestFreeAgainstTryingAll holds Free against trying every prefix of a small
// world: what it returns is free, and no nearer one is.
func TestFreeAgainstTryingAll(t *testing.T) {
	for _, b := range blocks {
		rapid.Check(t, func(t *rapid.T) {
			within, taken := drawSet(t, b, "within"), drawSet(t, b, "taken")
			length := rapid.IntRange(b.bits, b.bits+8).Draw(t, "length")
			near := netip.PrefixFrom(b.nth(rapid.IntRange(0, 255).Draw(t, "near")), rapid.IntRange(b.bits, b.bits+8).Draw(t, "bits")).Masked()
			n := rapid.IntRange(1, 300).Draw(t, "n")
			var want []netip.Prefix
			for host := 0; host < 256; host += 1 << (b.bits + 8 - length) {
				p := netip.PrefixFrom(b.nth(host), length)
				if Contains(within, []netip.Prefix{p}) && !Overlaps(taken, []netip.Prefix{p}) {
					want = append(want, p)
				}
			}
			start := netip.PrefixFrom(near.Addr(), length).Masked().Addr()
			last := func(p netip.Prefix) int { raw := p.Addr().AsSlice(); return int(raw[len(raw)-1]) }
			from := last(netip.PrefixFrom(start, length))
			slices.SortStableFunc(want, func(p, q netip.Prefix) int {
				return cmp.Or(cmp.Compare(max(from-last(p), last(p)-from), max(from-last(q), last(q)-from)), cmp.Compare(last(p), last(q)))
			})
			want = want[:min(n, len(want))]
			if got := Free(within, taken, near, length, n); !slices.Equal(got, want) {
				t.Fatalf("within %v without %v, near %v: got %v, want %v", within, taken, near, got, want)
			}
		})
	}
}

// TestFreeAmongAll draws from all addresses: what is returned is free, in order,
// and what lies between two answers is not free.
func TestFreeAmongAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		taken := drawWide(t, "taken")
		near := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c")}), 24)
		length := rapid.IntRange(12, 28).Draw(t, "length")
		got := Free(Private(), taken, near, length, 8)
		start := netip.PrefixFrom(near.Addr(), length).Masked().Addr()
		for i, p := range got {
			one := []netip.Prefix{p}
			if Overlaps(taken, one) || !Contains(Private(), one) || p.Masked() != p || p.Bits() != length {
				t.Fatalf("%v is not free", p)
			}
			if i > 0 && distance(p.Addr(), start).less(distance(got[i-1].Addr(), start)) {
				t.Fatalf("%v is nearer than %v, which stands before it", p, got[i-1])
			}
		}
		if len(got) == 0 {
			return
		}
		// Whatever is nearer than the nearest is taken, or no private address.
		reach := distance(got[0].Addr(), start)
		at := start
		for steps := 0; steps < 64 && at.IsValid() && distance(at, start).less(reach); steps++ {
			one := []netip.Prefix{netip.PrefixFrom(at, length)}
			if Contains(Private(), one) && !Overlaps(taken, one) {
				t.Fatalf("%v is free and nearer than %v", one, got[0])
			}
			at = nextPrefix(at, length)
		}
	})
}

func nextPrefix(a netip.Addr, length int) netip.Addr {
	raw := a.As4()
	n := uint64(raw[0])<<24 | uint64(raw[1])<<16 | uint64(raw[2])<<8 | uint64(raw[3])
	n += 1 << (32 - length)
	if n >= 1<<32 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

// drawWide draws prefixes of both families of any size.
func drawWide(t *rapid.T, label string) []netip.Prefix {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) netip.Prefix {
		if rapid.IntRange(0, 4).Draw(t, "family") == 0 {
			raw := [16]byte{0: 0xfd, 1: rapid.Byte().Draw(t, "x"), 15: rapid.Byte().Draw(t, "y")}
			return netip.PrefixFrom(netip.AddrFrom16(raw), rapid.IntRange(8, 128).Draw(t, "bits6")).Masked()
		}
		addr := netip.AddrFrom4([4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), rapid.Byte().Draw(t, "d")})
		return netip.PrefixFrom(addr, rapid.IntRange(8, 32).Draw(t, "bits")).Masked()
	}), 0, 30).Draw(t, label)
}

// TestListsAreMinimal: what is suggested holds exactly what it shall, no two of
// its prefixes make one, and none can be left out. It draws from all addresses;
// TestSetAlgebraAgainstCounting counts them in a small world.
func TestListsAreMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep, leave := drawWide(t, "keep"), drawWide(t, "leave")
		everything := pfx("0.0.0.0/0", "::/0")
		for name, list := range map[string][]netip.Prefix{
			"MinimalExemption": MinimalExemption(keep, leave), "Subtract": Subtract(everything, leave),
			"Union": Union(keep, leave), "Intersect": Intersect(keep, leave),
		} {
			for i, p := range list {
				if p != p.Masked() {
					t.Fatalf("%s: %v has host bits", name, p)
				}
				others := slices.Concat(list[:i:i], list[i+1:])
				if Overlaps(others, []netip.Prefix{p}) {
					t.Fatalf("%s: part of %v stands in the list twice: %v", name, p, list)
				}
				if i == 0 {
					continue
				}
				if parent, ok := joined(list[i-1], p); ok {
					t.Fatalf("%s: %v and %v are %v: %v", name, list[i-1], p, parent, list)
				}
			}
		}
		// No address is lost and none is added.
		kept := MinimalExemption(keep, leave)
		if Overlaps(kept, leave) || !Contains(keep, kept) || !Contains(Union(kept, leave), keep) {
			t.Fatalf("keep %v without %v is not %v", keep, leave, kept)
		}
		complement := Subtract(everything, leave)
		if Overlaps(complement, leave) || !slices.Equal(Union(complement, leave), everything) {
			t.Fatalf("the complement of %v is not %v", leave, complement)
		}
	})
}
