package rules_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
)

const (
	examplesDir = "../examples"
	docsDir     = "docs"
)

// page writes a rule's documentation from its METADATA, its example pair and
// what vpnlint says of the bad example.
func page(t *testing.T, meta finding.RuleMeta, said report.Report) string {
	t.Helper()
	var output strings.Builder
	said, unplanned := withoutPlanNote(said, meta.ID)
	if err := report.Text(&output, said, report.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	line("<!-- Generated from the rule's METADATA and examples/%s; run go test ./rules -update. -->", meta.ID)
	b.WriteString(check.PageHead(meta))
	line("\n## Example")
	bad, good := exampleFiles(t, meta.ID, "bad"), exampleFiles(t, meta.ID, "good")
	same := []string{}
	line("\n`examples/%s/bad`:", meta.ID)
	for _, name := range sortedNames(bad) {
		if bad[name] != good[name] || pointedAt(said, path.Join("examples", meta.ID, "bad", name)) {
			line("\n`%s`\n\n```yaml\n%s\n```", name, strings.TrimSpace(bad[name]))
		} else {
			same = append(same, "`"+name+"`")
		}
	}
	if len(same) > 0 {
		line("\nand %s, which the good example has too.", strings.Join(same, ", "))
	}
	line("\nvpnlint says%s:\n\n```text\n%s\n```", unplanned, strings.TrimSpace(output.String()))
	line("\n`examples/%s/good`:", meta.ID)
	for _, name := range sortedNames(good) {
		if bad[name] != good[name] {
			line("\n`%s`\n\n```yaml\n%s\n```", name, strings.TrimSpace(good[name]))
		}
	}

	var commands []string
	for i := range said.Findings {
		if said.Findings[i].Rule == meta.ID && commands == nil {
			commands = said.Findings[i].Verify
		}
	}
	b.WriteString("\n" + check.PageVerify(meta, commands))
	b.WriteString("\n" + check.PageSuppress(meta))
	b.WriteString("\n" + check.PageSources(meta))
	return b.String()
}

// withoutPlanNote leaves out what VPN403 says of an example that is not its own, for
// few have a plan, and returns the words that say so.
func withoutPlanNote(said report.Report, id string) (report.Report, string) {
	notes := len(said.Findings)
	said.Findings = slices.DeleteFunc(slices.Clone(said.Findings), func(f finding.Finding) bool {
		return f.Rule == "VPN403" && id != "VPN403"
	})
	notes -= len(said.Findings)
	said.Summary.Notes -= notes
	if notes == 0 {
		return said, ""
	}
	return said, " (and notes that the example has no plan, [VPN403](VPN403.md))"
}

// exampleFiles returns one side of an example pair, by path.
func exampleFiles(t *testing.T, id, side string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := os.DirFS(path.Join(examplesDir, id, side))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("%s has no example: %v", id, err)
	}
	return files
}

// pointedAt reports whether a finding's place is in the file.
func pointedAt(said report.Report, file string) bool {
	return slices.ContainsFunc(said.Findings, func(f finding.Finding) bool { return f.Primary.File == file })
}

func sortedNames(files map[string]string) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
