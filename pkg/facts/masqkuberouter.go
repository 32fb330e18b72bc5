package facts

import (
	"path"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
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
	for _, c := range s.containers(isKubeRouter) {
		routes, _ := c.boolFlag("run-router", Present)
		egress, at := c.boolFlag("enable-pod-egress", Present)
		if routes != Present || egress != Present {
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

func isKubeRouter(c *containerView) bool {
	return path.Base(imageRepository(c.c.Image)) == "kube-router"
}

// kubeRouterAgent: with --enable-pod-egress=false kube-router leaves pods' addresses
// alone.
func kubeRouterAgent(s *masqScope) *Agent {
	running := s.containers(isKubeRouter)
	if s.f.CNI != "" || len(running) != 1 {
		return nil
	}
	c := running[0]
	routes, _ := c.boolFlag("run-router", Present)
	egress, at := c.boolFlag("enable-pod-egress", Present)
	if routes != Present || egress != Absent {
		return nil
	}
	return keepsAllFrom(c, agentKubeRouter, "kube-router's --enable-pod-egress is off", at)
}
