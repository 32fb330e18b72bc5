package facts

import (
	"strings"
)

// downloader are binhex's and dyonr's images: client and application in one.
func (r *tunnelReader) downloader() {
	t := r.t
	for _, key := range []string{"VPN_CLIENT", "VPN_TYPE"} {
		if v := r.c.env(key); v.State == Present && strings.EqualFold(v.Text, "wireguard") {
			t.Kind, t.Interface = "wireguard", "wg0"
			t.Routes.FwMark = true // wg-quick; the image wants the mark (FG C0)
		}
	}
	if t.Interface == "" {
		t.Interface = "tun0"
	}
	enabled := r.c.env("VPN_ENABLED")
	if enabled.State == Present && isOff(enabled.Text) {
		t.Routes = Routes{State: Absent, Ref: enabled.Ref, Why: "VPN_ENABLED=" + clip(enabled.Text)}
		t.Resolver.Rewrites, t.Resolver.Ref, t.Resolver.Why = Absent, enabled.Ref, "the VPN is off"
		return
	}
	if r.family.ID == "binhex-vpn" {
		r.resolverServers("NAME_SERVERS", "1.1.1.1", "1.0.0.1")
	} else {
		r.resolverServers("NAME_SERVERS")
	}
	if t.Kind == "wireguard" {
		r.ownWireGuard("/config/wireguard/*.conf")
	} else {
		r.ownOpenVPN("/config/openvpn/*.ovpn")
	}
}

// enabledVPN: DyonR's script takes these words, and no word for yes; with any
// other it starts the application without the VPN and its firewall.
func (r *tunnelReader) enabledVPN() Known {
	v := r.c.env("VPN_ENABLED")
	if v.State == Unknown {
		return Unknown
	}
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "", "1", "true", "yes":
		return Present
	default:
		return Absent
	}
}
