package check

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// PageHead returns the part of a rule's page that comes of its METADATA: all but
// the examples and the sources.
func PageHead(m finding.RuleMeta) string {
	var b strings.Builder
	words := make([]string, len(m.Severities))
	for i, s := range m.Severities {
		words[i] = string(s)
	}
	_, first := utf8.DecodeRuneInString(m.Title)
	fmt.Fprintf(&b, "# %s %s\n\n%s%s.\n\n", m.ID, m.Name, strings.ToUpper(m.Title[:first]), m.Title[first:])
	fmt.Fprintf(&b, "| Severity | Family | Since |\n|---|---|---|\n| %s | %s | %s |\n", strings.Join(words, ", "), m.Family, m.Since)
	for _, section := range [...]struct{ title, text string }{
		{"What happens", m.Description},
		{"When it fires", m.Fires},
		{"When it stays silent", m.Silent},
		{"What to do", m.Remedy},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", section.title, strings.TrimSpace(section.text))
	}
	return b.String()
}

// PageSources returns the last part of a rule's page.
func PageSources(m finding.RuleMeta) string {
	var b strings.Builder
	b.WriteString("## Sources\n\n")
	for _, s := range m.Sources {
		fmt.Fprintf(&b, "- [%s](%s)\n", s.Title, s.URL)
	}
	return b.String()
}
