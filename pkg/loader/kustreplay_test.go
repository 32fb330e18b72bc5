package loader

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// Places are the same whoever asks for them, at once or after the replays that
// know them were let go.
func TestPlacesOfKustomizationsAreAlwaysTheSame(t *testing.T) {
	var objects []*source.Object
	shared := &replays{}
	for _, k := range kustomizations(t) {
		for _, o := range k.build(t, testtree.Unpack(t, k.files)).objects {
			o.Origin.(*kustOrigin).again.cache = shared
			objects = append(objects, o)
		}
	}
	ask := func() map[string]source.Provenance {
		out := map[string]source.Provenance{}
		for i, o := range objects {
			visit(o.Tree, source.Ref{Object: o.ID}, func(ref source.Ref, _ any) {
				p := o.Origin.Locate(ref)
				for _, note := range p.Via {
					if note.At.File == "" || note.Says == "" || strings.Contains(note.Says, "  ") {
						t.Errorf("%s %s%s: a note says %q of %q", o.Kind, o.Name, ref.Pointer, note.Says, note.At.File)
					}
				}
				out[fmt.Sprintf("%d%s", i, ref.Pointer)] = p
			})
		}
		return out
	}
	want := ask()
	if len(want) < 1000 {
		t.Fatalf("only %d places", len(want))
	}
	if n := len(shared.last); n != keptReplays {
		t.Errorf("%d replays are kept, want %d", n, keptReplays)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := ask(); !reflect.DeepEqual(got, want) {
				t.Error("the places differ")
			}
		})
	}
	all.Wait()
}

// A field of which the replay comes to another value has a nearby place: here
// YAML 1.1 and 1.2 read a word differently.
func TestUnexplainedValuesHaveANearbyPlace(t *testing.T) {
	dir := testtree.Parse(t, "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    args: [x, y, z]\n")
	r := loadDir(t, dir, ".")
	for pointer, want := range map[string]string{
		"/spec/containers/0/args/0": "a.yaml:7:12 exact",
		"/spec/containers/0/args/1": "a.yaml:7:15 parent",
		"/spec/containers/0/none":   "a.yaml:6:5 parent",
		"/status/phase":             "a.yaml:1:1 object",
	} {
		if got := shown(r.Objects[0].Origin.Locate(source.Ref{Pointer: pointer})); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", pointer, got, want)
		}
	}
}

// The field specifications of a plug-in are no files.
func TestFieldSpecificationsAreNoFiles(t *testing.T) {
	dir := testtree.Parse(t, "-- kustomization.yaml --\nresources: [a.yaml]\ntransformers: [p.yaml]\n-- p.yaml --\napiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: x-\nfieldSpecs: [{path: metadata/name}]\n-- a.yaml --\n"+podA)
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 0 || len(r.Objects) != 1 || !strings.HasPrefix(r.Objects[0].Name, "x-") {
		t.Errorf("%s, %+v", summary(r), r.Gaps)
	}
}
