package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Masquerade layers that are no ip-masq-agent and have a list of exempt
// destinations all the same. The cluster's own ranges are exempt without standing
// on it.
const (
	agentAWS       = "aws-vpc-cni"
	agentAutopilot = "gke-autopilot"
)

// ownRangesExempt: the layer keeps pod addresses inside the cluster by itself.
func ownRangesExempt(kind string) bool { return kind == agentAWS || kind == agentAutopilot }

// awsNode reads the AWS VPC CNI (FG A4): pods' addresses are rewritten towards
// everything outside the VPC, but for AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS; bad
// entries of it are passed over. With EXTERNALSNAT nothing is rewritten, and that
// list is not read.
func (r *agentReader) awsNode(p *podView, c *containerView) {
	if path.Base(imageRepository(c.c.Image)) != "amazon-k8s-cni" || c.c.Stage != Main {
		return
	}
	a := &Agent{Kind: agentAWS, Object: p.pod.Object, Ref: c.c.Ref, Container: c.c.Name, Workload: p.pod.Workload}
	known := r.place(a, p.object)
	external, exclude := c.env("AWS_VPC_K8S_CNI_EXTERNALSNAT"), c.env("AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS")
	switch {
	case external.State == Unknown || exclude.State == Unknown && !isTrue(external):
		why := cmp.Or(external.Why, exclude.Why)
		a.List = List{Source: "unknown", Ref: c.c.Ref, Why: why, Valid: Unknown}
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
	r.add(a, flags{seen: true}, known, r.cs.tied(p.object))
}

// egressNATPolicies reads Autopilot's list, which stands in objects of the cluster
// (FG A2.7). Those of Google's distributed clouds have the same kind and sources
// or a gateway of their own (FG A2.8).
func (r *agentReader) egressNATPolicies() {
	byCluster := map[*founded][]*source.Object{}
	var order []*founded
	for _, o := range r.ix.ofKind("networking.gke.io", "EgressNATPolicy") {
		spec := root(o).get("spec")
		if !strings.EqualFold(spec.get("action").text(), "NoSNAT") || spec.get("sources").exists() || spec.get("gatewayRef").exists() || r.cs.tied(o) {
			continue
		}
		f := r.cs.one(o)
		if byCluster[f] == nil {
			order = append(order, f)
		}
		byCluster[f] = append(byCluster[f], o)
	}
	for _, f := range order {
		first := byCluster[f][0]
		a := &Agent{Kind: agentAutopilot, Object: nameOf(first), Ref: root(first).ref(), Workload: "egressnatpolicy/" + first.Name}
		if f != nil {
			a.Cluster = f.Name
		}
		if r.hasAgent(a.Cluster) {
			continue
		}
		a.List = List{Source: "explicit", Ref: root(first).get("spec", "destinations").ref(), Why: "spec.destinations", Valid: Present, Entries: []PrefixAt{}}
		for _, o := range byCluster[f] {
			for _, d := range root(o).get("spec", "destinations").items() {
				cidr := d.get("cidr")
				if at, valid := prefixAt(grammar.ParsePrefix(strings.TrimSpace(cidr.text()), 0), cidr.ref()); valid {
					a.List.Entries = append(a.List.Entries, at)
				}
			}
		}
		r.add(a, flags{seen: true}, f, false)
	}
}
