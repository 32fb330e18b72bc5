package fix

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// errOverlap: two edits touch one place.
var errOverlap = errors.New("two edits touch one place")

// span is the bytes that an edit replaces.
type span struct{ start, end int }

func spanOf(f *source.File, e finding.Edit) span {
	return span{f.Offset(e.At.Span.Start), f.Offset(e.At.Span.End)}
}

// empty: nothing is replaced, so that the edit inserts.
func (s span) empty() bool { return s.start == s.end }

// meets reports whether two edits touch one place: their bytes overlap, or both
// insert at one point, so that an order would have to be guessed.
func (s span) meets(o span) bool {
	if s.start == o.start {
		return true
	}
	return s.start < o.end && o.start < s.end
}

// edited is the text of a file with edits applied.
func edited(f *source.File, edits []finding.Edit) (string, error) {
	if f == nil {
		return "", errors.New("the file was not linted")
	}
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b finding.Edit) int { return cmp.Compare(spanOf(f, a).start, spanOf(f, b).start) })
	var b strings.Builder
	at := 0
	for i, e := range edits {
		s := spanOf(f, e)
		if i > 0 && s.meets(spanOf(f, edits[i-1])) {
			return "", fmt.Errorf("%s:%d: %w", f.Path(), e.At.Span.Start.Line, errOverlap)
		}
		b.WriteString(f.Text()[at:s.start])
		b.WriteString(e.Text)
		at = s.end
	}
	b.WriteString(f.Text()[at:])
	return b.String(), nil
}

// filesOf are the files that edits change, sorted.
func filesOf(edits []finding.Edit) []string {
	var out []string
	for _, e := range edits {
		out = append(out, e.At.File)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func editsIn(edits []finding.Edit, file string) []finding.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e finding.Edit) bool { return e.At.File != file })
}

// replace is the edit of the bytes [start, end) of a file.
func replace(f *source.File, start, end int, text string) finding.Edit {
	return finding.Edit{At: source.Location{File: f.Path(), Span: f.Span(start, end), Precision: source.Exact}, Text: text}
}
