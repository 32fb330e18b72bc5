package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// testTruth is the exit status of a command where its words alone decide it.
func testTruth(c *Command) truth {
	switch c.Name() {
	case "true", ":":
		return succeeds
	case "false":
		return fails
	case "[", "test":
		args := c.args()
		if c.Name() == "[" {
			if len(args) == 0 || args[len(args)-1].Text != "]" {
				return maybe
			}
			args = args[:len(args)-1]
		}
		return evalTest(args)
	}
	return maybe
}

// evalTest evaluates the comparisons of test(1) whose operands are known. It
// knows nothing of files.
func evalTest(args []Word) truth {
	if len(args) > 1 && args[0].Text == "!" {
		return evalTest(args[1:]).not()
	}
	for _, a := range args {
		if !a.Known {
			return maybe
		}
	}
	switch len(args) {
	case 0:
		return fails
	case 1:
		return is(args[0].Text != "")
	case 2:
		return unary(args[0].Text, args[1].Text)
	case 3:
		return compare(args[0].Text, args[1].Text, args[2].Text)
	}
	return maybe
}

func is(b bool) truth {
	if b {
		return succeeds
	}
	return fails
}

func unary(op, x string) truth {
	switch op {
	case "-z":
		return is(x == "")
	case "-n":
		return is(x != "")
	}
	return maybe
}

func compare(x, op, y string) truth {
	switch op {
	case "=", "==":
		return is(x == y)
	case "!=":
		return is(x != y)
	}
	a, errA := strconv.Atoi(x)
	b, errB := strconv.Atoi(y)
	if errA != nil || errB != nil {
		return maybe
	}
	switch op {
	case "-eq":
		return is(a == b)
	case "-ne":
		return is(a != b)
	case "-lt":
		return is(a < b)
	case "-le":
		return is(a <= b)
	case "-gt":
		return is(a > b)
	case "-ge":
		return is(a >= b)
	}
	return maybe
}

// negativeTest reports whether a test succeeds when what it looks for is not
// there: [ ! -e FILE ], [ -z "$(cmd)" ], [ "$(cmd)" != up ].
func negativeTest(c *Command) bool {
	switch c.Name() {
	case "[", "test", "[[":
	case "grep", "egrep", "fgrep":
		for _, a := range c.args() {
			if len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, "v") {
				return true
			}
		}
		return false
	default:
		return false
	}
	negative := false
	args := c.args()
	for i, a := range args {
		switch a.Text {
		case "!", "-z":
			negative = !negative
		case "!=":
			negative = !negative
		case "=", "==":
			// Compared with nothing: [ "$(cmd)" = "" ].
			if i+1 < len(args) && args[i+1].Known && args[i+1].Text == "" {
				negative = !negative
			}
		case "-eq":
			if i+1 < len(args) && args[i+1].Text == "0" && !args[0].Known && !strings.Contains(args[0].Text, "$?") {
				negative = !negative
			}
		}
		if a.Text == "!=" && i+1 < len(args) && args[i+1].Known && args[i+1].Text == "" {
			negative = !negative
		}
	}
	return negative
}

// testClause reports [[ ... ]] as a command of its operators and operands.
func (e *eval) testClause(c *syntax.TestClause, ctx context) result {
	first := len(e.r.script.Commands)
	start, end := e.span(c)
	cmd := &Command{Start: start, End: end, Arg: e.at.arg}
	cmd.Words = append(cmd.Words, Word{Text: "[[", Known: true, Arg: e.at.arg, Start: start, End: min(start+2, end)})
	t := e.testExpr(c.X, cmd, ctx, 0)
	cmd.Words = append(cmd.Words, Word{Text: "]]", Known: true, Arg: e.at.arg, Start: max(start, end-2), End: end})
	res := e.emit(cmd, nil, ctx)
	res.truth = t
	e.awaited(cmd, first)
	return res
}

func (e *eval) testExpr(x syntax.TestExpr, cmd *Command, ctx context, depth int) truth {
	if x == nil || depth > maxNesting {
		return maybe
	}
	operator := func(op string) {
		start, end := e.span(x)
		cmd.Words = append(cmd.Words, Word{Text: op, Known: true, Arg: e.at.arg, Start: start, End: end})
	}
	switch x := x.(type) {
	case *syntax.Word:
		w := e.one(x, ctx)
		cmd.Words = append(cmd.Words, w)
		if !w.Known {
			return maybe
		}
		return is(w.Text != "")
	case *syntax.ParenTest:
		return e.testExpr(x.X, cmd, ctx, depth+1)
	case *syntax.UnaryTest:
		operator(x.Op.String())
		t := e.testExpr(x.X, cmd, ctx, depth+1)
		switch x.Op {
		case syntax.TsNot:
			return t.not()
		case syntax.TsEmpStr:
			return t.not()
		case syntax.TsNempStr:
			return t
		}
		return maybe
	case *syntax.BinaryTest:
		a := e.testExpr(x.X, cmd, ctx, depth+1)
		at := len(cmd.Words)
		operator(x.Op.String())
		b := e.testExpr(x.Y, cmd, ctx, depth+1)
		switch x.Op {
		case syntax.AndTest:
			if a == fails || b == fails {
				return fails
			}
			if a == succeeds && b == succeeds {
				return succeeds
			}
			return maybe
		case syntax.OrTest:
			if a == succeeds || b == succeeds {
				return succeeds
			}
			if a == fails && b == fails {
				return fails
			}
			return maybe
		}
		if len(cmd.Words) != at+2 || at == 0 {
			return maybe
		}
		left, right := cmd.Words[at-1], cmd.Words[at+1]
		if !left.Known || !right.Known || strings.ContainsAny(right.Text, "*?[") {
			return maybe
		}
		return compare(left.Text, x.Op.String(), right.Text)
	}
	return maybe
}
