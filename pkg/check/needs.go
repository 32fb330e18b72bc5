package check

import (
	"fmt"
	"reflect"
	"strings"
)

// A rule's METADATA may say what the input must hold for the rule to say
// anything (custom.needs). Each entry is a path into the input, with
// alternatives between bars:
//
//	facts.pods.role=gateway
//	facts.pods.tunnels.peers
//	facts.pods.mentions | facts.backends
//
// A path leads through lists to any of their members. It is met by a list that
// is not empty, a true, a text that is not empty or, after "=", is the one given.
// A rule with a need that is not met is neither compiled nor evaluated: of forty
// rules, the few workloads of a chart can make a handful speak.

// need is one entry of a rule's needs: it is met when one of its paths is.
type need []needPath

type needPath struct {
	fields []int  // of the structs on the way, lists left out
	value  string // of the text at the end, "" for any
}

func parseNeeds(texts []string) ([]need, error) {
	var out []need
	for _, text := range texts {
		n, err := parseNeed(text)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// parseNeed reads an entry and holds it against the Go types of the input.
func parseNeed(text string) (need, error) {
	var out need
	for alternative := range strings.SplitSeq(text, "|") {
		path, value, given := strings.Cut(strings.TrimSpace(alternative), "=")
		parsed := needPath{value: value}
		t := reflect.TypeFor[document]()
		for name := range strings.SplitSeq(path, ".") {
			if t.Kind() == reflect.Slice {
				t = t.Elem()
			}
			if t.Kind() != reflect.Struct || isText(t) {
				return nil, fmt.Errorf("need %q: there is no %s inside a %s", text, name, t)
			}
			index, ok := fieldIndex(t, name)
			if !ok {
				return nil, fmt.Errorf("need %q: %s has no %s", text, t, name)
			}
			parsed.fields = append(parsed.fields, index)
			t = t.Field(index).Type
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Bool:
			if given {
				return nil, fmt.Errorf("need %q: only a text can be compared", text)
			}
		case reflect.String:
			if given && value == "" {
				return nil, fmt.Errorf("need %q: nothing to compare with", text)
			}
		default:
			return nil, fmt.Errorf("need %q: ends in a %s, want a list, a text or a boolean", text, t)
		}
		out = append(out, parsed)
	}
	return out, nil
}

func fieldIndex(t reflect.Type, name string) (int, bool) {
	for _, f := range fieldsOf(t) {
		if f.name == name {
			return f.index, true
		}
	}
	return 0, false
}

func (n need) met(doc reflect.Value) bool {
	for _, path := range n {
		if path.met(doc, path.fields) {
			return true
		}
	}
	return false
}

// met follows the rest of the path from v.
func (p needPath) met(v reflect.Value, rest []int) bool {
	if len(rest) > 0 {
		if v.Kind() != reflect.Slice {
			return p.met(v.Field(rest[0]), rest[1:])
		}
		for i := range v.Len() {
			if p.met(v.Index(i).Field(rest[0]), rest[1:]) {
				return true
			}
		}
		return false
	}
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() > 0
	case reflect.Bool:
		return v.Bool()
	default:
		return v.Len() > 0 && (p.value == "" || v.String() == p.value)
	}
}
