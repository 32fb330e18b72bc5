package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

func loadDir(t *testing.T, dir string, paths ...string) *Result {
	t.Helper()
	r, err := Load(t.Context(), paths, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// summary lists what a result holds, a line each.
func summary(r *Result) string {
	var b strings.Builder
	for _, i := range r.Inputs {
		fmt.Fprintf(&b, "input %s %s\n", i.Kind, i.Path)
	}
	for _, o := range r.Objects {
		fmt.Fprintf(&b, "object %s in %s\n", o.ID, o.Unit)
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(&b, "gap %s %s:%d %s\n", g.Kind, g.File, g.Line, g.What)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "skipped %s\n", s.Path)
	}
	return b.String()
}

const podA = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"

func pod(name string) string { return strings.Replace(podA, "name: a", "name: "+name, 1) }

func TestLoadFindsInputsByTheirContent(t *testing.T) {
	tests := []struct {
		name, archive string
		paths         []string
		want          string
	}{
		{
			name:    "manifests in YAML and JSON, lists taken apart",
			archive: "-- a.yaml --\n" + podA + "---\n# nothing\n---\n" + pod("b") + "-- c.json --\n{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"}}]}\n-- d.yml --\napiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: d, namespace: x}\n",
			paths:   []string{"."},
			want:    "input manifest a.yaml\ninput manifest c.json\ninput manifest d.yml\nobject Pod//a in .\nobject Pod//b in .\nobject Pod//c in .\nobject ConfigMap/x/d in .\n",
		},
		{
			name:    "what is no Kubernetes makes no noise",
			archive: "-- values.yaml --\na: {{ b }}\n-- broken.yaml --\n\tx: [\n-- list.yaml --\n- 1\n-- pkg.json --\n{\"name\": 1}\n-- a.yaml --\n" + podA + "-- .github/w.yaml --\n" + podA + "-- node_modules/x.yaml --\n" + podA + "-- vendor/modules.txt --\n# example.com/x\n-- vendor/example.com/x/a.yaml --\n" + podA + "-- README.md --\n" + podA + "-- .vpnlint.yaml --\nversion: 1\n",
			paths:   []string{"."},
			want:    "input manifest a.yaml\nobject Pod//a in .\nskipped broken.yaml\nskipped list.yaml\nskipped pkg.json\nskipped values.yaml\n",
		},
		{
			name:    "a broken document costs only itself",
			archive: "-- a.yaml --\n" + podA + "---\napiVersion: v1\nkind: Pod\n  bad: x\n---\n" + pod("c"),
			paths:   []string{"."},
			want:    "input manifest a.yaml\nobject Pod//a in .\nobject Pod//c in .\ngap unreadable a.yaml:7 the document could not be parsed\n",
		},
		{
			name:    "a file that does not parse counts when it is named",
			archive: "-- a.yaml --\nx: [\n",
			paths:   []string{"a.yaml"},
			want:    "input manifest a.yaml\ngap unreadable a.yaml:1 the document could not be parsed\n",
		},
		{
			name:    "objects of one name are told apart",
			archive: "-- a.yaml --\n" + podA + "---\n" + podA + "-- b/a.yaml --\n" + podA,
			paths:   []string{"."},
			want:    "input manifest a.yaml\ninput manifest b/a.yaml\nobject Pod//a in .\nobject Pod//a#2 in .\nobject Pod//a#3 in b\n",
		},
		{
			name:    "nested and repeated paths load once",
			archive: "-- b/a.yaml --\n" + podA,
			paths:   []string{"b/a.yaml", ".", "b", "b/../b/a.yaml"},
			want:    "input manifest b/a.yaml\nobject Pod//a in b\n",
		},
		{
			name:    "an empty directory is worth a remark",
			archive: "-- d/README.md --\nx\n",
			paths:   []string{"d"},
			want:    "gap unmodelled d:0 there is nothing to check in this directory\n",
		},
		{
			name:    "cluster configuration without apiVersion",
			archive: "-- talos.yaml --\nversion: v1alpha1\nmachine: {type: worker}\ncluster: {}\n-- k3s/config.yaml --\ncluster-cidr: 10.42.0.0/16\n",
			paths:   []string{"."},
			want:    "input manifest k3s/config.yaml\ninput manifest talos.yaml\nobject Config// in k3s\nobject MachineConfig// in .\n",
		},
		{
			name:    "a kustomization consumes its files and bases",
			archive: "-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + podA + "-- base/loose.yaml --\n" + pod("loose") + "-- prod/kustomization.yaml --\nresources: [../base]\nnamespace: prod\n",
			paths:   []string{"."},
			want:    "input manifest base/loose.yaml\ninput kustomization prod\nobject Pod//loose in base\nobject Pod/prod/a in prod\n",
		},
		{
			name:    "a file of a base means the kustomizations that use it",
			archive: "-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + podA + "-- one/kustomization.yaml --\nresources: [../base]\nnamespace: one\n-- two/kustomization.yaml --\nresources: [../base]\nnamespace: two\n",
			paths:   []string{"base/a.yaml", "one/kustomization.yaml"},
			want:    "input kustomization one\ninput kustomization two\nobject Pod/one/a in one\nobject Pod/two/a in two\n",
		},
		{
			name:    "a base that is named alone is built alone",
			archive: "-- base/kustomization.yaml --\nresources: [a.yaml]\n-- base/a.yaml --\n" + podA + "-- prod/kustomization.yaml --\nresources: [../base]\n",
			paths:   []string{"base"},
			want:    "input kustomization base\nobject Pod//a in base\n",
		},
		{
			name:    "Flux objects are no kustomizations of kustomize",
			archive: "-- kustomization.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n",
			paths:   []string{"."},
			want:    "input manifest kustomization.yaml\nobject Kustomization/flux-system/apps in .\n",
		},
		{
			name:    "a component builds nothing alone",
			archive: "-- c/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: x\n-- a.yaml --\n" + podA,
			paths:   []string{"."},
			want:    "input manifest a.yaml\nobject Pod//a in .\nskipped c/kustomization.yaml\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := testtree.Parse(t, tt.archive)
			if got := summary(loadDir(t, dir, tt.paths...)); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestLoadMeansTheChartOfAChartsFile(t *testing.T) {
	dir := testtree.Parse(t, "-- c/Chart.yaml --\napiVersion: v2\nname: c\nversion: 0.1.0\n-- c/values.yaml --\nx: 1\n-- c/env/prod.yaml --\nx: 2\n-- c/prod.yaml --\nx: 3\n-- c/templates/a.yaml --\n"+podA+
		"-- c/charts/sub/Chart.yaml --\napiVersion: v2\nname: sub\nversion: 0.1.0\n-- c/charts/sub/templates/b.yaml --\n"+pod("b")+"-- c/extra/deploy.yaml --\n"+pod("extra"))
	for _, p := range []string{"c", "c/Chart.yaml", "c/values.yaml", "c/prod.yaml", "c/templates/a.yaml", "c/templates", "c/charts/sub/templates/b.yaml", "."} {
		r := loadDir(t, dir, p)
		if len(r.Inputs) != 1 || r.Inputs[0] != (Input{source.Chart, "c"}) || len(r.Objects) != 2 {
			t.Errorf("%s: %s", p, summary(r))
		}
	}
}

func TestLoadRefusesPathsThatAreNotThere(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\n"+podA)
	for _, tt := range []struct {
		paths  []string
		values []string
		want   string
	}{
		{paths: []string{"a.yaml", "no/such.yaml"}, want: "no/such.yaml"},
		{paths: []string{"a.yaml"}, values: []string{"nope.yaml"}, want: "nope.yaml"},
	} {
		_, err := Load(t.Context(), tt.paths, Options{Dir: dir, ValuesFiles: tt.values})
		var pe *PathError
		if !errors.As(err, &pe) || pe.Path != tt.want || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v, want a PathError for %s", tt.paths, err, tt.want)
		}
	}
}

func TestLoadReadsStandardInput(t *testing.T) {
	r, err := Load(t.Context(), []string{"-"}, Options{Dir: t.TempDir(), Stdin: strings.NewReader(podA + "---\nkind: [\n")})
	if err != nil {
		t.Fatal(err)
	}
	want := "input manifest stdin\nobject Pod//a in .\ngap unreadable stdin:5 the document could not be parsed\n"
	if got := summary(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestLoadSaysWhatIsWrongWithHostileFiles(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString(podA + "a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
	}
	tests := []struct {
		name, text string
		line       int
		why        string // part of the reason
	}{
		{"alias bomb", bomb.String(), 8, "--limit-alias-nodes"},
		{"alias of itself", podA + "x: &x [*x]\n", 4, "contains itself"},
		{"merge of itself", podA + "x: &x\n  <<: *x\n", 5, "contains itself"},
		{"deep nesting", podA + "x: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n", 4, "--limit-depth"},
		{"very deep nesting", podA + "x: " + strings.Repeat("{a: ", 20000) + "\n", 4, "depth"},
		{"tabs", podA + "spec:\n\thostNetwork: true\n", 5, "tabs"},
		{"bad UTF-8", podA + "x: \"\xff\"\n", 4, "not UTF-8"},
		{"NUL", podA + "x: a\x00b\n", 4, "control character 0x00"},
		{"template action", podA + "spec:\n  {{- if .Values.x }}\n  a: b\n  {{- end }}\n", 5, "belongs to no chart"},
		{"template action as a value", podA + "spec: {{ .Values.x }}\n", 4, "belongs to no chart"},
		{"mapping as key", podA + "? {a: b}\n: c\n", 4, "cannot be a key"},
		{"unknown alias", podA + "x: *nope\n", 4, "nope"},
		{"unclosed quote", podA + "x: \"abc\n", 4, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(tt.text+"\n---\n"+pod("rest")), 0o644); err != nil {
				t.Fatal(err)
			}
			r := loadDir(t, dir, ".")
			if len(r.Gaps) != 1 || r.Gaps[0].Kind != finding.Unreadable || r.Gaps[0].File != "a.yaml" ||
				!strings.Contains(r.Gaps[0].Why, tt.why) {
				t.Fatalf("gaps %+v, want one that says %q", r.Gaps, tt.why)
			}
			if d := r.Gaps[0].Line - tt.line; d < 0 || d > 1 {
				t.Errorf("line %d, want %d: %s", r.Gaps[0].Line, tt.line, r.Gaps[0].Why)
			}
			if len(r.Objects) != 1 || r.Objects[0].Name != "rest" {
				t.Errorf("the rest of the file is lost: %s", summary(r))
			}
		})
	}
}

func TestLimitsAreGapsThatNameTheOption(t *testing.T) {
	dir := testtree.Parse(t, "-- big.yaml --\n"+podA+strings.Repeat("# filler\n", 100)+"-- data.json --\n{\"a\": \""+strings.Repeat("x", 900)+"\"}\n-- many.yaml --\n"+strings.Repeat(podA+"---\n", 5))
	r, err := Load(t.Context(), []string{"."}, Options{Dir: dir, Limits: Limits{FileBytes: 800, Documents: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Gaps) != 2 || r.Gaps[0].File != "big.yaml" || !strings.Contains(r.Gaps[0].Why, "--limit-file-bytes") ||
		r.Gaps[1].File != "many.yaml" || !strings.Contains(r.Gaps[1].Why, "--limit-documents") || r.Gaps[1].Line != 12 {
		t.Errorf("%+v", r.Gaps)
	}
	if len(r.Objects) != 3 || len(r.Skipped) != 1 {
		t.Error(summary(r))
	}
}

func TestDuplicateKeysDoNotFailTheRun(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\n"+podA+"spec:\n  hostNetwork: true\n  hostNetwork: false\n")
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 1 || r.Gaps[0].Kind != finding.Unmodelled || r.Gaps[0].Line != 5 {
		t.Errorf("%+v", r.Gaps)
	}
	if got := asMap(r.Objects[0].Tree["spec"])["hostNetwork"]; got != false {
		t.Errorf("hostNetwork is %v, the last key wins", got)
	}
	if at := r.Objects[0].Origin.Locate(source.Ref{Pointer: "/spec/hostNetwork"}).Primary; at.Span.Start.Line != 6 {
		t.Errorf("points to line %d, want that of the key that wins", at.Span.Start.Line)
	}
}

func TestByteOrderMarkAndDirectives(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\n\ufeff%YAML 1.1\n---\n"+podA+"...\n---\n"+pod("b"))
	r := loadDir(t, dir, ".")
	if len(r.Objects) != 2 || len(r.Gaps) != 0 {
		t.Fatal(summary(r), r.Gaps)
	}
	if at := r.Objects[0].Origin.Locate(source.Ref{Pointer: "/kind"}).Primary; at.Span.Start != (source.Position{Line: 4, Column: 7}) {
		t.Errorf("kind at %v", at)
	}
}

// YAML sees no marker where a comment follows the dashes without a blank; kubectl
// and kustomize do.
func TestCommentAtMarker(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\n---# first\n"+podA+"---# second\n"+pod("b")+"-- k/kustomization.yaml --\nresources: [c.yaml]\n-- k/c.yaml --\n"+pod("c")+"---# fourth\n"+pod("d"))
	r := loadDir(t, dir, ".")
	if len(r.Objects) != 4 || len(r.Gaps) != 0 {
		t.Fatal(summary(r), r.Gaps)
	}
	for i, want := range []source.Position{{Line: 3, Column: 7}, {Line: 1 + strings.Count(podA, "\n") + 3, Column: 7}} {
		if at := r.Objects[i].Origin.Locate(source.Ref{Pointer: "/kind"}).Primary; at.Span.Start != want {
			t.Errorf("kind of object %d at %v, want %v", i, at.Span.Start, want)
		}
	}
}

func TestLinksDoNotLeaveTheTree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symbolic links")
	}
	outside := testtree.Parse(t, "-- secret.yaml --\n"+pod("outside"))
	dir := testtree.Parse(t, "-- a.yaml --\n"+podA+"-- sub/b.yaml --\n"+pod("b"))
	for link, to := range map[string]string{
		"out.yaml":  filepath.Join(outside, "secret.yaml"),
		"loop.yaml": "loop.yaml",
		"sub/up":    "..",
		"same.yaml": "a.yaml",
		"outdir":    outside,
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := loadDir(t, dir, ".")
	if names := objectNames(r); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("objects %v", names)
	}
	for _, file := range []string{"out.yaml", "loop.yaml"} {
		i := slices.IndexFunc(r.Gaps, func(g finding.Gap) bool { return g.File == file })
		if i < 0 || r.Gaps[i].Kind != finding.Unreadable || !strings.Contains(r.Gaps[i].Why, "symbolic link") {
			t.Errorf("%s: gaps %+v", file, r.Gaps)
		}
	}
}

func objectNames(r *Result) []string {
	var names []string
	for _, o := range r.Objects {
		names = append(names, o.Name)
	}
	return names
}

func TestUnreadableFileIsAGap(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := testtree.Parse(t, "-- a.yaml --\n"+podA+"-- b.yaml --\n"+pod("b"))
	if err := os.Chmod(filepath.Join(dir, "a.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	r := loadDir(t, dir, ".")
	if len(r.Gaps) != 1 || r.Gaps[0].File != "a.yaml" || len(r.Objects) != 1 {
		t.Error(summary(r))
	}
}

func TestResultsDoNotDependOnWorkersOrOrder(t *testing.T) {
	var archive strings.Builder
	for i := range 40 {
		fmt.Fprintf(&archive, "-- d%d/f%d.yaml --\n%s---\n%s", i%7, i, pod(fmt.Sprintf("p%d", i%5)), "apiVersion: v1\nkind: [\n")
	}
	dir := testtree.Parse(t, archive.String())
	want := ""
	for _, workers := range []int{1, 2, 16} {
		paths := []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6"}
		if workers == 2 {
			slices.Reverse(paths)
		}
		r, err := Load(t.Context(), paths, Options{Dir: dir, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(r); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%d workers:\n%s\nwant\n%s", workers, got, want)
		}
	}
}

func TestLoadStopsWhenTheContextEnds(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\n"+podA)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, []string{"."}, Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFilesOutsideTheWorkingDirectoryAreShownRelativeToIt(t *testing.T) {
	dir := testtree.Parse(t, "-- repo/.git/HEAD --\nref: x\n-- repo/base/kustomization.yaml --\nresources: [a.yaml]\n-- repo/base/a.yaml --\n"+podA+"-- repo/apps/prod/kustomization.yaml --\nresources: [../../base]\n")
	r := loadDir(t, filepath.Join(dir, "repo", "apps"), "prod")
	if len(r.Objects) != 1 || len(r.Gaps) != 0 {
		t.Fatal(summary(r), r.Gaps)
	}
	if at := r.Objects[0].Origin.Locate(source.Ref{Pointer: "/kind"}).Primary; at.File != "../base/a.yaml" || r.Files[at.File] == nil {
		t.Errorf("%+v", at)
	}
}

func TestFilesBelowTheWorkingDirectoryAreShownWithoutTheWayOutOfIt(t *testing.T) {
	dir := testtree.Parse(t, "-- repo/.git/HEAD --\nref: x\n-- repo/apps/prod/a.yaml --\n"+podA+"-- repo/apps/b.yaml --\napiVersion: v1\nkind: Pod\nmetadata: [\n")
	for _, tc := range []struct{ from, target, file, gap string }{
		{"repo/apps", ".", "prod/a.yaml", "b.yaml"},
		{"repo/apps/prod", "..", "a.yaml", "../b.yaml"},
		{"repo", "apps", "apps/prod/a.yaml", "apps/b.yaml"},
		{".", "repo", "repo/apps/prod/a.yaml", "repo/apps/b.yaml"},
	} {
		r := loadDir(t, filepath.Join(dir, tc.from), tc.target)
		if len(r.Objects) != 1 || len(r.Gaps) != 1 || r.Gaps[0].File != tc.gap {
			t.Errorf("%s from %s: %s %+v", tc.target, tc.from, summary(r), r.Gaps)
			continue
		}
		if at := r.Objects[0].Origin.Locate(source.Ref{Pointer: "/kind"}).Primary; at.File != tc.file || r.Files[at.File] == nil {
			t.Errorf("%s from %s: %+v", tc.target, tc.from, at)
		}
	}
}

func TestASchemaThatIsNoneIsNamedInOneLine(t *testing.T) {
	dir := testtree.Parse(t, `-- Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
-- values.schema.json --
{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"b": {"$id": "#/b"}, "a": {"$id": "#/a"}, "c": {"$id": "#/c"}}}
-- templates/a.yaml --
`+podA)
	for range 8 {
		r := loadDir(t, dir, ".")
		if len(r.Gaps) != 1 || !strings.HasPrefix(r.Gaps[0].Why, "values.schema.json is no valid schema: /properties/a/$id: ") ||
			!strings.HasSuffix(r.Gaps[0].Why, "; there are 2 more such places") || strings.Contains(r.Gaps[0].Why, "\n") {
			t.Fatalf("%+v", r.Gaps)
		}
	}
}

func FuzzManifest(f *testing.F) {
	for _, seed := range []string{
		podA, podA + "---\n" + podA, "a: &a [*a]\n", "a: |2+\n   x\n\n", `{"apiVersion":"v1","kind":"List","items":[{}]}`,
		"apiVersion: v1\nkind: Secret\ndata: {a: YWJj}\nx: {<<: {a: b}}\n", "\ufeff%YAML 1.1\n---\na: b\n...\n", "a: \"\\x41\\\n  b\"\n", "? [a]\n: b\n", "apiVersion: v1\nkind: X\ns: !!binary aGk=\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("f.yaml", text)
		objects, gaps := decodeObjects(t.Context(), file, identity{file}, unit{kind: source.Manifest}, Limits{})
		for _, g := range gaps {
			if g.File != "f.yaml" || g.Line < 1 || g.Line > max(1, file.Lines())+1 || g.What == "" || g.Why == "" || g.Consequence == "" {
				t.Errorf("gap %+v", g)
			}
		}
		for _, o := range objects {
			visit(o.Tree, source.Ref{Object: "o"}, func(r source.Ref, v any) {
				at := o.Origin.Locate(r).Primary
				if at.Precision == source.WholeFile || at.Span.Start.Line < 1 || at.Span.End.Line < at.Span.Start.Line {
					t.Errorf("%s: %+v", r.Pointer, at)
				}
				if s, ok := v.(string); ok && len(s) > 1 {
					o.Origin.Locate(r.Within(1, len(s)))
				}
			})
		}
	})
}

// visit calls use for every value below v.
func visit(v any, r source.Ref, use func(source.Ref, any)) {
	use(r, v)
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			visit(x, r.Child(k), use)
		}
	case []any:
		for i, x := range v {
			visit(x, r.Child(fmt.Sprint(i)), use)
		}
	}
}
