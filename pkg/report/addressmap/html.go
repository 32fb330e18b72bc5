package addressmap

import (
	"fmt"
	"io"
	"strings"
)

// Page is a map with tables below it. Tables without rows are left out.
type Page struct {
	Map    Map
	Note   string
	Tables []Table
}

// Table is what a page lists.
type Table struct {
	Heading string
	Columns []string
	Rows    []Row
}

// Row has a cell for each column of its table.
type Row []Cell

// Cell is a text and links, each on lines of their own.
type Cell struct {
	Text string
	More []Link
	// Code: the text is there to be copied as it is.
	Code bool
}

// Link is a text that leads somewhere, To "" for nowhere.
type Link struct{ Text, To string }

const pageStyle = `:root{color-scheme:light dark}
body{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;margin:24px;color:#1f2328;background:#ffffff}
main{max-width:1280px;margin:0 auto}
.map{max-width:100%;height:auto}
.scroll{overflow-x:auto}
h1{font-size:20px}
h2{font-size:16px;margin:28px 0 8px}
table{border-collapse:collapse}
th,td{text-align:left;vertical-align:top;padding:5px 12px;border-bottom:1px solid #d1d9e0;overflow-wrap:break-word}
th{color:#59636e;font-weight:600;white-space:nowrap}
td{white-space:pre-line;min-width:4em}
td.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;white-space:pre-wrap}
a{color:#0969da;overflow-wrap:anywhere}
/* Where the map would shrink below what can be read, it scrolls; rows become cards. */
@media (max-width: 860px){
body{margin:16px}
.map{max-width:none}
table,tbody,tr,td{display:block}
thead{position:absolute;left:-9999px}
tr{border:1px solid #d1d9e0;border-radius:8px;margin:0 0 10px;padding:4px 0}
td{border:0;padding:2px 12px 2px 112px;position:relative}
td:empty{display:none}
td[data-label]::before{content:attr(data-label);position:absolute;left:12px;color:#59636e;font:600 12px/20px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif}
}
@media (prefers-color-scheme: dark){
body{color:#f0f6fc;background:#0d1117}
th,td,tr{border-color:#3d444d}
th,td[data-label]::before{color:#9198a1}
a{color:#58a6ff}
}
`

// HTML writes a page of its own: no script, no font, no picture from elsewhere.
func HTML(w io.Writer, p Page) error {
	d := &drawing{}
	title := escape(p.Map.Title)
	d.line("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>")
	// Nothing but the styles in this file may act, whatever a name in it holds.
	d.line(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>`)
	d.line("<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>", title, pageStyle, title)
	p.Map.Title = ""
	if len(p.Map.Groups) > 0 {
		d.line(`<div class="scroll">`)
		d.WriteString(svg(p.Map))
		d.line("</div>")
	}
	if p.Note != "" {
		d.line("<p>%s</p>", escape(p.Note))
	}
	for _, t := range p.Tables {
		d.table(t)
	}
	d.line("</main>\n</body>\n</html>")
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("writing the map: %w", err)
	}
	return nil
}

func (d *drawing) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	d.line("<h2>%s</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr>", escape(t.Heading))
	for _, c := range t.Columns {
		d.line(`<th scope="col">%s</th>`, escape(c))
	}
	d.line("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		d.line("<tr>")
		for i, c := range row {
			label := ""
			if i < len(t.Columns) && t.Columns[i] != "" {
				label = ` data-label="` + escape(t.Columns[i]) + `"`
			}
			lines := strings.Split(c.Text, "\n")
			for j, l := range lines {
				lines[j] = escape(l)
			}
			if c.Text == "" {
				lines = nil
			}
			for _, l := range c.More {
				if l.To == "" {
					lines = append(lines, escape(l.Text))
					continue
				}
				lines = append(lines, `<a href="`+escape(l.To)+`">`+escape(l.Text)+"</a>")
			}
			class := ""
			if c.Code {
				class = ` class="code"`
			}
			d.line("<td%s%s>%s</td>", class, label, strings.Join(lines, "\n"))
		}
		d.line("</tr>")
	}
	d.line("</tbody>\n</table>\n</div>")
}
