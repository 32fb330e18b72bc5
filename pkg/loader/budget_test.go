package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// TestTotalBytes: which inputs find no room depends on their order alone, and
// what comes after a large one is read if it is small.
func TestTotalBytes(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		size := 2_000
		if i == 7 {
			size = 100
		}
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d}\ndata: {a: %s}\n", i, strings.Repeat("x", size))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.yaml", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var first []string
	for _, workers := range []int{1, 2, 8, 8, 8} {
		r, err := Load(t.Context(), []string{"."}, Options{Dir: dir, Workers: workers, Limits: Limits{TotalBytes: 20_000}})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, o := range r.Objects {
			said = append(said, o.Name)
		}
		for _, g := range r.Gaps {
			if !strings.Contains(g.Why, "--limit-total-bytes") {
				t.Errorf("gap %+v", g)
			}
			said = append(said, g.File)
		}
		if first == nil {
			first = said
		}
		if !reflect.DeepEqual(said, first) {
			t.Errorf("with %d workers %v, before %v", workers, said, first)
		}
	}
	want := []string{"m0", "m1", "m2", "m3", "m7", "f04.yaml", "f05.yaml", "f06.yaml", "f08.yaml", "f09.yaml", "f10.yaml", "f11.yaml"}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("%v, want %v", first, want)
	}
}

// TestDroppedNodes: places are the same whether the nodes of a document were kept
// or are parsed again.
func TestDroppedNodes(t *testing.T) {
	text := `apiVersion: v1
kind: ConfigMap
metadata: &meta {name: a, labels: {x: y}}
data:
  wg0.conf: |
    [Interface]
    Address = 10.0.0.1/24
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: b}
    spec:
      base: &base {hostNetwork: true}
      other: {<<: *base, a: 1}
  - apiVersion: v1
    kind: PodList
    items:
      - metadata: {name: c}
        spec: {containers: [{name: x, image: y}]}
`
	f := source.NewFile("a.yaml", text)
	read := func(limits Limits) []*source.Object {
		t.Helper()
		objects, gaps := decodeObjects(t.Context(), f, identity{f}, unit{kind: source.Manifest}, limits)
		if len(objects) != 3 || len(gaps) != 0 {
			t.Fatalf("%d objects, %+v", len(objects), gaps)
		}
		return objects
	}
	kept := read(Limits{})
	spent := newBudget(DefaultLimits())
	spent.kept.Store(keptNodes)
	dropped := read(Limits{budget: spent})
	for _, o := range dropped {
		if origin, ok := o.Origin.(*textOrigin); !ok || origin.root != nil || origin.doc.root != nil {
			t.Fatalf("the nodes of %s were kept", o.Name)
		}
	}
	for i, o := range dropped {
		refs := []source.Ref{{}, {Pointer: "/data/wg0.conf", Start: 12, End: 33}, {Pointer: "/spec/other/hostNetwork"}, {Pointer: "/nowhere/at/all"}}
		for _, p := range pointersOf(o.Tree, "") {
			refs = append(refs, source.Ref{Pointer: p})
		}
		for _, r := range refs {
			if got, want := o.Origin.Locate(r), kept[i].Origin.Locate(r); !reflect.DeepEqual(got, want) {
				t.Errorf("%s %+v: %+v, want %+v", o.Name, r, got, want)
			}
		}
	}
}

func pointersOf(v any, at string) []string {
	out := []string{at}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			out = append(out, pointersOf(x, at+"/"+k)...)
		}
	case []any:
		for i, x := range v {
			out = append(out, pointersOf(x, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return out
}
