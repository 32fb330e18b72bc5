package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
