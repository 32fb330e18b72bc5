package loader

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Where a line of a rendered chart comes from cannot be told from the output
// alone, and Helm's engine keeps no record of it. So every template gets a
// marked twin in the same render: the same tree, printed with a marker before
// each node that stands outside of any define. Output at that level is consumed
// by nothing, so markers change nothing else, and reading them back tells which
// node emitted which bytes, in which branch and in which round of a range.
//
//	plain   "  image: a:1\n"
//	marked  "‹0›  image: ‹1›a:1‹2›\n"
//
// The twin holds no define of its own (the file's own defines serve both) and
// runs after all plain templates, so that what the plain ones render is what
// Helm renders without twins, byte for byte.
//
// Where a node of the twin prints what a define makes, and does no more with it
// than to indent or trim it, it prints what a marked copy of that define makes
// instead. Conditions, variables and arguments keep to the defines themselves:
// no marker gets into a value that anything looks at. Whether that held is seen
// by comparison with the plain text; a file in which it did not is rendered
// again with a twin that leaves its defines alone.
//
//	plain   "  labels:\n    app: a\n"
//	marked  "‹0›  labels:‹1›\n    ‹2›app: ‹3›a‹4›‹5›\n"

// markByte delimits a marker: its number in decimal between two NUL bytes. No
// YAML document may hold a NUL, so a clash cannot hide a real object.
const markByte = "\x00"

// templateFile is one template file, parsed, with the places of its actions.
type templateFile struct {
	file    *source.File // as its locations are shown
	text    string
	root    *parse.ListNode
	trees   map[string]*parse.Tree // every define of the file, and the file itself
	actions []action
}

// mark is what one marker stands for: a node was reached, an arm of a branching
// node was entered, or the marked copy of a define came to its end.
type mark struct {
	tmpl  *templateFile
	node  parse.Node // nil when enter or leave
	enter bool
	// call: the node prints the marked copy of a define, up to the leave mark.
	call  bool
	leave bool
	// trims: the call takes the blanks off the edges of the define's text.
	trims bool
	// copied: the node is one of a define; what it prints may be indented.
	copied bool
	// in is the arm around the node; for enter, the arm that was entered.
	in *arm
	// start and end are the node's bytes in the template: a text node's text, an
	// action with its delimiters, a branch's opening action.
	start, end int
	// arms of a branch node: the main one and the else, which may be nil.
	main, other *arm
}

// arm is one list of nodes of an if, with or range; nil is the file itself.
type arm struct {
	branch *parse.BranchNode
	isElse bool
	parent *arm
	// open is the action that begins the arm (if, else, else if ...) and
	// [keepStart, keepEnd) the template text that the arm governs.
	openStart, openEnd int
	keepStart, keepEnd int
}

// parseTemplate parses a template file. Functions are not checked: the engine
// does that, with the functions that it has.
func parseTemplate(name string, file *source.File) (*templateFile, error) {
	text := file.Text()
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, fmt.Errorf("parsing the template %s: %w", name, err)
	}
	return &templateFile{file: file, text: text, root: tree.Root, trees: trees, actions: scanActions(text)}, nil
}

// twinPrinter prints the marked twins of a chart's templates.
type twinPrinter struct {
	// find returns the define that the engine uses under a name and the file that
	// holds it, false when its places cannot be shown.
	find func(name string) (*templateFile, *parse.Tree, bool)

	marks  []mark
	copied map[string]bool // whether a define has a marked copy
	copies strings.Builder
}

// twin prints the marked twin of a template; the twin believes that its name is
// name. Unless deep, it leaves the chart's defines alone. It fails when a node's
// place cannot be found.
func (p *twinPrinter) twin(f *templateFile, name string, deep bool) (string, error) {
	var b strings.Builder
	b.Grow(len(f.text) + len(f.text)/4)
	// .Template is a fresh map in each execution, so this changes no other
	// template's, and every spelling of .Template.Name sees it.
	fmt.Fprintf(&b, `{{$_ := set .Template "Name" %s}}`, strconv.Quote(name))
	w := &listPrinter{twinPrinter: p, b: &b, tmpl: f, deep: deep}
	if err := w.list(f.root, nil, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

// copyPrefix makes the name of a define's marked copy.
const copyPrefix = "marked copy of "

// copyOf reports whether there is a marked copy of the define, and makes it.
func (p *twinPrinter) copyOf(name string) bool {
	if have, ok := p.copied[name]; ok {
		return have
	}
	if p.copied == nil {
		p.copied = map[string]bool{}
	}
	f, tree, ok := p.find(name)
	p.copied[name] = ok // before it is written: it may include itself
	if !ok {
		return false
	}
	var b strings.Builder
	w := &listPrinter{twinPrinter: p, b: &b, tmpl: f, deep: true, copied: true}
	if err := w.define(tree.Root); err != nil {
		p.copied[name] = false
		return false
	}
	fmt.Fprintf(&p.copies, "{{define %s}}%s{{end}}", strconv.Quote(copyPrefix+name), b.String())
	return true
}

// put writes the next marker. A marker stands between any two nodes, which also
// keeps a text that ends in "{" from growing into the delimiter after it.
func (w *listPrinter) put(m mark) {
	m.tmpl, m.copied = w.tmpl, w.copied
	w.b.WriteString(markByte)
	w.b.WriteString(strconv.Itoa(len(w.marks)))
	w.b.WriteString(markByte)
	w.marks = append(w.marks, m)
}

// maxBranchDepth bounds the nesting of if, with and range that is followed.
const maxBranchDepth = 200

var (
	errDeepTemplate = errors.New("its if, with and range are nested too deeply")
	errLostNode     = errors.New("the place of an action could not be determined")
)

// listPrinter prints the lists of nodes of one file or define.
type listPrinter struct {
	*twinPrinter
	b            *strings.Builder
	tmpl         *templateFile
	deep, copied bool
}

// define prints a define's nodes. Blanks at its edges stay outside of the
// markers: whoever includes it may trim them.
func (w *listPrinter) define(list *parse.ListNode) error {
	nodes, tail := list.Nodes, ""
	if n := len(nodes); n > 0 {
		if first, ok := nodes[0].(*parse.TextNode); ok {
			text := string(first.Text)
			rest := strings.TrimLeft(text, blanks)
			w.b.WriteString(text[:len(text)-len(rest)])
			nodes = append([]parse.Node{textFrom(first, len(text)-len(rest), len(text))}, nodes[1:]...)
		}
		if last, ok := nodes[n-1].(*parse.TextNode); ok {
			text := string(last.Text)
			kept := len(strings.TrimRight(text, blanks))
			tail = text[kept:]
			nodes = append(slices.Clone(nodes[:n-1]), textFrom(last, 0, kept))
		}
	}
	if err := w.list(&parse.ListNode{NodeType: parse.NodeList, Nodes: nodes}, nil, 0); err != nil {
		return err
	}
	w.put(mark{leave: true})
	w.b.WriteString(tail)
	return nil
}

const blanks = " \t\r\n"

func textFrom(n *parse.TextNode, from, to int) *parse.TextNode {
	return &parse.TextNode{NodeType: parse.NodeText, Pos: n.Pos + parse.Pos(from), Text: n.Text[from:to]}
}

func (w *listPrinter) list(list *parse.ListNode, in *arm, depth int) error {
	if depth > maxBranchDepth {
		return errDeepTemplate
	}
	for _, n := range list.Nodes {
		m := mark{node: n, in: in}
		if text, ok := n.(*parse.TextNode); ok {
			m.start, m.end = int(text.Pos), int(text.Pos)+len(text.Text)
			if m.end > len(w.tmpl.text) || w.tmpl.text[m.start:m.end] != string(text.Text) {
				return errLostNode
			}
			w.put(m)
			w.b.Write(text.Text)
			continue
		}
		at := w.tmpl.actionAt(int(n.Position()))
		if at < 0 {
			return errLostNode
		}
		m.start, m.end = w.tmpl.actions[at].start, w.tmpl.actions[at].end
		if branch, word := branchOf(n); branch != nil {
			if err := w.branch(branch, word, m, at, depth); err != nil {
				return err
			}
			continue
		}
		text := n.String()
		if w.deep {
			if call, ok := w.call(n); ok {
				m.call, text = true, call
				if a, ok := n.(*parse.ActionNode); ok {
					m.trims = usesFunction(a.Pipe, trimFunction, 0)
				}
			}
		}
		w.put(m)
		w.b.WriteString(text)
	}
	return nil
}

// layoutFunctions do nothing to a text but lay it out.
var layoutFunctions = map[string]bool{
	"indent": true, "nindent": true, "trim": true, "trimSuffix": true, "trimPrefix": true, "toString": true,
}

var trimFunction = map[string]bool{"trim": true}

// call prints a node that prints a define, and lays it out at most, so that it
// prints the marked copy of the define.
func (w *listPrinter) call(n parse.Node) (string, bool) {
	if t, ok := n.(*parse.TemplateNode); ok {
		if !w.copyOf(t.Name) {
			return "", false
		}
		text := "{{template " + strconv.Quote(copyPrefix+t.Name)
		if t.Pipe != nil {
			text += " " + t.Pipe.String()
		}
		return text + "}}", true
	}
	a, ok := n.(*parse.ActionNode)
	if !ok {
		return "", false
	}
	name, ok := includedBy(a.Pipe)
	if !ok {
		return "", false
	}
	cmds, around := a.Pipe.Cmds, ""
	if last := len(cmds) - 1; last > 0 && len(cmds[last].Args) == 1 {
		// A quote would quote the markers, too.
		switch cmds[last].String() {
		case "quote":
			around, cmds = `"`, cmds[:last]
		case "squote":
			around, cmds = "'", cmds[:last]
		}
	}
	for _, c := range cmds[1:] {
		if id, ok := c.Args[0].(*parse.IdentifierNode); !ok || !layoutFunctions[id.Ident] {
			return "", false
		}
	}
	if !w.copyOf(name) {
		return "", false
	}
	first := *cmds[0]
	first.Args = slices.Clone(first.Args)
	first.Args[1] = &parse.StringNode{NodeType: parse.NodeString, Quoted: strconv.Quote(copyPrefix + name)}
	pipe := *a.Pipe
	pipe.Cmds = append([]*parse.CommandNode{&first}, cmds[1:]...)
	return around + "{{" + pipe.String() + "}}" + around, true
}

// includedBy returns the constant name of the define whose text a pipeline
// begins with.
func includedBy(p *parse.PipeNode) (string, bool) {
	if p == nil || len(p.Decl) > 0 || len(p.Cmds) == 0 || len(p.Cmds[0].Args) != 3 {
		return "", false
	}
	args := p.Cmds[0].Args
	id, ok := args[0].(*parse.IdentifierNode)
	name, named := args[1].(*parse.StringNode)
	if !ok || !named || id.Ident != "include" {
		return "", false
	}
	return name.Text, true
}

func (w *listPrinter) branch(branch *parse.BranchNode, word string, m mark, at, depth int) error {
	actions := w.tmpl.actions
	next := actions[at].next
	if next < 0 {
		return errLostNode
	}
	m.main = &arm{
		branch: branch, parent: m.in, openStart: m.start, openEnd: m.end,
		keepStart: m.end, keepEnd: actions[next].start,
	}
	if branch.ElseList != nil {
		last := next
		for actions[last].next >= 0 {
			last = actions[last].next
		}
		m.other = &arm{
			branch: branch, isElse: true, parent: m.in,
			openStart: actions[next].start, openEnd: actions[next].end,
			keepStart: actions[next].end, keepEnd: actions[last].start,
		}
		if actions[next].word == "else if" || actions[next].word == "else with" {
			m.other.keepStart = actions[next].start
		}
	}
	w.put(m)
	w.b.WriteString("{{" + word + " " + branch.Pipe.String() + "}}")
	w.put(mark{enter: true, in: m.main})
	if err := w.list(branch.List, m.main, depth+1); err != nil {
		return err
	}
	if branch.ElseList != nil {
		w.b.WriteString("{{else}}")
		w.put(mark{enter: true, in: m.other})
		if err := w.list(branch.ElseList, m.other, depth+1); err != nil {
			return err
		}
	}
	w.b.WriteString("{{end}}")
	return nil
}

func branchOf(n parse.Node) (*parse.BranchNode, string) {
	switch n := n.(type) {
	case *parse.IfNode:
		return &n.BranchNode, "if"
	case *parse.WithNode:
		return &n.BranchNode, "with"
	case *parse.RangeNode:
		return &n.BranchNode, "range"
	}
	return nil, ""
}

// actionAt returns the action that holds the offset of a node's first token.
func (f *templateFile) actionAt(pos int) int {
	lo, hi := 0, len(f.actions)
	for lo < hi {
		if mid := (lo + hi) / 2; f.actions[mid].end <= pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(f.actions) && f.actions[lo].start < pos {
		return lo
	}
	return -1
}

// event is a marker that was reached: from at on, the plain text is what its
// node emitted, up to the next event.
type event struct {
	mark int
	at   int // byte offset in the plain text
	pad  int // blanks that a text of a define was indented by
	cut  int // bytes that were trimmed off its beginning
}

var errNotTwins = errors.New("two renderings of it differ by more than fresh random values")

// align reads the markers of the twin's output back and carries them over to
// the plain output. The two may differ inside an action that draws fresh random
// values, in nothing else; otherwise no place in the file can be trusted.
func (p *twinPrinter) align(plain, marked string) ([]event, error) {
	if strings.Contains(plain, markByte) {
		return nil, fmt.Errorf("it renders a NUL byte: %w", errNotTwins)
	}
	outs, events, err := p.readMarks(marked)
	if err != nil {
		return nil, err
	}
	pos := 0
	for i := range events {
		events[i].at = pos
		m := &p.marks[events[i].mark]
		out := outs[i]
		if strings.HasPrefix(plain[pos:], out) && (out != "" || !m.emits() || i+1 < len(events)) {
			pos += len(out)
			continue
		}
		if !m.emits() {
			return nil, errNotTwins
		}
		n, ok := p.redrawn(plain[pos:], out, outs[i+1:], events[i+1:])
		if !ok {
			return nil, errNotTwins
		}
		pos += n
	}
	if pos != len(plain) {
		return nil, errNotTwins
	}
	return events, nil
}

// emits reports whether the node's output is its own (an action's), not given
// by the template's text.
func (m *mark) emits() bool {
	if m.enter || m.leave || m.call || m.main != nil {
		return false
	}
	_, text := m.node.(*parse.TextNode)
	return !text
}

// readMarks splits the twin's output at its markers.
func (p *twinPrinter) readMarks(marked string) (outs []string, events []event, err error) {
	open := 0 // copies of defines
	for rest := marked; rest != ""; {
		if rest[:1] != markByte {
			return nil, nil, errNotTwins
		}
		end := strings.Index(rest[1:], markByte)
		if end < 0 {
			return nil, nil, errNotTwins
		}
		id, err := strconv.Atoi(rest[1 : 1+end])
		if err != nil || id < 0 || id >= len(p.marks) {
			return nil, nil, errNotTwins
		}
		rest = rest[end+2:]
		out := rest
		if next := strings.Index(rest, markByte); next >= 0 {
			out = rest[:next]
		}
		rest = rest[len(out):]
		m := &p.marks[id]
		e := event{mark: id}
		if text, ok := m.node.(*parse.TextNode); ok {
			if e.pad, ok = indentOfCopy(string(text.Text), out); !ok || e.pad > 0 && !m.copied {
				return nil, nil, errNotTwins
			}
		}
		if (m.enter || m.main != nil) && out != "" {
			return nil, nil, errNotTwins
		}
		switch {
		case m.call:
			open++
		case m.leave:
			open--
		}
		if open < 0 || m.copied && open == 0 && !m.leave {
			return nil, nil, errNotTwins
		}
		outs, events = append(outs, out), append(events, e)
	}
	if open != 0 {
		return nil, nil, errNotTwins
	}
	p.trim(outs, events)
	return outs, events, nil
}

// trim takes off what a trim would have taken off, had no marker stood before
// it.
func (p *twinPrinter) trim(outs []string, events []event) {
	var calls []int
	for i, e := range events {
		switch m := &p.marks[e.mark]; {
		case m.call:
			calls = append(calls, i)
		case m.leave:
			from := calls[len(calls)-1]
			calls = calls[:len(calls)-1]
			if p.marks[events[from].mark].trims {
				trimEdges(outs[from+1:i], events[from+1:i])
			}
		}
	}
}

func trimEdges(outs []string, events []event) {
	for i, out := range outs {
		outs[i] = strings.TrimLeft(out, blanks)
		events[i].cut += len(out) - len(outs[i])
		if outs[i] != "" {
			break
		}
	}
	for i := len(outs) - 1; i >= 0; i-- {
		if outs[i] = strings.TrimRight(outs[i], blanks); outs[i] != "" {
			break
		}
	}
}

// indentOfCopy returns by how many blanks the second and later lines of a text
// were indented, false when that is not all that was done to it.
func indentOfCopy(text, out string) (int, bool) {
	if text == out {
		return 0, true
	}
	lines := strings.Count(text, "\n")
	if lines == 0 || len(out) <= len(text) || (len(out)-len(text))%lines != 0 {
		return 0, false
	}
	pad := (len(out) - len(text)) / lines
	return pad, out == strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", pad))
}

// redrawn returns how many bytes of plain an action emitted whose output in the
// twin was out: as many, or up to where the next literal text begins, but the
// same number of lines in any case.
func (p *twinPrinter) redrawn(plain, out string, outs []string, events []event) (int, bool) {
	next := ""
	for i, e := range events {
		if outs[i] != "" {
			if p.marks[e.mark].emits() {
				// Two actions side by side: only equal lengths tell them apart.
				return len(out), len(out) <= len(plain) && strings.Count(plain[:len(out)], "\n") == strings.Count(out, "\n")
			}
			next = outs[i]
			break
		}
	}
	lines := strings.Count(out, "\n")
	fits := func(n int) bool {
		return n <= len(plain) && strings.Count(plain[:n], "\n") == lines && strings.HasPrefix(plain[n:], next) && (next != "" || n == len(plain))
	}
	if fits(len(out)) {
		return len(out), true
	}
	if next == "" {
		return len(plain), fits(len(plain))
	}
	for from := 0; ; {
		i := strings.Index(plain[from:], next)
		if i < 0 || strings.Count(plain[:from+i], "\n") > lines {
			return 0, false
		}
		if fits(from + i) {
			return from + i, true
		}
		from += i + 1
	}
}

// action is one {{ ... }} of a template, its delimiters included. The parse
// tree knows where an action's first token is, but not where the action begins
// and ends, nor where its else and end are.
type action struct {
	start, end int
	// word is if, with, range, block, define, else, "else if", "else with" or
	// end; "comment"; "" for all others.
	word string
	// next is the else or end that closes the text which the action opens.
	next int
}

// scanActions lists a template's actions in order. On text that does not parse
// it stops early; nothing else uses such a text.
func scanActions(text string) []action {
	var out []action
	var open []int
	for pos := 0; ; {
		i := strings.Index(text[pos:], "{{")
		if i < 0 {
			return out
		}
		a := action{start: pos + i, next: -1}
		a.end, a.word = scanAction(text, a.start)
		if a.end < 0 {
			return out
		}
		pos = a.end
		n := len(out)
		switch a.word {
		case "if", "with", "range", "block", "define":
			open = append(open, n)
		case "else", "else if", "else with", "end":
			if len(open) == 0 {
				return out
			}
			top := len(open) - 1
			out[open[top]].next = n
			if open[top] = n; a.word == "end" {
				open = open[:top]
			}
		}
		out = append(out, a)
	}
}

// scanAction returns the end of the action at start and its first word.
func scanAction(text string, start int) (end int, word string) {
	i := start + 2
	if i+1 < len(text) && text[i] == '-' && isTemplateSpace(text[i+1]) {
		i += 2
	}
	if strings.HasPrefix(text[i:], "/*") {
		stop := strings.Index(text[i:], "*/")
		if stop < 0 {
			return -1, ""
		}
		i += stop + 2
		stop = strings.Index(text[i:], "}}")
		if stop < 0 {
			return -1, ""
		}
		return i + stop + 2, "comment"
	}
	words := i
	for i < len(text) {
		switch c := text[i]; c {
		case '"', '\'':
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case '`':
			stop := strings.IndexByte(text[i+1:], '`')
			if stop < 0 {
				return -1, ""
			}
			i += stop + 2
		case '}':
			if strings.HasPrefix(text[i:], "}}") {
				return i + 2, firstWord(text[words:i])
			}
			i++
		default:
			i++
		}
	}
	return -1, ""
}

func isTemplateSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// firstWord returns the keyword of an action, "" when it is none that opens or
// closes text.
func firstWord(s string) string {
	word, rest := cutWord(s)
	switch word {
	case "if", "with", "range", "block", "define", "end":
		return word
	case "else":
		if word, _ := cutWord(rest); word == "if" || word == "with" {
			return "else " + word
		}
		return "else"
	}
	return ""
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\r\n")
	i := 0
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= '0' && s[i] <= '9' || s[i] == '_') {
		i++
	}
	return s[:i], s[i:]
}
