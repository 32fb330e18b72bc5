package report

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// toolName is what the program calls itself in machine-readable formats.
const toolName = "vpnlint"

// stdin is the file name of standard input.
const stdin = "stdin"

// known reports whether a location names a line.
func known(l source.Location) bool { return l.Span.Start.Line > 0 && l.Precision != source.WholeFile }

// precisionOf never claims more than the location can show.
func precisionOf(l source.Location) source.Precision {
	if l.Span.Start.Line < 1 || l.Precision == "" {
		return source.WholeFile
	}
	return l.Precision
}

// normal returns the span with 1-based ends in order; unknown becomes the first
// character of the file.
func normal(s source.Span) source.Span {
	s.Start.Line = max(s.Start.Line, 1)
	s.Start.Column = max(s.Start.Column, 1)
	if s.End.Line < s.Start.Line || s.End.Line == s.Start.Line && s.End.Column < s.Start.Column {
		s.End = s.Start
	}
	s.End.Column = max(s.End.Column, 1)
	return s
}

// address is file:line:col, as editors and terminals make links of it; only the
// file when no line is known.
func address(l source.Location, dir string) string {
	file := visible(spoken(l.File, dir))
	if !known(l) {
		return file
	}
	s := normal(l.Span)
	return file + ":" + strconv.Itoa(s.Start.Line) + ":" + strconv.Itoa(s.Start.Column)
}

// spoken returns a path as people write it: nobody leads from dir up to the very
// root and down again to /dev/null.
func spoken(file, dir string) string {
	const up = "../"
	climbs := 0
	for rest := file; strings.HasPrefix(rest, up); rest = rest[len(up):] {
		climbs++
	}
	parts := strings.Count(filepath.ToSlash(filepath.Clean(dir)), "/")
	if climbs == 0 || dir == "" || climbs != parts {
		return file
	}
	return filepath.ToSlash(filepath.Join(dir, filepath.FromSlash(file)))
}
