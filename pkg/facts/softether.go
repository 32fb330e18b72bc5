package facts

// softEther reads a SoftEther server: SecureNAT translates in user space, so that
// it needs neither forwarding nor masquerading of the pod (FG C0 34).
func (r *tunnelReader) softEther() {
	r.t.UserSpace = Present
	r.t.Masquerade = Switch{State: Present, Ref: r.t.ContainerRef, Why: "SecureNAT translates in user space"}
}
