package fix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

func newLinter(t *testing.T) *lint.Linter {
	t.Helper()
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return linter
}

func options(t *testing.T, dir string) fix.Options {
	t.Helper()
	opts := lint.Options{Load: loader.Options{Dir: dir}}
	if plan := filepath.Join(dir, config.FileName); exists(plan) {
		var err error
		if opts.Plan, err = config.Load(config.Options{Dir: dir, File: plan, Rules: rules.IDs()}); err != nil {
			t.Fatal(err)
		}
	}
	return fix.Options{Lint: opts}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// writeTree writes the files of a txtar archive and returns their directory.
func writeTree(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// applyTo writes the edits of one fix to a copy of a tree.
func applyTo(t *testing.T, dir string, r *report.Report, f finding.Fix) {
	t.Helper()
	one := *r
	one.Findings = []finding.Finding{{Rule: "X", Fixes: []finding.Fix{f}}}
	changes, err := fix.Changes(&one)
	if err != nil {
		t.Fatal(err)
	}
	if err := fix.Write(dir, changes); err != nil {
		t.Fatal(err)
	}
}

// TestExamples: each fix of each example, written to files and linted by a run of
// its own, mends its finding and raises nothing, however it was proved.
func TestExamples(t *testing.T) {
	linter := newLinter(t)
	dirs, err := filepath.Glob(filepath.Join("..", "..", "examples", "VPN*", "bad"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	offered := map[string]int{}
	for _, dir := range dirs {
		scratch := t.TempDir()
		if err := os.CopyFS(scratch, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		proved, err := fix.Prove(t.Context(), linter, []string{"."}, options(t, scratch))
		if err != nil {
			t.Fatal(err)
		}
		before := said(&proved.Report)
		for _, f := range proved.Report.Findings {
			for _, x := range f.Fixes {
				if len(x.Edits) == 0 {
					continue
				}
				offered[f.Rule]++
				work := t.TempDir()
				if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				applyTo(t, work, &proved.Report, x)
				r, err := linter.Run(t.Context(), []string{"."}, options(t, work).Lint)
				if err != nil {
					t.Fatal(err)
				}
				after := said(&r)
				if slices.Contains(after, f.Rule+" "+f.Fingerprint) {
					t.Errorf("%s: %s: %q leaves the finding", dir, f.Rule, x.Title)
				}
				for _, s := range after {
					if !slices.Contains(before, s) {
						t.Errorf("%s: %s: %q raises %s", dir, f.Rule, x.Title, s)
					}
				}
			}
		}
	}
	for _, rule := range []string{"VPN102", "VPN107", "VPN201", "VPN203", "VPN302", "VPN303", "VPN304", "VPN305", "VPN312", "VPN408"} {
		if offered[rule] == 0 {
			t.Errorf("no fix is offered for %s", rule)
		}
	}
}

func said(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Rule+" "+f.Fingerprint)
	}
	for _, g := range r.Gaps {
		out = append(out, strings.Join([]string{"gap", g.File, g.What, g.Why}, " "))
	}
	return out
}
