package facts

import (
	"strings"
	"testing"
)

// What the objects of a network hold and their readers refuse is a gap at the field,
// and decides nothing.
func TestTypedFields(t *testing.T) {
	const (
		pool    = "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: a}\nspec:\n  cidr: 10.244.0.0/16\n  "
		tigera  = "apiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec:\n  calicoNetwork:\n    ipPools:\n      - cidr: 10.244.0.0/16\n        "
		felix   = "apiVersion: projectcalico.org/v3\nkind: FelixConfiguration\nmetadata: {name: default}\nspec:\n  "
		cilium  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata:\n  enable-ipv4: 'true'\n  "
		chart   = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cilium, namespace: kube-system}\nspec:\n  chart: {spec: {chart: cilium, version: 1.15.0, sourceRef: {kind: HelmRepository, name: c}}}\n  values:\n    ipam: {mode: kubernetes}\n    "
		gke     = "apiVersion: networking.gke.io/v1\nkind: EgressNATPolicy\nmetadata: {name: default}\nspec:\n  action: NoSNAT\n  destinations:\n  - cidr: 10.50.0.0/16\n  - cidr: "
		kubeadm = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nnetworking:\n  "
		kind    = "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnetworking:\n  podSubnet: 10.244.0.0/16\n  "
		flannel = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-flannel-cfg, namespace: kube-flannel}\ndata:\n  net-conf.json: |\n    {\"Backend\": {\"Type\": \"vxlan\"},\n    "
	)
	daemon := func(image, rest string) string {
		return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: net, namespace: kube-system}\nspec:\n  template:\n    spec:\n      containers:\n        - name: net\n          image: " + image + "\n          " + rest + "\n"
	}
	aws := "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.18.0"
	for _, tt := range []struct{ text, at, why string }{
		{pool + "natOutgoing: 'yes'", "yes", `"yes" is no boolean`},
		{pool + "natOutgoing: 'true'", "true", `"true" is no boolean`},
		{pool + "disabled: yess", "yess", `"yess" is no boolean`},
		{pool + "natOutgoin: true", "", `IPPool has no field "natOutgoin", natOutgoing is near`},
		{pool + "ipipMode: Sometimes", "Sometimes", "is none of Always, CrossSubnet, Never"},
		{pool + "allowedUses: Workload", "Workload", "is no list"},
		{strings.Replace(pool, "10.244.0.0", "10.244.1.0", 1) + "natOutgoing: true", "10.244.1.0/16", "the network is 10.244.0.0/16"},
		{tigera + "natOutgoing: true", "", "is none of Enabled, Disabled"},
		{tigera + "encapsulation: vxlan", "vxlan", "is none of IPIPCrossSubnet"},
		{felix + "natOutgoingAddress: 10.0.0.300", "10.0.0.300", "is no address"},
		{cilium + "ipv4-native-routing-cidr: 10.4.0.0/144", "10.4.0.0/144", "is no prefix"},
		{cilium + "enable-ipv4-masquerade: yess", "yess", "is neither true nor false"},
		{cilium + "cluster-pool-ipv4-mask-size: x", "x", "is no number"},
		{gke + "10.60.0.0/160", "10.60.0.0/160", "is no prefix"},
		{kubeadm + "podSubnet: [10.244.0.0/16]", "", "a list is no string"},
		{kind + "disableDefaultCNI: 'true'", "true", "is no boolean"},
		{flannel + "\"Network\": \"10.99.0.0/16\", \"SubnetLen\": \"x\"}", "", `"x" is no number`},
		{flannel + "\"Networl\": \"10.99.0.0/16\"}", "", `"Network" is near`},
		{daemon("docker.io/cloudnativelabs/kube-router:v2.1.0", "args: [--enable-pod-egress=jo]"), "--enable-pod-egress=jo", `"jo" is neither true nor false`},
		{daemon("docker.io/cloudnativelabs/kube-router:v2.1.0", "args: [--enable-pod-egres=false]"), "--enable-pod-egres=false", "--enable-pod-egress is near"},
		{daemon("docker.io/flannel/flannel:v0.25.1", "args: [--ip-masq=jo]"), "--ip-masq=jo", "is neither"},
		{daemon(aws, "env: [{name: AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS, value: '10.50.0.0/16,10.60.0.0/160'}]"), "10.50.0.0/16,10.60.0.0/160", `"10.60.0.0/160" is no prefix`},
		{daemon(aws, "env: [{name: AWS_VPC_K8S_CNI_EXTERNALSNAT, value: jo}]"), "jo", "is neither"},
		{"apiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerCluster\nmetadata: {name: c}\nspec:\n  defaultSnatStatus: {disabled: 'yes'}", "yes", "is no boolean"},
		{"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: a}\nspec:\n  podSelector: {}\n  policyTypes: [Egres]", "Egres", "is none of Ingress, Egress"},
		{"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: [net.ipv4.ip_forwrd]", "net.ipv4.ip_forwrd", `"net.ipv4.ip_forward" is near`},
		{"apiVersion: tailscale.com/v1alpha1\nkind: Connector\nmetadata: {name: c}\nspec: {exitNode: 'yes'}", "yes", "is no boolean"},
		{"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: [net.*, net.ipv4.ip_forward]\nclusterDNS: [10.96.0.10]", "", ""},
		{"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p, namespace: a}\nspec:\n  podSelector: {}\n  policyTypes: [Ingress, Egress]\n  egress: [{ports: [{port: 51820, protocol: UDP}]}]", "", ""},
		{pool + "natOutgoing: true\n  disabled: false\n  allowedUses: [Workload, Tunnel]\n  blockSize: 26\n  vxlanMode: Never", "", ""},
		{tigera + "natOutgoing: Enabled\n        encapsulation: VXLANCrossSubnet", "", ""},
		{cilium + "ipv4-native-routing-cidr: ${POD_CIDR}\n  enable-ipv4-masquerade: 'false'\n  routing-mode: tunnel\n  tunnel-protocol: geneve", "", ""},
		{chart + "ipv4NativeRoutingCIDR: 10.0.0.0/8\n    enableIPv4Masquerade: 'true'", "", ""},
		{kind + "disableDefaultCNI: true\n  kubeProxyMode: nftables", "", ""},
		{flannel + "\"Network\": \"10.99.0.0/16\", \"SubnetLen\": 26, \"EnableIPv6\": false}", "", ""},
		{daemon("docker.io/flannel/flannel:v0.25.1", "args: [--ip-masq, --kube-subnet-mgr]"), "", ""},
	} {
		objects := decode(t, "unit", tt.text)
		var said []string
		for _, g := range factsOf(t, objects).Gaps {
			if !strings.Contains(g.Why, "; correct it") {
				continue
			}
			said = append(said, g.Why)
			if at := textAt(t, objects, g.At); tt.at != "" && at != tt.at {
				t.Errorf("%s\npoints at %q, want %q", tt.text, at, tt.at)
			}
		}
		if len(said) != min(1, len(tt.why)) || tt.why != "" && !strings.Contains(said[0], tt.why) {
			t.Errorf("%s\nsays %q, want %q", tt.text, said, tt.why)
		}
	}
}

// A pool of which a switch is refused keeps and rewrites nothing that is known.
func TestRefusedPoolDecidesNothing(t *testing.T) {
	for _, field := range []string{"natOutgoing: 'yes'", "disabled: yess", "natOutgoin: false"} {
		text := "apiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: a}\nspec:\n  cidr: 10.244.0.0/16\n  " + field + "\n"
		for _, a := range factsOf(t, decode(t, "unit", text+"---\n"+cloudVPN)).Agents {
			t.Errorf("%s: agent %+v", field, a)
		}
	}
}
