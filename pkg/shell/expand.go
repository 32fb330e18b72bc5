package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// piece is a stretch of an expanded word.
type piece struct {
	text  string
	known bool
	// split: an unquoted expansion, which white space breaks into fields.
	split bool
	// break before this piece: the next element of "${list[@]}".
	next bool
	// none: "$@" without parameters, which leaves no field at all.
	none bool
	// several: unknown, and maybe several fields.
	several bool
}

// fields expands a word as an argument of a command.
func (e *eval) fields(w *syntax.Word, ctx context) []Word {
	start, end := e.span(w)
	var out []Word
	for _, alt := range braces(w) {
		out = append(out, e.fieldsOf(e.pieces(alt.Parts, false, ctx), start, end)...)
	}
	return out
}

func (e *eval) fieldsOf(pieces []piece, start, end int) []Word {
	cur := Word{Known: true, Arg: e.at.arg, Start: start, End: end}
	var out []Word
	open := false // cur holds something, be it ""
	flush := func() {
		if open {
			out = append(out, cur)
		}
		cur = Word{Known: true, Arg: e.at.arg, Start: start, End: end}
		open = false
	}
	for _, p := range pieces {
		if p.next {
			flush()
		}
		switch {
		case p.none:
		case !p.split || !p.known:
			cur.Text += p.text
			cur.Known = cur.Known && p.known
			cur.several = cur.several || p.several || !p.known && p.split
			open = true
		default:
			parts := strings.Fields(p.text)
			if len(parts) == 0 {
				if p.text != "" {
					flush()
				}
				continue
			}
			if strings.IndexByte(" \t\n", p.text[0]) >= 0 {
				flush()
			}
			for i, f := range parts {
				if i > 0 {
					flush()
				}
				cur.Text += f
				open = true
			}
			if strings.IndexByte(" \t\n", p.text[len(p.text)-1]) >= 0 {
				flush()
			}
		}
	}
	flush()
	return out
}

// one expands a word to a single word, as in an assignment or redirection.
func (e *eval) one(w *syntax.Word, ctx context) Word {
	if w == nil {
		return Word{Known: true, Arg: e.at.arg}
	}
	start, end := e.span(w)
	out := Word{Known: true, Arg: e.at.arg, Start: start, End: end}
	for i, p := range e.pieces(w.Parts, false, ctx) {
		if p.next && i > 0 {
			out.Text += " "
		}
		out.Text += p.text
		out.Known = out.Known && p.known
	}
	return out
}

// items expands a word of a for loop; all is false if some of it is unknown.
func (e *eval) items(w *syntax.Word, ctx context) (words []Word, all bool) {
	words = e.fields(w, ctx)
	all = !counts(w)
	for _, x := range words {
		all = all && x.Known
	}
	return words, all
}

// braces expands {a,b}. Sequences and large products stay as they are: nothing
// of the field is written with them, and they can be huge.
func braces(w *syntax.Word) []*syntax.Word {
	lists := 0
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			if strings.Contains(l.Value, "..") {
				return []*syntax.Word{w}
			}
			lists += strings.Count(l.Value, "{")
		}
	}
	if lists == 0 || lists > 3 {
		return []*syntax.Word{w}
	}
	c := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(c) {
		return []*syntax.Word{w}
	}
	return product(c.Parts)
}

// product multiplies out the brace expressions of a word's parts.
func product(parts []syntax.WordPart) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok || b.Sequence {
			for _, w := range words {
				w.Parts = append(w.Parts, p)
			}
			continue
		}
		var next []*syntax.Word
		for _, w := range words {
			for _, elem := range b.Elems {
				for _, tail := range product(elem.Parts) {
					if len(next) >= maxItems {
						return words
					}
					next = append(next, &syntax.Word{Parts: append(append([]syntax.WordPart(nil), w.Parts...), tail.Parts...)})
				}
			}
		}
		words = next
	}
	return words
}

// pieces expands the parts of a word. Commands inside of $(...) are reported on
// the way: they run before the command whose word they are in.
func (e *eval) pieces(parts []syntax.WordPart, quoted bool, ctx context) []piece {
	var out []piece
	total := 0
	for _, part := range parts {
		if !e.r.spend(1) {
			return append(out, piece{text: "", known: false})
		}
		for _, p := range e.piece(part, quoted, ctx) {
			total += len(p.text)
			if total > maxValue && p.known {
				p = piece{text: "", known: false}
			}
			out = append(out, p)
		}
	}
	return out
}

func (e *eval) piece(part syntax.WordPart, quoted bool, ctx context) []piece {
	unknown := func() []piece { return []piece{{text: e.source(part), split: !quoted}} }
	switch x := part.(type) {
	case *syntax.Lit:
		return []piece{{text: unescape(x.Value, quoted), known: true}}
	case *syntax.SglQuoted:
		if x.Dollar {
			text, ok := ansiC(x.Value)
			if !ok {
				return unknown()
			}
			return []piece{{text: text, known: true}}
		}
		return []piece{{text: x.Value, known: true}}
	case *syntax.DblQuoted:
		if len(x.Parts) == 0 {
			return []piece{{known: true}}
		}
		return e.pieces(x.Parts, true, ctx)
	case *syntax.ParamExp:
		return e.param(x, quoted, ctx)
	case *syntax.CmdSubst:
		e.substitute(x.Stmts, ctx)
		return unknown()
	case *syntax.ProcSubst:
		e.substitute(x.Stmts, ctx)
		return unknown()
	case *syntax.ArithmExp:
		e.forget(x)
		return unknown()
	}
	return unknown()
}

// substitute reads the commands of $(...).
func (e *eval) substitute(stmts []*syntax.Stmt, ctx context) {
	if e.depth >= maxDepth*4 {
		e.r.script.Truncated = true
		return
	}
	outer := e.sh
	e.sh = outer.child()
	e.depth++
	ctx.substituted = true
	ctx.redirects, ctx.piped, ctx.exec = nil, nil, false
	e.list(stmts, ctx)
	e.depth--
	e.sh = outer
}

// unescape removes backslashes as the quoting asks for.
func unescape(s string, quoted bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		next := s[i+1]
		switch {
		case next == '\n':
			i++
		case !quoted || strings.IndexByte("\\\"$`", next) >= 0:
			b.WriteByte(next)
			i++
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// ansiC reads $'...' with its simple escapes; ok is false for others.
func ansiC(s string) (text string, ok bool) {
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'e': 27, 'f': 12, 'v': 11}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		c, known := simple[s[i]]
		if !known {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// param expands $NAME and ${NAME...}.
func (e *eval) param(x *syntax.ParamExp, quoted bool, ctx context) []piece {
	unknown := []piece{{text: e.source(x), split: !quoted}}
	if x.Param == nil || x.Excl || x.Length || x.Width || x.IsSet || x.Names != 0 || x.Slice != nil || x.Flags != nil ||
		x.NestedParam != nil || len(x.Modifiers) > 0 {
		return unknown
	}
	name := x.Param.Value
	if name == "@" || name == "*" {
		unknown[0].several = name == "@" || !quoted
		return e.allParams(x, quoted, name == "@", unknown)
	}
	value, ok := e.value(name)
	if ok && x.Index != nil {
		return e.element(x, value, quoted, unknown)
	}
	if x.Index != nil {
		return unknown
	}
	text := value.text
	if value.isList {
		text = ""
		if len(value.list) > 0 {
			text = value.list[0]
		}
	}
	switch {
	case x.Repl != nil:
		return e.replace(x, text, ok, quoted, unknown, ctx)
	case x.Exp == nil:
		if !ok {
			return unknown
		}
		return []piece{{text: text, known: true, split: !quoted}}
	}
	return e.operator(x, name, text, ok, quoted, unknown, ctx)
}

// value looks a name up: a variable, or a positional parameter.
func (e *eval) value(name string) (variable, bool) {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		if !e.sh.paramsKnown || len(name) > 2 || name == "0" {
			return variable{}, false
		}
		n := 0
		for _, c := range name {
			n = n*10 + int(c-'0')
		}
		if n < 1 {
			return variable{}, false
		}
		if n > len(e.sh.params) {
			return variable{}, !e.sh.paramsOpen
		}
		w := e.sh.params[n-1]
		return variable{text: w.Text}, w.Known
	}
	v, ok := e.sh.vars[name]
	return v, ok
}

func (e *eval) allParams(x *syntax.ParamExp, quoted, separate bool, unknown []piece) []piece {
	if !e.sh.paramsKnown || e.sh.paramsOpen || x.Exp != nil || x.Repl != nil || x.Index != nil {
		return unknown
	}
	return listPieces(texts(e.sh.params), known(e.sh.params), quoted, separate)
}

func texts(ws []Word) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = w.Text
	}
	return out
}

func known(ws []Word) bool {
	for _, w := range ws {
		if !w.Known {
			return false
		}
	}
	return true
}

// listPieces expands "$@" (a field each), "$*" (one field) or the unquoted
// forms (white space splits).
func listPieces(list []string, all, quoted, separate bool) []piece {
	if len(list) == 0 {
		return []piece{{known: true, none: true}}
	}
	if quoted && !separate {
		return []piece{{text: strings.Join(list, " "), known: all}}
	}
	out := make([]piece, len(list))
	for i, s := range list {
		out[i] = piece{text: s, known: all, split: !quoted, next: i > 0}
	}
	return out
}

func (e *eval) element(x *syntax.ParamExp, v variable, quoted bool, unknown []piece) []piece {
	w, ok := x.Index.(*syntax.Word)
	if !ok || x.Exp != nil || x.Repl != nil {
		return unknown
	}
	list := v.list
	if !v.isList {
		list = []string{v.text}
	}
	switch i := w.Lit(); i {
	case "@", "*":
		return listPieces(list, true, quoted, i == "@")
	default:
		n := 0
		for _, c := range i {
			if c < '0' || c > '9' || n > 10000 {
				return unknown
			}
			n = n*10 + int(c-'0')
		}
		if i == "" {
			return unknown
		}
		text := ""
		if n < len(list) {
			text = list[n]
		}
		return []piece{{text: text, known: true, split: !quoted}}
	}
}

// replace expands ${NAME/old/new} for texts without wildcards:
// ${SUBNETS//,/ }.
func (e *eval) replace(x *syntax.ParamExp, text string, ok, quoted bool, unknown []piece, ctx context) []piece {
	if !ok || x.Repl.Orig == nil {
		return unknown
	}
	from, to := e.one(x.Repl.Orig, ctx), Word{Known: true}
	if x.Repl.With != nil {
		to = e.one(x.Repl.With, ctx)
	}
	if !from.Known || !to.Known || from.Text == "" || strings.ContainsAny(from.Text, "*?[#%") {
		return unknown
	}
	n := 1
	if x.Repl.All {
		n = -1
	}
	if len(text)*(len(to.Text)+1) > maxValue*8 {
		return unknown
	}
	return []piece{{text: strings.Replace(text, from.Text, to.Text, n), known: true, split: !quoted}}
}

// operator expands ${NAME:-word} and its relatives. ok tells whether NAME is
// known.
func (e *eval) operator(x *syntax.ParamExp, name, text string, ok, quoted bool, unknown []piece, ctx context) []piece {
	plain := []piece{{text: text, known: true, split: !quoted}}
	other := func() []piece {
		if x.Exp.Word == nil {
			return []piece{{known: true, split: !quoted}}
		}
		ps := e.pieces(x.Exp.Word.Parts, quoted, ctx)
		if !quoted {
			for i := range ps {
				// Literal text of the word splits like an expansion's.
				if _, lit := litOnly(x.Exp.Word); lit {
					ps[i].split = true
				}
			}
		}
		return ps
	}
	switch x.Exp.Op {
	case syntax.DefaultUnset, syntax.ErrorUnset, syntax.AssignUnset:
		if ok {
			return plain
		}
	case syntax.DefaultUnsetOrNull:
		if ok && text != "" {
			return plain
		}
		if ok {
			return other()
		}
	case syntax.AssignUnsetOrNull:
		if ok && text != "" {
			return plain
		}
		if ok {
			ps := other()
			w := Word{Known: true}
			for _, p := range ps {
				w.Text += p.text
				w.Known = w.Known && p.known
			}
			if w.Known {
				e.set(name, variable{text: w.Text})
			} else {
				delete(e.sh.vars, name)
			}
			return ps
		}
	case syntax.ErrorUnsetOrNull:
		if ok {
			return plain
		}
	case syntax.AlternateUnset:
		if ok {
			return other()
		}
	case syntax.AlternateUnsetOrNull:
		if ok && text != "" {
			return other()
		}
		if ok {
			return []piece{{known: true, split: !quoted}}
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if ok {
			if cut, done := trimPattern(text, x.Exp); done {
				return []piece{{text: cut, known: true, split: !quoted}}
			}
		}
	case syntax.LowerAll:
		if ok && x.Exp.Word == nil {
			return []piece{{text: strings.ToLower(text), known: true, split: !quoted}}
		}
	case syntax.UpperAll:
		if ok && x.Exp.Word == nil {
			return []piece{{text: strings.ToUpper(text), known: true, split: !quoted}}
		}
	}
	return unknown
}

// litOnly returns a word's text if it is written without quotes or expansions.
func litOnly(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	var b strings.Builder
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(l.Value)
	}
	return b.String(), true
}

// trimPattern cuts a literal, or a literal with one * at its open end:
// ${NET%/*}, ${NET##*/}.
func trimPattern(text string, x *syntax.Expansion) (string, bool) {
	p, ok := litOnly(x.Word)
	if !ok || p == "" {
		return text, ok
	}
	prefix := x.Op == syntax.RemSmallPrefix || x.Op == syntax.RemLargePrefix
	large := x.Op == syntax.RemLargePrefix || x.Op == syntax.RemLargeSuffix
	literal, star := strings.CutSuffix(p, "*")
	if prefix {
		literal, star = strings.CutPrefix(p, "*")
	}
	if literal == "" || strings.ContainsAny(literal, "*?[\\") {
		return "", false
	}
	switch {
	case !star && prefix:
		return strings.TrimPrefix(text, literal), true
	case !star:
		return strings.TrimSuffix(text, literal), true
	case prefix:
		i := strings.Index(text, literal)
		if large {
			i = strings.LastIndex(text, literal)
		}
		if i >= 0 {
			text = text[i+len(literal):]
		}
	default:
		i := strings.LastIndex(text, literal)
		if large {
			i = strings.Index(text, literal)
		}
		if i >= 0 {
			text = text[:i]
		}
	}
	return text, true
}
