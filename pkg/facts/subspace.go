package facts

// subspace reads subspacecommunity/subspace, which masquerades unless told
// otherwise and overwrites the pod's resolver (FG C0 43).
func (r *tunnelReader) subspace() {
	r.natUnless(map[string]bool{"SUBSPACE_DISABLE_MASQUERADE": true})
	r.resolverServers("SUBSPACE_NAMESERVERS")
}
