package shell

import (
	"errors"
	"maps"

	"mvdan.cc/sh/v3/syntax"
)

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
	var forks []Fork
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
		forks = append(forks, res.flow.forks...)
		if res.flow.end != goesOn {
			break
		}
		if res.flow.some != goesOn {
			ctx.conditional = true
			ctx.orElse = nil
			if ctx = ctx.on(res.flow.forks...); len(res.flow.forks) == 0 {
				ctx = ctx.on(perhaps())
			}
			for _, cmd := range res.flow.by {
				ctx.conditions = append(ctx.conditions[:len(ctx.conditions):len(ctx.conditions)], condition{cmd, false})
			}
		}
	}
	res.flow.some, res.flow.by, res.flow.forks = some, by, forks
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
		res.allFail = !res.allFail
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
		f.some, f.by, f.forks = goesOn, nil, nil
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
	fork Fork
}

// join continues after a choice. Only ways that go on bring their variables; a
// value that differs between them is unknown.
func (e *eval) join(ways []way, by []*Command) result {
	var out result
	var vars map[string]variable
	ended := leavesScript
	allFailed := true
	open := 0
	leaves := false
	for _, w := range ways {
		f := w.res.flow
		if f.some != goesOn {
			out.flow.some = max(out.flow.some, f.some)
			out.flow.by = append(out.flow.by, f.by...)
			out.flow.forks = append(out.flow.forks, f.forks...)
		}
		if f.end != goesOn {
			ended = min(ended, f.end)
			allFailed = allFailed && f.failed
			if !f.failed {
				out.flow.some = max(out.flow.some, f.end)
				out.flow.by = append(out.flow.by, by...)
				leaves = true
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
	if leaves {
		out.flow.forks = append(out.flow.forks, openWay(ways))
	}
	if vars != nil {
		e.sh.vars = vars
	}
	return out
}
