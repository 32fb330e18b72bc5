package facts

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// node is a field of an object's tree, or the lack of one. User data has any
// shape, so every accessor answers for every type: what is not there, or has
// another type, is a missing node. The pointer of a missing node is that of its
// nearest existing ancestor, which is where a finding about a lack points.
type node struct {
	obj *source.Object
	ptr string
	val any
	ok  bool
	// in is the document in a string of obj that the field is part of; ptr is
	// then its pointer within that document.
	in *embedded
}

// embedded is a document that stands in a string.
type embedded struct {
	doc *grammar.Document
	at  source.Ref // of the string
	// whole: the document's own places are not those of the file, as inside a
	// string inside a string; at is all that is known.
	whole bool
}

// documents reads the string at n as YAML or JSON documents; broken is where one
// that does not parse goes wrong, or what is no string.
func (n node) documents() (docs []node, broken []source.Ref) {
	text, is := n.str()
	if !is {
		if n.exists() {
			broken = []source.Ref{n.ref()}
		}
		return nil, broken
	}
	read, lines := grammar.ParseDocuments(text)
	for _, line := range lines {
		broken = append(broken, n.part(line.Start, line.End))
	}
	for _, d := range read {
		in := &embedded{doc: d, at: n.ref()}
		if n.in != nil {
			_, verbatim := n.in.place(n.ptr)
			in.whole = !verbatim
		}
		docs = append(docs, node{obj: n.obj, val: d.Value, ok: true, in: in})
	}
	return docs, broken
}

// place returns the place of a field of the document, and whether parts of its
// text have places too.
func (in *embedded) place(pointer string) (at source.Ref, verbatim bool) {
	if in.whole {
		return in.at, false
	}
	r, verbatim := in.doc.Place(source.PointerTokens(pointer)...)
	return in.at.Within(r.Start, r.End), verbatim
}

// part returns the place of the bytes [start, end) of the string at n.
func (n node) part(start, end int) source.Ref {
	if n.in == nil {
		if n.moved() {
			return n.ref()
		}
		return n.ref().Within(start, end)
	}
	at, verbatim := n.in.place(n.ptr)
	if !verbatim {
		return at
	}
	return at.Within(start, end)
}

// root returns the whole object.
func root(o *source.Object) node {
	if o == nil {
		return node{}
	}
	return node{obj: o, val: o.Tree, ok: o.Tree != nil}
}

// get walks down by map keys.
func (n node) get(keys ...string) node {
	for _, k := range keys {
		m, isMap := n.val.(map[string]any)
		v, has := m[k]
		if !n.ok || !isMap || !has || v == nil {
			return node{obj: n.obj, ptr: n.ptr, in: n.in}
		}
		n = node{obj: n.obj, ptr: childPointer(n.ptr, k), val: v, ok: true, in: n.in}
	}
	return n
}

// at returns the field at a JSON pointer below n.
func (n node) at(pointer string) node {
	for _, token := range source.PointerTokens(pointer) {
		if list, isList := n.val.([]any); isList {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(list) {
				return node{obj: n.obj, ptr: n.ptr, in: n.in}
			}
			n = node{obj: n.obj, ptr: childPointer(n.ptr, token), val: list[i], ok: list[i] != nil, in: n.in}
			continue
		}
		if n = n.get(token); !n.ok {
			return n
		}
	}
	return n
}

// items returns the elements of a list; none for anything else.
func (n node) items() []node {
	list, isList := n.val.([]any)
	if !n.ok || !isList {
		return nil
	}
	out := make([]node, 0, len(list))
	for i, v := range list {
		out = append(out, node{obj: n.obj, ptr: childPointer(n.ptr, strconv.Itoa(i)), val: v, ok: v != nil, in: n.in})
	}
	return out
}

// keys returns the sorted keys of a map; none for anything else.
func (n node) keys() []string {
	m, isMap := n.val.(map[string]any)
	if !n.ok || !isMap {
		return nil
	}
	return sortedKeys(m)
}

// isMap reports whether the field is a map.
func (n node) isMap() bool {
	_, is := n.val.(map[string]any)
	return n.ok && is
}

// str returns a string. Numbers and booleans are no strings: Kubernetes refuses
// them where it wants one.
func (n node) str() (string, bool) {
	s, is := n.val.(string)
	return s, n.ok && is
}

// text returns the string, or "".
func (n node) text() string {
	s, _ := n.str()
	return s
}

// scalar returns strings, numbers and booleans as text, for documents whose
// reader is not Kubernetes.
func (n node) scalar() (string, bool) {
	if !n.ok {
		return "", false
	}
	return source.ScalarText(n.val)
}

// boolean returns Present for true, Absent for false and for a missing field,
// and Unknown for any other type.
func (n node) boolean() Known {
	if !n.ok {
		return Absent
	}
	b, is := n.val.(bool)
	switch {
	case !is:
		return Unknown
	case b:
		return Present
	default:
		return Absent
	}
}

// integer returns a whole number.
func (n node) integer() (int64, bool) {
	if !n.ok {
		return 0, false
	}
	switch v := n.val.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return 0, false
}

// ref returns the field's place; for a missing field that of its nearest
// existing ancestor.
func (n node) ref() source.Ref {
	if n.obj == nil {
		return source.Ref{}
	}
	if n.in != nil {
		at, _ := n.in.place(n.ptr)
		return at
	}
	if m := n.made(); m != nil {
		at, _ := m.place(n.ptr)
		return at
	}
	return source.Ref{Object: n.obj.ID, Pointer: n.ptr}
}

func (n node) exists() bool { return n.ok }

// texts returns the strings of a list, with their places.
func (n node) texts() []node {
	var out []node
	for _, item := range n.items() {
		if _, is := item.str(); is {
			out = append(out, item)
		}
	}
	return out
}

// stringMap returns the string values of a map.
func (n node) stringMap() map[string]string {
	out := map[string]string{}
	m, _ := n.val.(map[string]any)
	for k, v := range m {
		if s, is := v.(string); is {
			out[k] = s
		}
	}
	return out
}

func childPointer(parent, key string) string {
	return source.Ref{Pointer: parent}.Child(key).Pointer
}

// clip shortens a text to one line for messages.
func clip(s string) string {
	const limit = 100
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}

func sortedKeys[T any](m map[string]T) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
