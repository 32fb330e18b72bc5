package loader

import (
	"reflect"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Values survive the way to the child as templates can tell them apart: types,
// maps that stand in two places, and a map that holds itself.
func TestWireValues(t *testing.T) {
	t.Parallel()
	shared := map[string]any{"zone": "west"}
	in := chartutil.Values{
		"text": "x", "yes": true, "no": false, "none": nil, "int": 3, "int64": int64(1) << 60, "float": 0.1,
		"list": []any{"a", map[string]any{"b": "c"}, nil, []any{}}, "empty": map[string]any{},
		"global": shared, "sub": map[string]any{"global": shared},
		"other": []string{"made", "by a template"},
	}
	out, err := encodeValues(in).decode()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := out.(chartutil.Values)
	if !ok {
		t.Fatalf("got %T", out)
	}
	got["global"].(map[string]any)["zone"] = "east"
	if zone := got["sub"].(map[string]any)["global"].(map[string]any)["zone"]; zone != "east" {
		t.Errorf("the shared map is two: %v", zone)
	}
	shared["zone"] = "east"
	in["other"] = []any{"made", "by a template"}
	if !reflect.DeepEqual(got, in) {
		t.Errorf("got  %#v\nwant %#v", got, in)
	}

	in["self"] = map[string]any(in)
	out, err = encodeValues(map[string]any(in)).decode()
	if err != nil {
		t.Fatal(err)
	}
	top := out.(map[string]any)
	self := top["self"].(map[string]any)
	self["mark"] = true
	if top["mark"] != true {
		t.Error("a map that holds itself became two")
	}
}

func TestBrokenWireValues(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]wireValues{
		"nothing":             nil,
		"no top":              {{Kind: wireNil}},
		"a node outside":      {{Kind: wireList, Items: []int{7}}, {Kind: wireTop, Items: []int{0}}},
		"a top outside":       {{Kind: wireTop, Items: []int{-1}}},
		"more items":          {{Kind: wireNil}, {Kind: wireMap, Items: []int{0}}, {Kind: wireTop, Items: []int{1}}},
		"an unknown kind":     {{Kind: 99}, {Kind: wireTop, Items: []int{0}}},
		"a list holds itself": {{Kind: wireList, Items: []int{0}}, {Kind: wireTop, Items: []int{0}}},
	} {
		if v, err := w.decode(); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// Aliases make two charts of one, each with its own values, and global values
// reach both; each value leads to the line that sets it.
func TestAliasesAndGlobals(t *testing.T) {
	t.Parallel()
	out := renderText(t, `-- Chart.yaml --
apiVersion: v2
name: c
version: 1.0.0
dependencies:
  - {name: gw, version: 1.0.0, alias: east}
  - {name: gw, version: 1.0.0, alias: west}
  - {name: gw, version: 1.0.0, alias: spare, condition: spare.enabled}
-- values.yaml --
global:
  zone: all
east:
  host: east.example.com
west:
  host: west.example.com
spare: {enabled: false}
-- charts/gw/Chart.yaml --
apiVersion: v2
name: gw
version: 1.0.0
-- charts/gw/values.yaml --
host: none
image: gw:1
-- charts/gw/templates/pod.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Chart.Name }}
  labels:
    zone: {{ .Values.global.zone }}
    host: {{ .Values.host }}
    image: {{ .Values.image }}
`, Options{})
	if got := names(out); !reflect.DeepEqual(got, []string{"Pod/east", "Pod/west"}) || len(out.gaps) > 0 {
		t.Fatalf("%v %+v", got, out.gaps)
	}
	hostLine := map[string]int{"east": 4, "west": 6}
	for _, o := range out.objects {
		for field, want := range map[string]source.Location{
			"zone":  {File: "values.yaml", Span: source.Span{Start: source.Position{Line: 2}}},
			"host":  {File: "values.yaml", Span: source.Span{Start: source.Position{Line: hostLine[o.Name]}}},
			"image": {File: "charts/gw/values.yaml", Span: source.Span{Start: source.Position{Line: 2}}},
		} {
			p := o.Origin.Locate(o.Ref("metadata", "labels", field))
			if len(p.Values) != 1 || p.Values[0].At.File != want.File || p.Values[0].At.Span.Start.Line != want.Span.Start.Line {
				t.Errorf("%s %s: %+v, want %s line %d", o.Name, field, p.Values, want.File, want.Span.Start.Line)
			}
		}
	}
}
