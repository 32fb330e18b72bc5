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

// PageVerify returns the part of a rule's page that says how to see a finding on
// a running cluster, with the commands that an example got.
func PageVerify(m finding.RuleMeta, commands []string) string {
	var b strings.Builder
	b.WriteString("## How to verify it on a running cluster\n")
	if m.NoVerify != "" {
		fmt.Fprintf(&b, "\n%s\n", m.NoVerify)
		return b.String()
	}
	b.WriteString("\n")
	means := verifyMeans(m)
	for _, text := range means {
		if len(means) > 1 {
			text = "- " + text
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	if len(commands) > 0 {
		fmt.Fprintf(&b, "\n```sh\n%s\n```\n", strings.Join(commands, "\n"))
	}
	return b.String()
}

// PageSuppress returns the part of a rule's page that says how to silence it.
func PageSuppress(m finding.RuleMeta) string {
	const text = `## How to suppress it

On the line that a finding points to or names, or alone on the line above:

` + "```yaml" + `
# vpnlint:ignore %[1]s -- the reason
` + "```" + `

in a template also ` + "`{{- /* vpnlint:ignore %[1]s -- the reason */ -}}`" + `; for all findings about an object, in its annotations or
those of its pod template:

` + "```yaml" + `
vpnlint.dev/ignore: "%[1]s: the reason"
` + "```" + `

for whole directories, in ` + "`.vpnlint.yaml`" + `:

` + "```yaml" + `
suppress:
  - {rule: %[1]s, path: "clusters/lab/**", reason: "the reason"}
` + "```" + `

Without a reason nothing is suppressed, and what suppresses nothing is reported (VPN001).
`
	if m.ID == suppressionRule {
		return "## How to suppress it\n\nIt cannot be suppressed.\n"
	}
	return fmt.Sprintf(text, m.ID)
}

// suppressionRule is the rule about suppressions (pkg/suppress).
const suppressionRule = "VPN001"

// PageSources returns the last part of a rule's page.
func PageSources(m finding.RuleMeta) string {
	var b strings.Builder
	b.WriteString("## Sources\n\n")
	for _, s := range m.Sources {
		fmt.Fprintf(&b, "- [%s](%s)\n", s.Title, s.URL)
	}
	return b.String()
}
