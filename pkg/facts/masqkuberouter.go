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
func kubeRouterRules(_ *index, here hereFunc, f *founded, pods []*podView) []nodeMasquerade {
	if f == nil || len(f.prefixes(cidrplan.Pod)) == 0 {
		return nil
	}
	var out []nodeMasquerade
	for _, p := range pods {
		for _, c := range p.containers {
			if !isKubeRouter(c) || !here(p.object) {
				continue
			}
			routes, _ := c.boolFlag("run-router", Present)
			egress, at := c.boolFlag("enable-pod-egress", Present)
			if routes != Present || egress != Present {
				continue
			}
			if at.IsZero() {
				at = c.c.Ref
			}
			sources := f.prefixes(cidrplan.Pod)
			out = append(out, nodeMasquerade{
				ref: at, says: "kube-router's --enable-pod-egress", sources: sources,
				exempt: slices.Concat(sources, f.prefixes(cidrplan.Node)),
			})
		}
	}
	return out
}

func isKubeRouter(c *containerView) bool {
	return path.Base(imageRepository(c.c.Image)) == "kube-router" && c.c.Stage == Main
}
