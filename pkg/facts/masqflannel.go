package facts

import (
	"path"
	"strings"

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
	for _, c := range s.running("flannel") {
		if state, ref, says := flannelMasquerades(c); state == Present {
			out = append(out, nodeMasquerade{ref: ref, says: says, sources: network, exempt: network})
		}
	}
	return out
}

// flannelMasquerades reads the switch, which is off by default. A flag goes before
// the variable.
func flannelMasquerades(c *containerView) (Known, source.Ref, string) {
	if state, ref := c.boolFlag("ip-masq", Absent); !ref.IsZero() {
		return state, ref, "flannel's --ip-masq"
	}
	v := c.env("FLANNELD_IP_MASQ")
	switch {
	case v.State == Unknown, v.State == Present && v.Text != "" && goSwitch(v.Text) != "":
		return Unknown, v.Ref, ""
	case goTrue(v, false):
		return Present, v.Ref, "flannel's FLANNELD_IP_MASQ"
	default:
		return Absent, c.c.Ref, "flannel runs without --ip-masq"
	}
}

// flannelAgent: pods keep their addresses where flannel runs without its switch and
// its CNI plugin is told not to step in. Without a word of the configuration the
// plugin does what flannel does not: the bridge that it sets up masquerades. A
// shell may start flannel with anything.
func flannelAgent(s *masqScope) *Agent {
	running := s.running("flannel")
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
	plugins := s.cniPlugins("flannel")
	for _, p := range plugins {
		if masq := p.get("delegate", "ipMasq"); !masq.exists() || masq.boolean() != Absent {
			return nil
		}
	}
	if len(plugins) == 0 {
		return nil
	}
	return keepsAllFrom(c, agentFlannel, says+", and ipMasq of its CNI plugin is false", ref)
}

// cniPlugins are the plugins of one type in the CNI configurations of the cluster:
// what DaemonSets copy to the nodes from ConfigMaps.
func (s *masqScope) cniPlugins(kind string) []node {
	var out []node
	for _, o := range s.ix.ofKind("", "ConfigMap") {
		data := root(o).get("data")
		for _, key := range data.keys() {
			if !strings.HasSuffix(key, "cni-conf.json") && !strings.HasSuffix(key, ".conflist") && key != "cni_network_config" || !s.maybe(o) {
				continue
			}
			for _, p := range s.ix.cniPlugins(data.get(key), key) {
				if p.get("type").text() == kind {
					out = append(out, p)
				}
			}
		}
	}
	return out
}
