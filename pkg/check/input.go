package check

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// document is what rules read as input. Its Go types are the contract: the
// schema that rules compile against and the values that they see are both
// derived from them, by the same walk over the same tags.
type document struct {
	Facts facts.Facts   `json:"facts"`
	Plan  cidrplan.Plan `json:"plan"`
}

// schemaID is the JSON Schema dialect that OPA's type checker reads.
const schemaID = "http://json-schema.org/draft-07/schema#"

// InputSchema returns the JSON Schema of the rules' input, indented, as it is
// kept in rules/schema/input.json.
func InputSchema() ([]byte, error) {
	definitions := map[string]any{}
	root, err := schemaOf(reflect.TypeFor[document](), definitions)
	if err != nil {
		return nil, fmt.Errorf("schema of the rules' input: %w", err)
	}
	root["$schema"] = schemaID
	root["title"] = "the input of vpnlint's rules"
	root["definitions"] = definitions
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schema of the rules' input: %w", err)
	}
	return append(out, '\n'), nil
}

// schemaOf writes a type as OPA's type checker understands it: closed objects
// and no enumerations. Structs become definitions.
func schemaOf(t reflect.Type, definitions map[string]any) (map[string]any, error) {
	if isText(t) {
		return map[string]any{"type": "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Slice:
		items, err := schemaOf(t.Elem(), definitions)
		if err != nil {
			return nil, err
		}
		return map[string]any{"type": "array", "items": items}, nil
	case reflect.Map:
		values, err := schemaOf(t.Elem(), definitions)
		if err != nil {
			return nil, err
		}
		return map[string]any{"type": "object", "additionalProperties": values}, nil
	case reflect.Struct:
		return structSchema(t, definitions)
	default:
		return nil, fmt.Errorf("rules cannot read a %s", t)
	}
}

func structSchema(t reflect.Type, definitions map[string]any) (map[string]any, error) {
	name := t.String() // facts.Pod
	if _, known := definitions[name]; !known {
		definitions[name] = nil // ends the recursion of a type that holds itself
		properties := map[string]any{}
		required := []string{}
		for _, f := range fieldsOf(t) {
			property, err := schemaOf(t.Field(f.index).Type, definitions)
			if err != nil {
				return nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
			}
			properties[f.name] = property
			required = append(required, f.name)
		}
		definitions[name] = map[string]any{
			"type": "object", "properties": properties,
			"required": required, "additionalProperties": false,
		}
	}
	return map[string]any{"$ref": "#/definitions/" + name}, nil
}

func documentOf(in Input) *document {
	doc := &document{Plan: in.Plan}
	if in.Facts != nil {
		doc.Facts = *in.Facts
	}
	return doc
}

// inputValue turns the facts into the value that all rules read, once a run.
// Unlike encoding/json it writes every field: a nil slice is an empty array, so
// that a rule may count it. Where read is not nil, fields that it does not name
// are left out.
func inputValue(doc *document, read words) (ast.Object, error) {
	term, err := newTermBuilder(read).of(reflect.ValueOf(doc).Elem())
	if err != nil {
		return nil, fmt.Errorf("input of the rules: %w", err)
	}
	return objectOf(term)
}

// termBuilder makes terms, equal ones once where they are many: thousands of
// pods differ in little, and most of what a pod might have it has not. Sharing
// halves the memory of a large run; terms never change.
type termBuilder struct {
	read    words
	strings map[string]*ast.Term
	zero    map[reflect.Type]*ast.Term // of structs without any field set
	// same are the terms of small structs of late: all settings that a pod leaves
	// out have the pod's own place.
	same  map[any]*ast.Term
	late  map[int]*ast.Term // of structs with lists, by their hash
	known map[reflect.Type][]field
	empty *ast.Term // the array without items
}

func objectOf(t *ast.Term) (ast.Object, error) {
	o, ok := t.Value.(ast.Object)
	if !ok {
		return nil, errors.New("input of the rules: a part of it is no object")
	}
	return o, nil
}

func newTermBuilder(read words) *termBuilder {
	return &termBuilder{
		read: read, strings: map[string]*ast.Term{}, zero: map[reflect.Type]*ast.Term{}, same: map[any]*ast.Term{}, late: map[int]*ast.Term{},
		known: map[reflect.Type][]field{}, empty: ast.ArrayTerm(),
	}
}

func (b *termBuilder) text(s string) *ast.Term {
	t := b.strings[s]
	if t == nil {
		t = ast.StringTerm(s)
		b.strings[s] = t
	}
	return t
}

func (b *termBuilder) of(v reflect.Value) (*ast.Term, error) {
	if isText(v.Type()) {
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return nil, fmt.Errorf("%s as text: %w", v.Type(), err)
		}
		return b.text(string(text)), nil
	}
	switch v.Kind() {
	case reflect.Bool:
		return ast.InternedTerm(v.Bool()), nil
	case reflect.String:
		return b.text(v.String()), nil
	case reflect.Int, reflect.Int64:
		return ast.IntNumberTerm(int(v.Int())), nil
	case reflect.Slice:
		if v.Len() == 0 {
			return b.empty, nil
		}
		items := make([]*ast.Term, v.Len())
		for i := range items {
			item, err := b.of(v.Index(i))
			if err != nil {
				return nil, err
			}
			items[i] = item
		}
		return ast.ArrayTerm(items...), nil
	case reflect.Map:
		pairs := make([][2]*ast.Term, 0, v.Len())
		for _, key := range v.MapKeys() {
			value, err := b.of(v.MapIndex(key))
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, [2]*ast.Term{b.text(key.String()), value})
		}
		return ast.ObjectTerm(pairs...), nil
	case reflect.Struct:
		return b.object(v)
	default:
		return nil, fmt.Errorf("rules cannot read a %s", v.Type())
	}
}

func (b *termBuilder) object(v reflect.Value) (*ast.Term, error) {
	isZero := v.IsZero()
	if isZero && b.zero[v.Type()] != nil {
		return b.zero[v.Type()], nil
	}
	var key any
	if v.Comparable() {
		key = v.Interface()
		if t := b.same[key]; t != nil {
			return t, nil
		}
	}
	fields := b.fields(v.Type())
	pairs := make([][2]*ast.Term, 0, len(fields))
	for _, f := range fields {
		value, err := b.of(v.Field(f.index))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		pairs = append(pairs, [2]*ast.Term{b.text(f.name), value})
	}
	term := ast.ObjectTerm(pairs...)
	switch {
	case isZero:
		b.zero[v.Type()] = term
	case key != nil:
		b.same[key] = term
	default:
		term = b.once(term)
		if len(b.same) > maxSame {
			clear(b.same)
		}
	}
	return term, nil
}

// once returns the term of late that equals t, t itself when there is none.
func (b *termBuilder) once(t *ast.Term) *ast.Term {
	hash := t.Hash()
	if have := b.late[hash]; have != nil && have.Equal(t) {
		return have
	}
	if len(b.late) > maxSame {
		clear(b.late)
	}
	b.late[hash] = t
	return t
}

// maxSame bounds what is remembered: more than a pod has, and less than would
// weigh on thousands of them.
const maxSame = 2000

// words are the strings that occur in some rules, among them the name of every
// field that they read.
type words map[string]bool

func wordsOf(modules map[string]*ast.Module) words {
	found := words{}
	for _, m := range modules {
		ast.WalkTerms(m, func(t *ast.Term) bool {
			if s, ok := t.Value.(ast.String); ok {
				found[string(s)] = true
			}
			return false
		})
	}
	return found
}

// fields are those of fieldsOf that rules read, remembered. References are
// whole, for rules hand them on as they are.
func (b *termBuilder) fields(t reflect.Type) []field {
	have, ok := b.known[t]
	if !ok {
		have = fieldsOf(t)
		if b.read != nil && t != reflect.TypeFor[source.Ref]() {
			have = slices.DeleteFunc(have, func(f field) bool { return !b.read[f.name] })
		}
		b.known[t] = have
	}
	return have
}

type field struct {
	name  string
	index int
}

// fieldsOf lists the fields that rules see, by their json names.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		fields = append(fields, field{name: name, index: i})
	}
	return fields
}

// isText reports whether values of t speak for themselves, as netip.Prefix does.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// InputJSON returns what the rules read as input, as indented JSON: for people
// who write rules and their tests.
func InputJSON(in Input) ([]byte, error) {
	value, err := inputValue(documentOf(in), nil)
	if err != nil {
		return nil, err
	}
	plain, err := ast.JSON(value)
	if err != nil {
		return nil, fmt.Errorf("input of the rules: %w", err)
	}
	out, err := json.MarshalIndent(plain, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("input of the rules: %w", err)
	}
	return append(out, '\n'), nil
}
