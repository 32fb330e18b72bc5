package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	chartloader "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// writeChart writes a chart of n workloads as people write them: labels from a
// helper, values in every second line, blocks passed through toYaml.
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
      initContainers:
        - name: gluetun
          image: {{ .Values.vpn.image }}
          restartPolicy: Always
          env:
            - {name: VPN_SERVICE_PROVIDER, value: {{ .Values.vpn.provider | quote }}}
            - {name: FIREWALL_OUTBOUND_SUBNETS, value: {{ .Values.vpn.bypass | quote }}}
          securityContext: {capabilities: {add: [NET_ADMIN]}}
      containers:
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
`, i))
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
// bare render of the same chart by Helm's engine in the same run.
func BenchmarkChart(b *testing.B) {
	dir := b.TempDir()
	writeChart(b, dir, 15)
	ctx := context.Background()
	linter, err := lint.New(ctx)
	if err != nil {
		b.Fatal(err)
	}
	opts := lint.Options{Load: loader.Options{Dir: dir}}
	var bare time.Duration
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		if err := bareRender(dir); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(start)
		b.StartTimer()
		r, err := linter.Run(ctx, []string{dir}, opts)
		if err != nil {
			b.Fatal(err)
		}
		if r.Summary.Objects != 30 || r.Summary.Gaps != 0 {
			b.Fatalf("unexpected report: %+v %v", r.Summary, r.Gaps)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(bare), "x-bare-render")
	b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "bare-µs/op")
}

// BenchmarkStart compiles the rules and reads the catalogue: what a run costs
// before it looks at anything.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if _, err := lint.New(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
