package shell

import (
	"maps"

	"mvdan.cc/sh/v3/syntax"
)

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
		if x.truth == succeeds || x.last == nil || !x.negated && !Asks(x.last) && x.last.Refused == nil {
			// An action in front decides nothing that it does not have to.
			right := ctx
			right.piped = nil
			y := e.stmt(c.Y, right)
			y.flow.some = max(y.flow.some, x.flow.some)
			y.flow.by = append(x.flow.by, y.flow.by...)
			y.flow.forks = append(x.flow.forks, y.flow.forks...)
			if x.truth != succeeds && y.truth == succeeds {
				y.truth = maybe
			}
			if y.flow.end != goesOn && x.truth != succeeds && !ctx.last {
				// "apk add x && exit 0" goes on when the action fails.
				y.flow.some = max(y.flow.some, y.flow.end)
				y.flow.end, y.flow.failed = goesOn, false
				y.flow.forks = append(y.flow.forks, perhaps())
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

// both gathers what the operands of && or ||, which is allFail, must have done.
func (r *result) both(x, y result, allFail bool) {
	fits := func(z result) bool { return !z.mixed && z.last != nil && (len(z.also) == 0 || z.allFail == allFail) }
	if !fits(x) || !fits(y) {
		r.mixed = true
		return
	}
	r.also, r.allFail = append(append(r.also, x.also...), x.outcome(allFail)), allFail
	r.also = append(r.also, y.also...)
}

// right reads the right operand of && or || that is reached under a condition.
func (e *eval) right(s *syntax.Stmt, ctx context, x result, sense bool) result {
	yes, no := choice(x)
	if !sense {
		yes, no = no, yes
	}
	right := ctx.under(x, sense).on(yes)
	right.piped = nil
	if !sense {
		right.orElse = x.last
	}
	y, vars := e.branch(func() result { return e.stmt(s, right) })
	var by []*Command
	if x.last != nil {
		by = []*Command{x.last}
	}
	left := result{flow: flow{some: x.flow.some, by: x.flow.by, forks: x.flow.forks}}
	out := e.join([]way{{y, vars, yes}, {left, maps.Clone(e.sh.vars), no}}, by)
	out.last, out.negated = x.last, x.negated
	if y.last != nil {
		out.last, out.negated = y.last, y.negated
		out.both(x, y, !sense)
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
