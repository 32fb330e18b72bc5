package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

// lintBad lints a rule's bad example as a user would from the repository's root.
func lintBad(t *testing.T, linter *lint.Linter, id string) report.Report {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := path.Join("examples", id, "bad")
	opts := lint.Options{Load: loader.Options{Dir: root}}
	if plan := path.Join(dir, config.FileName); isFile(filepath.Join(root, filepath.FromSlash(plan))) {
		if opts.Plan, err = config.Load(config.Options{Dir: root, File: plan, Rules: rules.IDs()}); err != nil {
			t.Fatal(err)
		}
	}
	said, err := linter.Run(t.Context(), []string{dir}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// The pages are generated: METADATA and examples are their only source.
func TestPagesAreUpToDate(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expected := map[string]bool{}
	for _, meta := range linter.Rules() {
		name := path.Join(docsDir, meta.ID+".md")
		expected[meta.ID+".md"] = true
		want := page(t, meta, lintBad(t, linter, meta.ID))
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(name)
		if err != nil || string(have) != want {
			t.Errorf("%s is stale; run: go test ./rules -update", name)
		}
	}
	entries, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !expected[entry.Name()] {
			t.Errorf("%s is no rule's page", path.Join(docsDir, entry.Name()))
		}
	}
}
