package source

import (
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// File is a text with its lines; it is the only converter between byte
// offsets, code points and UTF-16 units in the program. It is immutable and
// safe for concurrent use.
type File struct {
	path  string
	text  string
	lines []int // byte offset of the start of each line
}

// NewFile indexes the lines of text. path is a slash path relative to the
// working directory.
func NewFile(path, text string) *File {
	lines := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	return &File{path: path, text: text, lines: lines}
}

// Path returns the path given to NewFile.
func (f *File) Path() string { return f.path }

// Text returns the whole text as it was given, line breaks included.
func (f *File) Text() string { return f.text }

// Lines returns the number of lines; a final newline starts no further line.
func (f *File) Lines() int {
	if n := len(f.lines); n > 1 && f.lines[n-1] == len(f.text) {
		return n - 1
	}
	return len(f.lines)
}

// Line returns line n (1-based) without its line break, "" outside the file.
func (f *File) Line(n int) string {
	start, end, ok := f.lineBounds(n)
	if !ok {
		return ""
	}
	return f.text[start:end]
}

func (f *File) lineBounds(n int) (start, end int, ok bool) {
	if n < 1 || n > len(f.lines) {
		return 0, 0, false
	}
	start, end = f.lines[n-1], len(f.text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.text[end-1] == '\r' {
		end--
	}
	return start, end, true
}

// Position converts a byte offset; offsets outside the text are clamped.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.text))
	line := sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset })
	return Position{Line: line, Column: 1 + utf8.RuneCountInString(f.text[f.lines[line-1]:offset])}
}

// Span converts the byte range [start, end) of the text; both are clamped to it, and
// an end before the start counts as the start.
func (f *File) Span(start, end int) Span {
	return Span{Start: f.Position(start), End: f.Position(max(start, end))}
}

// Offset converts a position to a byte offset, clamped to its line.
func (f *File) Offset(p Position) int {
	start, end, ok := f.lineBounds(p.Line)
	if !ok {
		if p.Line < 1 {
			return 0
		}
		return len(f.text)
	}
	off := start
	for col := 1; col < p.Column && off < end; col++ {
		_, size := utf8.DecodeRuneInString(f.text[off:])
		off += size
	}
	return off
}

// UTF16 converts a position's column to UTF-16 code units, as SARIF viewers
// and editors count them. The result is 1-based.
func (f *File) UTF16(p Position) int {
	start, _, ok := f.lineBounds(p.Line)
	if !ok {
		return p.Column
	}
	units := 1
	for _, r := range f.text[start:f.Offset(p)] {
		units += max(1, utf16.RuneLen(r))
	}
	return units
}
