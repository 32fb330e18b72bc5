package facts

import (
	"strings"
)

// openConnect reads an OpenConnect client, whose routes and resolvers the server
// hands out (FG C0 33).
func (r *tunnelReader) openConnect() {
	r.unknownRoutes(because("the far side decides its routes at run time", noAdvice), r.t.ContainerRef)
}

// openFortiVPN is the same for Fortinet's, which can be told to set no routes: by
// an option, of which the last one counts, or by a line of its configuration.
func (r *tunnelReader) openFortiVPN() {
	says := ""
	for _, f := range r.c.files("/etc/openfortivpn/config") {
		for line := range strings.Lines(f.Text) {
			if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "set-routes" {
				says = routesOption("set-routes = ", strings.TrimSpace(value))
			}
		}
	}
	for _, cmd := range r.c.commands() {
		if cmd.opaque || cmd.name() != "openfortivpn" && len(r.c.spec.get("command").items()) > 0 {
			continue
		}
		for _, arg := range append([]string{firstText(cmd.words)}, cmd.args()...) {
			if value, ok := strings.CutPrefix(arg, "--set-routes="); ok {
				says = routesOption("--set-routes=", value)
			} else if arg == "--no-routes" {
				says = arg
			}
		}
	}
	if says != "" {
		r.takesNothing(says)
		return
	}
	r.openConnect()
}

// routesOption is what says that no routes are set, "" where they are.
func routesOption(key, value string) string {
	if value == "0" {
		return key + value
	}
	return ""
}
