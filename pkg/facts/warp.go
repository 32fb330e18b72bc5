package facts

// warp reads caomingjun/warp: Cloudflare decides the routes, and it masquerades
// only when told to (FG C0 36).
func (r *tunnelReader) warp() {
	r.unknownRoutes(because("the far side decides its routes at run time", noAdvice), r.t.ContainerRef)
	r.natIf("WARP_ENABLE_NAT")
}

// natIf: a variable that is set at all turns masquerading on.
func (r *tunnelReader) natIf(key string) {
	v := r.c.env(key)
	m := &r.t.Masquerade
	switch {
	case v.State == Present:
		m.State, m.Ref, m.Why = Present, v.Ref, key
	case v.State == Absent && m.State == Unknown && r.masqueradeByConf():
		m.State, m.Why = Absent, key+" is not set"
	}
}
