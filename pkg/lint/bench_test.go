package lint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	chartloader "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// writeChart writes a chart of n workloads as people write them: labels from a
// helper, values in every second line, blocks passed through toYaml, the first
// workload beside a VPN client.
func writeChart(tb testing.TB, dir string, n int) {
	tb.Helper()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	write("Chart.yaml", "apiVersion: v2\nname: fleet\nversion: 1.0.0\n")
	write("values.yaml", `image: registry.example.com/app:1.0
vpn:
  image: ghcr.io/qdm12/gluetun:v3.40.0
  provider: mullvad
  bypass: 10.42.0.0/16,10.43.0.0/16
resources:
  limits: {cpu: 100m, memory: 64Mi}
nodeSelector: {}
tolerations: []
`)
	write("templates/_helpers.tpl", `{{- define "fleet.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
`)
	sidecar := `      initContainers:
        - name: gluetun
          image: {{ .Values.vpn.image }}
          restartPolicy: Always
          env:
            - {name: VPN_SERVICE_PROVIDER, value: {{ .Values.vpn.provider | quote }}}
            - {name: FIREWALL_OUTBOUND_SUBNETS, value: {{ .Values.vpn.bypass | quote }}}
          securityContext: {capabilities: {add: [NET_ADMIN]}}
`
	for i := range n {
		write(fmt.Sprintf("templates/app-%02d.yaml", i), fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-app-%[1]d
  labels:
    {{- include "fleet.labels" . | nindent 4 }}
spec:
  replicas: 1
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
%[2]s      containers:
        - name: app
          image: {{ .Values.image }}
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-app-%[1]d
spec:
  selector: {app: app-%[1]d}
  ports: [{port: 8080}]
`, i, sidecar))
		sidecar = ""
	}
}

// bareRender is what "helm template" does without its command line.
func bareRender(dir string) error {
	chart, err := chartloader.LoadDir(dir)
	if err != nil {
		return err
	}
	values, err := chartutil.ToRenderValues(chart, nil, chartutil.ReleaseOptions{Name: "fleet", Namespace: "default"}, nil)
	if err != nil {
		return err
	}
	_, err = engine.Engine{}.Render(chart, values)
	return err
}

// BenchmarkChart lints a chart of 15 templates with a warm linter, next to a
// bare render of the same chart by Helm's engine.
func BenchmarkChart(b *testing.B) {
	dir := b.TempDir()
	writeChart(b, dir, 15)
	benchmarkTree(b, dir, "bare-render", func() error { return bareRender(dir) })
}

// writeManifests writes files of five plain objects each, the first a workload
// without any VPN.
func writeManifests(tb testing.TB, dir string, files int) {
	tb.Helper()
	for i := range files {
		text := fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%[1]d
  namespace: team-%[2]d
  labels: {app: app-%[1]d}
spec:
  replicas: 2
  selector:
    matchLabels: {app: app-%[1]d}
  template:
    metadata:
      labels: {app: app-%[1]d}
    spec:
      containers:
        - name: app
          image: registry.example.com/app:%[1]d
          env:
            - {name: PEER, value: "http://app-%[3]d:8080"}
          ports: [{containerPort: 8080}]
          resources: {limits: {cpu: 100m, memory: 64Mi}}
`, i, i%20, i+1)
		for _, kind := range []string{"Service", "ConfigMap", "ServiceAccount", "Secret"} {
			text += fmt.Sprintf("---\napiVersion: v1\nkind: %s\nmetadata:\n  name: app-%d\n  namespace: team-%d\n", kind, i, i%20)
			switch kind {
			case "Service":
				text += fmt.Sprintf("spec:\n  selector: {app: app-%d}\n  ports: [{port: 8080}]\n", i)
			case "ConfigMap":
				text += "data:\n  settings.yaml: |\n    level: info\n    workers: 4\n"
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%04d.yaml", i)), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// bareParse decodes every document of every file, as any tool must.
func bareParse(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var node yaml.Node
			if err := d.Decode(&node); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			var tree map[string]any
			if err := node.Decode(&tree); err != nil {
				return err
			}
		}
	}
	return nil
}

// against reports how many times longer lint takes than a baseline that is
// timed in turn with it.
func against(b *testing.B, name string, bare, work func() error) {
	b.Helper()
	var base time.Duration
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		if err := bare(); err != nil {
			b.Fatal(err)
		}
		base += time.Since(start)
		b.StartTimer()
		if err := work(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(base), "x-"+name)
	b.ReportMetric(float64(base.Milliseconds())/float64(b.N), name+"-ms/op")
}

// BenchmarkManifests lints 5,000 plain objects in 1,000 files, next to the bare
// parsing of them.
func BenchmarkManifests(b *testing.B) {
	dir := b.TempDir()
	writeManifests(b, dir, 1000)
	benchmarkTree(b, dir, "bare-parse", func() error { return bareParse(dir) })
}

// BenchmarkCharts lints 50 charts, next to their bare renders.
func BenchmarkCharts(b *testing.B) {
	dir := b.TempDir()
	var dirs []string
	for i := range 50 {
		dirs = append(dirs, filepath.Join(dir, fmt.Sprintf("chart-%02d", i)))
		writeChart(b, dirs[i], 15)
	}
	benchmarkTree(b, dir, "bare-renders", func() error {
		for _, d := range dirs {
			if err := bareRender(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// start makes a linter with all its rules compiled.
func start(ctx context.Context) (*lint.Linter, error) {
	linter, err := lint.New(ctx)
	if err == nil {
		err = linter.Compile(ctx)
	}
	return linter, err
}

// BenchmarkOneManifest lints one small file in a fresh linter, next to what it
// costs to compile all rules.
func BenchmarkOneManifest(b *testing.B) {
	dir := b.TempDir()
	writeManifests(b, dir, 1)
	ctx := context.Background()
	against(b, "start", func() error {
		_, err := start(ctx)
		return err
	}, func() error {
		_, err := lint.Run(ctx, []string{dir}, lint.Options{Load: loader.Options{Dir: dir}})
		return err
	})
}

func benchmarkTree(b *testing.B, dir, name string, bare func() error) {
	b.Helper()
	ctx := context.Background()
	linter, err := start(ctx)
	if err != nil {
		b.Fatal(err)
	}
	against(b, name, bare, func() error {
		_, err := linter.Run(ctx, []string{dir}, lint.Options{Load: loader.Options{Dir: dir}})
		return err
	})
}

// BenchmarkStart reads the catalogue and compiles all rules: the most that a run
// can cost beside its input.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if _, err := start(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
