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

const planFile = `
apiVersion: vpnlint.dev/v1
kind: Plan
version: 1
clusters:
  - name: prod
    pods: [10.4.0.0/14]
    services: [10.8.0.0/20]
    nodes: [10.128.0.0/20, "fd00:5::/64"]
    dns: [10.8.0.10]
    apiServer: [10.8.0.1, 172.16.0.2]
    podForwarding: guaranteed
    allowedUnsafeSysctls: [net.ipv4.ip_forward]
    masquerade: {agent: gke-managed}
    internal: [10.200.0.0/16]
    nodePools:
      - {name: default, labels: {pool: default}, taints: [{key: dedicated, value: gpu, effect: NoSchedule}]}
    vpn:
      - name: onprem
        tunnel: {kind: ComputeVPNTunnel, name: onprem}
        fullTunnel: true
        destinations: [10.20.0.0/16, 0.0.0.0/0]
        sourceAddress: node
        reason: one address per node
        localTrafficSelectors: [10.128.0.0/20]
        returnRoutes: [10.128.0.0/19]
        farSideAllows: [10.128.0.0/18]
    clientPools:
      - {name: road-warriors, range: 10.250.0.0/24, routed: false, acknowledge: [VPN406], reason: known}
  - name: lab
    pods: [10.244.0.0/16]
    services: [10.96.0.0/12]
`

func readPlanned(t *testing.T, objects []*source.Object, opts Options) *Facts {
	t.Helper()
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(t.Context(), objects, catalog, opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func claimTexts(claims []cidrplan.Claim) string {
	var out []string
	for _, c := range claims {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", c.Cluster, c.Role, c.Prefix, c.Strength, c.Idiom, c.Owner)))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestPlanIsRead: every key of the plan file arrives, with the place it has.
func TestPlanIsRead(t *testing.T) {
	plan := decode(t, "infra", planFile)
	f := readPlanned(t, nil, Options{Plan: plan[0]})
	if len(f.Clusters) != 2 || f.Clusters[1].Name != "prod" {
		t.Fatalf("clusters: %+v", f.Clusters)
	}
	c := f.Clusters[1]
	p, vpn, pool := c.Plan, c.Plan.VPN[0], c.Plan.ClientPools[0]
	at := func(r source.Ref) string { return textAt(t, plan, r) }
	for what, pair := range map[string][2]string{
		"planned":         {fmt.Sprintf("%v %v %s", c.Planned, c.Elsewhere, c.Unit), "true false infra"},
		"podForwarding":   {p.PodForwarding.Value + " " + at(p.PodForwarding.Ref), "guaranteed guaranteed"},
		"unsafe sysctls":  {p.AllowedUnsafeSysctls[0].Text + " " + p.AllowedUnsafeSysctls[0].Ref.Pointer, "net.ipv4.ip_forward /clusters/0/allowedUnsafeSysctls/0"},
		"masquerade":      {p.Masquerade.Value + " " + p.Masquerade.Ref.Pointer, "gke-managed /clusters/0/masquerade/agent"},
		"internal":        {prefixTexts(p.Internal), "10.200.0.0/16"},
		"dns":             {prefixTexts(p.DNS), "10.8.0.10/32"},
		"apiServer":       {prefixTexts(p.APIServer) + " " + at(p.APIServer[1].Ref), "10.8.0.1/32 172.16.0.2/32 172.16.0.2"},
		"nodePools":       {fmt.Sprint(p.NodePools[0].Name, p.NodePools[0].Labels, p.NodePools[0].Taints[0].Key, p.NodePools[0].Taints[0].Value, p.NodePools[0].Taints[0].Effect), "defaultmap[pool:default]dedicatedgpuNoSchedule"},
		"taint":           {p.NodePools[0].Taints[0].Ref.Pointer, "/clusters/0/nodePools/0/taints/0"},
		"vpn":             {vpn.Name + " " + vpn.Ref.Pointer + " " + vpn.Owner, "onprem /clusters/0/vpn/0 VPN onprem"},
		"tunnel":          {vpn.Tunnel.Kind + " " + vpn.Tunnel.Name + " " + string(vpn.Tunnel.Object.Object), "ComputeVPNTunnel onprem "},
		"fullTunnel":      {string(vpn.FullTunnel.State), "present"},
		"destinations":    {prefixTexts(vpn.Destinations), "10.20.0.0/16 0.0.0.0/0"},
		"sourceAddress":   {vpn.SourceAddress.Value + " " + vpn.SourceAddress.Ref.Pointer, "node /clusters/0/vpn/0/sourceAddress"},
		"reason":          {vpn.Reason.Value, "one address per node"},
		"selectors":       {prefixTexts(vpn.LocalTrafficSelectors), "10.128.0.0/20"},
		"returnRoutes":    {prefixTexts(vpn.ReturnRoutes), "10.128.0.0/19"},
		"farSideAllows":   {prefixTexts(vpn.FarSideAllows), "10.128.0.0/18"},
		"clientPools":     {pool.Name + " " + pool.Range.Prefix + " " + at(pool.Range.Ref), "road-warriors 10.250.0.0/24 10.250.0.0/24"},
		"routed":          {string(pool.Routed.State) + " " + pool.Routed.Why, "absent the plan says so"},
		"acknowledge":     {pool.Acknowledge[0].Text + " " + pool.Reason.Value, "VPN406 known"},
		"without the key": {fmt.Sprint(f.Clusters[0].Plan.Masquerade.State, f.Clusters[0].Plan.VPN), "absent[]"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %q, want %q", what, pair[0], pair[1])
		}
	}
	want := `lab pod 10.244.0.0/16 planned
lab service 10.96.0.0/12 planned
prod api 10.8.0.1/32 planned
prod api 172.16.0.2/32 planned
prod dns 10.8.0.10/32 planned
prod node 10.128.0.0/20 planned
prod node fd00:5::/64 planned
prod pod 10.4.0.0/14 planned
prod pool 10.250.0.0/24 planned  client pool road-warriors
prod service 10.8.0.0/20 planned
prod vpn 0.0.0.0/0 planned default-route VPN onprem
prod vpn 10.20.0.0/16 planned  VPN onprem`
	if got := claimTexts(f.Claims); got != want {
		t.Errorf("claims:\n%s\nwant\n%s", got, want)
	}
}

const gluetunPod = `
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  containers:
    - {name: gluetun, image: qmcgaw/gluetun:v3.40.0, env: [{name: VPN_SERVICE_PROVIDER, value: mullvad}]}
    - {name: app, image: app:1, env: [{name: URL, value: "http://ledger.billing.svc.cluster.local"}]}
`

// members gives the objects with these names to a cluster of the plan.
func members(cluster int, objects []*source.Object, names ...string) Members {
	m := Members{Cluster: cluster, Objects: map[source.ObjectID]bool{}}
	for _, o := range objects {
		if slices.Contains(names, o.Name) {
			m.Objects[o.ID] = true
		}
	}
	return m
}

// TestPlanMembers: what belongs to a planned cluster is held against its ranges,
// declarations among it are parts of it, and the rest has implicit clusters.
func TestPlanMembers(t *testing.T) {
	plan := decode(t, ".", planFile)[0]
	objects := decode(t, "tree", fmt.Sprintf(gluetunPod, "one")+"---"+fmt.Sprintf(gluetunPod, "two")+"---"+fmt.Sprintf(gluetunPod, "three")+`
---
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
metadata: {name: declared}
name: dev
networking: {podSubnet: 10.4.0.0/14}
---
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
metadata: {name: elsewhere}
name: stage
networking: {podSubnet: 10.1.0.0/16, serviceSubnet: 10.2.0.0/16}
`)
	f := readPlanned(t, objects, Options{Plan: plan, Here: []Members{members(0, objects, "one", "declared")}})
	captured := map[string]string{}
	for _, p := range f.Pods {
		captured[p.Object.Name] = strings.Join(p.Clusters, ",") + " " + strings.Join(p.Tunnels[0].Captures[0].Services, ",")
	}
	want := map[string]string{"one": "prod 10.8.0.0/20", "two": "stage 10.2.0.0/16", "three": "stage 10.2.0.0/16"}
	for name, says := range want {
		if captured[name] != says {
			t.Errorf("%s: got %q, want %q", name, captured[name], says)
		}
	}
	names := map[string]string{}
	for _, c := range f.Clusters {
		names[c.Name] = fmt.Sprint(c.Planned, c.Elsewhere, len(c.Ranges) > 0)
	}
	if got := fmt.Sprint(names); got != "map[lab:true true true prod:true false true stage:false false true]" {
		t.Errorf("clusters: %s", got)
	}
	for _, c := range f.Claims {
		if c.Cluster == "lab" || c.Cluster == "dev" {
			t.Errorf("a claim of cluster %s: %v", c.Cluster, c)
		}
	}
	// The default of kind is replaced by what the plan says; its declaration stands
	// beside the plan's.
	got := claimTexts(slices.DeleteFunc(f.Claims, func(c cidrplan.Claim) bool {
		return c.Cluster != "prod" || c.Role != cidrplan.Pod && c.Role != cidrplan.Service
	}))
	if got != "prod pod 10.4.0.0/14 declared\nprod pod 10.4.0.0/14 planned\nprod service 10.8.0.0/20 planned" {
		t.Errorf("claims of prod:\n%s", got)
	}
}

// TestPlanUnclaimed: what no planned cluster claims belongs to none, also where
// the tree declares no cluster.
func TestPlanUnclaimed(t *testing.T) {
	plan := decode(t, ".", planFile)[0]
	objects := decode(t, "tree", fmt.Sprintf(gluetunPod, "one")+"---"+masqAgent("config", "nonMasqueradeCIDRs: [10.0.0.0/8]")+`
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
allowedUnsafeSysctls: [net.ipv4.ip_forward]
`)
	f := readPlanned(t, objects, Options{Plan: plan, Here: []Members{members(1, objects, "one")}})
	if got := strings.Join(f.Pods[slices.IndexFunc(f.Pods, func(p Pod) bool { return p.Object.Name == "one" })].Clusters, ","); got != "lab" {
		t.Errorf("the pod's clusters: %q", got)
	}
	for _, a := range f.Agents {
		if a.Cluster != "" || len(a.PodRanges) > 0 {
			t.Errorf("the agent belongs to %q", a.Cluster)
		}
	}
	if len(f.Agents) == 0 {
		t.Error("no agent")
	}
	for _, g := range f.Gaps {
		if strings.Contains(g.What, "cluster") {
			t.Errorf("a gap: %s: %s", g.What, g.Why)
		}
	}
}

// TestPlanTunnel: the object that carries a VPN owns its destinations, so that
// its own pool inside them is no overlap.
func TestPlanTunnel(t *testing.T) {
	plan := decode(t, ".", `
apiVersion: vpnlint.dev/v1
kind: Plan
clusters:
  - name: prod
    vpn: [{name: edge, tunnel: {kind: Deployment, name: openvpn}, destinations: [10.8.0.0/16]}]
`)[0]
	workload := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: openvpn, namespace: %s}
spec: {template: {spec: {containers: [{name: a, image: a}]}}}
`
	one := decode(t, ".", fmt.Sprintf(workload, "edge"))
	f := readPlanned(t, one, Options{Plan: plan})
	if vpn := f.Clusters[0].Plan.VPN[0]; vpn.Owner != "Deployment edge/openvpn" || vpn.Tunnel.Object.Object != one[0].ID {
		t.Errorf("owner %q, object %v", vpn.Owner, vpn.Tunnel.Object)
	}
	two := decode(t, ".", fmt.Sprintf(workload, "edge")+"---"+fmt.Sprintf(workload, "other"))
	f = readPlanned(t, two, Options{Plan: plan})
	if vpn := f.Clusters[0].Plan.VPN[0]; vpn.Owner != "VPN edge" || !vpn.Tunnel.Object.IsZero() {
		t.Errorf("of two: owner %q, object %v", vpn.Owner, vpn.Tunnel.Object)
	}
}

// TestPlanNeverPanics: whatever the plan holds, and whatever is said of members.
func TestPlanNeverPanics(t *testing.T) {
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		plan := decode(t, ".", planFile)[0]
		objects := decode(t, "tree", fmt.Sprintf(gluetunPod, "one")+"---"+gkeCluster)
		for range rapid.IntRange(1, 8).Draw(rt, "mutations") {
			mutate(rt, plan.Tree)
		}
		opts := Options{Plan: plan}
		if rapid.Bool().Draw(rt, "here") {
			opts.Here = []Members{members(rapid.IntRange(-1, 3).Draw(rt, "cluster"), objects, "one")}
		}
		f, err := Read(context.Background(), objects, catalog, opts)
		if err != nil {
			rt.Fatal(err)
		}
		cidrplan.Compute(f.Claims)
	})
}
