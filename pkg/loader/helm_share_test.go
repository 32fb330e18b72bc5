package loader

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// All value sets of a chart are rendered from one reading of its files: what
// changes on disk in between shows in none of them.
func TestChartIsReadOnce(t *testing.T) {
	dir := unpack(t, txtar.Parse([]byte(`
-- Chart.yaml --
apiVersion: v2
name: app
version: 1.0.0
dependencies:
  - {name: sub, version: 1.0.0, alias: other, import-values: [data]}
-- values.yaml --
host: false
list: [a]
-- charts/sub/Chart.yaml --
apiVersion: v2
name: sub
version: 1.0.0
-- charts/sub/values.yaml --
exports: {data: {imported: yes}}
-- charts/sub/templates/c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: sub}
-- templates/_helpers.tpl --
{{ define "name" }}app{{ end }}
-- templates/a.yaml --
{{- $_ := set .Values "host" (not .Values.host) }}
apiVersion: v1
kind: Pod
metadata: {name: {{ include "name" . }}}
spec: {hostNetwork: {{ .Values.host }}, hostname: {{ .Values.imported | quote }}}
`)).Files)
	tree, err := openTree(dir, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	shelf := newChartShelf()
	render := func(set ...string) *source.Object {
		t.Helper()
		at, gap := shelf.open(tree, ".", DefaultLimits())
		if gap != nil {
			t.Fatal(gap)
		}
		out := renderChart(t.Context(), at, Options{Dir: dir, Set: set, shelf: shelf}, valueSet{name: DefaultSet}, &seenTexts{})
		for _, o := range out.objects {
			if o.Kind == "Pod" && len(out.objects) == 2 {
				return o
			}
		}
		t.Fatalf("%d objects, %+v", len(out.objects), out.gaps)
		return nil
	}
	first := render()
	for _, name := range []string{"Chart.yaml", "values.yaml", "templates/a.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{{ broken"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := render("other.x=1", "list[0]=b")
	third := render()
	for _, o := range []*source.Object{first, second, third} {
		spec := asMap(o.Tree["spec"])
		// Had one render's writes reached the next, host would alternate.
		if spec["hostNetwork"] != true || spec["hostname"] != "true" {
			t.Errorf("spec %v", spec)
		}
		at := o.Origin.Locate(o.Ref("spec", "hostNetwork"))
		if at.Primary.File != "templates/a.yaml" || at.Primary.Span.Start.Line != 5 {
			t.Errorf("hostNetwork at %+v", at.Primary)
		}
	}
}

// Parsed files are handed out, not made anew.
func TestReadingsAreShared(t *testing.T) {
	var r chartReadings
	file := source.NewFile("t.yaml", "a: {{ .Values.x }}\n{{ define \"d\" }}{{ end }}")
	a, err := r.template("c/t.yaml", file)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := r.template("c/t.yaml", file); a != b {
		t.Error("the template was parsed again")
	}
	if d := r.definesOf(file); len(d) != 1 || &d[0] != &r.definesOf(file)[0] {
		t.Error("the defines were looked for again")
	}
	values := source.NewFile("values.yaml", "x: 1")
	if p := r.valuesOf(values); p != r.valuesOf(values) || p.node(values.Text()) != p.node(values.Text()) {
		t.Error("the values were parsed again")
	}
}
