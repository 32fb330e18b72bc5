package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// k3sFlannel is a place that leaves flannel to k3s itself: the backend's in its
// configuration, or k3d's options.
type k3sFlannel struct {
	at   node
	ipv6 Known // flannel-ipv6-masq
}

// k3sRules: the flannel that is built into k3s always masquerades IPv4, and IPv6
// only when it is told to (FG A7).
func k3sRules(s *masqScope) []nodeMasquerade {
	if s.f == nil || s.f.CNI != "flannel" {
		return nil
	}
	network := s.ranges(cidrplan.Pod)
	for _, k := range s.f.k3s {
		sources := slices.DeleteFunc(slices.Clone(network), func(p netip.Prefix) bool { return !p.Addr().Is4() && k.ipv6 != Present })
		if len(sources) > 0 {
			return []nodeMasquerade{{ref: k.at.ref(), says: "the flannel of k3s", sources: sources, exempt: network}}
		}
	}
	return nil
}

// k3dMasqueradesIPv6 reads the argument that k3d hands on.
func k3dMasqueradesIPv6(args []node) Known {
	state := Absent
	for _, arg := range args {
		name, value, has := strings.Cut(arg.text(), "=")
		switch {
		case name != "--flannel-ipv6-masq":
		case !has || isTrue(stated(value)):
			state = Present
		case placeholder(value) != "":
			state = Unknown
		default:
			state = Absent
		}
	}
	return state
}
