package facts

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/images"
)

func TestPeerGroups(t *testing.T) {
	wireguard := func(name, spec string) string {
		return "---\napiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: WireguardPeer\nmetadata: {name: " + name + ", namespace: vpn}\nspec: {" + spec + "}\n"
	}
	kilo := func(name, spec string) string {
		return "---\napiVersion: kilo.squat.ai/v1alpha1\nkind: Peer\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
	}
	const prod = "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: prod\n"
	lab := strings.Replace(prod, "prod", "lab", 1)
	for _, tt := range []struct {
		name  string
		units map[string]string
		want  string
	}{
		{"a server's peers", map[string]string{"a": wireguard("anna", "wireguardRef: office, address: 10.8.0.2, allowedIPs: 0.0.0.0/0") + wireguard("konrad", "wireguardRef: office, address: 10.8.0.3, publicKey: K")},
			"the server Wireguard vpn/office: vpn/anna 10.8.0.2/32, K 10.8.0.3/32"},
		{"two servers", map[string]string{"a": wireguard("anna", "wireguardRef: office, address: 10.8.0.2") + wireguard("konrad", "wireguardRef: lab, address: 10.8.0.2")},
			"the server Wireguard vpn/office: vpn/anna 10.8.0.2/32; the server Wireguard vpn/lab: vpn/konrad 10.8.0.2/32"},
		{"disabled, without an address, of wrong types", map[string]string{"a": wireguard("a", "wireguardRef: office, address: 10.8.0.2, disabled: true") +
			wireguard("b", "wireguardRef: office") + wireguard("c", "wireguardRef: [office], address: 10.8.0.2") + wireguard("d", "wireguardRef: office, address: '${ADDRESS}'") +
			kilo("e", "allowedIPs: 10.4.0.2/32") + kilo("f", "allowedIPs: ['${ADDRESS}', 7]")}, ""},
		{"Kilo's peers", map[string]string{"a": kilo("anna", "publicKey: A, allowedIPs: [10.4.0.2/32, 192.168.9.0/24]") + kilo("exit", "publicKey: E, endpoint: {dnsOrIP: {ip: 198.51.100.7}, port: 51820}, allowedIPs: [0.0.0.0/0]")},
			"Kilo's mesh: A 10.4.0.2/32 192.168.9.0/24, E 0.0.0.0/0 by 198.51.100.7"},
		{"two directories", map[string]string{"a": kilo("anna", "publicKey: A, allowedIPs: [10.4.0.2/32]"), "b": kilo("konrad", "publicKey: K, allowedIPs: [10.4.0.2/32]")},
			"Kilo's mesh: A 10.4.0.2/32; Kilo's mesh: K 10.4.0.2/32"},
		{"two directories around which their server stands", map[string]string{
			"vpn":     "apiVersion: vpn.wireguard-operator.io/v1alpha1\nkind: Wireguard\nmetadata: {name: office, namespace: vpn}\n",
			"vpn/a":   wireguard("anna", "wireguardRef: office, address: 10.8.0.2"),
			"vpn/b/c": wireguard("konrad", "wireguardRef: office, address: 10.8.0.2"),
			"other":   wireguard("paula", "wireguardRef: office, address: 10.8.0.2"),
		}, "the server Wireguard vpn/office: vpn/paula 10.8.0.2/32; the server Wireguard vpn/office: vpn/anna 10.8.0.2/32, vpn/konrad 10.8.0.2/32"},
		{"two directories inside a declared cluster's", map[string]string{
			"prod":   prod,
			"prod/a": kilo("anna", "publicKey: A, allowedIPs: [10.4.0.2/32]"),
			"prod/b": kilo("konrad", "publicKey: K, allowedIPs: [10.4.0.2/32]"),
			"lab/a":  kilo("paula", "publicKey: P, allowedIPs: [10.4.0.2/32]"),
		}, "Kilo's mesh of prod: P 10.4.0.2/32; Kilo's mesh of prod: A 10.4.0.2/32, K 10.4.0.2/32"},
		{"a declared cluster", map[string]string{"a": prod + kilo("anna", "publicKey: A, allowedIPs: [10.4.0.2/32]")}, "Kilo's mesh of prod: A 10.4.0.2/32"},
		{"one of two clusters", map[string]string{"a": prod + lab + kilo("anna", "publicKey: A, allowedIPs: [10.4.0.2/32]")}, ""},
		{"another group's Peer", map[string]string{"a": "apiVersion: wg.example.com/v1\nkind: Peer\nmetadata: {name: a}\nspec: {allowedIPs: [10.4.0.2/32]}\n"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			catalog, err := images.Load()
			if err != nil {
				t.Fatal(err)
			}
			f, err := Read(t.Context(), tree(t, tt.units), catalog, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var groups []string
			for _, g := range f.PeerGroups {
				says := g.Says
				if g.Cluster != "" {
					says += " of " + g.Cluster
				}
				var peers []string
				for _, p := range g.Peers {
					said := p.PublicKey
					for _, a := range p.AllowedIPs {
						said += " " + a.Prefix
						if a.Ref.IsZero() {
							t.Errorf("%s has no place", a.Prefix)
						}
					}
					if p.Endpoint {
						said += " by " + p.EndpointAddress
					}
					peers = append(peers, said)
				}
				groups = append(groups, says+": "+strings.Join(peers, ", "))
			}
			if got := strings.Join(groups, "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.want != "" && f.Silent() {
				t.Error("the rules would not be asked")
			}
		})
	}
}
