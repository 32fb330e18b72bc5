package loader

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// symbol is what is known of a template expression without executing it: which
// field of the template's top context it is, and which values went into it.
type symbol struct {
	// path leads from the top context ("Values", "openvpn", "port") when known.
	path  []string
	known bool
	// reads are the values that were read to get here, the decisive ones first;
	// the value at path itself is not among them.
	reads [][]string
	// lit is a constant; entries are those of a dict.
	lit     any
	isLit   bool
	entries map[string]symbol
	text    textOf
	// truth is whether the expression counts as true, when truthKnown.
	truth, truthKnown bool
}

// all lists every value that the expression read, without repetition.
func (s symbol) all() [][]string {
	out := make([][]string, 0, len(s.reads)+1)
	if p, ok := valuePath(s.path); s.known && ok {
		out = append(out, p)
	}
	for _, r := range s.reads {
		if !slices.ContainsFunc(out, func(p []string) bool { return slices.Equal(p, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// valuePath strips the way to .Values from a path of the top context. A parent
// may read .Subcharts.sub.Values: that is its own value "sub".
func valuePath(path []string) ([]string, bool) {
	var prefix []string
	for len(path) > 2 && path[0] == "Subcharts" {
		prefix, path = append(prefix, path[1]), path[2:]
	}
	if len(path) < 2 || path[0] != "Values" {
		return nil, false
	}
	return append(prefix, path[1:]...), true
}

func (s symbol) field(names ...string) symbol {
	for _, n := range names {
		switch {
		case s.text != textOf{}:
			s = symbol{text: s.text.field(n), reads: s.reads}
		case s.known:
			s = symbol{known: true, path: append(slices.Clip(s.path), n), reads: s.reads}
		case s.entries != nil:
			e, ok := s.entries[n]
			if !ok {
				return symbol{reads: s.all()}
			}
			s = e
		default:
			return symbol{reads: s.all()}
		}
	}
	return s
}

// evaluator executes a template's declarations and pipelines symbolically, in
// the order in which the render reached them.
type evaluator struct {
	// values are the chart's values as they were rendered.
	values map[string]any
	vars   []variable
	// base is where the variables of the current define begin; it sees no others.
	base int
	// depth is how many templates in values, and defines, are around.
	depth   int
	defines func(name string) (*templateFile, *parse.Tree, bool)
	files   func() map[string]*source.File
}

type variable struct {
	name string
	is   symbol
}

// lookup returns the value that a symbol stands for.
func (e *evaluator) lookup(s symbol) (any, bool) {
	if s.isLit {
		return s.lit, true
	}
	if s.text.file != "" && e.files != nil && s.text.line == 0 && !s.text.lines {
		if f := e.files()[s.text.file]; f != nil {
			return f.Text(), true
		}
	}
	if !s.known || len(s.path) == 0 || s.path[0] != "Values" {
		return nil, false
	}
	return descend(e.values, s.path[1:])
}

// descend follows a path through maps and lists; a missing key is nil, as it is
// in a template.
func descend(v any, path []string) (any, bool) {
	for _, key := range path {
		switch c := v.(type) {
		case map[string]any:
			v = c[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil, false
			}
			v = c[i]
		case nil:
			return nil, true
		default:
			return nil, false
		}
	}
	return v, true
}

// isTrue is the engine's notion of truth: not the zero value, not empty.
func isTrue(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case float64:
		return v != 0
	case int64:
		return v != 0
	case int:
		return v != 0
	}
	return true
}

func (e *evaluator) truth(s symbol) (truth, known bool) {
	if s.truthKnown {
		return s.truth, true
	}
	if s.entries != nil {
		return len(s.entries) > 0, true
	}
	v, ok := e.lookup(s)
	return ok && isTrue(v), ok
}

func (e *evaluator) declare(name string, is symbol) {
	e.vars = append(e.vars, variable{name, is})
}

func (e *evaluator) assign(name string, is symbol) {
	for i := len(e.vars) - 1; i >= e.base; i-- {
		if e.vars[i].name == name {
			e.vars[i].is = is
			return
		}
	}
}

func (e *evaluator) variable(name string) symbol {
	for i := len(e.vars) - 1; i >= e.base; i-- {
		if e.vars[i].name == name {
			return e.vars[i].is
		}
	}
	return symbol{}
}

// maxPipeDepth bounds the nesting of parentheses that is followed.
const maxPipeDepth = 100

func (e *evaluator) pipe(p *parse.PipeNode, dot symbol, depth int) symbol {
	var out symbol
	if p == nil || depth > maxPipeDepth {
		return out
	}
	for i, cmd := range p.Cmds {
		var last *symbol
		if i > 0 {
			s := out
			last = &s
		}
		out = e.command(cmd, dot, last, depth)
	}
	return out
}

func (e *evaluator) command(cmd *parse.CommandNode, dot symbol, last *symbol, depth int) symbol {
	if len(cmd.Args) == 0 {
		return symbol{}
	}
	rest := func() []symbol {
		args := make([]symbol, 0, len(cmd.Args))
		for _, a := range cmd.Args[1:] {
			args = append(args, e.operand(a, dot, depth))
		}
		if last != nil {
			args = append(args, *last)
		}
		return args
	}
	if id, ok := cmd.Args[0].(*parse.IdentifierNode); ok {
		return e.call(id.Ident, rest())
	}
	s := e.operand(cmd.Args[0], dot, depth)
	// .Files.Get "x", .Capabilities.APIVersions.Has "y": a method's result is
	// not a field, but its arguments were read.
	if args := rest(); len(args) > 0 {
		out := derived(append([]symbol{s}, args...)...)
		out.text, _ = e.fileMethod(s, args)
		return out
	}
	return s
}

func (e *evaluator) operand(n parse.Node, dot symbol, depth int) symbol {
	switch n := n.(type) {
	case *parse.FieldNode:
		return dot.field(n.Ident...)
	case *parse.VariableNode:
		return e.variable(n.Ident[0]).field(n.Ident[1:]...)
	case *parse.ChainNode:
		return e.operand(n.Node, dot, depth+1).field(n.Field...)
	case *parse.PipeNode:
		return e.pipe(n, dot, depth+1)
	case *parse.DotNode:
		return dot
	case *parse.IdentifierNode:
		return e.call(n.Ident, nil)
	case *parse.StringNode:
		return symbol{lit: n.Text, isLit: true}
	case *parse.BoolNode:
		return symbol{lit: n.True, isLit: true}
	case *parse.NumberNode:
		if n.IsInt {
			return symbol{lit: int(n.Int64), isLit: true}
		}
		if n.IsFloat {
			return symbol{lit: n.Float64, isLit: true}
		}
	case *parse.NilNode:
		return symbol{isLit: true}
	}
	return symbol{}
}

// derived is a result that is computed from others.
func derived(args ...symbol) symbol {
	var out symbol
	for _, a := range args {
		out.reads = append(out.reads, a.all()...)
		for _, key := range sortedKeys(a.entries) {
			out.reads = append(out.reads, a.entries[key].all()...)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// keepsShape are the functions whose result is their last argument in another
// dress: a field of the result is a field of the argument.
var keepsShape = map[string]bool{
	"toYaml": true, "toYamlPretty": true, "mustToYaml": true, "toJson": true, "mustToJson": true, "toPrettyJson": true, "toRawJson": true,
	"fromYaml": true, "fromYamlArray": true, "fromJson": true, "fromJsonArray": true, "mustFromJson": true, "deepCopy": true, "mustDeepCopy": true,
	"nindent": true, "indent": true, "quote": true, "squote": true, "toString": true, "trim": true, "trimSuffix": true, "trimPrefix": true,
	"int": true, "int64": true, "float64": true, "atoi": true, "lower": true, "upper": true, "b64enc": true, "b64dec": true, "trunc": true,
	"print": true, "html": true, "urlquery": true, "toStrings": true, "sortAlpha": true, "uniq": true, "compact": true, "reverse": true, "replace": true,
	"required": true,
}

// call evaluates a function of Helm's templates.
func (e *evaluator) call(name string, args []symbol) symbol {
	n := len(args)
	switch {
	case keepsShape[name] && n > 0:
		out := args[n-1]
		if out.isLit {
			return derived(args...)
		}
		return out
	case name == "include" && n == 2:
		return e.included(args[0], args[1])
	case name == "tpl" && n == 2:
		return e.template(args[0], args[1])
	case name == "not" && n == 1:
		out := derived(args...)
		if t, ok := e.truth(args[0]); ok {
			out.truth, out.truthKnown = !t, true
		}
		return out
	case (name == "and" || name == "or") && n > 0:
		return e.logic(name == "and", args)
	case (name == "eq" || name == "ne") && n == 2:
		out := derived(args...)
		if a, ok := e.lookup(args[0]); ok {
			if b, ok := e.lookup(args[1]); ok && isScalar(a) && isScalar(b) {
				out.truth, out.truthKnown = sameScalar(a, b) == (name == "eq"), true
			}
		}
		return out
	case name == "default" && n == 2:
		return e.choose(args[1], args[0])
	case name == "coalesce" && n > 0:
		return e.choose(args...)
	case (name == "omit" || name == "pick") && n > 0:
		return e.selected(name == "pick", args[0], args[1:])
	case (name == "typeIs" || name == "kindIs") && n == 2:
		out := derived(args...)
		want, isText := args[0].lit.(string)
		if v, ok := e.lookup(args[1]); ok && isText {
			out.truth, out.truthKnown = isKind(v, want)
		}
		return out
	case name == "ternary" && n == 3:
		return e.ternary(args[0], args[1], args[2])
	case (name == "index" || name == "get") && n > 1:
		return fieldOf(args[0], args[1:])
	case name == "dig" && n > 2:
		found := fieldOf(args[n-1], args[:n-2])
		return e.choose(found, args[n-2])
	case name == "dict":
		out := derived()
		out.entries = map[string]symbol{}
		for i := 0; i+1 < n; i += 2 {
			key, ok := args[i].lit.(string)
			if !ok {
				return derived(args...)
			}
			out.entries[key] = args[i+1]
		}
		return out
	}
	return derived(args...)
}

// template is tpl: the text and, where that is known, what it reads in turn.
func (e *evaluator) template(text, dot symbol) symbol {
	v, ok := e.lookup(text)
	code, isText := v.(string)
	if !ok || !isText || !strings.Contains(code, "{{") || e.depth >= maxTemplateDepth {
		return text
	}
	tree := parse.New("tpl")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(code, "", "", map[string]*parse.Tree{}); err != nil || tree.Root == nil {
		return text
	}
	text.reads = append(slices.Clone(text.reads), e.readsOf(tree.Root, dot)...)
	return text
}

// included is include, where its result is not printed: what the define reads.
func (e *evaluator) included(name, dot symbol) symbol {
	out := derived(name, dot)
	called, ok := name.lit.(string)
	if !ok || e.defines == nil || e.depth >= maxTemplateDepth {
		return out
	}
	if _, tree, ok := e.defines(called); ok {
		out.reads = append(out.reads, e.readsOf(tree.Root, dot)...)
	}
	return out
}

// maxTemplateDepth bounds templates in templates that are only read.
const maxTemplateDepth = 5

// readsOf returns what a template reads that is not executed here.
func (e *evaluator) readsOf(l *parse.ListNode, dot symbol) [][]string {
	inner := &evaluator{values: e.values, depth: e.depth + 1, defines: e.defines, files: e.files}
	inner.declare("$", dot)
	return inner.list(l, dot, 0)
}

// list follows the branches that are taken, as far as that is known; of a range,
// the list alone.
func (e *evaluator) list(l *parse.ListNode, dot symbol, depth int) [][]string {
	var out [][]string
	if l == nil || depth > maxBranchDepth {
		return nil
	}
	for _, n := range l.Nodes {
		if b, word := branchOf(n); b != nil {
			is := e.pipe(b.Pipe, dot, 0)
			out = append(out, is.all()...)
			for _, v := range b.Pipe.Decl {
				e.declare(v.Ident[0], is)
			}
			truth, known := e.truth(is)
			if (truth || !known) && word != "range" {
				inside := dot
				if word == "with" {
					inside = is
				}
				out = append(out, e.list(b.List, inside, depth+1)...)
			}
			if !truth || !known {
				out = append(out, e.list(b.ElseList, dot, depth+1)...)
			}
		} else if a, ok := n.(*parse.ActionNode); ok {
			is := e.pipe(a.Pipe, dot, 0)
			out = append(out, is.all()...)
			for _, v := range a.Pipe.Decl {
				e.declare(v.Ident[0], is)
			}
		}
	}
	return out
}

// logic is and / or: evaluated up to the argument that decides.
func (e *evaluator) logic(and bool, args []symbol) symbol {
	var seen []symbol
	for i, a := range args {
		truth, known := e.truth(a)
		if !known {
			return derived(append(seen, args[i:]...)...)
		}
		if truth != and || i == len(args)-1 {
			out := a
			out.reads = append(slices.Clone(a.reads), derived(seen...).reads...)
			out.truth, out.truthKnown = truth, true
			if truth == and {
				// All of them were needed.
				out = derived(append(seen, a)...)
				out.truth, out.truthKnown = truth, true
			}
			return out
		}
		seen = append(seen, a)
	}
	return derived(args...)
}

// choose is coalesce: the first that counts as true, else the last.
func (e *evaluator) choose(args ...symbol) symbol {
	var seen []symbol
	for i, a := range args {
		truth, known := e.truth(a)
		if !known && i < len(args)-1 {
			return derived(append(seen, args[i:]...)...)
		}
		if truth || i == len(args)-1 {
			before := derived(seen...).reads
			if a.isLit {
				return symbol{lit: a.lit, isLit: true, reads: before}
			}
			a.reads = append(before, a.reads...)
			return a
		}
		seen = append(seen, a)
	}
	return symbol{}
}

func (e *evaluator) ternary(yes, no, cond symbol) symbol {
	truth, known := e.truth(cond)
	if !known {
		if yes.known && no.known && slices.Equal(yes.path, no.path) {
			yes.reads = append(derived(cond).reads, yes.reads...)
			return yes
		}
		return derived(cond, yes, no)
	}
	out := no
	if truth {
		out = yes
	}
	out.reads = append(derived(cond).reads, out.reads...)
	return out
}

// selected is omit and pick: a map with some of the keys of another.
func (e *evaluator) selected(pick bool, from symbol, keys []symbol) symbol {
	out := derived(append([]symbol{from}, keys...)...)
	v, _ := e.lookup(from)
	all, isMap := v.(map[string]any)
	named := map[string]bool{}
	for _, k := range keys {
		name, constant := k.lit.(string)
		if !constant {
			return out
		}
		named[name] = true
	}
	if !isMap {
		return out
	}
	out.entries = map[string]symbol{}
	for key := range all {
		if named[key] == pick {
			out.entries[key] = from.field(key)
		}
	}
	return out
}

// isKind reports whether a value is of a kind of Go by its name, which is known
// for what values files hold.
func isKind(v any, kind string) (is, known bool) {
	switch kind {
	case "string":
		_, is = v.(string)
	case "bool":
		_, is = v.(bool)
	case "map", "map[string]interface {}":
		_, is = v.(map[string]any)
	case "slice", "[]interface {}":
		_, is = v.([]any)
	default:
		return false, false
	}
	return is, true
}

// fieldOf is index and get with constant keys.
func fieldOf(base symbol, keys []symbol) symbol {
	for _, k := range keys {
		switch key := k.lit.(type) {
		case string:
			base = base.field(key)
		case int:
			base = base.field(strconv.Itoa(key))
		default:
			return derived(append([]symbol{base}, keys...)...)
		}
	}
	return base
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func sameScalar(a, b any) bool {
	x, okA := asFloat(a)
	y, okB := asFloat(b)
	if okA && okB {
		return x == y
	}
	return a == b
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// element is one round of a range over s.
func (e *evaluator) element(s symbol, round int) (key, elem symbol) {
	if s.text.lines {
		return symbol{lit: round, isLit: true}, symbol{text: textOf{file: s.text.file, line: round + 1}, reads: s.reads}
	}
	v, ok := e.lookup(s)
	if !ok {
		if s.entries != nil {
			if keys := sortedKeys(s.entries); round < len(keys) {
				return symbol{lit: keys[round], isLit: true}, s.entries[keys[round]]
			}
		}
		return derived(s), derived(s)
	}
	switch c := v.(type) {
	case []any:
		return symbol{lit: round, isLit: true, reads: s.all()}, s.field(strconv.Itoa(round))
	case map[string]any:
		// The engine ranges over a map in the order of its keys.
		if keys := sortedKeys(c); round < len(keys) {
			elem = s.field(keys[round])
			return symbol{lit: keys[round], isLit: true, reads: elem.all()}, elem
		}
	}
	return derived(s), derived(s)
}
