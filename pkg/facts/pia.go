package facts

import (
	"strings"
)

// pia: VPNDNS unset is the provider's own resolver, 0 leaves the pod's alone.
func (r *tunnelReader) pia() {
	t := r.t
	t.Interface = "wg0"
	r.natIf("FWD_IFACE")
	if v := r.c.env("VPNDNS"); v.State == Present && strings.TrimSpace(v.Text) == "0" {
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, v.Ref, "VPNDNS=0"
		return
	}
	r.resolverServers("VPNDNS", "10.0.0.243", "10.0.0.242")
}
