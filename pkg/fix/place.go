package fix

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// place is a node of a file and those around it, the outermost first.
type place struct {
	text  loader.Text
	above []*yaml.Node
	node  *yaml.Node
}

func textsCache() map[string][]loader.Text { return map[string][]loader.Text{} }

// textsOf are the YAML documents of a file of the report.
func (c *sight) textsOf(file string) []loader.Text {
	texts, known := c.texts[file]
	if f := c.Report.Files[file]; !known && f != nil {
		texts = loader.Texts(f, c.Options.Load.Limits)
		c.texts[file] = texts
	}
	return texts
}

// blockAt finds the block mapping whose first key stands at a location: how an
// Origin points at an object, a container, a securityContext.
func (c *sight) blockAt(at source.Location) (place, bool) {
	return c.blocks(at, func(text loader.Text, n *yaml.Node, _ []*yaml.Node, offset int) bool {
		return text.Start(n.Content[0]) == offset
	})
}

// blocks finds the innermost block mapping that fits what stands at a location.
func (c *sight) blocks(at source.Location, fits func(text loader.Text, n *yaml.Node, above []*yaml.Node, offset int) bool) (place, bool) {
	f := c.Report.Files[at.File]
	if at.Precision != source.Exact || at.Inner != "" || f == nil {
		return place{}, false
	}
	offset := f.Offset(at.Span.Start)
	for _, text := range c.textsOf(at.File) {
		var found place
		var search func(n *yaml.Node, above []*yaml.Node)
		search = func(n *yaml.Node, above []*yaml.Node) {
			if isBlock(n) && n.Kind == yaml.MappingNode && fits(text, n, above, offset) {
				found = place{text: text, above: slices.Clone(above), node: n}
			}
			for _, inner := range n.Content {
				search(inner, append(above, n))
			}
		}
		search(text.Root, nil)
		if found.node != nil {
			return found, true
		}
	}
	return place{}, false
}

// written finds where a field was written, for those who edit it there. A chart's
// templates are not edited: they have values for that.
func (c *sight) written(r source.Ref) source.Location {
	o := c.object(r.Object)
	if o == nil || o.Input == source.Chart {
		return source.Location{}
	}
	return o.Origin.Locate(r).Primary
}

// exact returns the bytes of a file that are the text at a reference and nothing
// else: no quotes, no escapes, one line.
func (c *sight) exact(r source.Ref, text string) (f *source.File, s span, ok bool) {
	at := c.written(r)
	f = c.Report.Files[at.File]
	if f == nil || at.Precision != source.Exact || at.Inner != "" || text == "" {
		return nil, span{}, false
	}
	s = span{f.Offset(at.Span.Start), f.Offset(at.Span.End)}
	return f, s, f.Text()[s.start:s.end] == text
}

// containerAt is where a container is written: an item of a list, or what stands
// under its name, at which an Origin points then.
func (c *sight) containerAt(k *facts.Container) (place, bool) {
	at := c.written(k.Ref)
	named, ok := c.blocks(at, func(text loader.Text, n *yaml.Node, above []*yaml.Node, offset int) bool {
		if len(above) == 0 || !isBlock(above[len(above)-1]) {
			return false
		}
		holder := above[len(above)-1]
		i := slices.Index(holder.Content, n)
		image, _ := field(n, "image")
		return holder.Kind == yaml.MappingNode && i > 0 && image != nil && text.Start(holder.Content[i-1]) == offset
	})
	if ok {
		return named, true
	}
	return c.blockAt(at)
}

// isBlock: a collection that is written over lines, not in brackets, and that
// shares nothing with another place of the file: no anchor, no merged keys, which
// a key that is added would hide.
func isBlock(n *yaml.Node) bool {
	if n.Style&yaml.FlowStyle != 0 || n.Anchor != "" || len(n.Content) == 0 {
		return false
	}
	key, _ := field(n, "<<")
	return key == nil
}

// parent is the n-th node above the place, nil where there is none.
func (p place) parent(n int) *yaml.Node {
	if n > len(p.above) {
		return nil
	}
	return p.above[len(p.above)-n]
}

// at is the place of a node that lies in the same document.
func (p place) at(n *yaml.Node) place { return place{text: p.text, node: n} }

// field returns the key and value of a mapping's field, nil for none.
func field(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			key, value = n.Content[i], n.Content[i+1]
		}
	}
	return key, value
}

// column is the indentation of a block's lines: of a mapping's keys, of the dashes
// of a list.
func (p place) column() int {
	f, first := p.text.File, p.text.Start(p.node.Content[0])
	line := f.Text()[lineStart(f.Text(), first):first]
	if p.node.Kind == yaml.MappingNode {
		return len(line)
	}
	return max(0, strings.LastIndexByte(line, '-'))
}

// step is how far the file indents a mapping inside of a mapping around here, and
// dash how far a list: as the first of each does.
func (p place) step() (step, dash int) {
	step, dash = -1, -1
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0; i += 2 {
			value := n.Content[i+1]
			if !isBlock(value) {
				continue
			}
			by := p.at(value).column() - p.at(n).column()
			switch {
			case value.Kind == yaml.MappingNode && step < 0 && by > 0:
				step = by
			case value.Kind == yaml.SequenceNode && dash < 0 && by >= 0:
				dash = by
			}
		}
		for _, inner := range n.Content {
			walk(inner)
		}
	}
	walk(p.text.Root)
	if step < 1 {
		step = 2
	}
	if dash < 0 {
		dash = step
	}
	return step, dash
}

// bullet is how the items of a list begin around here: the dash and as many blanks
// as the list itself has behind it, else the first of the file.
func (p place) bullet() string {
	text := p.text.File.Text()
	width := 0
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.SequenceNode && isBlock(n) && width == 0 {
			first := p.text.Start(n.Content[0])
			line := text[lineStart(text, first):first]
			if dash := strings.LastIndexByte(line, '-'); dash >= 0 && strings.TrimSpace(line[dash+1:]) == "" {
				width = len(line) - dash
			}
		}
		for _, inner := range n.Content {
			walk(inner)
		}
	}
	walk(p.node)
	if width == 0 {
		walk(p.text.Root)
	}
	return "-" + pad(max(width, len("- "))-1)
}

// listed are the lines of an item of a list that begins with a bullet.
func listed(bullet string, lines ...string) []string {
	out := indented(len(bullet), lines)
	out[0] = bullet + lines[0]
	return out
}

func lineStart(text string, offset int) int { return strings.LastIndexByte(text[:offset], '\n') + 1 }

// lineEnd is the offset of the break that ends the line of offset, or of the end
// of the text.
func lineEnd(text string, offset int) int {
	end := len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	if end > offset && text[end-1] == '\r' {
		end--
	}
	return end
}

// lineBreak is the file's own.
func lineBreak(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// last returns the offset of the end of the node's last line, comments behind it
// included.
func (p place) last() int {
	text := p.text.File.Text()
	end := p.text.End(p.node)
	if end > 0 && text[end-1] == '\n' { // a block scalar ends with its line break
		end = lineEnd(text, lineStart(text, end-1))
	}
	return lineEnd(text, end)
}

// before returns the offset of the end of the line before the one in which the
// node starts and before the comments that belong to it.
func (p place) before() (int, bool) {
	text := p.text.File.Text()
	start := lineStart(text, p.text.Start(p.node))
	indent := text[start:p.text.Start(p.node)]
	for start > 0 {
		above := lineStart(text, start-1)
		line := text[above:start]
		if !strings.HasPrefix(line, indent+"#") {
			break
		}
		start = above
	}
	if start == 0 {
		return 0, false
	}
	return lineEnd(text, lineStart(text, start-1)), true
}

// insert is the edit that puts lines, indented by column, behind the line that
// ends at offset.
func (p place) insert(offset, column int, lines []string) finding.Edit {
	f := p.text.File
	eol := lineBreak(f.Text())
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(eol)
		if line != "" {
			b.WriteString(pad(column) + line)
		}
	}
	return replace(f, offset, offset, b.String())
}

// addField is the edit that gives a block mapping a further field, behind the
// last of the named ones that it has, else at its end.
func (p place) addField(lines []string, behind ...string) finding.Edit {
	at := p.at(p.node.Content[len(p.node.Content)-1])
	found := false
	for i := 0; i+1 < len(p.node.Content); i += 2 {
		if slices.Contains(behind, p.node.Content[i].Value) {
			at, found = p.at(p.node.Content[i+1]), true
		} else if found {
			break
		}
	}
	return p.insert(at.last(), p.column(), lines)
}
