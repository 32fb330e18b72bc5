package facts

import (
	"net/netip"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// nodeTunnels are the VPNs that DaemonSets bring up on the nodes themselves. Packets
// of pods are routed into them with the source address that the masquerade agents
// leave. A tunnel whose own rules may translate them is none: the agents' rules come
// first, but what they exempt meets the tunnel's.
func nodeTunnels(pods []*podView) []Site {
	var out []Site
	for _, p := range pods {
		if !p.pod.PerNode || p.pod.HostNetwork.Value != "true" || p.made != nil {
			continue
		}
		for i := range p.pod.Tunnels {
			t := &p.pod.Tunnels[i]
			if t.UserSpace != Absent || translates(p, t) || t.Routes.State != Present || t.Bypass.State == Unknown || t.Kind == "proxy" || t.Kind == "mesh" {
				continue
			}
			s := Site{
				Name: p.pod.Object.Name, Object: p.pod.Object, Ref: t.ContainerRef, RemoteState: Present, Remote: behindTunnel(t),
				LocalState: knownIf(t.Kind == "ipsec" && len(t.Local) > 0 && !anyDefault(t.Local)), Local: t.Local,
			}
			if len(s.Remote) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// translates: a rule of the pod's may change the source of what enters the tunnel.
// One that does so is told of in Masquerade, as none of the clients', at its place.
func translates(p *podView, t *Tunnel) bool {
	if t.Masquerade.State != Absent || t.Masquerade.Ref != t.ContainerRef {
		return true
	}
	rules := natRules(p, t)
	return rules.hidden || len(rules.chains) > 0
}

// behindTunnel are the networks that a tunnel leads to, without its own.
func behindTunnel(t *Tunnel) []PrefixAt {
	var out []PrefixAt
	own, bypass := prefixesAt(t.Addresses), parsed(t.Bypass.Entries)
	for _, at := range t.Routes.Prefixes {
		for _, prefix := range parsed([]PrefixAt{at}) {
			if leadsEverywhere(prefix) || cidrplan.Overlaps([]netip.Prefix{prefix}, own) || cidrplan.Overlaps([]netip.Prefix{prefix}, bypass) {
				continue
			}
			out = append(out, PrefixAt{Prefix: prefix.String(), Text: at.Text, Ref: at.Ref})
		}
	}
	return out
}

func anyDefault(list []PrefixAt) bool {
	for _, at := range list {
		if isDefaultRoute(at) {
			return true
		}
	}
	return false
}
