package facts

import (
	"testing"
)

func TestTailscale(t *testing.T) {
	for _, tc := range []struct {
		name      string
		env       []string
		userSpace Known
		routes    Known
		isDefault bool
		resolver  Known
		nat       Known
	}{
		{"user space is the default", []string{"TS_ROUTES=10.244.0.0/16"}, Present, Absent, false, Absent, Present},
		{"advertised routes are no routes of the pod", []string{"TS_USERSPACE=false", "TS_ROUTES=10.244.0.0/16,10.96.0.0/12"}, Absent, Absent, false, Absent, Present},
		{"accepted routes are the tailnet's", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--accept-routes"}, Absent, Unknown, false, Absent, Present},
		{"not accepted", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--accept-routes=false"}, Absent, Absent, false, Absent, Present},
		{"exit node", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--exit-node=100.90.1.2"}, Absent, Present, true, Absent, Present},
		{"exit node in user space leaves the pod alone", []string{"TS_EXTRA_ARGS=--exit-node=100.90.1.2 --accept-dns"}, Present, Absent, false, Absent, Present},
		{"the flag wins over the variable", []string{"TS_USERSPACE=false", "TS_ACCEPT_DNS=false", "TS_EXTRA_ARGS=--accept-dns=true"}, Absent, Absent, false, Present, Present},
		{"no translation", []string{"TS_USERSPACE=false", "TS_EXTRA_ARGS=--snat-subnet-routes=false"}, Absent, Absent, false, Absent, Absent},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, container("ghcr.io/tailscale/tailscale:v1.80.0", tc.env...), lab()).tunnel(t)
			if tun.UserSpace != tc.userSpace || tun.Routes.State != tc.routes || tun.Routes.Default != tc.isDefault {
				t.Errorf("user space %s, routes %+v", tun.UserSpace, tun.Routes)
			}
			if tun.Resolver.Rewrites != tc.resolver || tun.Masquerade.State != tc.nat {
				t.Errorf("resolver %+v, masquerade %+v", tun.Resolver, tun.Masquerade)
			}
		})
	}
}
