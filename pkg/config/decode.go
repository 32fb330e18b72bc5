package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// Problem is one thing that is wrong with a plan file, and where.
type Problem struct {
	At   source.Location
	Says string
	// shape: the published schema refuses it, too.
	shape bool
}

// String returns file:line:column: what is wrong.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.At.File, max(1, p.At.Span.Start.Line), max(1, p.At.Span.Start.Column), p.Says)
}

// Error is all that is wrong with a plan file, from top to bottom.
type Error struct{ Problems []Problem }

// most is how many problems are printed: a file that is something else
// altogether has one on every line.
const most = 100

// Error implements error: one line for each problem, in a form that editors
// know.
func (e *Error) Error() string {
	lines := make([]string, 0, min(len(e.Problems), most+1))
	for i, p := range e.Problems {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s: and %d more", p.At.File, len(e.Problems)-most))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Shape reports whether the published schema refuses the file, too.
func (e *Error) Shape() bool {
	return slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.shape })
}

// decoder turns the tree of a plan file into Go values and notes everything
// that does not fit.
type decoder struct {
	doc      *loader.Document
	problems []Problem
	// bad are the pointers of words that mean nothing, so that nothing is concluded
	// from them.
	bad map[string]bool
}

func (d *decoder) shape(at source.Location, format string, args ...any) {
	d.problems = append(d.problems, Problem{At: at, Says: fmt.Sprintf(format, args...), shape: true})
}

// meaning notes what the schema cannot see.
func (d *decoder) meaning(pointer, format string, args ...any) {
	d.problems = append(d.problems, Problem{At: d.at(pointer), Says: fmt.Sprintf(format, args...)})
}

func (d *decoder) at(pointer string) source.Location {
	return d.doc.Object.Origin.Locate(source.Ref{Pointer: pointer}).Primary
}

// sorted returns the problems in the order of the file.
func (d *decoder) sorted() []Problem {
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.At.Span.Start.Line, b.At.Span.Start.Line), cmp.Compare(a.At.Span.Start.Column, b.At.Span.Start.Column),
			cmp.Compare(a.Says, b.Says))
	})
	return slices.CompactFunc(d.problems, func(a, b Problem) bool { return a.String() == b.String() })
}

// value decodes v, which stands at pointer, into out. title names the field in
// messages: "clusters[0].pods".
func (d *decoder) value(v any, out reflect.Value, pointer, title string) {
	if v == nil && out.Kind() != reflect.Interface {
		d.shape(d.doc.Key(pointer), "%s has no value; give it one, or leave the key out", title)
		return
	}
	if out.Type() == reflect.TypeFor[version]() {
		d.version(v, out, pointer)
		return
	}
	switch out.Kind() {
	case reflect.Struct:
		d.object(v, out, pointer, title)
	case reflect.Slice:
		list, is := v.([]any)
		if !is {
			d.wrongType(v, pointer, title, "a list", listHint(v))
			return
		}
		out.Set(reflect.MakeSlice(out.Type(), len(list), len(list)))
		for i, item := range list {
			d.value(item, out.Index(i), pointer+"/"+strconv.Itoa(i), fmt.Sprintf("%s[%d]", title, i))
		}
	case reflect.Map:
		d.table(v, out, pointer, title)
	case reflect.Bool:
		b, is := v.(bool)
		if !is {
			d.wrongType(v, pointer, title, "true or false", "")
			return
		}
		out.SetBool(b)
	case reflect.Interface:
		switch v.(type) {
		case string, bool, int64, float64:
			out.Set(reflect.ValueOf(v))
		default:
			d.wrongType(v, pointer, title, "a text, a number, true or false", "")
		}
	default:
		d.word(v, out, pointer, title)
	}
}

func (d *decoder) version(v any, out reflect.Value, pointer string) {
	n, isNumber := v.(int64)
	switch {
	case !isNumber:
		d.wrongType(v, pointer, "version", "the number 1", "")
	case n != 1:
		d.shape(d.at(pointer), "version %d is not known; this vpnlint reads version 1", n)
	default:
		out.SetInt(1)
	}
}

// object decodes a mapping whose keys are known.
func (d *decoder) object(v any, out reflect.Value, pointer, title string) {
	m, is := v.(map[string]any)
	if !is {
		d.wrongType(v, pointer, title, "a mapping", "")
		return
	}
	fields := fieldsOf(out.Type())
	keys := make([]string, 0, len(fields))
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		at := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		inner := source.Ref{Pointer: pointer}.Child(key).Pointer
		if at < 0 {
			d.unknownKey(key, inner, title, keys)
			continue
		}
		d.value(m[key], out.Field(fields[at].index), inner, join(title, key))
	}
	for _, f := range fields {
		if _, has := m[f.key]; f.needed && !has {
			d.shape(d.place(pointer), "%s is missing%s", f.key, within(title))
		}
	}
}

// place is where the lack of a key is told: at the mapping's own key or item,
// and for the whole file at its start.
func (d *decoder) place(pointer string) source.Location {
	return d.doc.Key(pointer)
}

func (d *decoder) unknownKey(key, pointer, title string, keys []string) {
	hint := "; its keys are " + strings.Join(keys, ", ")
	if near := suggest.Nearest(key, keys); near != "" {
		hint = "; did you mean " + near + "?"
	}
	d.shape(d.doc.Key(pointer), "unknown key %q%s%s", clip(key), within(title), hint)
}

// table decodes a mapping with keys of the user's.
func (d *decoder) table(v any, out reflect.Value, pointer, title string) {
	m, is := v.(map[string]any)
	if !is {
		d.wrongType(v, pointer, title, "a mapping", "")
		return
	}
	out.Set(reflect.MakeMap(out.Type()))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		inner := source.Ref{Pointer: pointer}.Child(key).Pointer
		k := reflect.New(out.Type().Key()).Elem()
		k.SetString(key)
		if w, is := k.Interface().(word); is {
			if says := w.judge(key); says != "" {
				d.shape(d.doc.Key(inner), "the key %q of %s: %s", clip(key), title, says)
				continue
			}
		}
		e := reflect.New(out.Type().Elem()).Elem()
		d.value(m[key], e, inner, join(title, key))
		out.SetMapIndex(k, e)
	}
}

// word decodes a scalar that has a meaning of its own.
func (d *decoder) word(v any, out reflect.Value, pointer, title string) {
	w, isWord := out.Interface().(word)
	s, isText := v.(string)
	if off, isBool := v.(bool); isBool && !off && out.Type() == reflect.TypeFor[severity]() {
		s, isText = "off", true
	}
	if !isText || !isWord {
		hint := ""
		if text, is := source.ScalarText(v); is {
			hint = "; write it in quotes: \"" + clip(text) + "\""
		}
		if e, is := out.Interface().(enum); is {
			d.badWord(pointer)
			d.shape(d.at(pointer), "%s: %s", title, judgeEnum(e, shown(v)))
			return
		}
		d.wrongType(v, pointer, title, "a text", hint)
		return
	}
	if says := w.judge(s); says != "" {
		d.badWord(pointer)
		if _, is := out.Interface().(enum); is {
			d.shape(d.at(pointer), "%s: %s", title, says)
			return
		}
		d.problems = append(d.problems, Problem{At: d.at(pointer), Says: fmt.Sprintf("%s: %q: %s", title, clip(s), says), shape: s == ""})
		return
	}
	out.SetString(s)
}

func (d *decoder) badWord(pointer string) { d.bad[pointer] = true }

func (d *decoder) wrongType(v any, pointer, title, want, hint string) {
	d.badWord(pointer)
	d.shape(d.at(pointer), "%s wants %s, not %s%s", cmp.Or(title, "the file"), want, typeOf(v), hint)
}

// listHint shows how a single item is written as a list.
func listHint(v any) string {
	if s, is := v.(string); is && s != "" && !strings.ContainsAny(s, "[]{},\n") {
		return "; write [" + clip(s) + "]"
	}
	return ""
}

func typeOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case bool:
		return strconv.FormatBool(v)
	case int64, float64:
		return "the number " + shown(v)
	case string:
		return "the text " + strconv.Quote(clip(v))
	default:
		return "nothing"
	}
}

func shown(v any) string {
	if text, is := source.ScalarText(v); is {
		return clip(text)
	}
	return typeOf(v)
}

func join(title, key string) string {
	if title == "" {
		return clip(key)
	}
	return title + "." + clip(key)
}

func within(title string) string {
	if title == "" {
		return ""
	}
	return " in " + title
}

type field struct {
	key    string
	index  int
	needed bool
	doc    string
}

func fieldsOf(t reflect.Type) []field {
	out := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		out = append(out, field{key: f.Tag.Get("json"), index: i, needed: f.Tag.Get("need") == "true", doc: f.Tag.Get("doc")})
	}
	return out
}

// clip shortens what a message quotes of the file to one short line.
func clip(s string) string {
	const limit = 60
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}
