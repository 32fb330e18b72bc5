package rules_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/rules"
)

var update = flag.Bool("update", false, "format the rules and write their pages")

// regoFiles returns the texts of all Rego files by path.
func regoFiles(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(rules.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".rego" {
			return err
		}
		text, err := fs.ReadFile(rules.FS(), name)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func regoModules(t *testing.T) map[string]*ast.Module {
	t.Helper()
	modules := map[string]*ast.Module{}
	for name, text := range regoFiles(t) {
		module, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = module
	}
	return modules
}

func compiler(t *testing.T) *ast.Compiler {
	t.Helper()
	c, err := check.Compiler(rules.FS())
	if err != nil {
		t.Fatal(err)
	}
	return c.WithEnablePrintStatements(true)
}

// TestRego runs the tests that are written in Rego beside the rules.
func TestRego(t *testing.T) {
	results, err := tester.NewRunner().
		SetCompiler(compiler(t)).
		CapturePrintOutput(true).
		RaiseBuiltinErrors(true).
		SetModules(regoModules(t)).
		RunTests(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for r := range results {
		ran++
		t.Run(strings.TrimPrefix(r.Package, "data.vpnlint.")+"."+r.Name, func(t *testing.T) {
			if !r.Pass() {
				t.Errorf("%s: %v\n%s", r.Location, r.Error, r.Output)
			}
		})
	}
	if ran == 0 {
		t.Error("no Rego test ran")
	}
}

// A fixture that the Go types could never produce proves nothing.
func TestFixturesFitTheSchema(t *testing.T) {
	c := compiler(t)
	if c.Compile(regoModules(t)); c.Failed() {
		t.Fatal(c.Errors)
	}
	results, err := rego.New(
		rego.Query("data.vpnlint.lib.testing.everything"), rego.Compiler(c), rego.StrictBuiltinErrors(true),
	).Eval(t.Context())
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	text, err := fs.ReadFile(rules.FS(), "schema/input.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	// A fixture may leave out what the tested rule does not read.
	definitions, ok := document.(map[string]any)["definitions"].(map[string]any)
	if !ok {
		t.Fatal("schema/input.json has no definitions")
	}
	for _, d := range definitions {
		delete(d.(map[string]any), "required")
	}
	schemas := jsonschema.NewCompiler()
	if err := schemas.AddResource("input.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := schemas.Compile("input.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(results[0].Expressions[0].Value); err != nil {
		t.Errorf("the builders of lib/testing_test.rego do not fit schema/input.json: %v", err)
	}
}

// Each rule is a file, a test file, a page and an example pair, named alike.
func TestRulesAreComplete(t *testing.T) {
	engine, err := check.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := regoFiles(t)
	expected := map[string]bool{}
	for _, meta := range engine.Rules() {
		stem := strings.ToLower(meta.ID) + "_" + strings.ReplaceAll(meta.Name, "-", "_")
		expected[stem+".rego"] = true
		if strings.ContainsAny(meta.Title, "\n") || strings.HasSuffix(meta.Title, ".") {
			t.Errorf("%s: the title is one line without a full stop", meta.ID)
		}
		if len(meta.Sources) == 0 {
			t.Errorf("%s names no source", meta.ID)
		}
		if meta.Family == "tool" {
			continue // decided in Go, and tested there
		}
		expected[stem+"_test.rego"] = true
		_, rule := files[stem+".rego"]
		if _, tests := files[stem+"_test.rego"]; !rule || !tests {
			t.Errorf("%s: want files %s.rego and %[2]s_test.rego", meta.ID, stem)
		}
	}
	for name := range files {
		if path.Dir(name) == "." && !expected[name] {
			t.Errorf("%s belongs to no rule", name)
		}
	}
}

func TestRegoIsFormatted(t *testing.T) {
	for name, text := range regoFiles(t) {
		formatted, err := format.Source(name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(formatted) == text {
			continue
		}
		if !*update {
			t.Errorf("%s is not formatted; run: go test ./rules -update", name)
		} else if err := os.WriteFile(name, formatted, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The index is generated of the rules as they are on disk now, for the formatter
// may just have changed them.
func TestIndexIsUpToDate(t *testing.T) {
	want, err := check.Index(t.Context(), os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	const name = "index.json"
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is stale; run: go test ./rules -update", name)
	}
}

// OPA compares each key of an object that rules define key by key with all keys
// before it: thousands of workloads would cost their square. A comprehension
// does not.
func TestNoObjectIsDefinedKeyByKey(t *testing.T) {
	for name, module := range regoModules(t) {
		for _, rule := range module.Rules {
			if rule.Head.DocKind() == ast.PartialObjectDoc {
				t.Errorf("%s:%d: write %s := {key: value | ...}", name, rule.Location.Row, rule.Head.Name)
			}
		}
	}
}

// OPA reads past keys of METADATA that it does not know, so that a misspelt
// title would be no title. This test does not.
func TestMetadataHasNoUnknownKeys(t *testing.T) {
	for name, text := range regoFiles(t) {
		for _, block := range metadataBlocks(text) {
			var known struct {
				Title       string `yaml:"title"`
				Description string `yaml:"description"`
				Resources   []struct {
					Ref         string `yaml:"ref"`
					Description string `yaml:"description"`
				} `yaml:"related_resources"`
				Custom map[string]any `yaml:"custom"` // pkg/check knows its keys
			}
			dec := yaml.NewDecoder(strings.NewReader(block))
			dec.KnownFields(true)
			if err := dec.Decode(&known); err != nil {
				t.Errorf("%s: METADATA: %v", name, err)
			}
			if err := complete(known.Description, known.Custom, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func complete(description string, custom map[string]any, name string) error {
	if strings.TrimSpace(description) == "" {
		return errors.New("METADATA without a description")
	}
	if library := strings.HasPrefix(name, "lib/"); library != (custom == nil) {
		return fmt.Errorf("METADATA custom: %v", custom)
	}
	return nil
}

func metadataBlocks(text string) []string {
	var blocks []string
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "# METADATA\n")
		if !found {
			return blocks
		}
		var block strings.Builder
		for line := range strings.Lines(after) {
			if !strings.HasPrefix(line, "#") {
				break
			}
			block.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
		}
		blocks = append(blocks, block.String())
		rest = after
	}
}
