package loader

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Map implements textMap.
func (m *templateMap) Map(start, end int) source.Provenance { return m.locate(start, end, false) }

// MapWhole implements wholeMap.
func (m *templateMap) MapWhole(start, end int) source.Provenance { return m.locate(start, end, true) }

// locate is Map; whole: the range is the first entry of the mapping that is meant.
func (m *templateMap) locate(start, end int, whole bool) source.Provenance {
	m.once.Do(m.trace)
	steps := m.overlapping(start, end)
	if len(steps) == 0 {
		return source.Provenance{Primary: source.Location{File: m.file.Path(), Span: m.file.Span(0, 0), Precision: source.WholeFile}}
	}
	steps = m.unquoted(steps, start, end)
	in := steps[0].frame
	for _, s := range steps {
		in = common(in, s.frame)
	}
	first, last := steps[0].within(in), steps[len(steps)-1].within(in)
	from, to := m.place(first, start, true), m.place(last, end, false)
	if to < from {
		// Rounds of a range: the text continues further up in the template.
		to = first.mark.end
	}
	file := first.mark.tmpl.file
	p := source.Provenance{
		Primary: source.Location{File: file.Path(), Span: file.Span(from, to), Precision: source.Exact},
		Guards:  append(slices.Clip(m.scope.switches), m.guards(first.round)...),
	}
	// A mapping is marked by its first entry, whose value is not the mapping's.
	entry := isEntry(m.plain[min(start, len(m.plain)):min(max(start, end), len(m.plain))])
	for _, s := range steps {
		if entry && s.start > start {
			continue
		}
		if top := s.within(in); top.mark != s.mark || top.mark.call {
			p.Primary.Precision = source.Action
			p.Via = appendNotes(p.Via, m.via(top.mark.node))
		}
		if isText(s.mark) || s.mark.call {
			continue
		}
		if s.frame == in && !m.isPlainValue(s) {
			p.Primary.Precision = source.Action
			p.Via = appendNotes(p.Via, m.via(s.mark.node))
		}
		reads, member := m.narrow(s, start, whole)
		for i, path := range reads {
			ref := m.scope.ref(path)
			ref.Member = member && i == 0
			p.Values = appendValue(p.Values, ref)
		}
	}
	if s := steps[0]; len(steps) == 1 {
		if at, ok := m.inFile(s, start, end); ok {
			p.Primary = at
			p.Via = appendNotes(p.Via, []source.Note{{At: s.mark.location(), Says: "the file is read here"}})
		} else if at, ok := m.inValue(s, start, end); ok {
			p.Primary = at
			if at.Precision == source.Exact {
				p.Values = p.Values[:min(1, len(p.Values))] // what else the text reads is read elsewhere in it
			}
			p.Via = appendNotes(p.Via, []source.Note{{At: s.mark.location(), Says: "the value is printed here"}})
		}
	}
	if whole {
		p.Item = m.item(steps[0].round)
	}
	for ; in.caller != nil; in = in.caller {
		p.Via = appendNotes(p.Via, []source.Note{{At: in.call.mark.location(), Says: "the define is included here"}})
	}
	return p
}

// item is the structure of values that the innermost range around a round is at,
// nil for none.
func (m *templateMap) item(r *round) *source.ValueRef {
	for ; r != nil; r = r.parent {
		if r.fork == nil || r.arm.isElse || r.arm.branch.NodeType != parse.NodeRange {
			continue
		}
		path, ok := valuePath(r.elem.path)
		if v, found := descend(m.scope.values, path); !r.elem.known || !ok || !found || isScalar(v) {
			return nil
		}
		ref := m.scope.ref(path)
		return &ref
	}
	return nil
}

// location is where the node stands in its template.
func (m *mark) location() source.Location {
	return source.Location{File: m.tmpl.file.Path(), Span: m.tmpl.file.Span(m.start, m.end), Precision: source.Exact}
}

// unquoted leaves out the quotes around what a define prints.
func (m *templateMap) unquoted(steps []step, start, end int) []step {
	quote := func(s step) bool {
		from, to := max(start, s.start), min(end, s.end)
		return to-from == 1 && (m.plain[from] == '"' || m.plain[from] == '\'')
	}
	last := len(steps) - 1
	if last < 2 || !quote(steps[0]) || !quote(steps[last]) {
		return steps
	}
	for _, s := range steps[1:last] {
		if s.frame == steps[0].frame {
			return steps
		}
	}
	return steps[1:last]
}

// common returns the innermost frame around both.
func common(a, b *frame) *frame {
	for a != b {
		if a.depth < b.depth {
			a, b = b, a
		}
		a = a.caller
	}
	return a
}

// within returns the step of the frame in which s was made: itself, or the call
// that led to it.
func (s step) within(in *frame) step {
	for s.frame != in {
		s = s.frame.call
	}
	return s
}

func appendNotes(to, notes []source.Note) []source.Note {
	for _, n := range notes {
		if !slices.Contains(to, n) {
			to = append(to, n)
		}
	}
	return to
}

// overlapping returns the steps that emitted bytes of [start, end); for an
// empty range the step around it, else the one before.
func (m *templateMap) overlapping(start, end int) []step {
	i := sort.Search(len(m.steps), func(i int) bool { return m.steps[i].end > start })
	if i == len(m.steps) {
		return m.steps[max(0, i-1):]
	}
	j := i + 1
	for j < len(m.steps) && m.steps[j].start < end {
		j++
	}
	return m.steps[i:j]
}

// place maps an offset inside a step to the template.
func (m *templateMap) place(s step, offset int, begin bool) int {
	if isText(s.mark) {
		offset = min(max(0, offset-s.start), s.end-s.start)
		return min(s.mark.start+unindent(s.mark.tmpl.text[s.mark.start:s.mark.end], offset+s.cut, s.pad), s.mark.end)
	}
	if begin {
		return s.mark.start
	}
	return s.mark.end
}

// unindent maps an offset in an indented text to the text before it was
// indented.
func unindent(text string, offset, pad int) int {
	if pad == 0 {
		return min(offset, len(text))
	}
	for at := 0; ; {
		line := strings.IndexByte(text[at:], '\n') + 1
		if line == 0 || offset < line {
			return min(at+offset, len(text))
		}
		at += line
		offset = max(0, offset-line-pad)
	}
}

func isText(m *mark) bool {
	_, ok := m.node.(*parse.TextNode)
	return ok
}

// isEntry reports whether a marked text is a key and its value on one line.
func isEntry(text string) bool {
	if text == "" || text[0] == '"' || text[0] == '\'' || text[0] == '{' || text[0] == '[' {
		return false
	}
	return strings.Contains(text, ": ") || strings.HasSuffix(text, ":")
}

// isPlainValue reports whether an action's output is one value in one place,
// not the work of another template or a whole block.
func (m *templateMap) isPlainValue(s step) bool {
	n, ok := s.mark.node.(*parse.ActionNode)
	if !ok {
		return false
	}
	return !usesFunction(n.Pipe, blockFunctions, 0) && !strings.Contains(m.plain[s.start:s.end], "\n")
}

// blockFunctions bring text from elsewhere, or whole structures.
var blockFunctions = map[string]bool{
	"include": true, "tpl": true, "toYaml": true, "toYamlPretty": true, "mustToYaml": true, "toJson": true, "mustToJson": true,
	"toPrettyJson": true, "toRawJson": true, "toToml": true,
}

func usesFunction(n parse.Node, names map[string]bool, depth int) bool {
	if depth > maxPipeDepth {
		return true
	}
	switch n := n.(type) {
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			if usesFunction(c, names, depth+1) {
				return true
			}
		}
	case *parse.CommandNode:
		for _, a := range n.Args {
			if usesFunction(a, names, depth+1) {
				return true
			}
		}
	case *parse.ChainNode:
		return usesFunction(n.Node, names, depth+1)
	case *parse.IdentifierNode:
		return names[n.Ident]
	}
	return false
}

// narrow returns the values that a step reads; where the step prints a whole
// structure, the very member that stands at the offset, or the mapping that begins
// with it.
func (m *templateMap) narrow(s step, offset int, whole bool) (reads [][]string, member bool) {
	action, ok := s.mark.node.(*parse.ActionNode)
	if !ok || !usesFunction(action.Pipe, blockFunctions, 0) && !strings.Contains(strings.Trim(m.plain[s.start:s.end], blanks), "\n") {
		return s.reads, false
	}
	// The output continues a line of the template: with the blanks before it, its
	// first line is indented as the others are.
	from := s.start
	if line := strings.LastIndexByte(m.plain[:from], '\n') + 1; isBlankText(m.plain[line:from]) {
		from = line
	}
	out := m.plain[from:s.end]
	inner := memberAt(out, offset-from)
	if len(inner) == 0 {
		return s.reads, false
	}
	if whole {
		inner = inner[:len(inner)-1]
	}
	is := s.from
	if is.entries != nil {
		if len(inner) == 0 { // all of it: what omit leaves of the one value that it reads
			return s.reads, len(s.reads) == 1
		}
		is, inner = is.entries[inner[0]], inner[1:]
	}
	path, ok := valuePath(is.path)
	if !is.known || !ok {
		return m.soleMember(out, s.reads, inner)
	}
	full := append(append([]string{}, path...), inner...)
	if _, ok := descend(m.scope.values, full); !ok {
		return s.reads, false
	}
	return append([][]string{full}, s.reads[min(1, len(s.reads)):]...), true
}

// soleMember finds, of values that were merged into what is printed, the one that has
// the same at the path of a member. Where none has or more than one, nothing is told.
func (m *templateMap) soleMember(out string, reads [][]string, inner []string) ([][]string, bool) {
	n, err := parseNode(out)
	for _, key := range inner {
		if n == nil || err != nil {
			break
		}
		_, n = memberNode(n, key)
	}
	if n == nil || err != nil || len(inner) == 0 {
		return reads, false
	}
	var sole []string
	for _, path := range reads {
		full := append(slices.Clone(path), inner...)
		if !hasPath(m.scope.values, full) {
			continue
		}
		v, _ := descend(m.scope.values, full)
		if isScalar(v) != (n.Kind == yaml.ScalarNode) || isScalar(v) && fmt.Sprint(v) != n.Value {
			continue
		}
		if sole != nil {
			return reads, false
		}
		sole = full
	}
	if sole == nil {
		return reads, false
	}
	return [][]string{sole}, true
}

// via names the defines that an action's text comes from.
func (m *templateMap) via(n parse.Node) []source.Note {
	var names []string
	switch n := n.(type) {
	case *parse.TemplateNode:
		names = []string{n.Name}
	case *parse.ActionNode:
		names = includedNames(n.Pipe, nil, 0)
	}
	var out []source.Note
	for _, name := range names {
		if at, ok := m.defines(name); ok {
			out = append(out, source.Note{At: at, Says: "the text comes from this define of " + strconv.Quote(name)})
		}
	}
	return out
}

// includedNames lists the constant names that are included in a pipeline.
func includedNames(n parse.Node, names []string, depth int) []string {
	if depth > maxPipeDepth {
		return names
	}
	switch n := n.(type) {
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			names = includedNames(c, names, depth+1)
		}
	case *parse.CommandNode:
		if id, ok := n.Args[0].(*parse.IdentifierNode); ok && id.Ident == "include" && len(n.Args) > 1 {
			if name, ok := n.Args[1].(*parse.StringNode); ok {
				names = append(names, name.Text)
			}
		}
		for _, a := range n.Args {
			names = includedNames(a, names, depth+1)
		}
	case *parse.ChainNode:
		names = includedNames(n.Node, names, depth+1)
	}
	return names
}
