package facts

import (
	"strings"
	"testing"
)

// FG A6, row by row.
func TestCalicoLayer(t *testing.T) {
	const says = "natOutgoing of IPPool pods 10.60.0.0/24"
	pods := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	felix := func(spec string) string {
		return "\n---\napiVersion: projectcalico.org/v3\nkind: FelixConfiguration\nmetadata: {name: default}\nspec: {" + spec + "}\n"
	}
	installation := func(pool string) string {
		return "\n---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {cni: {type: Calico}, calicoNetwork: {ipPools: [{cidr: 10.244.0.0/16" + pool + "}]}}\n"
	}
	node := func(env string) string {
		return daemon("calico-node", "docker.io/calico/node:v3.30.0", ", env: ["+env+"]")
	}
	testLayer(t, []layerCase{
		{"A6.1 a pool with natOutgoing", pods, says},
		{"A6.1 the destination is in a pool that masquerades", pods + calicoIPPool("other", "cidr: 10.60.0.0/16, natOutgoing: true"), ""},
		{"A6.1 half of it is", pods + calicoIPPool("other", "cidr: 10.60.0.0/25"), "natOutgoing of IPPool pods 10.60.0.128/25"},
		{"A6.1 the nodes are exempt", pods + kopsCluster("10.244.0.0/16", "10.60.0.0/24") + felix("natOutgoingExclusions: IPPoolsAndHostIPs"), ""},
		{"A6.1 by default they are not", pods + kopsCluster("10.244.0.0/16", "10.60.0.0/24") + felix("natOutgoingExclusions: IPPoolsOnly"), says},
		{"A6.2 a disabled pool exempts", pods + calicoIPPool("branch", "cidr: 10.60.0.0/24, disabled: true"), ""},
		{"A6.2 so does one for load balancers, in old versions", pods + calicoIPPool("lb", "cidr: 10.60.0.0/24, allowedUses: [LoadBalancer]"), ""},
		{"A6.2 a pool whose range is filled in later may", pods + calicoIPPool("branch", "cidr: '${BRANCH}', disabled: true"), ""},
		{"A6.3 absent is false", calicoIPPool("pods", "cidr: 10.244.0.0/16"), ""},
		{"A6.3 false", calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: false"), ""},
		{"A6.3 filled in later", calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: '${NAT}'"), ""},
		{"A6.4 calico-node's first pool", node("{name: CALICO_IPV4POOL_CIDR, value: 10.244.0.0/16}"), "natOutgoing of calico-node's first pool (CALICO_IPV4POOL_CIDR) 10.60.0.0/24"},
		{"A6.4 without natOutgoing", node("{name: CALICO_IPV4POOL_CIDR, value: 10.244.0.0/16}, {name: CALICO_IPV4POOL_NAT_OUTGOING, value: 'false'}"), ""},
		{"A6.4 natOutgoing unknown", node("{name: CALICO_IPV4POOL_CIDR, value: 10.244.0.0/16}, {name: CALICO_IPV4POOL_NAT_OUTGOING, value: '${NAT}'}"), ""},
		{"A6.4 not made at all", node("{name: CALICO_IPV4POOL_CIDR, value: 10.244.0.0/16}, {name: NO_DEFAULT_POOLS, value: 'true'}"), ""},
		{"A6.4 not made beside other pools", node("{name: CALICO_IPV4POOL_CIDR, value: 10.244.0.0/16}") + calicoIPPool("pods", "cidr: 10.244.0.0/16"), ""},
		{"A6.5 Enabled by default", installation(""), "natOutgoing of the Installation's pool 10.60.0.0/24"},
		{"A6.5 Enabled", installation(", natOutgoing: Enabled"), "natOutgoing of the Installation's pool 10.60.0.0/24"},
		{"A6.5 Disabled", installation(", natOutgoing: Disabled"), ""},
		{"A6.5 filled in later", installation(", natOutgoing: '${NAT}'"), ""},
		{"A6.6 another address", pods + felix("natOutgoingAddress: 10.10.0.9"), says},
		{"A6.6 an address that the tunnel carries", pods + felix("natOutgoingAddress: 10.244.0.9"), ""},
		{"A6.6 an address that is filled in later", pods + felix("natOutgoingAddress: '${ADDRESS}'"), ""},
		{"A6.6 the address in the environment", pods + node("{name: FELIX_NATOUTGOINGADDRESS, value: 10.244.0.9}"), ""},
		{"A6.6 only by some interfaces", pods + felix("iptablesNATOutgoingInterfaceFilter: bond0"), ""},
		{"A6.6 ports change nothing", pods + felix("natPortRange: '32768:65535'"), says},
	})
}

func TestCalicoExemptions(t *testing.T) {
	pods := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	plain := calicoIPPool("pods", "cidr: 10.244.0.0/16")
	testExemptions(t, []layerCase{
		{"A6.1 everything outside the pools is rewritten", pods, ""},
		{"A6.2 a disabled pool", pods + calicoIPPool("onprem", "cidr: 10.20.0.0/16, disabled: true"), "calico explicit [10.20.0.0/16] wants node"},
		{"A6.2 half of the destination", pods + calicoIPPool("onprem", "cidr: 10.20.0.0/17, disabled: true"), "calico explicit [10.20.0.0/17] wants node"},
		{"A6.2 a pool elsewhere", pods + calicoIPPool("onprem", "cidr: 10.30.0.0/16, disabled: true"), "calico explicit [] wants node"},
		{"A6.2 for load balancers: it depends on the version", pods + calicoIPPool("lb", "cidr: 10.20.0.0/16, allowedUses: [LoadBalancer]"), ""},
		{"A6.2 whether it is disabled is filled in later", pods + calicoIPPool("onprem", "cidr: 10.20.0.0/16, disabled: '${OFF}'"), ""},
		{"A6.3 no pool masquerades", plain, "calico none [10.20.0.0/16] wants node"},
		{"A6.3 filled in later", calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: '${NAT}'"), ""},
		{"A6.3 one of two does", plain + calicoIPPool("more", "cidr: 10.245.0.0/16, natOutgoing: true"), ""},
		{"A6.3 pods have addresses of a pool that is not in view", calicoIPPool("pods", "cidr: 10.245.0.0/16"), ""},
		{"A6.3 a pool whose range is filled in later", plain + calicoIPPool("more", "cidr: '${MORE}', natOutgoing: true"), ""},
	})
}

// A disabled pool is there on purpose (FG A6.2, F): without a word on which address
// the far side expects, there is nothing to say.
func TestCalicoPoolOnPurpose(t *testing.T) {
	text := strings.Replace(cloudVPN, "  localTrafficSelector: [10.128.0.0/20]\n", "", 1) + kopsCluster("10.244.0.0/16", "10.128.0.0/20") +
		calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true") + calicoIPPool("onprem", "cidr: 10.20.0.0/16, disabled: true")
	for _, a := range factsOf(t, decode(t, "unit", text)).Agents {
		if len(a.Targets) > 0 {
			t.Errorf("targets %+v", a.Targets)
		}
	}
}

// A pool that may be another cluster's may exempt anything.
func TestCalicoPoolOfAnUnknownCluster(t *testing.T) {
	cluster := func(name string) string {
		return strings.Replace(kopsCluster("10.244.0.0/16", "10.128.0.0/20"), "prod.example.com", name, 1)
	}
	pods := calicoIPPool("pods", "cidr: 10.244.0.0/16, natOutgoing: true")
	gateway := ipsecGateway("\n      hostNetwork: true", "ipsec start")
	for shared, want := range map[string]int{"": 1, calicoIPPool("branch", "cidr: 10.60.0.0/24, disabled: true"): 0} {
		units := map[string]string{"fleet/a": cluster("a") + pods + "\n---" + gateway, "fleet/b": cluster("b")}
		if shared != "" {
			units["shared"] = shared
		}
		got := 0
		for _, p := range factsOf(t, tree(t, units)).Pods {
			got += len(p.Tunnels[0].Rewrites)
		}
		if got != want {
			t.Errorf("%d rewrites, want %d", got, want)
		}
	}
}
