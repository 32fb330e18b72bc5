package loader

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// TestCorpus holds the probe against the charts below the directory that
// VPNLINT_CHARTS names: no chart may panic, hardly a file may stay untraced, and
// each exact place in literal text must hold the value.
func TestCorpus(t *testing.T) {
	root := os.Getenv("VPNLINT_CHARTS")
	if root == "" {
		t.Skip("VPNLINT_CHARTS names no directory of charts")
	}
	charts, objects, places, wrong, untraced, failed := 0, 0, 0, 0, 0, 0
	precisions := map[source.Precision]int{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "Chart.yaml" || strings.Contains(name, "/charts/") && strings.Contains(name, "/templates/") {
			return err
		}
		charts++
		dir := filepath.Dir(name)
		out := renderDir(t, dir, Options{})
		for _, g := range out.gaps {
			switch {
			case strings.Contains(g.What, "could not be traced"):
				untraced++
				t.Logf("%s: %s: %s", dir, g.File, g.Why)
			case g.Kind == "unreadable":
				failed++
				t.Logf("%s: %s:%d %s | %s", dir, g.File, g.Line, g.What, g.Why)
			}
		}
		texts := map[string]*source.File{}
		for _, f := range out.files {
			texts[f.Path()] = f
		}
		for _, o := range out.objects {
			objects++
			eachField(o.Tree, "", func(pointer string, v any) {
				at := o.Origin.Locate(source.Ref{Pointer: pointer}).Primary
				f := texts[at.File]
				if f == nil || !isScalar(v) || v == nil {
					return
				}
				precisions[at.Precision]++
				if at.Precision != source.Exact {
					return
				}
				slice := f.Text()[f.Offset(at.Span.Start):f.Offset(at.Span.End)]
				if strings.Contains(slice, "{{") || strings.HasPrefix(slice, "|") || strings.HasPrefix(slice, ">") || strings.Contains(slice, "\n") {
					return
				}
				places++
				var got any
				if err := sigsyaml.Unmarshal([]byte(slice), &got); err != nil || !sameJSON(got, v) {
					wrong++
					t.Logf("%s: %s%s is %v but %s reads %q", dir, o.Name, pointer, v, where(at), slice)
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d charts, %d objects, %d literal places checked, %d wrong, %d files untraced, %d unreadable; %v", charts, objects, places, wrong, untraced, failed, precisions)
	if wrong*1000 > places || untraced*100 > objects {
		t.Errorf("%d of %d places are wrong, %d files untraced", wrong, places, untraced)
	}
}
