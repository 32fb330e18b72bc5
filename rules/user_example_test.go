package rules_test

import (
	"encoding/json"
	"os"
	"path"
	"testing"

	"github.com/open-policy-agent/opa/v1/loader"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/vpnlint/vpnlint/pkg/lint"
	vpnloader "github.com/vpnlint/vpnlint/pkg/loader"
)

// The example of a user's rules passes the tests that "opa test" runs, with the
// input that is kept beside them and with what vpnlint makes of the trees now.
func TestExampleOfUserRules(t *testing.T) {
	const dir = "../examples/user-rules"
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fixtures := map[string]any{}
	for _, kind := range []string{"bad", "good"} {
		text, err := linter.Input(t.Context(), []string{path.Join(dir, kind)}, "", lint.Options{Load: vpnloader.Options{Dir: "."}})
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path.Join(dir, "rules", "fixtures", kind, "input.json"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		fixtures[kind] = value
	}
	// As "opa test examples/user-rules/rules" does.
	loaded, err := loader.NewFileLoader().WithProcessAnnotation(true).All([]string{path.Join(dir, "rules")})
	if err != nil {
		t.Fatal(err)
	}
	for name, documents := range map[string]map[string]any{"kept": loaded.Documents, "now": {"fixtures": fixtures}} {
		results, err := tester.NewRunner().
			SetStore(inmem.NewFromObject(documents)).
			SetModules(loaded.ParsedModules()).
			RaiseBuiltinErrors(true).
			RunTests(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		for r := range results {
			ran++
			if !r.Pass() {
				t.Errorf("%s: %s %s: %v", name, r.Location, r.Name, r.Error)
			}
		}
		if ran < 4 {
			t.Errorf("%s: %d tests ran", name, ran)
		}
	}
	for kind, want := range map[string]int{"bad": 1, "good": 0} {
		r, err := lint.Run(t.Context(), []string{path.Join(dir, kind)},
			lint.Options{Load: vpnloader.Options{Dir: "."}, UserRules: []string{path.Join(dir, "rules")}})
		if err != nil {
			t.Fatal(err)
		}
		r, _ = withoutPlanNote(r, "ACME001")
		if len(r.Findings) != want || want == 1 && r.Findings[0].Rule != "ACME001" {
			t.Errorf("%s: %v", kind, r.Findings)
		}
	}
}
