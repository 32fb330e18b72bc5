package facts

import (
	"fmt"
	"strings"
	"testing"
)

// layerCase is a row of the guide on a masquerade layer, held against what the
// layer decides: the rules of the nodes before a tunnel on the host network that
// carries 10.244.0.0/16 to 10.60.0.0/24.
type layerCase struct{ name, text, want string }

func testLayer(t *testing.T, cases []layerCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range factsOf(t, decode(t, "unit", ipsecGateway("\n      hostNetwork: true", "ipsec start")+tt.text)).Pods {
				for _, tn := range p.Tunnels {
					for _, r := range tn.Rewrites {
						if r.Ref.IsZero() {
							t.Errorf("%s stands nowhere", r.Says)
						}
						got = append(got, r.Says+" "+strings.Join(r.Prefixes, " "))
					}
				}
			}
			if said := strings.Join(got, "; "); said != tt.want {
				t.Errorf("got %q, want %q", said, tt.want)
			}
		})
	}
}

// agentCase is a row of the guide on a masquerade agent, held against what it makes
// of its configuration: the kind, where the list comes from, whether the agent takes
// it, and what it exempts; or the first piece that it refuses.
type agentCase struct{ name, text, want string }

func testAgents(t *testing.T, cases []agentCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range factsOf(t, decode(t, "unit", tt.text)).Agents {
				said := fmt.Sprint(a.Kind, " ", a.List.Source, " ", a.List.Valid, " ", a.Effective)
				for _, r := range a.List.Refused[:min(len(a.List.Refused), 1)] {
					said += " refused: " + r.Says + ": " + r.Fate
				}
				got = append(got, said)
			}
			if said := strings.Join(got, "; "); said != tt.want {
				t.Errorf("got  %s\nwant %s", said, tt.want)
			}
		})
	}
}

// podsOf is a cluster of which the pod range is known.
func podsOf(pods string) string {
	return "\n---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {podSubnet: " + pods + ", serviceSubnet: 10.96.0.0/12}\n"
}

// kopsCluster is a cluster of which the nodes' range is known, too.
func kopsCluster(pods, nodes string) string {
	return "\n---\napiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: prod.example.com}\nspec: {podCIDR: " + pods + ", networkCIDR: " + nodes + "}\n"
}

// daemon is a DaemonSet of one container.
func daemon(name, image, container string) string {
	return fmt.Sprintf("\n---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: %s, namespace: kube-system}\nspec: {template: {spec: {hostNetwork: true, containers: [{name: %s, image: '%s'%s}]}}}\n",
		name, name, image, container)
}

// testExemptions holds a layer's answer on which destinations keep pod addresses
// against a VPN of the nodes' network that carries 10.128.0.0/20 to 10.20.0.0/16. The
// wanted text is the kind, where the list comes from, and what of the VPN it covers.
func testExemptions(t *testing.T, cases []layerCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			agents, said := exemptionsOf(t, tt.text)
			for _, a := range agents {
				if len(a.MissingPods)+len(a.MissingNodes)+len(a.Minimal)+len(a.Wide) > 0 {
					t.Errorf("the cluster's own ranges stand on no such list: %+v", a)
				}
			}
			if said != tt.want {
				t.Errorf("got %q, want %q", said, tt.want)
			}
		})
	}
}

// exemptionsOf returns what masquerades beside the VPN of testExemptions, and what
// it says of the destinations.
func exemptionsOf(t *testing.T, text string) ([]Agent, string) {
	t.Helper()
	f := factsOf(t, decode(t, "unit", cloudVPN+kopsCluster("10.244.0.0/16", "10.128.0.0/20")+text))
	var got []string
	for _, a := range f.Agents {
		said := a.Kind + " " + a.List.Source
		if a.List.Ref.IsZero() || a.Object.Name == "" || a.Cluster != "prod.example.com" {
			t.Errorf("%+v", a)
		}
		for _, target := range a.Targets {
			said += fmt.Sprint(" ", target.Covered, " wants ", target.Wanted)
		}
		got = append(got, said)
	}
	return f.Agents, strings.Join(got, "; ")
}

// What a tunnel carries decides whether a rewritten packet fits it still.
func TestMasqueradeBeforeATunnelThatCarriesNodes(t *testing.T) {
	pool := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	for _, tt := range []struct{ name, local, more, want string }{
		{"pods only, the nodes elsewhere", "10.244.0.0/16", kopsCluster("10.244.0.0/16", "10.10.0.0/24"), "natOutgoing of IPPool pods"},
		{"pods and nodes", "10.244.0.0/16,10.10.0.0/24", kopsCluster("10.244.0.0/16", "10.10.0.0/24"), ""},
		{"pods and services, the nodes unknown", "10.244.0.0/16,10.96.0.0/12", podsOf("10.244.0.0/16"), "natOutgoing of IPPool pods"},
		{"pods and what may be the nodes", "10.244.0.0/16,10.10.0.0/24", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(ipsecGateway("\n      hostNetwork: true", "ipsec start"), "leftsubnet=10.244.0.0/16", "leftsubnet="+tt.local, 1)
			var got string
			for _, p := range factsOf(t, decode(t, "unit", text+pool+tt.more)).Pods {
				for _, r := range p.Tunnels[0].Rewrites {
					got += r.Says
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Kube-proxy (FG A7) rewrites on the way to Services only: masqueradeAll, and what
// comes from outside clusterCIDR. No rule asks for it, and beside it the answer on
// what leaves the cluster is the same.
func TestKubeProxyIsNoMasqueradeLayer(t *testing.T) {
	proxy := "\n---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclusterCIDR: 10.244.0.0/16\ndetectLocalMode: ClusterCIDR\n"
	pool := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	testLayer(t, []layerCase{
		{"by default", proxy, ""},
		{"masqueradeAll", proxy + "iptables: {masqueradeAll: true}\nnftables: {masqueradeAll: true}\n", ""},
		{"beside a layer that does", proxy + pool, "natOutgoing of IPPool pods 10.60.0.0/24"},
	})
}
