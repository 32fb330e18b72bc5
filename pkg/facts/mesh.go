package facts

// mesh reads the agent of a mesh whose controller hands out the routes: ZeroTier,
// Netmaker, innernet (FG C0 26).
func (r *tunnelReader) mesh() {
	r.t.Interface = ""
	r.unknownRoutes(because("its routes are managed by the network's controller, not in the tree", noAdvice), r.t.ContainerRef)
}
