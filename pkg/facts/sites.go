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
	for _, o := range ix.ofKind(computeGroup, "ComputeVPNTunnel") {
		spec := root(o).get("spec")
		s := Site{Name: o.Name, Object: nameOf(o), Ref: root(o).ref()}
		s.Cluster, s.ClusterKnown = cs.named(o)
		s.Remote = ix.selectors(o, spec.get("remoteTrafficSelector"))
		for _, r := range ix.ofKind(computeGroup, "ComputeRoute") {
			if ix.leadsInto(r, o) {
				s.Remote = append(s.Remote, ix.selectors(r, root(r).get("spec", "destRange"))...)
			}
		}
		s.Remote = slices.DeleteFunc(orEmpty(s.Remote), isDefaultRoute)
		s.RemoteState = knownIf(len(s.Remote) > 0)
		s.Local = orEmpty(ix.selectors(o, spec.get("localTrafficSelector")))
		if len(s.Local) == 0 {
			s.Local = orEmpty(ix.announced(o, spec.get("routerRef")))
		}
		s.LocalState = knownIf(len(s.Local) > 0 && !slices.ContainsFunc(s.Local, isDefaultRoute))
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
		if e.HostBits && o.Kind == "ComputeVPNTunnel" {
			wrong = "it has bits set right of its mask; the network is " + e.Prefix.String()
		}
		if wrong != "" {
			ix.invalidRange(InvalidRange{Ref: item.ref(), Text: text, Says: "a range of " + o.Kind, Why: wrong, Fate: fateOfCluster(o)})
		}
		if !e.Valid && wrong != "" {
			continue
		}
		if !e.Valid {
			ix.gapAt(finding.Unresolved, o, item.ref(), "the VPN range \""+clip(text)+"\" of "+nameOf(o).String(), "it is no prefix",
				"this destination is not held against the cluster's ranges and exemption lists", "VPN201", "VPN202", "VPN401")
			continue
		}
		out = append(out, PrefixAt{Prefix: e.Prefix.String(), Text: text, Ref: item.ref()})
	}
	return out
}

// leadsInto reports whether a route's next hop is the tunnel.
func (ix *index) leadsInto(route, tunnel *source.Object) bool {
	return ix.refersTo(route, root(route).get("spec", "nextHopVPNTunnelRef"), tunnel)
}

// refersTo resolves a Config Connector reference: by object name, or by the
// name in Google's own path.
func (ix *index) refersTo(from *source.Object, ref node, to *source.Object) bool {
	if external := ref.get("external").text(); external != "" {
		return path.Base(external) == cmp.Or(root(to).get("spec", "resourceID").text(), to.Name)
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

// announced returns what the tunnel's router announces to the far side, when
// that is a list of its own: advertiseMode CUSTOM without all subnets. Peers
// that announce something else make it unknown.
func (ix *index) announced(tunnel *source.Object, ref node) []PrefixAt {
	for _, router := range ix.ofKind(computeGroup, "ComputeRouter") {
		if !ix.refersTo(tunnel, ref, router) {
			continue
		}
		bgp := root(router).get("spec", "bgp")
		if bgp.get("advertiseMode").text() != "CUSTOM" {
			return nil
		}
		for _, group := range bgp.get("advertisedGroups").texts() {
			if group.text() == "ALL_SUBNETS" {
				return nil
			}
		}
		for _, peer := range ix.ofKind(computeGroup, "ComputeRouterPeer") {
			spec := root(peer).get("spec")
			if spec.get("advertiseMode").exists() && ix.refersTo(peer, spec.get("routerRef"), router) {
				return nil
			}
		}
		var out []PrefixAt
		for _, entry := range bgp.get("advertisedIpRanges").items() {
			out = append(out, ix.selectors(router, entry.get("range"))...)
		}
		return out
	}
	return nil
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
