package facts

import (
	"strings"
	"testing"
)

func TestInvalidRanges(t *testing.T) {
	kubeadm := func(field string) string {
		return "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {" + field + "}\n"
	}
	kind := func(fields string) string {
		return "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnetworking: {" + fields + "}\n"
	}
	serviceCIDR := func(entries string) string {
		return "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: more}\nspec: {cidrs: [" + entries + "]}\n"
	}
	tailscale := func(env string) string {
		return deployment("containers: [{name: ts, image: tailscale/tailscale, env: [{name: TS_USERSPACE, value: 'false'}, " + env + "]}]")
	}
	openVPN := func(line string) string {
		return mounted("kylemanna/openvpn", "/etc/openvpn", "openvpn.conf", "dev tun0\n"+line+"\n")
	}
	wireGuard := func(address, allowed string) string {
		return wgQuick("[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = " + address +
			"\n[Peer]\nPublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\nEndpoint = 198.51.100.7:51820\nAllowedIPs = " + allowed + "\n")
	}
	for _, tt := range []struct{ name, text, want string }{
		{"an address for a pod range", kubeadm("podSubnet: 10.244.0.0"), "podSubnet 10.244.0.0: it is an address without a mask"},
		{"no prefix", kubeadm("podSubnet: 10.300.0.0/16"), "podSubnet 10.300.0.0/16: it is no prefix"},
		{"the second of two families", kubeadm("podSubnet: '10.244.0.0/16,fd00:10:244::/129'"), "podSubnet fd00:10:244::/129: it is no prefix"},
		{"two families", kubeadm("podSubnet: '10.244.0.0/16,fd00:10:244::/56'"), ""},
		{"kubeadm: a blank behind the comma", kubeadm("podSubnet: '10.244.0.0/16, fd00:10:244::/56'"), "podSubnet fd00:10:244::/56: a blank stands beside it, and the list is cut at its commas alone"},
		{"kubeadm: a blank at the end", kubeadm("serviceSubnet: '10.96.0.0/12 '"), "serviceSubnet 10.96.0.0/12: a blank stands beside it, and the list is cut at its commas alone"},
		{"kind: a blank behind the comma", kind("ipFamily: dual, podSubnet: '10.244.0.0/16, fd00:10:244::/56'"), "podSubnet fd00:10:244::/56: a blank stands beside it, and the list is cut at its commas alone"},
		{"kubeadm: a blank beside what is filled in", kubeadm("podSubnet: '10.244.0.0/16, ${POD6}'"), ""},
		{"kubeadm masks", kubeadm("podSubnet: 10.244.3.1/16"), ""},
		{"kubeadm: two pod ranges of one family", kubeadm("podSubnet: '10.244.0.0/16,10.245.0.0/16'"), "podSubnet 10.245.0.0/16: it is the second IPv4 range after 10.244.0.0/16, and no more than one of each family is taken"},
		{"kubeadm: two service ranges of one family", kubeadm("serviceSubnet: 'fd00:1::/112,fd00:2::/112'"), "serviceSubnet fd00:2::/112: it is the second IPv6 range after fd00:1::/112, and no more than one of each family is taken"},
		{"kubeadm: three ranges, one of which is filled in", kubeadm("podSubnet: '10.244.0.0/16,10.245.0.0/16,${MORE}'"), ""},
		{"kubeadm: IPv6 services as wide as a network", kubeadm("serviceSubnet: 'fd00:1::/64'"), "serviceSubnet fd00:1::/64: it is wider than a /108, the widest that kubeadm takes for services"},
		{"kubeadm: services as wide as a private block", kubeadm("serviceSubnet: 10.0.0.0/11"), "serviceSubnet 10.0.0.0/11: it is wider than a /12, the widest that kubeadm takes for services"},
		{"kubeadm: its widest services", kubeadm("serviceSubnet: '10.96.0.0/12,fd00:1::/108'"), ""},
		{"kubeadm: eight services", kubeadm("serviceSubnet: 10.96.0.0/29"), "serviceSubnet 10.96.0.0/29: it has 8 addresses, and kubeadm wants 10 for services"},
		{"kubeadm: sixteen services", kubeadm("serviceSubnet: 10.96.0.0/28"), ""},
		{"kubeadm: eight pods", kubeadm("podSubnet: 10.244.0.0/29"), "podSubnet 10.244.0.0/29: it has 8 addresses, and kubeadm wants 14 for pods"},
		{"kubeadm: fewer pods than a node gets", kubeadm("podSubnet: 10.244.0.0/25"), "podSubnet 10.244.0.0/25: each node gets a /24 of it unless node-cidr-mask-size says otherwise, which is more than it has"},
		{"kubeadm: as many pods as a node gets", kubeadm("podSubnet: '10.244.0.0/24,fd00::/64'"), ""},
		{"kubeadm: fewer pods, and a flag", kubeadm("podSubnet: 10.244.0.0/25}\ncontrollerManager: {extraArgs: {node-cidr-mask-size: '26'}"), ""},
		{"kubeadm: fewer pods, and a flag in the newer form", kubeadm("podSubnet: 10.244.0.0/25}\ncontrollerManager: {extraArgs: [{name: allocate-node-cidrs, value: 'false'}]"), ""},
		{"kubeadm: more pods than nodes are counted", kubeadm("podSubnet: 'fd00::/40'"), "podSubnet fd00::/40: each node gets a /64 of it unless node-cidr-mask-size says otherwise, and kubeadm takes no range that is wider by more than 16 bits"},
		{"kubeadm: pods of a whole private block", kubeadm("podSubnet: '10.0.0.0/8,fd00::/48'"), ""},
		{"Cluster API's kubeadm", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: c}\nspec: {kubeadmConfigSpec: {clusterConfiguration: {networking: {podSubnet: '10.244.0.0/16,10.245.0.0/16'}}}}", "podSubnet 10.245.0.0/16: it is the second IPv4 range after 10.244.0.0/16, and no more than one of each family is taken"},
		{"Cluster API may have several blocks", "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\nspec: {clusterNetwork: {pods: {cidrBlocks: [10.244.0.0/16, 10.245.0.0/16]}}}", ""},
		{"kind: two ranges", kind("podSubnet: '10.244.0.0/16,fd00:10:244::/56'"), "podSubnet fd00:10:244::/56: it is the second range, and kind takes one unless ipFamily is dual"},
		{"kind: both families", kind("ipFamily: dual, podSubnet: '10.244.0.0/16,fd00:10:244::/56', serviceSubnet: 10.96.0.0/16"), ""},
		{"kind: both families, and two of one", kind("ipFamily: dual, podSubnet: '10.244.0.0/16,10.245.0.0/16'"), "podSubnet 10.245.0.0/16: it is the second IPv4 range after 10.244.0.0/16, and no more than one of each family is taken"},
		{"kind: the other family", kind("ipFamily: ipv6, serviceSubnet: 10.96.0.0/16"), "serviceSubnet 10.96.0.0/16: it is of another family than ipFamily, which is ipv6"},
		{"kind: IPv6 without asking for it", kind("podSubnet: 'fd00:10:244::/56'"), "podSubnet fd00:10:244::/56: it is of another family than ipFamily, which is ipv4"},
		{"kind: IPv6", kind("ipFamily: ipv6, podSubnet: 'fd00:10:244::/56'"), ""},
		{"kind: which family is filled in later", kind("ipFamily: '${FAMILY}', podSubnet: 'fd00:10:244::/56'"), ""},
		{"a pool of Calico's with host bits", "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.244.0.1/16}", "IPPool cidr 10.244.0.1/16: it has bits set right of its mask; the network is 10.244.0.0/16"},
		{"a pool of Calico's behind its API", "apiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.244.0.1/16}", ""},
		{"a pool of Calico's", "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 'fd00:10:244::/56'}", ""},
		{"a ServiceCIDR with host bits", serviceCIDR("10.2.0.1/20"), "ServiceCIDR 10.2.0.1/20: it has bits set right of its mask; the network is 10.2.0.0/20"},
		{"a ServiceCIDR in another spelling", serviceCIDR("'FD02:0::/112'"), "ServiceCIDR FD02:0::/112: it is not written the one way that is taken, fd02::/112"},
		{"a ServiceCIDR of two of one family", serviceCIDR("10.2.0.0/20, 10.3.0.0/20"), "ServiceCIDR 10.3.0.0/20: it is the second IPv4 range after 10.2.0.0/20, and no more than one of each family is taken"},
		{"a ServiceCIDR of both families", serviceCIDR("10.2.0.0/20, 'fd02::/112'"), ""},
		{"a ServiceCIDR that is filled in later", serviceCIDR("'${MORE}'"), ""},
		{"filled in later", kubeadm("podSubnet: '${POD_CIDR}'"), ""},
		{"a placeholder", kubeadm("podSubnet: __POD_CIDR__"), ""},
		{"a placeholder with a mask", kubeadm("podSubnet: POD_NET/16"), ""},
		{"Cluster API", "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\nspec: {clusterNetwork: {pods: {cidrBlocks: [10.244.0.0/36]}}}", "pods.cidrBlocks 10.244.0.0/36: it is no prefix"},
		{"IPv6 where IPv4 is read", "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: e}\nkubernetesNetworkConfig: {serviceIPv4CIDR: 'fd00::/108'}", "serviceIPv4CIDR fd00::/108: it is IPv6"},
		{"a netmask alone in Config Connector", "apiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerCluster\nmetadata: {name: g}\nspec: {ipAllocationPolicy: {clusterIpv4CidrBlock: /14}}", ""},
		{"an address range in MetalLB", "apiVersion: metallb.io/v1beta1\nkind: IPAddressPool\nmetadata: {name: l}\nspec: {addresses: [10.30.0.10-10.30.0.20]}", ""},
		{"a selector with host bits", "apiVersion: compute.cnrm.cloud.google.com/v1beta1\nkind: ComputeVPNTunnel\nmetadata: {name: v}\nspec: {remoteTrafficSelector: [10.20.0.1/16]}", "a range of ComputeVPNTunnel 10.20.0.1/16: it has bits set right of its mask; the network is 10.20.0.0/16"},
		{"a clusterIP is no range", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {clusterIP: 10.96.0.300}", ""},
		{"a netmask with a hole", openVPN("server 10.8.0.0 255.255.0.255"), "server 255.255.0.255: it is no netmask: its ones are not in one piece"},
		{"a route's netmask", openVPN("server 10.8.0.0 255.255.255.0\nroute 10.9.0.0 0.255.0.0"), "route 0.255.0.0: it is no netmask: its ones are not in one piece"},
		{"a pushed netmask", openVPN("server 10.8.0.0 255.255.255.0\npush \"route 10.9.0.0 255.0.255.0\""), `push "route" 255.0.255.0: it is no netmask: its ones are not in one piece`},
		{"a netmask of no four bytes", openVPN("server 10.8.0.0 255.255.255.300"), "server 255.255.255.300: it is no netmask: 300 is more than 255"},
		{"an address of five", openVPN("server 10.8.0.0.0 255.255.255.0"), "server 10.8.0.0.0: it is no address: it has 5 numbers, and an address has four"},
		{"an address in the short form", openVPN("server 10.8.0 255.255.255.0"), ""},
		{"a route to no address", openVPN("server 10.8.0.0 255.255.255.0\nroute 10.9.0.256 255.255.255.0"), "route 10.9.0.256: it is no address: 256 is more than 255"},
		{"a route to a host with numbers in its name", openVPN("server 10.8.0.0 255.255.255.0\nroute 10.9.0.256.example 255.255.255.255"), ""},
		{"a pushed netmask of no four bytes", openVPN("server 10.8.0.0 255.255.255.0\npush \"route 10.9.0.0 255.255.300.0\""), `push "route" 255.255.300.0: it is no netmask: 300 is more than 255`},
		{"a pool's end", openVPN("mode server\nifconfig-pool 10.8.0.10 10.8.0.300"), "ifconfig-pool 10.8.0.300: it is no address: 300 is more than 255"},
		{"an IPv6 pool that is no prefix", openVPN("server-ipv6 fd00::/200"), "server-ipv6 fd00::/200: it is no prefix"},
		{"an IPv6 route that is no prefix", openVPN("server 10.8.0.0 255.255.255.0\nroute-ipv6 fd00:1::/129"), "route-ipv6 fd00:1::/129: it is no prefix"},
		{"a pushed IPv6 route that is no prefix", openVPN("server 10.8.0.0 255.255.255.0\npush \"route-ipv6 fd00:x::/64\""), ""},
		{"a pushed IPv6 route with a mask too many", openVPN("server 10.8.0.0 255.255.255.0\npush \"route-ipv6 fd00::/64/64\""), `push "route-ipv6" fd00::/64/64: it is no prefix`},
		{"IPv6 that is filled in later", openVPN("server-ipv6 ${PREFIX}::/64"), ""},
		{"netmasks that are", openVPN("server 10.8.0.0 255.255.255.0\nroute 10.9.0.0\npush \"route 10.9.0.0 255.255.0.0\""), ""},
		{"a start script's placeholders", openVPN("server 10.8.0.0 255.255.255.0\npush \"route NETWORK NETMASK\""), ""},
		{"a host name", openVPN("client\nremote vpn.example.net\nroute gate.example.net 255.255.255.255"), ""},
		{"an Address with host bits", wireGuard("10.8.0.1/24", "10.9.0.1/16"), ""},
		{"an Address that is none", wireGuard("10.8.0/24", "0.0.0.0/0"), "Address 10.8.0/24: it is neither an address nor a prefix"},
		{"AllowedIPs that are none", wireGuard("10.8.0.2/32", "10.9.0.0/33, 10.10.0.0/16"), "AllowedIPs 10.9.0.0/33: it is neither an address nor a prefix"},
		{"AllowedIPs that are filled in later", wireGuard("10.8.0.2/32", "${ALLOWED}"), ""},
		{"TS_ROUTES with host bits", tailscale("{name: TS_ROUTES, value: '10.0.0.0/8,192.168.1.7/24'}"), "TS_ROUTES 192.168.1.7/24: it has bits set right of its mask; the network is 192.168.1.0/24"},
		{"TS_ROUTES with an address", tailscale("{name: TS_ROUTES, value: 10.0.0.7}"), "TS_ROUTES 10.0.0.7: it is an address without a mask"},
		{"TS_ROUTES", tailscale("{name: TS_ROUTES, value: '10.0.0.0/8, fd00::/64'}"), ""},
		{"--advertise-routes with host bits", tailscale("{name: TS_EXTRA_ARGS, value: '--accept-dns --advertise-routes=10.0.0.0/8,10.1.1.1/24 --ssh'}"), "--advertise-routes 10.1.1.1/24: it has bits set right of its mask; the network is 10.1.1.0/24"},
		{"an empty --advertise-routes", tailscale("{name: TS_EXTRA_ARGS, value: '--advertise-routes='}"), ""},
		{"a Connector's route", "apiVersion: tailscale.com/v1alpha1\nkind: Connector\nmetadata: {name: n}\nspec: {subnetRouter: {advertiseRoutes: [10.40.0.0/14, 10.41.0.0/14]}}", "subnetRouter.advertiseRoutes 10.41.0.0/14: it has bits set right of its mask; the network is 10.40.0.0/14"},
		{"a Connector's app", "apiVersion: tailscale.com/v1alpha1\nkind: Connector\nmetadata: {name: n}\nspec: {appConnector: {routes: [198.51.100.7, '${ROUTE}']}}", "appConnector.routes 198.51.100.7: it is an address without a mask"},
		{"a policy's block without a mask", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n}\nspec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.1}}]}]}", "ipBlock.cidr 10.0.0.1: it is an address without a mask"},
		{"a policy's block", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n}\nspec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/40}}]}]}", "ipBlock.cidr 10.0.0.0/40: it is no prefix"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range read(t, tt.text).Invalid {
				got = append(got, r.Says+" "+r.Text+": "+r.Why)
				if r.Fate == "" || r.Ref.IsZero() || r.Object.Kind == "" {
					t.Errorf("incomplete: %+v", r)
				}
			}
			if all := strings.Join(got, "\n"); all != tt.want {
				t.Errorf("got  %s\nwant %s", all, tt.want)
			}
		})
	}
}

func TestInvalidRangesPointAtTheEntry(t *testing.T) {
	text := mounted("kylemanna/openvpn", "/etc/openvpn", "openvpn.conf", "dev tun0\nserver 10.8.0.0 255.255.0.255\n")
	found := read(t, text).Invalid
	if len(found) != 1 {
		t.Fatalf("got %+v", found)
	}
	if at := textAt(t, decode(t, "unit", text), found[0].Ref); at != "255.255.0.255" || found[0].Pod == "" {
		t.Errorf("points at %q, pod %q", at, found[0].Pod)
	}
}

// TestRefusedAllowedIPsAreSaidOnce: what wg refuses is a finding, and no gap says
// that it may be filled in later; what may be is a gap.
func TestRefusedAllowedIPsAreSaidOnce(t *testing.T) {
	for _, tt := range []struct {
		name, allowed string
		invalid       int
		gap           string
	}{
		{"refused", "10.9.0.0/33, 10.10.0.0/16", 1, ""},
		{"a word", "10.10.0.0/16, OFFICE", 0, "AllowedIPs OFFICE is filled in later; lint what is applied, with the value filled in"},
		{"one of each", "10.9.0.0/33, ${OFFICE}", 1, "AllowedIPs ${OFFICE} is filled in later; lint what is applied, with the value filled in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, wgQuick("[Interface]\nPrivateKey = AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nAddress = 10.8.0.2/32\n"+
				"[Peer]\nPublicKey = BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=\nEndpoint = 198.51.100.7:51820\nAllowedIPs = "+tt.allowed+"\n"))
			if len(f.Invalid) != tt.invalid {
				t.Errorf("invalid %+v, want %d", f.Invalid, tt.invalid)
			}
			var later []string
			for _, g := range f.Gaps {
				if strings.Contains(g.Why, "AllowedIPs") {
					later = append(later, g.Why)
				}
			}
			if got := strings.Join(later, "\n"); got != tt.gap {
				t.Errorf("gaps %q, want %q", got, tt.gap)
			}
			if state := f.Pods[0].Tunnels[0].Routes.State; state != Unknown {
				t.Errorf("routes are %s, want unknown", state)
			}
		})
	}
}

func TestRefusedMasqueradeLists(t *testing.T) {
	for _, tt := range []struct {
		name, kind, config string
		args               []string
		want               string
	}{
		{"host bits", agentUpstream, "nonMasqueradeCIDRs: [10.4.1.0/14]", nil, "10.4.1.0/14"},
		{"aligned", agentUpstream, "nonMasqueradeCIDRs: [10.4.0.0/14]", nil, ""},
		{"a bare address", agentUpstream, "nonMasqueradeCIDRs: [10.4.0.0/14, 10.9.0.1]", nil, "10.9.0.1"},
		{"each of two", agentUpstream, "nonMasqueradeCIDRs: [10.4.1.0/14, 10.9.0.1]", nil, "10.4.1.0/14 10.9.0.1"},
		{"IPv6 without the flag", agentUpstream, "nonMasqueradeCIDRs: ['fd00::/8']", nil, "'fd00::/8'"},
		{"IPv6 with the flag", agentUpstream, "nonMasqueradeCIDRs: ['fd00::/8']", []string{"--enable-ipv6"}, ""},
		{"a number for a duration", agentUpstream, "nonMasqueradeCIDRs: [10.0.0.0/8]\nresyncInterval: 60", nil, "60"},
		{"broken YAML", agentUpstream, "nonMasqueradeCIDRs: [10.0.0.0/8", nil, "nonMasqueradeCIDRs: [10.0.0.0/8"},
		{"filled in later", agentUpstream, "nonMasqueradeCIDRs: ['${POD_CIDR}']", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := masqAgent("config", tt.config, tt.args...)
			agents := read(t, text).Agents
			if len(agents) != 1 || agents[0].Kind != tt.kind {
				t.Fatalf("agents %+v", agents)
			}
			var got []string
			for _, r := range agents[0].List.Refused {
				got = append(got, textAt(t, decode(t, "unit", text), r.Ref))
				if !strings.Contains(r.Fate, "old rules") {
					t.Errorf("fate %q", r.Fate)
				}
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("got %q, want %q", all, tt.want)
			}
		})
	}
}
