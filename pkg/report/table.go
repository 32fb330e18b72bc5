package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// wideTable is the width from which every value has its own column. Below it
// severity and rule, and object and place, stand above each other, so that the
// message keeps enough room to be read.
const wideTable = 120

// tableRow is a finding or a gap as the table shows it.
type tableRow struct {
	paint                              func(string) string
	kind, rule, object, place, message string
}

// Table writes one row a finding, one row a gap, and a row that counts.
// Suppressed findings are only counted.
func Table(w io.Writer, r Report, o Options) error {
	width := max(widthOrDefault(o), minWidth)
	paint := painter{on: o.Color}
	rows := tableRows(r, paint, o.Dir)
	if len(rows) == 0 {
		_, err := io.WriteString(w, newTextWriter(r, o).summary()+"\n")
		return writing(err)
	}
	kind, object, place := len("SEVERITY"), 0, 0
	for _, row := range rows {
		kind = max(kind, len(row.kind))
		object, place = max(object, widthOf(row.object)), max(place, widthOf(row.place))
	}
	g := grid{paint: paint, footer: counts(r.Summary)}
	if width < wideTable {
		free := width - frame(3)
		place = clampInt(max(object, place), len("OBJECT"), free*36/100)
		g.widths = []int{kind, place, free - kind - place}
		g.header = []string{"SEVERITY\nRULE", "OBJECT\nPLACE", "MESSAGE"}
		for _, row := range rows {
			g.add(row.paint, row.kind+"\n"+row.rule, row.object+"\n"+row.place, row.message)
		}
		return g.write(w)
	}
	free := width - frame(5)
	rule := len("VPN101")
	object = clampInt(object, len("OBJECT"), free*20/100)
	place = clampInt(place, len("PLACE"), free*30/100)
	g.widths = []int{kind, rule, object, place, free - kind - rule - object - place}
	g.header = []string{"SEVERITY", "RULE", "OBJECT", "PLACE", "MESSAGE"}
	for _, row := range rows {
		g.add(row.paint, row.kind, row.rule, row.object, row.place, row.message)
	}
	return g.write(w)
}

func tableRows(r Report, paint painter, dir string) []tableRow {
	var rows []tableRow
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Suppressed != nil {
			continue
		}
		row := tableRow{
			paint: func(s string) string { return paint.severity(f.Severity, s) },
			kind:  string(f.Severity), rule: f.Rule, place: address(f.Primary, dir), message: f.Message,
		}
		if clusters := r.clustersOf(f); clusters != "" && !strings.HasPrefix(f.Message, "in "+clusters+", ") {
			row.message += " (" + clusters + ")"
		}
		if r.showsSets(f) {
			row.message += " (values " + strings.Join(f.ValueSets, ", ") + ")"
		}
		if f.Object.Kind != "" {
			row.object = prose(f.Object.String())
		}
		rows = append(rows, row)
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		row := tableRow{
			paint: func(s string) string { return paint.gap(g.Kind, s) },
			kind:  string(g.Kind), rule: "gap", place: visible(spoken(g.File, dir)),
			message: g.What + ": " + g.Why + "; " + g.Consequence,
		}
		if g.Line > 0 {
			row.place += ":" + strconv.Itoa(g.Line)
		}
		if g.Object != nil {
			row.object = prose(g.Object.String())
		}
		rows = append(rows, row)
	}
	return rows
}

// RulesTable writes one row a rule.
func RulesTable(w io.Writer, rules []finding.RuleMeta, o Options) error {
	width := max(widthOrDefault(o), minWidth)
	paint := painter{on: o.Color}
	name, family := len("NAME"), len("FAMILY")
	for i := range rules {
		name, family = max(name, widthOf(rules[i].Name)), max(family, widthOf(rules[i].Family))
	}
	g := grid{paint: paint, footer: plural(len(rules), "rule")}
	rule, severity := len("VPN101"), len("SEVERITY")
	for i := range rules {
		rule = max(rule, widthOf(rules[i].ID))
		for _, s := range severities(&rules[i]) {
			severity = max(severity, len(s))
		}
	}
	if width < wideTable {
		free := width - frame(3)
		name = min(max(name, family), free*42/100)
		severity = max(rule, severity)
		g.widths = []int{severity, name, free - severity - name}
		g.header = []string{"RULE\nSEVERITY", "NAME\nFAMILY", "TITLE"}
	} else {
		free := width - frame(5)
		name, family = min(name, free*28/100), min(family, free*12/100)
		for i := range rules {
			severity = max(severity, len(strings.Join(severities(&rules[i]), " ")))
		}
		g.widths = []int{rule, severity, family, name, free - rule - severity - family - name}
		g.header = []string{"RULE", "SEVERITY", "FAMILY", "NAME", "TITLE"}
	}
	for i := range rules {
		m := &rules[i]
		painted := func(s string) string { return paint.severity(m.Severity(), s) }
		all := strings.Join(severities(m), " ")
		if width < wideTable {
			g.add(paint.bold, m.ID+"\n"+all, m.Name+"\n"+m.Family, m.Title)
			continue
		}
		g.add(paint.bold, m.ID, all, m.Family, m.Name, m.Title)
		g.rows[len(g.rows)-1].paint = []func(string) string{paint.bold, painted}
	}
	return g.write(w)
}

// severities are a rule's, the default first, each with a comma but the last.
func severities(m *finding.RuleMeta) []string {
	out := make([]string, len(m.Severities))
	for i, s := range m.Severities {
		out[i] = string(s)
		if i < len(out)-1 {
			out[i] += ","
		}
	}
	return out
}

func clampInt(n, low, high int) int { return max(low, min(n, high)) }

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
				lines = append(lines, wrap(simple(unmarked(prose(part))), g.widths[i])...)
			}
		}
		row.cells = append(row.cells, lines)
	}
	g.rows = append(g.rows, row)
}

// simple replaces the characters that the table library, which adds up code
// points, counts otherwise than a terminal, which joins them: joined emoji come
// apart, flags are spelled out. The right border depends on it.
func simple(s string) string {
	counted := func(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{EastAsianWidth: false}) }
	if counted(s) == widthOf(s) {
		return s
	}
	var b strings.Builder
	graphemes := narrow().StringGraphemes(s)
	for graphemes.Next() {
		g := graphemes.Value()
		if counted(g) != graphemes.Width() {
			g = strings.Map(func(r rune) rune {
				if narrow().Rune(r) == 0 {
					return -1
				}
				return r
			}, g)
		}
		if counted(g) == widthOf(g) {
			b.WriteString(g)
			continue
		}
		for _, r := range g {
			b.WriteString(escapeRune(r))
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
	var out strings.Builder // the library does not report a writer's errors
	table := tablewriter.NewTable(&out,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithConfig(tablewriter.Config{Header: section, Row: section, Footer: section}),
		tablewriter.WithColumnWidths(widths),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Symbols:  tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{Separators: tw.Separators{BetweenRows: tw.On}},
		})),
	)
	var header []any
	for i, title := range g.header {
		var lines []string
		for part := range strings.SplitSeq(title, "\n") {
			lines = append(lines, wrap(part, g.widths[i])...)
		}
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
	last[0], last[len(last)-1] = "total", strings.Join(wrap(g.footer, g.widths[len(last)-1]), "\n")
	table.Footer(last)
	if err := table.Render(); err != nil {
		return fmt.Errorf("drawing the table: %w", err)
	}
	_, err := io.WriteString(w, out.String())
	return writing(err)
}

// writing says what failed when a writer did.
func writing(err error) error {
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
