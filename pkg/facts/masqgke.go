package facts

// managed: a GKE cluster without an agent in view keeps the pod's address
// towards the default destinations, and towards everything when default SNAT is
// off (FG A2.3).
func (r *agentReader) managed() {
	if r.unplaced {
		return
	}
	for _, f := range r.cs.founded {
		if f.gke == nil || r.hasAgent(f.Name) {
			continue
		}
		spec := root(f.gke).get("spec")
		if spec.get("enableAutopilot").boolean() != Absent && len(r.ix.ofKind("networking.gke.io", "EgressNATPolicy")) > 0 {
			continue // Autopilot's policies decide (FG A2.7)
		}
		a := &Agent{Kind: agentGKE, Object: nameOf(f.gke), Ref: root(f.gke).ref(), Workload: "containercluster/" + f.gke.Name, Cluster: f.Name}
		disabled := spec.get("defaultSnatStatus", "disabled")
		a.List = List{Ref: disabled.ref(), Valid: Unknown}
		switch disabled.boolean() {
		case Present:
			a.List.Source, a.List.Why = "none", "defaultSnatStatus.disabled keeps the pod's address everywhere"
		case Absent:
			a.List.Source, a.List.Why = "default", "no list is in view and defaultSnatStatus.disabled is not true"
		default:
			a.List.Source, a.List.Why = "unknown", "defaultSnatStatus.disabled cannot be read"
		}
		r.add(a, flags{allReserved: Present}, f, false)
	}
}
