package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// discovered says what a tree declares, a line each: role, prefix (? a default,
// ! evidence), what says so, and the very text that the claim's place selects;
// then the invalid ranges and the gaps.
func discovered(t *testing.T, objects []*source.Object) []string {
	t.Helper()
	ix := newIndex(objects)
	cs := readClusters(ix, Options{})
	var out []string
	for _, f := range cs.founded {
		for _, c := range f.claims {
			mark := map[cidrplan.Strength]string{cidrplan.Default: "?", cidrplan.Evidence: "!"}[c.Strength]
			line := fmt.Sprintf("%s %s%s %s", c.Role, c.Prefix, mark, c.Says)
			if c.Idiom != cidrplan.NoIdiom {
				line += " (" + string(c.Idiom) + ")"
			}
			if c.Strength != cidrplan.Default {
				line += " @ " + textAt(t, objects, c.At)
			}
			out = append(out, line)
		}
	}
	for _, r := range ix.sortedInvalid() {
		out = append(out, "invalid "+r.Says+": "+r.Why+" @ "+textAt(t, objects, r.Ref))
	}
	for _, g := range ix.sortedGaps() {
		out = append(out, "gap "+g.What+": "+g.Why)
	}
	return out
}

type declaredRange struct{ name, text, want string }

// declaredRanges are the rows of field guide B in order, with their oddities:
// what each declares.
func declaredRanges() []declaredRange {
	return []declaredRange{
		{"kubeadm podSubnet and serviceSubnet, v1beta2", `
apiVersion: kubeadm.k8s.io/v1beta2
kind: ClusterConfiguration
networking: {podSubnet: 10.1.0.0/16, serviceSubnet: 10.2.0.0/20, dnsDomain: corp.internal}
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
service 10.2.0.0/20 serviceSubnet @ 10.2.0.0/20`},
		{"kubeadm v1beta3, dual-stack in one string", `
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
networking: {podSubnet: "10.1.0.0/16,fd01::/56", serviceSubnet: "10.2.0.0/20,fd02::/112"}
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
pod fd01::/56 podSubnet @ fd01::/56
service 10.2.0.0/20 serviceSubnet @ 10.2.0.0/20
service fd02::/112 serviceSubnet @ fd02::/112`},
		{"kubeadm v1beta4, several documents, no ranges: the default", `
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.0.2.4}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
controlPlaneEndpoint: "192.0.2.5:6443"
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [10.96.0.10]
`, `api 192.0.2.5/32 controlPlaneEndpoint @ 192.0.2.5:6443
dns 10.96.0.10/32 clusterDNS @ 10.96.0.10
service 10.96.0.0/12? kubeadm's default serviceSubnet`},
		{"kubeadm, flags of its components in v1beta4's list and the older map", `
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer: {extraArgs: [{name: service-cluster-ip-range, value: 10.2.0.0/20}]}
controllerManager: {extraArgs: {cluster-cidr: 10.1.0.0/16}}
`, `pod 10.1.0.0/16 --cluster-cidr @ 10.1.0.0/16
service 10.2.0.0/20 --service-cluster-ip-range @ 10.2.0.0/20`},
		{"kubeadm's own ConfigMaps", `
apiVersion: v1
kind: ConfigMap
metadata: {name: kubeadm-config, namespace: kube-system}
data:
  ClusterConfiguration: |
    apiVersion: kubeadm.k8s.io/v1beta3
    kind: ClusterConfiguration
    networking: {podSubnet: 10.1.0.0/16}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-proxy, namespace: kube-system}
data: {config.conf: "kind: KubeProxyConfiguration\nclusterCIDR: 10.1.0.0/16\n"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kubelet-config, namespace: kube-system}
data: {kubelet: "kind: KubeletConfiguration\nclusterDNS: [10.2.0.10]\n"}
`, `dns 10.2.0.10/32 clusterDNS @ 10.2.0.10
pod 10.1.0.0/16 clusterCIDR @ 10.1.0.0/16
pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16`},
		{"kind podSubnet, dual-stack", `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
networking: {ipFamily: dual, podSubnet: "10.1.0.0/16,fd01::/56"}
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
pod fd01::/56 podSubnet @ fd01::/56
service 10.96.0.0/16? kind's default serviceSubnet
service fd00:10:96::/112? kind's default serviceSubnet`},
		{"kind by default, IPv6", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnetworking: {ipFamily: ipv6}\n",
			`pod fd00:10:244::/56? kind's default podSubnet
service fd00:10:96::/112? kind's default serviceSubnet`},
		{"kind, patches inside strings: the text in a comment is not the place", `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
kubeadmConfigPatches:
  - |
    # was 10.1.0.0/16
    kind: ClusterConfiguration
    networking:
      podSubnet: "10.1.0.0/16"
    ---
    kind: KubeProxyConfiguration
    clusterCIDR: 10.1.0.0/16
nodes:
  - role: control-plane
    kubeadmConfigPatches:
      - '{"kind": "ClusterConfiguration", "networking": {"serviceSubnet": "10.2.0.0/20"}}'
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
pod 10.1.0.0/16 clusterCIDR @ 10.1.0.0/16
service 10.2.0.0/20 serviceSubnet @ 10.2.0.0/20`},
		{"kind, JSON patches inside strings", `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
kubeadmConfigPatchesJSON6902:
  - group: kubeadm.k8s.io
    version: v1beta3
    kind: ClusterConfiguration
    patch: |
      - {op: add, path: /networking/podSubnet, value: 10.1.0.0/16}
      - op: replace
        path: /networking
        value: {serviceSubnet: 10.2.0.0/20}
      - {op: remove, path: /networking/dnsDomain}
  - {kind: KubeletConfiguration, patch: '[{"op": "add", "path": "/networking/podSubnet", "value": "10.9.0.0/16"}]'}
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
service 10.2.0.0/20 serviceSubnet @ 10.2.0.0/20`},
		{"kind, a patch that something fills in", `
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
networking: {podSubnet: 10.1.0.0/16, serviceSubnet: 10.2.0.0/20}
kubeadmConfigPatches: ["{{ patch }}: ["]
`, `pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
service 10.2.0.0/20 serviceSubnet @ 10.2.0.0/20
gap the ranges in kubeadmConfigPatches: it is not YAML as it stands here; correct it, or lint what is made of it`},
		{"k3s, a comma list, a YAML list and a string", `
apiVersion: k3s.io/v1
kind: Config
cluster-cidr: 10.1.0.0/16,fd01::/56
service-cidr: [10.2.0.0/20]
cluster-dns: 10.2.0.10
`, `dns 10.2.0.10/32 cluster-dns @ 10.2.0.10
pod 10.1.0.0/16 cluster-cidr @ 10.1.0.0/16
pod fd01::/56 cluster-cidr @ fd01::/56
service 10.2.0.0/20 service-cidr @ 10.2.0.0/20`},
		{"k3s by default, and what it hands on", `
apiVersion: k3s.io/v1
kind: Config
cluster-init: true
kube-apiserver-arg: ["service-cluster-ip-range=10.2.0.0/20"]
`, `pod 10.42.0.0/16? the default cluster-cidr of k3s and RKE2
service 10.2.0.0/20 --service-cluster-ip-range @ 10.2.0.0/20`},
		{"a server that joins takes what the first has", "apiVersion: k3s.io/v1\nkind: Config\nserver: https://k:6443\ntls-san: [a]\n", ""},
		{"two servers' files are one cluster", `
apiVersion: k3s.io/v1
kind: Config
cluster-cidr: 10.1.0.0/16
---
apiVersion: k3s.io/v1
kind: Config
server: https://k:6443
cluster-cidr: 10.1.0.0/16
`, `pod 10.1.0.0/16 cluster-cidr @ 10.1.0.0/16
pod 10.1.0.0/16 cluster-cidr @ 10.1.0.0/16
service 10.43.0.0/16? the default service-cidr of k3s and RKE2`},
		{"RKE2 provisioned by Rancher", `
apiVersion: provisioning.cattle.io/v1
kind: Cluster
metadata: {name: r}
spec: {rkeConfig: {machineGlobalConfig: {cni: calico, cluster-cidr: 10.1.0.0/16}}}
`, `pod 10.1.0.0/16 cluster-cidr @ 10.1.0.0/16
service 10.43.0.0/16? the default service-cidr of k3s and RKE2`},
		{"k3d", `
apiVersion: k3d.io/v1alpha5
kind: Simple
metadata: {name: d}
subnet: 172.28.0.0/16
options: {k3s: {extraArgs: [{arg: "--cluster-cidr=10.1.0.0/16", nodeFilters: ["server:*"]}, {arg: "--cluster-dns=10.43.0.9"}]}}
`, `dns 10.43.0.9/32 --cluster-dns @ 10.43.0.9
node 172.28.0.0/16 subnet @ 172.28.0.0/16
pod 10.1.0.0/16 --cluster-cidr @ 10.1.0.0/16
service 10.43.0.0/16? k3s' default --service-cidr`},
		{"k3d, the older form, docker's choice of a network", `
apiVersion: k3d.io/v1alpha2
kind: Simple
subnet: auto
options: {k3s: {extraServerArgs: ["--service-cidr=10.2.0.0/20"]}}
`, `pod 10.42.0.0/16? k3s' default --cluster-cidr
service 10.2.0.0/20 --service-cidr @ 10.2.0.0/20`},
		{"Talos", `
apiVersion: talos.dev/v1alpha1
kind: MachineConfig
version: v1alpha1
machine:
  type: controlplane
  kubelet: {clusterDNS: [10.2.0.10], nodeIP: {validSubnets: [192.0.2.0/24, "!192.0.2.9/32"]}}
cluster:
  controlPlane: {endpoint: "https://192.0.2.9:6443"}
  network: {podSubnets: [10.1.0.0/16, "fd01::/56"], serviceSubnets: [10.2.0.0/20]}
`, `api 192.0.2.9/32 controlPlane.endpoint @ https://192.0.2.9:6443
dns 10.2.0.10/32 clusterDNS @ 10.2.0.10
node 192.0.2.0/24 nodeIP.validSubnets @ 192.0.2.0/24
pod 10.1.0.0/16 podSubnets @ 10.1.0.0/16
pod fd01::/56 podSubnets @ fd01::/56
service 10.2.0.0/20 serviceSubnets @ 10.2.0.0/20`},
		{"Talos by default; a worker beside it is no second cluster and has no defaults", `
apiVersion: talos.dev/v1alpha1
kind: MachineConfig
version: v1alpha1
machine: {type: controlplane}
cluster: {clusterName: home}
---
apiVersion: talos.dev/v1alpha1
kind: MachineConfig
version: v1alpha1
machine: {type: worker}
cluster: {proxy: {extraArgs: {cluster-cidr: 10.244.0.0/16}}}
`, `pod 10.244.0.0/16 --cluster-cidr @ 10.244.0.0/16
service 10.96.0.0/12? Talos' default serviceSubnets`},
		{"a Talos patch", `
apiVersion: talos.dev/v1alpha1
kind: MachineConfig
cluster: {network: {podSubnets: [10.1.0.0/16]}}
`, "pod 10.1.0.0/16 podSubnets @ 10.1.0.0/16"},
		{"talhelper, with patches of both kinds", `
apiVersion: talhelper.budimanjojo.com/v1
kind: TalosConfig
clusterName: home
endpoint: https://192.0.2.9:6443
clusterPodNets: [10.1.0.0/16]
patches:
  - "@./patches/net.yaml"
  - |-
    cluster:
      network:
        serviceSubnets: [10.2.0.0/20]
controlPlane:
  patches: ['[{"op": "add", "path": "/cluster/network/podSubnets/-", "value": "fd01::/56"}]']
`, `api 192.0.2.9/32 endpoint @ https://192.0.2.9:6443
pod 10.1.0.0/16 clusterPodNets @ 10.1.0.0/16
pod fd01::/56 podSubnets @ fd01::/56
service 10.2.0.0/20 serviceSubnets @ 10.2.0.0/20`},
		{"KubeProxyConfiguration, dual-stack", "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclusterCIDR: 10.1.0.0/16,fd01::/56\n",
			`pod 10.1.0.0/16 clusterCIDR @ 10.1.0.0/16
pod fd01::/56 clusterCIDR @ fd01::/56`},
		{"KubeProxyConfiguration, blank by default", "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclusterCIDR: \"\"\n", ""},
		{"KubeletConfiguration: a node's podCIDR is a piece only", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nclusterDNS: [10.2.0.10]\npodCIDR: 10.1.3.0/24\n",
			`dns 10.2.0.10/32 clusterDNS @ 10.2.0.10
pod 10.1.3.0/24! podCIDR of a kubelet @ 10.1.3.0/24`},
		{"Cluster API, v1beta2, and its control plane", `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.1.0.0/16]}, services: {cidrBlocks: [10.2.0.0/20]}, serviceDomain: cluster.local}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: c-cp}
  controlPlaneEndpoint: {host: 192.0.2.9, port: 6443}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: c-cp}
spec: {kubeadmConfigSpec: {clusterConfiguration: {networking: {podSubnet: 10.1.0.0/16}}}}
`, `api 192.0.2.9/32 controlPlaneEndpoint @ 192.0.2.9
pod 10.1.0.0/16 pods.cidrBlocks @ 10.1.0.0/16
pod 10.1.0.0/16 podSubnet @ 10.1.0.0/16
service 10.2.0.0/20 services.cidrBlocks @ 10.2.0.0/20`},
		{"Cluster API with Talos' control plane", `
apiVersion: controlplane.cluster.x-k8s.io/v1alpha3
kind: TalosControlPlane
metadata: {name: c-cp, labels: {cluster.x-k8s.io/cluster-name: c}}
spec:
  controlPlaneConfig:
    controlplane:
      configPatches: [{op: add, path: /cluster/network, value: {podSubnets: [10.1.0.0/16]}}]
      strategicPatches: ["cluster: {network: {serviceSubnets: [10.2.0.0/20]}}"]
`, `pod 10.1.0.0/16 podSubnets @ 10.1.0.0/16
service 10.2.0.0/20 serviceSubnets @ 10.2.0.0/20`},
		{"CAPZ AzureCluster: the nodes' subnet", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: c}
spec: {networkSpec: {vnet: {cidrBlocks: [10.8.0.0/14]}, subnets: [{name: cp, role: control-plane, cidrBlocks: [10.8.0.0/24]}, {name: nodes, role: node, cidrBlocks: [10.9.0.0/20]}]}}
`, "node 10.9.0.0/20 node subnet nodes @ 10.9.0.0/20"},
		{"CAPZ AzureCluster: the vnet where no subnet is written", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: c}
spec: {networkSpec: {vnet: {cidrBlocks: [10.8.0.0/14]}}}
`, "node 10.8.0.0/14 vnet.cidrBlocks @ 10.8.0.0/14"},
		{"CAPZ AzureManagedControlPlane: pods of Azure's plugin live in the vnet", `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c}
spec: {clusterNetwork: {pods: {cidrBlocks: [10.9.0.0/16]}}, controlPlaneRef: {kind: AzureManagedControlPlane, name: cp}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: cp}
spec: {networkPlugin: azure, dnsServiceIP: 10.2.0.10, virtualNetwork: {cidrBlock: 10.8.0.0/14}}
`, `dns 10.2.0.10/32 dnsServiceIP @ 10.2.0.10
node 10.8.0.0/14 virtualNetwork.cidrBlock @ 10.8.0.0/14`},
		{"CAPZ AzureManagedControlPlane with an overlay", `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c}
spec: {clusterNetwork: {pods: {cidrBlocks: [10.1.0.0/16]}}, controlPlaneRef: {kind: AzureManagedControlPlane, name: cp}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: cp}
spec: {networkPlugin: azure, networkPluginMode: overlay, virtualNetwork: {cidrBlock: 10.8.0.0/14, subnet: {cidrBlock: 10.8.0.0/20}}}
`, `node 10.8.0.0/20 virtualNetwork.subnet.cidrBlock @ 10.8.0.0/20
pod 10.1.0.0/16 pods.cidrBlocks @ 10.1.0.0/16`},
		{"CAPA AWSCluster and AWSManagedControlPlane", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata: {name: c}
spec: {network: {vpc: {cidrBlock: 10.8.0.0/16}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: AWSManagedControlPlane
metadata: {name: c-cp}
spec: {secondaryCidrBlock: 100.64.0.0/16, network: {vpc: {cidrBlock: 10.8.0.0/16}}}
`, `node 10.8.0.0/16 vpc.cidrBlock @ 10.8.0.0/16
node 10.8.0.0/16 vpc.cidrBlock @ 10.8.0.0/16
pod 100.64.0.0/16 secondaryCidrBlock @ 100.64.0.0/16`},
		{"CAPG GCPManagedControlPlane and its cluster", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPManagedCluster
metadata: {name: c}
spec: {network: {subnets: [{name: nodes, cidrBlock: 10.8.0.0/20}]}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GCPManagedControlPlane
metadata: {name: c-cp}
spec: {clusterNetwork: {pod: {cidrBlock: /14}, service: {cidrBlock: 10.2.0.0/20}, privateCluster: {controlPlaneCidrBlock: 172.16.0.0/28}}}
`, `api 172.16.0.0/28 controlPlaneCidrBlock @ 172.16.0.0/28
node 10.8.0.0/20 subnet nodes @ 10.8.0.0/20
service 10.2.0.0/20 service.cidrBlock @ 10.2.0.0/20
gap the pod range in pod.cidrBlock: /14 is a size only: Google chooses the addresses when the cluster is made; write the range into the plan`},
		{"eksctl", `
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c}
vpc: {cidr: 10.8.0.0/16, extraCIDRs: [100.64.0.0/16]}
kubernetesNetworkConfig: {serviceIPv4CIDR: 10.2.0.0/20, ipFamily: IPv4}
remoteNetworkConfig: {remoteNodeNetworks: [{cidrs: [192.0.2.0/24]}], remotePodNetworks: [{cidrs: [10.1.0.0/16]}]}
`, `node 10.8.0.0/16 vpc.cidr @ 10.8.0.0/16
node 100.64.0.0/16 vpc.extraCIDRs @ 100.64.0.0/16
node 192.0.2.0/24 remoteNodeNetworks @ 192.0.2.0/24
pod 10.1.0.0/16 remotePodNetworks @ 10.1.0.0/16
service 10.2.0.0/20 serviceIPv4CIDR @ 10.2.0.0/20`},
		{"eksctl by default, and in a VPC that is there", `
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a}
---
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: b}
vpc: {id: vpc-1, subnets: {private: {eu-1: {id: subnet-1, cidr: 10.8.0.0/19}}}}
`, `node 192.168.0.0/16? eksctl's default vpc.cidr
node 10.8.0.0/19 subnet eu-1 @ 10.8.0.0/19`},
		{"Config Connector, blocks written out", `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: c}
spec:
  clusterIpv4Cidr: 10.9.0.0/16
  ipAllocationPolicy: {clusterIpv4CidrBlock: 10.1.0.0/16, servicesIpv4CidrBlock: 10.2.0.0/20}
  privateClusterConfig: {masterIpv4CidrBlock: 172.16.0.0/28}
`, `api 172.16.0.0/28 masterIpv4CidrBlock @ 172.16.0.0/28
pod 10.1.0.0/16 clusterIpv4CidrBlock @ 10.1.0.0/16
service 10.2.0.0/20 servicesIpv4CidrBlock @ 10.2.0.0/20`},
		{"Config Connector, a routes-based cluster", `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: c}
spec: {clusterIpv4Cidr: 10.9.0.0/16}
`, "pod 10.9.0.0/16 clusterIpv4Cidr @ 10.9.0.0/16"},
		{"Config Connector, a netmask only and a blank: sizes, no ranges", `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: c}
spec: {ipAllocationPolicy: {clusterIpv4CidrBlock: /14, servicesIpv4CidrBlock: ""}}
`, "gap the pod range in clusterIpv4CidrBlock: /14 is a size only: Google chooses the addresses when the cluster is made; write the range into the plan"},
		{"Config Connector, secondary ranges by name, and those of node pools", gkeCluster + `
---
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata: {name: p, namespace: infra}
spec: {clusterRef: {name: shop}, networkConfig: {podRange: pods}}
---
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerNodePool
metadata: {name: q, namespace: infra}
spec: {clusterRef: {name: shop}, networkConfig: {createPodRange: true, podIpv4CidrBlock: 10.12.0.0/16}}
`, `node 10.128.0.0/20 ipCidrRange of subnetwork workers @ 10.128.0.0/20
pod 10.4.0.0/14 secondary range pods of subnetwork workers @ 10.4.0.0/14
pod 10.4.0.0/14 secondary range pods of subnetwork workers @ 10.4.0.0/14
pod 10.12.0.0/16 podIpv4CidrBlock @ 10.12.0.0/16
service 10.8.0.0/20 secondary range svc of subnetwork workers @ 10.8.0.0/20`},
		{"Config Connector, a subnetwork that is not there", `
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: c}
spec: {subnetworkRef: {name: gone}, ipAllocationPolicy: {clusterSecondaryRangeName: pods}}
`, "gap the pod range in secondary range pods: the subnetwork that has it is not in the tree; lint it together with that subnetwork, or write the range into the plan"},
		{"Crossplane GCP, by reference", `
apiVersion: container.gcp.upbound.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {forProvider: {subnetworkRef: {name: nodes}, ipAllocationPolicy: {clusterSecondaryRangeName: pods, servicesIpv4CidrBlock: 10.2.0.0/20}}}
---
apiVersion: compute.gcp.upbound.io/v1beta2
kind: Subnetwork
metadata: {name: nodes}
spec: {forProvider: {ipCidrRange: 10.8.0.0/20, secondaryIpRange: [{rangeName: pods, ipCidrRange: 10.1.0.0/16}]}}
`, `node 10.8.0.0/20 ipCidrRange of subnetwork nodes @ 10.8.0.0/20
pod 10.1.0.0/16 secondary range pods of subnetwork nodes @ 10.1.0.0/16
service 10.2.0.0/20 servicesIpv4CidrBlock @ 10.2.0.0/20`},
		{"Crossplane GCP, the older form in lists, by selector", `
apiVersion: container.gcp.m.upbound.io/v1beta1
kind: Cluster
metadata: {name: c, namespace: infra}
spec: {forProvider: {subnetworkSelector: {matchLabels: {net: a}}, ipAllocationPolicy: [{clusterSecondaryRangeName: pods}]}}
---
apiVersion: compute.gcp.m.upbound.io/v1beta1
kind: Subnetwork
metadata: {name: nodes, namespace: infra, labels: {net: a, x: y}}
spec: {forProvider: {ipCidrRange: 10.8.0.0/20, secondaryIpRange: [{rangeName: pods, ipCidrRange: 10.1.0.0/16}]}}
`, `node 10.8.0.0/20 ipCidrRange of subnetwork nodes @ 10.8.0.0/20
pod 10.1.0.0/16 secondary range pods of subnetwork nodes @ 10.1.0.0/16`},
		{"Crossplane GCP, by the cloud's own path", `
apiVersion: container.gcp.crossplane.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {forProvider: {subnetwork: projects/p/regions/r/subnetworks/real, ipAllocationPolicy: {clusterIpv4CidrBlock: 10.1.0.0/16}}}
---
apiVersion: compute.gcp.crossplane.io/v1beta1
kind: Subnetwork
metadata: {name: nodes, annotations: {crossplane.io/external-name: real}}
spec: {forProvider: {ipCidrRange: 10.8.0.0/20}}
`, `node 10.8.0.0/20 ipCidrRange of subnetwork nodes @ 10.8.0.0/20
pod 10.1.0.0/16 clusterIpv4CidrBlock @ 10.1.0.0/16`},
		{"Crossplane AWS", `
apiVersion: eks.aws.upbound.io/v1beta2
kind: Cluster
metadata: {name: c}
spec: {forProvider: {kubernetesNetworkConfig: {serviceIpv4Cidr: 10.2.0.0/20}, vpcConfig: {subnetIdRefs: [{name: a}]}}}
---
apiVersion: ec2.aws.upbound.io/v1beta1
kind: Subnet
metadata: {name: a}
spec: {forProvider: {cidrBlock: 10.8.0.0/20}}
`, `node 10.8.0.0/20 cidrBlock of subnet a @ 10.8.0.0/20
service 10.2.0.0/20 serviceIpv4Cidr @ 10.2.0.0/20`},
		{"Crossplane Azure", `
apiVersion: containerservice.azure.upbound.io/v1beta2
kind: KubernetesCluster
metadata: {name: c}
spec:
  forProvider:
    defaultNodePool: {vnetSubnetIdRef: {name: a}}
    networkProfile: {networkPlugin: kubenet, podCidr: 10.1.0.0/16, serviceCidr: 10.2.0.0/20, dnsServiceIp: 10.2.0.10}
---
apiVersion: network.azure.upbound.io/v1beta1
kind: Subnet
metadata: {name: a}
spec: {forProvider: {addressPrefixes: [10.8.0.0/20]}}
`, `dns 10.2.0.10/32 dnsServiceIp @ 10.2.0.10
node 10.8.0.0/20 addressPrefixes of subnet a @ 10.8.0.0/20
pod 10.1.0.0/16 podCidr @ 10.1.0.0/16
service 10.2.0.0/20 serviceCidr @ 10.2.0.0/20`},
		{"OpenShift Network, both APIs", `
apiVersion: config.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec: {clusterNetwork: [{cidr: 10.1.0.0/16, hostPrefix: 23}], serviceNetwork: [10.2.0.0/20], networkType: OVNKubernetes}
---
apiVersion: operator.openshift.io/v1
kind: Network
metadata: {name: cluster}
spec:
  clusterNetwork: [{cidr: 10.1.0.0/16}]
  defaultNetwork: {type: OVNKubernetes, ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 100.64.0.0/16}}}
`, `pod 10.1.0.0/16 clusterNetwork @ 10.1.0.0/16
pod 10.1.0.0/16 clusterNetwork @ 10.1.0.0/16
service 10.2.0.0/20 serviceNetwork @ 10.2.0.0/20`},
		{"OpenShift's install-config", `
apiVersion: install.openshift.io/v1
kind: InstallConfig
metadata: {name: o}
networking: {machineNetwork: [{cidr: 10.8.0.0/16}], clusterNetwork: [{cidr: 10.1.0.0/16, hostPrefix: 23}]}
`, `node 10.8.0.0/16 machineNetwork @ 10.8.0.0/16
pod 10.1.0.0/16 clusterNetwork @ 10.1.0.0/16
service 172.30.0.0/16? the installer's default serviceNetwork`},
		{"OpenShift, hosted", `
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: {name: o}
spec: {networking: {clusterNetwork: [{cidr: 10.1.0.0/16}], serviceNetwork: [{cidr: 10.2.0.0/20}]}}
`, `pod 10.1.0.0/16 clusterNetwork @ 10.1.0.0/16
service 10.2.0.0/20 serviceNetwork @ 10.2.0.0/20`},
		{"Calico IPPool of either API; a disabled one exempts only", `
apiVersion: crd.projectcalico.org/v1
kind: IPPool
metadata: {name: a}
spec: {cidr: 10.1.0.0/16}
---
apiVersion: projectcalico.org/v3
kind: IPPool
metadata: {name: b}
spec: {cidr: 10.20.0.0/16, disabled: true}
---
apiVersion: projectcalico.org/v3
kind: IPPool
metadata: {name: c}
spec: {cidr: 192.0.2.0/26, allowedUses: [LoadBalancer]}
`, `pod 10.1.0.0/16 IPPool cidr @ 10.1.0.0/16
pod 10.20.0.0/16 IPPool cidr (no-snat-pool) @ 10.20.0.0/16`},
		{"Calico Installation", "apiVersion: operator.tigera.io/v1\nkind: Installation\nspec: {calicoNetwork: {ipPools: [{cidr: 10.1.0.0/16}, {cidr: \"fd01::/56\"}]}}\n",
			`pod 10.1.0.0/16 ipPools.cidr @ 10.1.0.0/16
pod fd01::/56 ipPools.cidr @ fd01::/56`},
		{"Calico's manifest", `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: calico-node, namespace: kube-system}
spec: {template: {spec: {containers: [{name: calico-node, image: "docker.io/calico/node:v3.29.1", env: [{name: CALICO_IPV4POOL_CIDR, value: 10.1.0.0/16}]}]}}}
`, "pod 10.1.0.0/16 CALICO_IPV4POOL_CIDR @ 10.1.0.0/16"},
		{"Cilium's ConfigMap, blank-separated", `
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {cluster-pool-ipv4-cidr: "10.1.0.0/16 10.3.0.0/16", cluster-pool-ipv6-cidr: "fd01::/104"}
`, `pod 10.1.0.0/16 cluster-pool-ipv4-cidr @ 10.1.0.0/16
pod 10.3.0.0/16 cluster-pool-ipv4-cidr @ 10.3.0.0/16
pod fd01::/104 cluster-pool-ipv6-cidr @ fd01::/104`},
		{"Cilium's ConfigMap where nodes bring the ranges", `
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {ipam: kubernetes, cluster-pool-ipv4-cidr: 10.1.0.0/16}
`, ""},
		{"CiliumConfig", "apiVersion: cilium.io/v1alpha1\nkind: CiliumConfig\nmetadata: {name: cilium, namespace: cilium}\nspec: {ipam: {mode: cluster-pool, operator: {clusterPoolIPv4PodCIDRList: [10.1.0.0/16]}}}\n",
			"pod 10.1.0.0/16 clusterPoolIPv4PodCIDRList @ 10.1.0.0/16"},
		{"Cilium's chart by Flux, and its default", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec: {chart: {spec: {chart: cilium}}, values: {ipv4NativeRoutingCIDR: 10.1.0.0/16}}
`, "pod 10.0.0.0/8? Cilium's default clusterPoolIPv4PodCIDRList"},
		{"Cilium's chart with values in a ConfigMap, below its own", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec:
  chart: {spec: {chart: cilium}}
  valuesFrom: [{kind: ConfigMap, name: net}]
  values: {ipam: {operator: {clusterPoolIPv6PodCIDRList: ["fd01::/104"]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: net, namespace: kube-system}
data: {values.yaml: "ipam: {operator: {clusterPoolIPv4PodCIDRList: [10.1.0.0/16]}}"}
`, `pod 10.1.0.0/16 clusterPoolIPv4PodCIDRList @ 10.1.0.0/16
pod fd01::/104 clusterPoolIPv6PodCIDRList @ fd01::/104`},
		{"Cilium's chart where a ConfigMap says that nodes bring the ranges", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec: {chart: {spec: {chart: cilium}}, valuesFrom: [{kind: ConfigMap, name: net, valuesKey: cilium.yaml}], values: {hubble: {enabled: true}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: net, namespace: kube-system}
data: {cilium.yaml: "ipam: {mode: kubernetes}"}
`, ""},
		{"Cilium's chart with values that cannot be seen has no default", `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cilium, namespace: kube-system}
spec: {chart: {spec: {chart: cilium}}, valuesFrom: [{kind: Secret, name: net}], values: {hubble: {enabled: true}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: net}
spec: {source: {chart: cilium, helm: {valueFiles: [$values/net.yaml]}}}
---
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: cilium, namespace: kube-system}
spec: {chart: cilium/cilium, set: {ipam.mode: kubernetes}}
`, ""},
		{"Cilium's chart by RKE2, in a string", `
apiVersion: helm.cattle.io/v1
kind: HelmChartConfig
metadata: {name: rke2-cilium, namespace: kube-system}
spec:
  valuesContent: |-
    ipam:
      operator:
        clusterPoolIPv4PodCIDRList: ["10.1.0.0/16"]
`, "pod 10.1.0.0/16 clusterPoolIPv4PodCIDRList @ 10.1.0.0/16"},
		{"other charts by Argo CD and k3s", `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: net}
spec: {source: {chart: tigera-operator, helm: {values: "installation: {calicoNetwork: {ipPools: [{cidr: 10.1.0.0/16}]}}"}}}
---
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: flannel, namespace: kube-system}
spec: {chart: flannel/flannel, valuesContent: "podCidr: 10.1.0.0/16"}
`, `pod 10.1.0.0/16 ipPools.cidr @ 10.1.0.0/16
pod 10.1.0.0/16 podCidr @ 10.1.0.0/16`},
		{"CiliumPodIPPool", "apiVersion: cilium.io/v2alpha1\nkind: CiliumPodIPPool\nmetadata: {name: a}\nspec: {ipv4: {cidrs: [10.1.0.0/16], maskSize: 27}}\n",
			"pod 10.1.0.0/16 CiliumPodIPPool ipv4 @ 10.1.0.0/16"},
		{"flannel net-conf.json", `
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-flannel-cfg, namespace: kube-flannel}
data:
  net-conf.json: |
    {"Network": "10.1.0.0/16", "IPv6Network": "fd01::/56", "EnableIPv6": true, "Backend": {"Type": "vxlan"}}
`, `pod 10.1.0.0/16 net-conf.json Network @ 10.1.0.0/16
pod fd01::/56 net-conf.json IPv6Network @ fd01::/56`},
		{"kops: what encloses the cluster, and the subnets of its network", `
apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata: {name: k}
spec:
  networkCIDR: 172.20.0.0/16
  nonMasqueradeCIDR: 100.64.0.0/10
  podCIDR: 100.96.0.0/11
  serviceClusterIPRange: 100.64.0.0/13
  subnets: [{name: a, cidr: 172.20.32.0/19}]
`, `node 172.20.0.0/16 networkCIDR @ 172.20.0.0/16
node 172.20.32.0/19 subnet a @ 172.20.32.0/19
pod 100.64.0.0/10 nonMasqueradeCIDR (encloses-cluster) @ 100.64.0.0/10
pod 100.96.0.0/11 podCIDR @ 100.96.0.0/11
service 100.64.0.0/13 serviceClusterIPRange @ 100.64.0.0/13`},
		{"kops v1alpha3, by default", "apiVersion: kops.k8s.io/v1alpha3\nkind: Cluster\nmetadata: {name: k}\nspec: {networking: {subnets: [{name: a, cidr: 172.20.32.0/19}]}}\n",
			`node 172.20.32.0/19 subnet a @ 172.20.32.0/19
pod 100.96.0.0/11? kops' default podCIDR
service 100.64.0.0/13? kops' default serviceClusterIPRange`},
		{"kops with Amazon's CNI takes the cloud's addresses", "apiVersion: kops.k8s.io/v1alpha3\nkind: Cluster\nmetadata: {name: k}\nspec: {networking: {amazonVPC: {}, networkCIDR: 172.21.0.0/16}}\n",
			`node 172.21.0.0/16 networkCIDR @ 172.21.0.0/16`},
		{"Submariner, comma lists", `
apiVersion: submariner.io/v1alpha1
kind: Submariner
metadata: {name: s, namespace: submariner-operator}
spec: {clusterCIDR: "10.1.0.0/16,10.3.0.0/16", serviceCIDR: 10.2.0.0/20, globalCIDR: 242.1.0.0/16, clustersetIPCIDR: 243.0.0.0/20}
---
apiVersion: submariner.io/v1alpha1
kind: Broker
metadata: {name: b, namespace: submariner-k8s-broker}
spec: {globalnetEnabled: true, globalnetCIDRRange: 242.0.0.0/8, clustersetIPCIDRRange: 243.0.0.0/8}
`, `pod 10.1.0.0/16 Submariner clusterCIDR @ 10.1.0.0/16
pod 10.3.0.0/16 Submariner clusterCIDR @ 10.3.0.0/16
pool 242.0.0.0/8 Submariner globalnetCIDRRange @ 242.0.0.0/8
pool 242.1.0.0/16 Submariner globalCIDR @ 242.1.0.0/16
pool 243.0.0.0/8 Submariner clustersetIPCIDRRange @ 243.0.0.0/8
pool 243.0.0.0/20 Submariner clustersetIPCIDR @ 243.0.0.0/20
service 10.2.0.0/20 Submariner serviceCIDR @ 10.2.0.0/20`},
		{"MetalLB: prefixes and a-b ranges", `
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata: {name: p, namespace: metallb-system}
spec: {addresses: [192.0.2.0/28, "192.0.2.32 - 192.0.2.34", "fd05::1-fd05::2", 192.0.2.99]}
`, `lb 192.0.2.0/28 addresses @ 192.0.2.0/28
lb 192.0.2.32/31 192.0.2.32-192.0.2.34 @ 192.0.2.32 - 192.0.2.34
lb 192.0.2.34/32 192.0.2.32-192.0.2.34 @ 192.0.2.32 - 192.0.2.34
lb fd05::1/128 fd05::1-fd05::2 @ fd05::1-fd05::2
lb fd05::2/128 fd05::1-fd05::2 @ fd05::1-fd05::2
invalid addresses: it is an address without a mask @ 192.0.2.99`},
		{"MetalLB before its resources", `
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: metallb-system}
data:
  config: |
    address-pools:
      - {name: default, protocol: layer2, addresses: [192.0.2.1-192.0.2.1]}
`, "lb 192.0.2.1/32 192.0.2.1-192.0.2.1 @ 192.0.2.1-192.0.2.1"},
		{"CiliumLoadBalancerIPPool", "apiVersion: cilium.io/v2\nkind: CiliumLoadBalancerIPPool\nmetadata: {name: a}\nspec: {blocks: [{cidr: 192.0.2.0/28}, {start: 192.0.2.32, stop: 192.0.2.33}, {start: 192.0.2.40}]}\n",
			`lb 192.0.2.0/28 addresses @ 192.0.2.0/28
lb 192.0.2.32/31 192.0.2.32-192.0.2.33 @ 192.0.2.32
lb 192.0.2.40/32 192.0.2.40-192.0.2.40 @ 192.0.2.40`},
		{"ServiceCIDR", "apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: more}\nspec: {cidrs: [10.2.0.0/20, \"fd02::/112\"]}\n",
			`service 10.2.0.0/20 ServiceCIDR @ 10.2.0.0/20
service fd02::/112 ServiceCIDR @ fd02::/112`},
		{"Node", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nspec: {podCIDR: 10.1.3.0/24, podCIDRs: [10.1.3.0/24, \"fd01:0:0:3::/64\"]}\nstatus: {addresses: [{type: InternalIP, address: 192.0.2.7}, {type: Hostname, address: n}]}\n",
			`node 192.0.2.7/32! InternalIP @ 192.0.2.7
pod 10.1.3.0/24! podCIDR @ 10.1.3.0/24
pod fd01:0:0:3::/64! podCIDR @ fd01:0:0:3::/64`},
		{"static pods: one argument, two arguments, and a shell's text", `
apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec: {containers: [{name: a, image: "registry.k8s.io/kube-apiserver:v1.31.2", command: [kube-apiserver, --service-cluster-ip-range=10.2.0.0/20]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: kube-controller-manager, namespace: kube-system}
spec: {containers: [{name: a, image: "registry.k8s.io/kube-controller-manager:v1.31.2", command: [kube-controller-manager], args: [--cluster-cidr, "10.1.0.0/16,fd01::/56", --node-cidr-mask-size=24]}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-proxy, namespace: kube-system}
spec: {template: {spec: {containers: [{name: a, image: kube-proxy, command: [/bin/sh, -c, "exec kube-proxy --cluster-cidr=10.1.0.0/16 --v=2"]}]}}}
`, `pod 10.1.0.0/16 --cluster-cidr @ 10.1.0.0/16
pod 10.1.0.0/16 --cluster-cidr @ 10.1.0.0/16
pod fd01::/56 --cluster-cidr @ fd01::/56
service 10.2.0.0/20 --service-cluster-ip-range @ 10.2.0.0/20`},
		{"the control plane of a hosted cluster is not this cluster's", `
apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: tenant-a}
spec: {containers: [{name: a, image: kube-apiserver, args: [--service-cluster-ip-range=10.2.0.0/20]}]}
`, ""},
		{"Kilo, told and by default", `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kilo, namespace: kube-system}
spec: {template: {spec: {containers: [{name: kilo, image: "docker.io/squat/kilo:0.6.0", args: [--subnet=10.5.0.0/16, --service-cidr=10.2.0.0/20]}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kilo, namespace: kilo}
spec: {template: {spec: {containers: [{name: kilo, image: squat/kilo}]}}}
`, `pool 10.5.0.0/16 --subnet @ 10.5.0.0/16
pool 10.4.0.0/16? Kilo's default --subnet
service 10.2.0.0/20 --service-cidr @ 10.2.0.0/20`},
		{"Services prove one address each", `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: 10.2.0.80, clusterIPs: [10.2.0.80, "fd02::80"]}
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec: {clusterIP: 10.2.0.10}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, clusterIPs: [None]}
`, `dns 10.2.0.10/32! clusterIP of Service kube-system/kube-dns @ 10.2.0.10
service 10.2.0.10/32! clusterIP of Service kube-system/kube-dns @ 10.2.0.10
service 10.2.0.80/32! clusterIP of Service web @ 10.2.0.80
service fd02::80/128! clusterIP of Service web @ fd02::80`},
	}
}

// Whatever stands in a field, no reader stops or panics, and every claim that is
// made can be added up.
func TestHostileDeclarations(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		row := rapid.SampledFrom(declaredRanges()).Draw(rt, "row")
		objects := decode(t, "a", row.text)
		for range rapid.IntRange(1, 4).Draw(rt, "mutations") {
			mutate(rt, rapid.SampledFrom(objects).Draw(rt, "object").Tree)
		}
		for _, f := range readClusters(newIndex(objects), Options{}).founded {
			for _, c := range f.claims {
				if !c.Prefix.IsValid() || c.At.IsZero() {
					rt.Fatalf("claim %+v", c)
				}
			}
			cidrplan.Compute(f.claims)
		}
	})
}

func TestDeclaredRanges(t *testing.T) {
	for _, tt := range declaredRanges() {
		t.Run(tt.name, func(t *testing.T) {
			got := discovered(t, decode(t, "a", tt.text))
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, "\n")
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}
