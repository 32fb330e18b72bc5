package facts

import (
	"strings"
	"testing"
)

func TestGates(t *testing.T) {
	const app = "containers:\n  - {name: app, image: example.com/app}\n"
	native := func(more string) string {
		return "initContainers:\n  - {name: vpn, image: qmcgaw/gluetun, restartPolicy: Always" + more + "}\n" + app
	}
	plain := func(more, init string) string {
		return init + "containers:\n  - {name: vpn, image: qmcgaw/gluetun" + more + "}\n  - {name: app, image: example.com/app}\n"
	}
	script := func(name, text string) string {
		return "initContainers:\n  - {name: " + name + ", image: busybox, command: [sh, -c, '" + text + "']}\n"
	}
	for _, tt := range []struct {
		name, spec string
		probe      Known
		hook       Known
		// order is before | after | waits | fake | early, each a list of names.
		order string
	}{
		{"native sidecar with a probe", native(", startupProbe: {exec: {command: [/gluetun-entrypoint, healthcheck]}}"), Present, Absent, "|app|||"},
		{"native sidecar without", native(""), Absent, Absent, "|app|||"},
		{"a probe that is empty", native(", startupProbe: {}"), Absent, Absent, "|app|||"},
		{"a probe that always succeeds", native(", startupProbe: {exec: {command: [sh, -c, 'exit 0']}}"), Absent, Absent, "|app|||"},
		{"a native sidecar's hook waits", native(", lifecycle: {postStart: {exec: {command: [sh, -c, 'until ip link show tun0; do sleep 1; done']}}}"), Absent, Present, "|app|||"},
		{"first in the list without anything", plain("", ""), Absent, Absent, "|app|||"},
		{"first in the list, its hook waits", plain(", lifecycle: {postStart: {exec: {command: [sh, -c, 'until /gluetun-entrypoint healthcheck; do sleep 1; done']}}}", ""), Absent, Present, "|app|||"},
		{"a hook with a break", plain(", lifecycle: {postStart: {exec: {command: [sh, -c, 'while true; do [ -d /sys/class/net/tun0 ] && break; sleep 1; done']}}}", ""), Absent, Present, "|app|||"},
		{"a hook that cleans up rules in a loop", plain(", lifecycle: {postStart: {exec: {command: [sh, -c, 'while ip rule del table 51820; do :; done']}}}", ""), Absent, Absent, "|app|||"},
		{"a hook that only sleeps", plain(", lifecycle: {postStart: {exec: {command: [sleep, '30']}}}", ""), Absent, Absent, "|app|||"},
		{"an init container waits for a VPN that does not exist", plain("", script("wait-for-vpn", "until wget -q https://example.com; do sleep 1; done")), Absent, Absent, "|app||wait-for-vpn|"},
		{"an init container waits for the interface", plain("", script("wait", "while ! ip addr show tun0; do sleep 1; done")), Absent, Absent, "|app||wait|"},
		{"an init container waits for a database", plain("", script("wait", "until nc -z postgres 5432; do sleep 1; done")), Absent, Absent, "|app|||"},
		{"an init container downloads before the native sidecar", script("fetch", "wget https://example.com/list") + strings.TrimPrefix(native(""), "initContainers:\n"), Absent, Absent, "|app|||fetch"},
		{"an init container copies a file before it", script("copy", "cp /a /b") + strings.TrimPrefix(native(""), "initContainers:\n"), Absent, Absent, "|app|||"},
		{"the application waits by itself", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n  - {name: app, image: example.com/app, command: [sh, -c, 'until ip link show tun0; do sleep 1; done; exec /app']}\n", Absent, Absent, "|app|app||"},
		{"the application waits for its database only", "containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n  - {name: app, image: example.com/app, command: [sh, -c, 'until nc -z db 5432; do sleep 1; done; exec /app']}\n", Absent, Absent, "|app|||"},
		{"the application stands first", app + "  - {name: vpn, image: qmcgaw/gluetun}\n", Absent, Absent, "app||||"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment(tt.spec))
			if len(p.Gates) != 1 {
				t.Fatalf("role %s, %d gates", p.Role, len(p.Gates))
			}
			g := p.Gates[0]
			named := func(list []NamedRef) string {
				var out []string
				for _, n := range list {
					out = append(out, n.Name)
				}
				return strings.Join(out, ",")
			}
			got := strings.Join([]string{strings.Join(g.Before, ","), strings.Join(g.After, ","), strings.Join(g.Waits, ","), named(g.FakeGates), named(g.EarlyInits)}, "|")
			if g.StartupProbe.State != tt.probe || g.PostStartBlocks.State != tt.hook || got != tt.order {
				t.Errorf("probe %s, hook %s (%s), order %q; want %s, %s, %q", g.StartupProbe.State, g.PostStartBlocks.State, g.PostStartBlocks.Why, got, tt.probe, tt.hook, tt.order)
			}
		})
	}
}

func TestGatesAreForSidecarsOnly(t *testing.T) {
	for _, spec := range []string{
		"containers:\n  - {name: vpn, image: qmcgaw/gluetun}\n",
		"containers:\n  - {name: vpn, image: 'ghcr.io/wg-easy/wg-easy:14'}\n  - {name: app, image: example.com/app}\n",
	} {
		if p, _ := onlyPod(t, deployment(spec)); len(p.Gates) != 0 {
			t.Errorf("role %s has gates: %+v", p.Role, p.Gates)
		}
	}
}
