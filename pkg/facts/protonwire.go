package facts

import (
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// protonwire routes public destinations only, unless told otherwise.
func (r *tunnelReader) protonwire() {
	t := r.t
	t.Interface = "protonwire0"
	if !r.namesEnv("PROTONVPN_ALLOWED_SUBNETS_IPV4") {
		local := mustPrefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8", "224.0.0.0/3")
		public := cidrplan.Union(cidrplan.Subtract(mustPrefixes("0.0.0.0/0"), local), mustPrefixes("10.2.0.1/32"))
		t.Routes = Routes{State: Present, Ref: t.ContainerRef, Why: "protonwire's default, public destinations only", MoreSpecificWin: true}
		for _, p := range public {
			t.Routes.Prefixes = append(t.Routes.Prefixes, PrefixAt{Prefix: p.String(), Text: p.String(), Ref: t.ContainerRef})
		}
	}
	if skip := r.c.env("SKIP_DNS_CONFIG"); skip.State == Present && isOn(skip.Text) {
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, skip.Ref, "SKIP_DNS_CONFIG"
		return
	}
	t.Resolver.Servers = []string{"10.2.0.1"}
}
