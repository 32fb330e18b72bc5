package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ciliumDialect is that of Cilium's own reader (FG A5.1-A5.3): host bits are masked,
// IPv6 is taken as it is, and there is no limit. Only a file without any content
// keeps the defaults.
func ciliumDialect() masqDialect {
	return masqDialect{
		kind:  agentCilium,
		files: []string{masqConfig, masqConfig + "/*"},
		keepsDefault: func(conf *grammar.IPMasq) (string, bool) {
			return "the configuration is empty", conf.Blank
		},
		tolerates: func(conf *grammar.IPMasq, p grammar.Problem) bool {
			return p.Kind == grammar.Unaligned || p.Kind == grammar.TooMany ||
				p.Range == conf.ResyncInterval.Range || p.Range == conf.CIDRLimitRange
		},
		late: func(string) bool { return false },
		fate: "Cilium reports an error and keeps the list that it had",
	}
}

// ciliumSettings are Cilium's own, from its ConfigMap or from the values of its chart.
type ciliumSettings struct {
	object *source.Object
	// masquerades is enable-ipv4-masquerade, which stands at and is called says.
	masquerades Known
	at          source.Ref
	says        string
	// agent: it reads a masquerade list. bpf: it rewrites at the device. chained: another
	// plugin hands out the addresses. byInterface: only what leaves by some interfaces.
	agent, bpf, chained, byInterface Known
	// routed: pods' packets go to other nodes as they are, not in a tunnel between them.
	routed Known
	// native is its native range, nativeSet whether there is one.
	native     node
	nativeSet  Known
	nativeSays string
	// values are those of the chart, nil for a ConfigMap.
	values *chartValues
}

// cilium returns the settings of the cluster's Cilium, nil for none and for several.
// What the chart makes of its values goes before them, where it is in the tree.
func (s *masqScope) cilium() *ciliumSettings {
	if s.f == nil || s.f.CNI != "cilium" {
		return nil
	}
	var found []*ciliumSettings
	for _, o := range s.ix.ofKind("", "ConfigMap") {
		if isCiliumConfig(o) && s.here(o) {
			found = append(found, ciliumConfigMap(o, root(o).get("data")))
		}
	}
	if len(found) == 0 {
		for _, doc := range s.inline("ConfigMap") {
			if doc.get("metadata", "name").text() == "cilium-config" {
				found = append(found, ciliumConfigMap(doc.obj, doc.get("data")))
			}
		}
	}
	if len(found) == 0 {
		releases, known := s.releases("cilium", "rke2-cilium")
		if !known {
			return nil
		}
		for _, r := range releases {
			if r.hidden {
				return nil
			}
			found = append(found, ciliumChart(r))
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func ciliumConfigMap(o *source.Object, data node) *ciliumSettings {
	c := &ciliumSettings{object: o, at: data.ref(), says: "enable-ipv4-masquerade", native: data.get("ipv4-native-routing-cidr"), nativeSays: "ipv4-native-routing-cidr"}
	or := func(key string, absent Known) Known {
		if n := data.get(key); n.exists() {
			return switchOf(n)
		}
		return absent
	}
	c.masquerades, c.at = or("enable-ipv4-masquerade", Unknown), data.get("enable-ipv4-masquerade").ref()
	c.agent, c.bpf = or("enable-ip-masq-agent", Absent), or("enable-bpf-masquerade", Absent)
	c.nativeSet = textSet(c.native)
	c.byInterface = textSet(data.get("egress-masquerade-interfaces"))
	c.routed = routedMode(data.get("routing-mode").text(), data.get("tunnel").text())
	c.chained = Absent
	if mode := data.get("cni-chaining-mode").text(); mode != "" && mode != "none" || delegates(data.get("ipam").text()) {
		c.chained = Present
	}
	return c
}

// routedMode reads routing-mode, and tunnel of versions before 1.14. The default is a
// tunnel.
func routedMode(mode, tunnel string) Known {
	switch {
	case mode == "native", mode == "" && tunnel == "disabled":
		return Present
	case placeholder(mode+tunnel) != "":
		return Unknown
	default:
		return Absent
	}
}

// textSet: a text is there and not empty.
func textSet(n node) Known {
	text, is := n.str()
	switch {
	case !n.exists() || is && strings.TrimSpace(text) == "":
		return Absent
	case !is || placeholder(text) != "":
		return Unknown
	default:
		return Present
	}
}

// delegates: another plugin, or the platform, hands out the addresses.
func delegates(ipam string) bool { return slices.Contains([]string{"azure", "delegated-plugin"}, ipam) }

// ciliumChart: the chart's own defaults are what the guide has of them (FG A5.1, A5.4,
// A5.6). On ENI the one for masquerading depends on the version.
func ciliumChart(r release) *ciliumSettings {
	v := r.values
	c := &ciliumSettings{object: r.object, says: "enableIPv4Masquerade", nativeSays: "ipv4NativeRoutingCIDR", values: &v}
	either := func(fallback Known, extra string, keys ...string) (Known, source.Ref) {
		if n, state := v.lookup("extraConfig", extra); state == Present {
			return switchOf(n), n.ref()
		}
		return v.flag(fallback, keys...)
	}
	fallback := Present
	if eni, _ := v.flag(Absent, "eni", "enabled"); eni != Absent {
		fallback = Unknown
	}
	c.masquerades, c.at = either(fallback, "enable-ipv4-masquerade", "enableIPv4Masquerade")
	c.agent, _ = either(Absent, "enable-ip-masq-agent", "ipMasqAgent", "enabled")
	c.bpf, _ = either(Absent, "enable-bpf-masquerade", "bpf", "masquerade")
	text := func(keys ...string) (node, Known) {
		n, state := v.lookup(keys...)
		if state == Present {
			state = textSet(n)
		}
		return n, state
	}
	c.native, c.nativeSet = text("ipv4NativeRoutingCIDR")
	_, c.byInterface = text("egressMasqueradeInterfaces")
	routing, one := v.lookup("routingMode")
	tunnel, other := v.lookup("tunnel")
	if c.routed = routedMode(routing.text(), tunnel.text()); one == Unknown || other == Unknown {
		c.routed = Unknown
	}
	mode, chained := text("cni", "chainingMode")
	ipam, delegated := text("ipam", "mode")
	switch {
	case chained == Unknown || delegated == Unknown:
		c.chained = Unknown
	case chained == Present && mode.text() != "none" || delegates(ipam.text()):
		c.chained = Present
	default:
		c.chained = Absent
	}
	return c
}

// ciliumRules: Cilium rewrites what leaves the pods for anything outside its native
// range (FG A5.4-A5.6). With enable-bpf-masquerade it does so at the device, behind
// what the host's tunnels take; with rules of iptables before that.
func ciliumRules(s *masqScope) []nodeMasquerade {
	c := s.cilium()
	if c == nil {
		return nil
	}
	pods := slices.DeleteFunc(s.ranges(cidrplan.Pod), func(p netip.Prefix) bool { return !p.Addr().Is4() })
	if len(pods) == 0 || c.masquerades != Present || c.agent != Absent || c.bpf != Absent || c.byInterface != Absent || c.nativeSet == Unknown {
		return nil
	}
	return []nodeMasquerade{{
		ref: c.at, says: "Cilium's " + c.says, sources: pods,
		exempt: slices.Concat(pods, s.ranges(cidrplan.Node), s.f.nativeRouting),
	}}
}

// ciliumAgent: without masquerading pods keep their address everywhere, and else
// towards the native range (FG A5.4, A5.6). Without one it is the node's own part
// of the pod range. Where another plugin hands out the addresses, it or an agent of
// the platform's may rewrite them.
func ciliumAgent(s *masqScope) *Agent {
	c := s.cilium()
	if c == nil || c.chained != Absent || c.agent != Absent {
		return nil
	}
	if c.masquerades == Absent {
		a := keepsAll(agentNative, c.says+" of Cilium is false", c.at)
		a.Object = nameOf(c.object)
		return a
	}
	e := grammar.ParsePrefix(c.native.text(), 0)
	if c.masquerades != Present || c.nativeSet != Present || !e.Valid || e.Bare {
		return nil
	}
	a := &Agent{Kind: agentNative, Ref: c.native.ref(), Object: nameOf(c.object)}
	a.List = List{
		Source: "explicit", Ref: c.native.ref(), Why: c.nativeSays, Valid: Present,
		Entries: []PrefixAt{{Prefix: e.Prefix.Masked().String(), Text: c.native.text(), Ref: c.native.ref()}},
	}
	return a
}

// egressGateways: a CiliumEgressGatewayPolicy decides before any list; what it
// selects leaves with the gateway's address (FG A5.5, A5.8).
func (r *agentReader) egressGateways(f *founded, remote netip.Prefix) bool {
	s := &masqScope{ix: r.ix, cs: r.cs, f: f}
	return slices.ContainsFunc(r.ix.ofKind("cilium.io", "CiliumEgressGatewayPolicy"), func(o *source.Object) bool {
		return s.maybe(o) && slices.ContainsFunc(root(o).get("spec", "destinationCIDRs").items(), func(n node) bool {
			e := grammar.ParsePrefix(n.text(), 0)
			return !e.Valid || e.Prefix.Overlaps(remote)
		})
	})
}

// ciliumMissing: pods' packets to pods meet the list only where they are routed as
// they are. Those to other nodes are rewritten in a tunnel's mode whatever the list is,
// and else never (FG A5.5).
func (r *agentReader) ciliumMissing(a *Agent, f *founded) {
	a.MissingNodes = []string{}
	if c := (&masqScope{ix: r.ix, cs: r.cs, f: f}).cilium(); c == nil || c.routed != Present {
		a.MissingPods = []string{}
	}
}

// ciliumReads: the cluster's Cilium reads a masquerade list, and its DaemonSet is not
// in view.
func (r *agentReader) ciliumReads(f *founded) bool {
	c := (&masqScope{ix: r.ix, cs: r.cs, f: f}).cilium()
	return c != nil && c.agent == Present
}

// ciliumMasquerades: Cilium reads the list only when told to (FG A5.1).
func ciliumMasquerades(p *podView) bool {
	o, state := p.ix.find("ConfigMap", p.object.Namespace, "cilium-config", p.object)
	return state == Present && root(o).get("data", "enable-ip-masq-agent").text() == "true"
}
