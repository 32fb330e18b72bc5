package report

import (
	"io"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Page writes a page of documentation, given as Markdown, for people who read it
// in a terminal: without the marks, wrapped, links with their addresses.
func Page(w io.Writer, markdown string, o Options) error {
	source := []byte(markdown)
	p := pageWriter{source: source, width: min(max(widthOrDefault(o), minWidth), maxProse), paint: painter{on: o.Color}}
	document := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	p.blocks(document, "", "")
	_, err := io.WriteString(w, p.b.String())
	return writing(err)
}

type pageWriter struct {
	source []byte
	width  int
	paint  painter
	b      strings.Builder
}

// line writes one line; all text is of the user's rules, too.
func (p *pageWriter) line(s string) {
	p.b.WriteString(neutral(strings.TrimRight(s, " ")))
	p.b.WriteByte('\n')
}

// blocks writes the children of a block, apart from each other. first is what
// stands before the first line, indent before all others.
func (p *pageWriter) blocks(parent ast.Node, first, indent string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight(n) {
			p.line("")
		}
		p.block(n, first, indent)
		first = indent
	}
}

// tight reports whether a block follows the one before without an empty line.
func tight(n ast.Node) bool {
	if list, ok := n.Parent().(*ast.List); ok {
		return list.IsTight
	}
	return n.Kind() == ast.KindList && n.Parent().Kind() == ast.KindListItem
}

func (p *pageWriter) block(n ast.Node, first, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		for _, l := range fill(p.inline(n), p.width-len(indent)) {
			p.line(first + p.paint.bold(l))
			first = indent
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		lines := n.Lines()
		for i := range lines.Len() {
			at := lines.At(i)
			p.line(indent + "    " + visible(strings.TrimRight(string(at.Value(p.source)), "\n")))
		}
	case *ast.List, *ast.Blockquote:
		p.blocks(n, first, indent)
	case *ast.ListItem:
		m := marker(n)
		p.blocks(n, first+m, indent+strings.Repeat(" ", len(m)))
	case *extensionast.Table:
		p.table(n, indent)
	case *ast.HTMLBlock, *ast.ThematicBreak:
	default:
		for _, l := range fill(p.inline(n), p.width-len(indent)) {
			p.line(first + l)
			first = indent
		}
	}
}

// marker is what stands before an item of a list.
func marker(item *ast.ListItem) string {
	list, ok := item.Parent().(*ast.List)
	if !ok || !list.IsOrdered() {
		return "- "
	}
	number := list.Start
	for n := item.PreviousSibling(); n != nil; n = n.PreviousSibling() {
		number++
	}
	return strconv.Itoa(number) + ". "
}

// table writes aligned columns.
func (p *pageWriter) table(table *extensionast.Table, indent string) {
	var rows [][]string
	var widths []int
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			s := p.inline(cell)
			if len(cells) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], widthOf(s))
			cells = append(cells, s)
		}
		rows = append(rows, cells)
	}
	for i, cells := range rows {
		line := indent
		for j, s := range cells {
			padded := s + strings.Repeat(" ", widths[j]-widthOf(s)+2)
			if i == 0 {
				padded = p.paint.label(s) + strings.Repeat(" ", widths[j]-widthOf(s)+2)
			}
			line += padded
		}
		p.line(line)
	}
}

// inline returns the text inside a block as one line of visible text.
func (p *pageWriter) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(p.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString("`" + p.inline(n) + "`")
		case *ast.Link:
			b.WriteString(linked(p.inline(n), string(n.Destination)))
		case *ast.AutoLink:
			b.Write(n.URL(p.source))
		case *ast.RawHTML:
		default:
			b.WriteString(p.inline(n))
		}
	}
	return prose(b.String())
}

// linked is a link's text with its address behind it.
func linked(says, address string) string {
	if says == "" || says == address {
		return address
	}
	return says + " <" + address + ">"
}

// fill breaks text at blanks only: an address that is cut is no link any more.
func fill(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && widthOf(line)+1+widthOf(word) > width {
			lines = append(lines, line)
			line = word
			continue
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
