package lint

import (
	"slices"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// reading is one look at objects in which each belongs to one planned cluster at
// most.
type reading struct {
	objects []*source.Object
	// here says what belongs to which planned cluster; nil without a plan.
	here    []facts.Members
	cluster map[source.ObjectID]string
}

// readings cuts a group so that inputs that belong to several clusters of the
// plan are looked at once for each of them: what is true in one cluster says
// nothing of another. Clusters that share no input share a reading, so that a
// repository with a directory for each cluster is read once. What no cluster
// claims is part of the first reading.
func readings(objects []*source.Object, plan *config.Config) []reading {
	if !plan.HasClusters() {
		return []reading{{objects: objects}}
	}
	members := make([]map[source.ObjectID]bool, len(plan.Clusters))
	for i := range members {
		members[i] = map[source.ObjectID]bool{}
	}
	out := []reading{{cluster: map[source.ObjectID]string{}}}
	unclaimed := map[source.ObjectID]bool{}
	byPath := map[string][]int{}
	for _, o := range objects {
		clusters := plan.Named(o.Cluster)
		if o.Cluster == "" {
			known, ok := byPath[o.Path]
			if !ok {
				known = plan.Members(o.Path)
				byPath[o.Path] = known
			}
			clusters = known
		}
		unclaimed[o.ID] = len(clusters) == 0
		for _, i := range clusters {
			members[i][o.ID] = true
		}
	}
	for i, of := range members {
		at := slices.IndexFunc(out, func(r reading) bool { return !r.meets(of) })
		if at < 0 {
			at = len(out)
			out = append(out, reading{cluster: map[source.ObjectID]string{}})
		}
		out[at].here = append(out[at].here, facts.Members{Cluster: i, Objects: of})
		for id := range of {
			out[at].cluster[id] = plan.Clusters[i].Name
		}
	}
	for i := range out {
		for _, o := range objects {
			if _, in := out[i].cluster[o.ID]; in || i == 0 && unclaimed[o.ID] {
				out[i].objects = append(out[i].objects, o)
			}
		}
	}
	return out
}

// meets reports whether one of the objects belongs to a cluster of the reading.
func (r reading) meets(objects map[source.ObjectID]bool) bool {
	for id := range objects {
		if _, in := r.cluster[id]; in {
			return true
		}
	}
	return false
}

// options are those with which the facts of a reading are read.
func (r reading) options(plan *config.Config) facts.Options {
	if r.here == nil {
		return facts.Options{}
	}
	return facts.Options{Plan: plan.Plan, Here: r.here}
}

// everything is what findings of a reading may point at: its objects, and the
// plan file.
func (r reading) everything(plan *config.Config) []*source.Object {
	if plan == nil {
		return r.objects
	}
	return append(slices.Clip(r.objects), plan.Plan)
}

// settle gives findings the severities of the plan file and the cluster of what
// they are about where the rule did not name any, and leaves out those of rules
// that are off.
func (r reading) settle(findings []finding.Finding, plan *config.Config) []finding.Finding {
	findings = applySeverities(findings, plan)
	for i := range findings {
		if f := &findings[i]; len(f.Clusters) == 0 && r.cluster[f.ObjectID] != "" {
			f.Clusters = []string{r.cluster[f.ObjectID]}
		}
	}
	return findings
}

func applySeverities(findings []finding.Finding, plan *config.Config) []finding.Finding {
	if plan == nil || len(plan.Severities) == 0 {
		return findings
	}
	var out []finding.Finding
	for _, f := range findings {
		if plan.Off(f.Rule) {
			continue
		}
		if severity, named := plan.Severities[f.Rule]; named {
			f.Severity = severity
		}
		out = append(out, f)
	}
	return out
}
