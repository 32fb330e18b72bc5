package facts

import (
	"cmp"
	"net/netip"
	"path"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// The groups of the operators whose objects are peers of a WireGuard interface.
const (
	operatorGroup = "vpn.wireguard-operator.io"
	kiloGroup     = "kilo.squat.ai"
)

// readPeerGroups reads the peers that operators put on one interface: those of
// a server of wireguard-operator, and those of Kilo's mesh (FG C2). Peers whose
// cluster is not known are left out. Directories may stand for clusters that
// nothing declares, so two of them are joined only by the plan's word, by a
// cluster that is declared in a directory around both, or by the one server of
// the tree that stands there.
func readPeerGroups(ix *index, cs *clusterSet) []PeerGroup {
	r := peerGroups{ix: ix, cs: cs, at: map[peerGroupKey]int{}}
	for _, o := range ix.ofKind(operatorGroup, "WireguardPeer") {
		r.wireguardPeer(o)
	}
	for _, o := range ix.ofKind(kiloGroup, "Peer") {
		r.kiloPeer(o)
	}
	return r.out
}

type peerGroupKey struct{ cluster, unit, server string }

type peerGroups struct {
	ix  *index
	cs  *clusterSet
	at  map[peerGroupKey]int
	out []PeerGroup
}

// wireguardPeer: the server sends a peer its one address. Its allowedIPs are
// for the client's file.
func (r *peerGroups) wireguardPeer(o *source.Object) {
	spec := root(o).get("spec")
	server, is := spec.get("wireguardRef").str()
	address := spec.get("address")
	addr, err := netip.ParseAddr(address.text())
	if !is || server == "" || err != nil || spec.get("disabled").boolean() != Absent {
		return
	}
	says := "the server Wireguard " + qualified(o.Namespace, server)
	r.add(o, says, r.around(o, server), Peer{
		Ref: address.ref(), Interface: "wg0", PublicKey: r.identity(o, spec), Table: "auto",
		AllowedIPs: []PrefixAt{{Prefix: netip.PrefixFrom(addr, addr.BitLen()).String(), Text: address.text(), Ref: address.ref()}},
	})
}

// kiloPeer: every node of the mesh has a route for each of its allowedIPs.
func (r *peerGroups) kiloPeer(o *source.Object) {
	spec := root(o).get("spec")
	p := Peer{
		Ref: spec.ref(), Interface: "kilo0", PublicKey: r.identity(o, spec), Endpoint: spec.get("endpoint").exists(),
		EndpointAddress: spec.get("endpoint", "dnsOrIP", "ip").text(), Table: "auto", AllowedIPs: []PrefixAt{},
	}
	for _, item := range spec.get("allowedIPs").texts() {
		if at, valid := prefixAt(grammar.ParsePrefix(item.text(), 0), item.ref()); valid {
			p.AllowedIPs = append(p.AllowedIPs, at)
		}
	}
	if len(p.AllowedIPs) > 0 {
		r.add(o, "Kilo's mesh", "", p)
	}
}

// kiloPeers are the networks to which the nodes of Kilo's mesh have routes by its
// peers. What lies in the mesh's own subnet is one of its clients, not a network.
func kiloPeers(ix *index, cs *clusterSet) []cidrplan.Claim {
	var out []cidrplan.Claim
	for _, o := range ix.ofKind(kiloGroup, "Peer") {
		f := cs.one(o)
		if f == nil || f.Elsewhere {
			continue
		}
		for _, item := range root(o).get("spec", "allowedIPs").texts() {
			at, valid := prefixAt(grammar.ParsePrefix(item.text(), 0), item.ref())
			for _, prefix := range parsed([]PrefixAt{at}) {
				if !valid || leadsEverywhere(prefix) || f.meshHolds(prefix) {
					continue
				}
				out = append(out, cidrplan.Claim{
					Cluster: f.Name, Role: cidrplan.VPN, Prefix: prefix, At: at.Ref, Says: "allowedIPs", Strength: cidrplan.Declared, Owner: nameOf(o).String(),
				})
			}
		}
	}
	return out
}

// meshHolds: the prefix lies in the range of a mesh on the cluster's nodes.
func (f *founded) meshHolds(prefix netip.Prefix) bool {
	return slices.ContainsFunc(f.claims, func(c cidrplan.Claim) bool {
		return c.Role == cidrplan.Pool && c.Prefix.IsValid() && c.Prefix.Bits() <= prefix.Bits() && c.Prefix.Contains(prefix.Addr())
	})
}

// around returns the directory of a peer's server, "" where the tree has none or
// several of the name, or it stands elsewhere.
func (r *peerGroups) around(o *source.Object, server string) string {
	have := r.ix.byName[keyOf("Wireguard", o.Namespace, server)]
	if len(have) != 1 || groupOf(have[0]) != operatorGroup || !encloses(path.Clean(have[0].Unit), path.Clean(o.Unit)) {
		return ""
	}
	return path.Clean(have[0].Unit)
}

// identity tells peers apart: by their key, else, where the operator makes one
// for each object, by the object.
func (r *peerGroups) identity(o *source.Object, spec node) string {
	key := spec.get("publicKey").text()
	if placeholder(key) != "" {
		key = ""
	}
	return cmp.Or(key, qualified(o.Namespace, o.Name))
}

// add puts a peer to those of its server, or mesh; home is the directory that is
// known to belong together, "" for the object's own.
func (r *peerGroups) add(o *source.Object, says, home string, p Peer) {
	f := r.cs.one(o)
	if f == nil && r.cs.tied(o) {
		return
	}
	key := peerGroupKey{server: says, unit: cmp.Or(home, path.Clean(o.Unit))}
	if f != nil {
		key.cluster = f.Name
		switch {
		case f.Planned:
			key.unit = ""
		case f.Unit != "." && encloses(f.Unit, path.Clean(o.Unit)):
			key.unit = f.Unit
		}
	}
	i, have := r.at[key]
	if !have {
		i = len(r.out)
		r.at[key] = i
		r.out = append(r.out, PeerGroup{Says: says, Cluster: key.cluster})
	}
	g := &r.out[i]
	// One object may be rendered several times.
	if !slices.ContainsFunc(g.Peers, func(have Peer) bool { return have.Ref == p.Ref }) {
		g.Peers = append(g.Peers, p)
	}
}
