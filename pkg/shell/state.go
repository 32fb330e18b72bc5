package shell

import (
	"maps"

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
	// forks are the ways on which what follows stands.
	forks []Fork
}

// result is what a statement leaves behind.
type result struct {
	// last is the command whose exit status it is, nil if none.
	last  *Command
	truth truth
	// negated: the status is the opposite of last's.
	negated bool
	// also are the other commands of a list of && or ||: what each of them did
	// when the whole succeeded, for allFail when it failed. mixed: the status
	// hangs on several in another way.
	also           []Outcome
	allFail, mixed bool
	flow           flow
}

// outcome is what the status says of its last command when it succeeds or, for
// a list of ||, fails.
func (r result) outcome(fails bool) Outcome { return Outcome{r.last, r.negated == fails} }

// condition is a command whose outcome decides, and the outcome that leads on.
type condition struct {
	cmd   *Command
	sense bool
}

// context is how a statement is reached.
type context struct {
	conditional   bool
	conditions    []condition
	forks         []Fork
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
	netns         namespace
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
	// made are the chains that iptables made so far.
	made map[string]bool
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
