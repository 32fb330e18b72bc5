package facts

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
)

// readConnectors notes the routes for which Tailscale's operator refuses a
// Connector: what is no prefix, and host bits (FG C6; tailscale/tailscale,
// cmd/k8s-operator/connector.go). Its proxies turn forwarding on by themselves,
// in a privileged init container.
func readConnectors(ix *index) {
	for _, o := range ix.ofKind("tailscale.com", "Connector") {
		spec := root(o).get("spec")
		for says, n := range map[string]node{
			"subnetRouter.advertiseRoutes": spec.get("subnetRouter", "advertiseRoutes"),
			"appConnector.routes":          spec.get("appConnector", "routes"),
		} {
			for _, item := range n.texts() {
				p := grammar.ParsePrefix(strings.TrimSpace(item.text()), 0)
				if why := refusedRoute(p); why != "" {
					ix.invalidRange(InvalidRange{
						Ref: item.ref(), Text: item.text(), Says: says, Why: why,
						Fate: "the operator takes the Connector for invalid and announces none of its routes",
					})
				}
			}
		}
	}
}

// refusedRoute says why a route that is to be announced is refused, "" for one
// that is taken or cannot be read.
func refusedRoute(p grammar.Prefix) string {
	switch {
	case p.Unknown, !p.Valid && !meantAsRange(p.Text):
		return ""
	case !p.Valid:
		return "it is no prefix"
	case p.Bare:
		return "it is an address without a mask"
	case p.HostBits:
		return "it has bits set right of its mask; the network is " + p.Prefix.String()
	default:
		return ""
	}
}
