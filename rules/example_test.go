package rules_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
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

// A page says what happens, when the rule speaks and when not, shows both examples
// with what vpnlint says, and how to verify and to suppress it.
func TestPagesAreComplete(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	measured := regexp.MustCompile(`(?s)\*\*Where the wire disagrees with the folklore\.\*\*.*[Mm]easured on Linux [0-9]+\.[0-9]+`)
	for _, m := range linter.Rules() {
		page, _ := linter.Page(m.ID)
		at := 0
		for _, section := range []string{
			"\n## What happens\n", "\n## When it fires\n", "\n## When it stays silent\n", "\n## What to do\n", "\n## Example\n",
			"/bad`:", "\nvpnlint says", "/good`:", "\n## How to verify it on a running cluster\n\n", "\n## How to suppress it\n", "\n## Sources\n\n- [",
		} {
			i := strings.Index(page[at:], section)
			if i < 0 {
				t.Errorf("%s: the page has no %q where it should be", m.ID, strings.TrimSpace(section))
				continue
			}
			at += i
		}
		if slices.Contains([]string{"VPN101", "VPN104"}, m.ID) && !measured.MatchString(page) {
			t.Errorf("%s: the page does not say what was measured of forwarding in a new namespace", m.ID)
		}
	}
}
