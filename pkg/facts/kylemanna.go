package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// kylemanna: ovpn_env.sh on the volume is sourced over the container's
// environment and decides about NAT (FG C3).
func (r *tunnelReader) kylemanna() {
	t := r.t
	f := r.c.file("/etc/openvpn/ovpn_env.sh")
	vars := shellSettings{}
	visible := true
	switch {
	case f.Text != "":
		vars = settingsOf(f.Text, f.Ref)
	case f.State == Unknown:
		visible = false
		r.missed(f.Why.of("ovpn_env.sh decides about NAT, and "), f.Ref, aspectMasquerade)
	}
	get := func(key string) value {
		if v, has := vars[key]; has {
			return v
		}
		return r.c.env(key)
	}
	if v := get("OVPN_SERVER"); v.State == Present {
		if pool := prefixList(v, ""); len(pool) > 0 {
			t.Pool = pool
		}
	}
	at, past := r.c.startsPast("ovpn_run", "openvpn")
	if past {
		t.Masquerade = Switch{State: Absent, Ref: at, Why: "openvpn is started without the image's ovpn_run, which translates"}
	}
	r.openVPN("/etc/openvpn/*.conf")
	if past {
		return // its hooks and other scripts decide
	}
	route, nat := get("OVPN_DEFROUTE"), get("OVPN_NAT")
	switch {
	case !visible || route.State == Unknown || nat.State == Unknown:
		t.Masquerade.State = Unknown
		if visible {
			r.missed(because("OVPN_DEFROUTE and OVPN_NAT are not known", noAdvice), t.ContainerRef, aspectMasquerade)
		}
	case nat.Text == "1":
		t.Masquerade = Switch{State: Present, Ref: nat.Ref, Why: "OVPN_NAT=1"}
	case route.Text == "0":
		t.Masquerade = Switch{State: Absent, Ref: route.Ref, Why: "OVPN_DEFROUTE=0 without OVPN_NAT=1"}
	case route.State == Present:
		t.Masquerade = Switch{State: Present, Ref: route.Ref, Why: "OVPN_DEFROUTE=" + clip(route.Text)}
	default:
		t.Masquerade = Switch{State: Present, Ref: t.ContainerRef, Why: "OVPN_DEFROUTE is 1 by default"}
	}
	// The file comes after the variable: where it cannot be seen, it may name another.
	if out := get("OVPN_NATDEVICE"); visible && f.Text != "" && t.Masquerade.State == Present && out.State != Unknown {
		name, ref := out.Text, out.Ref
		if name == "" {
			name, ref = "eth0", t.ContainerRef
		}
		t.MasqueradeOut = append(t.MasqueradeOut, OutInterface{Name: name, Ref: ref, Says: "OVPN_NATDEVICE=" + clip(name)})
	}
}

// startsPast reports that a container's own command starts a daemon, and the
// start script of its image, which prepares more than that, is certainly not run.
func (c *containerView) startsPast(script, daemon string) (at source.Ref, past bool) {
	if len(c.spec.get("command").texts()) == 0 {
		return source.Ref{}, false
	}
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		switch name := cmd.name(); {
		case cmd.opaque, name == script, strings.HasSuffix(name, ".sh"), name == "." || name == "source":
			return source.Ref{}, false // it may run it
		case name == daemon:
			at, past = cmd.ref(), true
		}
	}
	return at, past
}
