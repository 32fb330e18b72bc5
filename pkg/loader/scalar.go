package loader

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalarMap says where the bytes of a scalar's value stand in the text. It is
// made of runs in the order of both.
//
//	text   key: "a\tb
//	           c"
//	value  a  TAB  b  SPACE  c
//	runs   [a][\t][b][fold ][c]
type scalarMap struct {
	runs []run
	// start and end enclose the scalar in the text, quotes included, an anchor
	// and tag not.
	start, end int
}

// run is a stretch of the value. A verbatim run is the same in both; of any
// other (an escape, a folded line break) only the whole has a place.
type run struct {
	value, valueLen int
	text, textLen   int
	verbatim        bool
}

// span returns the bytes of the text that hold the bytes [from, to) of the
// value.
func (m scalarMap) span(from, to int) (start, end int) {
	if len(m.runs) == 0 {
		return m.start, m.end
	}
	start = m.at(from, false)
	if to <= from {
		return start, start
	}
	return start, max(start, m.at(to-1, true))
}

// at returns the offset of the text for byte i of the value, or the one just
// after it.
func (m scalarMap) at(i int, after bool) int {
	lo, hi := 0, len(m.runs)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; m.runs[mid].value <= i {
			lo = mid
		} else {
			hi = mid
		}
	}
	r := m.runs[lo]
	switch {
	case r.verbatim && after:
		return r.text + min(i-r.value+1, r.textLen)
	case r.verbatim:
		return r.text + min(i-r.value, r.textLen)
	case after || i >= r.value+r.valueLen:
		return r.text + r.textLen
	default:
		return r.text
	}
}

// mapScalar reads the scalar at offset pos of text anew and maps it. It fails,
// rather than map wrongly, when it does not read the value that the parser
// read.
func mapScalar(text string, pos int, style yaml.Style, value string) (scalarMap, bool) {
	pos = skipProperties(text, pos)
	s := scalarReader{text: text, i: pos, want: value}
	s.m.start = pos
	var ok bool
	switch {
	case style&yaml.DoubleQuotedStyle != 0:
		ok = s.doubleQuoted()
	case style&yaml.SingleQuotedStyle != 0:
		ok = s.singleQuoted()
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		ok = s.block(style&yaml.LiteralStyle != 0)
	default:
		ok = s.plain()
	}
	s.m.end = s.i
	return s.m, ok && s.got.String() == value
}

// skipProperties skips an anchor and a tag.
func skipProperties(text string, i int) int {
	for i < len(text) && (text[i] == '&' || text[i] == '!') {
		for i < len(text) && !isBlank(text[i]) && breakLen(text[i:]) == 0 {
			i++
		}
		for i < len(text) {
			n := breakLen(text[i:])
			switch {
			case isBlank(text[i]):
				n = 1
			case text[i] == '#':
				n = lineLen(text[i:])
			}
			if n == 0 {
				break
			}
			i += n
		}
	}
	return i
}

type scalarReader struct {
	text string
	i    int // next byte of text
	want string
	got  strings.Builder
	m    scalarMap
}

// copy takes n bytes over as they are.
func (s *scalarReader) copy(n int) {
	if k := len(s.m.runs) - 1; k >= 0 && s.m.runs[k].verbatim && s.m.runs[k].text+s.m.runs[k].textLen == s.i {
		s.m.runs[k].valueLen += n
		s.m.runs[k].textLen += n
	} else {
		s.m.runs = append(s.m.runs, run{value: s.got.Len(), valueLen: n, text: s.i, textLen: n, verbatim: true})
	}
	s.got.WriteString(s.text[s.i : s.i+n])
	s.i += n
}

// replace takes n bytes of text over as the string by.
func (s *scalarReader) replace(n int, by string) {
	if by != "" {
		s.m.runs = append(s.m.runs, run{value: s.got.Len(), valueLen: len(by), text: s.i, textLen: n})
		s.got.WriteString(by)
	}
	s.i += n
}

// rune copies one character.
func (s *scalarReader) rune() {
	_, size := utf8.DecodeRuneInString(s.text[s.i:])
	s.copy(size)
}

// space returns the blanks and line breaks that start at s.i: their length,
// the value they fold to, and whether there is a break among them.
func (s *scalarReader) space() (n int, folded string, broken bool) {
	rest := s.text[s.i:]
	for n < len(rest) && isBlank(rest[n]) {
		n++
	}
	size := 0
	if n < len(rest) {
		size = breakLen(rest[n:])
	}
	if size == 0 {
		return n, rest[:n], false
	}
	first := breakValue(rest[n : n+size])
	n += size
	var more strings.Builder
	for n < len(rest) {
		if isBlank(rest[n]) {
			n++
			continue
		}
		size := breakLen(rest[n:])
		if size == 0 {
			break
		}
		more.WriteString(breakValue(rest[n : n+size]))
		n += size
	}
	switch {
	case first != "\n":
		return n, first + more.String(), true
	case more.Len() == 0:
		return n, " ", true
	default:
		return n, more.String(), true
	}
}

func (s *scalarReader) plain() bool {
	// Only the value says where a plain scalar ends.
	for s.got.Len() < len(s.want) && s.i < len(s.text) {
		s.foldOrCopy()
	}
	return true
}

func (s *scalarReader) singleQuoted() bool {
	if !strings.HasPrefix(s.text[s.i:], "'") {
		return false
	}
	s.i++
	for s.i < len(s.text) {
		if s.text[s.i] == '\'' {
			if !strings.HasPrefix(s.text[s.i+1:], "'") {
				s.i++
				return true
			}
			s.replace(2, "'")
			continue
		}
		s.foldOrCopy()
	}
	return false
}

// foldOrCopy takes over blanks, folded if there is a break among them, or one
// character.
func (s *scalarReader) foldOrCopy() {
	n, folded, broken := s.space()
	switch {
	case n == 0:
		s.rune()
	case broken:
		s.replace(n, folded)
	default:
		s.copy(n)
	}
}

func (s *scalarReader) doubleQuoted() bool {
	if !strings.HasPrefix(s.text[s.i:], `"`) {
		return false
	}
	s.i++
	for s.i < len(s.text) {
		switch s.text[s.i] {
		case '"':
			s.i++
			return true
		case '\\':
			if !s.escape() {
				return false
			}
		default:
			s.foldOrCopy()
		}
	}
	return false
}

// escapeValue returns what a one-letter escape of a double-quoted scalar
// stands for, "" for none.
func escapeValue(c byte) string {
	switch c {
	case '0':
		return "\x00"
	case 'a':
		return "\a"
	case 'b':
		return "\b"
	case 't', '\t':
		return "\t"
	case 'n':
		return "\n"
	case 'v':
		return "\v"
	case 'f':
		return "\f"
	case 'r':
		return "\r"
	case 'e':
		return "\x1b"
	case ' ', '"', '\'', '/', '\\':
		return string(rune(c))
	case 'N':
		return "\u0085"
	case '_':
		return "\u00a0"
	case 'L':
		return "\u2028"
	case 'P':
		return "\u2029"
	}
	return ""
}

func (s *scalarReader) escape() bool {
	rest := s.text[s.i:]
	if len(rest) < 2 {
		return false
	}
	if size := breakLen(rest[1:]); size > 0 {
		// An escaped line break vanishes with the indentation after it; blank
		// lines that follow stay.
		s.i += 1 + size
		var kept strings.Builder
		n := 0
		for rest = s.text[s.i:]; n < len(rest); {
			size := breakLen(rest[n:])
			if size == 0 && !isBlank(rest[n]) {
				break
			}
			if size > 0 {
				kept.WriteString(breakValue(rest[n : n+size]))
			}
			n += max(size, 1)
		}
		s.replace(n, kept.String())
		return true
	}
	var digits int
	switch rest[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		v := escapeValue(rest[1])
		s.replace(2, v)
		return v != ""
	}
	if len(rest) < 2+digits {
		return false
	}
	code, err := strconv.ParseUint(rest[2:2+digits], 16, 32)
	if err != nil {
		return false
	}
	s.replace(2+digits, string(rune(code)))
	return true
}

// block reads a literal (|) or folded (>) scalar.
func (s *scalarReader) block(literal bool) bool {
	s.i += lineLen(s.text[s.i:]) // the indicators and a comment
	if s.i >= len(s.text) {
		return s.want == ""
	}
	s.i += breakLen(s.text[s.i:])
	headerEnd := s.i
	indent, solid := s.blockIndent()

	// What follows mirrors the definition: a break between two lines that do
	// not start with a blank folds to a space, or to nothing when empty lines
	// follow it; all other breaks are kept.
	type brk struct {
		text, textLen int
		value         string
	}
	var leading *brk     // the break that ended the last line of content
	var trailing []brk   // those of the empty lines since
	leadingBlank := true // the last line of content started with a blank
	emit := func(b brk, value string) {
		here := s.i
		s.i = b.text
		s.replace(b.textLen, value)
		s.i = here
	}
	for s.got.Len() < len(s.want) {
		// Empty lines and indentation.
		for s.i < len(s.text) {
			spaces := 0
			for spaces < indent && s.i+spaces < len(s.text) && s.text[s.i+spaces] == ' ' {
				spaces++
			}
			at := s.i + spaces
			if at >= len(s.text) {
				s.i = at
				break
			}
			size := breakLen(s.text[at:])
			if size == 0 {
				if spaces == indent {
					s.i = at
				}
				break
			}
			trailing = append(trailing, brk{at, size, breakValue(s.text[at : at+size])})
			s.i = at + size
		}
		n := lineLen(s.text[s.i:])
		if n == 0 || s.column() < indent || s.i < headerEnd {
			break
		}
		if !solid && strings.TrimLeft(s.text[s.i:s.i+n], " ") != "" {
			break // the value is nothing but blanks, so this is what follows it
		}
		blank := isBlank(s.text[s.i])
		if leading != nil {
			switch {
			case !literal && !leadingBlank && !blank && leading.value == "\n":
				if len(trailing) == 0 {
					emit(*leading, " ")
				}
			default:
				emit(*leading, leading.value)
			}
		}
		for _, b := range trailing {
			emit(b, b.value)
		}
		leading, trailing = nil, nil
		leadingBlank = blank
		s.copy(n)
		if size := breakLenAt(s.text, s.i); size > 0 {
			leading = &brk{s.i, size, breakValue(s.text[s.i : s.i+size])}
			s.i += size
		}
		if s.got.Len() == len(s.want) {
			break
		}
	}
	// Chomping: the value tells which of the final breaks are kept.
	contentEnd := s.i
	if leading != nil {
		contentEnd = leading.text
		if s.got.Len() < len(s.want) {
			emit(*leading, leading.value)
			contentEnd = leading.text + leading.textLen
		}
	}
	for _, b := range trailing {
		if s.got.Len() >= len(s.want) {
			break
		}
		emit(b, b.value)
		contentEnd = b.text + b.textLen
	}
	s.i = contentEnd
	return true
}

// column returns the number of bytes between the start of the line and s.i.
func (s *scalarReader) column() int {
	i := s.i
	for i > 0 && !endsInBreak(s.text[:i]) {
		i--
	}
	return s.i - i
}

// blockIndent returns the indentation of a block scalar's lines: what the
// first line that is not blank has more in the text than in the value. Of
// nothing but blanks, which is not solid, the longest line tells.
func (s *scalarReader) blockIndent() (indent int, solid bool) {
	first, longest, solid := leadingSpaces(s.want)
	textFirst, textLongest, _ := leadingSpaces(s.text[s.i:])
	if solid {
		return max(0, textFirst-first), true
	}
	return max(0, textLongest-longest), false
}

// leadingSpaces returns the spaces at the start of the first line of s that
// holds more than spaces, those of the longest line before it, and whether
// there is such a line.
func leadingSpaces(s string) (first, longest int, solid bool) {
	for i := 0; i < len(s); {
		if size := breakLen(s[i:]); size > 0 {
			longest = max(longest, first)
			first, i = 0, i+size
			continue
		}
		if s[i] != ' ' {
			return first, longest, true
		}
		first, i = first+1, i+1
	}
	return first, max(longest, first), false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// breakLen returns the length of the line break that s starts with, 0 for none.
func breakLen(s string) int {
	if s == "" {
		return 0
	}
	switch s[0] {
	case '\n':
		return 1
	case '\r':
		if len(s) > 1 && s[1] == '\n' {
			return 2
		}
		return 1
	case 0xc2: // NEL
		if len(s) > 1 && s[1] == 0x85 {
			return 2
		}
	case 0xe2: // LS, PS
		if len(s) > 2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9) {
			return 3
		}
	}
	return 0
}

func breakLenAt(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	return breakLen(s[i:])
}

func endsInBreak(s string) bool {
	return strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") || strings.HasSuffix(s, "\u0085") ||
		strings.HasSuffix(s, "\u2028") || strings.HasSuffix(s, "\u2029")
}

// breakValue returns what YAML reads for a line break.
func breakValue(s string) string {
	if len(s) == 3 {
		return s // LS and PS stay
	}
	return "\n"
}

// lineLen returns the length of s up to its first line break.
func lineLen(s string) int {
	for i := range len(s) {
		if breakLen(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}
