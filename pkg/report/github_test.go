package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// workflowCommand is a command as the runner of GitHub Actions reads it.
type workflowCommand struct {
	name, data string
	properties map[string]string
}

// runnerReads does what the runner does with one line of a step's output.
func runnerReads(line string) (workflowCommand, bool) {
	line = strings.TrimLeft(line, " \t\v\f\u0085\u00a0")
	rest, ok := strings.CutPrefix(line, "::")
	if !ok {
		return workflowCommand{}, false
	}
	info, text, ok := strings.Cut(rest, "::")
	if !ok {
		return workflowCommand{}, false
	}
	name, properties, _ := strings.Cut(info, " ")
	c := workflowCommand{name: name, data: strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(text), properties: map[string]string{}}
	for pair := range strings.SplitSeq(properties, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			c.properties[key] = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(value)
		}
	}
	return c, true
}

func TestGitHubCommandsReadAsMeant(t *testing.T) {
	const evil = "x\n::stop-commands::y\r##[error]z,a=b:c%0A::error::d"
	file := source.NewFile("a,b:c%0A.yaml", "kind: Pod\n")
	r := report.Report{
		ValueSets: []string{"default", evil},
		Files:     map[string]*source.File{file.Path(): file},
		Findings: []finding.Finding{
			{
				Rule: "VPN101", Name: evil, Severity: finding.Note, Message: evil, Object: finding.ObjectName{Kind: "Pod", Name: evil},
				Clusters: []string{evil, "b"}, ValueSets: []string{evil},
				Primary: source.Location{File: file.Path(), Precision: source.Exact, Span: source.Span{Start: source.Position{Line: 9, Column: 9}}},
				Related: []source.Note{{At: source.Location{File: evil}, Says: evil}},
				Fixes:   []finding.Fix{{Title: evil}},
			},
			{Rule: "VPN102", Severity: finding.Error, Message: "silenced", Primary: at(file, "Pod"), Suppressed: &finding.Suppression{By: "comment"}},
		},
		Gaps: []finding.Gap{
			{Kind: finding.Unreadable, File: evil, Line: 3, What: evil, Why: evil, Consequence: evil, Object: &finding.ObjectName{Kind: "Pod", Name: evil}},
			{Kind: finding.Unresolved, What: "a", Why: "b", Consequence: "c"},
		},
	}
	var out bytes.Buffer
	if err := report.GitHub(&out, r, report.Options{SourceRoot: "/repo", Dir: "/repo/in"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(out.String()) {
		c, ok := runnerReads(strings.TrimSuffix(line, "\n"))
		if !ok {
			t.Fatalf("a line that is no command: %q", line)
		}
		names = append(names, c.name)
		for key := range c.properties {
			if !slices.Contains([]string{"file", "line", "col", "title"}, key) {
				t.Errorf("a property of the user's: %q", line)
			}
		}
		if strings.Contains(c.data, "silenced") {
			t.Errorf("a suppressed finding: %q", line)
		}
	}
	if want := []string{"notice", "warning", "notice"}; !slices.Equal(names, want) {
		t.Errorf("commands %v, want %v", names, want)
	}
	first, _ := runnerReads(strings.SplitN(out.String(), "\n", 2)[0])
	// The place lies behind the end of the file: its last character is shown.
	if p := first.properties; p["file"] != "in/a,b:c%0A.yaml" || p["line"] != "1" || p["col"] != "10" {
		t.Errorf("the place is %v", p)
	}
	want := "x ::stop-commands::y ##[error]z,a=b:c%0A::error::d"
	for i, part := range []string{want, "in Pod " + want + "; clusters " + want + ", b; values " + want, "", "fix: " + want} {
		if lines := strings.Split(first.data, "\n"); i >= len(lines) || part != "" && lines[i] != part {
			t.Errorf("line %d: %q, want %q", i, lines, part)
		}
	}
}

// TestNoCommandInOtherFormats breaks texts at every width: no line of what people
// read in a workflow's log may become a command of its runner.
func TestNoCommandInOtherFormats(t *testing.T) {
	r := awkward()
	f := &r.Findings[0]
	f.Message = strings.Repeat("a ::error::b ##[add-mask]c ::stop-commands::d ", 20)
	f.Verify = []string{"kubectl get 'x\n::add-mask::y\n  ::set-output name=a::b'"}
	r.Gaps[0].Why = f.Message
	for _, format := range []report.Format{report.FormatText, report.FormatTable, report.FormatJSON, report.FormatSARIF} {
		for width := 40; width < 130; width++ {
			var out bytes.Buffer
			if err := report.Write(&out, format, r, report.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if c, ok := runnerReads(line); ok {
					t.Fatalf("%s, %d columns: the command %+v in %q", format, width, c, line)
				}
				if strings.Contains(line, "##[") {
					t.Fatalf("%s, %d columns: a command in %q", format, width, line)
				}
			}
		}
	}
}
