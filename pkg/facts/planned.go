package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// The plan's names of masquerade agents that mean something here.
const (
	plannedNone      = "none" // nothing rewrites pod addresses
	plannedAutopilot = "gke-autopilot"
)

// carriesInPod reports whether the plan says that a workload's own tunnel
// carries a VPN: nobody but its pods is on that path.
func (v *PlannedVPN) carriesInPod() bool {
	switch v.Tunnel.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob":
		return true
	default:
		return false
	}
}

// plannedSites adds the VPNs of the plan to the sites of the tree. One that
// names its tunnel tells what the tunnel itself leaves open.
func plannedSites(cs *clusterSet, sites []Site) []Site {
	byRef := map[source.Ref]int{}
	for i := range slices.Backward(sites) {
		byRef[sites[i].Ref] = i
	}
	for _, f := range cs.founded {
		if !f.Planned || f.Elsewhere {
			continue
		}
		for i := range f.Plan.VPN {
			v := &f.Plan.VPN[i]
			destinations := slices.DeleteFunc(slices.Clone(v.Destinations), isDefaultRoute)
			if v.carriesInPod() || len(destinations) == 0 {
				continue
			}
			if at, named := byRef[v.Tunnel.Object]; named && !v.Tunnel.Object.IsZero() {
				s := &sites[at]
				if s.RemoteState != Present {
					s.Remote, s.RemoteState = destinations, Present
				}
				if s.LocalState != Present && len(v.LocalTrafficSelectors) > 0 {
					s.Local, s.LocalState = v.LocalTrafficSelectors, Present
				}
				continue
			}
			sites = append(sites, Site{
				Name: v.Name, Object: finding.ObjectName{APIVersion: source.PlanAPIVersion, Kind: "VPN", Name: v.Name}, Ref: v.Ref,
				Cluster: f.Name, ClusterKnown: Present, Planned: true, RemoteState: Present, Remote: destinations,
				LocalState: knownIf(len(v.LocalTrafficSelectors) > 0), Local: v.LocalTrafficSelectors,
			})
		}
	}
	return sites
}

// leading are the VPNs of a plan by the ranges that they lead to: the first of
// several with one range.
type leading map[netip.Prefix]*PlannedVPN

// leading indexes the plan's VPNs, but for those that only a workload's pods use.
func (p *PlannedCluster) leading() leading {
	out := leading{}
	for i := range p.VPN {
		v := &p.VPN[i]
		if v.carriesInPod() {
			continue
		}
		for _, d := range parsed(v.Destinations) {
			if _, ok := out[d]; !ok && d.Bits() > 0 {
				out[d] = v
			}
		}
	}
	return out
}

// to returns the VPN that leads to a destination, the one with the narrowest
// range of several; nil for none. It looks up each length once, however many VPNs
// there are.
func (l leading) to(remote netip.Prefix) *PlannedVPN {
	if len(l) == 0 {
		return nil
	}
	for bits := remote.Bits(); bits > 0; bits-- {
		if v := l[netip.PrefixFrom(remote.Addr(), bits).Masked()]; v != nil {
			return v
		}
	}
	return nil
}

// byTunnel returns the VPN to a destination that the plan says a workload's own tunnel
// carries.
func (p *PlannedCluster) byTunnel(s *Site, remote netip.Prefix) *PlannedVPN {
	for i := range p.VPN {
		v := &p.VPN[i]
		if v.Tunnel.Kind == s.Object.Kind && v.Tunnel.Name == s.Object.Name && cidrplan.Contains(parsed(v.Destinations), []netip.Prefix{remote}) {
			return v
		}
	}
	return nil
}

// wants is the choice of a source address that the plan records; false for none.
func (v *PlannedVPN) wants() (answer, why string, at source.Ref, recorded bool) {
	if v == nil || v.SourceAddress.State != Present {
		return "", "", source.Ref{}, false
	}
	why = "the plan says so"
	if v.Reason.State == Present {
		why += " (" + clip(v.Reason.Value) + ")"
	}
	return v.SourceAddress.Value, why, v.SourceAddress.Ref, true
}

// farSide is the source address that the far side can answer by what the plan says
// of its return routes and of what it allows; "" where it says neither, or where
// these hold a part of the pod range.
func (v *PlannedVPN) farSide(pods []netip.Prefix) (answer, why string, at source.Ref) {
	if v == nil || len(pods) == 0 {
		return "", "", source.Ref{}
	}
	for _, said := range []struct {
		list []PrefixAt
		verb string
	}{{v.ReturnRoutes, "routes back"}, {v.FarSideAllows, "lets in"}} {
		if len(said.list) == 0 {
			continue
		}
		list, says := parsed(said.list), "the far side "+said.verb+" "+sayPrefixes(said.list)
		switch {
		case !cidrplan.Overlaps(list, pods):
			return "node", says + " only, which holds no pod address", said.list[0].Ref
		case !cidrplan.Contains(list, pods):
			return "", "", source.Ref{}
		case answer == "":
			answer, why, at = "pod", says+", which holds the pod range", said.list[0].Ref
		}
	}
	return answer, why, at
}

// sayPrefixes lists prefixes in a sentence.
func sayPrefixes(list []PrefixAt) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Prefix)
	}
	return strings.Join(out, ", ")
}

// lacks are the steps of the path to a destination that leave a part of the pod
// range out: the selectors of the tunnel, and what the plan knows of the far
// side.
func lacks(s *Site, v *PlannedVPN, pods []netip.Prefix) []PathLack {
	out := []PathLack{}
	step := func(kind string, list []PrefixAt) {
		if len(list) == 0 {
			return
		}
		if outside := cidrplan.Subtract(pods, parsed(list)); len(outside) > 0 {
			out = append(out, PathLack{Kind: kind, Ref: list[0].Ref, Outside: written(outside)})
		}
	}
	if s.LocalState == Present {
		step("selectors", s.Local)
	}
	if v != nil {
		if s.LocalState != Present {
			step("selectors", v.LocalTrafficSelectors)
		}
		step("return-route", v.ReturnRoutes)
		step("far-side", v.FarSideAllows)
	}
	return out
}

// plannedAgents: what the plan says of a cluster in which no agent and no list
// is in view.
func (r *agentReader) plannedAgents() {
	for _, f := range r.cs.founded {
		if !f.Planned || f.Elsewhere || f.gke != nil || r.unplaced || r.hasAgent(f.Name) {
			continue
		}
		m := f.Plan.Masquerade
		a := &Agent{Object: finding.ObjectName{APIVersion: source.PlanAPIVersion, Kind: source.PlanKind, Name: f.Name}, Ref: m.Ref, Cluster: f.Name}
		a.List = List{Ref: m.Ref, Valid: Unknown}
		switch m.Value {
		case agentGKE:
			a.Kind, a.List.Source, a.List.Why = agentGKE, "default", "no list is in view, and the plan says that GKE runs the agent"
		case plannedNone:
			a.Kind, a.List.Source, a.List.Why = plannedNone, plannedNone, "the plan says that nothing rewrites pod addresses"
		default:
			continue
		}
		r.add(a, flags{allReserved: Present}, f, false)
	}
}

// plannedElsewise: the plan names another masquerader than one that reads this
// list, so that the list decides nothing. That it lies about is VPN207's.
func plannedElsewise(a *Agent, m Setting) {
	switch {
	case m.State != Present, m.Value == agentUpstream, m.Value == agentGKE, m.Value == a.Kind:
	case m.Value == plannedNone:
		a.List.Source, a.List.Why, a.List.Valid = plannedNone, "the plan says that nothing rewrites pod addresses", Unknown
		a.List.Entries, a.List.Refused = nil, nil
	default:
		a.List.Source, a.List.Why, a.List.Valid = "unknown", "the plan says masquerade.agent: "+clip(m.Value)+", which does not read this list", Unknown
		a.List.Entries, a.List.Refused = nil, nil
	}
}

// plannedPools are the node pools that the plan declares.
func plannedPools(cs *clusterSet) []nodePool {
	var out []nodePool
	for _, f := range cs.founded {
		if f.Elsewhere {
			continue
		}
		for _, p := range f.Plan.NodePools {
			pool := nodePool{name: p.Name, object: cs.ix.byID[p.Ref.Object], ref: p.Ref, cluster: f, labels: p.Labels}
			for _, t := range p.Taints {
				at := taintAt{ref: t.Ref}
				at.Key, at.Value, at.Effect = t.Key, t.Value, effect(t.Effect)
				pool.taints = append(pool.taints, at)
			}
			out = append(out, pool)
		}
	}
	return out
}

// plannedKubelet is the list of unsafe sysctls that the plan says all kubelets
// of a cluster allow.
func (p *PlannedCluster) plannedKubelet() []kubeletList {
	if len(p.AllowedUnsafeSysctls) == 0 {
		return nil
	}
	l := kubeletList{ref: p.AllowedUnsafeSysctls[0].Ref}
	for _, at := range p.AllowedUnsafeSysctls {
		l.patterns = append(l.patterns, at.Text)
	}
	return []kubeletList{l}
}
