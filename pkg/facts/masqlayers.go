package facts

import (
	"net/netip"
	"strings"

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

// nodeMasquerade is a rule in the nodes' own tables that rewrites the source of
// pods' packets.
type nodeMasquerade struct {
	ref  source.Ref
	says string
	// sources are the pods whose packets it takes, all of them when there are none.
	sources []netip.Prefix
	// exempt are the destinations that it leaves alone.
	exempt []netip.Prefix
	// to is the address that takes the source's place, the node's own when it is
	// not valid.
	to netip.Prefix
}

// hereFunc tells whether an object belongs to the cluster that is asked for.
type hereFunc func(*source.Object) bool

// nodeMasqueradeReader returns the rules of one layer that are certain. What can
// not be read of a layer may exempt anything, and then it has none. f is nil when
// no cluster is known.
type nodeMasqueradeReader func(ix *index, here hereFunc, f *founded, pods []*podView) []nodeMasquerade

// nodeMasquerades are the layers of FG A that rewrite in the nodes' own tables,
// other than the masquerade agents.
//
// Kube-proxy is none of them (FG A7): iptables.masqueradeAll and what comes from
// outside clusterCIDR is rewritten on the way to Services, no rule asks for it.
func nodeMasquerades() []nodeMasqueradeReader {
	return []nodeMasqueradeReader{calicoRules, ciliumRules, flannelRules, k3sRules, kubeRouterRules, ovnRules, awsNodeRules}
}

// stated is a value that is written down.
func stated(text string) value { return value{State: knownIf(placeholder(text) == ""), Text: text} }

// boolFlag returns the last value of a container's boolean flag: Present for true,
// Absent for false, Unknown when it is a placeholder. given is where it stands, zero
// when it is not there.
func (c *containerView) boolFlag(name string, fallback Known) (state Known, given source.Ref) {
	state = fallback
	for _, n := range append(c.spec.get("command").texts(), c.spec.get("args").texts()...) {
		key, value, has := strings.Cut(n.text(), "=")
		if strings.TrimLeft(key, "-") != name || !strings.HasPrefix(key, "-") {
			continue
		}
		given = n.ref()
		switch {
		case !has, isTrue(stated(value)):
			state = Present
		case placeholder(value) != "":
			state = Unknown
		default:
			state = Absent
		}
	}
	return state, given
}
