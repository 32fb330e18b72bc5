package facts

import (
	"testing"
)

// Clients of which only the name is known: a tunnel whose routes are a gap, never
// nothing.
func TestClientsOfUnknownRoutes(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		family string // "" for no tunnel
		routes Known
	}{
		"hotio with its VPN":                    {container("ghcr.io/hotio/qbittorrent:release", "VPN_ENABLED=true"), "hotio", Unknown},
		"hotio without":                         {container("ghcr.io/hotio/qbittorrent:release"), "", ""},
		"hotio that says so":                    {container("ghcr.io/hotio/sonarr", "VPN_ENABLED=false"), "", ""},
		"hotio that cannot be seen":             {container("ghcr.io/hotio/sonarr", "VPN_ENABLED=${VPN}"), "", ""},
		"openfortivpn":                          {container("acme/openfortivpn:1.22"), "openfortivpn", Unknown},
		"openfortivpn by its program":           {pod("containers:\n- {name: vpn, image: alpine, command: [openfortivpn, \"vpn.example.com:443\"]}\n"), "openfortivpn", Unknown},
		"openfortivpn that takes no routes":     {pod("containers:\n- {name: vpn, image: acme/openfortivpn, args: [\"vpn.example.com:443\", --set-routes=0]}\n"), "openfortivpn", Absent},
		"openfortivpn whose last option counts": {pod("containers:\n- {name: vpn, image: acme/openfortivpn, args: [--no-routes, --set-routes=1]}\n"), "openfortivpn", Unknown},
		"openfortivpn that is asked":            {pod("containers:\n- {name: vpn, image: alpine, command: [openfortivpn, --version]}\n"), "", ""},
		"awg-quick by its program":              {pod("containers:\n- {name: vpn, image: alpine, command: [sh, -c, \"awg-quick up awg0 && sleep infinity\"]}\n"), "amneziawg", Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := look(t, tt.text, lab())
			if tt.family == "" {
				for _, p := range s.pods {
					if len(p.pod.Tunnels) > 0 {
						t.Errorf("a tunnel: %+v", p.pod.Tunnels)
					}
				}
				return
			}
			tun := s.tunnel(t)
			if tun.Family != tt.family || tun.Routes.State != tt.routes {
				t.Errorf("family %s, routes %s", tun.Family, tun.Routes.State)
			}
		})
	}
}
