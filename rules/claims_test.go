package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// missing are the claims that nothing carries yet. A claim that is carried must
// leave the list.
var missing []string

// documented are the claims that ask for advice on a rule's page, and not for a
// finding.
var documented = []string{"F10"}

// Every claim of the domain is carried, and what carries it is made to say so
// here: the words of a rule in a finding about its example, those of verify
// commands in such a finding, those of a command in a scenario that compares them.
func TestClaimsAreCarried(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	carried := map[string]bool{}
	commands := map[string][]string{} // by verify template
	for _, m := range linter.Rules() {
		said := lintBad(t, linter, m.ID)
		words := wordsOf(said, m.ID)
		for _, claim := range m.Claims {
			if !strings.Contains(words, claim.Says) && !onPage(linter, m.ID, claim) {
				t.Errorf("%s says nowhere in its example %q, which is to answer %s", m.ID, claim.Says, claim.ID)
				continue
			}
			carried[claim.ID] = true
		}
		for _, name := range m.Verify {
			for i := range said.Findings {
				if said.Findings[i].Rule == m.ID {
					commands[name] = append(commands[name], said.Findings[i].Verify...)
				}
			}
		}
	}
	for _, c := range check.Carriers() {
		if says, by := carrierSays(t, c, commands); !says {
			t.Errorf("%s do not say %q, which is to answer %s", by, c.Says, c.Claim)
			continue
		}
		carried[c.Claim] = true
	}
	if lacking := uncarried(carried); !slices.Equal(lacking, missing) {
		t.Errorf("nothing carries %v, and the list of what is missing says %v", lacking, missing)
	}
	for claim := range carried {
		t.Errorf("there is no claim %s", claim)
	}
}

// wordsOf returns what a report says of a rule's findings: messages and remarks
// on places.
func wordsOf(said report.Report, id string) string {
	var b strings.Builder
	for i := range said.Findings {
		if f := &said.Findings[i]; f.Rule == id {
			b.WriteString(f.Message + "\n")
			for _, n := range f.Related {
				b.WriteString(n.Says + "\n")
			}
		}
	}
	return b.String()
}

func onPage(linter *lint.Linter, id string, claim finding.Claim) bool {
	page, _ := linter.Page(id)
	return slices.Contains(documented, claim.ID) && strings.Contains(strings.Join(strings.Fields(page), " "), claim.Says)
}

// carrierSays reports whether a command or a group of verify commands is made to
// say its words, and names it.
func carrierSays(t *testing.T, c check.Carrier, commands map[string][]string) (says bool, by string) {
	t.Helper()
	if c.Verify != "" {
		return slices.ContainsFunc(commands[c.Verify], func(command string) bool { return strings.Contains(command, c.Says) }),
			"the verify commands " + c.Verify + " of the examples"
	}
	text, err := os.ReadFile(filepath.Join("..", "testdata", "script", c.Scenario))
	if err != nil {
		t.Fatal(err)
	}
	return scriptAsserts(txtar.Parse(text), c.Command, c.Says), "the runs of vpnlint " + c.Command + " in " + c.Scenario
}

// uncarried returns the claims of the domain that are not carried, in their
// order, and leaves in the map what is no claim.
func uncarried(carried map[string]bool) []string {
	var lacking []string
	for _, claim := range check.Claims() {
		if !carried[claim.ID] {
			lacking = append(lacking, claim.ID)
		}
		delete(carried, claim.ID)
	}
	return lacking
}

// scriptAsserts reports whether a scenario runs the command and compares what it
// writes to standard output with the text: in the file that a cmp names, or in a
// pattern. Lines with a condition may not run, and do not count.
func scriptAsserts(script *txtar.Archive, command, text string) bool {
	const stdoutIs, stdoutHas = "cmp stdout ", "stdout '"
	runs := false
	for line := range strings.Lines(string(script.Comment)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "stop", strings.HasPrefix(line, "stop "), strings.HasPrefix(line, "skip"):
			return false
		case strings.HasPrefix(strings.TrimPrefix(line, "! "), "exec "):
			runs = strings.HasPrefix(strings.TrimPrefix(line, "! ")+" ", "exec vpnlint "+command+" ")
		case runs && strings.HasPrefix(line, stdoutHas):
			pattern := strings.TrimPrefix(line, stdoutHas)
			if strings.Contains(pattern, regexp.QuoteMeta(text)) && !optional(pattern) {
				return true
			}
		case runs && strings.HasPrefix(line, stdoutIs):
			if strings.Contains(fileOf(script, strings.TrimPrefix(line, stdoutIs)), text) {
				return true
			}
		}
	}
	return false
}

// optional reports whether a pattern may match without all of its text.
func optional(pattern string) bool {
	return strings.ContainsAny(strings.NewReplacer(`\\`, "", `\|`, "", `\?`, "", `\*`, "", ".*", "").Replace(pattern), "|?*{")
}

func fileOf(script *txtar.Archive, name string) string {
	for _, f := range script.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func TestScriptAsserts(t *testing.T) {
	script := txtar.Parse([]byte(`exec vpnlint plan free /24
cmp stdout free
exec vpnlint lint .
! stdout 'not this'
stdout 'warning: 10\.4\.0\.0/14 .*'
stderr 'nor this'
[root] stdout 'seldom'
stdout 'one\.|another'
stdout '(perhaps)?'
grep 'unread' other
exec cat other
stdout 'of another'
stop
exec vpnlint lint .
stdout 'too late'
-- free --
10.0.2.0/24
-- other --
unread, of another
`))
	for _, tc := range []struct {
		command, text string
		want          bool
	}{
		{"plan free", "10.0.2.0/24", true},
		{"plan", "10.0.2.0/24", true},
		{"lint", "10.4.0.0/14", true},
		{"lint", "10.0.2.0/24", false},
		{"plan", "10.4.0.0/14", false},
		{"lint", "not this", false},
		{"lint", "nor this", false},
		{"lint", "seldom", false},
		{"lint", "one.", false},
		{"lint", "perhaps", false},
		{"lint", "unread", false},
		{"lint", "of another", false},
		{"lint", "too late", false},
	} {
		if got := scriptAsserts(script, tc.command, tc.text); got != tc.want {
			t.Errorf("vpnlint %s, %q: %v, want %v", tc.command, tc.text, got, tc.want)
		}
	}
}
