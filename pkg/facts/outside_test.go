package facts

import (
	"fmt"
	"strings"
	"testing"
)

func TestTunnelCarriesIPv6(t *testing.T) {
	client := func(hooks, allowed string) string { return wgQuick(wgHead + hooks + wgPeer + allowed + "\n") }
	image := func(name, env string) string {
		return deployment("containers: [{name: vpn, image: '" + name + "', env: [{name: VPN_TYPE, value: wireguard}" + env + "]}]")
	}
	atHome := func(env string) string {
		return mounted("ghcr.io/k8s-at-home/wireguard:v1.0.20210914", "/etc/wireguard", "wg0.conf", wgHead+wgPeer+"0.0.0.0/0\n", "env: ["+env+"]")
	}
	const reject6 = "PostUp = ip6tables -I OUTPUT ! -o %i -m addrtype ! --dst-type LOCAL -j REJECT\n"
	for _, tt := range []struct {
		name, text string
		want       Known
	}{
		{"IPv4 only", client("", "0.0.0.0/0"), Absent},
		{"both families", client("", "0.0.0.0/0, ::/0"), Present},
		{"both families in halves", client("", "0.0.0.0/0, ::/1, 8000::/1"), Present},
		{"a part of IPv6", client("", "0.0.0.0/0, fd00::/8"), Absent},
		{"a hook drops IPv6", client(reject6, "0.0.0.0/0"), Present},
		{"a hook drops IPv6 by policy", client("PreUp = ip6tables -P OUTPUT DROP\n", "0.0.0.0/0"), Present},
		{"a hook drops one port of IPv6", client("PostUp = ip6tables -I OUTPUT -p udp --dport 53 -j REJECT\n", "0.0.0.0/0"), Absent},
		{"a kill switch for IPv4", client("PostUp = iptables -I OUTPUT ! -o %i -j REJECT\n", "0.0.0.0/0"), Absent},
		{"nft rules are not read in full", client("PostUp = nft add rule inet f out oifname != wg0 drop\n", "0.0.0.0/0"), Unknown},
		{"a script that is not in view", client("PostUp = /scripts/up.sh\n", "0.0.0.0/0"), Unknown},
		{"an entry that is filled in later", client("", "${ALLOWED}"), Unknown},
		{"gluetun drops both families", image("qmcgaw/gluetun:v3.40.0", ", {name: WIREGUARD_ALLOWED_IPS, value: 0.0.0.0/0}"), Present},
		{"gluetun's default takes both", image("qmcgaw/gluetun:v3.40.0", ""), Present},
		{"an image whose kill switch is on", atHome("{name: KILLSWITCH, value: 'true'}, {name: KILLSWITCH_EXCLUDEDNETWORKS_IPV4, value: 10.0.0.0/8}"), Unknown},
		{"an image whose kill switch is off", atHome("{name: KILLSWITCH, value: 'false'}"), Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, tt.text)
			if got := s.tunnel(t).IPv6; got.State != tt.want || got.Ref.IsZero() {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

func TestTunnelMTU(t *testing.T) {
	conf := func(lines, endpoint string) string {
		return wgQuick(strings.Replace(wgHead+lines+wgPeer+"10.60.0.0/16\n", "198.51.100.7:51820", endpoint, 1))
	}
	gluetun := func(env string) string {
		return deployment("containers: [{name: vpn, image: 'qmcgaw/gluetun:v3.40.0', env: [" + env + "]}]")
	}
	for _, tt := range []struct{ name, text, want, at string }{
		{"in the file", conf("MTU = 1420\n", "198.51.100.7:51820"), "1420 false MTU = 1420", "1420"},
		{"an IPv6 endpoint", conf("MTU = 1400\n", "[2001:db8::7]:51820"), "1400 true MTU = 1400", "1400"},
		{"an endpoint by name", conf("MTU = 1400\n", "vpn.example.com:51820"), "1400 false MTU = 1400", "1400"},
		{"none", conf("", "198.51.100.7:51820"), "0 false ", ""},
		{"filled in later", conf("MTU = ${MTU}\n", "198.51.100.7:51820"), "0 false ", ""},
		{"no size", conf("MTU = 70000\n", "198.51.100.7:51820"), "0 false ", ""},
		{"a variable", gluetun("{name: VPN_TYPE, value: wireguard}, {name: WIREGUARD_MTU, value: '1380'}, {name: WIREGUARD_ENDPOINT_IP, value: '2001:db8::7'}"), "1380 true WIREGUARD_MTU=1380", "1380"},
		{"a variable that nothing reads", gluetun("{name: VPN_TYPE, value: openvpn}, {name: WIREGUARD_MTU, value: '1380'}"), "0 false ", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := look(t, tt.text)
			m := s.tunnel(t).MTU
			if got := fmt.Sprint(m.Size, " ", m.Outer6, " ", m.Says); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if tt.at != "" {
				if got := s.at(t, m.Ref); got != tt.at {
					t.Errorf("points at %q", got)
				}
			}
		})
	}
}

func TestClusterMTU(t *testing.T) {
	configMap := func(name, data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: kube-system}\ndata: {" + data + "}\n"
	}
	const calico = `cni_network_config: '{"plugins": [{"type": "calico"}]}', `
	for _, tt := range []struct{ name, text, want string }{
		{"Calico's operator", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {mtu: 1440}}\n", "1440 calicoNetwork.mtu: 1440"},
		{"Calico's manifest", configMap("calico-config", calico+`veth_mtu: "1430"`), "1430 veth_mtu: 1430"},
		{"Calico finds out by itself", configMap("calico-config", calico+`veth_mtu: "0"`), "0 "},
		{"Cilium", configMap("cilium-config", `mtu: "1410"`), "1410 mtu: 1410"},
		{"nothing", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {}\n", "0 "},
		{"no number", configMap("cilium-config", `mtu: auto`), "0 "},
		{"negative", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {mtu: -1}}\n", "0 "},
		{"absurd", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {mtu: 99999999999}}\n", "0 "},
		{"another type", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {mtu: [1440]}}\n", "0 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clusters := read(t, tt.text).Clusters
			if len(clusters) != 1 {
				t.Fatalf("%d clusters", len(clusters))
			}
			m := clusters[0].MTU
			if got := fmt.Sprint(m.Size, " ", m.Says); got != tt.want || m.Size > 0 && m.Ref.IsZero() {
				t.Errorf("got %+v, want %q", m, tt.want)
			}
		})
	}
}

func TestBackends(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Endpoints", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: erp, namespace: a}\nsubsets: [{addresses: [{ip: 10.60.4.20}, {ip: 10.60.4.21}], notReadyAddresses: [{ip: 10.60.4.22}]}]\n", "10.60.4.20 10.60.4.21"},
		{"an EndpointSlice", "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: erp, namespace: a}\naddressType: IPv4\nendpoints: [{addresses: [10.60.4.20]}, {addresses: ['fd00::7']}]\n", "10.60.4.20 fd00::7"},
		{"names are no addresses", "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: erp}\naddressType: FQDN\nendpoints: [{addresses: [erp.example.com]}]\n", ""},
		{"any shape", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: erp}\nsubsets: {addresses: 1}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, b := range read(t, tt.text).Backends {
				got = append(got, b.Address)
				if b.Ref.IsZero() || b.Object.Name != "erp" {
					t.Errorf("%+v", b)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNodeRoutes(t *testing.T) {
	route := func(spec string) string {
		return "apiVersion: compute.cnrm.cloud.google.com/v1beta1\nkind: ComputeRoute\nmetadata: {name: r, namespace: net}\nspec: {" + spec + "}\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"into a tunnel", route("destRange: 10.60.0.0/16, nextHopVPNTunnelRef: {name: t}"), "10.60.0.0/16"},
		{"to an instance", route("destRange: 10.61.1.7/16, nextHopIp: 10.128.0.7"), "10.61.0.0/16"},
		{"the default route leads nowhere in particular", route("destRange: 0.0.0.0/0, nextHopGateway: default-internet-gateway"), ""},
		{"any shape", route("destRange: [10.60.0.0/16]"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range read(t, tt.text).NodeRoutes {
				got = append(got, r.Prefix)
				if r.Ref.IsZero() {
					t.Errorf("%+v has no place", r)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A script of the image that a hook runs may reject, masquerade and route.
func TestHookRunsScriptOfImage(t *testing.T) {
	for _, tt := range []struct {
		name, hook string
		want       Known
	}{
		{"a path", "/scripts/up.sh %i", Unknown},
		{"a name", "up.sh", Unknown},
		{"through a shell", "sh -e /opt/up", Unknown},
		{"a program", "/sbin/sysctl -q net.ipv4.tcp_mtu_probing=1", Absent},
		{"a mounted script", "sh /etc/wireguard/up.sh", Absent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := wgQuick(wgHead + "PostUp = " + tt.hook + "\n" + wgPeer + "0.0.0.0/0\n")
			s := look(t, text+"  up.sh: \"echo up\"\n", lab())
			if tun := s.tunnel(t); tun.KillSwitch.State != tt.want {
				t.Errorf("kill switch %+v, want %s", tun.KillSwitch, tt.want)
			}
		})
	}
}

func TestMentionsBehindProxy(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		want      string
	}{
		{"no proxy", "", "10.60.4.20 false"},
		{"a proxy", ", {name: https_proxy, value: 'http://gluetun.vpn:8888'}", "10.60.4.20 true"},
		{"a list of exceptions is none", ", {name: NO_PROXY, value: '.svc'}", "10.60.4.20 false"},
		{"an empty one is none", ", {name: HTTP_PROXY, value: ''}", "10.60.4.20 false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment("containers: [{name: app, image: example.com/app, env: [{name: DB, value: 'tcp://10.60.4.20:5432'}"+tt.env+"]}]"))
			var got []string
			for _, m := range p.Mentions {
				got = append(got, fmt.Sprint(m.Address, " ", m.Proxied))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestClusterKnown(t *testing.T) {
	kubeadm := func(name string) string {
		return "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: " + name + "\nnetworking: {podSubnet: 10.244.0.0/16}\n"
	}
	const parts = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: web, image: nginx}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: erp}
subsets: [{addresses: [{ip: 10.60.4.20}]}]
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeRoute
metadata: {name: onprem}
spec: {destRange: 10.60.0.0/16}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeVPNTunnel
metadata: {name: onprem}
spec: {remoteTrafficSelector: [10.70.0.0/16]}
`
	for _, tt := range []struct {
		name, clusters, cluster string
		want                    Known
	}{
		{"no cluster in view", "", "", Present},
		{"one cluster", kubeadm("prod"), "prod", Present},
		{"two clusters equally near", kubeadm("prod") + kubeadm("lab"), "", Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, parts+tt.clusters)
			got := []any{strings.Join(f.Pods[0].Clusters, ","), f.Pods[0].ClusterKnown}
			got = append(got, f.Backends[0].Cluster, f.Backends[0].ClusterKnown, f.NodeRoutes[0].Cluster, f.NodeRoutes[0].ClusterKnown)
			got = append(got, f.Sites[0].Cluster, f.Sites[0].ClusterKnown)
			for i := 0; i < len(got); i += 2 {
				if got[i] != tt.cluster || got[i+1] != tt.want {
					t.Errorf("got %v, want %q %s each", got, tt.cluster, tt.want)
				}
			}
		})
	}
}

func TestExternalName(t *testing.T) {
	coreDNS := func(lines string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: coredns, namespace: kube-system}\ndata:\n  NodeHosts: |\n    10.60.4.21 erp.example.com\n  Corefile: |\n    .:53 {\n" + indent(lines, 8) + "\n    }\n"
	}
	service := func(spec string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: erp, namespace: jobs}\nspec: {" + spec + "}\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"an address", service("type: ExternalName, externalName: 10.60.4.20"), "10.60.4.20"},
		{"a name", service("type: ExternalName, externalName: erp.example.com"), ""},
		{"another type of Service", service("type: ClusterIP, externalName: 10.60.4.20"), ""},
		{"no text", service("type: ExternalName, externalName: [10.60.4.20]"), ""},
		{"a name that CoreDNS knows", service("type: ExternalName, externalName: ERP.example.com.") + coreDNS("hosts {\n 10.60.4.20 erp.example.com # the old one\n fallthrough\n}"), "10.60.4.20"},
		{"a name that CoreDNS knows from a file", service("type: ExternalName, externalName: erp.example.com") + coreDNS("hosts /etc/coredns/NodeHosts example.com {\n ttl 60\n}"), "10.60.4.21"},
		{"a name that CoreDNS does not know", service("type: ExternalName, externalName: erp.example.org") + coreDNS("hosts {\n 10.60.4.20 erp.example.com\n}"), ""},
		{"a line in a comment", service("type: ExternalName, externalName: erp.example.com") + coreDNS("hosts {\n # 10.60.4.20 erp.example.com\n}"), ""},
		{"another plugin", service("type: ExternalName, externalName: erp.example.com") + coreDNS("forward . 10.60.4.20 erp.example.com"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, b := range read(t, tt.text).Backends {
				got += b.Address
				if b.Object.Kind != "Service" || b.Ref.Pointer != "/spec/externalName" {
					t.Errorf("backend %+v", b)
				}
				if !b.Resolved.IsZero() {
					if at := textAt(t, decode(t, ".", tt.text), b.Resolved); at != tt.want {
						t.Errorf("CoreDNS has %q", at)
					}
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
