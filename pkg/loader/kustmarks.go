package loader

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// marks tell of every value that takes part in a build who wrote it. A node of
// a replayed build carries the number of its mark as its line, which the library
// keeps whatever it does with the node, and overwrites when it writes the value
// anew.
type marks struct {
	list []writer // 0 is no mark
	// seen are the marks of scalars by the place that holds them, to which the
	// library copies what overwrites them.
	seen map[*yaml.Node]int
}

// writer says who wrote a value.
type writer struct {
	// text is the value of a scalar.
	text string
	// The value stands at a pointer of an origin, or at a member of another mark.
	origin source.Origin
	parent int
	at     string // pointer, or token under parent
	// generator made the value of key.
	generator *kustGenerator
	key       string
	// pieces are what a text was put together from; main is the one that a
	// reviewer would change.
	pieces []fragment
	main   int
	// prev is what stood there before, note another place that had a part in it.
	prev, note       int
	prevSays, remark string
	// telling: a patch needs it to find the item of a list; it is no change.
	telling bool
	// patch: it stands in a strategic merge patch.
	patch bool
	// vague: the place is near, and no more is known.
	vague bool
}

// fragment is a part of a text: [start, end) are the bytes from offset of another
// mark's text.
type fragment struct {
	start, end, by, offset int
}

func newMarks() *marks {
	return &marks{list: make([]writer, 1, 256), seen: map[*yaml.Node]int{}}
}

func (m *marks) add(k writer) int {
	m.list = append(m.list, k)
	return len(m.list) - 1
}

// plant returns a value as a node whose parts are marked as those of the origin
// at the pointer. Of a patch, what tells apart the items of lists is no change.
func (m *marks) plant(v any, origin source.Origin, pointer string, patch bool) *yaml.Node {
	return m.node(v, writer{origin: origin, at: pointer}, patch, false)
}

func (m *marks) node(v any, k writer, patch, item bool) *yaml.Node {
	n := &yaml.Node{}
	k.patch = patch
	switch v := v.(type) {
	case map[string]any:
		n.Kind, n.Tag, n.Line = yaml.MappingNode, "!!map", m.add(k)
		for _, key := range sortedKeys(v) {
			inner := writer{parent: n.Line, at: key}
			inner.telling = patch && item && (slices.Contains(mergeKeys, key) || key == "protocol")
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, m.node(v[key], inner, patch, false))
		}
		return n
	case []any:
		n.Kind, n.Tag, n.Line = yaml.SequenceNode, "!!seq", m.add(k)
		for i, x := range v {
			n.Content = append(n.Content, m.node(x, writer{parent: n.Line, at: strconv.Itoa(i)}, patch, true))
		}
		return n
	}
	n.Kind = yaml.ScalarNode
	n.Tag, n.Value = tagged(v)
	if n.Tag == "!!str" {
		n.Style = yaml.DoubleQuotedStyle
	}
	k.text = n.Value
	n.Line = m.add(k)
	m.seen[n] = n.Line
	return n
}

func tagged(v any) (tag, text string) {
	switch v := v.(type) {
	case nil:
		return "!!null", "null"
	case bool:
		return "!!bool", strconv.FormatBool(v)
	case int64:
		return "!!int", strconv.FormatInt(v, 10)
	case float64:
		return "!!float", strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return "!!str", v
	}
	return "!!str", ""
}

// settle gives a mark to every value below n that was written since the last
// time: by is asked for it, with the key of the value and the mark of what stood
// there before.
func (m *marks) settle(n *yaml.Node, by func(key string, n *yaml.Node, old int) writer) {
	m.settleAt(n, "", by)
}

func (m *marks) settleAt(n *yaml.Node, key string, by func(string, *yaml.Node, int) writer) {
	switch n.Kind {
	case yaml.MappingNode:
		if n.Line == 0 {
			n.Line = m.add(by(key, n, 0))
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i].Value; !strings.HasPrefix(k, "internal.config.kubernetes.io/") {
				m.settleAt(n.Content[i+1], k, by)
			}
		}
	case yaml.SequenceNode:
		if n.Line == 0 {
			n.Line = m.add(by(key, n, 0))
		}
		for _, c := range n.Content {
			m.settleAt(c, key, by)
		}
	case yaml.ScalarNode:
		old := m.seen[n]
		switch {
		case n.Line == 0 || m.list[n.Line].text != n.Value:
			if old == 0 {
				old = n.Line
			}
			k := by(key, n, old)
			k.text = n.Value
			n.Line = m.add(k)
		case n.Line != old && old != 0:
			// It was overwritten by a value that has a mark.
			if m.list[n.Line].telling && m.list[old].text == n.Value {
				n.Line = old
			} else if k := &m.list[n.Line]; k.prev == 0 {
				k.prev, k.prevSays = old, baseOfPatch
			}
		}
		m.seen[n] = n.Line
	}
}

// keep runs what may write some fields anew without changing them, and restores
// their marks.
func (m *marks) keep(root func() *yaml.Node, run func() error, paths ...[]string) error {
	before := make([]*yaml.Node, len(paths))
	for i, p := range paths {
		if n := nodeAt(root(), p); n != nil {
			c := *n
			before[i] = &c
		}
	}
	if err := run(); err != nil {
		return err
	}
	for i, p := range paths {
		n := nodeAt(root(), p)
		if n == nil || before[i] == nil || n.Value != before[i].Value {
			continue
		}
		n.Line = before[i].Line
		m.seen[n] = n.Line
	}
	return nil
}

// nodeAt follows keys and indices; nil where they lead nowhere.
func nodeAt(n *yaml.Node, tokens []string) *yaml.Node {
	for _, token := range tokens {
		if n = entryNode(n, token); n == nil {
			return nil
		}
	}
	return n
}

func entryNode(n *yaml.Node, token string) *yaml.Node {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == token {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// locate says where the value of a mark was written, or the part of it that r
// selects.
func (m *marks) locate(id int, r source.Ref, files map[string]*source.File) source.Provenance {
	k := &m.list[id]
	var p source.Provenance
	switch {
	case len(k.pieces) > 0:
		p = m.piece(k, r, files)
	case k.generator != nil:
		p = k.generator.place(k.key, r, files)
	default:
		origin, pointer := m.place(id)
		r.Object, r.Pointer = "file", pointer
		p = origin.Locate(r)
	}
	if k.vague {
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	if k.note != 0 {
		p.Via = append(p.Via, source.Note{At: m.locate(k.note, source.Ref{}, files).Primary, Says: k.remark})
	}
	if k.prev != 0 {
		p.Via = append(p.Via, source.Note{At: m.locate(k.prev, source.Ref{}, files).Primary, Says: k.prevSays})
	}
	return p
}

// place is the origin of a mark and the pointer into it.
func (m *marks) place(id int) (origin source.Origin, pointer string) {
	var tokens []string
	for m.list[id].parent != 0 {
		tokens = append(tokens, m.list[id].at)
		id = m.list[id].parent
	}
	slices.Reverse(tokens)
	r := source.Ref{Pointer: m.list[id].at}
	return m.list[id].origin, r.Child(tokens...).Pointer
}

// piece locates the piece that r selects; of the whole text, the main piece.
func (m *marks) piece(k *writer, r source.Ref, files map[string]*source.File) source.Provenance {
	at := -1
	if r.End > 0 {
		at = slices.IndexFunc(k.pieces, func(p fragment) bool { return p.start <= r.Start && r.End <= p.end })
	}
	if at >= 0 {
		return m.part(k.pieces[at], r.Start, r.End, files)
	}
	main := k.pieces[k.main]
	p := m.part(main, main.start, main.end, files)
	for i, other := range k.pieces {
		if i != k.main {
			p.Via = append(p.Via, source.Note{At: m.part(other, other.start, other.end, files).Primary, Says: "another part of the value"})
		}
	}
	return p
}

func (m *marks) part(p fragment, start, end int, files map[string]*source.File) source.Provenance {
	r := source.Ref{Start: start - p.start + p.offset, End: end - p.start + p.offset}
	if r.Start == 0 && r.End == len(m.list[p.by].text) {
		r = source.Ref{}
	}
	return m.locate(p.by, r, files)
}

// within finds where in the text of a mark the text of one that it was made from
// stands.
func (m *marks) within(id int, text string) (offset int, ok bool) {
	k := &m.list[id]
	if k.text == text {
		return 0, true
	}
	for _, p := range k.pieces {
		inner, ok := m.within(p.by, text)
		if ok && inner >= p.offset && inner+len(text) <= p.offset+p.end-p.start {
			return p.start + inner - p.offset, true
		}
	}
	return 0, false
}
