package facts

import (
	"net/netip"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// ciliumRules: Cilium rewrites what leaves the pods for anything outside its native
// range (FG A5.4-A5.6). With enable-bpf-masquerade it does so at the device, behind
// what the host's tunnels take; with rules of iptables before that.
func ciliumRules(ix *index, here hereFunc, f *founded, _ []*podView) []nodeMasquerade {
	if f == nil || f.CNI != "cilium" {
		return nil
	}
	pods := slices.DeleteFunc(f.prefixes(cidrplan.Pod), func(p netip.Prefix) bool { return !p.Addr().Is4() })
	for _, o := range ciliumConfigs(ix, here) {
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
			exempt: slices.Concat(pods, f.prefixes(cidrplan.Node), f.nativeRouting),
		}}
	}
	return nil
}

func ciliumConfigs(ix *index, here hereFunc) []*source.Object {
	return slices.DeleteFunc(slices.Clone(ix.ofKind("", "ConfigMap")), func(o *source.Object) bool {
		return !isCiliumConfig(o) || !here(o)
	})
}
