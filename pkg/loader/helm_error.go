package loader

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// engineError is what can be read from the text of an engine's error; the
// engine keeps places in no other form.
type engineError struct {
	// template is the engine's name of the template that was being rendered.
	template string
	// parsing: it could not even be parsed. itself: what failed stands in the
	// template's own text, not in a define that was reached from it or elsewhere.
	parsing, itself bool
	// places are all that the error names, the innermost last.
	places []enginePlace
	// expr is the failing expression, as far as it is shown.
	expr string
	msg  string
}

type enginePlace struct {
	template     string
	line, column int // column: 0-based bytes, -1 when not given
}

var (
	// execution error at (chart/templates/x.yaml:12:6): message
	// parse error at (chart/templates/x.yaml:3): message
	atPlace = regexp.MustCompile(`(?s)^(?:execution|parse) error (?:at|in) \(([^()]*?)(?::(\d+))?(?::(\d+))?\): (.*)$`)
	// template: chart/templates/x.yaml:3:12: executing "x" at <.Values.a.b>: message
	executing = regexp.MustCompile(`template: ([^:]+):(\d+)(?::(\d+))?: (?:executing "((?:[^"\\]|\\.)*)" at <([^\n]*?)>: )?`)
)

// wrapping is what text/template puts before the message of a function.
var wrapping = regexp.MustCompile(`^(?:error calling [A-Za-z0-9_]+: |template: )+`)

func readEngineError(err error) engineError {
	text := err.Error()
	e := engineError{msg: text}
	if m := atPlace.FindStringSubmatch(text); m != nil {
		e.template, e.msg = m[1], m[4]
		e.parsing = strings.HasPrefix(text, "parse error")
		e.places = []enginePlace{{m[1], number0(m[2]), number0(m[3])}}
		if m[3] == "" {
			e.places[0].column = -1
		}
		return e
	}
	all := executing.FindAllStringSubmatchIndex(text, -1)
	for i, m := range all {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		p := enginePlace{group(1), number0(group(2)), -1}
		if group(3) != "" {
			p.column = number0(group(3))
		}
		if i == 0 {
			e.template, e.itself = p.template, group(4) == p.template
		}
		e.places = append(e.places, p)
		e.expr, e.msg = group(5), wrapping.ReplaceAllString(text[m[1]:], "")
	}
	return e
}

func number0(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// undefined reports whether a template called one that nothing defines.
func (e engineError) undefined() bool {
	return strings.HasPrefix(e.msg, "no template ") && strings.Contains(e.msg, " associated with template ")
}

// explain turns the failure of a template into a gap at the innermost place
// that is known, with the keys that would help.
func (r *chartRun) explain(at engineError, e *templateEntry, values chartutil.Values) finding.Gap {
	where, line := e, 1
	for _, p := range at.places {
		if inner := r.entries[p.template]; inner != nil {
			where, line = inner, max(1, p.line)
		}
	}
	scope := r.scope(r.loaded.chart, nil, values).at(where.prefix)
	missing := missingIn(at.expr, scope)
	if call, ok := r.findCall(at.msg, e); ok {
		// The engine names the include; the required or fail is further in.
		where, line = call.entry, 1+strings.Count(call.entry.file.Text()[:call.at], "\n")
		scope = r.scope(r.loaded.chart, nil, values).at(where.prefix)
		missing = unsetOf(call.reads, scope)
	}
	why := strings.TrimSpace(at.msg)
	if len(missing) > 0 {
		sets := make([]string, len(missing))
		for i, key := range missing {
			sets[i] = "--set " + key + "=..."
		}
		why += "; pass " + strings.Join(sets, " ") + " or a values file with -f"
	} else if strings.Contains(at.msg, "nil pointer") && at.expr != "" {
		why += " (in " + at.expr + ")"
	}
	g := finding.Gap{
		Kind: finding.Unreadable, File: where.file.Path(), Line: line,
		What: "the template " + e.file.Path() + " does not render", Why: why,
		Consequence: "the objects of " + e.file.Path() + " were not checked; the chart's other templates were rendered without it",
	}
	if e.notes() {
		g.Kind = finding.Unmodelled
		g.What = "the chart's notes do not render"
		g.Consequence = "helm install fails with these values; the notes make no objects, and all others were checked"
	}
	if where.fixed != nil && !e.notes() {
		g.File, g.Line = where.fixed.File, where.fixed.Span.Start.Line
		g.What = "the template " + e.key + " does not render"
		g.Consequence = "the objects of " + e.key + " were not checked; the chart's other templates were rendered without it"
	}
	return g
}

var valuesField = regexp.MustCompile(`\.Values((?:\.[A-Za-z0-9_]+)+)`)

// missingIn lists the values in an expression that nobody sets.
func missingIn(expr string, s *valueScope) []string {
	var reads [][]string
	for _, m := range valuesField.FindAllStringSubmatch(expr, -1) {
		reads = append(reads, strings.Split(m[1][1:], "."))
	}
	return unsetOf(reads, s)
}

// unsetOf names, as --set takes them, those of the values that are empty.
func unsetOf(reads [][]string, s *valueScope) []string {
	var out []string
	for _, path := range reads {
		v, ok := descend(s.values, path)
		if ok && isTrue(v) {
			continue
		}
		if key := s.ref(path).Path; !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// failingCall is a required or fail whose message the engine reported.
type failingCall struct {
	entry *templateEntry
	at    int
	reads [][]string
}

// findCall looks for the required or fail with that very message, first in the
// template that failed, then in the partials that it may include.
func (r *chartRun) findCall(msg string, first *templateEntry) (failingCall, bool) {
	keys := append([]string{first.key}, sortedKeys(r.entries)...)
	for _, key := range keys {
		e := r.entries[key]
		if !strings.Contains(e.file.Text(), "required") && !strings.Contains(e.file.Text(), "fail") {
			continue
		}
		parsed, err := r.shared.template(e.key, e.file)
		if err != nil {
			continue
		}
		for _, name := range sortedKeys(parsed.trees) {
			c := callFinder{msg: msg}
			c.list(parsed.trees[name].Root, 0)
			if c.found {
				return failingCall{entry: e, at: min(c.at, len(e.file.Text())), reads: c.reads}, true
			}
		}
	}
	return failingCall{}, false
}

// callFinder walks a tree for a required or fail with a constant message.
type callFinder struct {
	msg   string
	found bool
	at    int
	reads [][]string
}

func (c *callFinder) list(l *parse.ListNode, depth int) {
	if l == nil || depth > maxBranchDepth {
		return
	}
	for _, n := range l.Nodes {
		if c.found {
			return
		}
		if b, _ := branchOf(n); b != nil {
			c.pipe(b.Pipe, 0)
			c.list(b.List, depth+1)
			c.list(b.ElseList, depth+1)
			continue
		}
		switch n := n.(type) {
		case *parse.ActionNode:
			c.pipe(n.Pipe, 0)
		case *parse.TemplateNode:
			c.pipe(n.Pipe, 0)
		}
	}
}

func (c *callFinder) pipe(p *parse.PipeNode, depth int) {
	if p == nil || c.found || depth > maxPipeDepth {
		return
	}
	for i, cmd := range p.Cmds {
		for _, a := range cmd.Args {
			if inner, ok := a.(*parse.PipeNode); ok {
				c.pipe(inner, depth+1)
			}
			if chain, ok := a.(*parse.ChainNode); ok {
				if inner, ok := chain.Node.(*parse.PipeNode); ok {
					c.pipe(inner, depth+1)
				}
			}
		}
		if c.found || !c.matches(cmd, p, i) {
			continue
		}
		c.found, c.at = true, int(cmd.Position())
		ev := &evaluator{}
		top := symbol{known: true}
		ev.declare("$", top)
		for _, a := range cmd.Args[1:] {
			c.reads = append(c.reads, ev.operand(a, top, 0).all()...)
		}
		if i > 0 {
			c.reads = append(c.reads, ev.command(p.Cmds[i-1], top, nil, 0).all()...)
		}
	}
}

// matches reports whether the command is required or fail with the message.
func (c *callFinder) matches(cmd *parse.CommandNode, p *parse.PipeNode, i int) bool {
	id, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok || id.Ident != "required" && id.Ident != "fail" {
		return false
	}
	if len(cmd.Args) > 1 {
		text, ok := cmd.Args[1].(*parse.StringNode)
		return ok && text.Text == c.msg
	}
	if i > 0 && len(p.Cmds[i-1].Args) == 1 {
		text, ok := p.Cmds[i-1].Args[0].(*parse.StringNode)
		return ok && text.Text == c.msg
	}
	return false
}

// definePlace is a define or block of a template file.
type definePlace struct {
	name       string
	start, end int
}

var defineName = regexp.MustCompile("^\\{\\{-?\\s*(?:define|block)\\s+(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)")

// scanDefines lists a template file's defines and where each begins.
func scanDefines(text string) []definePlace {
	if !strings.Contains(text, "define") && !strings.Contains(text, "block") {
		return nil
	}
	var out []definePlace
	for _, a := range scanActions(text) {
		if a.word != "define" && a.word != "block" {
			continue
		}
		m := defineName.FindStringSubmatch(text[a.start:a.end])
		if m == nil {
			continue
		}
		if name, err := strconv.Unquote(m[1]); err == nil {
			out = append(out, definePlace{name, a.start, a.end})
		}
	}
	return out
}
