package facts

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Masquerade layers that are no ip-masq-agent and have a list of exempt
// destinations all the same. The cluster's own ranges are exempt without standing
// on it.
const (
	agentAWS        = "aws-vpc-cni"
	agentAutopilot  = "gke-autopilot"
	agentCalico     = "calico"
	agentNative     = "cilium-native-routing"
	agentFlannel    = "flannel"
	agentKubeRouter = "kube-router"
)

// ownRangesExempt: the layer keeps pod addresses inside the cluster by itself.
func ownRangesExempt(kind string) bool {
	return slices.Contains([]string{agentAWS, agentAutopilot, agentCalico, agentNative, agentFlannel, agentKubeRouter}, kind)
}

// byChoice: the layer's list is for destinations to which the network routes pods'
// addresses, so that what stands on it is there on purpose (FG A5.4, A6.2). Only
// what says otherwise of a destination counts.
func byChoice(kind string) bool { return kind == agentCalico || kind == agentNative }

// layers reads what the CNI of a cluster keeps or rewrites where no masquerade
// agent is in view: the plan may name one that is deployed elsewhere.
func (r *agentReader) layers(pods []*podView) {
	if r.unplaced {
		return
	}
	for _, f := range r.cs.founded {
		if f.Elsewhere || f.gke != nil || r.hasAgent(f.Name) {
			continue
		}
		s := &masqScope{ix: r.ix, cs: r.cs, f: f, pods: pods}
		for _, layer := range []struct {
			planned string
			read    func(*masqScope) *Agent
		}{{"calico", calicoAgent}, {"cilium", ciliumAgent}, {"flannel", flannelAgent}, {"kube-router", kubeRouterAgent}} {
			m := f.Plan.Masquerade
			if m.State != Absent && m.Value != layer.planned || r.hasAgent(f.Name) {
				continue
			}
			a := layer.read(s)
			if a == nil || a.List.Source == plannedNone && s.rewrites() {
				continue
			}
			a.Cluster = f.Name
			r.add(a, flags{ipv6: Present}, f, false)
		}
		if !r.hasAgent(f.Name) && len(r.sites) > 0 {
			r.hiddenCharts(s)
		}
	}
}

// rewrites: some layer in view masquerades all the same.
func (s *masqScope) rewrites() bool {
	return slices.ContainsFunc(nodeMasquerades(), func(read nodeMasqueradeReader) bool { return len(read(s)) > 0 })
}

// keepsAll is a layer that rewrites nothing.
func keepsAll(kind, why string, ref source.Ref) *Agent {
	return &Agent{Kind: kind, Ref: ref, List: List{Source: plannedNone, Ref: ref, Why: why, Valid: Unknown}}
}

// keepsAllFrom is keepsAll for a layer that a container runs.
func keepsAllFrom(c *containerView, kind, why string, ref source.Ref) *Agent {
	a := keepsAll(kind, why, ref)
	a.Object, a.Workload, a.Container = c.pod.pod.Object, c.pod.pod.Workload, c.c.Name
	return a
}

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

// masqScope is the cluster that is asked for.
type masqScope struct {
	ix   *index
	cs   *clusterSet
	f    *founded // nil when no cluster is known
	pods []*podView
}

// here tells whether an object belongs to the cluster.
func (s *masqScope) here(o *source.Object) bool { return s.cs.one(o) == s.f && !s.cs.tied(o) }

// maybe: it belongs to the cluster, or to one of several that are equally near.
func (s *masqScope) maybe(o *source.Object) bool {
	return s.here(o) || s.cs.tied(o) && (s.f == nil || slices.Contains(s.cs.nearest(o), s.f))
}

// ranges are the cluster's of one role, none when it is not known.
func (s *masqScope) ranges(role cidrplan.Role) []netip.Prefix {
	if s.f == nil {
		return nil
	}
	return s.f.prefixes(role)
}

// containers are those of the cluster that an image's layer runs in.
func (s *masqScope) containers(is func(*containerView) bool) []*containerView {
	var out []*containerView
	for _, p := range s.pods {
		for _, c := range p.containers {
			if c.c.Stage == Main && is(c) && s.here(p.object) {
				out = append(out, c)
			}
		}
	}
	return out
}

// running are the containers of the cluster that run an image, whatever registry
// it is from.
func (s *masqScope) running(image string) []*containerView {
	return s.containers(func(c *containerView) bool { return c.imageNamed(image) })
}

// imageNamed: the last part of its image's name is the given one.
func (c *containerView) imageNamed(name string) bool {
	return path.Base(imageRepository(c.c.Image)) == name
}

// nodeMasqueradeReader returns the rules of one layer that are certain. What can
// not be read of a layer may exempt anything, and then it has none.
type nodeMasqueradeReader func(s *masqScope) []nodeMasquerade

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
		case !has:
			state = Present
		case placeholder(value) != "", goSwitch(value) != "":
			state = Unknown
		default:
			state = answer(goTrue(stated(value), false))
		}
	}
	return state, given
}
