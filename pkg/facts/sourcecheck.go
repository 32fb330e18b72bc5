package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file reads whether a cluster's CNI drops what a pod sends with an address
// that is not its own, and what lifts that check: packets of a VPN's clients
// have such addresses wherever nothing translates them.

// Calico's annotation for further source addresses, and the setting of Felix
// without which it refuses the pod's whole endpoint (projectcalico/calico,
// felix/calc/validation_filter.go).
const felixSpoofing = "workloadSourceSpoofing"

// spoofingClaim is one place that says whether Felix heeds the annotation.
type spoofingClaim struct {
	state Known
	// rank: what Felix' environment says goes before its FelixConfiguration.
	rank int
	ref  source.Ref
	why  string
}

func (f *founded) spoofing(rank int, n node, says string) {
	text, _ := n.str()
	c := spoofingClaim{state: Absent, rank: rank, ref: n.ref(), why: says + ": " + clip(text)}
	switch {
	case !n.exists():
		c.why = "the FelixConfiguration does not set " + felixSpoofing + ": Any"
	case placeholder(text) != "":
		c.state = Unknown
	case strings.EqualFold(text, "Any"):
		c.state = Present
	}
	f.spoofs = append(f.spoofs, c)
}

// felixConfiguration: the one named default is for all nodes, the others for one
// node each.
func (f *founded) felixConfiguration(o *source.Object) {
	n := root(o).get("spec", felixSpoofing)
	if o.Name != "default" {
		if n.exists() {
			f.spoofs = append(f.spoofs, spoofingClaim{state: Unknown, rank: 1, ref: n.ref(), why: "for one node only"})
		}
		return
	}
	f.spoofing(1, n, felixSpoofing)
}

// settleSourceCheck comes after the CNI is known.
func (f *founded) settleSourceCheck() {
	switch f.CNI {
	case "calico":
		f.SourceCheck = Switch{State: Present, Ref: f.CNIRef, Why: "Calico is the CNI"}
		f.settleSpoofing()
	case "cilium":
		f.SourceCheck = Switch{State: Unknown, Ref: f.CNIRef, Why: "Cilium's configuration is not in view"}
		if len(f.ciliumChecks) > 0 {
			f.SourceCheck = slices.MinFunc(f.ciliumChecks, func(a, b Switch) int {
				return cmp.Or(cmp.Compare(doubtful(a.State), doubtful(b.State)), compareRefs(a.Ref, b.Ref))
			})
		}
	}
}

// doubtful orders answers so that the one for which a rule stays silent wins.
func doubtful(k Known) int {
	return slices.Index([]Known{Absent, Unknown, Present}, k)
}

// settleSpoofing: any place that says yes is enough; of the others the
// environment decides.
func (f *founded) settleSpoofing() {
	if len(f.spoofs) == 0 {
		return
	}
	best := slices.MinFunc(f.spoofs, func(a, b spoofingClaim) int {
		return cmp.Or(spoofOrder(a)-spoofOrder(b), cmp.Compare(a.rank, b.rank), compareRefs(a.ref, b.ref))
	})
	f.SpoofingAllowed = Switch{State: best.state, Ref: best.ref, Why: best.why}
}

func spoofOrder(c spoofingClaim) int { return slices.Index([]Known{Present, Unknown, Absent}, c.state) }

// ciliumSourceCheck reads enable-source-ip-verification of Cilium's ConfigMap, or
// daemon.enableSourceIPVerification of its chart, which is on unless it is turned
// off. Behind another CNI Cilium is not what hands out the addresses.
func (f *founded) ciliumSourceCheck(at, check, chaining node, elsewhere bool, says string) {
	s := Switch{State: Present, Ref: at.ref(), Why: "Cilium checks the sources of pods by default"}
	if check.exists() {
		s.Ref, s.Why = check.ref(), says
	}
	text, _ := check.scalar()
	switch {
	case strings.EqualFold(strings.TrimSpace(text), "false"):
		s.State = Absent
	case check.exists() && !strings.EqualFold(strings.TrimSpace(text), "true"), !check.exists() && elsewhere:
		s.State = Unknown
	case chaining.exists() && chaining.text() != "none" && chaining.text() != "":
		s.State = Unknown
	}
	f.ciliumChecks = append(f.ciliumChecks, s)
}
