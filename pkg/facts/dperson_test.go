package facts

import (
	"strings"
	"testing"
)

func TestDperson(t *testing.T) {
	for _, tc := range []struct {
		name       string
		env        []string
		args       string
		killSwitch Known
		bypass     string
		resolver   Known
		suggestion string
	}{
		{name: "defaults", killSwitch: Absent, resolver: Absent, suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
		{name: "FIREWALL set but empty", env: []string{"FIREWALL="}, killSwitch: Present, resolver: Absent, suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
		{name: "one variable a network", env: []string{"ROUTE=10.244.0.0/16", "ROUTE_2=10.96.0.0/12"}, killSwitch: Absent, resolver: Absent, bypass: "10.244.0.0/16 10.96.0.0/12"},
		{name: "flags", args: `["-f", "", "-d", "-r", "10.96.0.0/12", "-r", "10.244.0.0/16"]`, killSwitch: Present, resolver: Present, bypass: "10.96.0.0/12 10.244.0.0/16"},
		{name: "part of it", env: []string{"ROUTE=10.244.0.0/16"}, killSwitch: Absent, resolver: Absent, bypass: "10.244.0.0/16", suggestion: "ROUTE=10.96.0.0/12\nROUTE_2=10.244.0.0/16"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := container("dperson/openvpn-client:latest", tc.env...)
			if tc.args != "" {
				text = strings.TrimRight(text, "\n") + "\n        args: " + tc.args + "\n"
			}
			tun := look(t, text, lab()).tunnel(t)
			if tun.KillSwitch.State != tc.killSwitch || tun.Resolver.Rewrites != tc.resolver || tun.RepliesKept != Present {
				t.Errorf("kill switch %+v, resolver %+v, replies %s", tun.KillSwitch, tun.Resolver, tun.RepliesKept)
			}
			if got := prefixesOf(tun.Bypass.Entries); got != tc.bypass {
				t.Errorf("bypass %q, want %q", got, tc.bypass)
			}
			if got := tun.Captures[0].Suggestion; got != tc.suggestion {
				t.Errorf("suggestion %q, want %q", got, tc.suggestion)
			}
		})
	}
}

// The start script runs what the arguments name, and then does nothing else.
func TestDpersonRunsTheArguments(t *testing.T) {
	for _, start := range []string{`args: ["openvpn", "--config", "/vpn/own.conf"]`, `command: ["openvpn", "--config", "/vpn/own.conf"]`} {
		text := strings.TrimRight(container("dperson/openvpn-client:latest", "ROUTE=10.244.0.0/16"), "\n") + "\n        " + start + "\n"
		tun := look(t, text, lab()).tunnel(t)
		if tun.Routes.State != Unknown || tun.KillSwitch.State != Unknown || len(tun.Bypass.Entries) > 0 || tun.RepliesKept == Present {
			t.Errorf("%s: routes %+v, kill switch %+v, bypass %v, replies %s", start, tun.Routes, tun.KillSwitch, tun.Bypass.Entries, tun.RepliesKept)
		}
	}
	script := strings.TrimRight(container("dperson/openvpn-client:latest"), "\n") + "\n        command: [\"/usr/bin/openvpn.sh\", \"-f\", \"\"]\n"
	if tun := look(t, script, lab()).tunnel(t); !tun.Routes.Default || tun.KillSwitch.State != Present {
		t.Errorf("the start script is run: routes %+v, kill switch %+v", tun.Routes, tun.KillSwitch)
	}
}
