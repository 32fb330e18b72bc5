package loader

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"text/template/parse"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// templateMap is the textMap of one rendered template: it leads from rendered
// text to template text. It is safe for concurrent use.
type templateMap struct {
	tmpl   *templateFile
	file   *source.File // the template, as its locations are shown
	plain  string       // the rendered text
	events []event
	scope  *valueScope
	// defines finds where a define is written.
	defines func(name string) (source.Location, bool)

	once  sync.Once
	steps []step
	forks []*fork
}

// step is a node that the render reached and the text that it emitted.
type step struct {
	mark       *mark
	start, end int // in the rendered text
	round      *round
	reads      [][]string
	// from is what the node's expression stands for, when it is a value.
	from symbol
}

// fork is one execution of an if, with or range.
type fork struct {
	mark  *mark
	at    int // in the rendered text
	round *round
	test  symbol
	// rounds counts how often the main arm was entered: 0 or 1 but for a range.
	rounds   int
	tookElse bool
}

// round is one execution of an arm of a fork, nil for the file itself.
type round struct {
	parent *round
	arm    *arm
	fork   *fork
	dot    symbol
	elem   symbol // of a range
	vars   int    // variables that outlive the round
}

// trace replays the events: it finds for each step its branches and what it
// reads. It runs once, and only for templates that somebody asks about.
func (m *templateMap) trace() {
	ev := &evaluator{values: m.scope.values}
	top := symbol{known: true}
	ev.declare("$", top)
	file := &round{dot: top, vars: len(ev.vars)}
	now := file
	latest := map[*parse.BranchNode]*fork{}
	leave := func(in *arm) {
		for now.parent != nil && now.arm != in {
			now = now.parent
			ev.vars = ev.vars[:min(len(ev.vars), now.vars)]
		}
	}
	for i, e := range m.events {
		mk := &m.tmpl.marks[e.mark]
		end := len(m.plain)
		if i+1 < len(m.events) {
			end = m.events[i+1].at
		}
		switch {
		case mk.enter:
			leave(mk.in.parent)
			f := latest[mk.in.branch]
			if f == nil {
				continue
			}
			now = m.enter(ev, f, mk.in, now)
			now.vars = len(ev.vars)
		case mk.main != nil:
			leave(mk.in)
			f := &fork{mark: mk, at: e.at, round: now, test: ev.pipe(mk.main.branch.Pipe, now.dot, 0)}
			latest[mk.main.branch] = f
			m.forks = append(m.forks, f)
		default:
			leave(mk.in)
			s := step{mark: mk, start: e.at, end: end, round: now}
			switch n := mk.node.(type) {
			case *parse.ActionNode:
				s.from = ev.pipe(n.Pipe, now.dot, 0)
				s.reads = s.from.all()
				for _, v := range n.Pipe.Decl {
					if n.Pipe.IsAssign {
						ev.assign(v.Ident[0], s.from)
					} else {
						ev.declare(v.Ident[0], s.from)
					}
				}
				now.vars = len(ev.vars)
			case *parse.TemplateNode:
				if n.Pipe != nil {
					s.reads = ev.pipe(n.Pipe, now.dot, 0).all()
				}
			}
			if s.end > s.start {
				m.steps = append(m.steps, s)
			}
		}
	}
}

// enter begins a round of an arm: it sets the dot and the variables.
func (m *templateMap) enter(ev *evaluator, f *fork, in *arm, now *round) *round {
	r := &round{parent: now, arm: in, fork: f, dot: now.dot}
	pipe := in.branch.Pipe
	set := func(name string, is symbol) {
		if pipe.IsAssign {
			ev.assign(name, is)
		} else {
			ev.declare(name, is)
		}
	}
	if in.isElse {
		f.tookElse = true
		if in.branch.NodeType != parse.NodeRange {
			for _, v := range pipe.Decl {
				set(v.Ident[0], f.test)
			}
		}
		return r
	}
	f.rounds++
	if in.branch.NodeType != parse.NodeRange {
		if in.branch.NodeType == parse.NodeWith {
			r.dot = f.test
		}
		for _, v := range pipe.Decl {
			set(v.Ident[0], f.test)
		}
		return r
	}
	key, elem := ev.element(f.test, f.rounds-1)
	r.dot, r.elem = elem, elem
	switch len(pipe.Decl) {
	case 1:
		set(pipe.Decl[0].Ident[0], elem)
	case 2:
		set(pipe.Decl[0].Ident[0], key)
		set(pipe.Decl[1].Ident[0], elem)
	}
	return r
}

// Map implements textMap.
func (m *templateMap) Map(start, end int) source.Provenance {
	m.once.Do(m.trace)
	steps := m.overlapping(start, end)
	if len(steps) == 0 {
		return source.Provenance{Primary: source.Location{File: m.file.Path(), Span: m.file.Span(0, 0), Precision: source.WholeFile}}
	}
	first, last := steps[0], steps[len(steps)-1]
	from, to := m.place(first, start, true), m.place(last, end, false)
	if to < from {
		// Rounds of a range: the text continues further up in the template.
		to = first.mark.end
	}
	p := source.Provenance{
		Primary: source.Location{File: m.file.Path(), Span: m.file.Span(from, to), Precision: source.Exact},
		Guards:  m.guards(first.round),
	}
	// A mapping is marked by its first entry, whose value is not the mapping's.
	entry := isEntry(m.plain[min(start, len(m.plain)):min(max(start, end), len(m.plain))])
	for _, s := range steps {
		if isText(s.mark) || entry && s.start > start {
			continue
		}
		if !m.isPlainValue(s) {
			p.Primary.Precision = source.Action
			p.Via = append(p.Via, m.via(s.mark.node)...)
		}
		for _, path := range m.narrow(s, start) {
			p.Values = appendValue(p.Values, m.scope.ref(path))
		}
	}
	return p
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
		return min(s.mark.start+max(0, offset-s.start), s.mark.end)
	}
	if begin {
		return s.mark.start
	}
	return s.mark.end
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
// structure, the very member that stands at the offset.
func (m *templateMap) narrow(s step, offset int) [][]string {
	path, ok := valuePath(s.from.path)
	if !s.from.known || !ok || !usesFunction(s.mark.node.(*parse.ActionNode).Pipe, blockFunctions, 0) {
		return s.reads
	}
	// The output continues a line of the template: with the blanks before it, its
	// first line is indented as the others are.
	from := s.start
	if line := strings.LastIndexByte(m.plain[:from], '\n') + 1; isBlankText(m.plain[line:from]) {
		from = line
	}
	inner := memberAt(m.plain[from:s.end], offset-from)
	if len(inner) == 0 {
		return s.reads
	}
	whole := append(append([]string{}, path...), inner...)
	if _, ok := descend(m.scope.values, whole); !ok {
		return s.reads
	}
	return append([][]string{whole}, s.reads[1:]...)
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

// guards lists the conditions around a round, outermost first. Where the text
// is in an else, the guard's Taken is false and Keeps is the text before it.
func (m *templateMap) guards(r *round) []source.Guard {
	var out []source.Guard
	for ; r != nil && r.fork != nil; r = r.parent {
		f := r.fork
		g := m.guard(f, f.mark.main)
		g.Taken = !r.arm.isElse
		if elem := r.elem.all(); len(elem) > 0 && r.elem.known {
			// The item that this round is about says more than the list.
			g.Reads = []source.ValueRef{m.scope.ref(elem[0])}
		}
		out = append(out, g)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

func (m *templateMap) guard(f *fork, a *arm) source.Guard {
	g := source.Guard{
		At: source.Location{File: m.file.Path(), Span: m.file.Span(a.openStart, a.openEnd), Precision: source.Exact},
	}
	if a.keepStart < a.keepEnd {
		g.Keeps = m.tmpl.text[a.keepStart:a.keepEnd]
	}
	for _, path := range f.test.all() {
		g.Reads = appendValue(g.Reads, m.scope.ref(path))
	}
	return g
}

func appendValue(refs []source.ValueRef, ref source.ValueRef) []source.ValueRef {
	for _, r := range refs {
		if r.Path == ref.Path {
			return refs
		}
	}
	return append(refs, ref)
}

// Absent implements textMap. A condition that emitted nothing leaves no trace
// in the text but its offset, so at the edges of the range the template decides
// whether its text would have belonged inside: by its indentation.
//
//	spec:                         <- lo: the end of the line before the range
//	  {{- if .Values.a }} ...     inside: nothing but blanks up to the range
//	  containers:                 <- start
//	    - name: vpn               <- end
//	      {{- if .Values.b }} ... inside: indented as deep as start's column
//	strategy:                     <- hi: the next text after the range
func (m *templateMap) Absent(start, end int) []source.Guard {
	m.once.Do(m.trace)
	start = min(max(start, 0), len(m.plain))
	end = min(max(end, start), len(m.plain))
	lo, hi := m.blankBefore(start), m.blankAfter(end)
	column := start - (strings.LastIndexByte(m.plain[:start], '\n') + 1)
	list := strings.HasPrefix(m.plain[start:], "- ") || strings.HasPrefix(m.plain[start:], "-\n")
	var out []source.Guard
	i := sort.Search(len(m.forks), func(i int) bool { return m.forks[i].at >= lo })
	for ; i < len(m.forks) && m.forks[i].at <= hi; i++ {
		f := m.forks[i]
		missing := f.mark.main
		if f.rounds > 0 {
			missing = f.mark.other
		}
		if missing == nil || !missing.keepsText() {
			continue
		}
		if f.at >= end || isBlankText(m.plain[f.at:end]) {
			if !m.belongs(missing, f, column, list, end) {
				continue
			}
		}
		g := m.guard(f, missing)
		if !slices.ContainsFunc(out, func(o source.Guard) bool { return o.At == g.At && slices.Equal(o.Reads, g.Reads) }) {
			out = append(out, g) // the rounds of a range leave the same text out
		}
	}
	return out
}

// keepsText reports whether the arm would emit anything at all.
func (a *arm) keepsText() bool {
	list := a.branch.List
	if a.isElse {
		list = a.branch.ElseList
	}
	return emitsText(list, 0)
}

func emitsText(list *parse.ListNode, depth int) bool {
	if list == nil || depth > maxBranchDepth {
		return false
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			if !isBlankText(string(n.Text)) {
				return true
			}
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 && !usesFunction(n.Pipe, stopFunctions, 0) {
				return true
			}
		case *parse.TemplateNode:
			return true
		default:
			if b, _ := branchOf(n); b != nil && (emitsText(b.List, depth+1) || emitsText(b.ElseList, depth+1)) {
				return true
			}
		}
	}
	return false
}

// stopFunctions end the rendering instead of printing.
var stopFunctions = map[string]bool{"fail": true}

// blankBefore returns the end of the last line before start that holds more
// than blanks and comments, or start when other text precedes it on its line.
func (m *templateMap) blankBefore(start int) int {
	lo := start
	for {
		line := strings.LastIndexByte(m.plain[:lo], '\n') + 1
		before := strings.TrimLeft(m.plain[line:lo], " \t\r")
		if before != "" && before[0] != '#' {
			if lo == start {
				return start
			}
			return lo
		}
		if line == 0 {
			return 0
		}
		if lo = line - 1; lo > 0 && m.plain[lo-1] == '\r' {
			lo--
		}
	}
}

// blankAfter returns the offset of the next text after end that is neither
// blank nor a comment.
func (m *templateMap) blankAfter(end int) int {
	for i := end; i < len(m.plain); i++ {
		switch c := m.plain[i]; {
		case c == '#':
			next := strings.IndexByte(m.plain[i:], '\n')
			if next < 0 {
				return len(m.plain)
			}
			i += next
		case !isTemplateSpace(c):
			return i
		}
	}
	return len(m.plain)
}

func isBlankText(s string) bool { return strings.TrimSpace(s) == "" }

// belongs reports whether the text of an arm that was left out just after the
// range would have been part of it.
func (m *templateMap) belongs(a *arm, f *fork, column int, list bool, end int) bool {
	keeps := m.tmpl.text[a.keepStart:a.keepEnd]
	if strings.HasPrefix(strings.TrimLeft(keeps, " \t\r\n"), "---") {
		return false // another document
	}
	indent, ok := m.indentOfArm(a)
	if !ok {
		// Inside a line: it belongs to the text that the line continues.
		return f.at >= end && !strings.Contains(m.plain[end:f.at], "\n")
	}
	if list && indent == column {
		return strings.HasPrefix(strings.TrimLeft(keeps, " \t\r\n"), "-")
	}
	return indent >= column
}

// indentOfArm returns how deep the first line of an arm's text is indented, and
// false when the arm does not begin a line.
func (m *templateMap) indentOfArm(a *arm) (int, bool) {
	text := m.tmpl.text
	at := a.keepStart
	for at < a.keepEnd && isTemplateSpace(text[at]) {
		at++
	}
	fresh := strings.Contains(text[a.keepStart:at], "\n")
	if strings.HasPrefix(text[at:], "{{") {
		i := m.tmpl.actionAt(at + 1)
		if i >= 0 {
			act := m.tmpl.actions[i]
			if n, ok := indentArgument(text[act.start:act.end]); ok {
				return n, true
			}
		}
		if !fresh {
			at = a.openStart
		}
	} else if !fresh {
		at = a.openStart
	}
	line := strings.LastIndexByte(text[:at], '\n') + 1
	if strings.TrimLeft(text[line:at], " \t") != "" {
		return 0, false
	}
	return at - line, true
}

// indentArgument finds the constant that an action gives to nindent or indent.
func indentArgument(act string) (int, bool) {
	i := strings.LastIndex(act, "indent ")
	if i < 0 {
		return 0, false
	}
	digits := strings.TrimLeft(act[i+len("indent "):], " ")
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(digits[:n])
	return v, err == nil
}
