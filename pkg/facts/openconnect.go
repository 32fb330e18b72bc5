package facts

// openConnect reads an OpenConnect client, whose routes and resolvers the server
// hands out (FG C0 33).
func (r *tunnelReader) openConnect() {
	r.unknownRoutes(because("the far side decides its routes at run time", noAdvice), r.t.ContainerRef)
}
