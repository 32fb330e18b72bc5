package cidrplan

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func pfx(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

func TestMinimalExemptionKeepsPodsAndCutsTheFarSide(t *testing.T) {
	tests := []struct {
		name           string
		keep, wantNode []netip.Prefix
		want           []netip.Prefix
	}{
		{"destination elsewhere", pfx("10.4.0.0/14", "10.128.0.0/20"), pfx("10.20.0.0/16"), pfx("10.4.0.0/14", "10.128.0.0/20")},
		{"destination inside the pod range", pfx("10.4.0.0/14"), pfx("10.5.0.0/16"), pfx("10.4.0.0/16", "10.6.0.0/15")},
		{"neighbours become one", pfx("10.0.0.0/9", "10.128.0.0/9"), nil, pfx("10.0.0.0/8")},
		{"nothing to keep", nil, pfx("10.0.0.0/8"), nil},
		{"both families", pfx("fd00:10::/56", "10.4.0.0/14"), pfx("fd00:20::/56"), pfx("10.4.0.0/14", "fd00:10::/56")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := MinimalExemption(tt.keep, tt.wantNode); !slices.Equal(got, tt.want) {
				t.Errorf("MinimalExemption(%v, %v) = %v, want %v", tt.keep, tt.wantNode, got, tt.want)
			}
		})
	}
}

func TestCapturedIsWhatRoutesTakeAndBypassLeaves(t *testing.T) {
	tests := []struct {
		name                    string
		routes, bypass, cluster []netip.Prefix
		want                    []netip.Prefix
	}{
		{"full tunnel without bypass", pfx("0.0.0.0/0"), nil, pfx("10.96.0.0/12"), pfx("10.96.0.0/12")},
		{"two halves", pfx("0.0.0.0/1", "128.0.0.0/1"), pfx("10.244.0.0/16"), pfx("10.96.0.0/12"), pfx("10.96.0.0/12")},
		{"bypass of a part", pfx("0.0.0.0/0"), pfx("10.96.0.0/13"), pfx("10.96.0.0/12"), pfx("10.104.0.0/13")},
		{"bypass of all", pfx("0.0.0.0/0"), pfx("10.0.0.0/8"), pfx("10.96.0.0/12"), nil},
		{"other family", pfx("::/0"), nil, pfx("10.96.0.0/12"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Captured(tt.routes, tt.bypass, tt.cluster); !slices.Equal(got, tt.want) {
				t.Errorf("Captured = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSetsIgnoreInvalidPrefixes(t *testing.T) {
	bad := []netip.Prefix{{}, netip.MustParsePrefix("10.0.0.0/8")}
	if got := Union(bad, []netip.Prefix{{}}); !slices.Equal(got, pfx("10.0.0.0/8")) {
		t.Errorf("Union = %v", got)
	}
	if got := Subtract(bad, bad); got != nil {
		t.Errorf("Subtract = %v, want nil", got)
	}
	if !Contains(nil, nil) || Contains(nil, pfx("10.0.0.0/8")) {
		t.Error("the empty set is inside of everything, and holds nothing")
	}
}

// block is a prefix of 256 addresses in which the slow model counts.
type block struct {
	base netip.Addr
	bits int
}

var blocks = []block{
	{netip.MustParseAddr("10.9.8.0"), 24},
	{netip.MustParseAddr("fd00:a::ff00"), 120},
}

func drawSet(t *rapid.T, b block, label string) []netip.Prefix {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) netip.Prefix {
		bits := rapid.IntRange(b.bits, b.bits+8).Draw(t, "bits")
		return netip.PrefixFrom(b.nth(rapid.IntRange(0, 255).Draw(t, "host")), bits).Masked()
	}), 0, 12).Draw(t, label)
}

func (b block) nth(i int) netip.Addr {
	raw := b.base.AsSlice()
	raw[len(raw)-1] = byte(i)
	a, _ := netip.AddrFromSlice(raw)
	return a
}

func (b block) members(set []netip.Prefix) (out [256]bool) {
	for i := range out {
		a := b.nth(i)
		for _, p := range set {
			out[i] = out[i] || p.Contains(a)
		}
	}
	return out
}

func TestSetAlgebraAgainstCounting(t *testing.T) {
	for _, b := range blocks {
		rapid.Check(t, func(t *rapid.T) {
			x, y := drawSet(t, b, "x"), drawSet(t, b, "y")
			inX, inY := b.members(x), b.members(y)
			check := func(name string, got []netip.Prefix, want func(x, y bool) bool) {
				in := b.members(got)
				size := 0
				for i := range in {
					if in[i] != want(inX[i], inY[i]) {
						t.Fatalf("%s(%v, %v) = %v: wrong at %v", name, x, y, got, b.nth(i))
					}
					if in[i] {
						size++
					}
				}
				checkMinimal(t, name, got, size, b)
			}
			check("Union", Union(x, y), func(x, y bool) bool { return x || y })
			check("Intersect", Intersect(x, y), func(x, y bool) bool { return x && y })
			check("Subtract", Subtract(x, y), func(x, y bool) bool { return x && !y })
			check("Missing", Missing(y, x), func(x, y bool) bool { return x && !y })
			check("MinimalExemption", MinimalExemption(x, y), func(x, y bool) bool { return x && !y })
			check("Captured", Captured(x, y, x), func(x, y bool) bool { return x && !y })
			sorted := slices.Clone(x)
			slices.SortFunc(sorted, comparePrefix)
			check("aggregate", aggregate(sorted), func(x, _ bool) bool { return x })

			contains, overlaps := true, false
			for i := range inX {
				contains = contains && (inX[i] || !inY[i])
				overlaps = overlaps || inX[i] && inY[i]
			}
			if got := Contains(x, y); got != contains {
				t.Fatalf("Contains(%v, %v) = %v", x, y, got)
			}
			if got := Overlaps(x, y); got != overlaps {
				t.Fatalf("Overlaps(%v, %v) = %v", x, y, got)
			}
		})
	}
}

// checkMinimal: as many prefixes as the greedy cover of the set from the left
// needs, which is the fewest there can be.
func checkMinimal(t *rapid.T, name string, got []netip.Prefix, size int, b block) {
	in := b.members(got)
	fewest, sum := 0, 0
	for i := 0; i < 256; {
		if !in[i] {
			i++
			continue
		}
		n := 1
		for i%(2*n) == 0 && n < 256 && all(in[i:i+2*n]) {
			n *= 2
		}
		fewest++
		i += n
	}
	for _, p := range got {
		sum += 1 << (b.bits + 8 - p.Bits())
	}
	if len(got) != fewest || sum != size {
		t.Fatalf("%s = %v: %d prefixes of %d addresses, want %d of %d", name, got, len(got), sum, fewest, size)
	}
}

func all(bits []bool) bool {
	for _, b := range bits {
		if !b {
			return false
		}
	}
	return true
}
