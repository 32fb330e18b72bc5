package loader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template/parse"
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

// markByte delimits a marker: its number in decimal between two NUL bytes. No
// YAML document may hold a NUL, so a clash cannot hide a real object.
const markByte = "\x00"

// templateFile is one template file, parsed, with the places of its actions.
type templateFile struct {
	text    string
	root    *parse.ListNode
	trees   map[string]*parse.Tree // every define of the file, and the file itself
	actions []action
	marks   []mark
}

// mark is what one marker stands for: a node was reached, or an arm of a
// branching node was entered.
type mark struct {
	node  parse.Node // nil when enter
	enter bool
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
func parseTemplate(name, text string) (*templateFile, error) {
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, fmt.Errorf("parsing the template %s: %w", name, err)
	}
	return &templateFile{text: text, root: tree.Root, trees: trees, actions: scanActions(text)}, nil
}

// twin prints the marked twin of the template; the twin believes that its name
// is name. It fails when a node's place cannot be found.
func (f *templateFile) twin(name string) (string, error) {
	f.marks = f.marks[:0]
	var b strings.Builder
	b.Grow(len(f.text) + len(f.text)/4)
	// .Template is a fresh map in each execution, so this changes no other
	// template's, and every spelling of .Template.Name sees it.
	fmt.Fprintf(&b, `{{$_ := set .Template "Name" %s}}`, strconv.Quote(name))
	if err := f.printList(&b, f.root, nil, 0); err != nil {
		return "", err
	}
	return b.String(), nil
}

// maxBranchDepth bounds the nesting of if, with and range that is followed.
const maxBranchDepth = 200

var (
	errDeepTemplate = errors.New("its if, with and range are nested too deeply")
	errLostNode     = errors.New("the place of an action could not be determined")
)

func (f *templateFile) printList(b *strings.Builder, list *parse.ListNode, in *arm, depth int) error {
	if depth > maxBranchDepth {
		return errDeepTemplate
	}
	for _, n := range list.Nodes {
		m := mark{node: n, in: in}
		if text, ok := n.(*parse.TextNode); ok {
			m.start, m.end = int(text.Pos), int(text.Pos)+len(text.Text)
			if m.end > len(f.text) || f.text[m.start:m.end] != string(text.Text) {
				return errLostNode
			}
			f.put(b, m)
			b.Write(text.Text)
			continue
		}
		at := f.actionAt(int(n.Position()))
		if at < 0 {
			return errLostNode
		}
		m.start, m.end = f.actions[at].start, f.actions[at].end
		branch, word := branchOf(n)
		if branch == nil {
			f.put(b, m)
			b.WriteString(n.String())
			continue
		}
		if err := f.printBranch(b, branch, word, m, at, depth); err != nil {
			return err
		}
	}
	return nil
}

func (f *templateFile) printBranch(b *strings.Builder, branch *parse.BranchNode, word string, m mark, at, depth int) error {
	next := f.actions[at].next
	if next < 0 {
		return errLostNode
	}
	m.main = &arm{
		branch: branch, parent: m.in, openStart: m.start, openEnd: m.end,
		keepStart: m.end, keepEnd: f.actions[next].start,
	}
	if branch.ElseList != nil {
		last := next
		for f.actions[last].next >= 0 {
			last = f.actions[last].next
		}
		m.other = &arm{
			branch: branch, isElse: true, parent: m.in,
			openStart: f.actions[next].start, openEnd: f.actions[next].end,
			keepStart: f.actions[next].end, keepEnd: f.actions[last].start,
		}
		if f.actions[next].word == "else if" || f.actions[next].word == "else with" {
			m.other.keepStart = f.actions[next].start
		}
	}
	f.put(b, m)
	b.WriteString("{{" + word + " " + branch.Pipe.String() + "}}")
	f.put(b, mark{enter: true, in: m.main})
	if err := f.printList(b, branch.List, m.main, depth+1); err != nil {
		return err
	}
	if branch.ElseList != nil {
		b.WriteString("{{else}}")
		f.put(b, mark{enter: true, in: m.other})
		if err := f.printList(b, branch.ElseList, m.other, depth+1); err != nil {
			return err
		}
	}
	b.WriteString("{{end}}")
	return nil
}

// put writes the next marker. A marker stands between any two nodes, which also
// keeps a text that ends in "{" from growing into the delimiter after it.
func (f *templateFile) put(b *strings.Builder, m mark) {
	b.WriteString(markByte)
	b.WriteString(strconv.Itoa(len(f.marks)))
	b.WriteString(markByte)
	f.marks = append(f.marks, m)
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
}

var errNotTwins = errors.New("two renderings of it differ by more than fresh random values")

// align reads the markers of the twin's output back and carries them over to
// the plain output. The two may differ inside an action that draws fresh random
// values, in nothing else; otherwise no place in the file can be trusted.
func (f *templateFile) align(plain, marked string) ([]event, error) {
	if strings.Contains(plain, markByte) {
		return nil, fmt.Errorf("it renders a NUL byte: %w", errNotTwins)
	}
	outs, events, err := f.readMarks(marked)
	if err != nil {
		return nil, err
	}
	pos := 0
	for i := range events {
		events[i].at = pos
		m := &f.marks[events[i].mark]
		out := outs[i]
		if strings.HasPrefix(plain[pos:], out) && (out != "" || !f.emits(m) || i+1 < len(events)) {
			pos += len(out)
			continue
		}
		if !f.emits(m) {
			return nil, errNotTwins
		}
		n, ok := f.redrawn(plain[pos:], out, outs[i+1:], events[i+1:])
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
func (f *templateFile) emits(m *mark) bool {
	if m.enter || m.main != nil {
		return false
	}
	_, text := m.node.(*parse.TextNode)
	return !text
}

// readMarks splits the twin's output at its markers.
func (f *templateFile) readMarks(marked string) (outs []string, events []event, err error) {
	for rest := marked; rest != ""; {
		if rest[:1] != markByte {
			return nil, nil, errNotTwins
		}
		end := strings.Index(rest[1:], markByte)
		if end < 0 {
			return nil, nil, errNotTwins
		}
		id, err := strconv.Atoi(rest[1 : 1+end])
		if err != nil || id < 0 || id >= len(f.marks) {
			return nil, nil, errNotTwins
		}
		rest = rest[end+2:]
		out := rest
		if next := strings.Index(rest, markByte); next >= 0 {
			out = rest[:next]
		}
		rest = rest[len(out):]
		m := &f.marks[id]
		if text, ok := m.node.(*parse.TextNode); ok && out != string(text.Text) {
			return nil, nil, errNotTwins
		}
		if (m.enter || m.main != nil) && out != "" {
			return nil, nil, errNotTwins
		}
		outs, events = append(outs, out), append(events, event{mark: id})
	}
	return outs, events, nil
}

// redrawn returns how many bytes of plain an action emitted whose output in the
// twin was out: as many, or up to where the next literal text begins, but the
// same number of lines in any case.
func (f *templateFile) redrawn(plain, out string, outs []string, events []event) (int, bool) {
	next := ""
	for i, e := range events {
		if outs[i] != "" {
			if f.emits(&f.marks[e.mark]) {
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
