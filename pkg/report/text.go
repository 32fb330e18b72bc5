package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	defaultWidth = 100
	minWidth     = 40
	// maxProse is the widest line of prose: longer ones are hard to read,
	// however wide the terminal is.
	maxProse = 116
)

// Text writes the report for people. Findings stand under their file, each with
// its excerpt, the related places, the ways to mend it and the commands that
// verify it on the cluster; then what could not be seen; the last line counts.
// Suppressed findings are only counted.
func Text(w io.Writer, r Report, o Options) error {
	t := newTextWriter(r, o)
	t.findings()
	t.gaps()
	t.more()
	t.line(t.summary())
	_, err := io.WriteString(w, t.b.String())
	return writing(err)
}

type textWriter struct {
	report Report
	shown  []finding.Finding
	width  int // of the terminal
	prose  int // of wrapped text
	paint  painter
	dir    string // the working directory
	// remedies are what to do, by rule.
	remedies map[string]string
	// cells are those of the line that was shown last: a list of thousands of
	// entries on one line may have a finding for each.
	cells     []cell
	cellsFile string
	cellsLine int
	b         strings.Builder
}

func newTextWriter(r Report, o Options) *textWriter {
	width := max(widthOrDefault(o), minWidth)
	t := &textWriter{report: r, width: width, prose: min(width, maxProse), paint: painter{on: o.Color}, dir: o.Dir, remedies: map[string]string{}}
	for _, m := range r.Rules {
		t.remedies[m.ID] = prose(m.Remedy)
	}
	for i := range r.Findings {
		if r.Findings[i].Suppressed == nil {
			t.shown = append(t.shown, r.Findings[i])
		}
	}
	return t
}

func widthOrDefault(o Options) int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return o.Width
}

func (t *textWriter) line(s string) {
	t.b.WriteString(neutral(strings.TrimRight(s, " ")))
	t.b.WriteByte('\n')
}

func (t *textWriter) findings() {
	for start := 0; start < len(t.shown); {
		file, end := t.shown[start].Primary.File, start
		var places []string
		widest, severity := 0, 0
		for ; end < len(t.shown) && t.shown[end].Primary.File == file; end++ {
			place := t.place(t.shown[end].Primary)
			places = append(places, place)
			widest = max(widest, len(place))
			severity = max(severity, len(t.shown[end].Severity))
		}
		t.line(t.paint.bold(visible(spoken(file, t.dir))))
		for i := start; i < end; i++ {
			t.finding(&t.shown[i], fmt.Sprintf("%*s", widest, places[i-start]), severity)
			t.line("")
		}
		start = end
	}
}

// place is line:col, or a dash when only the file is known.
func (t *textWriter) place(l source.Location) string {
	if !known(l) {
		return "-"
	}
	s := normal(l.Span)
	return strconv.Itoa(s.Start.Line) + ":" + strconv.Itoa(s.Start.Column)
}

// indent is where everything that belongs to a finding starts.
const indent = "     "

func (t *textWriter) finding(f *finding.Finding, place string, severityWidth int) {
	severity := fmt.Sprintf("%-*s", severityWidth, string(f.Severity))
	rule := visible(f.Rule)
	plain := "  " + place + " " + severity + " " + rule + " "
	painted := "  " + t.paint.place(place) + " " + t.paint.severity(f.Severity, severity) + " " + t.paint.bold(rule) + " "
	for i, l := range wrap(prose(f.Message), t.prose-len(plain)) {
		if i == 0 {
			t.line(painted + l)
		} else {
			t.line(strings.Repeat(" ", widthOf(plain)) + l)
		}
	}
	t.scope(f)
	t.excerpts(f)
	for i := range f.Fixes {
		t.fix(&f.Fixes[i])
	}
	if remedy := t.remedies[f.Rule]; remedy != "" && len(f.Fixes) == 0 {
		t.label("do", remedy)
	}
	if len(f.Verify) > 0 {
		t.label("verify", "")
		for _, command := range f.Verify {
			for l := range strings.SplitSeq(strings.TrimRight(command, "\n"), "\n") {
				t.command(visible(l))
			}
		}
	}
}

// command writes one line of a command, or a comment about it, in lines that can
// be pasted as they are.
func (t *textWriter) command(line string) {
	const hanging = indent + "    "
	if comment, ok := strings.CutPrefix(line, "# "); ok {
		for _, l := range wrap(comment, t.prose-len(indent)-len("  # ")) {
			t.line(indent + "  " + t.paint.dim("# "+l))
		}
		return
	}
	at := indent + "  "
	for _, l := range wrapCommand(line, t.width-len(hanging)) {
		t.line(at + t.paint.command(l))
		at = hanging
	}
}

// label writes "name: text" wrapped with the text as hanging indent.
func (t *textWriter) label(name, text string) {
	head := indent + name + ": "
	if text == "" {
		t.line(indent + t.paint.label(name+":"))
		return
	}
	for i, l := range wrap(text, t.prose-len(head)) {
		if i == 0 {
			t.line(indent + t.paint.label(name+":") + " " + l)
		} else {
			t.line(strings.Repeat(" ", len(head)) + l)
		}
	}
}

// scope says for which object, containers, value sets and clusters a finding
// holds; the latter two only when there is a choice.
func (t *textWriter) scope(f *finding.Finding) {
	var parts []string
	if f.Object.Kind != "" {
		parts = append(parts, f.Object.Described())
	}
	if n := len(f.Containers); n > 0 {
		parts = append(parts, plural(n, "container")[2:]+" "+strings.Join(f.Containers, ", "))
	}
	if clusters := t.report.clustersOf(f); clusters != "" {
		parts = append(parts, clusters)
	}
	if t.report.showsSets(f) {
		parts = append(parts, "values "+strings.Join(f.ValueSets, ", "))
	}
	if len(parts) > 0 {
		t.label("in", prose(strings.Join(parts, "; ")))
	}
}

// summary is the last line of the report.
func (t *textWriter) summary() string {
	s := t.report.Summary
	checked := plural(s.Objects, "object") + " in " + plural(s.Inputs, "input")
	if len(t.shown) == 0 && s.Objects == 0 {
		return t.paint.bold(counts(s)) + ": " + checked // no pass, and not to be taken for one
	}
	if len(t.shown) == 0 && len(t.report.Gaps) == 0 {
		text := "no findings: " + checked + " checked"
		if s.Suppressed > 0 {
			text += ", " + strconv.Itoa(s.Suppressed) + " suppressed"
		}
		return t.paint.good(text)
	}
	if s.Errors+s.Warnings == 0 && len(t.report.Gaps) == 0 {
		return t.paint.good("no error, no warning, " + counts(s) + ": " + checked + " checked")
	}
	return t.paint.bold(counts(s)) + ": " + checked + " checked"
}

// SummaryLine says in a line what a report holds.
func SummaryLine(r Report) string {
	return newTextWriter(r, Options{}).summary()
}

// counts names what was found, "no findings" for nothing in something.
func counts(s Summary) string {
	var parts []string
	add := func(n int, one string) {
		if n > 0 {
			parts = append(parts, plural(n, one))
		}
	}
	add(s.Errors, "error")
	add(s.Warnings, "warning")
	add(s.Notes, "note")
	switch {
	case len(parts) > 0:
	case s.Objects == 0:
		parts = append(parts, "nothing was checked")
	default:
		parts = append(parts, "no findings")
	}
	add(s.Gaps, "gap")
	if s.Suppressed > 0 {
		parts = append(parts, strconv.Itoa(s.Suppressed)+" suppressed")
	}
	return strings.Join(parts, ", ")
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// more points to the page of the rule that spoke first of what is gravest.
func (t *textWriter) more() {
	if len(t.shown) == 0 {
		return
	}
	first := &t.shown[0]
	for i := range t.shown {
		if f := &t.shown[i]; !first.Severity.AtLeast(f.Severity) {
			first = f
		}
	}
	id := first.Rule
	command := "vpnlint explain "
	if slices.ContainsFunc(t.report.Rules, func(m finding.RuleMeta) bool { return m.ID == id && m.User }) {
		command += "--rules DIR "
	}
	t.line(t.paint.dim("more about a rule: " + command + visible(id)))
}

func (t *textWriter) gaps() {
	if len(t.report.Gaps) == 0 {
		return
	}
	t.line(t.paint.bold("not seen"))
	for i := range t.report.Gaps {
		g := &t.report.Gaps[i]
		var head []string
		if g.File != "" {
			at := visible(spoken(g.File, t.dir))
			if g.Line > 0 {
				at += ":" + strconv.Itoa(g.Line)
			}
			head = append(head, at)
		}
		if g.Object != nil {
			head = append(head, "in "+prose(g.Object.Described()))
		}
		if len(head) > 0 {
			t.line("  " + strings.Join(head, " "))
		}
		kind := string(g.Kind)
		for i, l := range wrap(prose(g.What), t.prose-len("  ")-len(kind)-1) {
			if i == 0 {
				t.line("  " + t.paint.gap(g.Kind, kind) + " " + l)
			} else {
				t.line(strings.Repeat(" ", len("  ")+len(kind)+1) + l)
			}
		}
		t.label("why", prose(g.Why))
		consequence := prose(g.Consequence)
		if slices.ContainsFunc(g.Rules, func(rule string) bool { return !strings.Contains(consequence, rule) }) {
			consequence += " (silent: " + visible(strings.Join(g.Rules, ", ")) + ")"
		}
		t.label("so", consequence)
		t.line("")
	}
}
