package rules_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/vpnlint/vpnlint/pkg/check"
)

// What the tests of a rule are held against: a rule that never says anything, and
// one that always does.
const (
	neverSays  = "set()"
	alwaysSays = `{{"ref": {"object": "x", "pointer": ""}, "severity": "error", "message": "said whatever the input is"}}`
)

// Every rule has three tests at least in which it fires and three in which it
// stays silent, one of the latter because something is unknown. None of them
// counts by its name alone: the first kind fails of a rule that never says
// anything, the second of one that always does.
func TestRegoTestsCanFail(t *testing.T) {
	c := compiler(t)
	modules := regoModules(t)
	if c.Compile(modules); c.Failed() {
		t.Fatal(c.Errors)
	}
	engine, err := check.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]map[string]int{} // by rule, then by kind
	for name, module := range modules {
		id, is := strings.CutSuffix(path.Base(module.Package.Path.String()), "_test")
		if id = strings.TrimPrefix(id, "data.vpnlint.rules."); !is || path.Dir(name) != "." {
			continue
		}
		tested[id] = map[string]int{}
		for _, test := range testsOf(module) {
			kind, mutant := "fires", neverSays
			switch {
			case strings.HasPrefix(test, "test_silent_"):
				kind, mutant = "silent", alwaysSays
			case !strings.HasPrefix(test, "test_fires_"):
				continue
			}
			query := fmt.Sprintf("data.vpnlint.rules.%s_test.%s with data.vpnlint.rules.%[1]s.findings as %[3]s", id, test, mutant)
			results, err := rego.New(rego.Query(query), rego.Compiler(c)).Eval(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			if results.Allowed() {
				t.Errorf("%s.%s holds of a rule whose findings are %s", id, test, mutant)
				continue
			}
			tested[id][kind]++
			if strings.HasPrefix(test, "test_silent_when_unknown") {
				tested[id]["unknown"]++
			}
		}
	}
	for _, m := range engine.Rules() {
		if m.Family == "tool" {
			continue // decided in Go, and tested there
		}
		has := tested[strings.ToLower(m.ID)]
		if has["fires"] < 3 || has["silent"] < 3 || has["unknown"] < 1 {
			t.Errorf("%s: %d tests that it fires, %d that it is silent, %d of them for something unknown; want 3, 3 and 1", m.ID, has["fires"], has["silent"], has["unknown"])
		}
	}
}

// testsOf returns the names of a module's tests, each once.
func testsOf(module *ast.Module) []string {
	var names []string
	seen := map[string]bool{}
	for _, r := range module.Rules {
		if name := r.Head.Name.String(); strings.HasPrefix(name, "test_") && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}
