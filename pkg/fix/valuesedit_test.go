package fix

import (
	"reflect"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

var sysctl = map[string]any{"name": "net.ipv4.ip_forward", "value": "1"}

// TestValuesEdits: an edit changes one value and leaves everything else alone.
// "!" is a text that is refused.
func TestValuesEdits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text, path string
		value            any
		items            []any
		want             string
	}{
		{name: "a scalar with its comment", text: "a:\n  b: false # why\nc: 1\n", path: "a.b", value: true, want: "a:\n  b: true # why\nc: 1\n"},
		{name: "in quotes", text: "a: 'no'\n", path: "a", value: "on", want: "a: \"on\"\n"},
		{name: "nothing after the colon", text: "a:\n  b:\n  c: 1\n", path: "a.b", value: true, want: "a:\n  b: true\n  c: 1\n"},
		{name: "nothing but a comment after the colon", text: "a: # empty\nc: 1\n", path: "a", value: true, want: "a: true # empty\nc: 1\n"},
		{name: "null", text: "a: null\n", path: "a", value: 3, want: "a: 3\n"},
		{name: "in brackets", text: "a: {b: false, c: 1}\n", path: "a.b", value: true, want: "a: {b: true, c: 1}\n"},
		{name: "JSON", text: "{\n  \"a\": {\"b\": false}\n}\n", path: "a.b", value: true, want: "{\n  \"a\": {\"b\": true}\n}\n"},
		{name: "an empty map", text: "a: {}\nb: 1\n", path: "a.x", value: "y", want: "a:\n  x: \"y\"\nb: 1\n"},
		{name: "an empty map with a comment", text: "a: {} # none\n  # x: 1\nb: 1\n", path: "a.x", value: 1, want: "a: # none\n  x: 1\n  # x: 1\nb: 1\n"},
		{name: "an empty map in brackets", text: "o: {a: {}, b: 1}\n", path: "o.a.x", value: 1, want: "o: {a: {x: 1}, b: 1}\n"},
		{name: "an empty list", text: "a: []\nb: 1\n", path: "a", value: []any{sysctl}, items: []any{sysctl}, want: "a:\n  - name: net.ipv4.ip_forward\n    value: \"1\"\nb: 1\n"},
		{name: "an empty list of words", text: "a: [] # none\n", path: "a", value: []any{"p", "q"}, want: "a: [p, q] # none\n"},
		{name: "one more item", text: "a:\n- x: 1\n  # more\nb: 1\n", path: "a", value: []any{map[string]any{"x": 1}, sysctl}, items: []any{sysctl}, want: "a:\n- x: 1\n  # more\n- name: net.ipv4.ip_forward\n  value: \"1\"\nb: 1\n"},
		{name: "one more item, indented", text: "a:\n    -   x: 1\n        t: |\n          text\n\n\nb: 1\n", path: "a", value: []any{map[string]any{"x": 1, "t": "text\n"}, "z"}, items: []any{"z"}, want: "a:\n    -   x: 1\n        t: |\n          text\n    -   z\n\n\nb: 1\n"},
		{name: "one more item of several lines, indented", text: "a:\n    -   x: 1\nb: 1\n", path: "a", value: []any{map[string]any{"x": 1}, sysctl}, items: []any{sysctl}, want: "a:\n    -   x: 1\n    -   name: net.ipv4.ip_forward\n        value: \"1\"\nb: 1\n"},
		{name: "as far as the file indents", text: "a:\n    b: 1\n    c: {}\n", path: "a.c.d.e", value: 1, want: "a:\n    b: 1\n    c:\n        d:\n            e: 1\n"},
		{name: "lists as the file indents them", text: "a:\n- x: 1\nc: {}\n", path: "c.l", value: []any{sysctl}, want: "a:\n- x: 1\nc:\n  l:\n  - name: net.ipv4.ip_forward\n    value: \"1\"\n"},
		{name: "one more item in brackets", text: "a: [p, q] # two\n", path: "a", value: []any{"p", "q", "z"}, items: []any{"z"}, want: "a: [p, q, z] # two\n"},
		{name: "one more item in brackets over lines", text: "a: [\n  p,\n  q,\n]\n", path: "a", value: []any{"p", "q", "z"}, items: []any{"z"}, want: "a: [\n  p,\n  q, z\n]\n"},
		{name: "two more items", text: "a:\n- p\nb: 1\n", path: "a", value: []any{"p", "q", "z"}, items: []any{"q", "z"}, want: "a:\n- p\n- q\n- z\nb: 1\n"},
		{name: "another list of words", text: "a: [p, q]\n", path: "a", value: []any{"z"}, want: "a: [z]\n"},
		{name: "a list over lines is not rewritten", text: "a:\n- x\n", path: "a", value: []any{"z"}, want: "!"},
		{name: "a key of a map", text: "a:\n  b: 1\n  # last\n\nc: 1\n", path: "a.x", value: true, want: "a:\n  b: 1\n  x: true\n  # last\n\nc: 1\n"},
		{name: "a key with what is deeper behind", text: "a:\n  b: {}\n    # c: 1\nd: 1\n", path: "a.x.y", value: true, want: "a:\n  b: {}\n    # c: 1\n  x:\n    \"y\": true\nd: 1\n"},
		{name: "a key at the top, without a last line break", text: "a: 1", path: "x", value: true, want: "a: 1\nx: true"},
		{name: "a key in brackets", text: "a: {b: 1}\n", path: "a.x", value: true, want: "a: {b: 1, x: true}\n"},
		{name: "a file with comments only", text: "# nothing\n", path: "a.b", value: true, want: "# nothing\na:\n  b: true\n"},
		{name: "an empty file", text: "", path: "a", value: true, want: "a: true\n"},
		{name: "an empty map as the file", text: "{}\n", path: "a.b", value: true, want: "a:\n  b: true\n"},
		{name: "line ends of Windows", text: "a: {}\r\nb: 1\r\n", path: "a.x", value: 1, want: "a:\r\n  x: 1\r\nb: 1\r\n"},
		{name: "inside a list", text: "a:\n  - name: x\n    up: false\n", path: "a.0.up", value: true, want: "a:\n  - name: x\n    up: true\n"},
		{name: "a key of an item", text: "a:\n  - name: x\n  - name: y\n", path: "a.0.p", value: true, want: "a:\n  - name: x\n    p: true\n  - name: y\n"},
		{name: "a value that others share", text: "a: &x {b: 1}\nc: *x\n", path: "a.b", value: 2, want: "!"},
		{name: "a value that is shared", text: "a: &x {b: 1}\nc: *x\n", path: "c.b", value: 2, want: "!"},
		{name: "a merged map", text: "x: &x {a: {b: 1, c: 1}}\ny:\n  <<: *x\n  z: 1\n", path: "y.a.b", value: 2, want: "!"},
		{name: "a text is no map", text: "a: text\n", path: "a.b", value: 2, want: "!"},
		{name: "two documents", text: "a: 1\n---\na: 2\n", path: "a", value: 3, want: "!"},
		{name: "no YAML", text: "a: [\n", path: "a", value: 3, want: "!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := source.NewFile("values.yaml", tt.text)
			path := strings.Split(tt.path, ".")
			got, err := func() (string, error) {
				e, err := newValuesEditor(f, -1)
				if err != nil {
					return "", err
				}
				edits, err := e.set(path, tt.value, tt.items, func(held []string) any {
					return restated(nil, held, path, tt.value)
				})
				if err != nil {
					return "", err
				}
				return edited(f, edits)
			}()
			if err != nil {
				got = "!"
			}
			if got != tt.want {
				t.Fatalf("got (%v)\n%s\nwant\n%s", err, got, tt.want)
			}
			if err == nil {
				sameBut(t, tt.text, got, path, tt.value)
			}
		})
	}
}

// sameBut holds two texts against each other as Helm reads them.
func sameBut(t *testing.T, before, after string, path []string, value any) {
	t.Helper()
	var a, b map[string]any
	if err := sigsyaml.Unmarshal([]byte(before), &a); err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.Unmarshal([]byte(after), &b); err != nil {
		t.Fatalf("%v:\n%s", err, after)
	}
	text, err := sigsyaml.Marshal(withMember(orEmpty(a), path, value))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := sigsyaml.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("got  %v\nwant %v", b, want)
	}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func TestOverrideRestatesLists(t *testing.T) {
	t.Parallel()
	tree := map[string]any{"list": []any{map[string]any{"a": 1}, map[string]any{"b": map[string]any{"c": 1}}}, "map": map[string]any{"x": 1}}
	got := override(tree, []change{
		{path: loader.SplitPath("list[1].b.c"), value: 2}, {path: loader.SplitPath("list[0].a"), value: 3}, {path: []string{"map", "y"}, value: 4},
	})
	want := map[string]any{"list": []any{map[string]any{"a": 3}, map[string]any{"b": map[string]any{"c": 2}}}, "map": map[string]any{"y": 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if tree["list"].([]any)[0].(map[string]any)["a"] != 1 {
		t.Error("the chart's values were changed")
	}
}
