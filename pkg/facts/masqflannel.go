package facts

import (
	"path"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// flannelRules: flannel masquerades what leaves its network when it is told to,
// by --ip-masq or the variable of that flag (FG A7).
func flannelRules(_ *index, here hereFunc, f *founded, pods []*podView) []nodeMasquerade {
	if f == nil || len(f.prefixes(cidrplan.Pod)) == 0 {
		return nil
	}
	network := f.prefixes(cidrplan.Pod)
	var out []nodeMasquerade
	for _, p := range pods {
		for _, c := range p.containers {
			if !isFlannel(c) || !here(p.object) {
				continue
			}
			if state, ref, says := flannelMasquerades(c); state == Present {
				out = append(out, nodeMasquerade{ref: ref, says: says, sources: network, exempt: network})
			}
		}
	}
	return out
}

func isFlannel(c *containerView) bool {
	return path.Base(imageRepository(c.c.Image)) == "flannel" && c.c.Stage == Main
}

// flannelMasquerades reads the switch, which is off by default. A flag goes before
// the variable.
func flannelMasquerades(c *containerView) (Known, source.Ref, string) {
	if state, ref := c.boolFlag("ip-masq", Absent); !ref.IsZero() {
		return state, ref, "flannel's --ip-masq"
	}
	v := c.env("FLANNELD_IP_MASQ")
	switch {
	case v.State == Unknown:
		return Unknown, v.Ref, ""
	case isTrue(v):
		return Present, v.Ref, "flannel's FLANNELD_IP_MASQ"
	default:
		return Absent, c.c.Ref, "flannel runs without --ip-masq"
	}
}
