package facts

import "slices"

func (r *forwardingReader) hostNetwork() {
	host := r.p.pod.HostNetwork
	if host.Value != "true" {
		return
	}
	// The node's own namespace forwards, or no pod on it would work (FG D1.8).
	for _, family := range []knob{forward4, forward6} {
		r.add(family, timed{at: -1, maybe: family == forward6, ForwardEvidence: ForwardEvidence{
			How: "host-network", Value: "1", Ref: host.Ref, Says: "hostNetwork: true", Effective: Present, When: "before",
		}})
	}
}

// nodes adds what the clusters guarantee to every pod. It counts only when all
// the clusters that the pod belongs to do.
func (r *forwardingReader) nodes() {
	if r.p.pod.HostNetwork.Value == "true" || len(r.p.clusters) == 0 {
		return
	}
	maybe := false
	var on []*Cluster
	for _, c := range r.p.clusters {
		switch r.onNodesOf(c).State {
		case Present:
			on = append(on, c)
		case Unknown:
			on, maybe = append(on, c), true
		default:
			maybe = true
		}
	}
	for _, c := range on {
		s := r.onNodesOf(c)
		r.add(forward4, timed{at: -1, maybe: maybe, ForwardEvidence: ForwardEvidence{
			How: "node", Value: "1", Ref: s.Ref, Says: s.Why, Effective: s.State, When: "before",
		}})
	}
}

// onNodesOf is what a cluster's nodes guarantee to this pod: where node pools
// differ, those that it may be scheduled to decide.
func (r *forwardingReader) onNodesOf(c *Cluster) Switch {
	if len(c.mixedPools) == 0 {
		return c.ForwardingOn
	}
	out := Switch{State: Absent}
	all := true
	for _, claim := range c.mixedPools {
		// The cluster's own nodeConfig is that of the pool that comes with it.
		pool := nodePool{name: defaultPool, labels: map[string]string{"cloud.google.com/gke-nodepool": defaultPool}}
		if claim.object != nil {
			i := slices.IndexFunc(r.p.ix.nodePools(), func(p nodePool) bool { return p.object == claim.object })
			if i < 0 {
				return c.ForwardingOn
			}
			pool = r.p.ix.nodePools()[i]
		}
		if _, misses := missesPool(r.p.spec, &pool); misses {
			continue
		}
		if all = all && claim.on; claim.on {
			out = Switch{State: Present, Ref: claim.ref, Why: "linuxNodeConfig.sysctls has " + claim.says}
		}
	}
	if out.State == Present && !all {
		return c.ForwardingOn
	}
	return out
}

func (r *forwardingReader) podSysctls() {
	for _, s := range r.p.spec.get("securityContext", "sysctls").items() {
		set := sysctlOf(s.get("name").text())
		if set.knob == noKnob {
			continue
		}
		text, given := s.get("value").str()
		if !given {
			text, _ = s.get("value").scalar()
		}
		e := ForwardEvidence{
			How: "pod-sysctl", Value: text, Ref: s.get("value").ref(), Says: s.get("name").text() + "=" + text,
			Effective: Present, When: "before",
		}
		if r.p.pod.HostNetwork.Value == "true" {
			e.Effective = Absent // refused with hostNetwork (FG D2.4)
		}
		r.write(set, text, timed{ForwardEvidence: e, at: -1})
	}
}

// containerSysctls reads the sysctls of a container's securityContext: Kubernetes
// has no such field, so they set nothing (FG D2.6).
func (r *forwardingReader) containerSysctls(c *containerView) {
	for _, s := range c.spec.get("securityContext", "sysctls").items() {
		set := sysctlOf(s.get("name").text())
		if set.knob == noKnob {
			continue
		}
		text, _ := s.get("value").scalar()
		r.write(set, text, timed{at: -1, ForwardEvidence: ForwardEvidence{
			How: "container-sysctl", Value: text, Container: c.c.Name, Ref: s.ref(), Says: s.get("name").text() + "=" + text,
			Effective: Absent, When: "before",
		}})
	}
}
