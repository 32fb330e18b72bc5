package facts

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
)

// mountedConfig reports whether one of the files can be seen.
func (r *tunnelReader) mountedConfig(globs []string) bool {
	return slices.ContainsFunc(r.c.files(globs...), func(f mountedFile) bool { return f.Text != "" })
}

// ownOpenVPN reads a configuration that stands in the place of the provider's, in
// an image that is made to send everything into its tunnel. It adds routes, or
// declines the provider's default route. What lies in a volume leaves the
// image's default as it is, and so do the image's resolver and firewall.
func (r *tunnelReader) ownOpenVPN(globs ...string) {
	if !r.mountedConfig(globs) {
		return
	}
	for _, f := range r.c.files(globs...) {
		if f.Text != "" && declinesDefault(grammar.ParseOpenVPN(f.Text)) {
			r.t.Routes = Routes{State: Unknown, Ref: r.t.ContainerRef}
		}
	}
	r.keepingImage(func() { r.openVPN(globs...) })
}

// ownWireGuard is the same for wg-quick, where the configuration alone decides
// about the routes.
func (r *tunnelReader) ownWireGuard(globs ...string) {
	if r.mountedConfig(globs) {
		r.t.Routes = Routes{State: Unknown, Ref: r.t.ContainerRef}
		r.keepingImage(func() { r.wireGuard(globs...) })
	}
}

// keepingImage reads a configuration without what the image decides itself.
func (r *tunnelReader) keepingImage(read func()) {
	t := r.t
	resolver, replies, iface, masquerade, bypass := t.Resolver, t.RepliesKept, t.Interface, t.Masquerade, t.Bypass
	read()
	t.Resolver, t.RepliesKept = resolver, replies
	if t.Interface == "" {
		t.Interface = iface
	}
	if masquerade.State != Unknown && t.Masquerade.State != Present {
		t.Masquerade = masquerade
	}
	if t.Config.IsZero() { // it said nothing
		t.Bypass = bypass
	}
}

// declinesDefault: the configuration does not take a default route that the
// server pushes, and sets none.
func declinesDefault(conf *grammar.OpenVPN) bool {
	if _, own := conf.RedirectGateway(); own {
		return false
	}
	_, alone := conf.RouteNoPull()
	return alone || conf.Pulls("redirect-gateway") == grammar.No
}

// providerConfigs are the places of haugene's image for the configuration of a
// provider, the one that the variable names if it does.
func (r *tunnelReader) providerConfigs() []string {
	provider, name := r.c.env("OPENVPN_PROVIDER"), r.c.env("OPENVPN_CONFIG")
	home := "custom"
	switch {
	case provider.State == Unknown:
		return nil
	case strings.TrimSpace(provider.Text) != "":
		home = strings.ToLower(strings.TrimSpace(provider.Text))
	}
	file := "*"
	if text := strings.TrimSpace(name.Text); name.State == Present && text != "" && !strings.ContainsAny(text, ",*?[") {
		file = strings.TrimSuffix(text, ".ovpn")
	}
	return []string{"/etc/openvpn/" + home + "/" + file + ".ovpn"}
}
