package facts

// k8sAtHome: the list belongs to the kill switch, and without a list the rule
// is not installed (FG C2).
func (r *tunnelReader) k8sAtHome() {
	t := r.t
	ks := t.KillSwitch
	switch {
	case ks.State == Present && t.Bypass.State == Absent:
		ks = Switch{State: Absent, Ref: ks.Ref, Why: "KILLSWITCH without excluded networks installs no rule"}
	case ks.State == Absent && t.Bypass.State == Present:
		t.Bypass.State = Unknown
		r.missed(because("the excluded networks are used by the kill switch, which is off", noAdvice), t.Bypass.Ref, aspectBypass)
	}
	t.KillSwitch = ks
	r.wireGuard("/etc/wireguard/*.conf", "/config/*.conf")
	if ks.State == Present || t.KillSwitch.State != Present && ks.Why != "" && ks.Ref != t.ContainerRef {
		t.KillSwitch = ks
	}
}
