package loader

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v3/pkg/chart"
	chartloader "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

func renderDir(tb testing.TB, dir string, opts Options) rendered {
	tb.Helper()
	opts.Dir = dir
	t, err := openTree(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(t.close)
	return renderChart(tb.Context(), chartAt{t: t, dir: "."}, opts, valueSet{name: DefaultSet}, &seenTexts{})
}

// renderText renders a chart that is written as a txtar archive.
func renderText(tb testing.TB, archive string, opts Options) rendered {
	tb.Helper()
	return renderDir(tb, testtree.Unpack(tb, txtar.Parse([]byte(archive)).Files), opts)
}

// scenario is one archive of testdata/charts: a chart at the top, the options
// to render it with in "options", and what must come out in "want".
type scenario struct {
	name  string
	files []txtar.File
	opts  Options
	want  []string
	// unstable: no two renders are the same.
	unstable bool
}

func scenarios(t testing.TB) []scenario {
	t.Helper()
	names, err := filepath.Glob("testdata/charts/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no charts: %v", err)
	}
	var out []scenario
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := scenario{name: strings.TrimSuffix(filepath.Base(name), ".txtar")}
		s.unstable = s.name == "random" || s.name == "mutation"
		for _, f := range archive.Files {
			switch f.Name {
			case "options":
				for line := range strings.Lines(string(f.Data)) {
					switch flag, value, _ := strings.Cut(strings.TrimSpace(line), " "); flag {
					case "-f":
						s.opts.ValuesFiles = append(s.opts.ValuesFiles, value)
					case "--set":
						s.opts.Set = append(s.opts.Set, value)
					case "--release-name":
						s.opts.ReleaseName = value
					case "--namespace":
						s.opts.Namespace = value
					case "--kube-version":
						s.opts.KubeVersion = value
					default:
						t.Fatalf("%s: unknown option %q", name, flag)
					}
				}
			case "want":
				for line := range strings.Lines(string(f.Data)) {
					if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
						s.want = append(s.want, line)
					}
				}
			default:
				s.files = append(s.files, f)
			}
		}
		out = append(out, s)
	}
	return out
}

// where writes a location as the scenarios do.
func where(l source.Location) string {
	if l.File == "" {
		return "-"
	}
	return fmt.Sprintf("%s:%d:%d", l.File, l.Span.Start.Line, l.Span.Start.Column)
}

func values(refs []source.ValueRef) string {
	var b strings.Builder
	for _, r := range refs {
		at := "-"
		if r.At.File != "" {
			at = fmt.Sprintf("%s:%d", r.At.File, r.At.Span.Start.Line)
		}
		fmt.Fprintf(&b, " %s=%s@%s(%s)", r.Path, strings.ReplaceAll(r.Text, " ", "_"), at, strings.ReplaceAll(r.By, " ", "-"))
	}
	return b.String()
}

// describe writes what is known of a field on one line:
//
//	KIND/NAME POINTER FILE:LINE:COL PRECISION VALUE... [if LINE taken VALUE...] [absent LINE VALUE...] [via FILE:LINE]
func describe(o *source.Object, pointer string) string {
	p := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer})
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s %s %s %s%s", o.Kind, o.Name, pointer, where(p.Primary), p.Primary.Precision, values(p.Values))
	for _, g := range p.Guards {
		fmt.Fprintf(&b, " [if %d %t%s]", g.At.Span.Start.Line, g.Taken, values(g.Reads))
	}
	for _, g := range p.Absent {
		fmt.Fprintf(&b, " [absent %d%s]", g.At.Span.Start.Line, values(g.Reads))
	}
	for _, v := range p.Via {
		fmt.Fprintf(&b, " [via %s:%d]", v.At.File, v.At.Span.Start.Line)
	}
	return b.String()
}

func TestPlacesOfChartFields(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			out := renderDir(t, testtree.Unpack(t, s.files), s.opts)
			got := map[string]string{}
			for _, o := range out.objects {
				eachField(o.Tree, "", func(pointer string, _ any) {
					got[o.Kind+"/"+o.Name+" "+pointer] = describe(o, pointer)
				})
			}
			var gaps []string
			for _, g := range out.gaps {
				gaps = append(gaps, fmt.Sprintf("gap %s %s:%d %s: %s", g.Kind, g.File, g.Line, g.What, g.Why))
			}
			for _, want := range s.want {
				if strings.HasPrefix(want, "gap ") {
					if i := slices.Index(gaps, want); i >= 0 {
						gaps = slices.Delete(gaps, i, i+1)
					} else {
						t.Errorf("no such gap: %s", want)
					}
					continue
				}
				fields := strings.SplitN(want, " ", 3)
				if len(fields) < 3 {
					t.Fatalf("cannot read %q", want)
				}
				if g := got[fields[0]+" "+strings.Trim(fields[1], `"`)]; g != want {
					t.Errorf("\n got %s\nwant %s", g, want)
				}
			}
			for _, g := range gaps {
				t.Errorf("unexpected %s", g)
			}
		})
	}
}

// eachField visits every field of a tree.
func eachField(v any, pointer string, visit func(pointer string, v any)) {
	visit(pointer, v)
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			eachField(v[k], source.Ref{Pointer: pointer}.Child(k).Pointer, visit)
		}
	case []any:
		for i, x := range v {
			eachField(x, pointer+"/"+strconv.Itoa(i), visit)
		}
	}
}

// helmRender renders the files with nothing but Helm's library.
func helmRender(tb testing.TB, files []txtar.File, opts Options) map[string]string {
	tb.Helper()
	c, vals := helmLoad(tb, files, opts)
	out, err := engine.Render(c, vals)
	if err != nil {
		tb.Skipf("Helm renders nothing of this chart: %v", err)
	}
	return out
}

func helmLoad(tb testing.TB, files []txtar.File, opts Options) (*chart.Chart, chartutil.Values) {
	tb.Helper()
	var buffered []*chartloader.BufferedFile
	for _, f := range files {
		buffered = append(buffered, &chartloader.BufferedFile{Name: f.Name, Data: bytes.Clone(f.Data)})
	}
	c, err := chartloader.LoadFiles(buffered)
	if err != nil {
		tb.Fatal(err)
	}
	opts.Dir = testtree.Unpack(tb, files)
	user, gap := readUserValues(opts, valueSet{name: DefaultSet}, DefaultLimits())
	if gap != nil {
		tb.Fatal(gap)
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, user.merged); err != nil {
		tb.Fatal(err)
	}
	version := opts.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		tb.Fatal(err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = *kube
	release := chartutil.ReleaseOptions{Name: opts.ReleaseName, Namespace: opts.Namespace, Revision: 1, IsInstall: true}
	if release.Name == "" {
		release.Name = c.Name()
	}
	if release.Namespace == "" {
		release.Namespace = "default"
	}
	vals, err := chartutil.ToRenderValuesWithSchemaValidation(c, user.merged, release, caps, true)
	if err != nil {
		tb.Fatal(err)
	}
	return c, vals
}

// The objects are those of Helm, whatever the probe does beside it.
func TestObjectsAreHelms(t *testing.T) {
	for _, s := range scenarios(t) {
		same := sameJSON
		if s.name == "random" {
			same = sameButFresh
		}
		t.Run(s.name, func(t *testing.T) {
			var want []map[string]any
			texts := helmRender(t, s.files, s.opts)
			for _, name := range sortedKeys(texts) {
				if strings.HasSuffix(name, "NOTES.txt") {
					continue
				}
				for _, text := range releaseutil.SplitManifests(texts[name]) {
					var obj map[string]any
					if err := sigsyaml.Unmarshal([]byte(text+"\n"), &obj); err != nil {
						t.Fatal(err)
					}
					if obj != nil {
						want = append(want, obj)
					}
				}
			}
			out := renderDir(t, testtree.Unpack(t, s.files), s.opts)
			seen := 0
			for _, o := range out.objects {
				if strings.HasPrefix(o.Origin.Locate(source.Ref{}).Primary.File, "crds/") {
					continue
				}
				seen++
				if !slices.ContainsFunc(want, func(w map[string]any) bool { return same(w, o.Tree) }) {
					t.Errorf("%s/%s is not what Helm renders: %v", o.Kind, o.Name, o.Tree)
				}
			}
			if seen != len(want) {
				t.Errorf("%d objects, Helm renders %d", seen, len(want))
			}
		})
	}
}

var freshWord = regexp.MustCompile(`[A-Za-z0-9+/=-]{8,}`)

// sameJSON compares two trees by their JSON.
func sameJSON(a, b any) bool {
	x, errX := sigsyaml.Marshal(a)
	y, errY := sigsyaml.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// sameButFresh is sameJSON with long words, such as random ones, left out.
func sameButFresh(a, b any) bool {
	x, errX := sigsyaml.Marshal(a)
	y, errY := sigsyaml.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(freshWord.ReplaceAll(x, nil), freshWord.ReplaceAll(y, nil))
}

// blockSign is what a block of text is shown by: its key and the sign behind it.
var blockSign = regexp.MustCompile(`^[^ ]+: +[|>][0-9+-]*$`)

// An exact place in literal text holds the very value.
func TestExactPlacesHoldTheValue(t *testing.T) {
	checked := 0
	for _, s := range scenarios(t) {
		out := renderDir(t, testtree.Unpack(t, s.files), s.opts)
		texts := map[string]*source.File{}
		for _, f := range out.files {
			texts[f.Path()] = f
		}
		for _, o := range out.objects {
			eachField(o.Tree, "", func(pointer string, v any) {
				at := o.Origin.Locate(source.Ref{Pointer: pointer}).Primary
				f := texts[at.File]
				if f == nil {
					t.Errorf("%s: %s/%s%s points into %q, which is not among the files", s.name, o.Kind, o.Name, pointer, at.File)
					return
				}
				if !isScalar(v) || v == nil || at.Precision != source.Exact {
					return
				}
				slice := f.Text()[f.Offset(at.Span.Start):f.Offset(at.Span.End)]
				if strings.Contains(slice, "{{") || blockSign.MatchString(slice) {
					return
				}
				if text, ok := v.(string); ok && strings.HasPrefix(at.File, "files/") {
					if data, err := base64.StdEncoding.DecodeString(text); err == nil && o.Kind == "Secret" {
						text = string(data)
					}
					if slice == "" || !strings.Contains(text, slice) {
						t.Errorf("%s: %s/%s%s is %q but %s reads %q", s.name, o.Kind, o.Name, pointer, text, where(at), slice)
					}
					return
				}
				var got any
				if err := sigsyaml.Unmarshal([]byte(slice), &got); err != nil || !sameJSON(got, v) {
					t.Errorf("%s: %s/%s%s is %v but %s reads %q", s.name, o.Kind, o.Name, pointer, v, where(at), slice)
				}
				checked++
			})
		}
	}
	if checked < 80 {
		t.Errorf("only %d places were checked", checked)
	}
}
