package facts

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
		r.missed("ovpn_env.sh decides about NAT, and "+f.Why, f.Ref, aspectMasquerade)
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
	r.openVPN("/etc/openvpn/*.conf")
	route, nat := get("OVPN_DEFROUTE"), get("OVPN_NAT")
	switch {
	case !visible || route.State == Unknown || nat.State == Unknown:
		t.Masquerade.State = Unknown
		if visible {
			r.missed("OVPN_DEFROUTE and OVPN_NAT are not known", t.ContainerRef, aspectMasquerade)
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
}
