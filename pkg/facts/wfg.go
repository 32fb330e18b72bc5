package facts

import (
	"strings"
)

// wfg: the kill switch is a route-up script, so nothing is blocked before the
// first connection (FG C4); the list of allowed subnets is its.
func (r *tunnelReader) wfg() {
	t := r.t
	t.Side = "client"
	if t.KillSwitch.State == Present {
		t.KillSwitch.Why += ", from the first connection on"
	}
	if t.KillSwitch.State == Absent && t.Bypass.State == Present {
		t.Bypass.State = Unknown
		r.missed(because("the allowed subnets are used by the kill switch, which is off", noAdvice), t.Bypass.Ref, aspectBypass)
	}
	globs := []string{"/data/vpn/*.conf", "/data/vpn/*.ovpn"}
	if name := r.c.env("CONFIG_FILE"); name.State == Present && name.Text != "" && !strings.Contains(name.Text, "*") {
		globs = []string{"/data/vpn/" + strings.TrimPrefix(name.Text, "/")}
	}
	r.openVPN(globs...)
}
