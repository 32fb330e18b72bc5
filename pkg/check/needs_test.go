package check

import (
	"encoding/json"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/rules"
)

func TestNeedsThatCannotBeMeant(t *testing.T) {
	for _, text := range []string{
		"", "facts", "facts.podz", "facts.pods.role.x", "facts.pods.id.x", "facts.pods.tunnels=wireguard",
		"facts.pods.role=", "facts.pods.ref", "facts.pods.labels", "facts.pods.replicas", "facts.agents |",
	} {
		if _, err := parseNeed(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestNeedsAreMet(t *testing.T) {
	doc := reflect.ValueOf(document{
		Facts: facts.Facts{Pods: []facts.Pod{
			{ID: "a", Role: facts.None},
			{ID: "b", Role: facts.Gateway, PerNode: true, Tunnels: []facts.Tunnel{{}, {Pool: []facts.PrefixAt{{}}}}},
		}},
		Plan: cidrplan.Plan{Overlaps: []cidrplan.Overlap{{}}},
	})
	for text, want := range map[string]bool{
		"facts.pods":                               true,
		"facts.agents":                             false,
		"facts.pods.role=gateway":                  true,
		"facts.pods.role=sidecar":                  false,
		"facts.pods.role":                          true,
		"facts.pods.role_why":                      false,
		"facts.pods.per_node":                      true,
		"facts.pods.runs_to_completion":            false,
		"facts.pods.tunnels.pool":                  true,
		"facts.pods.tunnels.peers":                 false,
		"facts.pods.tunnels.peers | plan.overlaps": true,
		"facts.agents|facts.sites":                 false,
	} {
		n, err := parseNeed(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if n.met(doc) != want {
			t.Errorf("%q is met: %v", text, !want)
		}
	}
}

// firings records every input under which a rule has a finding.
type firings struct {
	t      *testing.T
	engine *Engine
	fired  map[string]map[string]bool // the inputs, by rule
}

func (f *firings) Enabled() bool               { return true }
func (f *firings) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (f *firings) TraceEvent(e topdown.Event) {
	r, ok := e.Node.(*ast.Rule)
	if !ok || e.Op != topdown.ExitOp || e.Input() == nil {
		return
	}
	key, name, _ := strings.Cut(strings.TrimPrefix(r.Ref().String(), "data."+rulesPackage+"."), ".")
	rule, known := f.engine.byKey[key]
	if !known || !strings.HasPrefix(name, "findings") {
		return
	}
	text := e.Input().String()
	if f.fired[key] == nil {
		f.fired[key] = map[string]bool{}
	}
	if f.fired[key][text] {
		return
	}
	f.fired[key][text] = true
	var doc document
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		f.t.Fatalf("input of a test of %s: %v", key, err)
	}
	for i, n := range rule.needs {
		if !n.met(reflect.ValueOf(doc)) {
			f.t.Errorf("%s fires, although its need %q is not met by %s", rule.meta.ID, rule.needsText[i], text)
		}
	}
}

// A need that is too narrow would silence a rule. Every input by which a test of
// the rules makes one fire must meet that rule's needs.
func TestRulesNeedNoMoreThanTheySay(t *testing.T) {
	engine, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]*ast.Module{}
	err = fs.WalkDir(rules.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".rego" {
			return err
		}
		text, err := fs.ReadFile(rules.FS(), name)
		if err != nil {
			return err
		}
		modules[name], err = ast.ParseModule(name, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := Compiler(rules.FS())
	if err != nil {
		t.Fatal(err)
	}
	if compiler.Compile(modules); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	f := &firings{t: t, engine: engine, fired: map[string]map[string]bool{}}
	for _, name := range sortedKeys(modules) {
		if !strings.HasSuffix(name, "_test.rego") {
			// A rule that reads another's findings would find none where the other
			// is left out.
			for _, imported := range modules[name].Imports {
				if strings.HasPrefix(imported.Path.String(), "data."+rulesPackage) {
					t.Errorf("%s imports %s", name, imported.Path)
				}
			}
			continue
		}
		query := rego.New(rego.Query(modules[name].Package.Path.String()), rego.Compiler(compiler), rego.QueryTracer(f))
		if _, err := query.Eval(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, key := range sortedKeys(engine.byKey) {
		switch rule := engine.byKey[key]; {
		case rule.meta.Family == toolFamily:
		case len(rule.needs) == 0:
			t.Errorf("%s: METADATA custom.needs is empty, so that the rule is compiled for every run", rule.meta.ID)
		case len(f.fired[key]) == 0:
			t.Errorf("no test of %s makes it fire", rule.meta.ID)
		}
	}
	passByPlainPods(t, compiler, f.fired)
	passByUnreadFields(t, engine, compiler, modules, f.fired)
}

// passByUnreadFields holds the rules to what leaving out fields rests on: with
// those only that its own words name, a rule says the same.
func passByUnreadFields(t *testing.T, engine *Engine, compiler *ast.Compiler, modules map[string]*ast.Module, fired map[string]map[string]bool) {
	t.Helper()
	for _, key := range sortedKeys(fired) {
		read := map[string]*ast.Module{}
		for name, module := range modules {
			if name == engine.byKey[key].file || path.Dir(name) == "lib" && !strings.HasSuffix(name, "_test.rego") {
				read[name] = module
			}
		}
		query, err := rego.New(rego.Query("data."+rulesPackage+"."+key+".findings"), rego.Compiler(compiler)).PrepareForEval(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		say := func(doc *document, read words) (ast.Value, any) {
			input, err := inputValue(doc, read)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			results, err := query.Eval(t.Context(), rego.EvalParsedInput(input))
			if err != nil || len(results) != 1 {
				t.Fatalf("%s: %v, %v", key, results, err)
			}
			return input, results[0].Expressions[0].Value
		}
		speaks := false
		for text := range fired[key] {
			var doc document
			if err := json.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			whole, want := say(&doc, nil)
			less, have := say(&doc, wordsOf(read))
			if !reflect.DeepEqual(have, want) {
				t.Errorf("%s says another thing when fields are left out that it does not read:\n%v\n%v", key, want, have)
			}
			if whole.Compare(less) == 0 {
				t.Errorf("%s: nothing is left out", key)
			}
			list, _ := want.([]any)
			speaks = speaks || len(list) > 0
		}
		if !speaks {
			t.Errorf("%s never fires on a whole input", key)
		}
	}
}

// passByPlainPods holds the rules to what leaving out plain pods rests on: with
// one or without, they say the same.
func passByPlainPods(t *testing.T, compiler *ast.Compiler, fired map[string]map[string]bool) {
	t.Helper()
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	known, err := facts.Read(t.Context(), []*source.Object{{
		ID: "Deployment/vpn/plain", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "vpn", Name: "plain", Origin: fakeOrigin{},
		Tree: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "app", "image": "nginx:1", "ports": []any{map[string]any{"containerPort": int64(8080)}}},
		}}}}},
	}}, catalog, facts.Options{})
	if err != nil || len(known.Pods) != 1 || !known.Pods[0].Plain() {
		t.Fatalf("%+v, %v", known, err)
	}
	document, err := inputValue(&document{Facts: *known}, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := document.Find(ast.MustParseRef("x.facts.pods[0]")[1:])
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range sortedKeys(fired) {
		query, err := rego.New(rego.Query("data."+rulesPackage+"."+key+".findings"), rego.Compiler(compiler)).PrepareForEval(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		say := func(input ast.Value) any {
			results, err := query.Eval(t.Context(), rego.EvalParsedInput(input))
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			return results
		}
		for text := range fired[key] {
			input := ast.MustParseTerm(text)
			pods, err := input.Value.Find(ast.MustParseRef("x.facts.pods")[1:])
			if err != nil {
				continue
			}
			list := pods.(*ast.Array)
			list = list.Append(ast.NewTerm(plain))
			var facts [][2]*ast.Term
			input.Get(ast.StringTerm("facts")).Value.(ast.Object).Foreach(func(k, v *ast.Term) {
				if k.Equal(ast.StringTerm("pods")) {
					v = ast.NewTerm(list)
				}
				facts = append(facts, [2]*ast.Term{k, v})
			})
			more := ast.NewObject([2]*ast.Term{ast.StringTerm("facts"), ast.ObjectTerm(facts...)}, [2]*ast.Term{ast.StringTerm("plan"), input.Get(ast.StringTerm("plan"))})
			if without, with := say(input.Value), say(more); !reflect.DeepEqual(without, with) {
				t.Errorf("%s says another thing when there is a plain pod:\n%v\n%v", key, without, with)
			}
		}
	}
}

// What the engine leaves out for want of needs must have had nothing to say.
func TestOnlyRulesWithNeedsMetAreCompiled(t *testing.T) {
	e, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(e.compiled) != 0 {
		t.Fatalf("%d rules are compiled before there is an input; is rules/index.json stale?", len(e.compiled))
	}
	known, objects := gatewayPod()
	found, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if !e.compiled["vpn101"] || e.compiled["vpn201"] {
		t.Errorf("compiled: %v", sortedKeys(e.compiled))
	}
	if err := e.Compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil || !reflect.DeepEqual(again, found) {
		t.Errorf("with all rules: %v, %v, want %v", again, err, found)
	}
	if !slices.Equal(sortedKeys(e.compiled), sortedKeys(e.byKey)) {
		t.Errorf("compiled: %v", sortedKeys(e.compiled))
	}
}
