package rules_test

import (
	"os"
	"path"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/lint"
)

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
