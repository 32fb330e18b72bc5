package docs_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
)

// commandClaims are the claims of the domain that commands carry, each with the
// scenario that holds the text which they produce.
var commandClaims = []struct {
	command, script, asserts string
	claims                   []string
}{
	{"vpnlint plan", "plan.txtar", `"breaks": "packets from the cluster to VPN clients`, []string{"C6"}},
	{"vpnlint lint", "masquerade_story.txtar", `10\.4\.0\.0/14`, []string{"M5"}},
}

// missing are the claims that nothing carries yet. A claim that is carried must
// leave the list.
var missing = []string{"M10", "F7"}

// Every claim of the domain is carried by a rule, a verify command or a command,
// and what they produce stands in a page or a scenario.
func TestEveryClaimIsCarried(t *testing.T) {
	have := map[string]string{}
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Builder{}
	for _, m := range linter.Rules() {
		page, ok := linter.Page(m.ID)
		if !ok || !strings.Contains(page, " "+m.ID+" ") {
			t.Errorf("the page of %s does not show what it says", m.ID)
		}
		for _, claim := range m.Claims {
			have[claim] = m.ID
		}
		pages.WriteString(page)
	}
	for words, claims := range check.VerifyClaims() {
		if !strings.Contains(pages.String(), words) {
			continue // no example shows it, so it carries nothing
		}
		for _, claim := range claims {
			have[claim] = words
		}
	}
	for _, c := range commandClaims {
		text, err := os.ReadFile(filepath.Join("..", "testdata", "script", c.script))
		if err != nil || !strings.Contains(string(text), c.asserts) {
			t.Errorf("%s does not hold %s: %v", c.script, c.asserts, err)
			continue
		}
		for _, claim := range c.claims {
			have[claim] = c.command
		}
	}
	var lacking []string
	for _, family := range []struct {
		letter string
		last   int
	}{{"M", 10}, {"F", 12}, {"C", 13}} {
		for n := 1; n <= family.last; n++ {
			if claim := family.letter + strconv.Itoa(n); have[claim] == "" {
				lacking = append(lacking, claim)
			}
			delete(have, family.letter+strconv.Itoa(n))
		}
	}
	if !slices.Equal(lacking, missing) {
		t.Errorf("nothing carries %v, and the list of what is missing says %v", lacking, missing)
	}
	for claim, by := range have {
		t.Errorf("%s carries %s, which is no claim", by, claim)
	}
}

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
	b.WriteString("\n## By claim\n\nWhat vpnlint has to know of the domain, and the rules that answer it.\n\n| Claim | Rules |\n|---|---|\n")
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

func byClaim(rules []finding.RuleMeta) []string {
	links := map[string][]string{}
	var claims []string
	for _, m := range rules {
		for _, claim := range m.Claims {
			if links[claim] == nil {
				claims = append(claims, claim)
			}
			links[claim] = append(links[claim], "["+m.ID+"](../rules/docs/"+m.ID+".md)")
		}
	}
	number := func(claim string) int { n, _ := strconv.Atoi(claim[1:]); return n }
	slices.SortFunc(claims, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Index("MFC", a[:1]), strings.Index("MFC", b[:1])), cmp.Compare(number(a), number(b)))
	})
	rows := make([]string, len(claims))
	for i, claim := range claims {
		rows[i] = fmt.Sprintf("| %s | %s |\n", claim, strings.Join(links[claim], ", "))
	}
	return rows
}
