package facts

// wgAccessServer reads wg-access-server, which masquerades unless told otherwise
// (FG C0 42).
func (r *tunnelReader) wgAccessServer() {
	r.natUnless(map[string]bool{"WG_IPV4_NAT_ENABLED": false, "WG_VPN_DISABLE_IPTABLES": true})
}

// natUnless reads variables that turn masquerading off by one of their values.
func (r *tunnelReader) natUnless(off map[string]bool) {
	for _, k := range r.family.Env.NAT {
		value, knows := off[k.Key]
		v := r.c.env(k.Key)
		if !knows || v.State != Present {
			continue
		}
		if value && isOn(v.Text) || !value && isOff(v.Text) {
			r.t.Masquerade = Switch{State: Absent, Ref: v.Ref, Why: k.Key + "=" + clip(v.Text)}
		}
	}
}
