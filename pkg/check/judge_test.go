package check

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/rules"
)

// Whether the pods are judged one by one or together, the rules say the same: of
// all examples in one tree.
func TestPartsSayWhatTheWholeSays(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loader.Load(t.Context(), []string{dir}, loader.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := images.Load()
	if err != nil {
		t.Fatal(err)
	}
	known, err := facts.Read(t.Context(), loaded.Objects, catalog, facts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	say := func(part int) []statement {
		doc := documentOf(Input{Facts: known})
		keys := engine.speakers(doc)
		p, err := engine.prepare(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{program: p, byKey: engine.byKey, keys: keys, part: part}
		if sorts, _ := j.byBreadth(); len(sorts[onePod]) < 20 {
			t.Errorf("rules that judge one pod at a time: %v", sorts[onePod])
		}
		said, err := j.run(t.Context(), doc)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(said, compareStatements)
		return said
	}
	whole := say(len(known.Pods))
	if len(known.Pods) < 100 || len(whole) < 30 {
		t.Fatalf("%d pods, %d findings", len(known.Pods), len(whole))
	}
	for _, part := range []int{1, 7} {
		said := say(part)
		for i, s := range said {
			if i >= len(whole) || !same(s, whole[i]) {
				t.Errorf("in parts of %d: %s %s", part, s.rule.meta.ID, s.Message)
				break
			}
		}
		if len(said) != len(whole) {
			t.Errorf("in parts of %d: %d findings, together %d", part, len(said), len(whole))
		}
	}
	if known.Pods[0].ID == "" {
		t.Error("the caller's pods are gone")
	}
}

func same(a, b statement) bool {
	ids := a.rule.meta.ID == b.rule.meta.ID
	a.rule, b.rule = nil, nil
	return ids && reflect.DeepEqual(a, b)
}

func TestBreadth(t *testing.T) {
	const library = `package vpnlint.lib.pods
gateways contains pod if {
	some pod in input.facts.pods
	pod.role == "gateway"
}
name(pod) := pod.id
all_roles := {pod.role | some pod in input.facts.pods}
`
	for _, tc := range []struct {
		about, text string
		want        breadth
	}{
		{"one walk", `findings contains pod.id if { some pod in input.facts.pods }`, onePod},
		{"a walk over a set of the library", `findings contains pods.name(pod) if { some pod in pods.gateways }`, onePod},
		{"a walk over a list of its own", `few := [pod | some pod in pods.gateways; pod.id != ""]
findings contains pod.id if { some pod in few }`, onePod},
		{"two bodies with a walk each", `findings contains pod.id if { some pod in pods.gateways }
findings contains pod.role if { some pod in input.facts.pods; some t in pod.tunnels; t.id == "" }`, onePod},
		{"no pods", `findings contains c.name if { some c in input.facts.clusters }`, noPod},
		{"no pods, although the library has some", `findings contains pods.name(c) if { some c in input.facts.clusters }`, noPod},
		{"two walks", `findings contains a.id if { some a in input.facts.pods; some b in input.facts.pods; a.id != b.id }`, allPods},
		{"a walk over two sets", `findings contains a.id if { some a in pods.gateways; some b in input.facts.pods; a.id != b.id }`, allPods},
		{"a count of them", `findings contains pod.id if { some pod in input.facts.pods; count(input.facts.pods) > 1 }`, allPods},
		{"a comprehension in the body", `findings contains n if { n := count([p | some p in input.facts.pods]) }`, allPods},
		{"a helper that looks at all", `findings contains pod.id if { some pod in input.facts.pods; "gateway" in pods.all_roles }`, allPods},
		{"a function that looks at all", `others(pod) := [p.id | some p in input.facts.pods; p.id != pod.id]
findings contains pod.id if { some pod in input.facts.pods; count(others(pod)) > 0 }`, allPods},
		{"a negated walk", `findings contains "x" if { not any_pod }
any_pod if { some pod in input.facts.pods; pod.id != "" }`, allPods},
		{"a place in the list", `findings contains pod.id if { pod := input.facts.pods[0] }`, allPods},
		{"the facts as a whole", `findings contains "x" if { f := input.facts; count(f.pods) > 1 }`, allPods},
		{"the input as a whole", `findings contains "x" if { f := input; count(f.facts.pods) > 1 }`, allPods},
		{"pods inside brackets", `findings contains x if { some c in input.facts.clusters; x := {"a": 1}[input.facts.pods[0].id] }`, allPods},
		{"an else", `ids contains pod.id if { some pod in input.facts.pods }
first := "x" if { count(ids) > 1 } else := "y"
findings contains first`, allPods},
		{"one body with a walk, one without", `findings contains pod.id if { some pod in input.facts.pods }
findings contains c.name if { some c in input.facts.clusters }`, allPods},
		{"no findings", `other := 1`, noPod},
	} {
		modules := map[string]*ast.Module{}
		for file, text := range map[string]string{
			"lib/pods.rego": library,
			"rule.rego":     "package vpnlint.rules.vpn999\nimport data.vpnlint.lib.pods\n" + tc.text + "\n",
		} {
			m, err := ast.ParseModule(file, text)
			if err != nil {
				t.Fatalf("%s: %v", tc.about, err)
			}
			modules[file] = m
		}
		if got := breadthOf(modules, "rule.rego"); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.about, got, tc.want)
		}
	}
}

// Few rules may need all pods at once: each of them makes the time and the memory
// of a large tree.
func TestFewRulesNeedAllPods(t *testing.T) {
	texts, err := readRules(rules.FS())
	if err != nil {
		t.Fatal(err)
	}
	modules, err := parseModules(texts, sortedKeys(texts), ast.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range sortedKeys(modules) {
		if key, ok := ruleKey(modules[name]); ok && breadthOf(modules, name) == allPods {
			all = append(all, strings.ToUpper(key))
		}
	}
	want := []string{"VPN106", "VPN111", "VPN307", "VPN401", "VPN405", "VPN406", "VPN407"}
	if !slices.Equal(all, want) {
		t.Errorf("all pods at once: %v, want %v", all, want)
	}
}
