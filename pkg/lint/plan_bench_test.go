package lint_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/rules"
)

// wastefulPlans are plan files of 20 clusters in which each of 1,024 ranges meets
// another one, or the VPNs of all clusters lead to the same networks or to others.
func wastefulPlans() map[string]string {
	const clusters, each = 20, 1024
	list := func(b *strings.Builder, key string, item func(i int) string) {
		b.WriteString("    " + key + ":\n")
		for i := range each {
			b.WriteString("      - " + item(i) + "\n")
		}
	}
	subnet := func(i int) string { return fmt.Sprintf("10.%d.%d.0/24", i/256, i%256) }
	site := func(i int) string {
		return fmt.Sprintf("{name: v%d, destinations: [172.16.%d.%d/32], sourceAddress: pod, reason: r}", i, i/256%256, i%256)
	}
	plan := func(write func(b *strings.Builder, c int)) string {
		var b strings.Builder
		b.WriteString("version: 1\nclusters:\n")
		for c := range clusters {
			fmt.Fprintf(&b, "  - name: c%d\n    paths: [\"c%d/**\"]\n", c, c)
			write(&b, c)
		}
		return b.String()
	}
	return map[string]string{
		"ranges": plan(func(b *strings.Builder, _ int) {
			list(b, "pods", subnet)
			list(b, "nodes", subnet)
		}),
		"vpns": plan(func(b *strings.Builder, _ int) {
			b.WriteString("    pods: [10.0.0.0/16]\n")
			list(b, "vpn", func(i int) string { return fmt.Sprintf("{name: v%d, destinations: [10.0.0.0/16]}", i) })
		}),
		"pools": plan(func(b *strings.Builder, _ int) {
			b.WriteString("    pods: [10.0.0.0/16]\n")
			list(b, "clientPools", func(i int) string { return fmt.Sprintf("{name: v%d, range: 10.0.0.0/16}", i) })
		}),
		"common": plan(func(b *strings.Builder, c int) {
			fmt.Fprintf(b, "    pods: [10.%d.0.0/16]\n", c)
			list(b, "vpn", site)
		}),
		"apart": plan(func(b *strings.Builder, c int) {
			fmt.Fprintf(b, "    pods: [10.%d.0.0/16]\n", c)
			list(b, "vpn", func(i int) string { return site(c*each + i) })
		}),
	}
}

// BenchmarkWastefulPlan reports, as x-parse, how many times as long a run with such
// a plan takes as reading the plan file does: the quickest of each.
func BenchmarkWastefulPlan(b *testing.B) {
	linter, err := lint.New(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := linter.Compile(b.Context()); err != nil {
		b.Fatal(err)
	}
	for name, text := range wastefulPlans() {
		dir := b.TempDir()
		file := filepath.Join(dir, config.FileName)
		texts := map[string]string{file: text}
		for c := range 20 {
			texts[filepath.Join(dir, fmt.Sprint("c", c), "a.yaml")] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
		}
		for name, text := range texts {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(name, func(b *testing.B) {
			parsing, linting := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			findings := 0
			for b.Loop() {
				start := time.Now()
				plan, err := config.Load(config.Options{Dir: dir, File: file, Rules: rules.IDs()})
				if err != nil {
					b.Fatal(err)
				}
				parsing = min(parsing, time.Since(start))
				start = time.Now()
				r, err := linter.Run(b.Context(), []string{dir}, lint.Options{Load: loader.Options{Dir: dir}, Plan: plan})
				if err != nil || r.Summary.Gaps > 0 {
					b.Fatalf("%v, %d gaps", err, r.Summary.Gaps)
				}
				linting, findings = min(linting, time.Since(start)), len(r.Findings)
			}
			b.ReportMetric(float64(linting)/float64(parsing), "x-parse")
			b.ReportMetric(float64(findings), "findings")
		})
	}
}
