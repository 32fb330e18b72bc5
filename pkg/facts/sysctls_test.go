package facts

import (
	"testing"
)

const forwardingSysctl = `
securityContext:
  sysctls: [{name: net/ipv4/ip_forward, value: "1"}]
containers:
  - {name: vpn, image: kylemanna/openvpn}
`

func TestKubeletsAllowSysctls(t *testing.T) {
	for _, tt := range []struct{ name, config, want string }{
		{"nothing in view", "", "unseen"},
		{"a kubelet configuration", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: [net.ipv4.ip_forward]", "allowed"},
		{"a pattern", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: ['net.ipv4.*']", "allowed"},
		{"a pattern with slashes", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: ['net/ipv4/*']", "allowed"},
		{"another sysctl", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: [net.core.somaxconn]", "refused"},
		{"no list", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50", "refused"},
		{"a list that is filled in later", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: ['${SYSCTLS}']", "unknown"},
		{"a list that is none", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: net.*", "unknown"},
		{"one of two configurations", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nallowedUnsafeSysctls: [net.ipv4.ip_forward]", "allowed"},
		{"kubeadm's arguments", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\nnodeRegistration: {kubeletExtraArgs: {allowed-unsafe-sysctls: 'net.core.*,net.ipv4.ip_forward'}}", "allowed"},
		{"kubeadm's newer arguments", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {kubeletExtraArgs: [{name: allowed-unsafe-sysctls, value: 'net.*'}]}", "allowed"},
		{"kubeadm's arguments without it", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {kubeletExtraArgs: [{name: v, value: '2'}]}", "refused"},
		{"kind's patch", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nkubeadmConfigPatches:\n- |\n  kind: KubeletConfiguration\n  allowedUnsafeSysctls: ['net.*']", "allowed"},
		{"kind without a patch", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster", "unseen"},
		{"a patch of one of kind's nodes", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nnodes:\n- role: worker\n  kubeadmConfigPatches:\n  - |\n    kind: JoinConfiguration\n    nodeRegistration: {kubeletExtraArgs: {allowed-unsafe-sysctls: net.core.somaxconn}}", "refused"},
		{"Cluster API", "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\n---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: w}\nspec: {template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {allowed-unsafe-sysctls: 'net.*'}}}}}}", "allowed"},
		{"Talos", "apiVersion: talos.dev/v1alpha1\nkind: MachineConfig\nmachine: {kubelet: {extraConfig: {allowedUnsafeSysctls: ['net.*']}}}", "allowed"},
		{"kops", "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nmetadata: {name: k}\nspec: {kubelet: {allowedUnsafeSysctls: ['net.*']}}", "allowed"},
		{"eksctl", "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: e}\nnodeGroups: [{name: a, kubeletExtraConfig: {allowedUnsafeSysctls: [net.ipv4.ip_forward]}}]", "allowed"},
		{"k3s", "apiVersion: k3s.io/v1\nkind: Config\nkubelet-arg: [max-pods=50, 'allowed-unsafe-sysctls=net.ipv4.ip_forward,net.core.somaxconn']", "allowed"},
		{"k3d", "apiVersion: k3d.io/v1alpha5\nkind: Simple\noptions: {k3s: {extraArgs: [{arg: '--kubelet-arg=allowed-unsafe-sysctls=net.*'}]}}", "allowed"},
		{"Config Connector", "apiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerCluster\nmetadata: {name: g}\n---\napiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerNodePool\nmetadata: {name: p}\nspec: {clusterRef: {name: g}, nodeConfig: {kubeletConfig: {allowedUnsafeSysctls: [net.ipv4.ip_forward]}}}", "allowed"},
		{"a node pool that says nothing of kubelets", "apiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerCluster\nmetadata: {name: g}\nspec: {nodeConfig: {machineType: e2-small}}", "unseen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pods := read(t, deployment(forwardingSysctl)+"---\n"+tt.config).Pods
			if len(pods) != 1 || len(pods[0].Sysctls) != 1 {
				t.Fatalf("%d pods: %+v", len(pods), pods)
			}
			s := pods[0].Sysctls[0]
			if s.Name != "net.ipv4.ip_forward" || s.Safe || s.Allowed != tt.want {
				t.Errorf("got %+v, want %s", s, tt.want)
			}
			if (s.Allowed == "unseen") != s.KubeletRef.IsZero() {
				t.Errorf("place of the list: %+v", s.KubeletRef)
			}
		})
	}
}

func TestPodSysctls(t *testing.T) {
	for _, tt := range []struct {
		name, sysctls string
		want          []PodSysctl
	}{
		{"safe", "[{name: net.ipv4.tcp_syncookies, value: '1'}]", []PodSysctl{{Name: "net.ipv4.tcp_syncookies", Value: "1", Safe: true}}},
		{"of a client", "[{name: net.ipv4.conf.all.src_valid_mark, value: '1'}]", []PodSysctl{{Name: "net.ipv4.conf.all.src_valid_mark", Value: "1"}}},
		{"a number for a value", "[{name: net.ipv4.ip_forward, value: 1}]", []PodSysctl{{Name: "net.ipv4.ip_forward", Value: "1"}}},
		{"wrong types", "{a: b}", nil},
		{"no names", "[{value: '1'}, 7, null]", nil},
		{"a name that is filled in later", "[{name: '${NAME}', value: '1'}]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := onlyPod(t, deployment("securityContext: {sysctls: "+tt.sysctls+"}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]"))
			if len(p.Sysctls) != len(tt.want) {
				t.Fatalf("got %+v", p.Sysctls)
			}
			for i, got := range p.Sysctls {
				if want := tt.want[i]; got.Name != want.Name || got.Value != want.Value || got.Safe != want.Safe {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
		})
	}
}
