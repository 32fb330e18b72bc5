package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// awsNode reads the AWS VPC CNI (FG A4): pods' addresses are rewritten towards
// everything outside the VPC, but for AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS; bad
// entries of it are passed over. With EXTERNALSNAT nothing is rewritten, and that
// list is not read.
func (r *agentReader) awsNode(p *podView, c *containerView) {
	if !c.imageNamed(awsNodeImage) || c.c.Stage != Main {
		return
	}
	a := &Agent{Kind: agentAWS, Object: p.pod.Object, Ref: c.c.Ref, Container: c.c.Name, Workload: p.pod.Workload}
	known := r.place(a, p.object)
	external, exclude := c.env(awsExternal), c.env(awsExclude)
	list, rewrites := awsList(external, exclude)
	switch {
	case rewrites:
		return
	case list.Source == "unknown":
		list.Ref = c.c.Ref
		r.ix.gapAt(finding.Unresolved, p.object, c.c.Ref, "what "+p.pod.Object.String()+" rewrites", list.unread,
			"the source address on the way to a VPN is unknown", "VPN201", "VPN208")
	}
	a.List = list
	r.add(a, flags{}, known, r.cs.tied(p.object))
}

// The variables that say what the AWS VPC CNI leaves alone.
const (
	awsExternal = "AWS_VPC_K8S_CNI_EXTERNALSNAT"
	awsExclude  = "AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS"
)

// awsTrue reads a boolean as the CNI does, to which anything else is the default.
func awsTrue(v value) bool {
	on, err := strconv.ParseBool(v.Text)
	return v.State == Present && err == nil && on
}

// awsList is what the two make the AWS VPC CNI leave alone; rewrites reports that
// everything outside the VPC is rewritten.
func awsList(external, exclude value) (list List, rewrites bool) {
	switch {
	case external.State == Unknown || exclude.State == Unknown && !awsTrue(external):
		return unreadList(external.Ref, cmp.Or(external.Why, exclude.Why)), false
	case awsTrue(external):
		return List{Source: plannedNone, Ref: external.Ref, Why: awsExternal + "=" + clip(external.Text) + " keeps the pod's address everywhere", Valid: Unknown}, false
	case strings.TrimSpace(exclude.Text) != "":
		return List{
			Source: "explicit", Ref: exclude.Ref, Why: awsExclude, Valid: Present,
			Entries: slices.DeleteFunc(prefixList(exclude, ","), func(e PrefixAt) bool { return strings.Contains(e.Prefix, ":") }),
		}, false
	}
	return List{}, true
}

// awsAddons reads the same variables where no DaemonSet is in view: in the values of
// the CNI's chart, and in those of eksctl's addon, which are the chart's.
func (r *agentReader) awsAddons() {
	if r.unplaced {
		return
	}
	for _, f := range r.cs.founded {
		if f.Elsewhere || r.hasAgent(f.Name) || f.Plan.Masquerade.State != Absent && f.Plan.Masquerade.Value != agentAWS {
			continue
		}
		s := &masqScope{ix: r.ix, cs: r.cs, f: f}
		releases, known := s.releases("aws-vpc-cni")
		var found []*Agent
		for _, one := range releases {
			known = known && !one.hidden
			of := func(name string) value {
				n, state := one.values.lookup("env", name)
				return settingOf(n, state)
			}
			found = append(found, awsAddon(one.object, of))
		}
		for _, o := range r.ix.ofKind("eksctl.io", "ClusterConfig") {
			if s.here(o) {
				found = append(found, eksctlAddons(o)...)
			}
		}
		if known && len(found) == 1 && found[0] != nil {
			found[0].Cluster = f.Name
			r.add(found[0], flags{}, f, false)
		}
	}
}

// eksctlAddons are the CNI's addons of an eksctl configuration, nil for one that
// rewrites all, or whose values cannot be read.
func eksctlAddons(o *source.Object) []*Agent {
	var out []*Agent
	for _, addon := range root(o).get("addons").items() {
		if addon.get("name").text() != "vpc-cni" {
			continue
		}
		docs, broken := addon.get("configurationValues").documents()
		if len(docs) != 1 || len(broken) > 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, awsAddon(o, func(name string) value {
			n := docs[0].get("env", name)
			if !n.exists() {
				return settingOf(n, Absent)
			}
			return settingOf(n, Present)
		}))
	}
	return out
}

func awsAddon(o *source.Object, of func(name string) value) *Agent {
	list, rewrites := awsList(of(awsExternal), of(awsExclude))
	if rewrites || list.Source == "unknown" {
		return nil
	}
	return &Agent{Kind: agentAWS, Object: nameOf(o), Ref: list.Ref, List: list}
}

// settingOf is a chart's value as the variable that it becomes.
func settingOf(n node, state Known) value {
	text, is := n.scalar()
	switch {
	case state == Absent:
		return value{State: Absent}
	case state == Unknown || !is || placeholder(text) != "":
		return value{State: Unknown, Ref: n.ref(), Why: because("its value cannot be seen", noAdvice)}
	}
	return value{State: Present, Text: text, Ref: n.ref()}
}

// awsNodeImage is the AWS VPC CNI's.
const awsNodeImage = "amazon-k8s-cni"

// awsNodeRules: what the AWS VPC CNI rewrites on the nodes (FG A4). The ranges of
// the VPC are exempt, of which the nodes' are one: without them in view nothing is
// known of it.
func awsNodeRules(s *masqScope) []nodeMasquerade {
	nodes := s.ranges(cidrplan.Node)
	if len(nodes) == 0 {
		return nil
	}
	var out []nodeMasquerade
	for _, c := range s.running(awsNodeImage) {
		external, exclude := c.env(awsExternal), c.env(awsExclude)
		if external.State == Unknown || exclude.State == Unknown || awsTrue(external) {
			continue
		}
		exempt := slices.Concat(nodes, s.ranges(cidrplan.Pod), prefixesAt(prefixList(exclude, ",")))
		out = append(out, nodeMasquerade{ref: c.c.Ref, says: "the AWS VPC CNI (AWS_VPC_K8S_CNI_EXTERNALSNAT is not true)", exempt: exempt})
	}
	return out
}
