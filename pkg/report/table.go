package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// wideTable is the width from which every value has its own column. Below it
// severity and rule, and object and place, stand above each other, so that the
// message keeps enough room to be read.
const wideTable = 120

// Table writes one row a finding, one row a gap, and a row that counts.
// Suppressed findings are only counted.
func Table(w io.Writer, r Report, o Options) error {
	width := max(widthOrDefault(o), minWidth)
	paint := painter{on: o.Color}
	g := grid{paint: paint, footer: counts(r.Summary)}
	if width >= wideTable {
		free := width - frame(5)
		object, place := free*16/100, free*25/100
		g.widths = []int{10, 8, object, place, free - 18 - object - place}
		g.header = []string{"SEVERITY", "RULE", "OBJECT", "PLACE", "MESSAGE"}
	} else {
		free := width - frame(3)
		place := free * 36 / 100
		g.widths = []int{10, place, free - 10 - place}
		g.header = []string{"SEVERITY RULE", "OBJECT PLACE", "MESSAGE"}
	}
	add := func(severity func(string) string, kind, rule, object, place, message string) {
		if width >= wideTable {
			g.add(severity, kind, rule, object, place, message)
			return
		}
		g.add(severity, kind+"\n"+rule, strings.TrimPrefix(object+"\n"+place, "\n"), message)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Suppressed != nil {
			continue
		}
		object := f.Object.String()
		if f.Object.Kind == "" {
			object = ""
		}
		add(func(s string) string { return paint.severity(f.Severity, s) },
			string(f.Severity), f.Rule, object, address(f.Primary), f.Message)
	}
	for i := range r.Gaps {
		gap := &r.Gaps[i]
		object := ""
		if gap.Object != nil {
			object = gap.Object.String()
		}
		place := visible(gap.File)
		if gap.Line > 0 {
			place += ":" + strconv.Itoa(gap.Line)
		}
		add(func(s string) string { return paint.gap(gap.Kind, s) },
			string(gap.Kind), "gap", object, place, gap.What+": "+gap.Why+"; "+gap.Consequence)
	}
	if len(g.rows) == 0 {
		_, err := io.WriteString(w, newTextWriter(r, o).summary()+"\n")
		return wrapWrite(err)
	}
	return g.write(w)
}

// RulesTable writes one row a rule.
func RulesTable(w io.Writer, rules []finding.RuleMeta, o Options) error {
	width := max(widthOrDefault(o), minWidth)
	paint := painter{on: o.Color}
	g := grid{paint: paint, footer: plural(len(rules), "rule")}
	if width >= wideTable {
		free := width - frame(5)
		g.widths = []int{8, 9, 11, free * 24 / 100, free - 28 - free*24/100}
		g.header = []string{"RULE", "SEVERITY", "FAMILY", "NAME", "TITLE"}
	} else {
		free := width - frame(3)
		g.widths = []int{10, free * 36 / 100, free - 10 - free*36/100}
		g.header = []string{"RULE SEVERITY", "NAME FAMILY", "TITLE"}
	}
	for i := range rules {
		m := &rules[i]
		severity := func(s string) string { return paint.severity(m.Severity(), s) }
		if width >= wideTable {
			g.add(nil, m.ID, string(m.Severity()), m.Family, m.Name, m.Title)
			g.rows[len(g.rows)-1].paint = []func(string) string{paint.bold, severity}
			continue
		}
		g.add(nil, m.ID+"\n"+string(m.Severity()), m.Name+"\n"+m.Family, m.Title)
		g.rows[len(g.rows)-1].paint = []func(string) string{severity}
	}
	return g.write(w)
}

// frame is what borders and padding of a table take from its width.
func frame(columns int) int { return columns*3 + 1 }

// grid is a table whose cells are wrapped here, because the message's columns
// must break like prose and paths behind their slashes.
type grid struct {
	paint  painter
	header []string
	widths []int // of the text of each column
	rows   []gridRow
	footer string
}

type gridRow struct {
	cells [][]string // wrapped lines of each cell
	paint []func(string) string
}

// add appends a row. Line breaks in a cell separate values, each is wrapped.
func (g *grid) add(first func(string) string, values ...string) {
	row := gridRow{paint: []func(string) string{first}}
	for i, value := range values {
		var lines []string
		if i == len(values)-1 {
			value = strings.Join(strings.Fields(value), " ") // a message is prose
		}
		for part := range strings.SplitSeq(value, "\n") {
			if part != "" {
				lines = append(lines, wrap(simple(prose(part)), g.widths[i])...)
			}
		}
		row.cells = append(row.cells, lines)
	}
	g.rows = append(g.rows, row)
}

// simple replaces the characters whose width differs between a terminal that
// joins them and one that does not (joined emoji, variation selectors), for the
// right border's sake.
func simple(s string) string {
	var b strings.Builder
	graphemes := narrow().StringGraphemes(s)
	for graphemes.Next() {
		apart := 0
		for _, r := range graphemes.Value() {
			apart += narrow().Rune(r)
		}
		if apart == graphemes.Width() {
			b.WriteString(graphemes.Value())
			continue
		}
		for _, r := range graphemes.Value() {
			if narrow().Rune(r) > 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// write draws the grid. The library is told the widths and not to wrap, trim or
// reformat anything; its width tables are set to narrow, whatever the locale.
func (g *grid) write(w io.Writer) error {
	widths := tw.NewMapper[int, int]()
	for i, n := range g.widths {
		widths.Set(i, n+2)
	}
	section := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
	}
	footer := section
	footer.Merging = tw.CellMerging{Mode: tw.MergeHorizontal}
	table := tablewriter.NewTable(w,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: section, Row: section, Footer: footer}),
		tablewriter.WithColumnWidths(widths),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Symbols:  tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{Separators: tw.Separators{BetweenRows: tw.On}},
		})),
	)
	var header []any
	for i, title := range g.header {
		lines := wrap(title, g.widths[i])
		for j, l := range lines {
			lines[j] = g.paint.bold(l)
		}
		header = append(header, strings.Join(lines, "\n"))
	}
	table.Header(header...)
	for _, row := range g.rows {
		out := make([]string, len(row.cells))
		for i, lines := range row.cells {
			if i < len(row.paint) && row.paint[i] != nil && len(lines) > 0 {
				lines[0] = row.paint[i](lines[0])
			}
			out[i] = strings.Join(lines, "\n")
		}
		if err := table.Append(out); err != nil {
			return fmt.Errorf("building the table: %w", err)
		}
	}
	last := make([]string, len(g.header))
	for i := range last {
		last[i] = g.footer
	}
	table.Footer(last)
	return wrapWrite(table.Render())
}

func wrapWrite(err error) error {
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
