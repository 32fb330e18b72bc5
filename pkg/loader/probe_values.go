package loader

import (
	"encoding/base64"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// inValue maps a part of a line that a step prints to the values file that holds
// it, where the step prints a text of several lines that is one value: a
// configuration that its chart only passes on. A value of one line is shown at
// the template, with the values that it reads.
func (m *templateMap) inValue(s step, start, end int) (source.Location, bool) {
	if isText(s.mark) || s.mark.call || start < s.start || end > s.end || end <= start || strings.Contains(m.plain[start:end], "\n") {
		return source.Location{}, false
	}
	reads := m.narrow(s, start)
	if len(reads) != 1 {
		return source.Location{}, false
	}
	v, _ := descend(m.scope.values, reads[0])
	text, is := v.(string)
	if !is || !strings.Contains(strings.TrimSpace(text), "\n") {
		return source.Location{}, false
	}
	from, to, ok := m.inText(s, text, start, end)
	if !ok || from >= to {
		return source.Location{}, false
	}
	file, n := m.scope.scalar(reads[0])
	for hops := 0; n != nil && n.Kind == yaml.AliasNode && n.Alias != nil && hops < 100; hops++ {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.ScalarNode || n.Value != text {
		return source.Location{}, false
	}
	d := &document{file: file, chunk: chunk{0, len(file.Text())}}
	written, ok := d.scalar(n)
	if !ok {
		return source.Location{}, false
	}
	a, b := written.span(from, to)
	return source.Location{File: file.Path(), Span: file.Span(a, b), Precision: source.Exact}, true
}

// inText maps a range of what a step prints to the text that it prints: as it
// is, indented, encoded, or as a YAML scalar.
func (m *templateMap) inText(s step, text string, start, end int) (from, to int, ok bool) {
	out := m.plain[s.start:s.end]
	if from, to, ok = encodedCopy(out, text, start-s.start, end-s.start); ok {
		return from, to, true
	}
	bare, trimmed := strings.Trim(text, blanks), strings.Trim(out, blanks)
	if pad, same := indentOfCopy(bare, trimmed); same {
		lead, cut := strings.Index(out, trimmed), strings.Index(text, bare)
		at := func(offset int) int { return cut + unindent(bare, max(0, offset-s.start-lead), pad) }
		return at(start), at(end), true
	}
	line := s.start
	if i := strings.LastIndexByte(m.plain[:line], '\n') + 1; isBlankText(m.plain[i:line]) {
		line = i
	}
	out = m.plain[line:s.end]
	n, err := parseNode(out)
	for _, key := range memberAt(out, start-line) {
		if n == nil || err != nil {
			break
		}
		_, n = memberNode(n, key)
	}
	// The line break at the end of the last may be the template's.
	if err != nil || n == nil || n.Kind != yaml.ScalarNode || strings.TrimRight(n.Value, "\n") != strings.TrimRight(text, "\n") {
		return 0, 0, false
	}
	d := &document{file: source.NewFile("", out), chunk: chunk{0, len(out)}}
	written, ok := d.scalar(n)
	if !ok {
		return 0, 0, false
	}
	return written.value(start - line), written.value(end - line), true
}

// encodedCopy maps a range of a text in base64, quoted at most, to the text.
func encodedCopy(out, text string, from, to int) (start, end int, ok bool) {
	code := base64.StdEncoding.EncodeToString([]byte(text))
	if code == "" || strings.Trim(out, blanks+`"'`) != code {
		return 0, 0, false
	}
	lead := strings.Index(out, code)
	start, end = decodedRange(from-lead, to-lead, len(text))
	return start, end, start < end
}

// decodedRange is the way back of encodedRange, which took in whole characters.
func decodedRange(from, to, length int) (start, end int) {
	return min((max(from, 0)*6+7)/8, length), min(max(to, 0)*6/8, length)
}
