package facts

import (
	"strings"
	"sync"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// lab is a cluster with the usual kubeadm ranges.
func lab(more ...RangeAt) *Cluster {
	return &Cluster{Name: "lab", Ranges: append([]RangeAt{
		{Role: cidrplan.Pod, Prefix: "10.244.0.0/16", Strength: cidrplan.Declared, Says: "podSubnet"},
		{Role: cidrplan.Service, Prefix: "10.96.0.0/12", Strength: cidrplan.Declared, Says: "serviceSubnet"},
	}, more...)}
}

func nodes(prefix string) RangeAt {
	return RangeAt{Role: cidrplan.Node, Prefix: prefix, Strength: cidrplan.Declared, Says: "subnets"}
}

// testCatalog decodes the catalogue once for all tests.
var testCatalog = sync.OnceValues(images.Load)

// seen is a manifest after reading.
type seen struct {
	objects []*source.Object
	pods    []*podView
	gaps    []finding.Gap
	invalid []InvalidRange
}

// look reads the pods of a manifest against clusters.
func look(t *testing.T, text string, clusters ...*Cluster) seen {
	t.Helper()
	catalog, err := testCatalog()
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, "unit", text)
	ix := newIndex(objects)
	out := seen{objects: objects}
	for _, o := range objects {
		for _, tpl := range findTemplates(o) {
			p := newPodView(ix, tpl, clusters, catalog)
			readPod(p)
			out.pods = append(out.pods, p)
		}
	}
	out.gaps, out.invalid = ix.sortedGaps(), ix.sortedInvalid()
	return out
}

// tunnel returns the only tunnel of the manifest.
func (s seen) tunnel(t *testing.T) Tunnel {
	t.Helper()
	var all []Tunnel
	for _, p := range s.pods {
		all = append(all, p.pod.Tunnels...)
	}
	if len(all) != 1 {
		t.Fatalf("%d tunnels, want 1: %+v", len(all), all)
	}
	return all[0]
}

// at returns the text at a reference.
func (s seen) at(t *testing.T, r source.Ref) string {
	t.Helper()
	return textAt(t, s.objects, r)
}

// pod writes a Deployment around containers.
func pod(spec string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: collector, namespace: jobs}
spec:
  template:
    metadata: {labels: {app: collector}}
    spec:
` + indent(spec, 6) + "\n"
}

func indent(text string, by int) string {
	pad := strings.Repeat(" ", by)
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = pad + l
		}
	}
	return strings.Join(lines, "\n")
}

// container writes a pod with one container; env are NAME=VALUE.
func container(image string, env ...string) string {
	var b strings.Builder
	b.WriteString("containers:\n- name: vpn\n  image: " + image + "\n")
	if len(env) > 0 {
		b.WriteString("  env:\n")
	}
	for _, e := range env {
		name, v, _ := strings.Cut(e, "=")
		b.WriteString("  - {name: " + name + ", value: \"" + v + "\"}\n")
	}
	return pod(b.String())
}

// mounted writes a pod whose container sees a ConfigMap's files in a directory.
func mounted(image, dir, key, text string, more ...string) string {
	return pod(`volumes:
- {name: conf, configMap: {name: conf}}
containers:
- name: vpn
  image: `+image+`
`+indent(strings.Join(more, "\n"), 2)+`
  volumeMounts: [{name: conf, mountPath: `+dir+`}]`) + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: jobs}
data:
  ` + key + `: |
` + indent(text, 4) + "\n"
}

func prefixesOf(list []PrefixAt) string {
	var out []string
	for _, p := range list {
		out = append(out, p.Prefix)
	}
	return strings.Join(out, " ")
}

func TestGluetun(t *testing.T) {
	for _, tc := range []struct {
		name, tag  string
		env        []string
		missing    string
		suggestion string
		resolver   Known // rewrites
		reaches    Known
		killSwitch Known
		bypass     Known
	}{
		{
			name: "default takes services and pods", tag: "v3.40.0",
			missing: "10.96.0.0/12 10.244.0.0/16", suggestion: "FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16",
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Absent,
		},
		{
			name: "both ranges listed", tag: "v3.40.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16, 10.96.0.0/12"},
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
		{
			name: "split DNS from 3.41 with the services listed", tag: "v3.41.1", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16"},
			resolver: Present, reaches: Present, killSwitch: Present, bypass: Present,
		},
		{
			name: "split DNS cannot reach services that are not listed", tag: "v3.41.1", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16"},
			missing: "10.96.0.0/12", suggestion: "FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16",
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
		{
			name: "of an unknown version split DNS is possible", tag: "latest", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16"},
			resolver: Present, reaches: Unknown, killSwitch: Present, bypass: Present,
		},
		{
			name: "of an unknown version without the services it cannot", tag: "latest",
			missing: "10.96.0.0/12 10.244.0.0/16", suggestion: "FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16",
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Absent,
		},
		{
			name: "kept name servers", tag: "v3.40.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "DNS_KEEP_NAMESERVER=on"},
			resolver: Absent, reaches: Present, killSwitch: Present, bypass: Present,
		},
		{
			name: "public resolver", tag: "v3.40.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "DOT=off", "DNS_ADDRESS=1.1.1.1"},
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
		{
			name: "the cluster's own resolver", tag: "v3.40.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "DOT=off", "DNS_ADDRESS=10.96.0.10"},
			resolver: Present, reaches: Present, killSwitch: Present, bypass: Present,
		},
		{
			name: "its DNS server off, from 3.41", tag: "v3.41.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "DNS_SERVER=off"},
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
		{
			name: "plain upstream is the cluster's resolver", tag: "v3.42.0", env: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "DNS_UPSTREAM_PLAIN_ADDRESSES=10.96.0.10:53"},
			resolver: Present, reaches: Present, killSwitch: Present, bypass: Present,
		},
		{
			name: "FIREWALL=off is read up to 3.38", tag: "v3.38.0", env: []string{"FIREWALL=off", "FIREWALL_OUTBOUND_SUBNETS=10.0.0.0/8"},
			resolver: Present, reaches: Absent, killSwitch: Absent, bypass: Present,
		},
		{
			name: "and ignored from 3.39", tag: "v3.39.0", env: []string{"FIREWALL=off", "FIREWALL_OUTBOUND_SUBNETS=10.0.0.0/8"},
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
		{
			name: "the long switch counts from 3.39", tag: "v3.40.0",
			env:      []string{"FIREWALL_ENABLED_DISABLING_IT_SHOOTS_YOU_IN_YOUR_FOOT=off", "FIREWALL_OUTBOUND_SUBNETS=10.0.0.0/8"},
			resolver: Present, reaches: Absent, killSwitch: Absent, bypass: Present,
		},
		{
			name: "of an unknown version FIREWALL=off may count", tag: "latest", env: []string{"FIREWALL=off", "FIREWALL_OUTBOUND_SUBNETS=10.0.0.0/8"},
			resolver: Present, reaches: Unknown, killSwitch: Unknown, bypass: Present,
		},
		{
			name: "an old name of the list", tag: "v3.40.0", env: []string{"EXTRA_SUBNETS=10.0.0.0/8"},
			resolver: Present, reaches: Absent, killSwitch: Present, bypass: Present,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := append([]string{"VPN_TYPE=wireguard"}, tc.env...)
			tun := look(t, container("ghcr.io/qdm12/gluetun:"+tc.tag, env...), lab()).tunnel(t)
			if tun.Resolver.Rewrites != tc.resolver || tun.Resolver.ReachesCluster != tc.reaches {
				t.Errorf("resolver: rewrites %s, reaches the cluster %s; want %s, %s", tun.Resolver.Rewrites, tun.Resolver.ReachesCluster, tc.resolver, tc.reaches)
			}
			if tun.KillSwitch.State != tc.killSwitch {
				t.Errorf("kill switch %+v, want %s", tun.KillSwitch, tc.killSwitch)
			}
			if tun.Bypass.State != tc.bypass {
				t.Errorf("bypass %+v, want %s", tun.Bypass, tc.bypass)
			}
			if tun.RepliesKept != Present {
				t.Errorf("replies kept: %s", tun.RepliesKept)
			}
			if len(tun.Captures) != 1 || !tun.Captures[0].Known {
				t.Fatalf("captures %+v", tun.Captures)
			}
			if got := strings.Join(tun.Captures[0].Missing, " "); got != tc.missing {
				t.Errorf("missing %q, want %q", got, tc.missing)
			}
			if got := tun.Captures[0].Suggestion; got != tc.suggestion {
				t.Errorf("suggestion %q, want %q", got, tc.suggestion)
			}
		})
	}
}

func TestGluetunDNSPolicy(t *testing.T) {
	for _, tc := range []struct {
		name, policy string
		want         Known
	}{
		{"the node's resolver", "dnsPolicy: Default", Absent},
		{"None with the cluster's resolver", "dnsPolicy: None\ndnsConfig: {nameservers: [10.96.0.10]}", Present},
		{"None with a public resolver", "dnsPolicy: None\ndnsConfig: {nameservers: [9.9.9.9]}", Absent},
		{"of the wrong type", "dnsPolicy: {}", Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := pod(tc.policy + `
containers:
- name: vpn
  image: ghcr.io/qdm12/gluetun:v3.41.1
  env: [{name: FIREWALL_OUTBOUND_SUBNETS, value: "10.244.0.0/16,10.96.0.0/12"}]`)
			if got := look(t, text, lab()).tunnel(t).Resolver.ReachesCluster; got != tc.want {
				t.Errorf("reaches the cluster: %s, want %s", got, tc.want)
			}
		})
	}
}

func TestMalformedBypass(t *testing.T) {
	for _, tc := range []struct {
		name, list, effect, text string
		state                    Known
	}{
		{"blanks for commas", "10.244.0.0/16 10.96.0.0/12", "refused", "10.244.0.0/16 10.96.0.0/12", Unknown},
		{"default route", "0.0.0.0/0", "refused", "0.0.0.0/0", Unknown},
		{"host bits", "10.244.1.0/16", "unclear", "10.244.1.0/16", Present},
		{"filled in later", "${POD_CIDR}", "", "", Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := look(t, container("ghcr.io/qdm12/gluetun:v3.41.1", "FIREWALL_OUTBOUND_SUBNETS="+tc.list), lab())
			b := s.tunnel(t).Bypass
			if b.State != tc.state {
				t.Errorf("state %s, want %s", b.State, tc.state)
			}
			if tc.effect == "" {
				if len(b.Malformed) > 0 || len(s.gaps) != 1 {
					t.Errorf("malformed %+v, gaps %+v", b.Malformed, s.gaps)
				}
				return
			}
			if len(b.Malformed) != 1 || b.Malformed[0].Effect != tc.effect || s.at(t, b.Malformed[0].Ref) != tc.text {
				t.Errorf("malformed %+v", b.Malformed)
			}
		})
	}
}

func TestClusterUnknown(t *testing.T) {
	services := &Cluster{Name: "lab", Ranges: []RangeAt{{Role: cidrplan.Pod, Prefix: "10.244.0.0/16", Strength: cidrplan.Declared}}}
	for _, tc := range []struct {
		name     string
		env      []string
		clusters []*Cluster
		captures int
	}{
		{"no cluster, no bypass: it takes whatever the cluster has", nil, nil, 1},
		{"no cluster, private bypass: it may be the right one", []string{"FIREWALL_OUTBOUND_SUBNETS=10.42.0.0/16,10.43.0.0/16"}, nil, 0},
		{"no cluster, public bypass only", []string{"FIREWALL_OUTBOUND_SUBNETS=9.9.9.9/32"}, nil, 1},
		{"service range unknown, bypass holds the pods", []string{"FIREWALL_OUTBOUND_SUBNETS=10.244.0.0/16"}, []*Cluster{services}, 0},
		{"service range unknown, bypass misses the pods", []string{"FIREWALL_OUTBOUND_SUBNETS=192.168.1.0/24"}, []*Cluster{services}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tun := look(t, container("ghcr.io/qdm12/gluetun:v3.40.0", tc.env...), tc.clusters...).tunnel(t)
			if len(tun.Captures) != tc.captures {
				t.Fatalf("captures %+v, want %d", tun.Captures, tc.captures)
			}
			for _, c := range tun.Captures {
				if c.Known {
					t.Errorf("the service range counts as known: %+v", c)
				}
			}
		})
	}
}
