package facts

import (
	"strconv"
	"strings"
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
		{
			name: "a section whose brace stands below its name, with a quoted value", dir: "/etc/swanctl/conf.d", key: "site.conf",
			conf: "connections\n{\n  site : base # {\n  {\n    remote_addrs = 198.51.100.9\n    local-1 { id = \"a # b\" }\n    children {\n      net {\n        local_ts = 10.244.0.0/16\n        remote_ts = \"10.60.0.0/24\"\n      }\n    }\n  }\n}\ninclude x/*.conf\n",
			side: "server", routes: "10.60.0.0/24", local: "10.244.0.0/16", state: Present,
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

// A file that its reader refuses decides nothing, and the gap names the text that is
// wrong in it, not the file.
func TestIPsecRefused(t *testing.T) {
	t.Parallel()
	const (
		conf    = "config setup\n    uniqueids=no\n\nconn site\n    right=198.51.100.9\n    leftsubnet=10.244.0.0/16\n    rightsubnet=10.60.0.0/24\n"
		swanctl = "connections {\n  site {\n    remote_addrs = 198.51.100.9\n    children {\n      net {\n        local_ts = 10.244.0.0/16\n        remote_ts = 10.60.0.0/24\n      }\n    }\n  }\n}\n"
	)
	for name, tt := range map[string]struct {
		dir, key, conf, old, new string
		bad                      string // where the gap points
	}{
		"a section of no kind":      {"/etc", "ipsec.conf", conf, "conn site", "con site", "con site"},
		"a setting without a blank": {"/etc", "ipsec.conf", conf, "    rightsubnet=10.60.0.0/24", "rightsubnet=10.60.0.0/24", "rightsubnet=10.60.0.0/24"},
		"no equals sign":            {"/etc/swanctl/conf.d", "site.conf", swanctl, "remote_ts = ", "remote_ts ", "remote_ts 10.60.0.0/24"},
		"no brace":                  {"/etc/swanctl/conf.d", "site.conf", swanctl, "site {", "site", "site"},
		"an open quotation mark":    {"/etc/swanctl/conf.d", "site.conf", swanctl, "remote_ts = ", "remote_ts = \"", "remote_ts = \"10.60.0.0/24"},
		"a misspelt section":        {"/etc/swanctl/conf.d", "site.conf", swanctl, "children {", "childrn {", "childrn {"},
		"a brace too many":          {"/etc/swanctl/conf.d", "site.conf", swanctl + "}", "", "", "}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(tt.conf, tt.old, tt.new, 1)
			s := look(t, mounted("docker.io/strongx509/strongswan:5.9.14", tt.dir, tt.key, text), lab())
			tun := s.tunnel(t)
			if tun.Routes.State != Unknown || len(tun.Routes.Prefixes)+len(tun.Local) > 0 {
				t.Errorf("routes %+v, local %+v", tun.Routes, tun.Local)
			}
			if len(s.gaps) != 1 || !strings.HasPrefix(s.gaps[0].Why, strconv.Quote(tt.bad)) {
				t.Errorf("gaps %+v, want one about %q", s.gaps, tt.bad)
			}
		})
	}
}
