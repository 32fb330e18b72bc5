package loader

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// A text that does not parse, and a chart that Helm refuses, are said to be wrong
// at the line that is, in words of YAML.
func TestRefusals(t *testing.T) {
	const chart = "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 0.1.0\n"
	for _, tt := range []struct {
		name, tree, file string
		line             int
		why              string
	}{
		{"a list that is not closed", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a}\n", "a.yaml", 5, "did not find expected ',' or ']'"},
		{"a mapping that is not closed", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: a\nspec: {}\n", "a.yaml", 3, "did not find expected ',' or '}'"},
		{"behind a list of several lines", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: a,\n  namespace: b}\nspec:\n  containers: [{name: a]\n", "a.yaml", 6, "did not find expected ',' or '}'"},
		{"a tab behind a value", "-- a.yaml --\napiVersion: v1\nkind: Pod\n\n\tmetadata: {name: a}\n", "a.yaml", 4, "found a tab character that violates indentation; YAML does not allow tabs as indentation: use spaces"},
		{"a key without a colon", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata:\n  name a\n  namespace: b\n", "a.yaml", 4, "mapping values are not allowed in this context"},
		{"a key without a blank behind", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata:\n  name:a\n  namespace: b\n", "a.yaml", 4, "mapping values are not allowed in this context"},
		{"a key too far in", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n    namespace: b\n", "a.yaml", 5, "mapping values are not allowed in this context"},
		{"two colons", "-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a: b\n", "a.yaml", 4, "mapping values are not allowed in this context"},
		{"Chart.yaml, a bracket", "-- Chart.yaml --\napiVersion: v2\nname: [c\nversion: 0.1.0\n", "Chart.yaml", 2, "did not find expected ',' or ']'; correct it, helm refuses the chart in the same way"},
		{"Chart.yaml, a type", "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: {a: b}\n", "Chart.yaml", 3, "version is a mapping, not a string; correct it, helm refuses the chart in the same way"},
		{"Chart.yaml, a field in a list", chart + "dependencies:\n- name: x\n  version: 1.0.0\n  condition: [a]\n", "Chart.yaml", 4, "dependencies.condition is a list, not a string; correct it, helm refuses the chart in the same way"},
		{"values.yaml, a key out of line", chart + "-- values.yaml --\na: 1\nb:\n  c: 1\n d: 2\n", "values.yaml", 4, "did not find expected key; correct it, helm refuses the chart in the same way"},
		{"values.yaml, a list", chart + "-- values.yaml --\n- a\n", "values.yaml", 1, "it is a list, not a mapping; correct it, helm refuses the chart in the same way"},
		{"kustomization.yaml, a type", "-- kustomization.yaml --\nnamespace: a\nresources: {a: b}\n", "kustomization.yaml", 2, "resources is a mapping, not a list; correct the field"},
		{"kustomization.yaml, a literal that YAML takes for a mapping", "-- kustomization.yaml --\nconfigMapGenerator:\n- name: a\n  literals: [a=b]\n- name: b\n  literals:\n  - a=b\n  - config=cidrs: [10.0.0.0/8]\n", "kustomization.yaml", 7, "configMapGenerator.literals is a mapping, not a string; correct the field"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := loadDir(t, testtree.Parse(t, tt.tree), ".")
			if len(r.Gaps) != 1 {
				t.Fatalf("gaps %+v", r.Gaps)
			}
			if g := r.Gaps[0]; g.File != tt.file || g.Line != tt.line || g.Why != tt.why {
				t.Errorf("got  %s:%d: %s\nwant %s:%d: %s", g.File, g.Line, g.Why, tt.file, tt.line, tt.why)
			}
		})
	}
}
