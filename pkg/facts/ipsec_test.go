package facts

import (
	"testing"
)

func TestIPsec(t *testing.T) {
	for _, tc := range []struct {
		name, dir, key, conf string
		side                 string
		routes, local        string
		pool, clients        string
		state                Known
		bypass               string
	}{
		{
			name: "site to site", dir: "/etc", key: "ipsec.conf",
			conf: "config setup\n    uniqueids=no\n\nconn %default\n    leftsubnet=10.244.0.0/16\n\nconn site\n    right=198.51.100.9\n    rightsubnet=10.60.0.0/24, 10.61.0.0/24[tcp/443]\n",
			side: "server", routes: "10.60.0.0/24 10.61.0.0/24", local: "10.244.0.0/16", state: Present,
		},
		{
			name: "lists of Libreswan", dir: "/etc", key: "ipsec.conf",
			conf: "conn site\n    right=198.51.100.9\n    leftsubnets={10.244.0.0/16 10.245.0.0/16}\n    rightsubnets={10.60.0.0/24,10.61.0.0/24}\n",
			side: "server", routes: "10.60.0.0/24 10.61.0.0/24", local: "10.244.0.0/16 10.245.0.0/16", state: Present,
		},
		{
			name: "road warriors", dir: "/etc", key: "ipsec.conf",
			conf: "conn rw\n    leftsubnet=0.0.0.0/0\n    right=%any\n    rightsourceip=10.99.0.0/24\n",
			side: "server", pool: "10.99.0.0/24", clients: "0.0.0.0/0", state: Absent,
		},
		{
			name: "a client with a default route and a passthrough", dir: "/etc", key: "ipsec.conf",
			conf: "conn base\n    right=198.51.100.9\n    leftsourceip=%config\n\nconn out\n    also=base\n    rightsubnet=0.0.0.0/0\n\nconn lan\n    type=passthrough\n    rightsubnet=10.96.0.0/12\n",
			side: "client", routes: "0.0.0.0/0", state: Present, bypass: "10.96.0.0/12",
		},
		{
			name: "swanctl", dir: "/etc/swanctl/conf.d", key: "site.conf",
			conf: "connections {\n  site {\n    remote_addrs = 198.51.100.9\n    children {\n      net { # {comment}\n        local_ts = 10.244.0.0/16\n        remote_ts = 10.60.0.0/24\n      }\n    }\n  }\n}\n",
			side: "server", routes: "10.60.0.0/24", local: "10.244.0.0/16", state: Present,
		},
		{
			name: "a selector that is filled in later", dir: "/etc", key: "ipsec.conf",
			conf: "conn site\n    right=198.51.100.9\n    leftsubnet=10.244.0.0/16\n    rightsubnet=${REMOTE}\n",
			side: "server", local: "10.244.0.0/16", state: Unknown,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, mounted("docker.io/strongx509/strongswan:5.9.14", tc.dir, tc.key, tc.conf), lab()).tunnel(t)
			if tun.Side != tc.side || tun.Routes.State != tc.state {
				t.Errorf("%s, routes %+v", tun.Side, tun.Routes)
			}
			for what, pair := range map[string][2]string{
				"routes": {prefixesOf(tun.Routes.Prefixes), tc.routes}, "local": {prefixesOf(tun.Local), tc.local},
				"pool": {prefixesOf(tun.Pool), tc.pool}, "clients": {prefixesOf(tun.Clients.Routes), tc.clients},
				"bypass": {prefixesOf(tun.Bypass.Entries), tc.bypass},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s %q, want %q", what, pair[0], pair[1])
				}
			}
		})
	}
}
