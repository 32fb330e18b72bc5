package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hereDoc is the here-document of a statement.
type hereDoc struct {
	text  string
	known bool
	at    place
}

// redirects expands the redirections of a statement: those of standard output
// and the here-document.
func (e *eval) redirects(s *syntax.Stmt, ctx context) ([]Redirect, *hereDoc) {
	out := ctx.redirects[:len(ctx.redirects):len(ctx.redirects)]
	var doc *hereDoc
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			doc = e.hereDocument(r, ctx)
		case syntax.WordHdoc:
			w := e.one(r.Word, ctx)
			doc = &hereDoc{text: w.Text + "\n", known: w.Known, at: place{start: w.Start, end: w.End, arg: e.at.arg}}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			target := e.one(r.Word, ctx)
			if r.N != nil && r.N.Value != "1" {
				continue
			}
			op := ">"
			if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
				op = ">>"
			}
			out = append(out, Redirect{Op: op, Target: target})
		default:
			if r.Word != nil {
				e.one(r.Word, ctx)
			}
		}
	}
	return out, doc
}

func (e *eval) hereDocument(r *syntax.Redirect, ctx context) *hereDoc {
	doc := &hereDoc{known: true, at: place{arg: e.at.arg}}
	if r.Hdoc == nil {
		return doc
	}
	quoted := false
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, "\\") {
			quoted = true
		}
	}
	if quoted {
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				doc.text += l.Value
			}
		}
	} else {
		var b strings.Builder
		for _, p := range e.pieces(r.Hdoc.Parts, true, ctx) {
			b.WriteString(p.text)
			doc.known = doc.known && p.known
		}
		doc.text = b.String()
	}
	start, end := e.local(r.Hdoc)
	from, to := e.at.of(start, end)
	doc.at.start, doc.at.end = from, to
	if e.at.exact && e.text[start:end] == doc.text {
		doc.at.exact, doc.at.base = true, from
	}
	return doc
}

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
	cmd.OrElse = ctx.orElse
	cmd.Loop = ctx.loop
	cmd.LoopCondition = ctx.loopCondition
	cmd.Awaited = ctx.loopCondition && ctx.endsOn != negativeTest(cmd)
	cmd.Background = ctx.background
	cmd.Substituted = ctx.substituted
	cmd.Exec = ctx.exec
	cmd.Tolerated = ctx.tolerated || !ctx.exec && !e.sh.errexit && !ctx.last
	cmd.Wrappers = ctx.wrappers
	cmd.OtherNetNS = ctx.otherNetNS
	if doc != nil {
		cmd.HereDoc, cmd.HereDocKnown = doc.text, doc.known
	}
	e.r.script.Commands = append(e.r.script.Commands, cmd)
	return result{last: cmd, truth: testTruth(cmd)}
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
		if doc != nil {
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
		ctx.otherNetNS = ctx.otherNetNS || netns
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

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "ash", "dash", "ksh", "mksh", "zsh":
		return true
	}
	return false
}

// shellScript finds the script of sh -c '...'. ok is false for a shell that
// runs a file.
func shellScript(name string, args []Word) (Word, bool) {
	if name != "su" && !isShell(name) {
		return Word{}, false
	}
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "-o" || a == "+o":
			i++
		case a == "--command" && name == "su", len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "c"):
			// Options may still follow before the script: bash -c -e '...'.
			i++
			for i < len(args) && len(args[i].Text) > 1 && (args[i].Text[0] == '-' || args[i].Text[0] == '+') {
				i++
			}
			if i < len(args) {
				return args[i], true
			}
			return Word{}, false
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "+"), name == "su":
		default:
			return Word{}, false
		}
	}
	return Word{}, false
}

// readsInput reports whether a shell with these arguments reads its script from
// standard input.
func readsInput(args []Word) bool {
	for _, a := range args {
		if a.Text == "-s" || a.Text == "-" {
			return true
		}
		if !strings.HasPrefix(a.Text, "-") {
			return false
		}
	}
	return true
}

// wrapperValues are the options of wrappers that take the next word.
var wrapperValues = map[string]string{
	"sudo": "ugpCDhrtTU", "doas": "uC", "nice": "n", "ionice": "cnp", "timeout": "ks", "env": "uCS", "stdbuf": "ioe", "nsenter": "tSGw",
	"unshare": "", "chroot": "", "setpriv": "", "chrt": "p", "taskset": "", "flock": "wE", "xargs": "ILnPsdaE", "tini": "pe",
	"dumb-init": "r", "runuser": "ug", "su-exec": "", "gosu": "", "catatonit": "g", "watch": "n", "strace": "eopsu",
}

// unwrap returns the command that a wrapper runs. netns tells whether it runs in
// another network namespace.
func unwrap(name string, args []Word) (inner []Word, netns, ok bool) {
	positional := 0
	switch name {
	case "command", "builtin":
		for _, a := range args {
			if a.Text == "-v" || a.Text == "-V" {
				return nil, false, false
			}
		}
	case "time", "nohup", "setsid", "sudo", "doas", "nice", "ionice", "env", "stdbuf", "nsenter", "unshare", "setpriv",
		"xargs", "tini", "tini-static", "dumb-init", "catatonit", "watch", "strace", "runuser":
	case "timeout", "chroot", "chrt", "taskset", "flock", "su-exec", "gosu", "s6-setuidgid":
		positional = 1
	case "busybox", "toybox":
		return args, false, len(args) > 0 && !strings.HasPrefix(args[0].Text, "-")
	case "with-contenv":
	case "ip":
		return netnsExec(args)
	default:
		return nil, false, false
	}
	values := wrapperValues[name]
	i := 0
	for i < len(args) {
		a := args[i].Text
		if a == "--" {
			i++
			break
		}
		if name == "env" && strings.Contains(a, "=") && !strings.HasPrefix(a, "-") {
			i++
			continue
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		if name == "nsenter" {
			netns = netns || entersNet(a)
		}
		if name == "unshare" && (a == "-n" || strings.HasPrefix(a, "--net")) {
			netns = true
		}
		i++
		switch {
		case a[1] == '-':
			// A long option holds its value after "=", but a few take a word.
			if (a == "--target" || a == "--user" || a == "--signal" || a == "--kill-after" || a == "--adjustment") && i < len(args) {
				i++
			}
		case strings.IndexByte(values, a[len(a)-1]) >= 0 && i < len(args):
			i++
		}
	}
	i += positional
	if i >= len(args) {
		return nil, false, false
	}
	return args[i:], netns, true
}

// entersNet: nsenter -n, --net, -a, and bundles such as -tn.
func entersNet(option string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.HasPrefix(option, "--net") || option == "--all"
	}
	return strings.ContainsAny(option, "na")
}

// netnsExec looks through "ip netns exec NAME command" and "ip -n NAME ...".
func netnsExec(args []Word) (inner []Word, netns, ok bool) {
	if len(args) > 3 && args[0].Text == "netns" && args[1].Text == "exec" {
		return args[3:], true, true
	}
	return nil, false, false
}

// builtin follows the builtins that change the shell's state.
func (e *eval) builtin(name string, args []Word) {
	switch name {
	case "set":
		e.setOptions(args)
	case "unset":
		for _, a := range args {
			delete(e.sh.vars, a.Text)
			if len(args) > 0 && args[0].Text == "-f" {
				delete(e.sh.funcs, a.Text)
			}
		}
	case "export", "readonly":
		for _, a := range args {
			n, v, isSet := strings.Cut(a.Text, "=")
			switch {
			case !isSet:
				if old, ok := e.sh.vars[n]; ok {
					old.exported = old.exported || name == "export"
					e.sh.vars[n] = old
				}
			case a.Known:
				e.set(n, variable{text: v, exported: name == "export"})
			default:
				delete(e.sh.vars, n)
			}
		}
	case "read", "mapfile", "readarray", "getopts":
		for _, a := range args {
			if !strings.HasPrefix(a.Text, "-") {
				delete(e.sh.vars, a.Text)
			}
			if !a.Known {
				clear(e.sh.vars)
			}
		}
	case "printf":
		if len(args) > 1 && args[0].Text == "-v" {
			delete(e.sh.vars, args[1].Text)
		}
	case "shift":
		n := 1
		if len(args) > 0 && args[0].Text != "1" {
			n = -1
		}
		if n == 1 && e.sh.paramsKnown {
			if len(e.sh.params) > 0 {
				e.sh.params = e.sh.params[1:]
			}
			return
		}
		e.sh.params, e.sh.paramsKnown, e.sh.paramsOpen = nil, false, false
	}
}

func (e *eval) setOptions(args []Word) {
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "--" || a == "-":
			e.sh.setParams(args[i+1:])
			return
		case a == "-o" || a == "+o":
			if i+1 < len(args) {
				i++
				e.sh.option(args[i].Text, a == "-o")
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			e.sh.flags(a[1:], a[0] == '-')
			if strings.HasSuffix(a, "o") && i+1 < len(args) {
				i++
				e.sh.option(args[i].Text, a[0] == '-')
			}
		default:
			e.sh.setParams(args[i:])
			return
		}
	}
}

func (s *shell) option(name string, on bool) {
	switch name {
	case "errexit":
		s.errexit = on
	case "pipefail":
		s.pipefail = on
	}
}

func (s *shell) flags(letters string, on bool) {
	if strings.Contains(letters, "e") {
		s.errexit = on
	}
}

// declare reads export, declare, local and the like.
func (e *eval) declare(c *syntax.DeclClause, ctx context) result {
	exported := c.Variant.Value == "export"
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			if w := e.one(a.Value, ctx); strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "x") {
				exported = true
			}
			continue
		}
		e.assign(a, exported, ctx)
	}
	start, end := e.span(c)
	cmd := &Command{Start: start, End: end, Arg: e.at.arg}
	cs, ce := e.span(c.Variant)
	cmd.Words = []Word{{Text: c.Variant.Value, Known: true, Arg: e.at.arg, Start: cs, End: ce}}
	for _, a := range c.Args {
		as, ae := e.span(a)
		cmd.Words = append(cmd.Words, Word{Text: e.source(a), Arg: e.at.arg, Start: as, End: ae})
	}
	return e.emit(cmd, nil, ctx)
}

// assign sets a variable and reports whether its status is a command's.
func (e *eval) assign(a *syntax.Assign, exported bool, ctx context) bool {
	if a.Name == nil {
		return false
	}
	name := a.Name.Value
	before := len(e.r.script.Commands)
	old, had := e.sh.vars[name]
	exported = exported || had && old.exported
	switch {
	case a.Naked:
		if had {
			old.exported = exported
			e.sh.vars[name] = old
		}
	case a.Index != nil:
		if a.Value != nil {
			e.one(a.Value, ctx)
		}
		delete(e.sh.vars, name)
	case a.Array != nil:
		v := variable{isList: true, exported: exported}
		ok := true
		if a.Append {
			v.list, ok = append(v.list, old.list...), had && old.isList
		}
		for _, el := range a.Array.Elems {
			if el.Value == nil {
				continue
			}
			for _, w := range e.fields(el.Value, ctx) {
				ok = ok && w.Known && len(v.list) < 1000
				if ok {
					v.list = append(v.list, w.Text)
				}
			}
		}
		if ok {
			e.set(name, v)
		} else {
			delete(e.sh.vars, name)
		}
	default:
		w := e.one(a.Value, ctx)
		text := w.Text
		if a.Append {
			text = old.text + text
			w.Known = w.Known && had && !old.isList
		}
		if w.Known {
			e.set(name, variable{text: text, exported: exported})
		} else {
			delete(e.sh.vars, name)
		}
	}
	return len(e.r.script.Commands) > before
}

func (e *eval) set(name string, v variable) {
	if _, had := e.sh.vars[name]; len(v.text) > maxValue || !had && len(e.sh.vars) >= 2000 {
		delete(e.sh.vars, name)
		return
	}
	e.sh.vars[name] = v
}
