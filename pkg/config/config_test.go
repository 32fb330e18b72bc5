package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// houseExample is the plan file with every key, as the documentation shows it.
const houseExample = `version: 1
clusters:
  - name: prod
    paths: ["clusters/prod/**"]
    pods: [10.4.0.0/14]
    services: [10.8.0.0/20]
    nodes: [10.128.0.0/20]
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
        fullTunnel: false
        destinations: [10.20.0.0/16]
        sourceAddress: node
        reason: "the firewall team lists one address per node"
        localTrafficSelectors: [10.128.0.0/20]
        returnRoutes: [10.128.0.0/20]
        farSideAllows: [10.128.0.0/20]
    clientPools:
      - {name: road-warriors, range: 10.250.0.0/24, routed: false, acknowledge: [VPN406], reason: "known"}
targets:
  - {path: charts/openvpn, values: [env/prod.yaml], set: {a.b: c}, release: openvpn, namespace: vpn, cluster: prod}
rules:
  VPN305: {severity: off}
suppress:
  - {rule: VPN301, path: "clusters/lab/**", reason: "single-node lab"}
`

func known() []string { return []string{"VPN301", "VPN305", "VPN406"} }

func options(dir string) config.Options { return config.Options{Dir: dir, Rules: known()} }

// write makes a directory with files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(testtree.Write(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func withChart(plan string) map[string]string {
	return map[string]string{
		".vpnlint.yaml": plan, "charts/openvpn/Chart.yaml": "name: openvpn\nversion: 1.0.0\n", "env/prod.yaml": "a: 1\n",
		"overlays/prod/kustomization.yaml": "resources: []\n",
	}
}

func TestExample(t *testing.T) {
	t.Parallel()
	dir := write(t, withChart(houseExample))
	c, err := config.Load(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	target := c.Targets[0]
	switch {
	case c.File != ".vpnlint.yaml" || len(c.Clusters) != 1 || c.Clusters[0].Name != "prod" || c.Clusters[0].All:
		t.Errorf("clusters: %+v", c.Clusters)
	case !c.Off("VPN305") || c.Off("VPN301"):
		t.Errorf("severities: %v", c.Severities)
	case target.Name != "env/prod.yaml" || target.Path != filepath.Join(dir, "charts", "openvpn") || target.Cluster != "prod" ||
		target.Release != "openvpn" || target.Namespace != "vpn" || target.Set[0].Path != "a.b" || target.Set[0].Value != "c":
		t.Errorf("target: %+v", target)
	case target.Set[0].At.Span.Start.Line != 29:
		t.Errorf("the place of set: %+v", target.Set[0].At)
	case c.Suppress[0].Rule != "VPN301" || c.Suppress[0].Reason != "single-node lab" || c.Suppress[0].At.Span.Start.Line != 33:
		t.Errorf("suppress: %+v", c.Suppress)
	case c.Plan.Kind != "Plan" || c.Plan.ID == "":
		t.Errorf("plan: %+v", c.Plan)
	}
	at := c.Plan.Origin.Locate(source.Ref{Object: c.Plan.ID, Pointer: "/clusters/0/vpn/0/destinations/0"}).Primary
	if at.Span.Start.Line != 20 || at.Span.Start.Column != 24 {
		t.Errorf("a destination stands at %+v", at)
	}
}

// TestErrors: all that is wrong is said at once, each at its very place.
func TestErrors(t *testing.T) {
	t.Parallel()
	cluster := func(keys string) string { return "version: 1\nclusters:\n  - name: prod\n    " + keys + "\n" }
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"many at once", `version: 2
clustres: []
clusters:
  - {name: prod, pods: 10.4.0.0/14, podforwarding: guaranteed, services: [10.4.1.0/14], node: [a]}
  - name: prod
    masquerade: {agent: gke-managd}
rules:
  VPN30: {severity: warn}
suppress:
  - {rule: VPN301, path: "[", reson: x}
`, []string{
			`1:10: version 2 is not known; this vpnlint reads version 1`,
			`2:1: unknown key "clustres"; did you mean clusters?`,
			`4:24: clusters[0].pods wants a list, not the text "10.4.0.0/14"; write [10.4.0.0/14]`,
			`4:37: unknown key "podforwarding" in clusters[0]; did you mean podForwarding?`,
			`4:75: clusters[0].services[0]: "10.4.1.0/14": it has bits set right of its mask; the network is 10.4.0.0/14`,
			`4:89: unknown key "node" in clusters[0]; did you mean nodes?`,
			`5:11: the cluster "prod" is named twice; the first stands at line 4`,
			`6:25: clusters[1].masquerade.agent: "gke-managd" is none of its values; did you mean gke-managed?`,
			`8:3: there is no rule "VPN30"; did you mean VPN301?`,
			`8:21: rules.VPN30.severity: "warn" is none of its values; did you mean warning?`,
			`10:26: suppress[0].path: "[": it is no glob: a bracket or backslash is not closed`,
			`10:31: unknown key "reson" in suppress[0]; did you mean reason?`,
		}},
		{"nothing", "", []string{`1:1: the file is empty; it starts with version: 1`}},
		{"comments only", "# version: 1\n", []string{`1:1: the file is empty; it starts with version: 1`}},
		{"no version", "clusters: []\n", []string{`1:1: version is missing`}},
		{"a list", "- version: 1\n", []string{`1:1: it holds no mapping; its keys stand at the start of lines`}},
		{"two documents", "version: 1\n---\nversion: 1\n", []string{`2:1: a second document starts here; the file must hold one`}},
		{"a key twice", "version: 1\nrules: {}\nrules: {}\n", []string{`2:1: key "rules" is written twice in one mapping: remove one of them`}},
		{"no YAML", "version: 1\nclusters: [\n", []string{`2:1: did not find expected node content`}},
		{"a NUL", "version: 1\nx: \x00\n", []string{`2:4: control character 0x00 is not allowed in YAML; remove it`}},
		{"an anchor in itself", "version: 1\nclusters: &a [*a]\n", []string{`2:15: the anchor "a" contains itself`}},
		{"a key without value", cluster("pods:"), []string{`4:5: clusters[0].pods has no value; give it one, or leave the key out`}},
		{"a bare address", cluster("pods: [10.4.0.0]"), []string{`4:12: clusters[0].pods[0]: "10.4.0.0": it is an address without a mask; the range of this one address is 10.4.0.0/32`}},
		{"no range", cluster("nodes: [10.4.0.0/33]"), []string{`4:13: clusters[0].nodes[0]: "10.4.0.0/33": it is no range of the form 10.4.0.0/14`}},
		{"a range as resolver", cluster("dns: [10.8.0.0/20]"), []string{`4:11: clusters[0].dns[0]: "10.8.0.0/20": it is no address of the form 10.8.0.10`}},
		{"a number", cluster("nodePools: [{name: a, labels: {b: 1}}]"), []string{`4:39: clusters[0].nodePools[0].labels.b wants a text, not the number 1; write it in quotes: "1"`}},
		{"a word for truth", cluster("vpn: [{name: a, fullTunnel: \"no\"}]"), []string{`4:33: clusters[0].vpn[0].fullTunnel wants true or false, not the text "no"`}},
		{"no name", "version: 1\nclusters: [{pods: []}]\n", []string{`2:12: name is missing in clusters[0]`}},
		{"a selector outside", cluster("pods: [10.4.0.0/14]\n    nodes: [10.128.0.0/20]\n    vpn: [{name: a, localTrafficSelectors: [10.128.0.0/16, 10.9.0.0/16]}]"),
			[]string{`6:60: 10.9.0.0/16 of VPN a lies outside every range of cluster prod (10.4.0.0/14, 10.128.0.0/20); correct it, or name the network under internal`}},
		{"a resolver outside", cluster("services: [10.8.0.0/20]\n    dns: [10.9.0.10, 169.254.20.10]"),
			[]string{`5:11: the resolver 10.9.0.10 lies outside the service range of cluster prod (10.8.0.0/20) and every other range of it`}},
		{"names twice", cluster("vpn: [{name: a, fullTunnel: true}, {name: a, fullTunnel: true}]\n    clientPools: [{name: b, range: 10.1.0.0/24}, {name: b, range: 10.2.0.0/24}]"), []string{
			`4:47: the VPN "a" is named twice; the first stands at line 4`,
			`5:57: the client pool "b" is named twice; the first stands at line 5`,
		}},
		{"everything", cluster("pods: [10.4.0.0/14, 0.0.0.0/0]\n    internal: [\"::/0\"]\n    vpn: [{name: a, destinations: [0.0.0.0/0], localTrafficSelectors: [0.0.0.0/0]}]\n    clientPools: [{name: b, range: 0.0.0.0/0}]"), []string{
			`4:25: 0.0.0.0/0 is every address there is, and no range of its own; give the ranges that cluster prod has`,
			`5:16: ::/0 is every address there is, and no range of its own; give the ranges that cluster prod has`,
			`7:36: 0.0.0.0/0 is every address there is, and no range of its own; give the range that clients get their addresses from`,
		}},
		{"a VPN that leads nowhere", cluster("vpn: [{name: a, reason: x}, {name: b, returnRoutes: [10.1.0.0/16]}, {name: c, destinations: []}]"), []string{
			`4:18: nothing is said of the VPN "a" but its name, so that no rule can judge by it; name its destinations, or the tunnel that carries it, or write fullTunnel: true`,
			`4:80: nothing is said of the VPN "c" but its name, so that no rule can judge by it; name its destinations, or the tunnel that carries it, or write fullTunnel: true`,
		}},
		{"an unknown rule", cluster("clientPools: [{name: b, range: 10.1.0.0/24, acknowledge: [VPN999]}]"), []string{`4:63: there is no rule "VPN999"; vpnlint rules lists them`}},
		{"rules of the user's own", "version: 1\nrules: {ACME12: {severity: note}, VNP305: {severity: off}, VPN12: {severity: off}, acme: {severity: off}}\n", []string{
			`2:35: there is no rule "VNP305"; did you mean VPN305?`,
			`2:60: there is no rule "VPN12"; vpnlint rules lists them`,
			`2:84: there is no rule "acme"; vpnlint rules lists them`,
		}},
		{"empty rules", "version: 1\nrules: {\"\": {severity: off}}\nsuppress: [{rule: \"\", reason: lab}]\n" + "clusters: [{name: a, clientPools: [{name: b, range: 10.1.0.0/24, acknowledge: [\"\"]}]}]\n", []string{
			`2:9: the key "" of rules: it is empty; vpnlint rules lists the ids`,
			`3:19: suppress[0].rule: "": it is empty; vpnlint rules lists the ids`,
			`4:80: clusters[0].clientPools[0].acknowledge[0]: "": it is empty; vpnlint rules lists the ids`,
		}},
		{"targets", `version: 1
clusters: [{name: prod}]
targets:
  - {path: charts/openvpn, cluster: prd, values: [env/prd.yaml, ../../../etc/passwd, /etc/passwd], set: {"a[": 1, b: [c]}}
  - {path: charts/opnvpn}
  - {path: charts}
  - {path: overlays/prod, cluster: prod, release: x}
  - {path: env/prod.yaml}
`, []string{
			`4:37: there is no cluster "prd" in clusters; did you mean prod?`,
			`4:51: values file "env/prd.yaml" does not exist`,
			`4:65: values file "../../../etc/passwd" cannot be read: it lies outside the repository`,
			`4:86: targets[0].values[2]: "/etc/passwd": it is absolute; paths are relative to the directory of this file`,
			`4:106: set: "a[": it is no path of the form a.b or a.b[0]`,
			`4:118: targets[0].set.b wants a text, a number, true or false, not a list`,
			`5:12: "charts/opnvpn" does not exist`,
			`6:12: "charts" is neither a chart nor a kustomization; the paths of clusters say where plain manifests belong`,
			`7:42: release is for charts; overlays/prod is a kustomization`,
			`8:12: "env/prod.yaml" is a file; name the directory of its chart or kustomization`,
		}},
		{"braces", cluster("paths: [\"clusters/{a,b}/**\", /a, ../b]"), []string{
			`4:13: clusters[0].paths[0]: "clusters/{a,b}/**": braces mean nothing in it; write a glob for each of the alternatives`,
			`4:34: clusters[0].paths[1]: "/a": it is absolute; globs are relative to the directory of this file`,
			`4:38: clusters[0].paths[2]: "../b": it leaves the directory of this file`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(options(write(t, withChart(tt.text))))
			var wrong *config.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("got %v", err)
			}
			want := ".vpnlint.yaml:" + strings.Join(tt.want, "\n.vpnlint.yaml:")
			if wrong.Error() != want {
				t.Errorf("got\n%s\nwant\n%s", wrong.Error(), want)
			}
		})
	}
}

// TestFind: the nearest plan file up to the root of the work tree.
func TestFind(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		".vpnlint.yaml": "version: 1\nclusters: [{name: outside}]\n",
		"repo/.git/x":   "", "repo/a/b/x": "", "repo/c/.vpnlint.yaml": "version: 1\nclusters: [{name: c, paths: [\"x/**\"]}]\n", "repo/c/x/y": "",
		"repo/.vpnlint.yaml": "version: 1\nclusters: [{name: repo, paths: [\"a/**\"]}]\nsuppress: [{rule: VPN301, path: \"a/b/*\", reason: x}]\n",
		"bare/x":             "",
		"broken/.git/x":      "",
	})
	if err := os.Symlink(filepath.Join(dir, ".vpnlint.yaml"), filepath.Join(dir, "broken", ".vpnlint.yaml")); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{"repo": "repo", "repo/a/b": "repo", "repo/c": "c", "repo/c/x": "c", "bare": "", ".": "outside"} {
		c, err := config.Load(options(filepath.Join(dir, from)))
		switch {
		case err != nil:
			t.Errorf("%s: %v", from, err)
		case (c == nil) != (want == ""), c != nil && c.Clusters[0].Name != want:
			t.Errorf("%s: got %+v, want %s", from, c, want)
		}
	}
	var path *loader.PathError
	if _, err := config.Load(options(filepath.Join(dir, "broken"))); !errors.As(err, &path) {
		t.Errorf("a link out of the work tree: %v", err)
	}
	if _, err := config.Load(config.Options{Dir: dir, File: "none.yaml"}); !errors.As(err, &path) {
		t.Errorf("a file that is not there: %v", err)
	}
	// Globs are relative to the file, inputs and findings to the working directory.
	c, err := config.Load(options(filepath.Join(dir, "repo", "a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Members("chart"), []int{0}) || len(c.Members("../../c")) != 0 || len(c.Members("../../../a/x")) != 0 {
		t.Errorf("members: %v %v", c.Members("chart"), c.Members("../../c"))
	}
	if entry := c.Suppress[0]; !entry.Covers("x") || entry.Covers("x/y") || entry.Covers("../x") {
		t.Errorf("the entry covers the wrong files")
	}
	if entry := c.Suppress[0]; !entry.Within(".") || !entry.Within("../..") || !entry.Within(filepath.Join(dir, "repo")) || entry.Within("x") || entry.Within("-") {
		t.Errorf("the entry lies within the wrong paths")
	}
}
