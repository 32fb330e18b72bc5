package lint_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

func repoRoot(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// examples are the example pairs of the rules, each a bad or a good one.
func examples(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(repoRoot(t), "examples", "VPN*", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return slices.DeleteFunc(dirs, func(d string) bool {
		info, err := os.Stat(d)
		return err != nil || !info.IsDir()
	})
}

// run lints paths, a single directory with the plan file that it may have.
func run(t testing.TB, dir string, paths ...string) report.Report {
	t.Helper()
	opts := lint.Options{Load: loader.Options{Dir: dir}}
	if len(paths) == 1 {
		if plan := filepath.Join(paths[0], config.FileName); filepath.IsAbs(plan) {
			if _, err := os.Stat(plan); err == nil {
				if opts.Plan, err = config.Load(config.Options{Dir: dir, File: plan, Rules: rules.IDs()}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	r, err := lint.Run(context.Background(), paths, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOutputDoesNotDependOnOrder runs the examples in several orders and with
// one and many processors: every format is the same to the byte.
func TestOutputDoesNotDependOnOrder(t *testing.T) {
	root := repoRoot(t)
	paths := examples(t)
	write := func(paths []string) string {
		var out bytes.Buffer
		r := run(t, root, paths...)
		for _, f := range []report.Format{"text", "table", "json", "sarif"} {
			if err := report.Write(&out, f, r, report.Options{Dir: root, SourceRoot: root, Width: 100}); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	want := write(paths)
	reversed := slices.Clone(paths)
	slices.Reverse(reversed)
	rotated := append(slices.Clone(paths[len(paths)/2:]), paths[:len(paths)/2]...)
	for _, processors := range []int{1, 8} {
		old := runtime.GOMAXPROCS(processors)
		for name, order := range map[string][]string{"as listed": paths, "reversed": reversed, "rotated": rotated} {
			if got := write(order); got != want {
				t.Errorf("%d processors, paths %s: the output differs", processors, name)
			}
		}
		runtime.GOMAXPROCS(old)
	}
}

// TestExamples holds the example pairs against their rules: bad says what the
// rule is about and nothing else, good says nothing at all. Few have a plan, which
// VPN403 notes.
func TestExamples(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	for _, dir := range examples(t) {
		rule, kind := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		t.Run(rule+"/"+kind, func(t *testing.T) {
			t.Parallel()
			r := run(t, root, dir)
			seen := map[string]int{}
			for _, f := range r.Findings {
				if f.Suppressed != nil || f.Rule == "VPN403" && rule != "VPN403" {
					continue
				}
				seen[f.Rule]++
				if f.Rule != rule || kind != "bad" {
					t.Errorf("%s %s:%d: %s", f.Rule, f.Primary.File, f.Primary.Span.Start.Line, f.Message)
				}
			}
			if kind == "bad" && seen[rule] == 0 {
				t.Errorf("%s is not reported", rule)
			}
			for _, g := range r.Gaps {
				t.Errorf("gap: %s: %s: %s", g.File, g.What, g.Why)
			}
		})
	}
}
