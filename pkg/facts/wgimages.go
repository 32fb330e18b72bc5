package facts

// wireGuardImage: wg-quick with the configuration deciding, and what a few
// images add of their own.
func (r *tunnelReader) wireGuardImage() {
	own := r.t.KillSwitch // jordanpotter's is built in
	masquerade := r.t.Masquerade
	if r.family.ID == "cmulk-wireguard" {
		r.t.Side = "unknown"
	}
	r.wireGuard(r.globs("wg", "/etc/wireguard/*.conf")...)
	switch r.family.ID {
	case "jordanpotter-wireguard":
		r.t.KillSwitch = own
	case "cmulk-wireguard":
		masq := r.c.env("IPTABLES_MASQ")
		switch {
		case r.t.Masquerade.State == Present && r.t.Masquerade != masquerade:
			// A hook does it in any case.
		case masq.State == Unknown:
			r.t.Masquerade = Switch{State: Unknown, Ref: masq.Ref, Why: "IPTABLES_MASQ is not known"}
			r.missed(masq.Why.of("IPTABLES_MASQ: "), masq.Ref, aspectMasquerade)
		case masq.Text == "0":
			r.t.Masquerade = Switch{State: Absent, Ref: masq.Ref, Why: "IPTABLES_MASQ=0"}
		default:
			r.t.Masquerade = masquerade
		}
	}
}

// wireGuardServer: charts whose image serves whatever the mounted file says;
// their defaults hold when it cannot be seen.
func (r *tunnelReader) wireGuardServer() {
	t := r.t
	saved := *t
	r.wireGuard(r.globs("", "/etc/wireguard/*.conf", "/config/*.conf", "/config/wg_confs/*.conf")...)
	if t.Config.IsZero() {
		lost := r.lost
		*t = saved
		r.lost = lost
		t.Interface = "wg0"
	}
	if t.Side != "client" && saved.Masquerade.State == Present && t.Masquerade.State != Present {
		t.Masquerade = saved.Masquerade
	}
	if t.Config.IsZero() || t.Side == "unknown" {
		t.Side = "server"
	}
}
