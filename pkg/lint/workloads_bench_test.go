package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

// A VPN workload with an application, its Service and its configuration.
const workloadManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app%[1]d, namespace: team%[2]d}
spec:
  selector: {matchLabels: {app: app%[1]d}}
  template:
    metadata: {labels: {app: app%[1]d}}
    spec:
      containers:
        - name: gluetun
          image: ghcr.io/qdm12/gluetun:v3.40.0
          env: [{name: VPN_SERVICE_PROVIDER, value: mullvad}]
          securityContext: {capabilities: {add: [NET_ADMIN]}}
        - name: app
          image: registry.example.com/app:1
          ports: [{containerPort: 8080}]
          envFrom: [{configMapRef: {name: app%[1]d}}]
---
apiVersion: v1
kind: Service
metadata: {name: app%[1]d, namespace: team%[2]d}
spec:
  selector: {app: app%[1]d}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app%[1]d, namespace: team%[2]d}
data: {PEER: app%[1]d.team%[2]d.svc.cluster.local}
---
`

// From a hundred workloads on the rules are evaluated one by one, several at
// once: of each workload they say what they say of it alone.
func TestManyWorkloadsSayWhatEachSays(t *testing.T) {
	t.Parallel()
	linter, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	say := func(n int) map[string][]string {
		dir := t.TempDir()
		var text []byte
		for i := range n {
			text = fmt.Appendf(text, workloadManifest, i, i%20)
		}
		if err := os.WriteFile(filepath.Join(dir, "all.yaml"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := linter.Run(t.Context(), []string{dir}, lint.Options{Load: loader.Options{Dir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		said := map[string][]string{}
		for _, f := range out.Findings {
			if f.Rule != "VPN403" { // once a run
				own := strings.NewReplacer(f.Object.Name, "app", f.Object.Namespace, "team").Replace(f.Message)
				said[f.Object.Name] = append(said[f.Object.Name], f.Rule+" "+string(f.Severity)+" "+own)
			}
		}
		for _, list := range said {
			slices.Sort(list)
		}
		return said
	}
	alone := say(1)["app0"]
	if len(alone) < 3 {
		t.Fatalf("alone: %v", alone)
	}
	const many = 150
	said := say(many)
	if len(said) != many {
		t.Errorf("%d of %d workloads have findings", len(said), many)
	}
	for name, have := range said {
		if !slices.Equal(have, alone) {
			t.Errorf("%s: %q, alone %q", name, have, alone)
		}
	}
}

// BenchmarkWorkloads tells how the time a workload takes grows with their number
// in one tree: ns/workload, and vs-10 as a multiple of a workload's time among
// ten. What it measures beyond reading the files is in pkg/facts and the rules.
func BenchmarkWorkloads(b *testing.B) {
	// As the program does.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(400 << 20))
	ctx := context.Background()
	linter, err := start(ctx)
	if err != nil {
		b.Fatal(err)
	}
	var among10 float64
	for _, n := range []int{10, 100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			const aFile = 100
			for at := 0; at < n; at += aFile {
				var text []byte
				for i := at; i < min(n, at+aFile); i++ {
					text = fmt.Appendf(text, workloadManifest, i, i%20)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("w%04d.yaml", at)), text, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			best := time.Duration(0) // of the rounds: what else the machine does only adds
			for b.Loop() {
				start := time.Now()
				if _, err := linter.Run(ctx, []string{dir}, lint.Options{Load: loader.Options{Dir: dir}}); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(start); best == 0 || took < best {
					best = took
				}
			}
			each := float64(best.Nanoseconds()) / float64(n)
			if n == 10 {
				among10 = each
			}
			b.ReportMetric(each, "ns/workload")
			if among10 > 0 {
				b.ReportMetric(each/among10, "vs-10")
			}
		})
	}
}
