package shell

import (
	"errors"
	"maps"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// truth is what is known of an exit status.
type truth int8

const (
	maybe truth = iota
	succeeds
	fails
)

func (t truth) not() truth {
	switch t {
	case succeeds:
		return fails
	case fails:
		return succeeds
	default:
		return maybe
	}
}

// reach tells how far an exit, return or break reaches. A larger value leaves
// more.
type reach int8

const (
	goesOn reach = iota
	leavesLoop
	leavesFunction
	leavesScript
)

// flow is what a statement does to the statements after it.
type flow struct {
	// end: what follows is not reached, up to that reach.
	end reach
	// failed: it ends with a failure, so that a script that succeeds did not
	// pass here.
	failed bool
	// some: another path ended well before, up to that reach: what follows is
	// conditional. by are the commands that decided.
	some reach
	by   []*Command
}

// result is what a statement leaves behind.
type result struct {
	// last is the command whose exit status it is, nil if none.
	last  *Command
	truth truth
	// negated: the status is the opposite of last's.
	negated bool
	flow    flow
}

// condition is a command whose outcome decides, and the outcome that leads on.
type condition struct {
	cmd   *Command
	sense bool
}

// context is how a statement is reached.
type context struct {
	conditional   bool
	conditions    []condition
	loopBase      int // conditions[loopBase:] stand inside the innermost loop
	orElse        *Command
	loop          bool
	loopCondition bool
	endsOn        bool // of a loop condition: success ends the loop
	tolerated     bool
	last          bool // nothing after it hides its exit status
	background    bool
	substituted   bool
	piped         *Command
	redirects     []Redirect
	wrappers      []string
	otherNetNS    bool
	exec          bool
}

// under adds a condition.
func (c context) under(r result, sense bool) context {
	c.conditional = true
	c.orElse = nil
	if r.last != nil {
		c.conditions = append(c.conditions[:len(c.conditions):len(c.conditions)], condition{r.last, sense != r.negated})
	}
	return c
}

// reader collects the commands of a script and of the scripts in it.
type reader struct {
	script *Script
	steps  int
}

// spend counts work and reports whether to go on.
func (r *reader) spend(n int) bool {
	r.steps += n
	if r.steps > maxSteps || len(r.script.Commands) >= maxCommands {
		r.script.Truncated = true
	}
	return !r.script.Truncated
}

// variable is a known value. What is not known is not in the map.
type variable struct {
	text     string
	list     []string
	isList   bool
	exported bool
}

func (v variable) equal(w variable) bool {
	if v.text != w.text || v.isList != w.isList || len(v.list) != len(w.list) {
		return false
	}
	for i := range v.list {
		if v.list[i] != w.list[i] {
			return false
		}
	}
	return true
}

// shell is the state of one shell process.
type shell struct {
	vars     map[string]variable
	funcs    map[string]*function
	errexit  bool
	pipefail bool
	// params are the positional parameters where they are known.
	params      []Word
	paramsKnown bool
	// paramsOpen: there may be more of them than params, which are the first.
	paramsOpen bool
}

// setParams takes over arguments as positional parameters. Behind an argument
// that may be several words the positions are unknown.
func (s *shell) setParams(args []Word) {
	s.params, s.paramsKnown, s.paramsOpen = args, true, false
	for i, a := range args {
		if a.several {
			s.params, s.paramsOpen = args[:i], true
			return
		}
	}
}

// function is a declared function and the text that it stands in.
type function struct {
	body *syntax.Stmt
	in   *eval
}

func newShell(env map[string]string) *shell {
	sh := &shell{vars: map[string]variable{}, funcs: map[string]*function{}}
	for k, v := range env {
		sh.vars[k] = variable{text: v, exported: true}
	}
	return sh
}

// child is the state of a subshell.
func (s *shell) child() *shell {
	c := *s
	c.vars = maps.Clone(s.vars)
	c.funcs = maps.Clone(s.funcs)
	return &c
}

// process is the state of a program that the shell starts: it sees what is
// exported. A variable that is not exported is unknown there rather than empty:
// set -a and the image's own environment are not in view.
func (s *shell) process() *shell {
	c := &shell{vars: map[string]variable{}, funcs: map[string]*function{}}
	for k, v := range s.vars {
		if v.exported {
			c.vars[k] = v
		}
	}
	return c
}

// eval reads one text: the script, or a script inside of it.
type eval struct {
	r     *reader
	sh    *shell
	text  string
	at    place
	depth int
	// argv: there is no text; the words of an argument vector are their own.
	argv bool
}

// place maps offsets of a nested script to offsets of the outermost one.
type place struct {
	exact      bool
	base       int
	start, end int
	arg        int
}

func (p place) of(start, end int) (int, int) {
	if !p.exact {
		return p.start, p.end
	}
	return p.base + start, p.base + end
}

// span returns the outermost offsets of a node.
func (e *eval) span(n syntax.Node) (start, end int) {
	s, t := e.local(n)
	return e.at.of(s, t)
}

// local returns the offsets of a node in its own text, clamped: the parser adds
// the length of closing tokens that hostile input may lack.
func (e *eval) local(n syntax.Node) (start, end int) {
	start = min(int(n.Pos().Offset()), len(e.text))
	end = min(int(n.End().Offset()), len(e.text))
	return start, max(start, end)
}

// source returns a node as written.
func (e *eval) source(n syntax.Node) string {
	s, t := e.local(n)
	return e.text[s:t]
}

// script parses and reads the text.
func (e *eval) script(ctx context) {
	stmts, errAt, err := parseText(e.text)
	e.failed(errAt, err)
	e.list(stmts, ctx)
}

// failed notes the first script that is not valid shell.
func (e *eval) failed(at int, err error) {
	var said syntax.ParseError
	if errors.As(err, &said) {
		err = errors.New(said.Text) // its position is ErrAt
	}
	if s := e.r.script; err != nil && s.Err == nil {
		s.Err, s.ErrArg = err, e.at.arg
		s.ErrAt, _ = e.at.of(at, at)
	}
}

// list reads statements that follow each other.
func (e *eval) list(stmts []*syntax.Stmt, ctx context) result {
	var res result
	var some reach
	var by []*Command
	for i, s := range stmts {
		if !e.r.spend(1) {
			break
		}
		c := ctx
		c.last = ctx.last && i == len(stmts)-1
		if i > 0 {
			c.piped = nil
		}
		res = e.stmt(s, c)
		some = max(some, res.flow.some)
		by = append(by, res.flow.by...)
		if res.flow.end != goesOn {
			break
		}
		if res.flow.some != goesOn {
			ctx.conditional = true
			ctx.orElse = nil
			for _, cmd := range res.flow.by {
				ctx.conditions = append(ctx.conditions[:len(ctx.conditions):len(ctx.conditions)], condition{cmd, false})
			}
		}
	}
	res.flow.some, res.flow.by = some, by
	return res
}

func (e *eval) stmt(s *syntax.Stmt, ctx context) result {
	if s == nil || !e.r.spend(1) {
		return result{}
	}
	outer := e.sh
	if s.Background || s.Coprocess {
		ctx.background = true
		ctx.tolerated = true
		e.sh = e.sh.child()
		defer func() { e.sh = outer }()
	}
	if s.Negated {
		ctx.tolerated = true
		ctx.endsOn = !ctx.endsOn
	}
	var hereDoc *hereDoc
	ctx.redirects, hereDoc = e.redirects(s, ctx)
	var res result
	switch c := s.Cmd.(type) {
	case nil:
		// Redirections alone: "> file" empties it.
		if len(s.Redirs) > 0 {
			start, end := e.span(s)
			res = e.emit(&Command{Arg: e.at.arg, Start: start, End: end}, hereDoc, ctx)
		}
	case *syntax.CallExpr:
		res = e.call(s, c, hereDoc, ctx)
	case *syntax.DeclClause:
		res = e.declare(c, ctx)
	case *syntax.Block:
		res = e.list(c.Stmts, ctx)
	case *syntax.Subshell:
		e.sh = e.sh.child()
		res = e.list(c.Stmts, ctx)
		e.sh = outer
		res.flow = leave(res.flow, leavesScript)
	case *syntax.IfClause:
		res = e.ifClause(c, ctx)
	case *syntax.WhileClause:
		res = e.whileClause(c, ctx)
	case *syntax.ForClause:
		res = e.forClause(c, ctx)
	case *syntax.CaseClause:
		res = e.caseClause(c, ctx)
	case *syntax.BinaryCmd:
		res = e.binary(c, ctx)
	case *syntax.FuncDecl:
		if c.Name != nil && len(e.sh.funcs) < 1000 {
			e.sh.funcs[c.Name.Value] = &function{body: c.Body, in: e}
		}
	case *syntax.TestClause:
		res = e.testClause(c, ctx)
	case *syntax.ArithmCmd:
		e.forget(c)
	case *syntax.LetClause:
		e.forget(c)
	case *syntax.TimeClause:
		res = e.stmt(c.Stmt, ctx)
	case *syntax.CoprocClause:
		ctx.background, ctx.tolerated = true, true
		e.sh = e.sh.child()
		e.stmt(c.Stmt, ctx)
		e.sh = outer
	}
	if s.Negated {
		res.truth, res.negated = res.truth.not(), !res.negated
	}
	if s.Background || s.Coprocess {
		return result{truth: succeeds}
	}
	return res
}

// leave drops what ended inside of a loop, function or process that is now
// left.
func leave(f flow, what reach) flow {
	if f.end <= what {
		f.end, f.failed = goesOn, false
	}
	if f.some <= what {
		f.some, f.by = goesOn, nil
	}
	return f
}

// branch reads one way through a choice on a copy of the variables.
func (e *eval) branch(read func() result) (result, map[string]variable) {
	before := e.sh.vars
	e.r.spend(len(before) / 32)
	e.sh.vars = maps.Clone(before)
	res := read()
	after := e.sh.vars
	e.sh.vars = before
	return res, after
}

// way is one way through a choice.
type way struct {
	res  result
	vars map[string]variable
}

// join continues after a choice. Only ways that go on bring their variables; a
// value that differs between them is unknown.
func (e *eval) join(ways []way, by []*Command) result {
	var out result
	var vars map[string]variable
	ended := leavesScript
	allFailed := true
	open := 0
	for _, w := range ways {
		f := w.res.flow
		if f.some != goesOn {
			out.flow.some = max(out.flow.some, f.some)
			out.flow.by = append(out.flow.by, f.by...)
		}
		if f.end != goesOn {
			ended = min(ended, f.end)
			allFailed = allFailed && f.failed
			if !f.failed {
				out.flow.some = max(out.flow.some, f.end)
				out.flow.by = append(out.flow.by, by...)
			}
			continue
		}
		open++
		if vars == nil {
			vars = maps.Clone(w.vars)
			continue
		}
		for k, v := range vars {
			if other, ok := w.vars[k]; !ok || !v.equal(other) {
				delete(vars, k)
			}
		}
	}
	if open == 0 && len(ways) > 0 {
		out.flow.end, out.flow.failed = ended, allFailed
		return out
	}
	if vars != nil {
		e.sh.vars = vars
	}
	return out
}

func (e *eval) ifClause(c *syntax.IfClause, ctx context) result {
	if len(c.Cond) == 0 {
		// An "else".
		return e.list(c.Then, ctx)
	}
	condCtx := ctx
	condCtx.tolerated = true
	condCtx.last = false
	condCtx.piped = nil
	cond := e.list(c.Cond, condCtx)
	if cond.flow.end != goesOn {
		return cond
	}
	otherwise := func(ctx context) result {
		if c.Else == nil {
			return result{}
		}
		return e.ifClause(c.Else, ctx)
	}
	switch cond.truth {
	case succeeds:
		return e.list(c.Then, ctx)
	case fails:
		return otherwise(ctx)
	}
	then, thenVars := e.branch(func() result { return e.list(c.Then, ctx.under(cond, true)) })
	els, elseVars := e.branch(func() result { return otherwise(ctx.under(cond, false)) })
	var by []*Command
	if cond.last != nil {
		by = []*Command{cond.last}
	}
	return e.join([]way{{then, thenVars}, {els, elseVars}}, by)
}

// forget makes all variables unknown that are assigned anywhere inside of a
// node: inside of a loop a value may be that of any turn.
func (e *eval) forget(n syntax.Node) {
	visited := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		if visited++; visited%32 == 0 && !e.r.spend(1) {
			return false
		}
		switch x := n.(type) {
		case *syntax.Assign:
			if x.Name != nil {
				delete(e.sh.vars, x.Name.Value)
			}
		case *syntax.WordIter:
			delete(e.sh.vars, x.Name.Value)
		case *syntax.ParamExp:
			if x.Param != nil && x.Exp != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull) {
				delete(e.sh.vars, x.Param.Value)
			}
		case *syntax.CallExpr:
			if len(x.Args) > 0 {
				e.forgetCall(x)
			}
		case *syntax.BinaryArithm:
			e.forgetWord(x.X)
		case *syntax.UnaryArithm:
			e.forgetWord(x.X)
		}
		return true
	})
}

// forgetCall: a builtin that sets variables, or a function or file that may set
// any.
func (e *eval) forgetCall(x *syntax.CallExpr) {
	name := x.Args[0].Lit()
	switch name {
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "export":
		for _, a := range x.Args[1:] {
			n, _, _ := strings.Cut(a.Lit(), "=")
			delete(e.sh.vars, n)
		}
	case "eval", ".", "source":
		clear(e.sh.vars)
	default:
		if f, ok := e.sh.funcs[name]; ok && f.body != nil && e.depth < maxDepth && e.r.spend(100) {
			// A function that calls itself is bounded by the steps.
			e.depth++
			e.forget(f.body)
			e.depth--
		}
	}
}

func (e *eval) forgetWord(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok {
		delete(e.sh.vars, w.Lit())
	}
}

func (e *eval) whileClause(c *syntax.WhileClause, ctx context) result {
	e.forget(c)
	condCtx := ctx
	condCtx.loop, condCtx.loopCondition, condCtx.endsOn = true, true, c.Until
	condCtx.tolerated, condCtx.last, condCtx.piped = true, false, nil
	cond := e.list(c.Cond, condCtx)
	if cond.flow.end != goesOn {
		return cond
	}
	runs := cond.truth
	if c.Until {
		runs = runs.not()
	}
	if runs == fails {
		return result{}
	}
	body := ctx
	body.loop, body.loopCondition, body.last, body.piped = true, false, false, nil
	body.loopBase = len(body.conditions)
	if runs != succeeds {
		body = body.under(cond, !c.Until)
		body.loopBase = len(body.conditions)
	}
	res, vars := e.branch(func() result { return e.list(c.Do, body) })
	left := res.flow.end == leavesLoop || res.flow.some == leavesLoop
	res.flow = leave(res.flow, leavesLoop)
	if runs == succeeds && !left && !hasBreak(c.Do) {
		// Nothing leaves "while true" but the end of the script.
		return result{flow: flow{end: leavesScript}}
	}
	ways := []way{{res, vars}}
	if runs != succeeds {
		ways = append(ways, way{result{}, maps.Clone(e.sh.vars)})
	}
	out := e.join(ways, nil)
	e.forget(c)
	return out
}

// hasBreak looks for a break that the reading of the body may have missed.
func hasBreak(stmts []*syntax.Stmt) bool {
	found := false
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "break", "return", "exit", "exec":
					found = true
				}
			}
			return !found
		})
	}
	return found
}

func (e *eval) forClause(c *syntax.ForClause, ctx context) result {
	body := ctx
	body.loop, body.loopCondition, body.last, body.piped = true, false, false, nil
	body.loopBase = len(body.conditions)
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select {
		// The C style counts; what it counts is not followed.
		e.forget(c)
		body.conditional = body.conditional || c.Select
		res, vars := e.branch(func() result { return e.list(c.Do, body) })
		res.flow = leave(res.flow, leavesLoop)
		out := e.join([]way{{res, vars}, {result{}, maps.Clone(e.sh.vars)}}, nil)
		e.forget(c)
		return out
	}
	var items []Word
	known, certain := true, false
	if !iter.InPos.IsValid() {
		items, known = e.sh.params, e.sh.paramsKnown && !e.sh.paramsOpen
	}
	for _, w := range iter.Items {
		words, all := e.items(w, ctx)
		known = known && all
		certain = certain || len(words) > 0 && (all || words[0].Known) || counts(w)
		items = append(items, words...)
	}
	name := iter.Name.Value
	if !known || len(items) > maxItems {
		if known {
			certain = true
		}
		e.forget(c)
		body.conditional = body.conditional || !certain
		res, vars := e.branch(func() result { return e.list(c.Do, body) })
		res.flow = leave(res.flow, leavesLoop)
		ways := []way{{res, vars}}
		if !certain {
			ways = append(ways, way{result{}, maps.Clone(e.sh.vars)})
		}
		out := e.join(ways, nil)
		e.forget(c)
		return out
	}
	var out result
	for _, item := range items {
		if !e.r.spend(1) {
			break
		}
		e.set(name, variable{text: item.Text})
		res := e.list(c.Do, body)
		out.flow.some = max(out.flow.some, res.flow.some)
		out.flow.by = append(out.flow.by, res.flow.by...)
		if res.flow.end == leavesLoop {
			break
		}
		if res.flow.end > leavesLoop {
			out.flow.end, out.flow.failed = res.flow.end, res.flow.failed
			break
		}
		if res.flow.some == leavesLoop {
			body.conditional = true
		}
	}
	out.flow = leave(out.flow, leavesLoop)
	return out
}

// counts reports whether a word surely yields items: $(seq 1 30), {1..30}.
func counts(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch x := p.(type) {
		case *syntax.CmdSubst:
			if len(x.Stmts) == 1 {
				if call, ok := x.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 1 && call.Args[0].Lit() == "seq" {
					return true
				}
			}
		case *syntax.Lit:
			if strings.HasPrefix(x.Value, "{") && strings.Contains(x.Value, "..") {
				return true
			}
		}
	}
	return false
}

func (e *eval) caseClause(c *syntax.CaseClause, ctx context) result {
	word := e.one(c.Word, ctx)
	var ways []way
	certain := false // a pattern that surely matches was met
	for _, item := range c.Items {
		match := fails
		for _, p := range item.Patterns {
			if m := e.matches(word, p, ctx); m == succeeds {
				match = succeeds
				break
			} else if m == maybe {
				match = maybe
			}
		}
		if match == fails || certain {
			continue
		}
		if match == succeeds && len(ways) == 0 && item.Op == syntax.Break {
			return e.list(item.Stmts, ctx)
		}
		branch := ctx
		branch.conditional, branch.orElse = true, nil
		res, vars := e.branch(func() result { return e.list(item.Stmts, branch) })
		ways = append(ways, way{res, vars})
		certain = match == succeeds
	}
	if !certain {
		ways = append(ways, way{result{}, maps.Clone(e.sh.vars)})
	}
	return e.join(ways, nil)
}

// matches compares a case word with a pattern. Anything with a wildcard but "*"
// alone is left open.
func (e *eval) matches(word Word, pattern *syntax.Word, ctx context) truth {
	if pattern.Lit() == "*" {
		return succeeds
	}
	if !word.Known {
		return maybe
	}
	quoted := true
	for _, p := range pattern.Parts {
		switch x := p.(type) {
		case *syntax.Lit:
			quoted = quoted && !strings.ContainsAny(x.Value, "*?[")
		case *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			quoted = false
		}
	}
	if !quoted {
		return maybe
	}
	p := e.one(pattern, ctx)
	if !p.Known {
		return maybe
	}
	if p.Text == word.Text {
		return succeeds
	}
	return fails
}

func (e *eval) binary(c *syntax.BinaryCmd, ctx context) result {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		return e.pipe(c, ctx)
	case syntax.AndStmt:
		left := ctx
		// set -e does not look at it; its failure counts only as the status of
		// the whole list.
		left.tolerated = ctx.tolerated || !ctx.last
		x := e.stmt(c.X, left)
		if x.flow.end != goesOn || x.truth == fails {
			return x
		}
		if x.truth == succeeds || x.last == nil || !x.negated && !isTest(x.last) {
			// An action in front decides nothing that it does not have to.
			right := ctx
			right.piped = nil
			y := e.stmt(c.Y, right)
			y.flow.some = max(y.flow.some, x.flow.some)
			y.flow.by = append(x.flow.by, y.flow.by...)
			if x.truth != succeeds && y.truth == succeeds {
				y.truth = maybe
			}
			if y.flow.end != goesOn && x.truth != succeeds && !ctx.last {
				// "apk add x && exit 0" goes on when the action fails.
				y.flow.some = max(y.flow.some, y.flow.end)
				y.flow.end, y.flow.failed = goesOn, false
			}
			return y
		}
		return e.right(c.Y, ctx, x, true)
	case syntax.OrStmt:
		left := ctx
		if endsInFailure(e, c.Y, 0) {
			left.last = true
			left.tolerated = ctx.tolerated
		} else {
			left.tolerated = true
		}
		x := e.stmt(c.X, left)
		if x.flow.end != goesOn || x.truth == succeeds {
			return x
		}
		if x.truth == fails {
			right := ctx
			right.piped = nil
			return e.stmt(c.Y, right)
		}
		return e.right(c.Y, ctx, x, false)
	}
	return result{}
}

// right reads the right operand of && or || that is reached under a condition.
func (e *eval) right(s *syntax.Stmt, ctx context, x result, sense bool) result {
	right := ctx.under(x, sense)
	right.piped = nil
	if !sense {
		right.orElse = x.last
	}
	y, vars := e.branch(func() result { return e.stmt(s, right) })
	var by []*Command
	if x.last != nil {
		by = []*Command{x.last}
	}
	out := e.join([]way{{y, vars}, {result{flow: flow{some: x.flow.some, by: x.flow.by}}, maps.Clone(e.sh.vars)}}, by)
	out.last, out.negated = x.last, x.negated
	if y.last != nil {
		out.last, out.negated = y.last, y.negated
	}
	return out
}

func (e *eval) pipe(c *syntax.BinaryCmd, ctx context) result {
	outer := e.sh
	left := ctx
	left.tolerated = ctx.tolerated || !e.sh.pipefail
	e.sh = outer.child()
	x := e.stmt(c.X, left)
	right := ctx
	right.piped = x.last
	e.sh = outer.child()
	y := e.stmt(c.Y, right)
	e.sh = outer
	// "curl ... | grep -q x" asks what curl answers.
	y.flow = leave(y.flow, leavesScript)
	return y
}

// endsInFailure reports whether a statement surely ends the script with a
// failure: exit 1, { echo ...; exit 1; }, a function that does so.
func endsInFailure(e *eval, s *syntax.Stmt, depth int) bool {
	if s == nil || depth > maxDepth || s.Negated || s.Background {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false
		}
		name := c.Args[0].Lit()
		switch name {
		case "exit", "return":
			if len(c.Args) < 2 {
				// The status of the command that failed.
				return true
			}
			return c.Args[1].Lit() != "0"
		case "false":
			return true
		}
		if f, ok := e.sh.funcs[name]; ok {
			return endsInFailure(e, f.body, depth+1)
		}
	case *syntax.Block:
		return len(c.Stmts) > 0 && endsInFailure(e, c.Stmts[len(c.Stmts)-1], depth+1)
	case *syntax.Subshell:
		return false
	}
	return false
}

// isTest reports whether a command asks rather than acts.
func isTest(c *Command) bool {
	args := c.args()
	arg := func(i int) string {
		if i < len(args) {
			return args[i].Text
		}
		return ""
	}
	switch c.Name() {
	case "[", "test", "[[", "grep", "egrep", "fgrep", "command", "which", "type", "hash", "ping", "ping6", "nc", "pgrep", "pidof",
		"true", "false", "expr", "cmp", "diff", "lsmod", "getent", "mountpoint":
		return true
	case "iptables", "ip6tables", "iptables-legacy", "iptables-nft", "ip6tables-legacy", "ip6tables-nft":
		for _, a := range args {
			if a.Text == "-C" || a.Text == "--check" {
				return true
			}
		}
	case "ip":
		for _, a := range args {
			switch a.Text {
			case "show", "list", "ls", "get":
				return true
			}
		}
	case "wg":
		return arg(0) == "show" || arg(0) == ""
	case "sysctl":
		for _, a := range args {
			if strings.Contains(a.Text, "=") || a.Text == "-p" || a.Text == "-w" || strings.HasPrefix(a.Text, "--load") || a.Text == "--system" {
				return false
			}
		}
		return true
	}
	return false
}

// exitStatus reads the argument of exit or return.
func exitStatus(args []Word) (failed bool) {
	if len(args) == 0 || !args[0].Known {
		return false
	}
	n, err := strconv.Atoi(args[0].Text)
	return err == nil && n != 0
}
