package loader

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/vpnlint/vpnlint/pkg/source"
)

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
