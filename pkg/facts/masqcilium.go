package facts

import (
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ciliumRules: Cilium rewrites what leaves the pods for anything outside its native
// range (FG A5.4-A5.6). With enable-bpf-masquerade it does so at the device, behind
// what the host's tunnels take; with rules of iptables before that.
func ciliumRules(s *masqScope) []nodeMasquerade {
	if s.f == nil || s.f.CNI != "cilium" {
		return nil
	}
	pods := slices.DeleteFunc(s.ranges(cidrplan.Pod), func(p netip.Prefix) bool { return !p.Addr().Is4() })
	for _, o := range s.ciliumConfigs() {
		data := root(o).get("data")
		on, native := data.get("enable-ipv4-masquerade"), data.get("ipv4-native-routing-cidr")
		switch {
		case len(pods) == 0, on.text() != "true", data.get("enable-ip-masq-agent").text() == "true",
			data.get("enable-bpf-masquerade").exists() && data.get("enable-bpf-masquerade").text() != "false",
			data.get("egress-masquerade-interfaces").text() != "", placeholder(native.text()) != "":
			continue
		}
		return []nodeMasquerade{{
			ref: on.ref(), says: "Cilium's enable-ipv4-masquerade", sources: pods,
			exempt: slices.Concat(pods, s.ranges(cidrplan.Node), s.f.nativeRouting),
		}}
	}
	return nil
}

func (s *masqScope) ciliumConfigs() []*source.Object {
	return slices.DeleteFunc(slices.Clone(s.ix.ofKind("", "ConfigMap")), func(o *source.Object) bool {
		return !isCiliumConfig(o) || !s.here(o)
	})
}

// ciliumAgent: without masquerading pods keep their address everywhere, and else
// towards the native range (FG A5.4, A5.6). Without one it is the node's own part
// of the pod range. Where another plugin hands out the addresses, it or an agent of
// the platform's may rewrite them.
func ciliumAgent(s *masqScope) *Agent {
	configs := s.ciliumConfigs()
	if s.f.CNI != "cilium" || len(configs) != 1 || root(configs[0]).get("data", "enable-ip-masq-agent").text() == "true" {
		return nil
	}
	data := root(configs[0]).get("data")
	if chained := data.get("cni-chaining-mode").text(); chained != "" && chained != "none" ||
		slices.Contains([]string{"azure", "delegated-plugin"}, data.get("ipam").text()) {
		return nil
	}
	on, native := data.get("enable-ipv4-masquerade"), data.get("ipv4-native-routing-cidr")
	if on.text() == "false" {
		a := keepsAll(agentNative, "enable-ipv4-masquerade of Cilium is false", on.ref())
		a.Object = nameOf(configs[0])
		return a
	}
	e := grammar.ParsePrefix(native.text(), 0)
	if on.text() != "true" || !e.Valid || e.Bare {
		return nil
	}
	a := &Agent{Kind: agentNative, Ref: native.ref(), Object: nameOf(configs[0])}
	a.List = List{
		Source: "explicit", Ref: native.ref(), Why: "ipv4-native-routing-cidr", Valid: Present,
		Entries: []PrefixAt{{Prefix: e.Prefix.Masked().String(), Text: native.text(), Ref: native.ref()}},
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

// ciliumMasquerades: Cilium reads the list only when told to (FG A5.1).
func ciliumMasquerades(p *podView) bool {
	o, state := p.ix.find("ConfigMap", p.object.Namespace, "cilium-config", p.object)
	return state == Present && root(o).get("data", "enable-ip-masq-agent").text() == "true"
}
