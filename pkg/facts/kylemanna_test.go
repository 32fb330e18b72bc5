package facts

import (
	"testing"
)

func TestKylemanna(t *testing.T) {
	const conf = "server 10.77.0.0 255.255.255.0\ndev tun0\npush \"route 10.244.0.0 255.255.0.0\"\npush \"dhcp-option DNS 10.96.0.10\"\n"
	files := func(env string) string {
		return mounted("kylemanna/openvpn:2.4", "/etc/openvpn", "openvpn.conf", conf) + "  ovpn_env.sh: |\n" + indent(env, 4) + "\n"
	}
	for _, tc := range []struct {
		name, env  string
		masquerade Known
		at         string
	}{
		{"by default", "declare -x OVPN_SERVER=10.77.0.0/24", Present, ""},
		{"a NAT device alone does nothing", "declare -x OVPN_DEFROUTE=0\ndeclare -x OVPN_NATDEVICE=eth0", Absent, "0"},
		{"asked for", "declare -x OVPN_DEFROUTE=0\ndeclare -x OVPN_NAT=1", Present, "1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := look(t, files(tc.env), lab())
			tun := s.tunnel(t)
			if tun.Masquerade.State != tc.masquerade {
				t.Errorf("masquerade %+v, want %s", tun.Masquerade, tc.masquerade)
			}
			if tc.at != "" && s.at(t, tun.Masquerade.Ref) != tc.at {
				t.Errorf("masquerade at %q, want %q", s.at(t, tun.Masquerade.Ref), tc.at)
			}
			if prefixesOf(tun.Pool) != "10.77.0.0/24" || prefixesOf(tun.Clients.Routes) != "10.244.0.0/16" || prefixesOf(tun.Clients.Resolvers) != "10.96.0.10/32" {
				t.Errorf("pool %v, clients %+v", tun.Pool, tun.Clients)
			}
		})
	}
	claim := pod(`volumes: [{name: data, persistentVolumeClaim: {claimName: ovpn}}]
containers:
- {name: vpn, image: "kylemanna/openvpn:2.4", volumeMounts: [{name: data, mountPath: /etc/openvpn}]}`)
	s := look(t, claim, lab())
	if tun := s.tunnel(t); tun.Masquerade.State != Unknown || len(s.gaps) != 1 {
		t.Errorf("a volume hides ovpn_env.sh: masquerade %+v, gaps %+v", tun.Masquerade, s.gaps)
	}
}

// A client's configuration that OpenVPN refuses does not make the pod a server again,
// as the image is without one.
func TestKylemannaClientRefused(t *testing.T) {
	t.Parallel()
	const conf = "client\ndev tun\nremote vpn.example.com 1194\n"
	for broken, want := range map[string]Role{"": Client, "redirect-gateway \"def1\n": RoleUnknown, "<ca>\n": RoleUnknown, "dev\n": RoleUnknown} {
		if p, _ := onlyPod(t, mounted("kylemanna/openvpn:2.4", "/etc/openvpn", "openvpn.conf", conf+broken), lab()); p.Role != want {
			t.Errorf("%q: %s, want %s", broken, p.Role, want)
		}
	}
}
