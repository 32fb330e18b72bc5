package facts

import (
	"path"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// operatorClients reads what the files of the peers say that the operator writes
// for a server: what they route, and the resolver, their own or the server's
// (FG C2). Peers differ, so each is judged by its own routes; one whose routes
// are not stated, or are filled in later, says nothing.
func (p *podView) operatorClients(server *source.Object, t *Tunnel) {
	var all []PrefixAt
	for _, o := range p.peersOf(server) {
		spec := root(o).get("spec")
		routes, complete := everyPrefix(spec.get("allowedIPs"))
		if !complete || spec.get("disabled").boolean() != Absent {
			continue
		}
		dns := spec.get("dns")
		if !dns.exists() {
			dns = p.made.asks.get("dns")
		}
		peer := Tunnel{Pool: t.Pool, Clients: Clients{
			State: Present, Default: hasDefault(routes), Routes: routes, Resolvers: resolversIn(dns),
		}}
		lost := unreached(&peer, p.clusters)
		all = append(all, routes...)
		t.Clients.State = Present
		t.Clients.Resolvers = append(t.Clients.Resolvers, peer.Clients.Resolvers...)
		t.Clients.Unreached = append(t.Clients.Unreached, lost...)
		if len(lost) > 0 {
			t.Clients.Routes = append(t.Clients.Routes, routes...)
		}
	}
	if len(t.Clients.Unreached) == 0 {
		t.Clients.Routes, t.Clients.Default = orEmpty(all), hasDefault(all)
	}
}

// peersOf returns the peers that name a server, where no other of its name stands
// next to them.
func (p *podView) peersOf(server *source.Object) []*source.Object {
	var out []*source.Object
	for _, o := range p.ix.ofKind(operatorGroup, "WireguardPeer") {
		name := root(o).get("spec", "wireguardRef").text()
		same := len(p.ix.byName[keyOf("Wireguard", server.Namespace, name)]) == 1 || path.Clean(o.Unit) == path.Clean(server.Unit)
		apart := p.ix.apart != nil && p.ix.apart(server, o)
		if name == server.Name && normalNamespace(o.Namespace) == normalNamespace(server.Namespace) && same && !apart {
			out = append(out, o)
		}
	}
	return out
}

// everyPrefix reads a list of prefixes; false when it is none or a part of it
// cannot be read.
func everyPrefix(n node) ([]PrefixAt, bool) {
	out := []PrefixAt{}
	for _, p := range grammar.ParsePrefixes(n.text(), 0, ", ") {
		at, valid := prefixAt(p, n.ref())
		if !valid {
			return nil, false
		}
		out = append(out, at)
	}
	return out, len(out) > 0
}

// resolversIn reads the addresses of a list; names in it are search domains.
func resolversIn(n node) []PrefixAt {
	out := []PrefixAt{}
	for _, p := range grammar.ParsePrefixes(n.text(), 0, ", ") {
		if at, valid := prefixAt(p, n.ref()); valid && p.Bare {
			out = append(out, at)
		}
	}
	return out
}
