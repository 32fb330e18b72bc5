package config_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/source"
)

var update = flag.Bool("update", false, "write docs/schema/config.json")

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSchemaFile: the schema in the repository is the one of the types.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "schema", "config.json")
	text, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil || string(have) != text {
		t.Errorf("docs/schema/config.json is stale (%v): run go test ./pkg/config -update", err)
	}
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestSchemaAcceptsExample(t *testing.T) {
	t.Parallel()
	if err := schema(t).Validate(decoded(t, houseExample)); err != nil {
		t.Error(err)
	}
}

// TestSchemaAgrees changes the example in any place, by values of all types and
// by keys that are wrong: what the decoder takes the schema takes, and what the
// schema refuses the decoder refuses as a matter of shape.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	compiled := schema(t)
	dir := write(t, withChart(houseExample))
	agree := func(rt rapid.TB, change func(tree map[string]any)) (taken bool) {
		tree := map[string]any{}
		if err := yaml.Unmarshal([]byte(houseExample), &tree); err != nil {
			rt.Fatal(err)
		}
		change(tree)
		text, err := json.Marshal(tree)
		if err != nil {
			rt.Fatal(err)
		}
		_, err = config.Parse(source.NewFile(".vpnlint.yaml", string(text)), options(dir))
		wrong := compiled.Validate(decoded(t, string(text)))
		var problems *config.Error
		switch {
		case err == nil && wrong != nil:
			rt.Fatalf("the decoder takes what the schema refuses: %v\n%s", wrong, text)
		case err != nil && wrong == nil && errors.As(err, &problems) && problems.Shape():
			rt.Fatalf("the schema takes what the decoder refuses: %v\n%s", err, text)
		}
		return err == nil
	}
	// Random changes are nearly all wrong ones.
	if !agree(t, func(tree map[string]any) { delete(tree, "rules") }) {
		t.Error("the example without its rules is refused")
	}
	if agree(t, func(tree map[string]any) { tree["rulesx"] = tree["rules"] }) {
		t.Error("a key that nobody knows is taken")
	}
	rapid.Check(t, func(rt *rapid.T) {
		agree(rt, func(tree map[string]any) {
			for range rapid.IntRange(1, 3).Draw(rt, "changes") {
				change(rt, tree)
			}
		})
	})
}

// change replaces, removes or adds something below a value.
func change(rt *rapid.T, at any) {
	for {
		switch v := at.(type) {
		case map[string]any:
			keys := sorted(v)
			if len(keys) == 0 {
				v["added"] = "x"
				return
			}
			key := rapid.SampledFrom(keys).Draw(rt, "key")
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				v[key] = rapid.SampledFrom(values()).Draw(rt, "value")
				return
			case 1:
				delete(v, key)
				return
			case 2:
				v[key+"x"] = v[key]
				return
			default:
				if at = v[key]; !inner(at) {
					v[key] = rapid.SampledFrom(values()).Draw(rt, "value")
					return
				}
			}
		case []any:
			if len(v) == 0 {
				return
			}
			i := rapid.IntRange(0, len(v)-1).Draw(rt, "item")
			if !inner(v[i]) || rapid.Bool().Draw(rt, "here") {
				v[i] = rapid.SampledFrom(values()).Draw(rt, "value")
				return
			}
			at = v[i]
		default:
			return
		}
	}
}

func inner(v any) bool {
	k := reflect.ValueOf(v).Kind()
	return k == reflect.Map || k == reflect.Slice
}

func sorted(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	// Draws must not depend on the order of a map.
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

func values() []any {
	return []any{
		nil, "", "x", "off", "node", "none", "VPN301", "10.4.0.0/14", "10.4.0.1/14", "::/0", "10.0.0.1", "**", true, false, 1, 1.5, -1,
		[]any{}, []any{"10.4.0.0/14"}, []any{nil}, []any{map[string]any{}}, map[string]any{}, map[string]any{"name": "x"}, map[string]any{"severity": false},
	}
}

// FuzzParse: whatever the file holds, it ends in a plan or in problems with
// places inside the file, never in a panic.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		houseExample, "", "\x00", "version: 1\nclusters: &a [*a]\n", "version: 1\nrules: {VPN305: {severity: off}}\n", "{\"version\": 1}", "- a\n",
		"version: 1\nclusters:\n- name: a\n  pods: [10.0.0.0/8]\n  nodes: [::/0]\n  vpn: [{name: a, localTrafficSelectors: [1.1.1.1/32]}]\n",
		"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nversion: *b\n", "\ufeffversion: 1\n", "version: 1\r\nclusters: []\r\n", "<<: {version: 1}\n", "? [a]\n: b\n",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := config.Parse(source.NewFile(".vpnlint.yaml", text), options(dir))
		if (c == nil) == (err == nil) {
			t.Fatalf("plan %v, error %v", c, err)
		}
		var wrong *config.Error
		if err != nil && (!errors.As(err, &wrong) || len(wrong.Problems) == 0) {
			t.Fatalf("an error without problems: %v", err)
		}
		if wrong == nil {
			return
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029") + 1
		for _, p := range wrong.Problems {
			if p.At.File != ".vpnlint.yaml" || p.At.Span.Start.Line > lines || p.Says == "" {
				t.Fatalf("a problem outside the file: %+v", p)
			}
		}
	})
}

// TestPage: the page names every key and value of the schema, and its example is
// one that works.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plan-file.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "<!-- example -->\n```yaml\n")
	example, after, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		t.Fatal("no example")
	}
	if _, err := config.Load(options(write(t, withChart(example)))); err != nil {
		t.Error(err)
	}
	text, err := config.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	var visit func(v any)
	visit = func(v any) {
		node, _ := v.(map[string]any)
		properties, _ := node["properties"].(map[string]any)
		for _, key := range sorted(properties) {
			if !strings.Contains(example, key+":") {
				t.Errorf("the example lacks %s", key)
			}
			visit(properties[key])
		}
		visitAny := []any{node["items"], node["additionalProperties"]}
		for _, inner := range visitAny {
			if inner != nil {
				visit(inner)
			}
		}
		if values, _ := node["enum"].([]any); len(values) > 0 {
			for _, word := range values {
				if s, is := word.(string); is && !strings.Contains(string(page), s) {
					t.Errorf("the page lacks the value %s", s)
				}
			}
		}
	}
	visit(tree)
	if !strings.Contains(after, "## Clusters") {
		t.Error("no sections")
	}
}
