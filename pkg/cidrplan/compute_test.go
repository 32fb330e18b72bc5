package cidrplan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/source"
)

func claim(role Role, prefix string, opts ...func(*Claim)) Claim {
	c := Claim{Role: role, Prefix: netip.MustParsePrefix(prefix), Strength: Declared}
	c.At.Object = source.ObjectID(string(role))
	for _, o := range opts {
		o(&c)
	}
	return c
}

func by(owner string) func(*Claim)   { return func(c *Claim) { c.Owner = owner } }
func in(cluster string) func(*Claim) { return func(c *Claim) { c.Cluster = cluster } }
func is(s Strength) func(*Claim)     { return func(c *Claim) { c.Strength = s } }
func meaning(i Idiom) func(*Claim)   { return func(c *Claim) { c.Idiom = i } }
func podLocal(c *Claim)              { c.PodLocal = true }
func at(object, says string) func(*Claim) {
	return func(c *Claim) { c.At.Object, c.Says = source.ObjectID(object), says }
}

func show(o Overlap) string {
	return fmt.Sprintf("%s %s %v %s %s %v", o.A.Role, o.A.Prefix, o.Relation, o.B.Role, o.B.Prefix, o.Set)
}

func TestOverlaps(t *testing.T) {
	tests := []struct {
		name   string
		claims []Claim
		want   []string
	}{
		{"a pool inside the pod range",
			[]Claim{claim(Pool, "10.244.8.0/24", by("wg")), claim(Pod, "10.244.0.0/16")},
			[]string{"pool 10.244.8.0/24 a-in-b pod 10.244.0.0/16 [10.244.8.0/24]"}},
		{"a destination that encloses pods and services",
			[]Claim{claim(Service, "10.96.0.0/12"), claim(VPN, "10.0.0.0/8", by("wg")), claim(Pod, "10.244.0.0/16")},
			[]string{
				"vpn 10.0.0.0/8 b-in-a pod 10.244.0.0/16 [10.244.0.0/16]",
				"vpn 10.0.0.0/8 b-in-a service 10.96.0.0/12 [10.96.0.0/12]"}},
		{"each route line inside the pod range is named",
			[]Claim{claim(VPN, "10.244.1.0/24", by("wg")), claim(VPN, "10.0.0.0/8", by("wg")), claim(Pod, "10.244.0.0/16")},
			[]string{
				"vpn 10.0.0.0/8 b-in-a pod 10.244.0.0/16 [10.244.0.0/16]",
				"vpn 10.244.1.0/24 a-in-b pod 10.244.0.0/16 [10.244.1.0/24]"}},
		{"the smallest pool of the pods speaks",
			[]Claim{claim(VPN, "10.244.1.0/24", by("wg")), claim(Pod, "10.244.0.0/16"), claim(Pod, "10.244.0.0/18")},
			[]string{"vpn 10.244.1.0/24 a-in-b pod 10.244.0.0/18 [10.244.1.0/24]"}},
		{"pods inside services",
			[]Claim{claim(Service, "10.96.0.0/12"), claim(Pod, "10.100.0.0/16")},
			[]string{"pod 10.100.0.0/16 a-in-b service 10.96.0.0/12 [10.100.0.0/16]"}},
		{"equal ranges, IPv6",
			[]Claim{claim(Node, "fd00:1::/64"), claim(VPN, "fd00:1::/64", by("wg"))},
			[]string{"vpn fd00:1::/64 equal node fd00:1::/64 [fd00:1::/64]"}},
		{"kernel mode tailnet over both ranges",
			[]Claim{claim(Pool, "100.64.0.0/10", by("ts")), claim(Pod, "100.64.0.0/16"), claim(Service, "100.65.0.0/16")},
			[]string{
				"pool 100.64.0.0/10 b-in-a pod 100.64.0.0/16 [100.64.0.0/16]",
				"pool 100.64.0.0/10 b-in-a service 100.65.0.0/16 [100.65.0.0/16]"}},
		{"other clusters", []Claim{claim(VPN, "10.0.0.0/8", in("a"), by("wg")), claim(Pod, "10.244.0.0/16", in("b")), claim(Pod, "10.244.0.0/16")}, nil},
		{"default routes, in all spellings, and announced cluster ranges", []Claim{
			claim(VPN, "0.0.0.0/0", by("wg")), claim(VPN, "::/0", by("wg")),
			claim(VPN, "0.0.0.0/1", by("wg"), meaning(DefaultRoute)), claim(VPN, "10.244.0.0/16", by("ts"), meaning(ClusterRoute)),
			claim(Pod, "10.244.0.0/16"), claim(Pod, "fd00::/56")}, nil},
		{"two tunnels to one network", []Claim{claim(VPN, "10.20.0.0/16", by("a")), claim(VPN, "10.20.0.0/16", by("b"))}, nil},
		{"a tunnel's own pool inside its destination", []Claim{claim(VPN, "10.20.0.0/16", by("a")), claim(Pool, "10.20.8.0/24", by("a"))}, nil},
		{"a pool inside another's destination",
			[]Claim{claim(VPN, "10.20.0.0/16", by("a")), claim(Pool, "10.20.8.0/24", by("b"))},
			[]string{"vpn 10.20.0.0/16 b-in-a pool 10.20.8.0/24 [10.20.8.0/24]"}},
		{"the route of a pod and the pool of another", []Claim{claim(VPN, "10.8.0.0/24", by("a"), podLocal), claim(Pool, "10.8.0.0/24", by("b"))}, nil},
		{"the route of a pod meets the cluster",
			[]Claim{claim(VPN, "10.8.0.0/24", by("a"), podLocal), claim(VPN, "10.8.0.0/16", by("site")), claim(Pod, "10.8.0.0/14")},
			[]string{
				"vpn 10.8.0.0/24 a-in-b pod 10.8.0.0/14 [10.8.0.0/24]",
				"vpn 10.8.0.0/16 a-in-b pod 10.8.0.0/14 [10.8.0.0/16]"}},
		{"the resolver and the API server are inside the service range", []Claim{claim(Service, "10.96.0.0/12"), claim(DNS, "10.96.0.10/32"), claim(API, "10.96.0.1/32")}, nil},
		{"an idiom is carried and hides nothing",
			[]Claim{claim(Pool, "100.64.0.0/10", by("ts")), claim(Pod, "100.64.0.0/10", meaning(EnclosesCluster)), claim(Pod, "100.96.0.0/11")},
			[]string{
				"pool 100.64.0.0/10 b-in-a pod 100.96.0.0/11 [100.96.0.0/11]",
				"pool 100.64.0.0/10 equal pod 100.64.0.0/10 [100.64.0.0/10]"}},
		{"evidence beside a declaration says nothing new",
			[]Claim{claim(VPN, "10.244.0.0/17", by("wg")), claim(Pod, "10.244.0.0/16"), claim(Pod, "10.244.3.0/24", is(Evidence))},
			[]string{"vpn 10.244.0.0/17 a-in-b pod 10.244.0.0/16 [10.244.0.0/17]"}},
		{"evidence adds up",
			[]Claim{claim(VPN, "10.0.0.0/8", by("wg")), claim(Pod, "10.244.2.0/24", is(Evidence)), claim(Pod, "10.244.3.0/24", is(Evidence))},
			[]string{"vpn 10.0.0.0/8 b-in-a pod 10.244.2.0/24 [10.244.2.0/23]"}},
		{"evidence outside the destination makes it partial",
			[]Claim{claim(VPN, "10.96.4.0/24", by("wg")), claim(Service, "10.96.4.7/32", is(Evidence)), claim(Service, "10.97.1.1/32", is(Evidence))},
			[]string{"vpn 10.96.4.0/24 partial service 10.96.4.7/32 [10.96.4.7/32]"}},
		{"invalid prefixes are left out", []Claim{{Role: VPN}, claim(Pod, "10.244.0.0/16")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, o := range Compute(tt.claims).Overlaps {
				got = append(got, show(o))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestRangesAddUp(t *testing.T) {
	plan := Compute([]Claim{
		claim(Pod, "10.245.0.0/16"), claim(Pod, "10.244.0.0/16"), claim(Pod, "100.64.0.0/10", meaning(EnclosesCluster)),
		claim(VPN, "10.20.0.0/16", by("b")), claim(VPN, "10.21.9.9/16", by("a")),
	})
	var got []string
	for _, r := range plan.Ranges {
		got = append(got, fmt.Sprintf("%s %s %v %d", r.Role, r.Owner, r.Prefixes, len(r.Claims)))
	}
	want := []string{"vpn a [10.21.0.0/16] 1", "vpn b [10.20.0.0/16] 1", "pod  [10.244.0.0/15] 3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestConflicts(t *testing.T) {
	kubeadm, capi, pools := at("kubeadm", "podSubnet"), at("capi", "pods.cidrBlocks"), at("ippool", "cidr")
	tests := []struct {
		name   string
		claims []Claim
		want   int
	}{
		{"two documents, two pod ranges", []Claim{claim(Pod, "10.244.0.0/16", kubeadm), claim(Pod, "10.42.0.0/16", capi)}, 1},
		{"one inside the other", []Claim{claim(Pod, "10.244.0.0/16", kubeadm), claim(Pod, "10.244.0.0/18", pools)}, 0},
		{"two pools", []Claim{claim(Pod, "10.1.0.0/16", pools), claim(Pod, "10.2.0.0/16", at("ippool-2", "cidr"))}, 0},
		{"two service ranges", []Claim{claim(Service, "10.96.0.0/12", at("a", "serviceSubnet")), claim(Service, "10.43.0.0/16", at("b", "serviceSubnet"))}, 1},
		{"dual-stack services", []Claim{claim(Service, "10.96.0.0/12", kubeadm), claim(Service, "fd00::/112", capi)}, 0},
		{"a default yields", []Claim{claim(Service, "10.96.0.0/12", kubeadm, is(Default)), claim(Service, "10.43.0.0/16", capi)}, 0},
		{"evidence is no statement of the range", []Claim{claim(Service, "10.43.0.0/16", capi), claim(Service, "10.96.0.1/32", is(Evidence))}, 0},
		{"many node subnets", []Claim{claim(Node, "10.1.0.0/16", kubeadm), claim(Node, "10.2.0.0/16", capi)}, 0},
		{"two clusters", []Claim{claim(Pod, "10.1.0.0/16", kubeadm, in("a")), claim(Pod, "10.2.0.0/16", capi, in("b"))}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Compute(tt.claims).Conflicts; len(got) != tt.want {
				t.Errorf("got %v, want %d conflicts", got, tt.want)
			}
		})
	}
}

// drawClaims draws from a small world, so that claims meet often.
func drawClaims(t *rapid.T) []Claim {
	one := rapid.Custom(func(t *rapid.T) Claim {
		addr := netip.AddrFrom4([4]byte{10, rapid.Byte().Draw(t, "b"), rapid.Byte().Draw(t, "c"), 0})
		bits := rapid.IntRange(0, 24).Draw(t, "bits")
		if rapid.Bool().Draw(t, "v6") {
			raw := [16]byte{0: 0xfd, 1: rapid.Byte().Draw(t, "x"), 15: 0}
			addr, bits = netip.AddrFrom16(raw), rapid.IntRange(0, 18).Draw(t, "bits6")
		}
		return Claim{
			Cluster:  rapid.SampledFrom([]string{"", "lab"}).Draw(t, "cluster"),
			Role:     rapid.SampledFrom([]Role{VPN, Pool, Node, Pod, Service, API, DNS}).Draw(t, "role"),
			Owner:    rapid.SampledFrom([]string{"", "wg", "ts"}).Draw(t, "owner"),
			Strength: rapid.SampledFrom([]Strength{Declared, Declared, Default, Evidence}).Draw(t, "strength"),
			Idiom:    rapid.SampledFrom([]Idiom{NoIdiom, NoIdiom, NoIdiom, EnclosesCluster, DefaultRoute, ClusterRoute}).Draw(t, "idiom"),
			Prefix:   netip.PrefixFrom(addr, bits).Masked(),
			PodLocal: rapid.Bool().Draw(t, "local"),
			Says:     rapid.SampledFrom([]string{"podSubnet", "cidr"}).Draw(t, "says"),
			At:       source.Ref{Object: source.ObjectID(rapid.SampledFrom([]string{"o1", "o2", "o3"}).Draw(t, "object"))},
		}
	})
	return rapid.SliceOfN(one, 0, 24).Draw(t, "claims")
}

// slowPairs is Compute's definition of overlaps, tried on all pairs.
func slowPairs(claims []Claim) map[string][]netip.Prefix {
	same := func(a, b Claim) bool {
		return a.Cluster == b.Cluster && a.Role == b.Role && a.Owner == b.Owner && a.Idiom == b.Idiom && (a.Role != VPN || a.PodLocal == b.PodLocal)
	}
	apart := func(a, b Claim) bool {
		return a.Cluster != b.Cluster || a.Role.order() >= b.Role.order() || a.Owner != "" && a.Owner == b.Owner ||
			a.Role == VPN && a.PodLocal && b.Role == Pool
	}
	within := func(a, b Claim) bool { return covers(b.Prefix, a.Prefix) }
	var kept []Claim
	for i, c := range claims {
		keep := c.Prefix.Bits() > 0 && c.Idiom != DefaultRoute && c.Idiom != ClusterRoute && c.Role != API && c.Role != DNS
		for j, d := range claims {
			if i == j || !same(c, d) || d.Prefix.Bits() == 0 {
				continue
			}
			switch {
			case c.Prefix == d.Prefix && cmp.Compare(d.Strength.order(), c.Strength.order()) < 0,
				c.Prefix == d.Prefix && d.Strength == c.Strength && j < i,
				c.Strength == Evidence && within(c, d) && c.Prefix != d.Prefix:
				keep = false
			}
		}
		if keep {
			kept = append(kept, c)
		}
	}
	out := make(map[string][]netip.Prefix)
	note := func(a, b Claim) {
		_, set := relation(a.Prefix, b.Prefix)
		// All evidence of one range against one claim makes one overlap.
		ap, bp := a.Prefix.String(), b.Prefix.String()
		if a.Strength == Evidence && a.Prefix.Bits() > b.Prefix.Bits() {
			ap = "evidence"
		}
		if b.Strength == Evidence && b.Prefix.Bits() > a.Prefix.Bits() {
			bp = "evidence"
		}
		k := fmt.Sprint(a.Cluster, "|", a.Role, a.PodLocal && a.Role == VPN, "|", a.Owner, "|", a.Idiom, "|", ap, "|", b.Role, "|", b.Owner, "|", b.Idiom, "|", bp)
		out[k] = Union(out[k], set)
	}
	for _, a := range kept {
		for _, b := range kept {
			if apart(a, b) {
				continue
			}
			best := true // no other claim of the range is a better witness
			switch {
			case within(a, b): // b is the smallest of its range around a
				for _, c := range kept {
					best = best && (!same(b, c) || c.Prefix == b.Prefix || !within(c, b) || !within(a, c))
				}
			case within(b, a): // b is the largest of its range, a the smallest of its own around b
				for _, c := range kept {
					best = best && (!same(b, c) || c.Prefix == b.Prefix || !within(b, c))
					best = best && (!same(a, c) || c.Prefix == a.Prefix || !within(c, a) || !within(b, c))
				}
			default:
				best = false
			}
			if best {
				note(a, b)
			}
		}
	}
	return out
}

func TestOverlapsAgainstAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := drawClaims(t)
		want := slowPairs(claims)
		got := make(map[string][]netip.Prefix)
		for _, o := range Compute(claims).Overlaps {
			ap, bp := o.A.Prefix.String(), o.B.Prefix.String()
			if o.A.Strength == Evidence && o.A.Prefix.Bits() > o.B.Prefix.Bits() {
				ap = "evidence"
			}
			if o.B.Strength == Evidence && o.B.Prefix.Bits() > o.A.Prefix.Bits() {
				bp = "evidence"
			}
			k := fmt.Sprint(o.Cluster, "|", o.A.Role, o.A.PodLocal && o.A.Role == VPN, "|", o.A.Owner, "|", o.A.Idiom, "|", ap, "|", o.B.Role, "|", o.B.Owner, "|", o.B.Idiom, "|", bp)
			if _, twice := got[k]; twice {
				t.Fatalf("%s twice", k)
			}
			got[k] = o.Set
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("claims %v\ngot  %v\nwant %v", claims, got, want)
		}
	})
}

// The sets of all overlaps of two ranges are exactly what the ranges share.
func TestOverlapSetsAreTheIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := drawClaims(t)
		for i := range claims {
			claims[i].Idiom, claims[i].PodLocal = NoIdiom, false
			if claims[i].Prefix.Bits() == 0 {
				claims[i].Prefix = netip.MustParsePrefix("10.0.0.0/8")
			}
		}
		plan := Compute(claims)
		for _, a := range plan.Ranges {
			for _, b := range plan.Ranges {
				if a.Cluster != b.Cluster || a.Role.order() >= b.Role.order() || b.Role == API || b.Role == DNS || a.Owner != "" && a.Owner == b.Owner {
					continue
				}
				var got []netip.Prefix
				for _, o := range plan.Overlaps {
					if o.Cluster == a.Cluster && o.A.Role == a.Role && o.A.Owner == a.Owner && o.B.Role == b.Role && o.B.Owner == b.Owner {
						got = Union(got, o.Set)
					}
				}
				if want := Intersect(a.Prefixes, b.Prefixes); !slices.Equal(got, want) {
					t.Fatalf("%s %v and %s %v: overlaps hold %v, want %v", a.Role, a.Prefixes, b.Role, b.Prefixes, got, want)
				}
			}
		}
	})
}

func TestOrderOfClaimsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		claims := drawClaims(t)
		want := Compute(claims)
		shuffled := rapid.Permutation(claims).Draw(t, "order")
		if got := Compute(shuffled); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

// Tunnels to one network, their pools and the cluster's ranges nest in each
// other, but what never makes an overlap is never looked at.
func TestLooksOnlyAtWhatItReports(t *testing.T) {
	claims := []Claim{claim(Pod, "10.244.0.0/16"), claim(Service, "10.0.0.0/8")}
	for i := range 2_000 {
		client, server := fmt.Sprint("wg", i), fmt.Sprint("server", i)
		claims = append(claims, claim(VPN, "10.20.0.0/16", by(client), at(client, "AllowedIPs"), podLocal))
		claims = append(claims, claim(Pool, "10.20.0.0/16", by(server), at(server, "pool")))
	}
	s := newSweep(claims)
	overlaps := s.overlaps()
	if want := 4_001; len(overlaps) != want { // each with the services, and pods with them
		t.Errorf("%d overlaps, want %d", len(overlaps), want)
	}
	if s.looked > len(overlaps) {
		t.Errorf("looked at %d ranges for %d overlaps", s.looked, len(overlaps))
	}
}

// What one document says a thousand times is reported a hundred times, and the rest
// is counted; other documents, roles and clusters have their own hundred.
func TestOverlapsAreBounded(t *testing.T) {
	var claims []Claim
	for i := range 1_000 {
		p := fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)
		for _, cluster := range []string{"a", "b"} {
			claims = append(claims, claim(Pod, p, in(cluster), at("plan", "pods")), claim(Node, p, in(cluster), at("plan", "nodes")))
		}
		claims = append(claims, claim(Service, p, in("a"), at("tree", "services")))
	}
	type kind struct {
		cluster string
		a, b    Role
	}
	kept, counted, last := map[kind]int{}, map[kind]int{}, map[kind]int{}
	for _, o := range Compute(claims).Overlaps {
		k := kind{o.Cluster, o.A.Role, o.B.Role}
		kept[k]++
		counted[k] += 1 + o.More
		last[k] = o.More
	}
	want := []kind{{"a", Node, Pod}, {"a", Node, Service}, {"a", Pod, Service}, {"b", Node, Pod}}
	if len(kept) != len(want) {
		t.Errorf("%v, want %v", kept, want)
	}
	for _, k := range want {
		if kept[k] != MostOverlaps || counted[k] != 1_000 || last[k] != 1_000-MostOverlaps {
			t.Errorf("%v: %d overlaps that stand for %d, of which the last for %d more", k, kept[k], counted[k], last[k])
		}
	}
}

// A thousand VPNs and a thousand pools of one range make a million pairs: no more
// than a hundred for each claim are kept.
func TestPairsAreBounded(t *testing.T) {
	const n = 1_000
	var claims []Claim
	for i := range n {
		claims = append(claims, claim(VPN, "10.0.0.0/16", by(fmt.Sprint("v", i))), claim(Pool, "10.0.0.0/16", by(fmt.Sprint("p", i))))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	overlaps := Compute(claims).Overlaps
	runtime.ReadMemStats(&after)
	if len(overlaps) != MostOverlaps || overlaps[len(overlaps)-1].More != n*n-MostOverlaps {
		t.Errorf("%d overlaps, the last stands for %d more, want %d and %d", len(overlaps), overlaps[len(overlaps)-1].More, MostOverlaps, n*n-MostOverlaps)
	}
	const most = 64 << 20
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("computing allocates %d MB, more than %d", used>>20, most>>20)
	}
}

// randomClaims is a plan as large fleets have it: a few cluster ranges each,
// and many destinations, most of them elsewhere.
func randomClaims(n int) []Claim {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]Claim, 0, n)
	for i := range n {
		cluster := fmt.Sprint("c", i%(n/50+1))
		a := netip.AddrFrom4([4]byte{10, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())})
		c := Claim{Cluster: cluster, Strength: Declared, Prefix: netip.PrefixFrom(a, 12+r.IntN(16)).Masked()}
		switch i / (n/50 + 1) {
		case 0:
			c.Role = Pod
		case 1:
			c.Role = Service
		case 2:
			c.Role = Node
		default:
			c.Role, c.Owner = VPN, fmt.Sprint("wg", i%7)
		}
		out = append(out, c)
	}
	return out
}

// BenchmarkCompute reports, as x-sort, how many times as long Compute takes as
// sorting the same prefixes: the quickest run of each, which is what they cost
// when nothing else wants the processor.
func BenchmarkCompute(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			claims := randomClaims(n)
			plain := make([]netip.Prefix, n)
			sorting, computing := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			overlaps := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for i, c := range claims {
					plain[i] = c.Prefix
				}
				runtime.GC() // what the loop before left is not this one's
				start := time.Now()
				slices.SortFunc(plain, comparePrefix)
				sorting = min(sorting, time.Since(start))
				b.StartTimer()
				start = time.Now()
				overlaps = len(Compute(claims).Overlaps)
				computing = min(computing, time.Since(start))
			}
			b.ReportMetric(float64(computing)/float64(sorting), "x-sort")
			b.ReportMetric(float64(overlaps), "overlaps")
		})
	}
}

// fleet is the largest plan that must do: 100,000 claims of 1,000 clusters, of
// which 1,000 pairs overlap.
func fleet() []Claim {
	var out []Claim
	for c := range 1_000 {
		name := fmt.Sprintf("cluster-%03d", c)
		add := func(role Role, owner string, a, b, d byte, bits int) {
			out = append(out, Claim{
				Cluster: name, Role: role, Owner: owner, Strength: Declared, Says: "cidr",
				Prefix: netip.PrefixFrom(netip.AddrFrom4([4]byte{a, b, d, 0}), bits).Masked(),
				At:     source.Ref{Object: source.ObjectID(name), Pointer: "/spec/cidr"},
			})
		}
		add(Pod, "", 10, 0, 0, 10)
		add(Service, "", 10, 64, 0, 12)
		add(Node, "", 10, 96, 0, 16)
		for i := range 97 {
			if i == 0 {
				add(VPN, "Deployment edge/wg-0", 10, 1, byte(c), 24) // inside the pods
				continue
			}
			add(VPN, fmt.Sprintf("Deployment edge/wg-%d", i%9), 10, 128+byte(i), byte(c), 24)
		}
	}
	return out
}

// TestFleetFits: the largest plan takes far less memory than the program may.
func TestFleetFits(t *testing.T) {
	claims := fleet()
	if len(claims) != 100_000 {
		t.Fatalf("%d claims", len(claims))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	plan := Compute(claims)
	runtime.ReadMemStats(&after)
	if len(plan.Overlaps) != 1_000 {
		t.Errorf("%d overlaps, want 1,000", len(plan.Overlaps))
	}
	const most = 80 << 20 // of 500 MB that a whole run may take
	if used := after.TotalAlloc - before.TotalAlloc; used > most {
		t.Errorf("computing allocates %d MB, more than %d", used>>20, most>>20)
	}
	runtime.KeepAlive(claims)
}

func BenchmarkFleet(b *testing.B) {
	claims := fleet()
	b.ReportAllocs()
	for b.Loop() {
		Compute(claims)
	}
}
