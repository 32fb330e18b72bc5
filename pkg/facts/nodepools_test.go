package facts

import (
	"strings"
	"testing"
)

func gkePool(nodeConfig string) string {
	return "\n---\napiVersion: container.cnrm.cloud.google.com/v1beta1\nkind: ContainerNodePool\nmetadata: {name: batch, namespace: infra}\nspec: {nodeConfig: {" + nodeConfig + "}}\n"
}

// masqOn is the DaemonSet with scheduling fields of its own.
func masqOn(scheduling string) string {
	return strings.Replace(masqDaemonSet(), "hostNetwork: true", "hostNetwork: true\n      "+scheduling, 1)
}

func TestPoolsWithoutAnAgent(t *testing.T) {
	const taint = "taint: [{key: dedicated, value: batch, effect: NO_SCHEDULE}]"
	for name, tc := range map[string]struct{ text, why string }{
		"a taint":                   {masqDaemonSet() + gkePool(taint), "does not tolerate its taint dedicated=batch:NoSchedule"},
		"tolerated":                 {masqOn("tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule}]") + gkePool(taint), ""},
		"everything tolerated":      {masqOn("tolerations: [{operator: Exists}]") + gkePool(taint), ""},
		"another value tolerated":   {masqOn("tolerations: [{key: dedicated, value: gpu, effect: NoSchedule}]") + gkePool(taint), "does not tolerate its taint dedicated=batch:NoSchedule"},
		"a preference":              {masqDaemonSet() + gkePool(strings.Replace(taint, "NO_", "PREFER_NO_", 1)), ""},
		"other labels":              {masqOn("nodeSelector: {pool: default}") + gkePool("labels: {pool: batch}"), "selects other nodes by nodeSelector"},
		"its labels":                {masqOn("nodeSelector: {pool: batch}") + gkePool("labels: {pool: batch}"), ""},
		"a label of the platform":   {masqOn("nodeSelector: {node.kubernetes.io/masq-agent-ds-ready: \"true\"}") + gkePool("labels: {pool: batch}"), ""},
		"the pool by its name":      {masqOn("nodeSelector: {cloud.google.com/gke-nodepool: default}") + gkePool("labels: {}"), "selects other nodes by nodeSelector"},
		"by affinity":               {masqOn("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: NotIn, values: [batch]}]}]}}}") + gkePool("labels: {pool: batch}"), "selects other nodes by node affinity"},
		"by a preference only":      {masqOn("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}") + gkePool("labels: {pool: batch}"), ""},
		"windows":                   {masqDaemonSet() + gkePool("imageType: WINDOWS_LTSC_CONTAINERD, "+taint), ""},
		"wrong types":               {masqOn("tolerations: {a: b}") + gkePool(taint), ""},
		"two agents share the work": {masqDaemonSet() + "---" + strings.Replace(masqOn("tolerations: [{operator: Exists}]"), "name: masq, namespace", "name: masq2, namespace", 1) + gkePool(taint), ""},
		"no DaemonSet":              {strings.Replace(masqDaemonSet(), "kind: DaemonSet", "kind: Deployment", 1) + gkePool(taint), ""},
		"Azure's pool": {masqDaemonSet() + `
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedMachinePool
metadata: {name: batch, namespace: infra}
spec: {taints: [{key: dedicated, value: batch, effect: NoExecute}]}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
`, "does not tolerate its taint dedicated=batch:NoExecute"},
		"Crossplane's pool": {masqDaemonSet() + `
---
apiVersion: container.gcp.upbound.io/v1beta1
kind: NodePool
metadata: {name: batch}
spec: {forProvider: {nodeConfig: [{taint: [{key: dedicated, value: batch, effect: NO_SCHEDULE}]}]}}
`, "does not tolerate its taint dedicated=batch:NoSchedule"},
		"Crossplane's pool of Azure": {masqDaemonSet() + `
---
apiVersion: containerservice.azure.upbound.io/v1beta1
kind: KubernetesClusterNodePool
metadata: {name: batch}
spec: {forProvider: {nodeTaints: ["dedicated=batch:NoSchedule"]}}
`, "does not tolerate its taint dedicated=batch:NoSchedule"},
		"Crossplane's pool of Azure, Windows": {masqDaemonSet() + `
---
apiVersion: containerservice.azure.upbound.io/v1beta1
kind: KubernetesClusterNodePool
metadata: {name: batch}
spec: {forProvider: {osType: Windows, nodeTaints: ["dedicated=batch:NoSchedule"]}}
`, ""},
		"a MachinePool": {masqDaemonSet() + machinePool("KubeadmConfig", "{joinConfiguration: {nodeRegistration: {taints: [{key: dedicated, value: batch, effect: NoSchedule}]}}}"),
			"does not tolerate its taint dedicated=batch:NoSchedule"},
		"a MachinePool, tolerated": {masqOn("tolerations: [{operator: Exists}]") + machinePool("KubeadmConfig", "{joinConfiguration: {nodeRegistration: {taints: [{key: dedicated, value: batch, effect: NoSchedule}]}}}"), ""},
		"a MachinePool of other labels": {masqOn("nodeSelector: {pool: default}") + machinePool("KubeadmConfigTemplate", "{template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {node-labels: 'pool=batch,a=b'}}}}}}"),
			"selects other nodes by nodeSelector"},
		"a MachinePool of its labels":               {masqOn("nodeSelector: {pool: batch}") + machinePool("KubeadmConfig", "{joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: node-labels, value: 'pool=batch'}]}}}"), ""},
		"a MachinePool whose machines are not seen": {masqOn("nodeSelector: {pool: default}") + machinePool("RKE2ConfigTemplate", "{}"), ""},
		"eksctl's group": {masqDaemonSet() + `
---
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: shop}
managedNodeGroups: [{name: batch, taints: [{key: dedicated, value: batch, effect: NoSchedule}]}]
`, "does not tolerate its taint dedicated=batch:NoSchedule"},
	} {
		t.Run(name, func(t *testing.T) {
			var whys []string
			for _, a := range factsOf(t, decode(t, "unit", tc.text)).Agents {
				for _, m := range a.MissedPools {
					if m.Name != "batch" || m.Ref.IsZero() || m.Pool.IsZero() {
						t.Errorf("missed %+v", m)
					}
					whys = append(whys, m.Why)
				}
			}
			if got := strings.Join(whys, "; "); got != tc.why {
				t.Errorf("missed %q, want %q", got, tc.why)
			}
		})
	}
}

func TestPodsOutsideTheSelectors(t *testing.T) {
	const cluster = `
---
apiVersion: container.cnrm.cloud.google.com/v1beta1
kind: ContainerCluster
metadata: {name: shop, namespace: infra}
spec: {defaultSnatStatus: {disabled: true}, ipAllocationPolicy: {clusterIpv4CidrBlock: 10.4.0.0/14}}
`
	for local, want := range map[string]string{
		"[10.128.0.0/20]":              "10.4.0.0/14",
		"[10.128.0.0/20, 10.4.0.0/15]": "10.6.0.0/15",
		"[10.4.0.0/14, 10.128.0.0/20]": "",
		"[0.0.0.0/0]":                  "",
		"[]":                           "",
	} {
		f := factsOf(t, decode(t, "unit", strings.Replace(cloudVPN, "[10.128.0.0/20]", local, 1)+cluster))
		if len(f.Agents) != 1 || len(f.Agents[0].Targets) != 1 {
			t.Fatalf("%s: agents %+v", local, f.Agents)
		}
		var outside []string
		for _, l := range f.Agents[0].Targets[0].Lacks {
			outside = append(outside, l.Outside...)
		}
		if got := strings.Join(outside, " "); got != want {
			t.Errorf("%s: outside %q, want %q", local, got, want)
		}
	}
}

// ipsecGateway is a strongSwan pod with selectors for pods and a branch.
func ipsecGateway(spec, command string) string {
	return pod(spec+`
      containers:
      - name: strongswan
        image: strongx509/strongswan:5.9.14
        command: [sh, -c, "`+command+`"]
        volumeMounts: [{name: c, mountPath: /etc/ipsec.conf, subPath: ipsec.conf}]
      volumes: [{name: c, configMap: {name: ipsec}}]`) + `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ipsec, namespace: jobs}
data:
  ipsec.conf: |
    conn branch
      left=%defaultroute
      leftsubnet=10.244.0.0/16
      right=198.51.100.9
      rightsubnet=10.60.0.0/24
`
}

func calicoIPPool(name, spec string) string {
	return "\n---\napiVersion: projectcalico.org/v3\nkind: IPPool\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

func TestRewritesBeforeIPsec(t *testing.T) {
	const onHost = "\n      hostNetwork: true"
	pods := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	for name, tc := range map[string]struct{ text, want string }{
		"Calico on the host":                             {ipsecGateway(onHost, "ipsec start") + pods, "natOutgoing of IPPool pods"},
		"Calico before a pod":                            {ipsecGateway("", "ipsec start") + pods, ""},
		"a disabled pool exempts":                        {ipsecGateway(onHost, "ipsec start") + pods + calicoIPPool("branch", "cidr: 10.60.0.0/24, disabled: true"), ""},
		"no outgoing NAT":                                {ipsecGateway(onHost, "ipsec start") + calicoIPPool("pods", "cidr: 10.244.0.0/16"), ""},
		"a pool of other addresses":                      {ipsecGateway(onHost, "ipsec start") + calicoIPPool("pods", "cidr: 10.16.0.0/16, natOutgoing: true"), ""},
		"an agent whose list has it":                     {ipsecGateway(onHost, "ipsec start") + "\n---" + masqAgent("config", "nonMasqueradeCIDRs: [10.244.0.0/16, 10.60.0.0/24]"), ""},
		"an agent whose list lacks it":                   {ipsecGateway(onHost, "ipsec start") + podsOf("10.244.0.0/16") + "\n---" + masqAgent("config", "nonMasqueradeCIDRs: [10.244.0.0/16]"), "the masquerade agent DaemonSet kube-system/masq"},
		"an agent, and selectors that may be the nodes'": {ipsecGateway(onHost, "ipsec start") + "\n---" + masqAgent("config", "nonMasqueradeCIDRs: [10.244.0.0/16]"), ""},
		"the pod's own rule":                             {ipsecGateway("", "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"), "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"},
		"with a guard":                                   {ipsecGateway("", "iptables -t nat -A POSTROUTING -m policy --dir out --pol ipsec -j ACCEPT; iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"), ""},
		"with a return":                                  {ipsecGateway("", "iptables -t nat -A POSTROUTING -d 10.60.0.0/24 -j RETURN; iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE"), ""},
		"for other destinations":                         {ipsecGateway("", "iptables -t nat -A POSTROUTING ! -d 10.60.0.0/24 -j MASQUERADE"), ""},
		"for other sources":                              {ipsecGateway("", "iptables -t nat -A POSTROUTING -s 10.99.0.0/24 -j MASQUERADE"), ""},
		"a source known at run time":                     {ipsecGateway("", "iptables -t nat -A POSTROUTING -s $NET -j MASQUERADE"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range factsOf(t, decode(t, "unit", tc.text)).Pods {
				for _, tn := range p.Tunnels {
					for _, r := range tn.Rewrites {
						if r.Ref.IsZero() || strings.Join(r.Prefixes, " ") != "10.60.0.0/24" {
							t.Errorf("rewrite %+v", r)
						}
						got = append(got, r.Says)
					}
				}
			}
			if strings.Join(got, "; ") != tc.want {
				t.Errorf("rewrites %q, want %q", got, tc.want)
			}
		})
	}
}

func machinePool(kind, spec string) string {
	return "\n---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachinePool\nmetadata: {name: batch, namespace: infra}\nspec: {clusterName: shop, template: {spec: {bootstrap: {configRef: {kind: " + kind + ", name: boot}}}}}\n" +
		"---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: " + kind + "\nmetadata: {name: boot, namespace: infra}\nspec: " + spec + "\n"
}
