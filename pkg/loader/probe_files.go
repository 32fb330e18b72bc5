package loader

import (
	"encoding/base64"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// textOf is which text of the chart's own files an expression stands for.
type textOf struct {
	file string // .Files.Get of this name
	some bool   // .Files.Get of a name that is not known
	// lines is .Files.Lines of the file; line is one of these, from 1.
	lines bool
	line  int
	glob  bool // .Files.Glob
	// config and secrets are a glob's files as the data of a ConfigMap or Secret.
	config, secrets bool
}

// fileMethod evaluates the methods of .Files.
func (e *evaluator) fileMethod(method symbol, args []symbol) (textOf, bool) {
	if !method.known || len(method.path) != 2 || method.path[0] != "Files" || len(args) != 1 {
		return textOf{}, false
	}
	switch method.path[1] {
	case "Get", "Lines":
		v, _ := e.lookup(args[0])
		name, ok := v.(string)
		if !ok && method.path[1] == "Get" {
			return textOf{some: true}, true // the names of a Glob, one by one
		}
		return textOf{file: path.Clean(name), lines: method.path[1] == "Lines"}, ok && name != ""
	case "Glob":
		return textOf{glob: true}, true
	}
	return textOf{}, false
}

func (t textOf) field(name string) textOf {
	switch {
	case t.glob && name == "AsConfig":
		return textOf{config: true}
	case t.glob && name == "AsSecrets":
		return textOf{secrets: true}
	}
	return textOf{}
}

// inFile maps a range of what a step prints to the chart's file that it prints.
// It answers only where the file's text stands there as it is, indented at most.
func (m *templateMap) inFile(s step, start, end int) (source.Location, bool) {
	if s.from.text == (textOf{}) || start < s.start || end > s.end {
		return source.Location{}, false
	}
	out := m.plain[s.start:s.end]
	from, to := start-s.start, end-s.start
	if name := s.from.text.file; s.from.text.line > 0 {
		return fileLine(m.files()[name], out, s.from.text.line, from, to)
	} else if name != "" {
		return fileRange(m.files()[name], out, from, to)
	}
	if s.from.text.some {
		return m.inSomeFile(out, from, to)
	}
	// The output continues a line of the template.
	line := s.start
	if i := strings.LastIndexByte(m.plain[:line], '\n') + 1; isBlankText(m.plain[i:line]) {
		line = i
	}
	return m.inEntry(m.plain[line:s.end], start-line, end-line, s.from.text.secrets)
}

// inSomeFile maps a range of an indented text to the only file that holds it.
func (m *templateMap) inSomeFile(out string, from, to int) (at source.Location, ok bool) {
	files := m.files()
	for _, name := range sortedKeys(files) {
		here, found := fileRange(files[name], out, from, to)
		switch {
		case found && ok:
			return source.Location{}, false
		case found:
			at, ok = here, true
		}
	}
	return at, ok
}

// fileRange maps a range of an indented or encoded text to the file that holds it.
func fileRange(file *source.File, out string, from, to int) (source.Location, bool) {
	if file == nil {
		return source.Location{}, false
	}
	text := file.Text()
	if start, end, ok := encodedCopy(out, text, from, to); ok {
		return source.Location{File: file.Path(), Span: file.Span(start, end), Precision: source.Exact}, true
	}
	bare, trimmed := strings.Trim(text, blanks), strings.Trim(out, blanks)
	pad, ok := indentOfCopy(bare, trimmed)
	if !ok || bare == "" {
		return source.Location{}, false
	}
	lead, cut := strings.Index(out, trimmed), strings.Index(text, bare)
	at := func(offset int) int { return cut + unindent(bare, max(0, offset-lead), pad) }
	return source.Location{File: file.Path(), Span: file.Span(at(from), at(to)), Precision: source.Exact}, true
}

// fileLine maps a range of a line of the file, where that is what is printed,
// quoted at most.
func fileLine(file *source.File, out string, line, from, to int) (source.Location, bool) {
	if file == nil {
		return source.Location{}, false
	}
	start := 0
	for text := range strings.Lines(file.Text()) {
		if line--; line == 0 {
			bare := strings.TrimSpace(text)
			lead := strings.Index(out, bare)
			if bare == "" || strings.Trim(out, blanks) != bare && strings.Trim(out, blanks+`"'`) != strings.Trim(bare, `"'`) || lead < 0 {
				return source.Location{}, false
			}
			start += strings.Index(text, bare)
			at := func(offset int) int { return start + min(max(0, offset-lead), len(bare)) }
			return source.Location{File: file.Path(), Span: file.Span(at(from), at(to)), Precision: source.Exact}, true
		}
		start += len(text)
	}
	return source.Location{}, false
}

// inEntry maps a range of a printed mapping from file names to contents.
func (m *templateMap) inEntry(text string, from, to int, encoded bool) (source.Location, bool) {
	key := memberAt(text, from)
	root, err := parseNode(text)
	if err != nil || root == nil || len(key) != 1 {
		return source.Location{}, false
	}
	n := child(root, key[0])
	if n == nil || n.Kind != yaml.ScalarNode {
		return source.Location{}, false
	}
	content := n.Value
	if encoded {
		data, err := base64.StdEncoding.DecodeString(content)
		if err != nil {
			return source.Location{}, false
		}
		content = string(data)
	}
	files := m.files()
	for _, name := range sortedKeys(files) {
		f := files[name]
		// The line break at the end of the last may be the template's.
		if path.Base(name) != key[0] || strings.TrimRight(f.Text(), "\n") != strings.TrimRight(content, "\n") {
			continue
		}
		d := &document{file: source.NewFile("", text), chunk: chunk{0, len(text)}}
		s, ok := d.scalar(n)
		if !ok {
			return source.Location{}, false
		}
		start, end := s.value(from), s.value(to)
		if encoded {
			start, end = decodedRange(start, end, len(content))
		}
		if end <= start {
			// The scalar as such is marked by how it begins.
			start, end = 0, len(firstLine(f.Text()))
		}
		return source.Location{File: f.Path(), Span: f.Span(start, end), Precision: source.Exact}, true
	}
	return source.Location{}, false
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// value returns the offset in the value of an offset in the text.
func (m scalarMap) value(offset int) int {
	out := 0
	for _, r := range m.runs {
		if r.text > offset {
			break
		}
		if out = r.value + r.valueLen; r.verbatim {
			out = r.value + min(offset-r.text, r.valueLen)
		}
	}
	return out
}
