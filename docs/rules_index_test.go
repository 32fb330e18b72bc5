package docs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
)

// The index of the rules is generated: by family and by claim.
func TestIndexIsUpToDate(t *testing.T) {
	const name = "rules.md"
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rules := linter.Rules()
	var b strings.Builder
	b.WriteString("<!-- Generated from the rules' METADATA; run go test ./docs -update. -->\n# The rules\n")
	family := ""
	for _, m := range rules {
		if m.Family != family {
			family = m.Family
			fmt.Fprintf(&b, "\n## %s\n\n| Rule | Name | Severity | |\n|---|---|---|---|\n", strings.ToUpper(family[:1])+family[1:])
		}
		var severities []string
		for _, s := range m.Severities {
			severities = append(severities, string(s))
		}
		fmt.Fprintf(&b, "| [%s](../rules/docs/%[1]s.md) | %s | %s | %s |\n", m.ID, m.Name, strings.Join(severities, ", "), m.Title)
	}
	b.WriteString("\n## By claim\n\nWhat vpnlint has to know of the domain, and what answers it: what rules say,\nthe commands to verify that they print, and commands of vpnlint itself.\n\n| Claim | | Rules | Commands to verify, of | Commands |\n|---|---|---|---|---|\n")
	for _, row := range byClaim(rules) {
		b.WriteString(row)
	}
	have, err := os.ReadFile(name)
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil || string(have) != b.String() {
		t.Errorf("%s is stale; run: go test ./docs -update", name)
	}
}

// byClaim says for each claim what carries it: rules, their commands to verify,
// commands of vpnlint.
func byClaim(rules []finding.RuleMeta) []string {
	by := map[string][3][]string{}
	add := func(claim string, column int, text string) {
		row := by[claim]
		if !slices.Contains(row[column], text) {
			row[column] = append(row[column], text)
		}
		by[claim] = row
	}
	for _, m := range rules {
		link := "[" + m.ID + "](../rules/docs/" + m.ID + ".md)"
		for _, claim := range m.Claims {
			add(claim.ID, 0, link)
		}
		for _, c := range check.Carriers() {
			if c.Verify != "" && slices.Contains(m.Verify, c.Verify) {
				add(c.Claim, 1, link)
			}
		}
	}
	for _, c := range check.Carriers() {
		if c.Command != "" {
			add(c.Claim, 2, "`vpnlint "+c.Command+"`")
		}
	}
	var rows []string
	for _, claim := range check.Claims() {
		if row, carried := by[claim.ID]; carried {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", claim.ID, claim.Means, strings.Join(row[0], ", "), strings.Join(row[1], ", "), strings.Join(row[2], ", ")))
		}
	}
	return rows
}
