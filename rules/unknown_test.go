package rules_test

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/lint"
)

// speaksOfUnknown is the one finding about what is not known: a block far beyond
// the pod range, while the destinations of a VPN cannot be seen (a warning).
const speaksOfUnknown = "vpn201 .facts.sites.remote_state"

// written are the rules that judge a text which is in the tree: what is not known
// besides does not silence them, and what they read is empty where the text cannot
// be seen. Their Rego tests show that.
var written = []string{
	"VPN104", "VPN105", "VPN201", "VPN202", "VPN203", "VPN204", "VPN205", "VPN206", "VPN207", "VPN208", "VPN211",
	"VPN306", "VPN310", "VPN401", "VPN403", "VPN404", "VPN405", "VPN406", "VPN407",
}

// What is not known fires no rule: in what the rules see of each bad example,
// every kind of value that is certain is made unknown, and no finding comes that
// was not there, nor a graver one. With all of them unknown at once the rule is
// silent, unless it judges what is written.
func TestUnknownFiresNoRule(t *testing.T) {
	linter, err := lint.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	query := allRules(t)
	for _, m := range linter.Rules() {
		if m.Family == "tool" {
			continue // decided in Go
		}
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			dir := path.Join("examples", m.ID, "bad")
			text, err := linter.Input(t.Context(), []string{dir}, "", exampleOptions(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			var input any
			if err := json.Unmarshal(text, &input); err != nil {
				t.Fatal(err)
			}
			before := gravest(t, query, input)
			if !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(f said) bool { return strings.EqualFold(f.rule, m.ID) }) {
				t.Fatalf("%s does not fire on its own example", m.ID)
			}
			kinds := map[string]bool{}
			certain(input, "", func(kind string) bool { kinds[kind] = true; return false })
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				for f, grave := range gravest(t, query, certain(input, "", func(k string) bool { return k == kind })) {
					if was, there := before[f]; (!there || grave > was) && f.rule+" "+kind != speaksOfUnknown {
						t.Errorf("with %s unknown, %s fires at %s", kind, f.rule, f.ref)
					}
				}
			}
			fires := false
			for f := range gravest(t, query, certain(input, "", func(string) bool { return true })) {
				fires = fires || strings.EqualFold(f.rule, m.ID)
			}
			if fires != slices.Contains(written, m.ID) {
				t.Errorf("with everything unknown it fires: %v; the list of rules that judge what is written says otherwise", fires)
			}
		})
	}
}

// said is a finding: its rule, as the last part of its package, and its place.
type said struct{ rule, ref string }

// allRules returns a query for the findings of all rules.
func allRules(t *testing.T) rego.PreparedEvalQuery {
	t.Helper()
	c := compiler(t)
	if c.Compile(regoModules(t)); c.Failed() {
		t.Fatal(c.Errors)
	}
	query, err := rego.New(rego.Query("out = {rule: found | found := data.vpnlint.rules[rule].findings}"), rego.Compiler(c)).PrepareForEval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return query
}

// gravest returns how grave the findings at each place are.
func gravest(t *testing.T, query rego.PreparedEvalQuery, input any) map[said]int {
	t.Helper()
	results, err := query.Eval(t.Context(), rego.EvalInput(input))
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	out := map[said]int{}
	for rule, found := range results[0].Bindings["out"].(map[string]any) {
		for _, f := range found.([]any) {
			finding := f.(map[string]any)
			ref, err := json.Marshal(finding["ref"])
			if err != nil {
				t.Fatal(err)
			}
			severity, _ := finding["severity"].(string)
			at := said{rule: rule, ref: string(ref)}
			out[at] = max(out[at], 1+slices.Index([]string{"note", "warning", "error"}, severity))
		}
	}
	return out
}

// certain returns a copy of the input in which values that are certain are
// unknown, those whose kind is chosen: the path without the numbers of items.
func certain(value any, kind string, chosen func(kind string) bool) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, member := range v {
			out[key] = certain(member, kind+"."+key, chosen)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = certain(item, kind, chosen)
		}
		return out
	case string:
		if (v == string(facts.Present) || v == string(facts.Absent)) && chosen(kind) {
			return string(facts.Unknown)
		}
	}
	return value
}
