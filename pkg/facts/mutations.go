package facts

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// mutation is a policy of the tree that changes pods when they are admitted. What
// a pod is afterwards is not worked out: what such a policy may add is unknown.
type mutation struct {
	object *source.Object
	// at is the rule or field that changes pods.
	at node
	// network: it speaks of sysctls, init containers or the host network, security
	// of privileges, capabilities or users.
	network, security bool
	// namespaces and excluded are patterns, none for all; selector chooses pods by
	// their labels.
	namespaces, excluded []node
	selector             node
	// kinds are those of the objects that it changes, nil for all.
	kinds map[string]bool
}

// readMutations finds the policies of Kyverno, Gatekeeper and Kubernetes itself
// that change what this program judges.
func readMutations(ix *index) []mutation {
	var out []mutation
	add := func(m mutation, changes ...node) {
		m.speaksOf(changes)
		if m.network || m.security {
			out = append(out, m)
		}
	}
	for _, kind := range []string{"ClusterPolicy", "Policy"} {
		for _, o := range ix.ofKind("kyverno.io", kind) {
			for _, m := range kyvernoMutations(o) {
				add(m, m.at)
			}
		}
	}
	for _, kind := range []string{"Assign", "ModifySet"} {
		for _, o := range ix.ofKind("mutations.gatekeeper.sh", kind) {
			spec := root(o).get("spec")
			match := spec.get("match")
			add(mutation{
				object: o, at: spec.get("location"), selector: match.get("labelSelector"),
				namespaces: match.get("namespaces").texts(), excluded: match.get("excludedNamespaces").texts(),
				kinds: appliedTo(spec.get("applyTo")),
			}, spec.get("location"), spec.get("parameters"))
		}
	}
	for group, kind := range map[string]string{"admissionregistration.k8s.io": "MutatingAdmissionPolicy", "policies.kyverno.io": "MutatingPolicy"} {
		for _, o := range ix.ofKind(group, kind) {
			spec := root(o).get("spec")
			add(mutation{object: o, at: spec.get("mutations"), kinds: constrainedTo(spec.get("matchConstraints"))}, spec.get("mutations"))
		}
	}
	slices.SortStableFunc(out, func(a, b mutation) int { return compareRefs(a.at.ref(), b.at.ref()) })
	return out
}

// speaksOf tells what the changes are about.
func (m *mutation) speaksOf(changes []node) {
	var text strings.Builder
	for _, n := range changes {
		raw, err := json.Marshal(n.val)
		if err == nil && n.exists() {
			text.WriteString(strings.ToLower(string(raw)))
		}
	}
	speaks := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text.String(), w) })
	}
	m.network = speaks("sysctl", "ip_forward", "initcontainers", "hostnetwork")
	m.security = speaks("securitycontext", "privileged", "capabilities", "procmount", "runas")
}

// kyvernoMutations are the rules of a policy of Kyverno that change what is
// admitted; those with targets change what is there.
func kyvernoMutations(o *source.Object) []mutation {
	var out []mutation
	for _, rule := range root(o).get("spec", "rules").items() {
		mutate := rule.get("mutate")
		if !mutate.exists() || mutate.get("targets").exists() {
			continue
		}
		for _, m := range kyvernoMatches(rule) {
			m.object, m.at = o, mutate
			out = append(out, m)
		}
	}
	return out
}

// kyvernoMatches are the resources that a rule of Kyverno is for, as far as they
// are pods or what makes them.
func kyvernoMatches(rule node) []mutation {
	match := rule.get("match")
	list := append(match.get("any").items(), match.get("all").items()...)
	if len(list) == 0 {
		list = []node{match}
	}
	var out []mutation
	for _, m := range list {
		resources := m.get("resources")
		kinds := resources.get("kinds").texts()
		if changed := kindsAmong(kinds, path.Base); len(changed) > 0 {
			out = append(out, mutation{namespaces: resources.get("namespaces").texts(), selector: resources.get("selector"), kinds: changed})
		}
	}
	return out
}

// podKinds are the kinds of objects that are pods or make them, with their API
// groups.
var podKinds = map[string]string{
	"Pod": "", "ReplicationController": "", "Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "ReplicaSet": "apps",
	"Job": "batch", "CronJob": "batch",
}

// kindsAmong returns those of podKinds that a list names, after a reading of its
// texts. What a template is to fill in may be any.
func kindsAmong(names []node, read func(string) string) map[string]bool {
	kinds := map[string]bool{}
	for _, n := range names {
		for kind := range podKinds {
			if name := read(n.text()); name == kind || name == "*" || placeholder(n.text()) != "" {
				kinds[kind] = true
			}
		}
	}
	return kinds
}

// appliedTo reads the applyTo of a mutation of Gatekeeper.
func appliedTo(list node) map[string]bool {
	if len(list.items()) == 0 {
		return nil
	}
	kinds := map[string]bool{}
	for _, entry := range list.items() {
		maps.Copy(kinds, kindsAmong(entry.get("kinds").texts(), func(name string) string { return name }))
	}
	return kinds
}

// constrainedTo reads the matchConstraints of a policy of Kubernetes itself, which
// name resources: one for Jobs changes no pods of a Deployment. A policy without
// any may be bound to all.
func constrainedTo(constraints node) map[string]bool {
	rules := constraints.get("resourceRules").items()
	if len(rules) == 0 {
		return nil
	}
	kinds := map[string]bool{}
	for _, rule := range rules {
		groups := rule.get("apiGroups").texts()
		for _, n := range rule.get("resources").texts() {
			for kind, group := range podKinds {
				resource := n.text()
				named := resource == "*" || resource == "*/*" || resource == strings.ToLower(kind)+"s" || placeholder(resource) != ""
				if named && (len(groups) == 0 || slices.ContainsFunc(groups, func(g node) bool {
					return g.text() == group || g.text() == "*" || placeholder(g.text()) != ""
				})) {
					kinds[kind] = true
				}
			}
		}
	}
	return kinds
}

// changesKind reports whether the policy changes an object of a kind, or one that
// Kubernetes makes of it on the way to its pods. An operator may make them of
// anything.
func (m mutation) changesKind(kind string) bool {
	if _, known := podKinds[kind]; m.kinds == nil || !known {
		return m.kinds == nil || len(m.kinds) > 0
	}
	made := map[string]string{"Deployment": "ReplicaSet", "CronJob": "Job"}[kind]
	return m.kinds[kind] || m.kinds["Pod"] || m.kinds[made]
}

// concerns reports whether the policy may act on a pod.
func (m mutation) concerns(p *podView) bool {
	namespace := normalNamespace(p.pod.Namespace)
	fits := func(pattern node) bool {
		ok, err := path.Match(pattern.text(), namespace)
		return ok || err != nil || placeholder(pattern.text()) != ""
	}
	switch {
	case !m.changesKind(p.object.Kind),
		p.ix.apart != nil && p.ix.apart(p.object, m.object),
		m.object.Kind == "Policy" && normalNamespace(m.object.Namespace) != namespace,
		len(m.namespaces) > 0 && !slices.ContainsFunc(m.namespaces, fits),
		slices.ContainsFunc(m.excluded, fits),
		selects(m.selector, p.pod.Labels) == Absent:
		return false
	}
	return true
}

// mutated turns what policies may change into unknowns, and says so once.
func (p *podView) mutated() {
	if p.pod.Role == None || p.pod.Role == Control {
		return
	}
	for _, m := range p.ix.mutations() {
		if !m.concerns(p) {
			continue
		}
		pod := p.pod
		changed := false
		blurred := func(s *Known, from Known) {
			if *s == from {
				*s, changed = Unknown, true
			}
		}
		if m.network {
			for _, s := range []*Known{
				&pod.Forwarding.IPv4.State, &pod.Forwarding.IPv6.State, &pod.Forwarding.IPv6Off, &pod.SrcValidMark.State, &pod.LooseFilter.State, &pod.IPv6Off.State,
			} {
				blurred(s, Absent)
			}
		}
		if m.security {
			for i := range pod.Containers {
				blurred(&pod.Containers[i].Privileged, Absent)
				blurred(&pod.Containers[i].NonRoot.State, Present)
			}
			for _, list := range [][]ForwardEvidence{pod.Forwarding.IPv4.Evidence, pod.Forwarding.IPv6.Evidence, pod.SrcValidMark.Evidence} {
				for i := range list {
					blurred(&list[i].Effective, Absent)
				}
			}
			blurred(&pod.Forwarding.IPv4.State, Absent)
			blurred(&pod.Forwarding.IPv6.State, Absent)
			changed = changed || len(pod.Rejections) > 0
			pod.Rejections = nil
		}
		if changed {
			p.ix.gapAt(finding.Unmodelled, p.object, m.at.ref(), "what "+m.object.Kind+" "+qualified(m.object.Namespace, m.object.Name)+" changes in "+pod.Object.String(),
				because("policies that change pods are not applied here", "lint what they make of it"),
				"sysctls, privileges and init containers that it may add are not known: rules about forwarding and privileges stay silent about this pod",
				"VPN101", "VPN102", "VPN105", "VPN108", "VPN112")
		}
	}
}
