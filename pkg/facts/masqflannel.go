package facts

import (
	"path"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// flannelRules: flannel masquerades what leaves its network when it is told to,
// by --ip-masq or the variable of that flag (FG A7).
func flannelRules(s *masqScope) []nodeMasquerade {
	network := s.ranges(cidrplan.Pod)
	if len(network) == 0 {
		return nil
	}
	var out []nodeMasquerade
	for _, c := range s.containers(isFlannel) {
		if state, ref, says := flannelMasquerades(c); state == Present {
			out = append(out, nodeMasquerade{ref: ref, says: says, sources: network, exempt: network})
		}
	}
	return out
}

func isFlannel(c *containerView) bool { return path.Base(imageRepository(c.c.Image)) == "flannel" }

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

// flannelAgent: without its switch flannel leaves pods' addresses alone. A shell may
// start it with anything.
func flannelAgent(s *masqScope) *Agent {
	running := s.containers(isFlannel)
	if s.f.CNI != "flannel" || len(running) != 1 || len(s.f.k3s) > 0 {
		return nil
	}
	c := running[0]
	state, ref, says := flannelMasquerades(c)
	if first := c.spec.get("command").texts(); state != Absent || len(first) > 0 && path.Base(first[0].text()) != "flanneld" {
		return nil
	}
	if says == "flannel's --ip-masq" {
		says += " is off"
	}
	return keepsAllFrom(c, agentFlannel, says, ref)
}
