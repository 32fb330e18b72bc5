package cidrplan

import "testing"

func part(c *Claim) { c.Part = true }

// What the plan file says against what the tree says.
func TestDisagreements(t *testing.T) {
	capi, other := at("capi", "pods.cidrBlocks"), at("kubeadm", "podSubnet")
	plan := func(role Role, prefix string) Claim { return claim(role, prefix, at("plan", "plan"), is(Planned)) }
	tests := []struct {
		name   string
		claims []Claim
		want   string // "planned declared", a line each
	}{
		{"equal", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.4.0.0/14", capi)}, ""},
		{"another range", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.244.0.0/16", capi)}, "10.4.0.0/14 10.244.0.0/16\n"},
		{"another range in two places", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.244.0.0/16", capi), claim(Pod, "10.245.0.0/16", capi)},
			"10.4.0.0/14 10.244.0.0/16\n10.4.0.0/14 10.245.0.0/16\n"},
		{"the plan lists both", []Claim{plan(Pod, "10.4.0.0/16"), plan(Pod, "10.9.0.0/16"), claim(Pod, "10.9.0.0/16", capi), claim(Pod, "10.4.0.0/16", other)}, ""},
		{"the plan lists both, which make one together", []Claim{plan(Pod, "10.4.0.0/16"), plan(Pod, "10.5.0.0/16"), claim(Pod, "10.4.0.0/16", capi)}, ""},
		{"the entry that shares addresses is the one named", []Claim{plan(Pod, "10.4.0.0/16"), plan(Pod, "10.9.0.0/16"), claim(Pod, "10.8.0.0/14", capi)}, "10.9.0.0/16 10.8.0.0/14\n"},
		{"larger than planned", []Claim{plan(Service, "10.8.0.0/20"), claim(Service, "10.8.0.0/16", capi)}, "10.8.0.0/20 10.8.0.0/16\n"},
		{"smaller than planned", []Claim{plan(Service, "10.8.0.0/16"), claim(Service, "10.8.0.0/20", capi)}, "10.8.0.0/16 10.8.0.0/20\n"},
		{"two halves in one list", []Claim{plan(Pod, "10.4.0.0/15"), claim(Pod, "10.4.0.0/16", capi), claim(Pod, "10.5.0.0/16", capi)}, ""},
		{"two halves planned", []Claim{plan(Pod, "10.4.0.0/16"), plan(Pod, "10.5.0.0/16"), claim(Pod, "10.4.0.0/15", capi)}, ""},
		{"one half in each of two places", []Claim{plan(Pod, "10.4.0.0/15"), claim(Pod, "10.4.0.0/16", capi), claim(Pod, "10.5.0.0/16", other)},
			"10.4.0.0/15 10.4.0.0/16\n10.4.0.0/15 10.5.0.0/16\n"},
		{"a pool that is cut from it", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.5.0.0/16", capi, part)}, ""},
		{"a pool elsewhere", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.9.0.0/16", capi, part)}, "10.4.0.0/14 10.9.0.0/16\n"},
		{"nodes inside", []Claim{plan(Node, "10.128.0.0/16"), claim(Node, "10.128.8.0/24", capi)}, ""},
		{"nodes in a larger network", []Claim{plan(Node, "10.128.0.0/20"), claim(Node, "10.128.0.0/9", capi)}, ""},
		{"nodes elsewhere", []Claim{plan(Node, "10.128.0.0/20"), claim(Node, "172.20.0.0/16", capi)}, "10.128.0.0/20 172.20.0.0/16\n"},
		{"evidence inside", []Claim{plan(Service, "10.8.0.0/20"), claim(Service, "10.8.0.10/32", is(Evidence))}, ""},
		{"evidence outside, one piece for all", []Claim{plan(Service, "10.8.0.0/20"), claim(Service, "10.96.0.1/32", is(Evidence)), claim(Service, "10.96.0.10/32", is(Evidence))},
			"10.8.0.0/20 10.96.0.1/32\n"},
		{"evidence of what a declaration says", []Claim{plan(Service, "10.8.0.0/20"), claim(Service, "10.96.0.0/12", capi), claim(Service, "10.96.0.10/32", is(Evidence))},
			"10.8.0.0/20 10.96.0.0/12\n"},
		{"a default", []Claim{plan(Service, "10.8.0.0/20"), claim(Service, "10.96.0.0/12", is(Default))}, ""},
		{"a family that the plan leaves out", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "fd01::/56", capi)}, ""},
		{"both families", []Claim{plan(Pod, "10.4.0.0/14"), plan(Pod, "fd01::/56"), claim(Pod, "fd02::/56", capi), claim(Pod, "10.4.0.0/14", capi)}, "fd01::/56 fd02::/56\n"},
		{"another cluster's", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "10.9.0.0/16", capi, in("lab"))}, ""},
		{"what only encloses or exempts", []Claim{plan(Pod, "10.4.0.0/14"), claim(Pod, "100.64.0.0/10", func(c *Claim) { c.Idiom = EnclosesCluster })}, ""},
		{"VPN destinations and pools are not compared", []Claim{plan(VPN, "10.60.0.0/16"), claim(VPN, "10.61.0.0/16", capi)}, ""},
		{"no plan for the role", []Claim{plan(Service, "10.8.0.0/20"), claim(Pod, "10.9.0.0/16", capi)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, c := range Compute(tt.claims).Conflicts {
				if c.A.Strength == Planned {
					got += c.A.Prefix.String() + " " + c.B.Prefix.String() + "\n"
				}
			}
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
