package loader

import (
	"encoding/base64"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// inValue maps a part of a line that a step prints to the values file that holds
// it, where the step prints a text of several lines that is one value: a
// configuration that its chart only passes on. A value of one line is shown at
// the template, with the values that it reads, unless it is written as a block.
func (m *templateMap) inValue(s step, start, end int) (source.Location, bool) {
	if isText(s.mark) || s.mark.call || start < s.start || end > s.end || end <= start {
		return source.Location{}, false
	}
	reads, _ := m.narrow(s, start, false)
	if len(reads) != 1 && !(len(reads) > 1 && s.from.known) { // a text that is a template reads more
		return source.Location{}, false
	}
	if line := strings.IndexByte(m.plain[start:end], '\n'); line > 0 {
		end = start + line // never more than a line, as everywhere
	}
	v, _ := descend(m.scope.values, reads[0])
	text, is := v.(string)
	if !is {
		return source.Location{}, false
	}
	file, n := m.scope.scalar(reads[0])
	for hops := 0; n != nil && n.Kind == yaml.AliasNode && n.Alias != nil && hops < 100; hops++ {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.ScalarNode || n.Value != text ||
		n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(strings.TrimSpace(text), "\n") {
		return source.Location{}, false
	}
	from, to, ok := m.inText(s, text, start, end)
	if !ok || from >= to {
		return source.Location{}, false
	}
	d := &document{file: file, chunk: chunk{0, len(file.Text())}}
	written, ok := d.scalar(n)
	if !ok {
		return source.Location{}, false
	}
	a, b := written.span(from, to)
	at := source.Location{File: file.Path(), Span: file.Span(a, b), Precision: source.Exact}
	if strings.Contains(file.Text()[a:b], "{{") {
		at.Precision = source.Action // of the template that the value is
	}
	return at, true
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
	if from, to, ok = filledCopy(out, text, start-s.start, end-s.start); ok {
		return from, to, true
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

// filledCopy maps a range of one line of what a text printed that is a template, in
// the text. Lines are told by what stands in them before the first action, from the
// beginning up to the line, or from the end; of a line with an action, all is the
// place.
func filledCopy(out, text string, from, to int) (start, end int, ok bool) {
	if !strings.Contains(text, "{{") || from < 0 || to > len(out) {
		return 0, 0, false
	}
	printed, written := strings.Split(out, "\n"), strings.Split(text, "\n")
	at := strings.Count(out[:from], "\n")
	column := from - (strings.LastIndexByte(out[:from], '\n') + 1)
	first, line := firstText(printed), firstText(written)
	line += at - first
	if at < first || !filledAlike(printed[first:at+1], written, line-(at-first)) {
		rest := lastText(printed) - at
		line = lastText(written) - rest
		if rest < 0 || !filledAlike(printed[at:at+rest+1], written, line) {
			return 0, 0, false
		}
	}
	for _, before := range written[:line] {
		start += len(before) + 1
	}
	bare := strings.Trim(written[line], blanks)
	start += strings.Index(written[line], bare)
	if strings.Contains(bare, "{{") {
		return start, start + len(bare), true
	}
	start += max(0, column-indentOf(printed[at]))
	return start, min(start+to-from, len(text)), true
}

// filledAlike reports whether lines were printed by those of a template that begin
// at line.
func filledAlike(printed, written []string, line int) bool {
	if line < 0 || line+len(printed) > len(written) {
		return false
	}
	for i, out := range printed {
		before, _, acts := strings.Cut(strings.TrimLeft(written[line+i], " "), "{{")
		out = strings.TrimLeft(out, " ")
		if acts && (strings.TrimSpace(before) == "" || !strings.HasPrefix(out, before)) || !acts && strings.TrimRight(out, blanks) != strings.TrimRight(before, blanks) {
			return false
		}
	}
	return true
}

// firstText and lastText are the first and last of lines that are not blank.
func firstText(lines []string) int {
	return max(0, slices.IndexFunc(lines, func(l string) bool { return !isBlankText(l) }))
}

func lastText(lines []string) int {
	for i := len(lines) - 1; i > 0; i-- {
		if !isBlankText(lines[i]) {
			return i
		}
	}
	return 0
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
