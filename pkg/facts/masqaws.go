package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
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
	external, exclude := c.env("AWS_VPC_K8S_CNI_EXTERNALSNAT"), c.env("AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS")
	switch {
	case external.State == Unknown || exclude.State == Unknown && !isTrue(external):
		why := cmp.Or(external.Why, exclude.Why)
		a.List = unreadList(c.c.Ref, why)
		r.ix.gapAt(finding.Unresolved, p.object, c.c.Ref, "what "+p.pod.Object.String()+" rewrites", why,
			"the source address on the way to a VPN is unknown", "VPN201", "VPN208")
	case isTrue(external):
		a.List = List{Source: plannedNone, Ref: external.Ref, Why: "AWS_VPC_K8S_CNI_EXTERNALSNAT=" + clip(external.Text) + " keeps the pod's address everywhere", Valid: Unknown}
	case strings.TrimSpace(exclude.Text) != "":
		a.List = List{
			Source: "explicit", Ref: exclude.Ref, Why: "AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS", Valid: Present,
			Entries: slices.DeleteFunc(prefixList(exclude, ","), func(e PrefixAt) bool { return strings.Contains(e.Prefix, ":") }),
		}
	default:
		return // everything outside the VPC is rewritten
	}
	r.add(a, flags{}, known, r.cs.tied(p.object))
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
		external, exclude := c.env("AWS_VPC_K8S_CNI_EXTERNALSNAT"), c.env("AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS")
		if external.State == Unknown || exclude.State == Unknown || isTrue(external) {
			continue
		}
		exempt := slices.Concat(nodes, s.ranges(cidrplan.Pod), prefixesAt(prefixList(exclude, ",")))
		out = append(out, nodeMasquerade{ref: c.c.Ref, says: "the AWS VPC CNI (AWS_VPC_K8S_CNI_EXTERNALSNAT is not true)", exempt: exempt})
	}
	return out
}
