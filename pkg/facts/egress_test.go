package facts

import (
	"strings"
	"testing"
)

func TestEgressPolicies(t *testing.T) {
	const sidecar = `
containers:
  - name: vpn
    image: qmcgaw/gluetun
    env: [{name: VPN_SERVICE_PROVIDER, value: custom}, {name: VPN_TYPE, value: wireguard}, {name: WIREGUARD_ENDPOINT_PORT, value: "51820"}]
  - {name: app, image: example.com/app}
`
	np := func(spec string) string {
		return "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n, namespace: edge}\nspec: {" + spec + "}\n"
	}
	cnp := func(spec string) string {
		return "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: n, namespace: edge}\nspec: {" + spec + "}\n"
	}
	calico := func(kind, spec string) string {
		return "---\napiVersion: projectcalico.org/v3\nkind: " + kind + "\nmetadata: {name: n, namespace: edge}\nspec: {" + spec + "}\n"
	}
	const dns = "{ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]}"
	for _, tt := range []struct {
		name, policy string
		deny, only   Known
	}{
		{"none", "", Absent, Absent},
		{"deny all", np("podSelector: {}, policyTypes: [Egress]"), Present, Present},
		{"ingress only", np("podSelector: {}, policyTypes: [Ingress]"), Absent, Absent},
		{"no types and no egress rules", np("podSelector: {}, ingress: []"), Absent, Absent},
		{"no types but egress rules", np("podSelector: {}, egress: [" + dns + "]"), Present, Present},
		{"another pod", np("podSelector: {matchLabels: {app: other}}, policyTypes: [Egress]"), Absent, Absent},
		{"by expression", np("podSelector: {matchExpressions: [{key: app, operator: In, values: [x, gate]}]}, policyTypes: [Egress]"), Present, Present},
		{"by an operator that does not exist", np("podSelector: {matchExpressions: [{key: app, operator: Like, values: [g]}]}, policyTypes: [Egress]"), Unknown, Unknown},
		{"allow all", np("podSelector: {}, policyTypes: [Egress], egress: [{}]"), Absent, Absent},
		{"allow all addresses", np("podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]"), Absent, Absent},
		{"the internet but nothing private", np("podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]"), Absent, Absent},
		{"the tunnel's port to anywhere", np("podSelector: {}, policyTypes: [Egress], egress: [" + dns + ", {to: [{ipBlock: {cidr: 0.0.0.0/0}}], ports: [{port: 51820, protocol: UDP}]}]"), Present, Present},
		{"the tunnel's port over TCP", np("podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 51820, protocol: TCP}]}]"), Present, Absent},
		{"the web as well", np("podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 51820, protocol: UDP}, {port: 443, protocol: TCP}]}]"), Present, Absent},
		{"one address", np("podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 198.51.100.7/32}}]}]"), Present, Present},
		{"a whole public block", np("podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 198.0.0.0/8}}]}]"), Present, Absent},
		{"pods of the cluster", np("podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}]}]"), Present, Present},
		{"two policies add up", np("podSelector: {}, policyTypes: [Egress]") + strings.Replace(np("podSelector: {}, policyTypes: [Egress], egress: [{}]"), "name: n,", "name: m,", 1), Absent, Absent},
		{"another namespace", strings.Replace(np("podSelector: {}, policyTypes: [Egress]"), "namespace: edge", "namespace: other", 1), Absent, Absent},
		{"Cilium's empty rule denies", cnp("endpointSelector: {}, egress: [{}]"), Present, Present},
		{"Cilium to the world", cnp("endpointSelector: {matchLabels: {'k8s:app': gate}}, egress: [{toEntities: [world]}]"), Absent, Absent},
		{"Cilium to the world by the tunnel's port", cnp("endpointSelector: {}, egress: [{toEntities: [world], toPorts: [{ports: [{port: '51820', protocol: UDP}]}]}]"), Present, Present},
		{"Cilium to one name", cnp("endpointSelector: {}, egress: [{toFQDNs: [{matchName: vpn.example.com}]}]"), Present, Present},
		{"Cilium without default deny", cnp("endpointSelector: {}, enableDefaultDeny: {egress: false}, egress: [{}]"), Absent, Absent},
		{"Calico denies", calico("NetworkPolicy", "selector: app == 'gate', types: [Egress]"), Present, Present},
		{"Calico of other pods", calico("NetworkPolicy", "selector: app != 'gate' || has(tier), types: [Egress]"), Absent, Absent},
		{"Calico's tunnel port, then deny", calico("NetworkPolicy", "selector: all(), types: [Egress], egress: [{action: Allow, protocol: UDP, destination: {ports: [51820]}}, {action: Deny}, {action: Allow}]"), Present, Present},
		{"Calico allows all", calico("NetworkPolicy", "selector: all(), types: [Egress], egress: [{action: Allow}]"), Absent, Absent},
		{"Calico global by namespace", calico("GlobalNetworkPolicy", "namespaceSelector: projectcalico.org/name == 'edge', types: [Egress]"), Present, Present},
		{"Calico global by a label that is not in view", calico("GlobalNetworkPolicy", "namespaceSelector: team == 'a', types: [Egress]"), Unknown, Unknown},
		{"a selector that is not understood", calico("NetworkPolicy", "selector: app ~ 'gate', types: [Egress]"), Unknown, Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment(sidecar)+tt.policy)
			if p.Egress.DenyByDefault != tt.deny || p.Egress.TunnelOnly != tt.only {
				t.Errorf("deny by default %s, tunnel only %s; want %s, %s", p.Egress.DenyByDefault, p.Egress.TunnelOnly, tt.deny, tt.only)
			}
		})
	}
}
