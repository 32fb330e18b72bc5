package facts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// tree decodes manifests by directory, in a stable order of directories.
func tree(t *testing.T, units map[string]string) []*source.Object {
	t.Helper()
	var names []string
	for unit := range units {
		names = append(names, unit)
	}
	slices.Sort(names)
	var out []*source.Object
	for _, unit := range names {
		for _, o := range decode(t, unit, units[unit]) {
			o.ID = source.ObjectID(unit + ":" + string(o.ID)) // unique over directories
			out = append(out, o)
		}
	}
	return out
}

// describe says what is known of a cluster in one line.
func describe(c *Cluster) string {
	var ranges []string
	for _, r := range c.Ranges {
		mark := ""
		switch r.Strength {
		case cidrplan.Default:
			mark = "?"
		case cidrplan.Evidence:
			mark = "!"
		}
		ranges = append(ranges, string(r.Role)+" "+r.Prefix+mark)
	}
	out := fmt.Sprintf("%q in %s: %s", c.Name, c.Unit, strings.Join(ranges, ", "))
	if c.CNI != "" {
		out += "; " + c.CNI
	}
	if c.ForwardingOff.State != Absent {
		out += "; off " + string(c.ForwardingOff.State)
	}
	if c.ForwardingOn.State != Absent {
		out += "; on " + string(c.ForwardingOn.State)
	}
	return out
}

const kubeadmConfig = `
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking: {podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/12}
`

const gkeCluster = `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: shop, namespace: infra}
spec:
  subnetworkRef: {name: workers}
  ipAllocationPolicy: {clusterSecondaryRangeName: pods, servicesSecondaryRangeName: svc}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeSubnetwork
metadata: {name: workers, namespace: infra}
spec:
  ipCidrRange: 10.128.0.0/20
  secondaryIpRange:
    - {rangeName: pods, ipCidrRange: 10.4.0.0/14}
    - {rangeName: svc, ipCidrRange: 10.8.0.0/20}
`

func TestClusters(t *testing.T) {
	tests := []struct {
		name  string
		units map[string]string
		want  []string
	}{
		{"kubeadm, by its default name", map[string]string{"lab": kubeadmConfig},
			[]string{`"kubernetes" in lab: pod 10.244.0.0/16, service 10.96.0.0/12`}},
		{"kubeadm, dual-stack and a default", map[string]string{"lab": `
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: edge
controlPlaneEndpoint: 192.0.2.10:6443
networking: {podSubnet: "10.244.0.0/16,fd00:10:244::/56"}
`}, []string{`"edge" in lab: api 192.0.2.10/32, pod 10.244.0.0/16, pod fd00:10:244::/56, service 10.96.0.0/12?`}},
		{"InitConfiguration founds nothing", map[string]string{"lab": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n"}, nil},
		{"kind by default", map[string]string{"lab": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: dev\n"},
			[]string{`"dev" in lab: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`}},
		{"kind, dual-stack", map[string]string{"lab": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnetworking: {ipFamily: dual, disableDefaultCNI: true, podSubnet: 10.9.0.0/16}\n"},
			[]string{`"kind" in lab: pod 10.9.0.0/16, service 10.96.0.0/16?, service fd00:10:96::/112?`}},
		{"kind with kubeadm patches", map[string]string{"lab": `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
kubeadmConfigPatches:
  - |
    kind: ClusterConfiguration
    networking:
      serviceSubnet: 10.50.0.0/16
  - |
    kind: KubeletConfiguration
    defaultPodSysctls: {net.ipv4.ip_forward: "1"}
`}, []string{`"kind" in lab: pod 10.244.0.0/16?, service 10.50.0.0/16; kindnet; on present`}},
		{"some kubelets make pods forward", map[string]string{"lab": kubeadmConfig + `
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [10.96.0.10]
defaultPodSysctls: [{name: net.ipv4.ip_forward, value: "1"}]
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`}, []string{`"kubernetes" in lab: dns 10.96.0.10/32, pod 10.244.0.0/16, service 10.96.0.0/12; on unknown`}},
		{"k3d by default, and told", map[string]string{
			"a": "apiVersion: k3d.io/v1alpha5\nkind: Simple\nmetadata: {name: a}\nsubnet: 172.28.0.0/16\n",
			"b": "apiVersion: k3d.io/v1alpha5\nkind: Simple\nmetadata: {name: b}\noptions: {k3s: {extraArgs: [{arg: '--cluster-cidr=10.1.0.0/16,fd01::/56'}, {arg: --flannel-backend=none}]}}\n",
		}, []string{`"a" in a: node 172.28.0.0/16, pod 10.42.0.0/16?, service 10.43.0.0/16?; flannel`, `"b" in b: pod 10.1.0.0/16, pod fd01::/56, service 10.43.0.0/16?`}},
		{"Cluster API with its infrastructure elsewhere", map[string]string{
			"clusters/lab": `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: lab, namespace: clusters}
spec:
  clusterNetwork:
    pods: {cidrBlocks: [10.42.0.0/16, "fd42::/56"]}
    services: {cidrBlocks: [10.43.0.0/16]}
  infrastructureRef: {kind: AzureCluster, name: lab-west}
  controlPlaneRef: {kind: KubeadmControlPlane, name: lab-cp}
`,
			"infra": `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: lab-west, namespace: clusters}
spec:
  networkSpec:
    vnet: {cidrBlocks: [172.20.0.0/16]}
    subnets:
      - {name: cp, role: control-plane, cidrBlocks: [172.20.0.0/24]}
      - {name: workers, role: node, cidrBlocks: [172.20.8.0/22]}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: lab-cp, namespace: clusters}
spec: {kubeadmConfigSpec: {clusterConfiguration: {controlPlaneEndpoint: "api.example.com:6443"}}}
`}, []string{`"lab" in clusters/lab: node 172.20.8.0/22, pod 10.42.0.0/16, pod fd42::/56, service 10.43.0.0/16`}},
		{"a kubeadm file without a name beside an AzureCluster", map[string]string{"lab": kubeadmConfig + `
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: lab}
spec: {networkSpec: {subnets: [{name: n, role: node, cidrBlocks: [172.20.8.0/22]}]}}
`}, []string{`"lab" in lab: node 172.20.8.0/22, pod 10.244.0.0/16, service 10.96.0.0/12`}},
		{"GKE, ranges by name", map[string]string{"prod": gkeCluster},
			[]string{`"shop" in prod: node 10.128.0.0/20, pod 10.4.0.0/14, service 10.8.0.0/20`}},
		{"GKE, Google chooses", map[string]string{"prod": `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: shop}
spec:
  ipAllocationPolicy: {clusterIpv4CidrBlock: /14, servicesIpv4CidrBlock: ""}
  privateClusterConfig: {masterIpv4CidrBlock: 172.16.0.0/28}
`}, []string{`"shop" in prod: api 172.16.0.0/28`}},
		{"GKE, subnetwork by Google's path, additional ranges and a pool's own", map[string]string{"prod": `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: shop}
spec:
  subnetworkRef: {external: projects/p/regions/r/subnetworks/net-a}
  ipAllocationPolicy: {clusterSecondaryRangeName: a, additionalPodRangesConfig: {podRangeNames: [b]}}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeSubnetwork
metadata: {name: renamed}
spec:
  resourceID: net-a
  ipCidrRange: 10.128.0.0/20
  secondaryIpRange: [{rangeName: a, ipCidrRange: 10.4.0.0/16}, {rangeName: b, ipCidrRange: 10.6.0.0/16}, {rangeName: c, ipCidrRange: 10.7.0.0/16}]
---
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata: {name: extra}
spec:
  clusterRef: {name: shop}
  networkConfig: {podRange: c}
  nodeConfig: {linuxNodeConfig: {sysctls: {net.ipv4.ip_forward: "1"}}}
`}, []string{`"shop" in prod: node 10.128.0.0/20, pod 10.4.0.0/16, pod 10.6.0.0/16, pod 10.7.0.0/16; on unknown`}},
		{"GKE, every node pool forwards", map[string]string{"prod": `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: shop, annotations: {cnrm.cloud.google.com/remove-default-node-pool: "true"}}
spec: {}
---
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata: {name: only}
spec:
  clusterRef: {name: shop}
  nodeConfig: {linuxNodeConfig: {sysctls: {net.ipv4.ip_forward: "1"}}}
`}, []string{`"shop" in prod: ; on present`}},
		{"kops in full", map[string]string{"aws": `
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: lab.example.com}
spec: {networkCIDR: 172.20.0.0/16, nonMasqueradeCIDR: 100.64.0.0/10, podCIDR: 100.96.0.0/11, serviceClusterIPRange: 100.64.0.0/13}
`}, []string{`"lab.example.com" in aws: node 172.20.0.0/16, pod 100.96.0.0/11, service 100.64.0.0/13`}},
		{"kops derives its ranges", map[string]string{"aws": `
apiVersion: kops.k8s.io/v1alpha3
kind: Cluster
metadata: {name: lab.example.com}
spec: {networking: {nonMasqueradeCIDR: 100.64.0.0/10, networkCIDR: 172.20.0.0/16, cilium: {}}}
`}, []string{`"lab.example.com" in aws: node 172.20.0.0/16, pod 100.96.0.0/11?, service 100.64.0.0/13?; cilium`}},
		{"kops whose pods take VPC addresses", map[string]string{"aws": `
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: lab.example.com}
spec: {networkCIDR: 172.20.0.0/16, nonMasqueradeCIDR: 172.20.0.0/16, podCIDR: 172.20.0.0/16, serviceClusterIPRange: 100.64.0.0/13, networking: {amazonvpc: {}}}
`}, []string{`"lab.example.com" in aws: node 172.20.0.0/16, service 100.64.0.0/13; aws`}},
		{"kops in the VPC", map[string]string{"aws": `
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: lab.example.com}
spec: {networkCIDR: 172.20.0.0/16, nonMasqueradeCIDR: 172.20.0.0/16, networking: {amazonvpc: {}}}
`}, []string{`"lab.example.com" in aws: node 172.20.0.0/16; aws`}},
		{"Calico's operator, forwarding not mentioned", map[string]string{"a": "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {ipPools: [{cidr: 10.1.0.0/16}]}}\n"},
			[]string{`"" in a: pod 10.1.0.0/16; calico; off present`}},
		{"Calico's operator on EKS brings no CNI of its own", map[string]string{"a": kubeadmConfig + "---\napiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {kubernetesProvider: EKS}\n"},
			[]string{`"kubernetes" in a: pod 10.244.0.0/16, service 10.96.0.0/12`}},
		{"Calico's operator, enabled", map[string]string{"a": "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {cni: {type: Calico}, calicoNetwork: {containerIPForwarding: Enabled}}\n"},
			[]string{`"" in a: ; calico; on present`}},
		{"Calico's manifest", map[string]string{"a": `
apiVersion: v1
kind: ConfigMap
metadata: {name: calico-config, namespace: kube-system}
data:
  cni_network_config: |-
    {"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico", "mtu": __CNI_MTU__, "ipam": {"type": "calico-ipam"}}]}
`}, []string{`"" in a: ; calico; off present`}},
		{"Calico's manifest with forwarding", map[string]string{"a": `
apiVersion: v1
kind: ConfigMap
metadata: {name: calico-config, namespace: kube-system}
data:
  cni_network_config: |-
    {"plugins": [{"type": "calico", "mtu": __CNI_MTU__, "container_settings": {"allow_ip_forwarding": true}}]}
`}, []string{`"" in a: ; calico; on present`}},
		{"a disabled pool holds no pods", map[string]string{"a": kubeadmConfig + `
---
apiVersion: projectcalico.org/v3
kind: IPPool
metadata: {name: onprem}
spec: {cidr: 10.20.0.0/16, disabled: true}
---
apiVersion: projectcalico.org/v3
kind: IPPool
metadata: {name: pods}
spec: {cidr: 10.244.0.0/18}
`}, []string{`"kubernetes" in a: pod 10.244.0.0/16, pod 10.244.0.0/18, service 10.96.0.0/12; calico`}},
		{"flannel", map[string]string{"a": `
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data:
  cni-conf.json: |
    {"plugins": [{"type": "flannel"}, {"type": "tuning", "sysctl": {"net.ipv4.ip_forward": "1"}}]}
  net-conf.json: |
    {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}
`}, []string{`"" in a: pod 10.244.0.0/16; flannel; on present`}},
		{"Cilium", map[string]string{"a": `
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {ipam: cluster-pool, cluster-pool-ipv4-cidr: "10.1.0.0/16 10.2.0.0/16"}
`}, []string{`"" in a: pod 10.1.0.0/16, pod 10.2.0.0/16; cilium`}},
		{"evidence only", map[string]string{"a": `
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec: {clusterIP: 10.96.0.10}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.244.1.0/24, podCIDRs: [10.244.1.0/24, "fd00:1::/64"]}
status: {addresses: [{type: InternalIP, address: 192.0.2.7}]}
`}, []string{`"" in a: dns 10.96.0.10/32!, node 192.0.2.7/32!, pod 10.244.1.0/24!, pod fd00:1::/64!, service 10.96.0.10/32!`}},
		{"headless services tell nothing", map[string]string{"a": "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {clusterIP: None}\n"}, nil},
		{"two of a kind in one directory", map[string]string{"a": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: one\n---\napiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: two\n"},
			[]string{`"one" in a: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`, `"two" in a: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`}},
		{"a kind cluster without a name beside one of Cluster API", map[string]string{"a": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: prod}\nspec: {clusterNetwork: {pods: {cidrBlocks: [10.32.0.0/16]}}}\n"},
			[]string{`"kind" in a: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`, `"prod" in a: pod 10.32.0.0/16`}},
		{"a kind cluster of the same name as one of Cluster API", map[string]string{"a": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: prod\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: prod}\nspec: {clusterNetwork: {pods: {cidrBlocks: [10.32.0.0/16]}}}\n"},
			[]string{`"prod (a)" in a: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`, `"prod (a) #2" in a: pod 10.32.0.0/16`}},
		{"a kubeadm configuration is part of the kind cluster beside it", map[string]string{"a": "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n---\n" + kubeadmConfig},
			[]string{`"kind" in a: pod 10.244.0.0/16, service 10.96.0.0/12; kindnet`}},
		{"one name in two directories", map[string]string{"a": kubeadmConfig, "b": kubeadmConfig},
			[]string{`"kubernetes (a)" in a: pod 10.244.0.0/16, service 10.96.0.0/12`, `"kubernetes (b)" in b: pod 10.244.0.0/16, service 10.96.0.0/12`}},
		{"two installations without a cluster", map[string]string{
			"a": "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {containerIPForwarding: Enabled}}\n",
			"b": "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {}\n",
		}, []string{`"(a)" in a: ; calico; on present`, `"(b)" in b: ; calico; off present`}},
		{"an installation beside its cluster's directory", map[string]string{
			"prod/cluster": kubeadmConfig,
			"prod/calico":  "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {}\n",
			"lab/cluster":  "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n",
		}, []string{
			`"kind" in lab/cluster: pod 10.244.0.0/16?, service 10.96.0.0/16?; kindnet`,
			`"kubernetes" in prod/cluster: pod 10.244.0.0/16, service 10.96.0.0/12; calico; off present`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range readClusters(newIndex(tree(t, tt.units)), Options{}).clusters {
				got = append(got, describe(c))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(tt.want, "\n\t"))
			}
		})
	}
}

func TestRangesPointAtTheirVeryText(t *testing.T) {
	objects := tree(t, map[string]string{
		"a": `
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking: {podSubnet: "10.244.0.0/16, fd00:10:244::/56", serviceSubnet: 10.96.0.0/12}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data:
  net-conf.json: |
    {"Network": "10.244.0.0/17"}
`,
		"k": `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
kubeadmConfigPatches: ["kind: ClusterConfiguration\nnetworking: {podSubnet: '10.77.0.0/16,fd77::/56'}"]
`})
	for _, c := range readClusters(newIndex(objects), Options{}).clusters {
		for _, r := range c.Ranges {
			if r.Strength == cidrplan.Default {
				continue
			}
			if got := textAt(t, objects, r.Ref); got != r.Prefix {
				t.Errorf("%s %s: the reference selects %q", c.Name, r.Prefix, got)
			}
		}
	}
}

func TestMembership(t *testing.T) {
	one, two := "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: one\n", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: two\n"
	tests := []struct {
		name  string
		units map[string]string
		of    string
		want  string // the cluster, "" for none
	}{
		{"the only cluster, wherever", map[string]string{"infra/one": one}, "apps/web", "one"},
		{"its own directory", map[string]string{"one": one, "two": two}, "two", "two"},
		{"below it", map[string]string{"one": one, "two": two}, "two/apps/web", "two"},
		{"beside it", map[string]string{"fleet/one/cluster": one, "fleet/two/cluster": two}, "fleet/two/apps", "two"},
		{"the enclosing directory is nearer than one beside", map[string]string{"fleet": one, "fleet/two": two}, "fleet/apps", "one"},
		{"shared by both", map[string]string{"fleet/one": one, "fleet/two": two}, "fleet/apps", ""},
		{"names that only begin alike", map[string]string{"prod": one, "prod-eu": two}, "prod-eu/apps", "two"},
		{"two in one directory", map[string]string{"fleet": one + "---\n" + two}, "fleet", ""},
		{"the root directory encloses all", map[string]string{".": one, "lab": two}, "apps", "one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			units := map[string]string{}
			for u, text := range tt.units {
				units[u] = text
			}
			pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: nginx}]}\n"
			if have, has := units[tt.of]; has {
				pod = have + "---\n" + pod
			}
			units[tt.of] = pod
			ix := newIndex(tree(t, units))
			cs := readClusters(ix, Options{})
			got := ""
			for _, o := range ix.byKind["Pod"] {
				for _, c := range cs.of(o) {
					got += c.Name
				}
				cs.tell(o)
				cs.tell(o)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			wantGaps := 0
			if tt.want == "" {
				wantGaps = 1
			}
			if gaps := ix.sortedGaps(); len(gaps) != wantGaps {
				t.Errorf("gaps %+v, want %d", gaps, wantGaps)
			} else if wantGaps == 1 && (!strings.Contains(gaps[0].Why, "one, two") || !strings.Contains(gaps[0].Consequence, "stay silent")) {
				t.Errorf("the gap does not tell: %+v", gaps[0])
			}
		})
	}
}

func TestUnreadableRangesAreGaps(t *testing.T) {
	for _, text := range []string{"podSubnet: '${POD_CIDR}'", "podSubnet: __POD_CIDR__", "podSubnet: {a: b}", "podSubnet: 7"} {
		t.Run(text, func(t *testing.T) {
			ix := newIndex(tree(t, map[string]string{"a": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {" + text + ", serviceSubnet: 10.96.0.0/12}\n"}))
			cs := readClusters(ix, Options{})
			if got := describe(cs.clusters[0]); got != `"kubernetes" in a: service 10.96.0.0/12` {
				t.Errorf("got %s", got)
			}
			if gaps := ix.sortedGaps(); len(gaps) != 1 || gaps[0].What != "the pod range in podSubnet" {
				t.Errorf("gaps %+v", gaps)
			}
		})
	}
}

// Nothing that a manifest may hold stops the reading.
func TestHostileTypes(t *testing.T) {
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	fixtures := gkeCluster + "---" + kubeadmConfig + "---" + masqAgent("config", "nonMasqueradeCIDRs: [10.0.0.0/8]") + "---" + cloudVPN + `
---
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
networking: {ipFamily: dual}
nodes: [{kubeadmConfigPatches: ["kind: ClusterConfiguration"]}]
---
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: k}
spec: {nonMasqueradeCIDR: 100.64.0.0/10}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: lab}
spec: {infrastructureRef: {kind: Cluster, name: lab}, clusterNetwork: {pods: {cidrBlocks: [10.1.0.0/16]}}}
---
apiVersion: operator.tigera.io/v1
kind: Installation
metadata: {name: default}
spec: {calicoNetwork: {ipPools: [{cidr: 10.1.0.0/16}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg}
data: {net-conf.json: '{"Network": "10.1.0.0/16"}', cni_network_config: '{"type": "calico"}'}
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec: {clusterIP: 10.96.0.10, clusterIPs: [10.96.0.10]}
`
	rapid.Check(t, func(rt *rapid.T) {
		objects := decode(t, "a", fixtures)
		for range rapid.IntRange(1, 8).Draw(rt, "mutations") {
			o := rapid.SampledFrom(objects).Draw(rt, "object")
			mutate(rt, o.Tree)
		}
		f, err := Read(context.Background(), objects, catalog, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		cidrplan.Compute(f.Claims)
	})
}

// mutate replaces one field somewhere in the tree by something else.
func mutate(rt *rapid.T, at map[string]any) {
	hostile := []any{nil, "", "x", "10.0.0.0/33", "::/0", "0.0.0.0/0", "/14", int64(-1), 1.5, true, []any{}, []any{nil, "y", int64(3)}, map[string]any{}, map[string]any{"name": []any{}}}
	for depth := 0; ; depth++ {
		var keys []string
		for k := range at {
			keys = append(keys, k)
		}
		if len(keys) == 0 {
			return
		}
		slices.Sort(keys)
		k := rapid.SampledFrom(keys).Draw(rt, "key")
		if next, is := at[k].(map[string]any); is && depth < 6 && rapid.Bool().Draw(rt, "deeper") {
			at = next
			continue
		}
		if list, is := at[k].([]any); is && len(list) > 0 && rapid.Bool().Draw(rt, "into") {
			i := rapid.IntRange(0, len(list)-1).Draw(rt, "index")
			if next, is := list[i].(map[string]any); is {
				at = next
				continue
			}
			list[i] = rapid.SampledFrom(hostile).Draw(rt, "value")
			return
		}
		at[k] = rapid.SampledFrom(hostile).Draw(rt, "value")
		return
	}
}
