package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// planned reads a tree with a plan of one cluster whose keys are given.
func withPlan(t *testing.T, keys, tree string) *Facts {
	t.Helper()
	plan := decode(t, ".", "apiVersion: vpnlint.dev/v1\nkind: Plan\nclusters:\n  - name: prod\n    pods: [10.4.0.0/14]\n    nodes: [10.128.0.0/20]\n"+indent(keys, 4)+"\n")
	return readPlanned(t, decode(t, "unit", tree), Options{Plan: plan[0]})
}

const plannedOnprem = "vpn:\n  - name: onprem\n    destinations: [10.20.0.0/16]\n"

func describeAgents(f *Facts) string {
	var out []string
	for _, a := range f.Agents {
		line := a.Kind + " " + a.List.Source
		for _, target := range a.Targets {
			line += fmt.Sprintf("; %s wants %s covered %s", target.Prefix, target.Wanted, strings.Join(target.Covered, ","))
			for _, l := range target.Lacks {
				line += " " + l.Kind + " lacks " + strings.Join(l.Outside, ",")
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestPlannedVPN(t *testing.T) {
	list := masqAgent("config", "nonMasqueradeCIDRs: [10.0.0.0/8]")
	const bareList = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: 'nonMasqueradeCIDRs: [10.0.0.0/8]'}\n"
	const tunnel = "---\napiVersion: compute.cnrm.cloud.google.com/v1beta1\nkind: ComputeVPNTunnel\nmetadata: {name: onprem, namespace: net}\nspec: {localTrafficSelector: [10.128.0.0/20]}\n"
	for _, tt := range []struct{ name, keys, tree, want string }{
		{"no choice recorded", plannedOnprem, list, "ip-masq-agent explicit; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"node addresses", plannedOnprem + "    sourceAddress: node\n", list, "ip-masq-agent explicit; 10.20.0.0/16 wants node covered 10.20.0.0/16"},
		{"pod addresses", plannedOnprem + "    sourceAddress: pod\n", list, "ip-masq-agent explicit; 10.20.0.0/16 wants pod covered 10.20.0.0/16"},
		{"selectors of the nodes", plannedOnprem + "    localTrafficSelectors: [10.128.0.0/20]\n", list,
			"ip-masq-agent explicit; 10.20.0.0/16 wants node covered 10.20.0.0/16 selectors lacks 10.4.0.0/14"},
		{"what the far side knows", plannedOnprem + "    sourceAddress: pod\n    localTrafficSelectors: [10.4.0.0/14]\n    returnRoutes: [10.4.0.0/15]\n    farSideAllows: [10.128.0.0/20]\n", list,
			"ip-masq-agent explicit; 10.20.0.0/16 wants pod covered 10.20.0.0/16 return-route lacks 10.6.0.0/15 far-side lacks 10.4.0.0/14"},
		{"the plan tells where a tunnel of the tree leads", plannedOnprem + "    tunnel: {kind: ComputeVPNTunnel, name: onprem}\n", list + tunnel,
			"ip-masq-agent explicit; 10.20.0.0/16 wants node covered 10.20.0.0/16 selectors lacks 10.4.0.0/14"},
		{"a workload's own tunnel is no site", plannedOnprem + "    tunnel: {kind: Deployment, name: sync}\n", list, "ip-masq-agent explicit"},
		{"a default route is no destination", "vpn: [{name: exit, fullTunnel: true, destinations: [0.0.0.0/0]}]", list, "ip-masq-agent explicit"},
		{"GKE runs the agent", "masquerade: {agent: gke-managed}\n" + plannedOnprem, "", "gke-managed default; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"nothing rewrites addresses", "masquerade: {agent: none}\n" + plannedOnprem, "", "none none; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"an agent whose list is elsewhere", "masquerade: {agent: ip-masq-agent}\n" + plannedOnprem, "", ""},
		{"a list that the planned agent does not read", "masquerade: {agent: calico}\n" + plannedOnprem, bareList, "ip-masq-agent unknown; 10.20.0.0/16 wants unknown covered "},
		{"a list although nothing rewrites", "masquerade: {agent: none}\n" + plannedOnprem, bareList, "ip-masq-agent none; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"a list that the planned agent reads", "masquerade: {agent: ip-masq-agent}\n" + plannedOnprem, bareList, "ip-masq-agent explicit; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"a list that Cilium reads", "masquerade: {agent: cilium}\n" + plannedOnprem, bareList, "cilium explicit; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
		{"an agent in view beats the plan", "masquerade: {agent: none}\n" + plannedOnprem, list, "ip-masq-agent explicit; 10.20.0.0/16 wants unknown covered 10.20.0.0/16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := withPlan(t, tt.keys, tt.tree)
			if got := describeAgents(f); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if n := strings.Count(claimTexts(f.Claims), "vpn 10.20.0.0/16"); strings.Contains(tt.keys, "10.20.0.0/16") && n != 1 {
				t.Errorf("%d claims for the destination:\n%s", n, claimTexts(f.Claims))
			}
		})
	}
}

func TestPlannedMinimalList(t *testing.T) {
	f := withPlan(t, "internal: [10.200.0.0/16]\n"+plannedOnprem+"    sourceAddress: node\n    reason: lists\n", masqAgent("config", "nonMasqueradeCIDRs: [10.0.0.0/8]"))
	a := f.Agents[0]
	if got := strings.Join(a.Minimal, " "); got != "10.4.0.0/14 10.128.0.0/20 10.200.0.0/16" {
		t.Errorf("minimal %s", got)
	}
	if w := a.Targets[0]; w.WantedWhy != "the plan says so (lists)" || w.WantedRef.Pointer != "/clusters/0/vpn/0/sourceAddress" {
		t.Errorf("target %+v", w)
	}
}

func TestPlannedList(t *testing.T) {
	const list = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ip-masq-agent, namespace: kube-system}\ndata: {config: 'nonMasqueradeCIDRs: [10.4.0.0/14]'}\n"
	for agent, want := range map[string]string{"gke-managed": "gke-managed explicit", "ip-masq-agent": "ip-masq-agent explicit", "gke-autopilot": ""} {
		if got := describeAgents(withPlan(t, "masquerade: {agent: "+agent+"}", list)); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}

func TestPlannedForwardingAndSysctls(t *testing.T) {
	server := deployment("securityContext: {sysctls: [{name: net.ipv4.conf.all.src_valid_mark, value: '1'}]}\ncontainers: [{name: vpn, image: kylemanna/openvpn}]")
	const calico = "---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: {name: default}\nspec: {}\n"
	for _, tt := range []struct {
		name, keys string
		state      Known
		allowed    string
	}{
		{"nothing said", "services: [10.8.0.0/20]", Absent, "unseen"},
		{"guaranteed", "podForwarding: guaranteed", Present, "unseen"},
		{"allowed", "allowedUnsafeSysctls: ['net.ipv4.conf.*']", Absent, "allowed"},
		{"another one allowed", "allowedUnsafeSysctls: [net.ipv4.ip_forward]", Absent, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := withPlan(t, tt.keys, server+calico).Pods[0]
			if p.Forwarding.IPv4.State != tt.state || p.Sysctls[0].Allowed != tt.allowed || p.Forwarding.IPv6.State != Absent {
				t.Errorf("IPv4 %s, IPv6 %s, sysctl %s", p.Forwarding.IPv4.State, p.Forwarding.IPv6.State, p.Sysctls[0].Allowed)
			}
		})
	}
}

func TestPlannedPools(t *testing.T) {
	agent := masqOn("nodeSelector: {pool: default}")
	for _, tt := range []struct{ name, pools, want string }{
		{"selected", "[{name: a, labels: {pool: default}}]", ""},
		{"other labels", "[{name: a, labels: {pool: default}}, {name: gpu, labels: {pool: gpu}}]", "gpu selects other nodes by nodeSelector"},
		{"a taint", "[{name: gpu, labels: {pool: default}, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}]", "gpu does not tolerate its taint dedicated=gpu:NoSchedule"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, m := range withPlan(t, "nodePools: "+tt.pools, agent).Agents[0].MissedPools {
				got = append(got, m.Name+" "+m.Why)
				if !strings.HasPrefix(m.Pool.Pointer, "/clusters/0/nodePools/") {
					t.Errorf("pool at %+v", m.Pool)
				}
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlannedPoolRoutes(t *testing.T) {
	server := deployment("containers: [{name: vpn, image: 'ghcr.io/wg-easy/wg-easy:14', env: [{name: WG_DEFAULT_ADDRESS, value: 10.250.0.x}]}]")
	for pool, want := range map[string]Known{
		"{name: a, range: 10.250.0.0/16, routed: true}":  Present,
		"{name: a, range: 10.250.0.0/16, routed: false}": Absent,
		"{name: a, range: 10.250.0.0/16}":                Absent,
		"{name: a, range: 10.251.0.0/16, routed: true}":  Absent,
	} {
		if got := withPlan(t, "clientPools: ["+pool+"]", server).Pods[0].Tunnels[0].PoolRouted; got.State != want {
			t.Errorf("%s: %+v, want %s", pool, got, want)
		}
	}
}
