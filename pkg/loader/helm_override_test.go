package loader

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

const overridden = `-- gw/Chart.yaml --
apiVersion: v2
name: gw
version: 1.0.0
dependencies:
  - {name: sub, version: 1.0.0, alias: east}
-- gw/values.yaml --
# the chart's own
host: none
list: [a, b]
gone: here
global: {zone: all}
east:
  port: 1
-- gw/ci/other-values.yaml --
host: ci
-- gw/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: top}
data:
  host: {{ .Values.host | quote }}
  list: {{ join "," .Values.list | quote }}
  gone: {{ .Values.gone | default "gone" | quote }}
-- gw/charts/sub/Chart.yaml --
apiVersion: v2
name: sub
version: 1.0.0
-- gw/charts/sub/values.yaml --
port: 0
proto: udp
-- gw/charts/sub/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: sub}
data:
  port: {{ .Values.port | quote }}
  proto: {{ .Values.proto | quote }}
  zone: {{ .Values.global.zone | quote }}
-- prod.yaml --
host: prod
-- other/Chart.yaml --
apiVersion: v2
name: other
version: 1.0.0
-- other/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data:
  host: {{ .Values.host | default "unset" | quote }}
`

// An override beats files and --set, in all value sets, in a process of its own
// as in this one; a subchart is reached through its parent, and other charts are
// left alone.
func TestOverrides(t *testing.T) {
	t.Parallel()
	override := map[string]any{
		"host": "override", "list": []any{"c"}, "gone": nil, "global": map[string]any{"zone": "west"},
		"east": map[string]any{"proto": "tcp"},
	}
	for name, isolate := range map[string][]string{
		"direct":   nil,
		"isolated": renderChild(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := testtree.Unpack(t, txtar.Parse([]byte(overridden)).Files)
			r, err := Load(t.Context(), []string{"gw", "other"}, Options{
				Dir: dir, Isolate: isolate, ValuesFiles: []string{"prod.yaml"}, Set: []string{"host=set"},
				Overrides: map[string]map[string]any{"gw": override},
			})
			if err != nil || len(r.Gaps) > 0 {
				t.Fatalf("%v %+v", err, r.Gaps)
			}
			got := map[string]any{}
			for _, o := range r.Objects {
				got[o.Name] = o.Tree["data"]
			}
			want := map[string]any{
				"top":   map[string]any{"host": "override", "list": "c", "gone": "gone"},
				"sub":   map[string]any{"port": "1", "proto": "tcp", "zone": "west"},
				"other": map[string]any{"host": "set"},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			if len(r.Groups) != 1 {
				t.Errorf("the override is not in all value sets: %d groups", len(r.Groups))
			}
			top := r.Objects[slices.IndexFunc(r.Objects, func(o *source.Object) bool { return o.Name == "top" })]
			if v := top.Origin.Locate(top.Ref("data", "host")).Values; len(v) != 1 || v[0].By != "override" || v[0].At.File != "" {
				t.Errorf("%+v", v)
			}
			if !reflect.DeepEqual(override["list"], []any{"c"}) {
				t.Error("the caller's values were changed")
			}
		})
	}
}

// ChartValues lead from a value to the text that sets it, or would.
func TestChartValues(t *testing.T) {
	t.Parallel()
	dir := testtree.Unpack(t, txtar.Parse([]byte(overridden)).Files)
	r, err := Load(t.Context(), []string{"gw"}, Options{Dir: dir, ValuesFiles: []string{"prod.yaml"}, Set: []string{`east.port=2`}})
	if err != nil {
		t.Fatal(err)
	}
	var sets []string
	for _, c := range r.Charts {
		sets = append(sets, c.Path+" "+c.Unit+" "+c.Name+" "+c.Set)
	}
	if want := []string{"gw gw gw default", "gw gw gw ci/other-values.yaml"}; !reflect.DeepEqual(sets, want) {
		t.Fatalf("%q, want %q", sets, want)
	}
	for path, want := range map[string]string{
		"host":         "values file prod.yaml host 1",
		"list[1]":      "chart default gw/values.yaml list.1 2",
		"east.port":    "--set - east.port 2",
		"east.proto":   "chart default gw/charts/sub/values.yaml proto 1",
		"global.zone":  "chart default gw/values.yaml global.zone 2",
		"global.other": "not set gw/values.yaml global.other 1",
		"none":         "not set gw/values.yaml none 0",
		"east.none.x":  "not set gw/values.yaml east.none.x 1",
	} {
		p := r.Charts[0].Place(SplitPath(path))
		file := "-"
		if p.File != nil {
			file = p.File.Path()
		}
		if got := strings.Join([]string{p.By, file, strings.Join(p.Keys, "."), string(rune('0' + p.Held))}, " "); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if v, ok := r.Charts[0].Lookup([]string{"east", "proto"}); !ok || v != "udp" {
		t.Errorf("%v %v", v, ok)
	}
	if _, ok := r.Charts[0].Lookup([]string{"east", "no"}); ok {
		t.Error("a value that nobody sets was found")
	}
}

func TestSplitPath(t *testing.T) {
	t.Parallel()
	for dotted, want := range map[string][]string{
		"a":             {"a"},
		"a.b":           {"a", "b"},
		"a[0].b":        {"a", "0", "b"},
		"a[0][1]":       {"a", "0", "1"},
		`a\.b.c`:        {"a.b", "c"},
		"a[x].b":        {"a[x]", "b"},
		`a\,b`:          {"a,b"},
		"list[12]":      {"list", "12"},
		"a.weird]":      {"a", "weird]"},
		"env.VPN_A[3].": {"env", "VPN_A", "3", ""},
	} {
		if got := SplitPath(dotted); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", dotted, got, want)
		}
	}
}
