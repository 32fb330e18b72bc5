package facts

import (
	"fmt"
	"strings"
	"testing"
)

func nebulaPod(config, args string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nebula, namespace: edge}\ndata:\n  config.yml: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n    ") +
		"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: vpn, namespace: edge}\nspec:\n  volumes: [{name: c, configMap: {name: nebula}}]\n" +
		"  containers:\n    - {name: nebula, image: 'nebulaoss/nebula:1.9.5', " + args + "volumeMounts: [{name: c, mountPath: /config}]}\n"
}

func TestNebula(t *testing.T) {
	const route = "tun:\n  dev: nebula1\n  mtu: 1300\n  unsafe_routes:\n"
	for _, tt := range []struct {
		name, config, args, routes string
		userSpace                  Known
		says, at                   string // of the gap on the routes, and what it points at
	}{
		{"routes", route + "    - {route: 172.16.1.0/24, via: 192.168.100.99}\n    - {route: 10.9.0.0/16, via: [{gateway: 192.168.100.98}], metric: 5}\n", "", "present 172.16.1.0/24 10.9.0.0/16", Absent, "", ""},
		{"one that is not installed", route + "    - {route: 172.16.1.0/24, via: 192.168.100.99, install: false}\n", "", "unknown ", Absent, "stands in its certificate", ""},
		{"none", "tun: {dev: nebula1}", "", "unknown ", Absent, "stands in its certificate", ""},
		{"no device", "tun: {disabled: true}\nlighthouse: {am_lighthouse: true}", "", "absent ", Present, "", ""},
		{"a file of its own", route + "    - {route: 172.16.1.0/24, via: 192.168.100.99}\n", "args: [-config, /config/config.yml], ", "present 172.16.1.0/24", Absent, "", ""},
		{"a directory", route + "    - {route: 172.16.1.0/24, via: 192.168.100.99}\n", "args: [-config=/config/], ", "present 172.16.1.0/24", Absent, "", ""},
		{"elsewhere", route, "args: [-config, /etc/nebula/config.yml], ", "unknown ", Absent, "its configuration is not in the tree", ""},
		{"routes of the system", "tun:\n  use_system_route_table: true\n", "", "unknown ", Absent, "the routes of the system", "true"},
		{"no prefix", route + "    - {route: 172.16.1.0/240, via: 192.168.100.99}\n", "", "unknown ", Absent, "", ""},
		{"no address", route + "    - {route: 172.16.1.0/24, via: 192.168.100.999}\n", "", "unknown ", Absent, "via is no address, and nebula stops", "192.168.100.999"},
		{"no gateway", route + "    - {route: 172.16.1.0/24, vai: 192.168.100.99}\n", "", "unknown ", Absent, "has no via, and nebula stops", "{route: 172.16.1.0/24, vai: 192.168.100.99}"},
		{"no switch", route + "    - {route: 172.16.1.0/24, via: 192.168.100.99, install: maybe}\n", "", "unknown ", Absent, "install is neither true nor false", "maybe"},
		{"no list", "tun:\n  unsafe_routes: 10.0.0.0/8\n", "", "unknown ", Absent, "is no list, and nebula stops", "10.0.0.0/8"},
		{"a bracket", "tun:\n  dev: nebula1\n  unsafe_routes:\n    - {route: [172.16.1.0/24, via: x}\n", "", "unknown ", Absent, "is not YAML from here on", "    - {route: [172.16.1.0/24, via: x}"},
		{"filled in later", route + "    - {route: '${NETWORK}', via: 192.168.100.99}\n", "", "unknown ", Absent, "is filled in when the tree is applied", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := look(t, nebulaPod(tt.config, tt.args), lab())
			tun := f.tunnel(t)
			if got := fmt.Sprint(tun.Routes.State, " ", prefixesOf(tun.Routes.Prefixes)); got != tt.routes || tun.UserSpace != tt.userSpace {
				t.Errorf("routes %s, user space %s; want %s, %s", got, tun.UserSpace, tt.routes, tt.userSpace)
			}
			said := tt.says == ""
			for _, g := range f.gaps {
				if tt.says != "" && strings.Contains(g.Why, tt.says) {
					said = tt.at == "" || strings.TrimSpace(textAt(t, f.objects, g.At)) == strings.TrimSpace(tt.at)
				}
			}
			if !said {
				t.Errorf("no gap %q at %q: %+v", tt.says, tt.at, f.gaps)
			}
		})
	}
}
