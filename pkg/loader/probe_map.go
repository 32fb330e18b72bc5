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
	file   *source.File // the template, as its locations are shown
	marks  []mark
	plain  string // the rendered text
	events []event
	scope  *valueScope
	// defines finds where a define is written.
	defines func(name string) (source.Location, bool)
	// trees finds what a define holds.
	trees func(name string) (*templateFile, *parse.Tree, bool)
	// files are the chart's own files that can be shown.
	files func() map[string]*source.File

	once  sync.Once
	steps []step
	forks []*fork
}

// step is a node that the render reached and the text that it emitted.
type step struct {
	mark       *mark
	start, end int // in the rendered text
	pad        int // blanks before each line of a text but its first
	cut        int // bytes of a text that were trimmed off
	round      *round
	frame      *frame
	reads      [][]string
	// from is what the node's expression stands for, when it is a value.
	from symbol
}

// frame is one execution of a define's marked copy, or of the file itself.
type frame struct {
	caller *frame // nil for the file
	call   step   // in the caller
	indent int    // of its lines, in the rendered text
	vars   int    // where its variables begin
	depth  int
	latest map[*parse.BranchNode]*fork
}

// fork is one execution of an if, with or range.
type fork struct {
	mark  *mark
	at    int // in the rendered text
	round *round
	frame *frame
	test  symbol
	// rounds counts how often the main arm was entered: 0 or 1 but for a range.
	rounds   int
	tookElse bool
}

// round is one execution of an arm of a fork; that of a file or a define has no
// fork.
type round struct {
	parent *round
	arm    *arm
	fork   *fork
	frame  *frame
	dot    symbol
	elem   symbol // of a range
	vars   int    // variables that outlive the round
}

// tracer replays the events of a render.
type tracer struct {
	*templateMap
	ev    *evaluator
	now   *round
	frame *frame
}

// trace replays the events: it finds for each step its branches and what it
// reads. It runs once, and only for templates that somebody asks about.
func (m *templateMap) trace() {
	t := &tracer{templateMap: m, ev: &evaluator{values: m.scope.values, defines: m.trees, files: m.files}}
	t.open(step{}, symbol{known: true})
	for i, e := range m.events {
		end := len(m.plain)
		if i+1 < len(m.events) {
			end = m.events[i+1].at
		}
		t.replay(e, end)
	}
}

func (t *tracer) replay(e event, end int) {
	mk := &t.marks[e.mark]
	switch {
	case mk.leave:
		t.close(e.at, end)
	case mk.enter:
		t.leave(mk.in.parent)
		if f := t.frame.latest[mk.in.branch]; f != nil {
			t.now = t.enter(f, mk.in)
			t.now.vars = len(t.ev.vars)
		}
	case mk.main != nil:
		t.leave(mk.in)
		f := &fork{mark: mk, at: e.at, round: t.now, frame: t.frame, test: t.ev.pipe(mk.main.branch.Pipe, t.now.dot, 0)}
		t.frame.latest[mk.main.branch] = f
		t.forks = append(t.forks, f)
	default:
		t.leave(mk.in)
		s := step{mark: mk, start: e.at, end: end, pad: e.pad, cut: e.cut, round: t.now, frame: t.frame}
		arg := t.evaluate(&s)
		if s.end > s.start {
			t.steps = append(t.steps, s)
		}
		if mk.call {
			t.open(s, arg)
		}
	}
}

// evaluate finds what a node reads; of a node that prints a define, it returns
// what the define gets as its dot.
func (t *tracer) evaluate(s *step) (arg symbol) {
	dot := t.now.dot
	switch n := s.mark.node.(type) {
	case *parse.ActionNode:
		if s.mark.call {
			return t.ev.operand(n.Pipe.Cmds[0].Args[2], dot, 0)
		}
		s.from = t.ev.pipe(n.Pipe, dot, 0)
		s.reads = s.from.all()
		for _, v := range n.Pipe.Decl {
			if n.Pipe.IsAssign {
				t.ev.assign(v.Ident[0], s.from)
			} else {
				t.ev.declare(v.Ident[0], s.from)
			}
		}
		t.now.vars = len(t.ev.vars)
	case *parse.TemplateNode:
		if n.Pipe == nil {
			return symbol{isLit: true} // nil
		}
		arg = t.ev.pipe(n.Pipe, dot, 0)
		if !s.mark.call {
			s.reads = arg.all()
		}
	}
	return arg
}

// open begins a frame: the file, or the define that call prints.
func (t *tracer) open(call step, dot symbol) {
	f := &frame{caller: t.frame, call: call, vars: len(t.ev.vars), latest: map[*parse.BranchNode]*fork{}}
	if t.frame != nil {
		f.depth = t.frame.depth + 1
		f.indent = t.frame.indent
		if n, ok := indentArgument(call.mark.tmpl.text[call.mark.start:call.mark.end]); ok {
			f.indent += n
		}
	}
	t.frame = f
	t.ev.base = len(t.ev.vars)
	t.ev.declare("$", dot)
	t.now = &round{parent: t.now, frame: f, dot: dot, vars: len(t.ev.vars)}
}

// close ends a frame. What the call prints after the define's text, the end of
// a line or a quote, is its own.
func (t *tracer) close(at, end int) {
	for t.now.fork != nil {
		t.now = t.now.parent
	}
	f := t.frame
	t.now, t.frame = t.now.parent, f.caller
	t.ev.vars = t.ev.vars[:f.vars]
	t.ev.base = f.caller.vars
	if at < end {
		s := f.call
		s.start, s.end = at, end
		t.steps = append(t.steps, s)
	}
}

// leave goes back to the arm, which is around the current one.
func (t *tracer) leave(in *arm) {
	for t.now.fork != nil && t.now.arm != in {
		t.now = t.now.parent
		t.ev.vars = t.ev.vars[:min(len(t.ev.vars), t.now.vars)]
	}
}

// enter begins a round of an arm: it sets the dot and the variables.
func (t *tracer) enter(f *fork, in *arm) *round {
	ev := t.ev
	r := &round{parent: t.now, arm: in, fork: f, frame: t.frame, dot: t.now.dot}
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
		for _, path := range m.narrow(s, start) {
			p.Values = appendValue(p.Values, m.scope.ref(path))
		}
	}
	if s := steps[0]; len(steps) == 1 {
		if at, ok := m.inFile(s, start, end); ok {
			p.Primary = at
			p.Via = appendNotes(p.Via, []source.Note{{At: s.mark.location(), Says: "the file is read here"}})
		} else if at, ok := m.inValue(s, start, end); ok {
			p.Primary = at
			p.Via = appendNotes(p.Via, []source.Note{{At: s.mark.location(), Says: "the value is printed here"}})
		}
	}
	for ; in.caller != nil; in = in.caller {
		p.Via = appendNotes(p.Via, []source.Note{{At: in.call.mark.location(), Says: "the define is included here"}})
	}
	return p
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
	for ; r != nil; r = r.parent {
		f := r.fork
		if f == nil {
			continue // a define; its caller's conditions hold as well
		}
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
	file := f.mark.tmpl.file
	g := source.Guard{
		At: source.Location{File: file.Path(), Span: file.Span(a.openStart, a.openEnd), Precision: source.Exact},
	}
	if a.keepStart < a.keepEnd {
		g.Keeps = file.Text()[a.keepStart:a.keepEnd]
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
	tmpl := f.mark.tmpl
	keeps := tmpl.text[a.keepStart:a.keepEnd]
	if strings.HasPrefix(strings.TrimLeft(keeps, " \t\r\n"), "---") {
		return false // another document
	}
	indent, ok := tmpl.indentOfArm(a)
	indent += f.frame.indent
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
func (f *templateFile) indentOfArm(a *arm) (int, bool) {
	text := f.text
	at := a.keepStart
	for at < a.keepEnd && isTemplateSpace(text[at]) {
		at++
	}
	fresh := strings.Contains(text[a.keepStart:at], "\n")
	if strings.HasPrefix(text[at:], "{{") {
		i := f.actionAt(at + 1)
		if i >= 0 {
			act := f.actions[i]
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
