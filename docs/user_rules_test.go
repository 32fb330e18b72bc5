package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// The tutorial shows what vpnlint really says of its example.
func TestTutorialShowsTheOutput(t *testing.T) {
	const page = "user-rules.md"
	said, err := lint.Run(t.Context(), []string{"examples/user-rules/bad"},
		lint.Options{Load: loader.Options{Dir: ".."}, UserRules: []string{"../examples/user-rules/rules"}})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.Text(&out, said, report.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), "```text\n")
	_, after, found := strings.Cut(rest, "\n```\n")
	if !found {
		t.Fatalf("%s has no output", page)
	}
	want := before + "```text\n" + strings.TrimSpace(out.String()) + "\n```\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is stale; run: go test ./docs -update", page)
	}
}
