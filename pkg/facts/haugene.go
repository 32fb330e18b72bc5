package facts

import (
	"strings"
)

// haugene: the provider's configuration lies in the image, unless one is mounted
// for it; the options may still take its default route away.
func (r *tunnelReader) haugene() {
	t := r.t
	t.Interface = "tun0"
	var servers []string
	for _, v := range r.c.envWithPrefix("OVERRIDE_DNS") {
		if v.State == Present {
			servers = append(servers, addressList(v.value)...)
			t.Resolver.Ref, t.Resolver.Why = v.Ref, v.Name+"="+clip(v.Text)
		}
	}
	t.Resolver.Servers = servers
	if globs := r.providerConfigs(); globs != nil {
		r.ownOpenVPN(globs...)
	}
	if opts := r.c.env("OPENVPN_OPTS"); opts.State != Absent && r.namesEnv("OPENVPN_OPTS") {
		if opts.State == Unknown || strings.Contains(opts.Text, "pull-filter") || strings.Contains(opts.Text, "route-nopull") {
			r.unknownRoutes(because("OPENVPN_OPTS changes which routes are taken", noAdvice), opts.Ref)
		}
	}
}
