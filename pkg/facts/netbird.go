package facts

import (
	"strings"
)

// netbird: the management server decides about routes; netstack mode leaves the
// pod alone (FG C7).
func (r *tunnelReader) netbird() {
	t := r.t
	t.Interface = "wt0"
	rootless := strings.Contains(r.c.image.Tag, "rootless")
	netstack := r.c.env("NB_USE_NETSTACK_MODE")
	if netstack.State == Present && netstack.Text == "true" || netstack.State == Absent && rootless {
		t.UserSpace = Present
		r.takesNothing("netstack mode")
		t.Resolver.Rewrites, t.Resolver.Why = Absent, "netstack mode"
		return
	}
	r.unknownRoutes(because("its routes are managed on NetBird's server, not in the tree", noAdvice), t.ContainerRef)
	switch dns := r.c.env("NB_DISABLE_DNS"); {
	case dns.State == Present && isOn(dns.Text), dns.State == Absent && rootless:
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, dns.Ref, "NB_DISABLE_DNS"
	default:
		// It hands on what its own zones do not hold.
		t.Resolver.ReachesCluster = Unknown
	}
}
