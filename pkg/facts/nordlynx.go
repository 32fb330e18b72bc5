package facts

import (
	"slices"
	"strings"
)

// nordlynx writes its own wg-quick configuration out of variables.
func (r *tunnelReader) nordlynx() {
	t := r.t
	t.Interface = "wg0"
	t.Routes.FwMark = slices.ContainsFunc(t.Routes.Prefixes, func(p PrefixAt) bool { return strings.HasSuffix(p.Prefix, "/0") })
	t.Routes.MoreSpecificWin = true
	t.Addresses = append(t.Addresses, hostList(r.c.env("ADDRESS"))...)
	if len(t.Addresses) == 0 {
		t.Addresses = []PrefixAt{{Prefix: "10.5.0.2/32", Text: "10.5.0.2/32", Ref: t.ContainerRef}}
	}
	if table := r.c.env("TABLE"); table.State == Present && table.Text != "" && !strings.EqualFold(table.Text, "auto") {
		r.unknownRoutes(because("TABLE="+clip(table.Text)+" takes the routes out of the image's hands", noAdvice), table.Ref)
	}
	r.resolverServers("DNS", "103.86.96.100", "103.86.99.100")
	r.hookVariable("PRE_UP")
	r.hookVariable("POST_UP")
}
