package lint_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestRegions holds every place that a report on any of the repository's
// fixtures names against the file that it lies in, and every exact place of a
// finding against what the finding is about: its text is the field's value, a
// part of it or more than it, or the field's key. What takes endless time or
// memory (testdata/hostile) is held by cmd/vpnlint, which runs it within limits.
func TestRegions(t *testing.T) {
	if testing.Short() {
		t.Skip("lints all fixtures one by one")
	}
	root := repoRoot(t)
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := &regions{}
	look := func(t *testing.T, dir string, paths ...string) {
		t.Helper()
		opts := loader.Options{Dir: dir}
		r, err := linter.Run(t.Context(), paths, lint.Options{Load: opts})
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := loader.Load(t.Context(), paths, opts)
		if err != nil {
			t.Fatal(err)
		}
		objects := map[source.ObjectID]*source.Object{}
		for _, o := range loaded.Objects {
			objects[o.ID] = o
		}
		seen.report(t, r, objects)
		seen.sarif(t, dir, r)
	}
	t.Run("examples", func(t *testing.T) { look(t, root, examples(t)...) })
	t.Run("traps", func(t *testing.T) {
		traps, err := filepath.Glob(filepath.Join(root, "testdata", "traps", "*"))
		if err != nil || len(traps) == 0 {
			t.Fatalf("no traps: %v", err)
		}
		for _, trap := range traps {
			look(t, root, trap)
		}
	})
	for _, glob := range []string{"testdata/script/*.txtar", "testdata/rows/*.txtar", "pkg/loader/testdata/*/*.txtar", "pkg/fix/testdata/*.txtar", "pkg/fix/testdata/*/*.txtar"} {
		archives, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(glob)))
		if err != nil || len(archives) == 0 {
			t.Fatalf("%s: %d archives, %v", glob, len(archives), err)
		}
		t.Run(glob, func(t *testing.T) {
			for _, name := range archives {
				if base := filepath.Base(name); base == "limits.txtar" || base == "isolate.txtar" {
					continue // they take endless time on purpose
				}
				archive, err := txtar.ParseFile(name)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(filepath.Base(name), func(t *testing.T) { look(t, unpacked(t, archive), ".") })
			}
		})
	}
	t.Logf("%d places and %d regions lie in their files; %d exact places show what their findings are about", seen.places, seen.shown, seen.about)
	if seen.places < 400 || seen.shown < 500 || seen.about < 250 {
		t.Error("that is too few to prove anything")
	}
}

// unpacked writes the files of an archive to a directory. A section of a table of
// rows is a file of its own, a line @NAME of which stands for another section.
func unpacked(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	files, sections := map[string]string{}, map[string]string{}
	for i, f := range archive.Files {
		name, text := f.Name, string(f.Data)
		if strings.HasPrefix(name, "@") {
			sections[name] = text
			continue
		}
		if strings.ContainsAny(name, " ") {
			name = strconv.Itoa(i) + "/row.yaml"
			var b strings.Builder
			for line := range strings.Lines(text) {
				if section, ok := sections[strings.TrimSpace(line)]; ok {
					line = section
				}
				b.WriteString(line)
			}
			text = b.String()
		}
		if filepath.IsLocal(filepath.FromSlash(name)) {
			files[name] = text
		}
	}
	return testtree.Write(t, files)
}

// regions counts what was looked at.
type regions struct{ places, shown, about int }

// report looks at the places as they are before a format moves them into their
// files.
func (s *regions) report(t *testing.T, r report.Report, objects map[source.ObjectID]*source.Object) {
	t.Helper()
	inside := func(what string, at source.Location) {
		t.Helper()
		s.places++
		f := r.Files[at.File]
		if at.Precision == source.WholeFile || at.File == "stdin" {
			return
		}
		if f == nil {
			t.Errorf("%s points into %q, which is not among the files", what, at.File)
			return
		}
		if at.Inner != "" {
			return // of an archive only the file is shown
		}
		span := at.Span
		last := func(line int) int { return 1 + len([]rune(f.Line(line))) }
		if span.End == (source.Position{Line: f.Lines() + 1, Column: 1}) {
			span.End = source.Position{Line: f.Lines(), Column: last(f.Lines())} // behind the last line
		}
		switch {
		case span.Start.Line < 1 || span.End.Line < span.Start.Line || span.End.Line > f.Lines(),
			span.Start.Column < 1 || span.Start.Column > last(span.Start.Line) || span.End.Column < 1 || span.End.Column > last(span.End.Line),
			span.End.Line == span.Start.Line && span.End.Column < span.Start.Column:
			t.Errorf("%s: %s: %+v lies outside of %d lines", what, at.File, span, f.Lines())
		case at.Precision == source.Exact && span.Start == span.End && f.Line(span.Start.Line) != "":
			t.Errorf("%s: %s:%d:%d is exact and empty", what, at.File, span.Start.Line, span.Start.Column)
		}
	}
	for _, f := range r.Findings {
		what := f.Rule + " " + f.Pointer
		inside(what, f.Primary)
		for _, note := range f.Related {
			inside(what+", "+note.Says, note.At)
		}
		for _, x := range f.Fixes {
			for _, e := range x.Edits {
				inside(what+", "+x.Title, e.At)
			}
		}
		if x := f.Suppressed; x != nil && x.Line > 0 {
			if file := r.Files[x.File]; file != nil && x.Line > file.Lines() {
				t.Errorf("%s is silenced at %s:%d of %d lines", what, x.File, x.Line, file.Lines())
			}
		}
		s.exact(t, r, f, objects[f.ObjectID])
	}
	for _, g := range r.Gaps {
		if file := r.Files[g.File]; file != nil && g.Line > file.Lines() {
			t.Errorf("gap at %s:%d of %d lines", g.File, g.Line, file.Lines())
		}
	}
}

// shownAs is text that stands for a value elsewhere: a template, a variable, an
// alias or what is merged, a block of text by its sign, a string with escapes.
var shownAs = regexp.MustCompile(`\{\{|\$\{|^\*|^<<|[|>][0-9+-]*$|\\|''`)

// exact holds the text of an exact place against the field.
func (s *regions) exact(t *testing.T, r report.Report, f finding.Finding, o *source.Object) {
	t.Helper()
	file := r.Files[f.Primary.File]
	if f.Primary.Precision != source.Exact || file == nil || f.Primary.Inner != "" || o == nil {
		return
	}
	span := f.Primary.Span
	text := file.Text()[file.Offset(span.Start):file.Offset(span.End)]
	if strings.TrimSpace(text) == "" {
		t.Errorf("%s %s: %s:%d is blank", f.Rule, f.Pointer, f.Primary.File, span.Start.Line)
		return
	}
	s.about++
	if shownAs.MatchString(text) {
		return
	}
	words := about(o, f.Pointer)
	bare := strings.Trim(strings.TrimSpace(text), `"'`)
	if !slices.ContainsFunc(words, func(w string) bool {
		return w != "" && (strings.Contains(text, w) || strings.Contains(w, bare) || folded(w, bare))
	}) {
		t.Errorf("%s %s of %s: %s:%d:%d reads %q, which is none of %q", f.Rule, f.Pointer, o.ID, f.Primary.File, span.Start.Line, span.Start.Column, text, words)
	}
}

// folded reports whether text is a part of a value that stands on several lines.
func folded(value, text string) bool {
	return strings.Contains(strings.Join(strings.Fields(value), " "), strings.Join(strings.Fields(text), " "))
}

// about are the key of a field, and its value or the keys and values inside.
func about(o *source.Object, pointer string) []string {
	var words []string
	var v any = o.Tree
	for _, token := range source.PointerTokens(pointer) {
		switch c := v.(type) {
		case map[string]any:
			words, v = []string{token}, c[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(c) {
				return words
			}
			words, v = nil, c[i]
		}
	}
	var list func(v any)
	list = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, x := range v {
				words = append(words, key)
				list(x)
			}
		case []any:
			for _, x := range v {
				list(x)
			}
		case nil:
		default:
			words = append(words, fmt.Sprint(v))
			if text, err := yaml.Marshal(v); err == nil {
				words = append(words, strings.TrimSpace(string(text)))
			}
		}
	}
	list(v)
	return words
}

// sarif looks at every region that the SARIF format writes, of results, related
// places, silenced findings, fixes and what could not be read.
func (s *regions) sarif(t *testing.T, dir string, r report.Report) {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, "sarif", r, report.Options{Dir: dir, SourceRoot: dir}); err != nil {
		t.Fatal(err)
	}
	s.shown += testtree.Regions(t, dir, out.Bytes())
}
