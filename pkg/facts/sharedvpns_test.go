package facts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// somePlans are clusters whose plans draw names, destinations, choices and ranges
// from a few of each, so that all that can meet does.
func somePlans(r *rand.Rand) []*founded {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	ranges := []string{"10.0.0.0/8", "10.4.0.0/14", "10.6.0.0/16", "10.6.0.0/16", "10.6.128.0/17", "fd00:4::/32", "fd00:4:1::/48"}
	var out []*founded
	for i := range 2 + r.IntN(4) {
		f := &founded{Cluster: &Cluster{Name: fmt.Sprint("c", i), Elsewhere: r.IntN(8) == 0}}
		for range 1 + r.IntN(4) {
			v := PlannedVPN{Name: pick("hq", "hq", "dc", ""), SourceAddress: Setting{Value: pick("pod", "pod", "node", ""), State: Present}}
			for range 1 + r.IntN(3) {
				v.Destinations = append(v.Destinations, PrefixAt{Prefix: pick("192.168.40.0/24", "192.168.40.0/22", "192.168.50.0/24", "fd99::/64", "0.0.0.0/0", "192.168.43.7/32")})
			}
			f.Plan.VPN = append(f.Plan.VPN, v)
		}
		for range 2 + r.IntN(5) {
			f.claims = append(f.claims, cidrplan.Claim{
				Cluster: f.Name, Role: cidrplan.Role(pick("pod", "node", "service")), Prefix: netip.MustParsePrefix(pick(ranges...)),
				Strength: cidrplan.Strength(pick("planned", "declared", "declared", "default", "evidence")), Part: r.IntN(2) == 0,
			})
		}
		out = append(out, f)
	}
	return out
}

// everyPair is what sharedVPNs is to find, by looking at every pair of clusters,
// VPNs and ranges.
func everyPair(clusters []*founded) []cidrplan.Claim {
	through := func(a, b *PlannedVPN) string {
		common := false
		for _, p := range parsed(a.Destinations) {
			for _, q := range parsed(b.Destinations) {
				common = common || p.Bits() > 0 && q.Bits() > 0 && p.Overlaps(q)
			}
		}
		if role := a.SourceAddress.Value; common && a.Name != "" && a.Name == b.Name && role == b.SourceAddress.Value {
			return role
		}
		return ""
	}
	written := func(c cidrplan.Claim) bool { return c.Strength == cidrplan.Planned || c.Strength == cidrplan.Declared }
	var out []cidrplan.Claim
	for i, a := range clusters {
		for j, b := range clusters {
			shown := map[string]string{}
			for k := range a.Plan.VPN {
				for l := range b.Plan.VPN {
					if role := through(&a.Plan.VPN[k], &b.Plan.VPN[l]); role != "" && shown[role] == "" && i != j && !a.Elsewhere && !b.Elsewhere {
						shown[role] = a.Plan.VPN[k].Name
					}
				}
			}
			for _, role := range slices.Sorted(maps.Keys(shown)) {
				for _, c := range b.claims {
					held := slices.ContainsFunc(a.claims, func(own cidrplan.Claim) bool {
						return written(own) && string(own.Role) == role && own.Prefix.Overlaps(c.Prefix) &&
							(own.Prefix.Bits() < c.Prefix.Bits() || i < j && own.Prefix == c.Prefix)
					})
					if !held || !written(c) || string(c.Role) != role {
						continue
					}
					c.Cluster, c.Role, c.Part = a.Name, cidrplan.VPN, false
					c.Says = role + " range of cluster " + b.Name + ", behind the VPN " + shown[role] + " as well"
					c.Owner = "cluster " + b.Name + " behind " + shown[role]
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func TestSharedVPNs(t *testing.T) {
	found := 0
	for seed := range uint64(3000) {
		clusters := somePlans(rand.New(rand.NewPCG(seed, 1)))
		got, want := sharedVPNs(clusters), everyPair(clusters)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: got\n%+v\nwant\n%+v", seed, got, want)
		}
		found += len(got)
	}
	if found < 500 {
		t.Errorf("the plans share %d ranges, too few to show anything", found)
	}
}

// A plan that a program wrote: twenty clusters with a thousand VPNs each, which
// have nothing in common or everything.
func TestSharedVPNsOfManyClusters(t *testing.T) {
	for _, common := range []bool{false, true} {
		var clusters []*founded
		for c := range 20 {
			f := &founded{Cluster: &Cluster{Name: fmt.Sprint("c", c)}}
			f.claims = []cidrplan.Claim{{Cluster: f.Name, Role: cidrplan.Pod, Prefix: netip.MustParsePrefix("10.4.0.0/14"), Strength: cidrplan.Planned}}
			for v := range 1024 {
				n := v
				if !common {
					n += c * 1024
				}
				f.Plan.VPN = append(f.Plan.VPN, PlannedVPN{
					Name: fmt.Sprint("v", n), SourceAddress: Setting{Value: "pod", State: Present},
					Destinations: []PrefixAt{{Prefix: fmt.Sprintf("172.16.%d.%d/32", n/256%256, n%256)}},
				})
			}
			clusters = append(clusters, f)
		}
		start := time.Now()
		got := len(sharedVPNs(clusters))
		if took := time.Since(start); took > 20*time.Second { // a fraction of a second; pair by pair minutes
			t.Errorf("common %v: took %s", common, took)
		}
		if want := 0; !common && got != want || common && got != 19*20/2 {
			t.Errorf("common %v: %d ranges", common, got)
		}
	}
}
