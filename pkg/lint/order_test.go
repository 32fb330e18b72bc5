package lint_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

const orderGateway = `apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers:
    - name: wireguard
      image: ghcr.io/wg-easy/wg-easy:14
      env: [{name: WG_HOST, value: vpn.example.com}, {name: WG_DEFAULT_ADDRESS, value: 10.8.0.x}]
      securityContext: {capabilities: {add: [NET_ADMIN]}}
`

func orderPod(name string) string { return strings.ReplaceAll(orderGateway, "NAME", name) }

// orderTree has everything whose parts are walked at once or kept in maps.
func orderTree() map[string]string {
	chart := func(name, template string) map[string]string {
		dir := "charts/" + name + "/"
		return map[string]string{
			dir + "Chart.yaml":             "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n",
			dir + "values.yaml":            "forward: true\nextra: false\n",
			dir + "ci/off-values.yaml":     "forward: false\n",
			dir + "ci/extra-values.yaml":   "extra: true\n",
			dir + "ci/both-values.yaml":    "forward: false\nextra: true\n",
			dir + "templates/gateway.yaml": template,
			dir + "templates/extra.yaml":   "{{ if .Values.extra }}\n" + orderPod("extra") + "{{ end }}\n",
		}
	}
	gated := strings.Replace(orderPod("{{ .Release.Name }}"), "spec:\n",
		"spec:\n  {{- if .Values.forward }}\n  securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: \"1\"}]}\n  {{- end }}\n", 1)
	files := map[string]string{
		".vpnlint.yaml": `version: 1
clusters:
  - name: east
    paths: [east/**, shared/**]
    pods: [10.32.0.0/14]
    services: [10.36.0.0/20]
  - name: west
    paths: [west/**, shared/**]
    pods: [10.34.0.0/16]
    services: [10.36.0.0/20]
`,
		"shared/pod.yaml":               orderPod("shared"),
		"east/cluster.yaml":             "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {podSubnet: 10.40.0.0/16, serviceSubnet: 10.36.0.0/20}\n",
		"west/a.yaml":                   orderPod("a") + "---\n" + orderPod("b"),
		"west/broken.yaml":              "apiVersion: v1\nkind: Pod\nmetadata: {name: c\n",
		"west/unknown.yaml":             strings.Replace(orderPod("unknown"), "vpn.example.com", "${HOST}", 1),
		"kust/base/pod.yaml":            orderPod("kust"),
		"kust/base/settings.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {forward: \"0\"}\n",
		"kust/base/kustomization.yaml":  "resources: [pod.yaml, settings.yaml]\n",
		"kust/outer/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncomponents: [../inner]\n",
		"kust/inner/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n  - patch: |\n      apiVersion: v1\n      kind: Pod\n      metadata: {name: kust}\n      spec: {securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: \"1\"}]}}\n",
		"kust/prod/kustomization.yaml":  "resources: [../base]\ncomponents: [../outer]\nreplacements:\n  - source: {kind: ConfigMap, name: settings, fieldPath: data.forward}\n    targets:\n      - select: {kind: Pod}\n        fieldPaths: [\"spec.securityContext.sysctls.[name=net.ipv4.ip_forward].value\"]\n",
		"kust/test/kustomization.yaml":  "resources: [../base]\nnamePrefix: test-\n",
		"flux/source.yaml":              "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: repo, namespace: flux-system}\nspec: {url: https://example.com/repo.git, interval: 5m}\n",
		"flux/release.yaml":             "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: edge, namespace: vpn}\nspec:\n  interval: 5m\n  chart: {spec: {chart: charts/one, sourceRef: {kind: GitRepository, name: repo, namespace: flux-system}}}\n  values: {forward: false}\n",
		"flux/away.yaml":                "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: away, namespace: vpn}\nspec:\n  interval: 5m\n  chart: {spec: {chart: gluetun, sourceRef: {kind: HelmRepository, name: elsewhere}}}\n  values: {forward: false}\n",
	}
	for _, c := range []map[string]string{chart("one", gated), chart("two", gated), chart("three", orderPod("three"))} {
		for name, text := range c {
			files[name] = text
		}
	}
	return files
}

// TestOutputDoesNotDependOnFiles writes one tree in three orders of creation,
// names its parts in three orders, and reads it with one and with eight
// processors: every format is the same to the byte. The tree holds charts with
// several value sets, a kustomization with components and a replacement, a plan
// with two clusters that share a directory, and releases of Flux.
func TestOutputDoesNotDependOnFiles(t *testing.T) {
	files := orderTree()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	reversed := slices.Clone(names)
	slices.Reverse(reversed)
	// Every other one first: neighbours in the listing are far apart on disk.
	var woven []string
	for _, odd := range []int{1, 0} {
		for i, name := range names {
			if i%2 == odd {
				woven = append(woven, name)
			}
		}
	}
	parts := []string{"charts", "east", "flux", "kust", "shared", "west"}
	backwards := slices.Clone(parts)
	slices.Reverse(backwards)

	write := func(dir string, paths []string, workers int) string {
		plan, err := config.Load(config.Options{Dir: dir, File: filepath.Join(dir, config.FileName), Rules: rules.IDs()})
		if err != nil {
			t.Fatal(err)
		}
		abs := make([]string, len(paths))
		for i, p := range paths {
			abs[i] = filepath.Join(dir, p)
		}
		r, err := lint.Run(context.Background(), abs, lint.Options{Load: loader.Options{Dir: dir, Workers: workers}, Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, f := range []report.Format{"text", "table", "json", "sarif", "github"} {
			if err := report.Write(&out, f, r, report.Options{Dir: dir, SourceRoot: dir, Width: 100}); err != nil {
				t.Fatal(err)
			}
		}
		return strings.ReplaceAll(out.String(), dir, "DIR")
	}
	want := ""
	for i, order := range [][]string{names, reversed, woven} {
		dir := t.TempDir()
		for _, name := range order {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, processors := range []int{1, 8} {
			old := runtime.GOMAXPROCS(processors)
			for _, paths := range [][]string{parts, backwards, append(slices.Clone(parts[3:]), parts[:3]...)} {
				got := write(dir, paths, 0)
				if want == "" {
					want = got
					// The tree must keep on showing what it is for.
					for _, s := range []string{"both-values.yaml", "kust/prod/kustomization.yaml", "flux/release.yaml", "flux/away.yaml", "west/broken.yaml", "clusters east, west", "VPN103"} {
						if !strings.Contains(got, s) {
							t.Errorf("the report does not speak of %s", s)
						}
					}
				}
				if got != want {
					t.Errorf("files in order %d, %d processors, paths %v: the output differs", i, processors, paths)
				}
			}
			runtime.GOMAXPROCS(old)
		}
	}
	if t.Failed() {
		t.Log(want[:min(len(want), 8000)])
	}
}
