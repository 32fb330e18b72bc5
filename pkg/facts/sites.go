package facts

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const computeGroup = "compute.cnrm.cloud.google.com"

// readSites reads the VPNs of the node network: Cloud VPN tunnels with their
// traffic selectors, the routes that lead into them, and what their routers
// announce (FG B).
//
// A selector of 0.0.0.0/0 is how a route-based tunnel is written: it says
// nothing of where the tunnel leads or who may use it.
func readSites(ix *index, cs *clusterSet) []Site {
	var out []Site
	for _, o := range ix.cloud("VPNTunnel") {
		spec := cloudSpec(o)
		s := Site{Name: o.Name, Object: nameOf(o), Ref: root(o).ref()}
		s.Cluster, s.ClusterKnown = cs.named(o)
		s.Remote = ix.selectors(o, spec.get("remoteTrafficSelector"))
		for _, r := range ix.cloud("Route") {
			if ix.leadsInto(r, o) {
				s.Remote = append(s.Remote, ix.selectors(r, cloudSpec(r).get("destRange"))...)
			}
		}
		s.Remote = slices.DeleteFunc(orEmpty(s.Remote), isDefaultRoute)
		s.RemoteState = knownIf(len(s.Remote) > 0)
		s.Local = orEmpty(ix.selectors(o, spec.get("localTrafficSelector")))
		whole := true
		if len(s.Local) == 0 {
			s.Local, whole = ix.announced(o)
			s.Local = orEmpty(s.Local)
		}
		s.LocalState = knownIf(len(s.Local) > 0 && whole && !slices.ContainsFunc(s.Local, isDefaultRoute))
		out = append(out, s)
	}
	out = plannedSites(cs, out)
	slices.SortStableFunc(out, func(a, b Site) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), compareRefs(a.Ref, b.Ref))
	})
	return out
}

func knownIf(ok bool) Known {
	if ok {
		return Present
	}
	return Unknown
}

func isDefaultRoute(p PrefixAt) bool { return strings.HasSuffix(p.Prefix, "/0") }

// selectors reads a prefix or a list of them. What is no prefix is a gap: the
// tunnel may use more than is seen, but what is seen it uses.
func (ix *index) selectors(o *source.Object, n node) []PrefixAt {
	var out []PrefixAt
	for _, item := range append(n.texts(), n) {
		text, is := item.str()
		if !is {
			continue
		}
		e := grammar.ParsePrefix(strings.TrimSpace(text), 0)
		wrong := wrongRange("", e, true)
		if e.HostBits && strings.HasSuffix(o.Kind, "VPNTunnel") {
			wrong = "it has bits set right of its mask; the network is " + e.Prefix.String()
		}
		if wrong != "" {
			ix.invalidRange(InvalidRange{Ref: item.ref(), Text: text, Says: "a range of " + o.Kind, Why: wrong, Fate: fateOfCluster(o)})
		}
		if !e.Valid && wrong != "" {
			continue
		}
		if !e.Valid {
			ix.gapAt(finding.Unresolved, o, item.ref(), "the VPN range \""+clip(text)+"\" of "+nameOf(o).String(), because("it is no prefix", correctIt),
				"this destination is not held against the cluster's ranges and exemption lists", "VPN201", "VPN202", "VPN401")
			continue
		}
		out = append(out, PrefixAt{Prefix: e.Prefix.String(), Text: text, Ref: item.ref()})
	}
	return out
}

// cloud returns Google's objects of a kind: Config Connector's, and Crossplane's,
// which has the same fields under spec.forProvider (FG B).
func (ix *index) cloud(kind string) []*source.Object {
	out := ix.ofKind(computeGroup, "Compute"+kind)
	for _, group := range []string{"compute.gcp.upbound.io", "compute.gcp.m.upbound.io"} {
		out = append(out, ix.ofKind(group, kind)...)
	}
	return out
}

func cloudSpec(o *source.Object) node {
	if groupOf(o) == computeGroup {
		return root(o).get("spec")
	}
	return root(o).get("spec", "forProvider")
}

// block returns a nested block; older versions of Crossplane's API wrap it in a
// list of one.
func block(n node) node {
	if items := n.items(); len(items) == 1 {
		return items[0]
	}
	return n
}

// leadsInto reports whether a route's next hop is the tunnel.
func (ix *index) leadsInto(route, tunnel *source.Object) bool {
	return ix.refersTo(route, "nextHopVPNTunnel", tunnel) || ix.refersTo(route, "nextHopVpnTunnel", tunnel)
}

// refersTo resolves a reference: Config Connector's, by object name or by the name
// in Google's own path, or Crossplane's, by object name or Google's. A selector of
// Crossplane's is not followed.
func (ix *index) refersTo(from *source.Object, field string, to *source.Object) bool {
	if groupOf(from) != groupOf(to) {
		return false
	}
	spec := cloudSpec(from)
	ref := spec.get(field + "Ref")
	external := cmp.Or(ref.get("external").text(), spec.get(field).text())
	if external != "" && !ref.get("name").exists() {
		named := cmp.Or(root(to).get("spec", "resourceID").text(), root(to).get("metadata", "annotations", "crossplane.io/external-name").text(), to.Name)
		return path.Base(external) == named
	}
	name := ref.get("name").text()
	if name == "" || name != to.Name {
		return false
	}
	namespace, has := ref.get("namespace").str()
	if !has {
		namespace = from.Namespace
	}
	found, state := ix.find(to.Kind, namespace, name, from)
	return state == Present && (found == to || found.ID == to.ID)
}

// announced returns what the tunnel's router announces to the far side, when it has
// a list of its own: advertiseMode CUSTOM. whole is false where it announces all
// subnets besides. Peers that announce something else make it unknown.
func (ix *index) announced(tunnel *source.Object) (list []PrefixAt, whole bool) {
	for _, router := range ix.cloud("Router") {
		if !ix.refersTo(tunnel, "router", router) {
			continue
		}
		bgp := block(cloudSpec(router).get("bgp"))
		if bgp.get("advertiseMode").text() != "CUSTOM" {
			return nil, false
		}
		whole = !slices.ContainsFunc(bgp.get("advertisedGroups").texts(), func(group node) bool { return group.text() == "ALL_SUBNETS" })
		for _, peer := range ix.cloud("RouterPeer") {
			if cloudSpec(peer).get("advertiseMode").exists() && ix.refersTo(peer, "router", router) {
				return nil, false
			}
		}
		for _, entry := range bgp.get("advertisedIpRanges").items() {
			list = append(list, ix.selectors(router, entry.get("range"))...)
		}
		return list, whole
	}
	return nil, false
}

// parsed returns the prefixes of a list.
func parsed(list []PrefixAt) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range list {
		if q, err := netip.ParsePrefix(p.Prefix); err == nil {
			out = append(out, q.Masked())
		}
	}
	return out
}
