package facts

import (
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// kubeRouterRules: kube-router rewrites what leaves the pods for anything but pods
// and nodes, unless --enable-pod-egress=false (FG A7). One that only enforces
// policies or serves Services (--run-router=false) does not. --masquerade-all
// concerns Services only.
func kubeRouterRules(s *masqScope) []nodeMasquerade {
	pods := s.ranges(cidrplan.Pod)
	if len(pods) == 0 {
		return nil
	}
	var out []nodeMasquerade
	for _, c := range s.running("kube-router") {
		egress, at := kubeRouterEgress(c)
		if egress != Present {
			continue
		}
		if at.IsZero() {
			at = c.c.Ref
		}
		out = append(out, nodeMasquerade{
			ref: at, says: "kube-router's --enable-pod-egress", sources: pods,
			exempt: slices.Concat(pods, s.ranges(cidrplan.Node)),
		})
	}
	return out
}

// kubeRouterEgress tells whether it rewrites what leaves the pods, and the flag that
// says so; without the router it leaves that to somebody else.
func kubeRouterEgress(c *containerView) (Known, source.Ref) {
	egress, at := c.boolFlag("enable-pod-egress", Present)
	if routes, _ := c.boolFlag("run-router", Present); routes != Present {
		egress = Unknown
	}
	return egress, at
}

// kubeRouterAgent: with --enable-pod-egress=false kube-router leaves pods' addresses
// alone, and so does the bridge that it sets up unless that is told otherwise
// (FG A7).
func kubeRouterAgent(s *masqScope) *Agent {
	running := s.running("kube-router")
	if s.f.CNI != "" || len(running) != 1 {
		return nil
	}
	c := running[0]
	egress, at := kubeRouterEgress(c)
	if egress != Absent {
		return nil
	}
	for _, p := range s.cniPlugins("bridge") {
		if p.get("ipMasq").boolean() != Absent {
			return nil
		}
	}
	return keepsAllFrom(c, agentKubeRouter, "kube-router's --enable-pod-egress is off", at)
}
