package facts

import (
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// wireguardServers are the gateways that jodevsa's wireguard-operator makes of
// its Wireguard objects: a Deployment of one pod, whose manifest is the object as
// far as anybody writes one (FG C2). The agent always masquerades its pool, which
// is the same for all; forwarding is the object's switch.
func wireguardServers(ix *index, cs *clusterSet, catalog *images.Catalog) []*podView {
	var out []*podView
	for _, o := range ix.ofKind(operatorGroup, "Wireguard") {
		p := newPodView(ix, template{o, root(o)}, cs.of(o), catalog)
		p.tied = cs.tied(o)
		p.pod.ClusterKnown = knownIf(!p.tied)
		p.operatorServer(o)
		out = append(out, p)
	}
	return out
}

const operatorAgent = "agent"

func (p *podView) operatorServer(o *source.Object) {
	spec := p.spec.ref()
	pod := p.pod
	pod.Workload = "deploy/" + o.Name + "-dep"
	pod.Role, pod.RoleWhy = Gateway, "wireguard-operator makes a server of it"
	pod.Containers = []Container{{
		Name: operatorAgent, Ref: spec, Stage: Main, ImageRef: spec, Family: "wireguard-operator", FamilyTitle: "wireguard-operator", DataPlane: true,
		Privileged: Absent, Capabilities: []string{"NET_ADMIN"}, Dropped: []string{}, SecurityRef: spec,
		NonRoot: Setting{State: Unknown, Ref: spec}, NeedsAdmin: Absent, UsesNetwork: Absent,
		NeedsPrivilege: Switch{State: Unknown, Ref: spec}, Modules: []NamedRef{}, Listeners: []Listener{},
	}}
	pod.Tunnels = []Tunnel{p.operatorTunnel()}
	p.operatorClients(o, &pod.Tunnels[0])
	pod.Inbound = []Inbound{}
	readForwarding(p)
	p.operatorForwarding()
	pod.ClusterResolver = Switch{State: Unknown, Ref: spec}
	pod.Egress = Egress{DenyByDefault: Unknown, TunnelOnly: Unknown, Policies: []source.Ref{}, Unenforced: Switch{State: Unknown, Ref: spec}}
	p.fillEmpty()
}

func (p *podView) operatorTunnel() Tunnel {
	at := p.spec.ref()
	t := Tunnel{
		Container: operatorAgent, ContainerRef: at, Family: "wireguard-operator", FamilyTitle: "wireguard-operator",
		Kind: "wireguard", Side: "server", UserSpace: Absent, Interface: "wg0", Config: at,
		Routes: Routes{State: Absent, Ref: at, Why: "a server", Prefixes: []PrefixAt{}, Named: []PrefixAt{}},
		Bypass: Bypass{State: Absent, Ref: at, Entries: []PrefixAt{}, Malformed: []Malformed{}}, Captures: []Capture{},
		Resolver:   Resolver{Rewrites: Absent, Ref: at, Split: Absent, ReachesCluster: Present, Servers: []string{}},
		KillSwitch: Switch{State: Absent, Ref: at, Why: "a server"},
		Masquerade: Switch{State: Present, Ref: at, Why: "the operator's agent masquerades 10.8.0.0/24 out of eth0"},
		PoolRouted: Switch{State: Absent, Ref: at}, ImageKnown: true, RepliesKept: Unknown, IPv6: Switch{State: Unknown, Ref: at},
		Input:         Input{Closed: Absent, Ports: []int{}, Ref: at},
		MasqueradeOut: []OutInterface{}, Advertised: []PrefixAt{}, Addresses: []PrefixAt{}, Local: []PrefixAt{}, Rewrites: []Rewrite{}, Peers: []Peer{},
		Clients: Clients{State: Unknown, Routes: []PrefixAt{}, Resolvers: []PrefixAt{}, Unreached: []UnreachedResolver{}},
		Pool:    []PrefixAt{},
	}
	if pool, valid := prefixAt(grammar.ParsePrefix("10.8.0.0/24", 0), at); valid {
		t.Pool = append(t.Pool, pool)
	}
	if mtu := p.spec.get("mtu"); parseSize(mtu.text()) > 0 && parseSize(mtu.text()) <= 1<<16 {
		t.MTU = MTU{Size: int(parseSize(mtu.text())), Ref: mtu.ref(), Says: "mtu: " + mtu.text()}
	}
	return t
}

// operatorForwarding reads enableIpForwardOnPodInit, which adds a privileged init
// container. Without it nothing of the pod's own turns forwarding on.
func (p *podView) operatorForwarding() {
	field := p.spec.get("enableIpForwardOnPodInit")
	on := field.boolean()
	ipv4 := &p.pod.Forwarding.IPv4
	if on == Absent || ipv4.State == Present {
		return
	}
	ipv4.State = on
	ipv4.Evidence = append(ipv4.Evidence, ForwardEvidence{
		How: "image", Value: "1", Container: operatorAgent, Ref: field.ref(), Says: "enableIpForwardOnPodInit", Effective: on, When: "before",
	})
}
