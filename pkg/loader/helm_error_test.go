package loader

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

const chartHead = `-- Chart.yaml --
apiVersion: v2
name: c
version: 0.1.0
-- templates/good.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: good}
`

func names(out rendered) []string {
	var all []string
	for _, o := range out.objects {
		all = append(all, o.Kind+"/"+o.Name)
	}
	slices.Sort(all)
	return all
}

// A template that fails costs itself and is a gap with the place and the key.
func TestTemplatesThatFail(t *testing.T) {
	tests := []struct {
		name, archive string
		line          int
		file, why     string
		objects       []string
	}{
		{
			name: "required value", line: 3, file: "templates/bad.yaml",
			archive: "-- values.yaml --\nwireguard: {key: ''}\n-- templates/bad.yaml --\napiVersion: v1\nkind: Secret\ndata: {k: {{ required \"a private key is needed\" .Values.wireguard.key }}}\n",
			why:     "a private key is needed; pass --set wireguard.key=... or a values file with -f",
		},
		{
			name: "required value in a helper", line: 3, file: "templates/_helpers.tpl",
			archive: "-- templates/bad.yaml --\nkey: {{ include \"key\" . }}\n-- templates/_helpers.tpl --\n{{- define \"key\" -}}\n{{- /* two */ -}}\n{{ .Values.siteKey | required \"siteKey must be set\" }}\n{{- end }}\n",
			why:     "siteKey must be set; pass --set siteKey=... or a values file with -f",
		},
		{
			name: "nil pointer", line: 2, file: "templates/bad.yaml",
			archive: "-- templates/bad.yaml --\nkind: A\nx: {{ .Values.vpn.pool.cidr }}\n",
			why:     "nil pointer evaluating interface {}.pool; pass --set vpn.pool.cidr=... or a values file with -f",
		},
		{
			name: "unknown function", line: 2, file: "templates/bad.yaml",
			archive: "-- templates/bad.yaml --\nkind: A\nx: {{ cidrhost .Values.x }}\n", why: `function "cidrhost" not defined`,
		},
		{
			name: "syntax", line: 3, file: "templates/bad.yaml",
			archive: "-- templates/bad.yaml --\n{{ if .Values.x }}\nkind: A\n", why: "unexpected EOF",
		},
		{
			name: "fail with a message", line: 1, file: "templates/NOTES.txt",
			archive: "-- templates/NOTES.txt --\n{{ fail \"set something\" }}\n", why: "set something",
		},
		{
			name: "missing partial", line: 1, file: "templates/bad.yaml",
			archive: "-- templates/bad.yaml --\nx: {{ include \"nowhere\" . }}\n", why: `no template "nowhere" associated with template "gotpl"`,
		},
		{
			name: "endless include", line: 1, file: "templates/_loop.tpl",
			archive: "-- templates/bad.yaml --\nx: {{ include \"loop\" . }}\n-- templates/_loop.tpl --\n{{ define \"loop\" }}{{ include \"loop\" . }}{{ end }}\n",
			why:     "rendering template has a nested reference name: loop: unable to execute template",
		},
		{
			name: "a define reached by the template action", line: 2, file: "templates/_shared.tpl",
			archive: "-- templates/bad.yaml --\n{{ template \"shared\" . }}\n-- templates/_shared.tpl --\n{{ define \"shared\" }}\n{{ .Values.a.b.c }}\n{{ end }}\n-- templates/last.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: last}\n",
			why:     "nil pointer evaluating interface {}.b; pass --set a.b.c=... or a values file with -f", objects: []string{"ConfigMap/good", "ConfigMap/last"},
		},
		{
			name: "defines of a template that fails stay", line: 1, file: "templates/bad.yaml",
			archive: "-- templates/bad.yaml --\n{{ fail \"no\" }}{{ define \"shared\" }}name: {{ \"\" }}shared{{ end }}\n-- templates/user.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: { {{- include \"shared\" . -}} }\n",
			why:     "no", objects: []string{"ConfigMap/good", "ConfigMap/shared"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := renderText(t, chartHead+tc.archive, Options{})
			if len(out.gaps) != 1 {
				t.Fatalf("gaps: %+v", out.gaps)
			}
			g := out.gaps[0]
			kind := finding.Unreadable
			if tc.file == "templates/NOTES.txt" {
				kind = finding.Unmodelled // no object is lost
			}
			if g.Kind != kind || g.File != tc.file || g.Line != tc.line || g.Why != tc.why {
				t.Errorf("got %s %s:%d %q\nwant %s:%d %q", g.Kind, g.File, g.Line, g.Why, tc.file, tc.line, tc.why)
			}
			want := tc.objects
			if want == nil {
				want = []string{"ConfigMap/good"}
			}
			if got := names(out); !slices.Equal(got, want) {
				t.Errorf("objects %v, want %v", got, want)
			}
		})
	}
}

// What is wrong with the chart as a whole is one gap, and no panic.
func TestChartsThatCannotBeRendered(t *testing.T) {
	tests := []struct{ name, archive, why string }{
		{"no metadata", "-- Chart.yaml --\n", "name is required; correct it"},
		{"metadata is a list", "-- Chart.yaml --\n- a\n", "it is a list, not a mapping; correct it"},
		{"name is a path", "-- Chart.yaml --\napiVersion: v2\nname: ../c\nversion: 0.1.0\n", "invalid"},
		{"subchart's values are no table", "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 0.1.0\n-- values.yaml --\nsub: 1\n-- charts/sub/Chart.yaml --\napiVersion: v2\nname: sub\nversion: 0.1.0\n", "type mismatch on sub"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := renderText(t, tc.archive, Options{})
			if len(out.gaps) != 1 || out.gaps[0].File != "Chart.yaml" || !strings.Contains(out.gaps[0].Why, tc.why) {
				t.Errorf("gaps: %+v, want one about %q", out.gaps, tc.why)
			}
			if len(out.objects) > 0 {
				t.Errorf("objects: %v", names(out))
			}
		})
	}
}

func TestRenderIsAbandonedAfterItsTime(t *testing.T) {
	start := time.Now()
	out := renderText(t, chartHead+"-- templates/slow.yaml --\n{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}\n", Options{Limits: Limits{RenderSeconds: 1}})
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(out.gaps) != 1 || !strings.Contains(out.gaps[0].Why, "longer than 1s") {
		t.Errorf("gaps: %+v", out.gaps)
	}
}

func TestRenderedTextIsLimited(t *testing.T) {
	out := renderText(t, chartHead+"-- templates/big.yaml --\n# {{ repeat 100000 \"x\" }}\n", Options{Limits: Limits{OutputBytes: 50_000}})
	if len(out.gaps) != 1 || !strings.Contains(out.gaps[0].Why, "50000 bytes") || len(out.objects) > 0 {
		t.Errorf("gaps: %+v", out.gaps)
	}
}

func TestValuesAgainstTheSchema(t *testing.T) {
	schema := `-- values.yaml --
vpn:
  port: "high"
-- values.schema.json --
{"type": "object", "required": ["pool"], "properties": {"vpn": {"properties": {"port": {"type": "integer"}}}}}
`
	out := renderText(t, chartHead+schema, Options{})
	var got []string
	for _, g := range out.gaps {
		got = append(got, g.What+" | "+g.Why)
		if g.Kind != finding.Unreadable {
			t.Errorf("kind %s", g.Kind)
		}
	}
	want := []string{
		"the value (top) breaks the schema of chart c | missing property 'pool'",
		"the value vpn.port breaks the schema of chart c | got string, want integer; give it with --set vpn.port=... or a values file",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for _, g := range out.gaps {
		if strings.Contains(g.What, "vpn.port") && (g.File != "values.yaml" || g.Line != 2) {
			t.Errorf("the port is set at %s:%d", g.File, g.Line)
		}
	}
	if !slices.Equal(names(out), []string{"ConfigMap/good"}) {
		t.Errorf("objects %v", names(out))
	}
	if out := renderText(t, chartHead+schema, Options{Set: []string{"vpn.port=1194,pool=x"}}); len(out.gaps) > 0 {
		t.Errorf("good values: %+v", out.gaps)
	}
}

// A schema must not make the machine fetch or read anything.
func TestSchemaReferencesAreNeverFollowed(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("true"))
	}))
	defer server.Close()
	secret := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(secret, []byte("false"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{server.URL + "/s.json", "file://" + secret, "urn:a:b"} {
		out := renderText(t, chartHead+"-- values.yaml --\na: 1\n-- values.schema.json --\n{\"$ref\": \""+ref+"\"}\n", Options{})
		if len(out.gaps) != 1 || out.gaps[0].Kind != finding.Unmodelled || !strings.Contains(out.gaps[0].Why, "never fetched") {
			t.Errorf("%s: %+v", ref, out.gaps)
		}
	}
	if asked.Load() > 0 {
		t.Error("the schema was fetched")
	}
}

// pack makes a chart archive.
func pack(t *testing.T, name, archive string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + f.Name, Mode: 0o644, Size: int64(len(f.Data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A packed subchart has no lines in the tree: its objects point at the
// dependency in Chart.yaml, its values at whoever sets them in the tree.
func TestPackedSubchart(t *testing.T) {
	packed := pack(t, "sub", "-- Chart.yaml --\napiVersion: v2\nname: sub\nversion: 1.0.0\n-- values.yaml --\nport: 1\n-- crds/x.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: crd}\n-- templates/pod.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: packed}\nspec: {hostNetwork: {{ .Values.host }}}\n")
	files := txtar.Parse([]byte("-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 0.1.0\ndependencies:\n  - name: other\n    version: 1.0.0\n    condition: other.enabled\n  - name: sub\n    version: 1.0.0\n-- values.yaml --\nother: {enabled: false}\nsub:\n  host: true\n")).Files
	files = append(files, txtar.File{Name: "charts/sub-1.0.0.tgz", Data: packed})
	out := renderDir(t, testtree.Unpack(t, files), Options{})
	if len(out.gaps) > 0 || !slices.Equal(names(out), []string{"ConfigMap/crd", "Pod/packed"}) {
		t.Fatalf("%v %+v", names(out), out.gaps)
	}
	for _, o := range out.objects {
		at := o.Origin.Locate(source.Ref{Pointer: "/metadata/name"}).Primary
		if at.File != "Chart.yaml" || at.Span.Start.Line != 8 || at.Precision != source.WholeObject {
			t.Errorf("%s points at %+v", o.Name, at)
		}
	}
	files[len(files)-1].Data = packed[:len(packed)/2]
	out = renderDir(t, testtree.Unpack(t, files), Options{})
	if len(out.gaps) != 2 || out.gaps[0].File != "charts/sub-1.0.0.tgz" {
		t.Errorf("a torn archive: %+v", out.gaps)
	}
}

// A dependency in a directory of the tree is what helm dependency build would
// copy: it is rendered, and its lines are those of the directory.
func TestDependencyInADirectoryOfTheTree(t *testing.T) {
	dir := testtree.Unpack(t, txtar.Parse([]byte("-- app/Chart.yaml --\napiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n  - {name: vpn, version: 0.1.0, repository: \"file://../vpn\"}\n-- vpn/Chart.yaml --\napiVersion: v2\nname: vpn\nversion: 0.1.0\n-- vpn/templates/pod.yaml --\napiVersion: v1\nkind: Pod\nmetadata: {name: vpn}\n")).Files)
	tree, err := openTree(dir, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	out := renderChart(t.Context(), chartAt{t: tree, dir: "app"}, Options{Dir: dir}, valueSet{name: DefaultSet}, &seenTexts{})
	if len(out.gaps) > 0 || len(out.objects) != 1 {
		t.Fatalf("%v %+v", names(out), out.gaps)
	}
	if at := out.objects[0].Origin.Locate(source.Ref{Pointer: "/kind"}).Primary; where(at) != "vpn/templates/pod.yaml:2:7" {
		t.Errorf("points at %s", where(at))
	}
	if u := out.objects[0].Unit; u != "app" {
		t.Errorf("unit %q", u)
	}
}

func TestLinksInCharts(t *testing.T) {
	dir := testtree.Unpack(t, txtar.Parse([]byte(chartHead)).Files)
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outside}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"templates/inside.yaml": "good.yaml", "templates/loop": "..", "templates/out.yaml": outside, "templates/self.yaml": "self.yaml",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	out := renderDir(t, dir, Options{})
	if got := names(out); !slices.Equal(got, []string{"ConfigMap/good", "ConfigMap/good"}) {
		t.Errorf("objects %v", got)
	}
	var files []string
	for _, g := range out.gaps {
		files = append(files, g.File)
	}
	slices.Sort(files)
	if want := []string{"templates/loop", "templates/out.yaml", "templates/self.yaml"}; !slices.Equal(files, want) {
		t.Errorf("gaps for %v, want %v", files, want)
	}
}

func TestValuesFilesThatCannotBeRead(t *testing.T) {
	for name, content := range map[string]string{"gone.yaml": "", "list.yaml": "- a\n", "broken.yaml": "a: [\n"} {
		archive := chartHead
		if content != "" {
			archive += "-- " + name + " --\n" + content
		}
		out := renderText(t, archive, Options{ValuesFiles: []string{name}})
		if len(out.gaps) != 1 || out.gaps[0].File != name || len(out.objects) > 0 {
			t.Errorf("%s: %+v", name, out.gaps)
		}
	}
	if out := renderText(t, chartHead, Options{Set: []string{"a[=1"}}); len(out.gaps) != 1 {
		t.Errorf("--set: %+v", out.gaps)
	}
}

func TestCapabilities(t *testing.T) {
	archive := chartHead + "-- templates/v.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\ndata: {v: \"{{ .Capabilities.KubeVersion }}\", has: \"{{ .Capabilities.APIVersions.Has \"cilium.io/v2\" }}\", r: \"{{ .Release.Name }}/{{ .Release.Namespace }}/{{ .Release.IsInstall }}\", dns: \"{{ getHostByName \"localhost\" }}\"}\n"
	read := func(opts Options) map[string]any {
		t.Helper()
		for _, o := range renderText(t, archive, opts).objects {
			if o.Name == "v" {
				if o.Namespace != opts.Namespace && opts.Namespace != "" {
					t.Errorf("namespace %q", o.Namespace)
				}
				data, _ := o.Tree["data"].(map[string]any)
				return data
			}
		}
		t.Fatal("no object")
		return nil
	}
	if got := read(Options{}); got["v"] != DefaultKubeVersion || got["has"] != "false" || got["r"] != "c/default/true" || got["dns"] != "" {
		t.Errorf("defaults: %v", got)
	}
	if got := read(Options{KubeVersion: "1.30", APIVersions: []string{"cilium.io/v2"}, ReleaseName: "r", Namespace: "n"}); got["v"] != "v1.30" || got["has"] != "true" || got["r"] != "r/n/true" {
		t.Errorf("given: %v", got)
	}
	if out := renderText(t, archive, Options{KubeVersion: "new"}); len(out.gaps) != 1 || len(out.objects) > 0 {
		t.Errorf("a version that is none: %+v", out.gaps)
	}
}

// A chart whose dependency is missing is not told of its notes besides, which need
// the dependency's defines: they make no objects.
func TestNotesOfAnIncompleteChart(t *testing.T) {
	out := renderText(t, `
-- Chart.yaml --
apiVersion: v2
name: app
version: 1.0.0
dependencies: [{name: common, version: 1.0.0, repository: "https://charts.example.com"}]
-- templates/NOTES.txt --
{{ include "common.notes" . }}
-- templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
`, Options{})
	if len(out.objects) != 1 || len(out.gaps) != 1 || out.gaps[0].File != "Chart.yaml" {
		t.Errorf("%d objects, %+v", len(out.objects), out.gaps)
	}
}

// A file that is no part of the chart proper is missing to .Files alone.
func TestLinkedLicense(t *testing.T) {
	dir := testtree.Unpack(t, txtar.Parse([]byte("-- LICENSE --\nfree\n-- c/Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\n-- c/templates/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")).Files)
	for name, kind := range map[string]finding.GapKind{"LICENSE": finding.Unmodelled, "values.yaml": finding.Unreadable, "templates/b.yaml": finding.Unreadable} {
		link := filepath.Join(dir, "c", filepath.FromSlash(name))
		if err := os.Symlink(filepath.Join(dir, "LICENSE"), link); err != nil {
			t.Skip(err)
		}
		out := renderDir(t, filepath.Join(dir, "c"), Options{})
		if len(out.objects) != 1 || len(out.gaps) != 1 || out.gaps[0].Kind != kind || out.gaps[0].Why != errLeavesTree.Error() {
			t.Errorf("%s: %d objects, %+v", name, len(out.objects), out.gaps)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
}

// Templates that call what a dependency would define fail because it is not there:
// one gap says both. What fails for a reason of its own has its own.
func TestTemplatesOfAMissingDependency(t *testing.T) {
	files := txtar.Parse([]byte("-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 0.1.0\ndependencies: [{name: common, version: 1.0.0}]\n" +
		"-- templates/a.yaml --\n{{ include \"common.all\" . }}\n-- templates/b.yaml --\n{{ include \"common.all\" . }}\n" +
		"-- templates/c.yaml --\n{{ fail \"no\" }}\n-- templates/d.yaml --\n" + podA)).Files
	out := renderDir(t, testtree.Unpack(t, files), Options{})
	if len(out.objects) != 1 || len(out.gaps) != 2 {
		t.Fatalf("%v %+v", names(out), out.gaps)
	}
	if g := out.gaps[0]; g.File != "Chart.yaml" || !strings.Contains(g.Consequence, "templates/a.yaml, templates/b.yaml;") {
		t.Errorf("got %+v", g)
	}
	if g := out.gaps[1]; g.File != "templates/c.yaml" {
		t.Errorf("got %+v", g)
	}
}
