package facts

// wireGuardUI reads ngoduykhanh/wireguard-ui, which writes the server's
// configuration: without hooks there is no NAT (FG C0 44).
func (r *tunnelReader) wireGuardUI() {
	r.t.Side = "server" // where it brings the interface up itself, which makes it a data plane
	r.hookVariable("WGUI_SERVER_POST_UP_SCRIPT")
}

// hookVariable reads a variable that holds shell commands of the interface.
func (r *tunnelReader) hookVariable(key string) {
	v := r.c.env(key)
	if v.Text == "" {
		return
	}
	s := script{Kind: scriptFile, Text: v.Text, State: Present, Ref: v.Ref, Moved: v.Moved, Env: r.c.knownEnv()}
	r.firewallOf(s, "wg0")
	r.routing(s, "wg0", v.Ref)
}
