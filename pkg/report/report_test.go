package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestParseFormat(t *testing.T) {
	for _, f := range report.Formats() {
		if got, err := report.ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("%s: got %q, %v", f, got, err)
		}
	}
	_, err := report.ParseFormat("yaml")
	if err == nil || err.Error() != `unknown output format "yaml": want text, table, json, sarif or github` {
		t.Errorf("got %v", err)
	}
	if err := report.Write(&bytes.Buffer{}, "yaml", report.Report{}, report.Options{}); err == nil {
		t.Error("Write takes a format that does not exist")
	}
}

type brokenPipe struct{}

var errPipe = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func TestWriterErrorsAreReported(t *testing.T) {
	for _, f := range report.Formats() {
		for name, r := range map[string]report.Report{"awkward": awkward(), "empty": {}} {
			if err := report.Write(brokenPipe{}, f, r, report.Options{}); !errors.Is(err, errPipe) {
				t.Errorf("%s, %s: got %v", f, name, err)
			}
		}
	}
}

func TestNothingFoundIsOneLine(t *testing.T) {
	r := report.Report{Summary: report.Summary{Inputs: 1, Objects: 12, Suppressed: 2}}
	for _, f := range []report.Format{report.FormatText, report.FormatTable} {
		var out bytes.Buffer
		if err := report.Write(&out, f, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "no findings: 12 objects in 1 input checked, 2 suppressed\n"; got != want {
			t.Errorf("%s: got %q, want %q", f, got, want)
		}
	}
}

// TestMarksStandUnderTheSpan places marks in lines that a naive writer counts
// wrongly. want is the excerpt's text and mark lines.
func TestMarksStandUnderTheSpan(t *testing.T) {
	for _, c := range []struct {
		name, line, span string
		width            int
		text, marks      string
	}{
		{
			name: "ASCII", line: `hostNetwork: true`, span: `true`,
			text: `hostNetwork: true`, marks: `             ^^^^`,
		},
		{
			name: "tab before", line: "\tkey:\tvalue", span: `value`,
			text: `    key:    value`, marks: `            ^^^^^`,
		},
		{
			name: "tab inside", line: "a\tb c", span: "a\tb",
			text: `a   b c`, marks: `^^^^^`,
		},
		{
			name: "wide before", line: `name: 東京 # x`, span: `x`,
			text: `name: 東京 # x`, marks: `             ^`,
		},
		{
			name: "wide inside", line: `name: 東京`, span: `東京`,
			text: `name: 東京`, marks: `      ^^^^`,
		},
		{
			name: "joined emoji", line: `a: 👩‍💻 b`, span: `b`,
			text: `a: 👩‍💻 b`, marks: `      ^`,
		},
		{
			name: "combining accent", line: "cafe\u0301: x", span: `x`,
			text: "cafe\u0301: x", marks: `      ^`,
		},
		{
			name: "escape sequence", line: "a: \x1b[31mred", span: `red`,
			text: `a: \x1b[31mred`, marks: `           ^^^`,
		},
		{
			name: "bytes that are no UTF-8", line: "a: \xff\xfe b", span: `b`,
			text: `a: \xff\xfe b`, marks: `            ^`,
		},
		{
			name: "bidirectional override", line: "a: \u202e b", span: `b`,
			text: `a: \u202e b`, marks: `          ^`,
		},
		{
			name: "long line, place in the middle", width: 40,
			line: strings.Repeat("x", 100) + " here " + strings.Repeat("y", 100), span: `here`,
			text: `...xxxxxxx here yyyyyyyyyyyy...`, marks: `           ^^^^`,
		},
		{
			name: "long line, place at the end", width: 40,
			line: strings.Repeat("x", 100) + " end", span: `end`,
			text: `...xxxxxxxxxxxxxxxxxxxxx end`, marks: `                         ^^^`,
		},
		{
			name: "long line of wide characters", width: 40,
			line: strings.Repeat("東", 50) + "here" + strings.Repeat("京", 50), span: `here`,
			text: `...東東東東here京京京京京京...`, marks: `           ^^^^`,
		},
		{
			name: "the mark is longer than the line", width: 40,
			line: "k: " + strings.Repeat("z", 90), span: strings.Repeat("z", 90),
			text: `k: zzzzzzzzzzzzzzzzzzzzzz...`, marks: `   ^^^^^^^^^^^^^^^^^^^^^^`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := source.NewFile("f.yaml", "# first\n"+c.line+"\n")
			r := report.Report{
				Files: map[string]*source.File{"f.yaml": file},
				Findings: []finding.Finding{{
					Rule: "VPN101", Severity: finding.Error, Message: "m", Primary: at(file, c.span),
				}},
			}
			var out bytes.Buffer
			if err := report.Text(&out, r, report.Options{Width: c.width}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(out.String(), "\n")
			if len(lines) < 4 {
				t.Fatalf("no excerpt:\n%s", &out)
			}
			_, text, _ := strings.Cut(lines[2], "| ")
			_, marks, _ := strings.Cut(lines[3], "| ")
			if text != c.text || marks != c.marks {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", text, marks, c.text, c.marks)
			}
		})
	}
}

func TestProseFitsTheWidth(t *testing.T) {
	r := awkward()
	for i := range r.Findings { // these are not wrapped: they are to be pasted
		r.Findings[i].Verify, r.Findings[i].Fixes = nil, nil
	}
	for _, width := range []int{60, 80, 120, 160} {
		var out bytes.Buffer
		if err := report.Text(&out, r, report.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if got := displaywidth.String(strings.TrimSuffix(line, "\n")); got > width && !strings.Contains(line, "checked") {
				t.Errorf("width %d: %d cells: %s", width, got, line)
			}
		}
	}
}

// TestTablesAreStraight: every line has the same width, the one asked for, even
// after someone set the library to a locale with wide borders.
func TestTablesAreStraight(t *testing.T) {
	r := awkward()
	r.Findings[0].Message = "joined 👩‍💻 emoji, a flag 🇩🇪, a sign ⚠️ and 東京"
	write := map[string]func(*bytes.Buffer, report.Options) error{
		"findings": func(b *bytes.Buffer, o report.Options) error { return report.Table(b, r, o) },
		"rules":    func(b *bytes.Buffer, o report.Options) error { return report.RulesTable(b, r.Rules, o) },
	}
	for name, f := range write {
		for _, width := range []int{60, 80, 100, 119, 120, 160, 200} {
			twwidth.SetEastAsian(true)
			var out bytes.Buffer
			if err := f(&out, report.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if got := displaywidth.String(strings.TrimSuffix(line, "\n")); got != width {
					t.Errorf("%s, width %d: %d cells: %s", name, width, got, line)
				}
			}
		}
	}
}

func TestColorOnlyWhenAsked(t *testing.T) {
	for _, f := range report.Formats() {
		var plain, color bytes.Buffer
		if err := report.Write(&plain, f, awkward(), report.Options{}); err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsRune(plain.Bytes(), 0x1b) {
			t.Errorf("%s: escape sequences without being asked", f)
		}
		if err := report.Write(&color, f, awkward(), report.Options{Color: true}); err != nil {
			t.Fatal(err)
		}
		if human := f == report.FormatText || f == report.FormatTable; bytes.ContainsRune(color.Bytes(), 0x1b) != human {
			t.Errorf("%s: with colour asked for, escape sequences: %v", f, !human)
		}
	}
}

func TestRulesTableGolden(t *testing.T) {
	for _, c := range []struct {
		file  string
		width int
	}{{"rules-80.txt", 80}, {"rules-160.txt", 160}} {
		var out bytes.Buffer
		if err := report.RulesTable(&out, awkward().Rules, report.Options{Width: c.width}); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, c.file, out.Bytes())
	}
}

// FuzzFormats feeds every format with text and places that no loader would
// make: nothing may panic, act on the reader's terminal, or be invalid JSON.
func FuzzFormats(f *testing.F) {
	f.Add("hostNetwork: true\n", "message", 1, 14, 1, 18, 80)
	f.Add("a\tb\x00\x1b[0m\u202e東", "two\nlines ::error::", 1, 2, 9, 9, 40)
	f.Add("", "", 0, 0, -5, -5, -1)
	f.Add("x\r\ny", "\xff", 2, 1, 1, 1, 1)
	f.Fuzz(func(t *testing.T, text, message string, line, column, endLine, endColumn, width int) {
		if width > 1000 || len(text) > 1<<16 {
			t.Skip("no terminal is that wide")
		}
		file := source.NewFile("f.yaml", text)
		place := source.Location{File: "f.yaml", Precision: source.Exact, Span: source.Span{
			Start: source.Position{Line: line, Column: column}, End: source.Position{Line: endLine, Column: endColumn},
		}}
		r := report.Report{
			Files: map[string]*source.File{"f.yaml": file},
			Findings: []finding.Finding{{
				Rule: "VPN101", Severity: finding.Error, Message: message, Primary: place,
				Object:  finding.ObjectName{Kind: "Pod", Name: message},
				Related: []source.Note{{At: place, Says: message}}, Verify: []string{message},
				Fixes:      []finding.Fix{{Title: message, Edits: []finding.Edit{{At: place, Text: message}}}},
				Suppressed: nil,
			}},
			Gaps: []finding.Gap{{Kind: finding.Unresolved, File: message, Line: line, What: message, Why: message}},
		}
		for _, format := range report.Formats() {
			var out bytes.Buffer
			if err := report.Write(&out, format, r, report.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for _, c := range out.String() {
				if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)) {
					t.Fatalf("%s passes %q on", format, c)
				}
			}
			if (format == report.FormatJSON || format == report.FormatSARIF) && !json.Valid(out.Bytes()) {
				t.Fatalf("%s is not JSON: %s", format, &out)
			}
		}
	})
}
