package loader

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// document is one parsed document of a text. It converts the line and column
// of its nodes to byte offsets of the text, only when somebody asks.
type document struct {
	file  *source.File
	chunk chunk
	root  *yaml.Node // nil: the places inside are not known
	// dropped: the nodes were not kept, again parses them anew.
	dropped bool
	reparse sync.Once

	once  sync.Once
	lines []int // offsets of the lines as YAML counts them

	mu   sync.Mutex
	long map[*yaml.Node]longScalar
}

// longScalar is what scalar found for a node.
type longScalar struct {
	m  scalarMap
	ok bool
}

// longValue is the length in bytes from which the map of a scalar is kept: a list
// may have thousands of entries, each with a finding in it, and mapping the whole
// list for each takes minutes.
const longValue = 4 << 10

// again returns the node at a pointer of a document whose nodes were dropped.
// From then on they are kept: where there is one place to show there are more.
func (d *document) again(pointer string) *yaml.Node {
	d.reparse.Do(func() {
		// It has been parsed before, so there is no error.
		d.root, _ = parseNode(d.file.Text()[d.chunk.start:d.chunk.end])
	})
	if d.root == nil {
		return nil
	}
	return find(d.root, source.PointerTokens(pointer)).node
}

// offset returns the byte offset in the file of a node's position. YAML breaks
// lines also at a lone carriage return, NEL, LS and PS.
func (d *document) offset(line, column int) int {
	text := d.file.Text()[:d.chunk.end]
	d.once.Do(func() {
		d.lines = append(d.lines, d.chunk.start)
		for i := d.chunk.start; i < len(text); {
			if n := breakLen(text[i:]); n > 0 {
				i += n
				d.lines = append(d.lines, i)
			} else {
				i++
			}
		}
	})
	if line < 1 || line > len(d.lines) {
		return d.chunk.end
	}
	off := d.lines[line-1]
	for col := 1; col < column && off < len(text); col++ {
		_, size := utf8.DecodeRuneInString(text[off:])
		off += size
	}
	return off
}

// start returns the offset of a node's first byte: of an anchor or tag if it
// has one.
func (d *document) start(n *yaml.Node) int { return d.offset(n.Line, n.Column) }

// scalar maps the bytes of a scalar's value to the text.
func (d *document) scalar(n *yaml.Node) (scalarMap, bool) {
	if len(n.Value) < longValue {
		return mapScalar(d.file.Text()[:d.chunk.end], d.start(n), n.Style, n.Value)
	}
	start := d.start(n)
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, has := d.long[n]
	if !has {
		kept.m, kept.ok = mapScalar(d.file.Text()[:d.chunk.end], start, n.Style, n.Value)
		if d.long == nil {
			d.long = map[*yaml.Node]longScalar{}
		}
		d.long[n] = kept
	}
	return kept.m, kept.ok
}

// end returns the offset just after a node's last byte, as near as can be told.
func (d *document) end(n *yaml.Node) int {
	start := d.start(n)
	switch n.Kind {
	case yaml.ScalarNode:
		if m, ok := d.scalar(n); ok {
			return m.end
		}
	case yaml.AliasNode:
		return start + len("*") + len(n.Value)
	default:
		end := start
		if len(n.Content) > 0 {
			end = d.end(n.Content[len(n.Content)-1])
		} else if n.Style&yaml.FlowStyle == 0 {
			return start
		}
		if n.Style&yaml.FlowStyle != 0 {
			end = flowEnd(d.file.Text()[:d.chunk.end], end)
		}
		return max(start, end)
	}
	return start
}

// next returns the offset of the first text at or behind i that is neither blank
// nor a comment, the end of the document when there is none.
func (d *document) next(i int) int {
	text := d.file.Text()[:d.chunk.end]
	for i < len(text) {
		n := breakLen(text[i:])
		switch {
		case n > 0:
			i += n
		case text[i] == '#':
			i = d.lineEnd(i)
		case isBlank(text[i]):
			i++
		default:
			return i
		}
	}
	return i
}

// flowEnd returns the offset just after the bracket that closes a flow
// collection whose last member ends at i.
func flowEnd(text string, i int) int {
	for from := i; i < len(text); i++ {
		switch text[i] {
		case ']', '}':
			return i + 1
		case '#':
			if i > from && !isBlank(text[i-1]) && breakLen(text[i-1:]) == 0 {
				continue
			}
			for i+1 < len(text) && breakLen(text[i+1:]) == 0 {
				i++
			}
		}
	}
	return i
}

// mark returns the bytes to point at for a node: a scalar, the first entry of
// a mapping, the first item of a list, never more than a line of a block.
func (d *document) mark(n *yaml.Node) (start, end int) {
	start = d.start(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		m, ok := d.scalar(n)
		if !ok {
			return start, d.lineEnd(start)
		}
		if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return m.start, min(m.end, d.lineEnd(m.start))
		}
		return m.start, m.end
	case n.Kind == yaml.AliasNode:
		return start, d.end(n)
	case n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0:
		return start, min(d.end(n), d.lineEnd(start))
	case n.Kind == yaml.SequenceNode:
		// The node of an anchored list starts at the anchor.
		if dash := d.start(n.Content[0]); d.lineStart(dash) != d.lineStart(start) {
			start = d.lineStart(dash) + indentOf(d.file.Text()[d.lineStart(dash):dash])
		}
		s, e := d.mark(n.Content[0])
		if d.lineStart(s) == d.lineStart(start) {
			return start, e
		}
		return start, start + 1
	default:
		start, end = d.mark(n.Content[0])
		if v := n.Content[1]; v.Kind != yaml.MappingNode || v.Style&yaml.FlowStyle != 0 {
			if s, e := d.mark(v); d.lineStart(s) == d.lineStart(start) && e > s {
				end = e
			}
		}
		return start, end
	}
}

func (d *document) lineStart(off int) int {
	return strings.LastIndexByte(d.file.Text()[:off], '\n') + 1
}

func (d *document) lineEnd(off int) int {
	text := d.file.Text()[:d.chunk.end]
	for off < len(text) && breakLen(text[off:]) == 0 {
		off++
	}
	return off
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// found is where a pointer leads.
type found struct {
	node *yaml.Node // the field's value
	key  *yaml.Node // its key, nil for a list item and the root
	// alias is the first alias on the way, nil when there is none.
	alias *yaml.Node
	// rest are the tokens that lead nowhere.
	rest []string
}

// find follows the tokens as far as they lead.
func find(root *yaml.Node, tokens []string) found {
	f := found{node: root}
	for i, token := range tokens {
		n := f.node
		for hops := 0; n.Kind == yaml.AliasNode && n.Alias != nil && hops < 100; hops++ {
			if f.alias == nil {
				f.alias = n
			}
			n = n.Alias
		}
		var next, key *yaml.Node
		switch n.Kind {
		case yaml.SequenceNode:
			if j, err := strconv.Atoi(token); err == nil && j >= 0 {
				next = childAt(n, j)
			}
		case yaml.MappingNode:
			var merged *yaml.Node
			key, next, merged = lookup(n, token, 0)
			if merged != nil && f.alias == nil {
				f.alias = merged
			}
		}
		if next == nil {
			f.rest = tokens[i:]
			return f
		}
		f.node, f.key = next, key
	}
	return f
}

// lookup finds a key of a mapping: the last one wins, merged mappings count
// where they stand. alias is the alias that brought the key in.
func lookup(n *yaml.Node, name string, depth int) (key, value, alias *yaml.Node) {
	if depth > 100 {
		return nil, nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !isMergeKey(k) {
			if s, err := keyString(k); err == nil && s == name {
				key, value, alias = k, v, nil
			}
			continue
		}
		sources := []*yaml.Node{v}
		if v.Kind == yaml.SequenceNode {
			sources = v.Content
		}
		for j := len(sources) - 1; j >= 0; j-- {
			target := sources[j]
			var via *yaml.Node
			if target.Kind == yaml.AliasNode && target.Alias != nil {
				via, target = target, target.Alias
			}
			if target.Kind != yaml.MappingNode {
				continue
			}
			if mk, mv, ma := lookup(target, name, depth+1); mv != nil {
				if via == nil {
					via = ma
				}
				key, value, alias = mk, mv, via
			}
		}
	}
	return key, value, alias
}

// child returns the value of a key, nil where there is none.
func child(n *yaml.Node, name string) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	_, v, _ := lookup(n, name, 0)
	return v
}

// childAt returns item i of a list, nil where there is none.
func childAt(n *yaml.Node, i int) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.SequenceNode || i >= len(n.Content) {
		return nil
	}
	return n.Content[i]
}

// textOrigin is the Origin of an object that was read from a text.
type textOrigin struct {
	doc  *document
	root *yaml.Node // the object's node, nil when places are not known
	// again returns the node of an object whose document has dropped it.
	again func() *yaml.Node
	m     textMap
	// base64: strings under /data are base64, and a Ref's Start and End count
	// decoded bytes (a Secret). Under /binaryData they always are.
	base64 bool
}

// Locate implements source.Origin.
func (o *textOrigin) Locate(r source.Ref) source.Provenance {
	root := o.root
	if root == nil && o.again != nil {
		root = o.again()
	}
	if root == nil {
		start := o.doc.chunk.start
		p := o.m.Map(start, o.doc.lineEnd(start))
		p.Primary.Precision = p.Primary.Precision.Worse(source.WholeObject)
		return p
	}
	return o.locate(root, find(root, source.PointerTokens(r.Pointer)), r)
}

func (o *textOrigin) locate(root *yaml.Node, f found, r source.Ref) source.Provenance {
	start, end := o.doc.mark(f.node)
	precision := source.Exact
	switch {
	case len(f.rest) > 0:
		precision = source.Parent
		if f.node == root {
			precision = source.WholeObject
		}
	case r.End > 0:
		var ok bool
		var s, e int
		s, e, ok = o.within(f.node, r)
		if ok {
			start, end = s, e
		}
		if !ok || o.isBase64(r.Pointer) {
			precision = source.Parent
		}
	}
	if n := f.node; r.End == 0 && n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		start, end = o.blockMark(f, start, end)
	}
	if f.key != nil && (start == end || r.Key && len(f.rest) == 0) {
		// An empty value is nowhere; its key is what a reader sees.
		start, end = o.doc.mark(f.key)
	}
	p := o.mapped(f, start, end)
	p.Primary.Precision = p.Primary.Precision.Worse(precision)
	p.Absent = append(p.Absent, o.m.Absent(o.doc.start(f.node), max(end, o.doc.end(f.node)))...)
	if f.key != nil {
		key := o.m.Map(o.doc.mark(f.key))
		for _, v := range key.Values {
			if !slices.ContainsFunc(key.Guards, func(g source.Guard) bool { return slices.Contains(g.Reads, v) }) {
				p.Values = appendValue(p.Values, v)
			}
		}
	}
	if f.alias != nil {
		at := o.m.Map(o.doc.start(f.alias), o.doc.end(f.alias)).Primary
		p.Via = append(p.Via, source.Note{At: at, Says: "used here by the alias *" + f.alias.Value})
	}
	if n := f.node; n.Kind == yaml.AliasNode && n.Alias != nil && n.Alias.Kind == yaml.ScalarNode {
		at := o.m.Map(o.doc.mark(n.Alias)).Primary
		p.Via = append(p.Via, source.Note{At: at, Says: "the value that the alias stands for"})
	}
	return p
}

// mapped maps the bytes by which a node is marked.
func (o *textOrigin) mapped(f found, start, end int) source.Provenance {
	if m, ok := o.m.(wholeMap); ok && f.node.Kind == yaml.MappingNode && start == o.doc.start(f.node) {
		return m.MapWhole(start, end)
	}
	return o.m.Map(start, end)
}

// blockMark are the bytes to point at for a block of text: its key and the sign
// that begins it; of a list item, its first line.
func (o *textOrigin) blockMark(f found, start, end int) (from, to int) {
	if f.key != nil {
		if key := o.doc.start(f.key); o.doc.lineStart(key) == o.doc.lineStart(start) {
			return key, end
		}
		return start, end
	}
	if m, ok := o.doc.scalar(f.node); ok && f.node.Value != "" {
		line, _, _ := strings.Cut(f.node.Value, "\n")
		if from, to = m.span(0, len(line)); to > from {
			return from, min(to, o.doc.lineEnd(from))
		}
	}
	return start, end
}

func (o *textOrigin) isBase64(pointer string) bool {
	return o.base64 && strings.HasPrefix(pointer, "/data/") || strings.HasPrefix(pointer, "/binaryData/")
}

// within maps a part of a string to the text.
func (o *textOrigin) within(n *yaml.Node, r source.Ref) (start, end int, ok bool) {
	for hops := 0; n.Kind == yaml.AliasNode && n.Alias != nil && hops < 100; hops++ {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return 0, 0, false
	}
	from, to := r.Start, r.End
	if o.isBase64(r.Pointer) {
		if from, to, ok = encodedRange(n.Value, from, to); !ok {
			return 0, 0, false
		}
	}
	if from < 0 || from > to || to > len(n.Value) {
		return 0, 0, false
	}
	m, ok := o.doc.scalar(n)
	if !ok {
		return 0, 0, false
	}
	start, end = m.span(from, to)
	return start, end, true
}

// encodedRange returns the bytes of a base64 text that hold the decoded bytes
// [from, to).
func encodedRange(encoded string, from, to int) (start, end int, ok bool) {
	if from < 0 || to <= from || to > base64.StdEncoding.DecodedLen(len(encoded)) {
		return 0, 0, false
	}
	first, last := from*8/6, (to*8-1)/6 // in characters of the alphabet
	n := 0
	for i := 0; i < len(encoded); i++ {
		if encoded[i] == '\n' || encoded[i] == '\r' || encoded[i] == ' ' {
			continue
		}
		if n == first {
			start = i
		}
		if n == last {
			return start, i + 1, true
		}
		n++
	}
	return 0, 0, false
}
