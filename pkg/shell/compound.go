package shell

import (
	"maps"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	yes, no := choice(cond)
	then, thenVars := e.branch(func() result { return e.list(c.Then, ctx.under(cond, true).on(yes)) })
	els, elseVars := e.branch(func() result { return otherwise(ctx.under(cond, false).on(no)) })
	var by []*Command
	if cond.last != nil {
		by = []*Command{cond.last}
	}
	return e.join([]way{{then, thenVars, yes}, {els, elseVars, no}}, by)
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
	enters, skips := choice(cond)
	if c.Until {
		enters, skips = skips, enters
	}
	if runs != succeeds {
		body = body.under(cond, !c.Until).on(enters)
		body.loopBase = len(body.conditions)
	}
	res, vars := e.branch(func() result { return e.list(c.Do, body) })
	left := res.flow.end == leavesLoop || res.flow.some == leavesLoop
	res.flow = leave(res.flow, leavesLoop)
	if runs == succeeds && !left && !hasBreak(c.Do) {
		// Nothing leaves "while true" but the end of the script.
		return result{flow: flow{end: leavesScript}}
	}
	ways := []way{{res, vars, enters}}
	if runs != succeeds {
		ways = append(ways, way{result{}, maps.Clone(e.sh.vars), skips})
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
		if c.Select {
			body.conditional = true
			body = body.on(perhaps())
		}
		res, vars := e.branch(func() result { return e.list(c.Do, body) })
		res.flow = leave(res.flow, leavesLoop)
		out := e.join([]way{{res, vars, Fork{}}, {result{}, maps.Clone(e.sh.vars), Fork{}}}, nil)
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
		if !certain {
			body.conditional = true
			body = body.on(perhaps())
		}
		res, vars := e.branch(func() result { return e.list(c.Do, body) })
		res.flow = leave(res.flow, leavesLoop)
		ways := []way{{res, vars, Fork{}}}
		if !certain {
			ways = append(ways, way{result{}, maps.Clone(e.sh.vars), Fork{}})
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
		out.flow.forks = append(out.flow.forks, res.flow.forks...)
		if res.flow.end == leavesLoop {
			break
		}
		if res.flow.end > leavesLoop {
			out.flow.end, out.flow.failed = res.flow.end, res.flow.failed
			break
		}
		if res.flow.some == leavesLoop {
			body.conditional = true
			body = body.on(res.flow.forks...)
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
	choice := &Choice{}
	take := func(stmts []*syntax.Stmt) {
		branch := ctx
		branch.conditional, branch.orElse = true, nil
		fork := Fork{Choice: choice, Way: len(ways)}
		res, vars := e.branch(func() result { return e.list(stmts, branch.on(fork)) })
		ways = append(ways, way{res, vars, fork})
	}
	for i, item := range c.Items {
		match := fails
		for _, p := range item.Patterns {
			if m := e.matches(word, p, ctx); m == succeeds {
				match = succeeds
				break
			} else if m == maybe {
				match = maybe
			}
		}
		if match == fails {
			continue
		}
		stmts, last := fallsInto(c.Items, i)
		if resumes(c.Items[last].Op) {
			// The patterns that follow are tried in any case: what is left of the clause
			// is a sequence of two.
			if match == maybe {
				stmts = []*syntax.Stmt{clause(c, &syntax.CaseItem{Op: syntax.Break, OpPos: item.OpPos, Patterns: item.Patterns, Stmts: stmts})}
			}
			stmts = append(stmts, clause(c, c.Items[last+1:]...))
			match = succeeds
		}
		if match == succeeds && len(ways) == 0 {
			return e.list(stmts, ctx)
		}
		take(stmts)
		if match == succeeds {
			certain = true
			break
		}
	}
	if !certain {
		ways = append(ways, way{result{}, maps.Clone(e.sh.vars), Fork{Choice: choice, Way: len(ways)}})
	}
	choice.Ways = len(ways)
	return e.join(ways, nil)
}

// resumes: ";;&" and its older spelling ";|" go on to test the next pattern.
func resumes(op syntax.CaseOperator) bool { return op == syntax.Resume || op == syntax.ResumeKorn }

// fallsInto are the commands of an item, and those of the next ones as long as
// ";&" leads into them without a test, with the last of these items.
func fallsInto(items []*syntax.CaseItem, i int) ([]*syntax.Stmt, int) {
	var out []*syntax.Stmt
	for ; ; i++ {
		out = append(out, items[i].Stmts...)
		if items[i].Op != syntax.Fallthrough || i+1 == len(items) {
			return out, i
		}
	}
}

// clause is a case with some of the items of another.
func clause(c *syntax.CaseClause, items ...*syntax.CaseItem) *syntax.Stmt {
	part := *c
	part.Items = items
	return &syntax.Stmt{Cmd: &part, Position: c.Pos()}
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
