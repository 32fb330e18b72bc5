package loader

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/testtree"
)

const overlayTree = `
-- plain.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: plain-disk}
-- kust/kustomization.yaml --
resources: [cm.yaml, linked.yaml]
-- kust/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: kust-disk}
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/values.yaml --
name: values-disk
-- chart/templates/cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Values.name }}}
-- chart/templates/other.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: template-disk}
`

// TestOverlayStandsInForFiles: what is overlaid is loaded by every way in, and
// nothing on disk changes.
func TestOverlayStandsInForFiles(t *testing.T) {
	dir := testtree.Parse(t, overlayTree)
	if err := os.Symlink("../plain.yaml", filepath.Join(dir, "kust", "linked.yaml")); err != nil {
		t.Skip(err)
	}
	overlay := map[string][]byte{}
	for _, name := range []string{"plain.yaml", "kust/cm.yaml", "chart/values.yaml", "chart/templates/other.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		overlay[name] = []byte(strings.ReplaceAll(string(data), "-disk", "-memory"))
	}
	want := []string{"kust-memory", "plain-memory", "plain-memory", "template-memory", "values-memory"}
	for _, isolate := range [][]string{nil, renderChild()} {
		r, err := Load(t.Context(), []string{"."}, Options{Dir: dir, Overlay: overlay, Isolate: isolate})
		if err != nil {
			t.Fatal(err)
		}
		if got := loadedNames(r); !slices.Equal(got, want) {
			t.Errorf("isolate %v: %v, want %v; gaps %v", isolate, got, want, r.Gaps)
		}
		if text := r.Files["plain.yaml"].Text(); !strings.Contains(text, "plain-memory") {
			t.Errorf("the result's file is %q", text)
		}
	}
	r := loadDir(t, dir, ".")
	if got := loadedNames(r); slices.ContainsFunc(got, func(n string) bool { return !strings.HasSuffix(n, "-disk") }) {
		t.Errorf("without an overlay: %v", got)
	}
}

// TestOverlayReachesNamedValuesFiles: a values file of the command line is read
// by its own way.
func TestOverlayReachesNamedValuesFiles(t *testing.T) {
	dir := testtree.Parse(t, overlayTree+"-- mine.yaml --\nname: mine-disk\n")
	r, err := Load(t.Context(), []string{"chart"}, Options{Dir: dir, ValuesFiles: []string{"mine.yaml"}, Overlay: map[string][]byte{"mine.yaml": []byte("name: mine-memory\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := loadedNames(r); !slices.Contains(got, "mine-memory") {
		t.Errorf("%v", got)
	}
}

func TestOverlayKeepsTheLimits(t *testing.T) {
	dir := testtree.Parse(t, overlayTree)
	r, err := Load(t.Context(), []string{"plain.yaml"}, Options{Dir: dir, Limits: Limits{FileBytes: 1000}, Overlay: map[string][]byte{"plain.yaml": make([]byte, 1001)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Gaps) != 1 || !strings.Contains(r.Gaps[0].Why, "1001 bytes") {
		t.Errorf("%+v", r.Gaps)
	}
}

func TestOverlayOfNoFileIsAMistake(t *testing.T) {
	dir := testtree.Parse(t, overlayTree)
	for _, name := range []string{"missing.yaml", "chart"} {
		_, err := Load(t.Context(), []string{"."}, Options{Dir: dir, Overlay: map[string][]byte{name: nil}})
		var pe *PathError
		if !errors.As(err, &pe) || pe.Path != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// renderChild is the command line of a process that renders: this very test.
func renderChild() []string {
	return []string{os.Args[0], "-test.run=^TestRenderChild$", childArgument}
}

const childArgument = "render-child"

// TestRenderChild is no test but the child of one.
func TestRenderChild(t *testing.T) {
	if flag.Arg(0) != childArgument {
		t.Skip("it serves TestOverlayStandsInForFiles")
	}
	if err := ServeRenders(os.Stdin, os.Stdout); err != nil {
		t.Fatal(err)
	}
}

func loadedNames(r *Result) []string {
	var out []string
	for _, o := range r.Objects {
		out = append(out, o.Name)
	}
	slices.Sort(out)
	return out
}
