package facts

import (
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// wireguardServers are the gateways that jodevsa's wireguard-operator makes of
// its Wireguard objects: a Deployment of one pod beside the object (FG C2;
// jodevsa/wireguard-operator, controllers/wireguard_controller.go). The agent
// always masquerades its pool, which is the same for all; forwarding is the
// object's switch, which adds a privileged init container.
func wireguardServers(ix *index, cs *clusterSet, catalog *images.Catalog) []*podView {
	var out []*podView
	for _, o := range ix.ofKind(operatorGroup, "Wireguard") {
		spec := root(o).get("spec")
		m := &maker{
			asks: spec, by: "wireguard-operator", role: Gateway, why: "wireguard-operator makes a server of it", side: partServer, namespaceKnown: true, forwards: "enableIpForwardOnPodInit",
		}
		p := operatorWorkload(spec).view(ix, cs, catalog, m)
		p.operatorServer(o)
		out = append(out, p)
	}
	return out
}

const (
	operatorAgent = "agent"
	operatorImage = "ghcr.io/jodevsa/wireguard-operator/agent"
)

// operatorWorkload is the Deployment, as far as this program looks at one.
func operatorWorkload(spec node) *workload {
	w := newWorkload(spec, "Deployment", spec.obj.Namespace, spec.obj.Name+"-dep")
	netAdmin := map[string]any{"add": []any{"NET_ADMIN"}}
	w.set(madeTemplate, map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "wireguard", "instance": spec.obj.Name}},
		"spec": map[string]any{
			"containers": []any{
				map[string]any{
					"name": "metrics", "image": operatorImage, "command": []any{"/usr/local/bin/prometheus_wireguard_exporter"},
					"securityContext": map[string]any{
						"runAsUser": int64(65534), "runAsNonRoot": true, "allowPrivilegeEscalation": false,
						"capabilities": map[string]any{"drop": []any{"ALL"}, "add": []any{"NET_ADMIN"}},
					},
				},
				map[string]any{
					"name": operatorAgent, "image": operatorImage,
					"securityContext": map[string]any{"allowPrivilegeEscalation": false, "capabilities": netAdmin},
				},
			},
		},
	})
	w.take(madeTemplate+"/spec/nodeSelector", spec.get("nodeSelector"))
	if on := spec.get("enableIpForwardOnPodInit"); on.boolean() == Present {
		at := madeTemplate + "/spec/initContainers"
		w.set(at, []any{map[string]any{
			"name": "sysctl", "image": operatorImage, "command": []any{"/bin/sh"},
			"args": []any{"-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"}, "securityContext": map[string]any{"privileged": true},
		}})
		w.decided(at, on)
	}
	return w
}

// operatorServer fills the pod. It stands for a fixed program, so that neither
// role nor tunnel are read from its containers.
func (p *podView) operatorServer(o *source.Object) {
	pod := p.pod
	pod.Role, pod.RoleWhy = readRole(p)
	for _, c := range p.containers {
		c.c.DataPlane = c.c.Name == operatorAgent
	}
	pod.Tunnels = []Tunnel{p.operatorTunnel()}
	p.operatorClients(o, &pod.Tunnels[0])
	pod.Inbound, pod.NodeProbes = []Inbound{}, []NamedRef{}
	readPrivilegeNeeds(p)
	readRejections(p)
	readForwarding(p)
	p.operatorForwarding()
	for i := range pod.Containers {
		pod.Containers[i].Listeners = []Listener{}
	}
	at := p.made.asks.ref()
	pod.ClusterResolver = Switch{State: Unknown, Ref: at}
	pod.Egress = Egress{DenyByDefault: Unknown, TunnelOnly: Unknown, Policies: []source.Ref{}, Unenforced: Switch{State: Unknown, Ref: at}}
	p.mutated()
	p.fillEmpty()
}

func (p *podView) operatorTunnel() Tunnel {
	at := p.made.asks.ref()
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
	if mtu := p.made.asks.get("mtu"); parseSize(mtu.text()) > 0 && parseSize(mtu.text()) <= 1<<16 {
		t.MTU = MTU{Size: int(parseSize(mtu.text())), Ref: mtu.ref(), Says: "mtu: " + mtu.text()}
	}
	return t
}

// operatorForwarding: whether the operator adds its init container is filled in
// later.
func (p *podView) operatorForwarding() {
	field := p.made.asks.get("enableIpForwardOnPodInit")
	ipv4 := &p.pod.Forwarding.IPv4
	if field.boolean() != Unknown || ipv4.State == Present {
		return
	}
	ipv4.State = Unknown
	ipv4.Evidence = append(ipv4.Evidence, ForwardEvidence{
		How: "image", Value: "1", Container: operatorAgent, Ref: field.ref(), Says: "enableIpForwardOnPodInit", Effective: Unknown, When: "before",
	})
}
