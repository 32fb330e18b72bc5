package loader

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// All value sets of a chart are rendered from one reading of its files: what
// changes on disk in between shows in none of them.
func TestChartIsReadOnce(t *testing.T) {
	dir := testtree.Unpack(t, txtar.Parse([]byte(`
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
	shelf := newChartShelf(nil)
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
	r := newChartReadings()
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
	p := r.valuesOf(values)
	if first, again := p.node(values.Text()), p.node(values.Text()); p != r.valuesOf(values) || first != again {
		t.Error("the values were parsed again")
	}
}

// A base is read and decoded once for all its overlays.
func TestBaseIsReadOnce(t *testing.T) {
	dir := testtree.Unpack(t, txtar.Parse([]byte(`
-- base/kustomization.yaml --
resources: [a.yaml]
-- base/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: y}
-- one/kustomization.yaml --
resources: [../base]
namePrefix: one-
-- two/kustomization.yaml --
resources: [../base]
namePrefix: two-
`)).Files)
	tree, err := openTree(dir, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	opts := Options{Dir: dir, shelf: newChartShelf(nil)}
	var bases []*source.File
	for _, name := range []string{"one", "two"} {
		out := renderKustomization(t.Context(), tree, readKustGraph(tree, name, opts), opts)
		if len(out.objects) != 1 || out.objects[0].Name != name+"-a" {
			t.Fatalf("%+v", out)
		}
		at := out.objects[0].Origin.Locate(out.objects[0].Ref("data", "x")).Primary
		if at.File != "base/a.yaml" || at.Span.Start.Line != 4 {
			t.Errorf("%s at %+v", name, at)
		}
		for _, f := range out.files {
			if f.Path() == "base/a.yaml" {
				bases = append(bases, f)
			}
		}
	}
	if len(bases) != 2 || bases[0] != bases[1] {
		t.Fatal("the base was read again")
	}
	decodes := 0
	decode := func() decodedFile {
		decodes++
		return decodedFile{}
	}
	if opts.shelf.decoded(bases[0], decode); decodes != 0 {
		t.Error("the base was decoded again")
	}
}
