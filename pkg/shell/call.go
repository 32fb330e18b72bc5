package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call reads a simple command.
func (e *eval) call(s *syntax.Stmt, c *syntax.CallExpr, doc *hereDoc, ctx context) result {
	first := len(e.r.script.Commands)
	var words []Word
	for _, w := range c.Args {
		words = append(words, e.fields(w, ctx)...)
	}
	if len(words) == 0 {
		res := result{truth: succeeds}
		for _, a := range c.Assigns {
			if e.assign(a, false, ctx) {
				res.truth = maybe
			}
		}
		if n := len(e.r.script.Commands); n > first {
			// X=$(cmd): the status is the command's.
			res.last = e.r.script.Commands[n-1]
			res.truth = maybe
		}
		return res
	}
	// X=1 cmd: for the command's own process.
	type saved struct {
		name string
		v    variable
		had  bool
	}
	var before []saved
	for _, a := range c.Assigns {
		if a.Name != nil {
			v, had := e.sh.vars[a.Name.Value]
			before = append(before, saved{a.Name.Value, v, had})
		}
		e.assign(a, true, ctx)
	}
	start, end := e.span(s)
	if len(s.Redirs) == 0 {
		start, end = e.span(c)
	} else if s.Semicolon.IsValid() {
		end = min(end, e.spanEnd(s))
	}
	cmd := &Command{Words: words, Start: start, End: end}
	res := e.dispatch(cmd, doc, ctx)
	for i := len(before) - 1; i >= 0; i-- {
		if before[i].had {
			e.sh.vars[before[i].name] = before[i].v
		} else {
			delete(e.sh.vars, before[i].name)
		}
	}
	e.awaited(cmd, first)
	return res
}

// spanEnd is the end of a statement without its semicolon.
func (e *eval) spanEnd(s *syntax.Stmt) int {
	at := min(int(s.Semicolon.Offset()), len(e.text))
	_, end := e.at.of(at, at)
	return end
}

// awaited gives the commands inside of a test's $(...) the test's own part in a
// loop's condition: until [ -n "$(wg show)" ].
func (e *eval) awaited(cmd *Command, first int) {
	if !cmd.LoopCondition {
		return
	}
	for _, c := range e.r.script.Commands[min(first, len(e.r.script.Commands)):] {
		if c.Substituted && c != cmd {
			c.LoopCondition, c.Awaited = true, cmd.Awaited
		}
	}
}

// emit reports a command.
func (e *eval) emit(cmd *Command, doc *hereDoc, ctx context) result {
	if len(e.r.script.Commands) >= maxCommands {
		e.r.script.Truncated = true
		return result{}
	}
	cmd.Redirects = ctx.redirects
	cmd.PipedFrom = ctx.piped
	cmd.Conditional = ctx.conditional
	for _, c := range ctx.conditions {
		cmd.Conditions = append(cmd.Conditions, c.cmd)
	}
	if ctx.conditional {
		if cmd.Forks = ctx.forks; len(cmd.Forks) == 0 {
			cmd.Forks = []Fork{perhaps()}
		}
	}
	cmd.OrElse = ctx.orElse
	cmd.Loop = ctx.loop
	cmd.LoopCondition = ctx.loopCondition
	cmd.Awaited = ctx.loopCondition && ctx.endsOn != negativeTest(cmd)
	cmd.Background = ctx.background
	cmd.Substituted = ctx.substituted
	cmd.Exec = ctx.exec
	cmd.Tolerated = ctx.tolerated || !ctx.exec && !e.sh.errexit && !ctx.last
	cmd.Wrappers = ctx.wrappers
	cmd.OtherNetNS, cmd.FirstNetNS = ctx.netns != ownNamespace, ctx.netns == firstNamespace
	switch {
	case doc == nil:
	case doc.file != nil:
		cmd.Input = *doc.file
	default:
		cmd.HereDoc, cmd.HereDocKnown, cmd.hereDoc = doc.text, doc.known, doc.at
	}
	e.r.script.Commands = append(e.r.script.Commands, cmd)
	res := result{last: cmd, truth: testTruth(cmd)}
	if cmd.Refused = e.r.refusal(cmd); cmd.Refused != nil && !cmd.Tolerated {
		// Most likely the script ends here, and nobody meant that.
		res.flow.some, res.flow.forks = leavesScript, []Fork{{Choice: &Choice{Refused: true}, Way: -1}}
	}
	return res
}

// dispatch looks through wrappers and follows functions, shells and builtins.
// cmd has words.
func (e *eval) dispatch(cmd *Command, doc *hereDoc, ctx context) result {
	cmd.Arg = cmd.Words[0].Arg
	if e.argv {
		cmd.Start, cmd.End = cmd.Words[0].Start, cmd.Words[0].End
	}
	if e.depth > maxDepth || !e.r.spend(1) {
		e.r.script.Truncated = true
		return result{}
	}
	name := cmd.Name()
	args := cmd.args()
	if f, ok := e.sh.funcs[name]; ok && cmd.Words[0].Text == name {
		return e.function(f, args, ctx)
	}
	switch name {
	case "exec":
		if len(args) == 0 || strings.HasPrefix(args[0].Text, "-") && len(args) < 2 {
			return e.emit(cmd, doc, ctx)
		}
		inner := args
		for len(inner) > 1 && strings.HasPrefix(inner[0].Text, "-") {
			if inner[0].Text == "-a" {
				inner = inner[1:]
			}
			inner = inner[1:]
		}
		ctx.exec = true
		ctx.last = true
		e.dispatch(rest(cmd, inner), doc, ctx)
		return result{flow: flow{end: leavesScript}}
	case "exit", "return":
		res := e.emit(cmd, doc, ctx)
		res.flow.end = leavesScript
		if name == "return" {
			res.flow.end = leavesFunction
		}
		res.flow.failed = exitStatus(args)
		return res
	case "break", "continue":
		res := e.emit(cmd, doc, ctx)
		res.flow.end = leavesLoop
		if name == "break" {
			for _, c := range ctx.conditions[min(ctx.loopBase, len(ctx.conditions)):] {
				c.cmd.LoopCondition = true
				c.cmd.Awaited = c.sense != negativeTest(c.cmd)
			}
		}
		return res
	case "eval":
		if text, at, ok := joined(args); ok {
			return e.nested(text, at, e.sh, ctx)
		}
		clear(e.sh.vars)
		return e.emit(cmd, doc, ctx)
	case ".", "source":
		// A file that is not in view: it may set any variable and define any
		// function.
		clear(e.sh.vars)
		clear(e.sh.funcs)
		return e.emit(cmd, doc, ctx)
	case "set", "unset", "export", "readonly", "read", "mapfile", "readarray", "getopts", "shift", "printf":
		e.builtin(name, args)
		return e.emit(cmd, doc, ctx)
	}
	if script, ok := shellScript(name, args); ok && script.Text != "" {
		return e.runScript(name, args, script, ctx)
	}
	if isShell(name) && readsInput(args) {
		if doc != nil && doc.file == nil {
			return e.nested(doc.text, doc.at, e.process(args), ctx)
		}
		if p := ctx.piped; p != nil {
			if text, ok := printed(p); ok {
				// echo "..." | sh
				ctx.piped = nil
				return e.nested(text, place{start: p.Start, end: p.End, arg: p.Arg}, e.process(args), ctx)
			}
		}
	}
	if inner, netns, ok := unwrap(name, args); ok {
		ctx.wrappers = append(ctx.wrappers[:len(ctx.wrappers):len(ctx.wrappers)], name)
		ctx.netns = max(ctx.netns, netns)
		e.depth++
		res := e.dispatch(rest(cmd, inner), doc, ctx)
		e.depth--
		return res
	}
	return e.emit(cmd, doc, ctx)
}

// rest is a command with the words that a wrapper leaves.
func rest(cmd *Command, words []Word) *Command {
	c := *cmd
	c.Words = words
	return &c
}

// function reads the body of a function with the call's arguments.
func (e *eval) function(f *function, args []Word, ctx context) result {
	if f.body == nil || e.depth >= maxDepth {
		e.r.script.Truncated = e.r.script.Truncated || e.depth >= maxDepth
		return result{}
	}
	params, paramsKnown, paramsOpen := e.sh.params, e.sh.paramsKnown, e.sh.paramsOpen
	e.sh.setParams(args)
	in := *f.in
	in.sh, in.depth = e.sh, e.depth+1
	res := in.stmt(f.body, ctx)
	e.sh.params, e.sh.paramsKnown, e.sh.paramsOpen = params, paramsKnown, paramsOpen
	res.flow = leave(res.flow, leavesFunction)
	return res
}

// nested reads a script inside of the script.
func (e *eval) nested(text string, at place, sh *shell, ctx context) result {
	in := &eval{r: e.r, sh: sh, text: text, at: at, depth: e.depth + 1}
	first := len(e.r.script.Commands)
	stmts, errAt, err := parseText(text)
	in.failed(errAt, err)
	res := in.list(stmts, ctx)
	if err != nil && len(e.r.script.Commands) == first {
		return result{}
	}
	if sh != e.sh {
		res.flow = leave(res.flow, leavesScript)
	}
	return res
}

// process is the state of a shell that is started with options.
func (e *eval) process(args []Word) *shell {
	sh := e.sh.process()
	for i, a := range args {
		if a.Text == "-o" && i+1 < len(args) {
			sh.option(args[i+1].Text, true)
			continue
		}
		if len(a.Text) < 2 || a.Text[0] != '-' || a.Text[1] == '-' {
			break
		}
		sh.flags(a.Text[1:], true)
	}
	return sh
}

func (e *eval) runScript(name string, args []Word, script Word, ctx context) result {
	sh := e.process(args)
	if script.Known && name != "su" {
		sh.setParams(after(args, script))
	}
	return e.nested(script.Text, e.placeOf(script), sh, ctx)
}

// after returns the words behind a script: $0 and the parameters.
func after(args []Word, script Word) []Word {
	for i := range args {
		if args[i] == script && i+2 < len(args) {
			return args[i+2:]
		}
	}
	return nil
}

// placeOf finds where the text of an expanded word stands: exactly, if it is
// written as it is read.
func (e *eval) placeOf(w Word) place {
	p := place{start: w.Start, end: w.End, arg: w.Arg}
	if e.argv {
		p.exact = true
		return p
	}
	if !e.at.exact || e.at.arg != w.Arg {
		return p
	}
	start, end := w.Start-e.at.base, w.End-e.at.base
	if start < 0 || end > len(e.text) || start > end {
		return p
	}
	src := e.text[start:end]
	switch {
	case src == w.Text:
		p.exact, p.base = true, w.Start
	case len(src) == len(w.Text)+2 && src[1:len(src)-1] == w.Text:
		p.exact, p.base = true, w.Start+1
	}
	return p
}

// joined joins the words of eval.
func joined(args []Word) (string, place, bool) {
	if len(args) == 0 || !known(args) {
		return "", place{}, false
	}
	return strings.Join(texts(args), " "), place{start: args[0].Start, end: args[len(args)-1].End, arg: args[0].Arg}, true
}
