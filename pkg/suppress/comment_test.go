package suppress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Each text says where its comments are, what they say and which lines they
// speak of.
func TestComments(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // "LINE:COLUMN-COLUMN RULES (REASON) GOVERNED"
	}{
		"behind a line":              {"a: 1 # vpnlint:ignore VPN301 -- because\n", []string{"1:6-40 VPN301 (because) 1"}},
		"alone above a line":         {"# vpnlint:ignore VPN301,VPN304 -- x\na: 1\nb: 2\n", []string{"1:1-36 VPN301,VPN304 (x) 1,2"}},
		"a blank after the comma":    {"a: 1 # vpnlint:ignore VPN301, VPN304 -- x -- y", []string{"1:6-47 VPN301,VPN304 (x -- y) 1"}},
		"two above a line":           {"# vpnlint:ignore A1 -- x\n# more words\n# vpnlint:ignore A2 -- y\na: 1\n", []string{"1:1-25 A1 (x) 1,4", "3:1-25 A2 (y) 3,4"}},
		"a blank line below":         {"# vpnlint:ignore A1 -- x\n\na: 1\n", []string{"1:1-25 A1 (x) 1"}},
		"no reason":                  {"a: 1 # vpnlint:ignore VPN301\n", []string{"1:6-29 VPN301 () 1"}},
		"an empty reason":            {"a: 1 # vpnlint:ignore VPN301 --\n", []string{"1:6-32 VPN301 () 1"}},
		"words without two hyphens":  {"a: 1 # vpnlint:ignore VPN301 because\n", []string{"1:6-37 VPN301 () 1"}},
		"no rules":                   {"a: 1 # vpnlint:ignore -- x\n", []string{"1:6-27  (x) 1"}},
		"carriage returns":           {"# vpnlint:ignore A1 -- x\r\na: 1\r\n", []string{"1:1-25 A1 (x) 1,2"}},
		"columns of code points":     {"a: ü # vpnlint:ignore A1 -- ö\n", []string{"1:6-30 A1 (ö) 1"}},
		"other words":                {"# vpnlint:ignored A1 -- x\n# see vpnlint:ignore A1 -- x\n#vpnlint:ignore-all\na: 1\n", nil},
		"a hash in a word":           {"a: b# vpnlint:ignore A1 -- x\n", nil},
		"double quotes":              {"a: \"b # vpnlint:ignore A1 -- x\"\n", nil},
		"single quotes":              {"a: 'it''s # vpnlint:ignore A1 -- x'\n", nil},
		"an escaped quote":           {"a: \"b \\\" # vpnlint:ignore A1 -- x\"\n", nil},
		"quotes over lines":          {"a: \"b\n  # vpnlint:ignore A1 -- x\n  c\"\nd: 1 # vpnlint:ignore A2 -- y\n", []string{"4:6-30 A2 (y) 4"}},
		"an apostrophe":              {"a: don't # vpnlint:ignore A1 -- x's\n", []string{"1:10-36 A1 (x's) 1"}},
		"a quote that never closes":  {"a: \"b # vpnlint:ignore A1 -- x\n", []string{"1:7-31 A1 (x) 1"}},
		"a flow list":                {"a: [\"# vpnlint:ignore A1 -- x\", 'y'] # vpnlint:ignore A2 -- y\n", []string{"1:38-62 A2 (y) 1"}},
		"a template comment":         {"{{/* vpnlint:ignore A1 -- x */}}\na: 1\n", []string{"1:5-29 A1 (x) 1,2"}},
		"a trimmed template comment": {"{{- /* vpnlint:ignore A1 -- x */ -}}\na: 1\n", []string{"1:7-31 A1 (x) 1,2"}},
		"behind code":                {"a: 1 {{- /* vpnlint:ignore A1 -- x */}}\n", []string{"1:12-36 A1 (x) 1"}},
		"of several lines":           {"{{- /*\n  vpnlint:ignore A1 -- x\n*/ -}}\na: 1\n", []string{"2:1-25 A1 (x) 2,4"}},
		"in both signs":              {"# {{/* vpnlint:ignore A1 -- x */}}\na: 1\n", []string{"1:1-35 A1 (x) 1,2"}},
		"in an action":               {"a: {{ \"# vpnlint:ignore A1 -- x\" | quote }}\n", nil},
		"behind an action":           {"a: {{ .x | default \"}}\" }} # vpnlint:ignore A1 -- x\n", []string{"1:28-52 A1 (x) 1"}},
		"an action over lines":       {"a: {{ include \"x\"\n  # vpnlint:ignore A1 -- x\n}}\n", nil},
		"a configuration":            {"a: |\n  [Interface]\n  # vpnlint:ignore A1 -- x\n  Table = off\nb: 1 # vpnlint:ignore A2 -- y\n", []string{"3:3-27 A1 (x) 3,4", "5:6-30 A2 (y) 5"}},
		"with template lines":        {"a: |-\n  x = 1\n{{ if .a }}\n  y = 2 # vpnlint:ignore A1 -- x\n{{ end }}\n", []string{"4:9-33 A1 (x) 4"}},
		"a string in a script":       {"- |\n  echo \"# vpnlint:ignore A1 -- x\"\n  # it's vpnlint\n  b # vpnlint:ignore A2 -- y\n", []string{"4:5-29 A2 (y) 4"}},
		"JSON":                       {"a: |\n  {\n  # vpnlint:ignore A1 -- x\n  }\nb: 1\n", nil},
		"a JSON list":                {"a: >-\n  [\n  # vpnlint:ignore A1 -- x\n  ]\n", nil},
		"Markdown":                   {"README.md: |\n  # vpnlint:ignore A1 -- x\n", nil},
		"a list item's scalar":       {"- b: |\n    x\n  c: 1 # vpnlint:ignore A1 -- x\n", []string{"3:8-32 A1 (x) 3"}},
		"a tagged scalar":            {"a: !!str |2\n    # vpnlint:ignore A1 -- x\n    y\n", []string{"2:5-29 A1 (x) 2,3"}},
		"a misspelt word":            {"a: 1 # vpnlint:ignroe VPN303 -- x\n", []string{"1:6-34 VPN303 instead of vpnlint:ignroe VPN303 () 1"}},
		"a blank after the colon":    {"# vpnlint: ignore VPN303 -- x\na: 1\n", []string{"1:1-30 VPN303 instead of vpnlint: ignore VPN303 () 1,2"}},
		"a dash for the colon":       {"a: 1 # vpnlint-ignore VPN303 -- x\n", []string{"1:6-34 VPN303 instead of vpnlint-ignore VPN303 () 1"}},
		"another tool's word":        {"# vpnlint:disable-next-line=VPN303\na: 1\n", []string{"1:1-35 VPN303 instead of vpnlint:disable-next-line=VPN303 () 1,2"}},
		"in capitals":                {"a: 1 # VPNLINT:IGNORE VPN303 -- x\n", []string{"1:6-34 VPN303 instead of VPNLINT:IGNORE VPN303 () 1"}},
		"a colon behind the marker":  {"a: 1 # vpnlint:ignore: VPN303 -- x\n", []string{"1:6-35 VPN303 instead of vpnlint:ignore: VPN303 () 1"}},
		"no blank":                   {"a: 1 # vpnlint:ignoreVPN303 -- x\n", []string{"1:6-33 VPN303 instead of vpnlint:ignoreVPN303 () 1"}},
		"words about a rule":         {"# vpnlint: see VPN303 of its pages\n# vpnlint ignores VPN303 here\n# vpnlint:VPN303 is right\na: 1\n", nil},
		"a pipe in an action":        {"a: {{ toYaml .x |\n  indent 2 }}\nb: 1 # vpnlint:ignore A1 -- x\n", []string{"3:6-30 A1 (x) 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range comments(source.NewFile("a.yaml", tc.text)) {
				governs := fmt.Sprint(c.governs[0])
				if c.governs[1] > 0 {
					governs += fmt.Sprint(",", c.governs[1])
				}
				rules := strings.Join(c.rules, ",")
				if c.instead != "" {
					rules += " instead of " + c.instead
				}
				got = append(got, fmt.Sprintf("%d:%d-%d %s (%s) %s", c.span.Start.Line, c.span.Start.Column, c.span.End.Column,
					rules, c.reason, governs))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Whatever the text: no panic, and every comment has a place in it that says
// the marker and governs its own line.
func FuzzComments(f *testing.F) {
	for _, s := range []string{
		"a: 1 # vpnlint:ignore VPN301,VPN304 -- reason\n", "{{- /* vpnlint:ignore A1 -- x */ -}}\na: |\n  {\n",
		"a: \"b\n# vpnlint:ignore A1\n", "{{ `\n# vpnlint:ignore A1 -- x\n` }}#vpnlint:ignore\n", "- - |\r\n  'vpnlint:ignore\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("a.yaml", text)
		for _, c := range comments(file) {
			from, to := file.Offset(c.span.Start), file.Offset(c.span.End)
			if from >= to || !strings.Contains(text[from:to], cmp.Or(c.instead, marker)) {
				t.Errorf("%v holds %q", c.span, text[from:to])
			}
			if c.governs[0] != c.span.Start.Line || c.governs[1] != 0 && (c.governs[1] <= c.governs[0] || c.governs[1] > file.Lines()) {
				t.Errorf("%v governs %v", c.span, c.governs)
			}
		}
	})
}
