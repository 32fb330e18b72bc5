package report

import (
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// GitHub writes the report as workflow commands of GitHub Actions, one line a
// finding or gap, which its runner turns into annotations of the changed lines.
// A gap is a warning when something could not be read, else a notice; suppressed
// findings are left out. Paths are relative to o.SourceRoot, as the runner wants
// them.
//
// The runner shows ten annotations of a level and step; the log has all of them.
func GitHub(w io.Writer, r Report, o Options) error {
	var b strings.Builder
	remedies := map[string]string{}
	for _, m := range r.Rules {
		remedies[m.ID] = m.Remedy
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Suppressed != nil {
			continue
		}
		c := command{name: githubLevel(f.Severity), title: strings.TrimSpace(f.Rule + " " + f.Name), says: []string{f.Message}}
		c.place(r, f.Primary, o)
		c.scope(r, f)
		for _, n := range f.Related {
			n.At.File, _ = underSourceRoot(n.At.File, o)
			c.says = append(c.says, address(n.At, "")+": "+n.Says)
		}
		for _, fix := range f.Fixes {
			c.says = append(c.says, "fix: "+fix.Title)
		}
		if remedy := remedies[f.Rule]; remedy != "" && len(f.Fixes) == 0 {
			c.says = append(c.says, "do: "+remedy)
		}
		c.write(&b)
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		c := command{name: "notice", title: "gap: " + string(g.Kind), says: []string{g.What + ": " + g.Why, g.Consequence}}
		if g.Kind == finding.Unreadable {
			c.name = "warning"
		}
		if g.File != "" {
			at := source.Location{File: g.File, Precision: source.WholeFile}
			if g.Line > 0 {
				at.Precision = source.Exact
				at.Span.Start.Line = g.Line
			}
			c.place(r, at, o)
		}
		if g.Object != nil {
			c.says = append(c.says, "in "+g.Object.Described())
		}
		c.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return writing(err)
}

// githubLevel is the runner's name for a severity.
func githubLevel(s finding.Severity) string {
	if s == finding.Note {
		return "notice"
	}
	return string(s)
}

// command is one workflow command.
type command struct {
	name, title string
	file        string // "" for none
	line, col   int    // 0 for unknown
	says        []string
}

// place sets where the annotation stands. The end of the place is left out: the
// annotation would be shown below it, which for a whole object is far away.
func (c *command) place(r Report, l source.Location, o Options) {
	c.file, _ = underSourceRoot(l.File, o)
	if !known(l) {
		return
	}
	start := l.Span.Start
	if file := r.Files[l.File]; file != nil {
		start = clamp(file, start)
	}
	c.line, c.col = start.Line, start.Column
}

// scope says for which object, value sets and clusters the finding holds.
func (c *command) scope(r Report, f *finding.Finding) {
	var parts []string
	if f.Object.Kind != "" {
		parts = append(parts, f.Object.Described())
	}
	if clusters := r.clustersOf(f); clusters != "" {
		parts = append(parts, clusters)
	}
	if r.showsSets(f) {
		parts = append(parts, "values "+strings.Join(f.ValueSets, ", "))
	}
	if len(parts) > 0 {
		c.says = append(c.says, "in "+strings.Join(parts, "; "))
	}
}

func (c *command) write(b *strings.Builder) {
	b.WriteString("::" + c.name + " ")
	if c.file != "" {
		b.WriteString("file=" + property(c.file) + ",")
	}
	if c.line > 0 {
		b.WriteString("line=" + strconv.Itoa(c.line) + ",")
	}
	if c.col > 0 {
		b.WriteString("col=" + strconv.Itoa(c.col) + ",")
	}
	b.WriteString("title=" + property(prose(c.title)) + "::")
	lines := make([]string, len(c.says))
	for i, s := range c.says {
		lines[i] = prose(s)
	}
	b.WriteString(data(strings.Join(lines, "\n")))
	b.WriteByte('\n')
}

// data escapes the text of a workflow command, property one of its properties.
// The text has no control character but our own line breaks when it gets here; a
// path keeps those that are in its name.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return visible(strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s))
}

// underSourceRoot returns a file's slash path relative to the source root; ok
// is false for one outside of it, which keeps its absolute path.
func underSourceRoot(file string, o Options) (p string, ok bool) {
	if file == stdin || o.SourceRoot == "" || o.Dir == "" && !filepath.IsAbs(file) {
		return path.Clean(file), true
	}
	absolute := filepath.FromSlash(file)
	if !filepath.IsAbs(absolute) {
		absolute = filepath.Join(o.Dir, absolute)
	}
	rel, err := filepath.Rel(o.SourceRoot, absolute)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(absolute), false
	}
	return filepath.ToSlash(rel), true
}

// The runner takes "::" at the start of a line for a command, and "##[" anywhere
// in it. No format but this one may hand them to it with text of the user's.
const (
	commandMark    = "::"
	oldCommandMark = "##["
)

// neutral keeps a line of text from being a command in the log of a workflow.
func neutral(line string) string {
	line = unmarked(line)
	if trimmed := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(trimmed, commandMark) {
		line = line[:len(line)-len(trimmed)] + `\x3a` + trimmed[1:]
	}
	return line
}

// unmarked is enough where a frame stands before the text.
func unmarked(text string) string { return strings.ReplaceAll(text, oldCommandMark, `#\x23[`) }
