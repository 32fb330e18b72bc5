package facts

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const cloudVPN = `
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeVPNTunnel
metadata: {name: office, namespace: infra}
spec:
  localTrafficSelector: [10.128.0.0/20]
  remoteTrafficSelector: [10.20.0.0/16]
`

// masqAgent is the upstream DaemonSet with its ConfigMap.
func masqAgent(key, config string, args ...string) string {
	return "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: masq, namespace: kube-system}\ndata:\n  " + key + ": |\n    " +
		strings.ReplaceAll(config, "\n", "\n    ") + "\n---" + masqDaemonSet(args...)
}

func masqDaemonSet(args ...string) string {
	return `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: masq, namespace: kube-system}
spec:
  template:
    spec:
      hostNetwork: true
      volumes: [{name: conf, configMap: {name: masq, optional: true, items: [{key: config, path: ip-masq-agent}]}}]
      containers:
        - name: agent
          image: registry.k8s.io/networking/ip-masq-agent:v2.9.3
          args: [` + strings.Join(append([]string{"--masq-chain=IP-MASQ"}, args...), ", ") + `]
          volumeMounts: [{name: conf, mountPath: /etc/config}]
`
}

func factsOf(t *testing.T, objects []*source.Object) *Facts {
	t.Helper()
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(context.Background(), objects, catalog, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAgents(t *testing.T) {
	prod := gkeCluster + "---" + cloudVPN + "---"
	rfc1918 := []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}
	reserved := []string{"10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"}
	type want struct {
		kind, source string
		valid        Known
		effective    []string
		covered      []string
		entry        int
		missing      []string
		wide         int
	}
	tests := []struct {
		name string
		text string
		want want
	}{
		{"a list that holds the far side", prod + masqAgent("config", "nonMasqueradeCIDRs:\n  - 192.168.0.0/16\n  - 10.0.0.0/8"),
			want{agentUpstream, "explicit", Present, []string{"10.0.0.0/8", "192.168.0.0/16"}, []string{"10.20.0.0/16"}, 1, nil, 2}},
		{"the most specific entry is named", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.0.0.0/8, 10.20.0.0/16, 10.20.4.0/24]"),
			want{agentUpstream, "explicit", Present, []string{"10.0.0.0/8"}, []string{"10.20.0.0/16"}, 1, nil, 1}},
		{"the entry that holds most is named", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.20.4.0/24, 10.20.128.0/17, 10.4.0.0/14]"),
			want{agentUpstream, "explicit", Present, []string{"10.4.0.0/14", "10.20.4.0/24", "10.20.128.0/17"}, []string{"10.20.4.0/24", "10.20.128.0/17"}, 1, nil, 0}},
		{"part of the pods is missing", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.4.0.0/15]"),
			want{agentUpstream, "explicit", Present, []string{"10.4.0.0/15"}, nil, -1, []string{"10.6.0.0/15"}, 0}},
		{"an empty list", prod + masqAgent("config", "nonMasqueradeCIDRs: []"),
			want{agentUpstream, "explicit", Present, nil, nil, -1, []string{"10.4.0.0/14"}, 0}},
		{"no key: the defaults stay", prod + masqAgent("config", "masqLinkLocal: true"),
			want{agentUpstream, "default", Present, rfc1918, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"no key, all reserved ranges", prod + masqAgent("config", "masqLinkLocal: true", "--nomasq-all-reserved-ranges"),
			want{agentUpstream, "default", Present, reserved, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"the flag does not touch an explicit list", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.4.0.0/14]", "--nomasq-all-reserved-ranges"),
			want{agentUpstream, "explicit", Present, []string{"10.4.0.0/14"}, nil, -1, nil, 0}},
		{"another key: the mount does not find it", prod + masqAgent("ip-masq-agent", "nonMasqueradeCIDRs: [10.4.0.0/14]"),
			want{agentUpstream, "default", Unknown, rfc1918, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"no ConfigMap", prod + masqDaemonSet(),
			want{agentUpstream, "default", Unknown, rfc1918, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"host bits are refused", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.4.1.0/14]"),
			want{agentUpstream, "unknown", Absent, nil, nil, -1, nil, 0}},
		{"IPv6 without the flag is refused", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.4.0.0/14, 'fd00::/8']"),
			want{agentUpstream, "unknown", Absent, nil, nil, -1, nil, 0}},
		{"IPv6 with the flag", prod + masqAgent("config", "nonMasqueradeCIDRs: [10.4.0.0/14, 'fd00::/8']", "--enable-ipv6"),
			want{agentUpstream, "explicit", Present, []string{"10.4.0.0/14", "fd00::/8"}, nil, -1, nil, 0}},
		{"a placeholder in the list", prod + masqAgent("config", "nonMasqueradeCIDRs: [\"${PODS}\"]"),
			want{agentUpstream, "unknown", Unknown, nil, nil, -1, nil, 0}},
		{"GKE without anything in view", prod, want{agentGKE, "default", Unknown, reserved, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"GKE with default SNAT off", strings.Replace(prod, "subnetworkRef", "defaultSnatStatus: {disabled: true}\n  subnetworkRef", 1),
			want{agentGKE, "none", Unknown, nil, []string{"10.20.0.0/16"}, -1, nil, 0}},
		{"GKE's agent reads the well-known ConfigMap", prod + `
apiVersion: v1
kind: ConfigMap
metadata: {name: ip-masq-agent, namespace: kube-system}
data: {config: "nonMasqueradeCIDRs: [10.4.0.0/14]"}
`, want{agentGKE, "explicit", Present, []string{"10.4.0.0/14"}, nil, -1, nil, 0}},
		{"Azure starts from an empty list", `
apiVersion: v1
kind: ConfigMap
metadata: {name: azure-masq, namespace: kube-system}
data: {ip-masq-agent: "masqLinkLocal: true", ip-masq-agent-more: "nonMasqueradeCIDRs: [10.9.0.0/16]"}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: azure-masq, namespace: kube-system}
spec:
  template:
    spec:
      volumes: [{name: conf, projected: {sources: [{configMap: {name: azure-masq}}]}}]
      containers: [{name: agent, image: "mcr.microsoft.com/aks/ip-masq-agent-v2:v0.1.13", volumeMounts: [{name: conf, mountPath: /etc/config}]}]
`, want{agentAzure, "explicit", Present, []string{"10.9.0.0/16"}, nil, -1, nil, 0}},
		{"Cilium masks host bits and keeps its native range", `
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config, namespace: kube-system}
data: {enable-ip-masq-agent: "true", ipv4-native-routing-cidr: 10.64.0.0/16}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ip-masq-agent, namespace: kube-system}
data: {config: '{"nonMasqueradeCIDRs":["10.9.1.0/16"]}'}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: cilium, namespace: kube-system}
spec:
  template:
    spec:
      volumes: [{name: masq, configMap: {name: ip-masq-agent, optional: true, items: [{key: config, path: ip-masq-agent}]}}]
      containers: [{name: cilium-agent, image: "quay.io/cilium/cilium:v1.17.2", volumeMounts: [{name: masq, mountPath: /etc/config}]}]
`, want{agentCilium, "explicit", Present, []string{"10.9.0.0/16", "10.64.0.0/16"}, nil, -1, nil, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := factsOf(t, tree(t, map[string]string{"prod": tt.text}))
			if len(f.Agents) != 1 {
				t.Fatalf("%d agents: %+v", len(f.Agents), f.Agents)
			}
			a := f.Agents[0]
			got := want{kind: a.Kind, source: a.List.Source, valid: a.List.Valid, effective: a.Effective, entry: -1, missing: a.MissingPods, wide: len(a.Wide)}
			for _, target := range a.Targets {
				got.covered, got.entry = target.Covered, target.Entry
				if target.Wanted != "node" || textAt(t, tree(t, map[string]string{"prod": tt.text}), target.WantedRef) != "10.128.0.0/20" {
					t.Errorf("target %+v wants no node address", target)
				}
			}
			same := got.kind == tt.want.kind && got.source == tt.want.source && got.valid == tt.want.valid && got.entry == tt.want.entry && got.wide == tt.want.wide &&
				slices.Equal(got.effective, tt.want.effective) && slices.Equal(got.covered, tt.want.covered) && slices.Equal(got.missing, tt.want.missing)
			if !same {
				t.Errorf("got  %+v\nwant %+v\n(%s)", got, tt.want, a.List.Why)
			}
		})
	}
}

func TestEntriesPointIntoTheConfiguration(t *testing.T) {
	objects := tree(t, map[string]string{"prod": masqAgent("config", "# ours\nnonMasqueradeCIDRs:\n  - 10.4.0.0/14  # pods\n  - 10.128.0.0/20")})
	a := factsOf(t, objects).Agents[0]
	for i, want := range []string{"10.4.0.0/14", "10.128.0.0/20"} {
		if got := textAt(t, objects, a.List.Entries[i].Ref); got != want {
			t.Errorf("entry %d is %q, want %q", i, got, want)
		}
	}
	if got := textAt(t, objects, a.List.Ref); !strings.HasPrefix(got, "nonMasqueradeCIDRs:") {
		t.Errorf("the list is %q", got)
	}
}

func TestMinimalList(t *testing.T) {
	f := factsOf(t, tree(t, map[string]string{"prod": gkeCluster + "---" + strings.Replace(cloudVPN, "10.20.0.0/16", "10.5.0.0/16", 1)}))
	if got, want := f.Agents[0].Minimal, []string{"10.4.0.0/16", "10.6.0.0/15", "10.128.0.0/20"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAnAgentOfAnUnknownClusterSilencesTheDefaults(t *testing.T) {
	second := strings.ReplaceAll(gkeCluster, "name: shop", "name: lab")
	f := factsOf(t, tree(t, map[string]string{"fleet/shop": gkeCluster + "---" + cloudVPN, "fleet/lab": second, "shared": masqDaemonSet()}))
	for _, a := range f.Agents {
		if a.Kind == agentGKE || len(a.Targets) > 0 {
			t.Errorf("%s speaks for %s", a.Kind, a.Cluster)
		}
	}
	if !slices.ContainsFunc(f.Gaps, func(g finding.Gap) bool { return strings.Contains(g.Why, "equally near") }) {
		t.Errorf("no gap tells the tie: %+v", f.Gaps)
	}
}

func TestSites(t *testing.T) {
	routed := `
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeVPNTunnel
metadata: {name: ha, namespace: infra}
spec: {routerRef: {name: edge}}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeRoute
metadata: {name: to-office, namespace: infra}
spec: {destRange: 10.30.0.0/16, nextHopVPNTunnelRef: {name: ha}}
---
apiVersion: compute.cnrm.cloud.google.com/v1beta1
kind: ComputeRouter
metadata: {name: edge, namespace: infra}
spec:
  bgp: {advertiseMode: CUSTOM, advertisedGroups: [], advertisedIpRanges: [{range: 10.128.0.0/20}]}
`
	tests := []struct {
		name, text    string
		remote, local string
	}{
		{"selectors", cloudVPN, "present 10.20.0.0/16", "present 10.128.0.0/20"},
		{"routes and announcements", routed, "present 10.30.0.0/16", "present 10.128.0.0/20"},
		{"all subnets are announced", strings.Replace(routed, "advertisedGroups: []", "advertisedGroups: [ALL_SUBNETS]", 1), "present 10.30.0.0/16", "unknown 10.128.0.0/20"},
		{"default announcements", strings.Replace(routed, "CUSTOM", "DEFAULT", 1), "present 10.30.0.0/16", "unknown "},
		{"a peer that announces something else", routed + "---\napiVersion: compute.cnrm.cloud.google.com/v1beta1\nkind: ComputeRouterPeer\nmetadata: {name: p, namespace: infra}\nspec: {routerRef: {name: edge}, advertiseMode: CUSTOM}\n",
			"present 10.30.0.0/16", "unknown "},
		{"another tunnel's route", strings.Replace(routed, "Ref: {name: ha}", "Ref: {name: other}", 1), "unknown ", "present 10.128.0.0/20"},
		{"selectors that admit everything", strings.NewReplacer("10.128.0.0/20", "0.0.0.0/0", "10.20.0.0/16", "0.0.0.0/0").Replace(cloudVPN), "unknown ", "unknown 0.0.0.0/0"},
		{"wrong types", strings.Replace(cloudVPN, "[10.20.0.0/16]", "{a: 1}", 1), "unknown ", "present 10.128.0.0/20"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := factsOf(t, tree(t, map[string]string{"net": tt.text}))
			join := func(state Known, list []PrefixAt) string {
				var out []string
				for _, p := range list {
					out = append(out, p.Prefix)
				}
				return string(state) + " " + strings.Join(out, ",")
			}
			s := f.Sites[0]
			if got := join(s.RemoteState, s.Remote); got != tt.remote {
				t.Errorf("remote %q, want %q", got, tt.remote)
			}
			if got := join(s.LocalState, s.Local); got != tt.local {
				t.Errorf("local %q, want %q", got, tt.local)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	pods := gkeCluster + "---"
	for local, want := range map[string]string{
		"[10.128.0.0/20]":              "node",
		"[10.128.0.0/20, 10.4.0.0/14]": "pod",
		"[10.0.0.0/8]":                 "pod",
		"[10.4.0.0/16]":                "unknown",
		"[0.0.0.0/0]":                  "unknown",
		"[]":                           "unknown",
	} {
		f := factsOf(t, tree(t, map[string]string{"prod": pods + strings.Replace(cloudVPN, "[10.128.0.0/20]", local, 1)}))
		if got := f.Agents[0].Targets[0].Wanted; got != want {
			t.Errorf("local selectors %s: %s, want %s", local, got, want)
		}
	}
}

func TestTunnelClaims(t *testing.T) {
	p := &podView{pod: &Pod{HostNetwork: Setting{Value: "false"}}}
	here := source.Ref{Object: "Secret/wg"}
	container := source.Ref{Object: "Deployment/wg", Pointer: "/c"}
	at := func(prefixes ...string) []PrefixAt {
		var out []PrefixAt
		for _, x := range prefixes {
			out = append(out, PrefixAt{Prefix: x, Ref: here})
		}
		return out
	}
	client := Tunnel{Side: "client", Kind: "wireguard", UserSpace: Absent, ContainerRef: container, Routes: Routes{State: Present}}
	tests := []struct {
		name string
		t    Tunnel
		want []string
	}{
		{"a split tunnel", with(client, func(t *Tunnel) { t.Routes.Prefixes = at("10.20.0.0/16") }), []string{"vpn 10.20.0.0/16 declared  local"}},
		{"a default route beside it", with(client, func(t *Tunnel) { t.Routes.Prefixes = at("0.0.0.0/0", "10.20.0.0/16") }),
			[]string{"vpn 0.0.0.0/0 declared default-route local", "vpn 10.20.0.0/16 declared  local"}},
		{"pieces of everything", with(client, func(t *Tunnel) { t.Routes.Prefixes = at("8.0.0.0/5", "::/1") }),
			[]string{"vpn 8.0.0.0/5 declared default-route local", "vpn ::/1 declared default-route local"}},
		{"what bypasses is no destination", with(client, func(t *Tunnel) {
			t.Routes.Prefixes = at("10.20.0.0/16")
			t.Bypass = Bypass{State: Present, Entries: at("10.20.0.0/17")}
		}), []string{"vpn 10.20.128.0/17 declared  local"}},
		{"an unseen bypass decides nothing", with(client, func(t *Tunnel) {
			t.Routes.Prefixes = at("10.20.0.0/16")
			t.Bypass.State = Unknown
		}), nil},
		{"unknown routes", with(client, func(t *Tunnel) { t.Routes = Routes{State: Unknown, Prefixes: at("10.20.0.0/16")} }), nil},
		{"a server's routes lead to its clients", with(client, func(t *Tunnel) {
			t.Side, t.Routes.Prefixes = "server", at("10.20.0.0/16")
			t.Clients = Clients{State: Present, Routes: at("10.244.0.0/16")}
			t.Pool = at("10.8.0.0/24")
		}), []string{"pool 10.8.0.0/24 declared  "}},
		{"an image's own pool", with(client, func(t *Tunnel) {
			t.Side, t.Pool = "server", []PrefixAt{{Prefix: "10.8.0.0/24", Ref: container}}
		}), []string{"pool 10.8.0.0/24 default  "}},
		{"a mesh in the kernel", Tunnel{Side: "mesh", Kind: "mesh", UserSpace: Absent, Pool: at("100.64.0.0/10")}, []string{"pool 100.64.0.0/10 declared  "}},
		{"a mesh in user space", Tunnel{Side: "mesh", Kind: "mesh", UserSpace: Present, Pool: at("100.64.0.0/10")}, nil},
		{"a mesh, mode unknown", Tunnel{Side: "mesh", Kind: "mesh", UserSpace: Unknown, Pool: at("100.64.0.0/10")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range tunnelClaims(p, &tt.t, "lab") {
				local := ""
				if c.PodLocal {
					local = "local"
				}
				got = append(got, strings.Join([]string{string(c.Role), c.Prefix.String(), string(c.Strength), string(c.Idiom), local}, " "))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func with(t Tunnel, change func(*Tunnel)) Tunnel {
	change(&t)
	return t
}

func TestPlanOfSites(t *testing.T) {
	far := func(remote string) string { return strings.Replace(cloudVPN, "10.20.0.0/16", remote, 1) }
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"elsewhere", gkeCluster + "---" + cloudVPN, 0},
		{"inside the pod range", gkeCluster + "---" + far("10.5.0.0/16"), 1},
		{"all private space", gkeCluster + "---" + far("10.0.0.0/8"), 3},
		{"a disabled pool keeps it from being masqueraded", gkeCluster + "---" + cloudVPN + "---\napiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.20.0.0/16, disabled: true}\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := cidrplan.Compute(factsOf(t, tree(t, map[string]string{"prod": tt.text})).Claims)
			overlaps := slices.DeleteFunc(plan.Overlaps, func(o cidrplan.Overlap) bool { return o.A.Idiom != "" || o.B.Idiom != "" })
			if len(overlaps) != tt.want {
				t.Errorf("got %+v, want %d", overlaps, tt.want)
			}
		})
	}
}
