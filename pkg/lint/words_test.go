package lint_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// placeholders are what is left of a format or a template that was not filled in.
var placeholders = regexp.MustCompile(`%![a-zA-Z(]|\{[a-z-]+\}|<nil>|\(\)|  |containers? [,:;]`)

// sentences end in these; a command may well run another one twice.
var (
	sentences    = regexp.MustCompile(`[;:] `)
	substitution = regexp.MustCompile(`\$\([^)]*\)`)
)

// checkWords holds what is said of any tree against what every message and every
// command has in common.
func checkWords(t *testing.T, f *finding.Finding) {
	t.Helper()
	said := append([]string{f.Message}, notes(f)...)
	for _, text := range said {
		if first, _ := utf8.DecodeRuneInString(text); text == "" || strings.HasSuffix(text, ".") || unicode.IsSpace(first) {
			t.Errorf("%s: %q is no message", f.Rule, text)
		}
		if left := placeholders.FindString(text); left != "" && !quotedIn(text, left) {
			t.Errorf("%s: %q is left over in: %s", f.Rule, left, text)
		}
		if twice := doubled(text); twice != "" {
			t.Errorf("%s says %q twice: %s", f.Rule, twice, text)
		}
	}
	for _, command := range f.Verify {
		if left := placeholders.FindString(strings.ReplaceAll(command, "{end}", "")); left != "" && left != "  " {
			t.Errorf("%s: %q is left over in: %s", f.Rule, left, command)
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), ""); err != nil {
			t.Errorf("%s: %v in: %s", f.Rule, err, command)
		}
		for line := range strings.Lines(command) {
			if n := utf8.RuneCountInString(line); n > 250 {
				t.Errorf("%s: a line of %d signs: %s", f.Rule, n, line)
			}
		}
	}
}

func notes(f *finding.Finding) []string {
	var out []string
	for _, n := range f.Related {
		out = append(out, n.Says)
	}
	return out
}

// quotedIn reports whether the words stand in what a message quotes.
func quotedIn(text, words string) bool {
	before, after, _ := strings.Cut(text, words)
	return strings.Count(before, `"`)%2 == 1 && strings.Contains(after, `"`)
}

// doubled returns a word that comes twice in a row, or a part of a sentence that
// does, "" for none.
func doubled(text string) string {
	words := strings.Fields(text)
	for i := 1; i < len(words); i++ {
		if words[i] == words[i-1] && len(words[i]) > 1 {
			return words[i]
		}
	}
	seen := map[string]bool{}
	for _, part := range sentences.Split(substitution.ReplaceAllString(text, ""), -1) {
		part = strings.TrimSpace(part)
		if seen[part] && strings.Contains(part, " ") {
			return part
		}
		seen[part] = true
	}
	return ""
}
