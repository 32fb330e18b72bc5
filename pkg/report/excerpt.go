package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// excerpts writes the line of the finding with its place marked, and below it
// the related places, each with its own line. They share one gutter.
func (t *textWriter) excerpts(f *finding.Finding) {
	gutter := 0
	widen := func(l source.Location) {
		if known(l) {
			gutter = max(gutter, len(strconv.Itoa(l.Span.Start.Line)))
		}
	}
	widen(f.Primary)
	for _, n := range f.Related {
		widen(n.At)
	}
	t.excerpt(f.Primary, gutter, func(s string) string { return t.paint.severity(f.Severity, s) }, "^")
	for _, n := range f.Related {
		where := address(n.At, t.dir)
		if n.At.File == f.Primary.File && known(n.At) {
			where = t.place(n.At) // the header above names the file
		}
		text := t.paint.place(where)
		says := prose(n.Says)
		room := t.prose - len(indent) - widthOf(where) - 1
		switch {
		case widthOf(says) <= room:
			t.line(indent + text + " " + says)
		default:
			t.line(indent + text)
			for _, l := range wrap(says, t.prose-len(indent)-2) {
				t.line(indent + "  " + l)
			}
		}
		t.excerpt(n.At, gutter, t.paint.label, "-")
	}
}

// excerpt writes one line of a file and a line of marks under the span. It
// writes nothing when the text or the line is not known.
func (t *textWriter) excerpt(l source.Location, gutter int, paint func(string) string, mark string) {
	file := t.report.Files[l.File]
	if file == nil || !known(l) || l.Span.Start.Line > file.Lines() {
		return
	}
	span := normal(l.Span)
	if t.cellsFile != l.File || t.cellsLine != span.Start.Line {
		t.cells, t.cellsFile, t.cellsLine = cells(file.Line(span.Start.Line)), l.File, span.Start.Line
	}
	line := t.cells
	first, last := marked(line, span)
	room := t.width - len(indent) - gutter - len(" | ")
	shown, offset, width := window(line, first, last, room)

	bar := t.paint.dim("|")
	number := t.paint.dim(fmt.Sprintf("%*d", gutter, span.Start.Line))
	t.line(indent + number + " " + bar + " " + shown)
	t.line(indent + strings.Repeat(" ", gutter) + " " + bar + " " +
		strings.Repeat(" ", offset) + paint(strings.Repeat(mark, width)))
}

// marked returns the half-open range of the cells that a span covers on its
// first line. A place between two characters marks the one behind it; index
// len(line) stands for the end of the line.
func marked(line []cell, span source.Span) (first, last int) {
	column := 1
	first, last = -1, -1
	for i, c := range line {
		next := column + c.runes
		if first < 0 && next > span.Start.Column {
			first = i
		}
		if span.End.Line == span.Start.Line && column < span.End.Column || span.End.Line > span.Start.Line {
			last = i + 1
		}
		column = next
	}
	if first < 0 {
		return len(line), len(line) + 1
	}
	return first, max(last, first+1)
}

// cut is what stands for text that was left out of a line.
const cut = "..."

// window shows the part of a line around the marked cells that fits into room
// terminal cells. It returns the text, the cells before the mark and the width
// of the mark, which is cut with the line.
func window(line []cell, first, last, room int) (shown string, offset, width int) {
	room = max(room, 16)
	total := 0
	for _, c := range line {
		total += c.width
	}
	from, to := 0, len(line)
	if total > room {
		from, to = around(line, first, room)
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString(cut)
		offset += len(cut)
	}
	for i := from; i < to; i++ {
		b.WriteString(line[i].shows)
		switch {
		case i < first:
			offset += line[i].width
		case i < last:
			width += line[i].width
		}
	}
	if to < len(line) {
		b.WriteString(cut)
	}
	return b.String(), offset, max(width, 1)
}

// around picks the cells to show of a line that is too long: the mark with a
// third of the room before it, or the start of the line when the mark is near.
func around(line []cell, first, room int) (from, to int) {
	room -= 2 * len(cut)
	from = min(first, len(line))
	before := 0
	for from > 0 && before+line[from-1].width <= room/3 {
		from--
		before += line[from].width
	}
	if from > 0 && sum(line[:from]) <= len(cut) {
		before += sum(line[:from])
		from = 0
	}
	used := before
	to = min(first, len(line))
	for to < len(line) && used+line[to].width <= room {
		used += line[to].width
		to++
	}
	// Room that is left behind a mark near the end of the line goes before it.
	for from > 0 && used+line[from-1].width <= room {
		from--
		used += line[from].width
	}
	return from, to
}

func sum(line []cell) int {
	total := 0
	for _, c := range line {
		total += c.width
	}
	return total
}

// maxFixLines bounds what one fix shows; the JSON output has it all.
const maxFixLines = 12

// fix writes a fix as its title and the lines that it removes and adds.
func (t *textWriter) fix(f *finding.Fix) {
	text := prose(f.Title)
	switch f.Proof {
	case finding.Rendered:
		text += " (tried: the finding is gone, no other comes)"
	case finding.Computed:
		text += " (computed)"
	}
	t.label("fix", text)
	if f.Review != "" {
		t.label("decide first", prose(f.Review))
	}
	for _, h := range hunks(t.report.Files, f.Edits) {
		t.line(indent + "  " + t.paint.dim(visible(h.file)+":"+strconv.Itoa(h.line)))
		for i, l := range h.diff {
			if i == maxFixLines {
				t.line(indent + "  " + t.paint.dim(cut+" "+plural(len(h.diff)-i, "more line")))
				break
			}
			var b strings.Builder
			for _, c := range cells(l.text) {
				b.WriteString(c.shows)
			}
			if l.added {
				t.line(indent + "  " + t.paint.added("+ "+b.String()))
			} else {
				t.line(indent + "  " + t.paint.removed("- "+b.String()))
			}
		}
	}
}

// hunk is a run of neighbouring lines that a fix changes.
type hunk struct {
	file string
	line int // the first, 1-based
	diff []diffLine
}

type diffLine struct {
	added bool
	text  string
}

// hunks turns edits into the lines that go and come. Edits of files whose text
// is not known are left out.
func hunks(files map[string]*source.File, edits []finding.Edit) []hunk {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b finding.Edit) int {
		if c := strings.Compare(a.At.File, b.At.File); c != 0 {
			return c
		}
		sa, sb := normal(a.At.Span), normal(b.At.Span)
		if sa.Start.Line != sb.Start.Line {
			return sa.Start.Line - sb.Start.Line
		}
		return sa.Start.Column - sb.Start.Column
	})
	var out []hunk
	for i := 0; i < len(sorted); {
		file := files[sorted[i].At.File]
		if file == nil || !known(sorted[i].At) {
			i++
			continue
		}
		first := normal(sorted[i].At.Span).Start.Line
		last := first
		group := i
		for ; i < len(sorted) && sorted[i].At.File == sorted[group].At.File; i++ {
			s := normal(sorted[i].At.Span)
			if i > group && s.Start.Line > last {
				break
			}
			last = max(last, lastLine(s))
		}
		out = append(out, newHunk(file, first, min(last, file.Lines()), sorted[group:i]))
	}
	return out
}

// lastLine is the last line that a span touches: a span that ends before the
// first character of a line does not touch it.
func lastLine(s source.Span) int {
	if s.End.Line > s.Start.Line && s.End.Column == 1 {
		return s.End.Line - 1
	}
	return s.End.Line
}

func newHunk(file *source.File, first, last int, edits []finding.Edit) hunk {
	from := file.Offset(source.Position{Line: first, Column: 1})
	to := file.Offset(source.Position{Line: last + 1, Column: 1})
	if last+1 > file.Lines() {
		to = len(file.Text())
	}
	before := file.Text()[from:to]
	var after strings.Builder
	at := from
	for _, e := range edits {
		s := normal(e.At.Span)
		start := min(max(file.Offset(s.Start), at), to)
		after.WriteString(file.Text()[at:start])
		after.WriteString(e.Text)
		at = min(max(file.Offset(s.End), start), to)
	}
	after.WriteString(file.Text()[at:to])

	removed, added := textLines(before), textLines(after.String())
	// Lines that stay the same at either end say nothing.
	line := first
	for len(removed) > 0 && len(added) > 0 && removed[0] == added[0] {
		removed, added = removed[1:], added[1:]
		line++
	}
	for len(removed) > 0 && len(added) > 0 && removed[len(removed)-1] == added[len(added)-1] {
		removed, added = removed[:len(removed)-1], added[:len(added)-1]
	}
	h := hunk{file: file.Path(), line: line}
	for _, l := range removed {
		h.diff = append(h.diff, diffLine{text: l})
	}
	for _, l := range added {
		h.diff = append(h.diff, diffLine{added: true, text: l})
	}
	return h
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}
