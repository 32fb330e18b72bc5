package loader

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustHelm is an entry of helmCharts, or a generator that does the same. Kustomize
// runs the helm program for it; we render the chart ourselves and give the library
// the objects as a resource.
type kustHelm struct {
	spec types.HelmChart
	// in is the file of the entry, keys lead to it there.
	in      *kustNode
	keys    []string
	at      *tree    // that holds the chart
	dir     string   // tree path of the chart
	missing bool     // there is no chart
	files   []string // tree paths of the values files: the first is valuesFile, "" if not given
	index   int      // among those of the kustomization
}

// helmChart checks entry i of helmCharts.
func (r *kustReader) helmChart(n *kustNode, i int) {
	home, at := "", n.field("helmGlobals", "chartHome")
	if g := n.spec.HelmGlobals; g != nil {
		home = g.ChartHome
	}
	r.inflate(n, kustHelm{spec: n.spec.HelmCharts[i], in: n, keys: []string{"helmCharts", strconv.Itoa(i)}}, home, at)
}

// field is the node of a field of the entry.
func (h kustHelm) field(keys ...string) *yaml.Node { return h.in.field(h.path(keys...)...) }

func (h kustHelm) pointer(keys ...string) string { return h.in.pointer(h.path(keys...)...) }

func (h kustHelm) path(keys ...string) []string { return append(slices.Clip(h.keys), keys...) }

// title is what messages call the entry.
func (h kustHelm) title() string {
	if len(h.keys) > 0 && h.keys[0] == "helmCharts" {
		return "a helmCharts entry"
	}
	return "the generator " + inflationGenerator
}

// inflate checks an entry of the kustomization n that renders a chart of the
// directory home, which stands at homeAt.
func (r *kustReader) inflate(n *kustNode, h kustHelm, home string, homeAt *yaml.Node) {
	spec, at := h.spec, h.field()
	home = cmp.Or(home, types.HelmDefaultHome)
	dir := path.Join(n.dir, home)
	if spec.Version != "" && spec.Repo != "" {
		dir = path.Join(dir, spec.Name+"-"+spec.Version) // where kustomize puts what it pulls
	}
	dir = path.Join(dir, spec.Name)
	switch {
	case spec.Name == "":
		r.refuse(h.in, at, h.title()+" has no name; name its chart")
		return
	case path.IsAbs(home):
		r.refuse(h.in, homeAt, fmt.Sprintf("the chartHome %q is an absolute path; write it relative to this file", home))
		return
	case !slices.Contains([]string{"", "merge", "override", "replace"}, spec.ValuesMerge):
		r.refuse(h.in, h.field("valuesMerge"), fmt.Sprintf("the valuesMerge %q of %s is none of merge, override and replace; correct it", spec.ValuesMerge, h.title()))
		return
	}
	h.at, h.dir, h.files, h.index, h.missing = r.t, dir, []string{""}, len(n.helm), !r.t.isFile(path.Join(dir, "Chart.yaml"))
	if given, ok := r.charts[spec.Name]; ok && h.missing {
		h.at, h.dir, h.missing = given.scan.t, given.path, false
	}
	if h.missing && spec.ReleaseName != "" && slices.ContainsFunc(n.helm, func(other kustHelm) bool {
		return other.spec.Name == spec.Name && other.spec.ReleaseName == spec.ReleaseName && other.spec.Namespace == spec.Namespace
	}) {
		r.refuse(h.in, at, fmt.Sprintf("%s renders the chart %s as the release %s, which another does already; leave one of the two, kustomize build fails in the same way", h.title(), spec.Name, spec.ReleaseName))
		return
	}
	for j, entry := range append([]string{spec.ValuesFile}, spec.AdditionalValuesFiles...) {
		if entry == "" {
			continue
		}
		at := h.field("valuesFile")
		if j > 0 {
			at = h.field("additionalValuesFiles", strconv.Itoa(j-1))
		}
		name, ok := r.entryIn(n.dir, h.in, "helmCharts values file", entry, at)
		if !ok {
			return
		}
		r.g.uses[name] = true
		if j == 0 {
			h.files[0] = name
		} else {
			h.files = append(h.files, name)
		}
	}
	if !h.missing && h.at == r.t {
		r.g.uses[h.dir] = true
	}
	n.helm = append(n.helm, h)
}

// inlineValues stands for the values of the entry itself among its files.
const inlineValues = ""

// order returns the tree paths of the values files and inlineValues, the one that
// wins last.
func (h kustHelm) order() []string {
	var out []string
	inline := func() {
		if len(h.spec.ValuesInline) > 0 {
			out = append(out, inlineValues)
		}
	}
	if h.spec.ValuesMerge == "merge" {
		inline()
	}
	// Without a valuesFile the chart's own is merged, which it is anyway.
	if h.files[0] != "" && (h.spec.ValuesMerge != "replace" || len(h.spec.ValuesInline) == 0) {
		out = append(out, h.files[0])
	}
	if h.spec.ValuesMerge != "merge" {
		inline()
	}
	return append(out, h.files[1:]...)
}

// render renders the chart with the values that the entry gives.
func (h kustHelm) render(ctx context.Context, t *tree, opts Options) rendered {
	set := valueSet{name: DefaultSet}
	read := func(name string) *finding.Gap {
		f, err := t.readFile(name)
		if err != nil {
			g := setGap(unreadable(t.display(name), err))
			return &g
		}
		set.bundled = append(set.bundled, bundledValues{file: withoutBOM(f)})
		return nil
	}
	inlined := h.inlineFile()
	inline := func() {
		if inlined != nil {
			set.bundled = append(set.bundled, bundledValues{file: inlined})
			return
		}
		text, err := json.Marshal(h.spec.ValuesInline)
		if err != nil {
			text = []byte("{}") // it came out of YAML and goes into it
		}
		at := h.in.origin.Locate(source.Ref{Pointer: h.pointer("valuesInline")}).Primary
		set.bundled = append(set.bundled, bundledValues{file: source.NewFile(h.in.file.Path(), string(text)), fixed: &at})
	}
	for _, name := range h.order() {
		if name == inlineValues {
			inline()
		} else if gap := read(name); gap != nil {
			return rendered{gaps: []finding.Gap{*gap}}
		}
	}
	own := Options{
		Dir: opts.Dir, Limits: opts.Limits, children: opts.children, shelf: opts.shelf,
		KubeVersion: opts.KubeVersion, APIVersions: slices.Concat(opts.APIVersions, h.spec.ApiVersions),
		ReleaseName: h.spec.ReleaseName, Namespace: h.spec.Namespace,
	}
	if h.spec.KubeVersion != "" {
		own.KubeVersion = h.spec.KubeVersion
	}
	at, gap := opts.shelf.open(h.at, h.dir, opts.Limits)
	if gap != nil {
		return rendered{gaps: []finding.Gap{*gap}}
	}
	out := renderChart(ctx, at, own, set, &seenTexts{})
	out.objects = slices.DeleteFunc(out.objects, func(o *source.Object) bool {
		switch o.Helm {
		case source.HelmCRD:
			return !h.spec.IncludeCRDs
		case source.HelmHook:
			return h.spec.SkipHooks
		case source.HelmTest:
			return h.spec.SkipHooks || h.spec.SkipTests
		}
		return false
	})
	out.files = slices.DeleteFunc(out.files, func(f *source.File) bool { return f == inlined })
	for _, o := range out.objects {
		// The namespace is the release's only for Helm; kustomize sees what is
		// written.
		o.Namespace, _ = asMap(o.Tree["metadata"])["namespace"].(string)
		if h.at != t {
			entry := h.in.origin.Locate(source.Ref{Pointer: h.pointer("name")}).Primary
			o.Origin = copiedOrigin{o.Origin, []givenCopy{{h.at.display(h.dir) + "/", entry}}}
		}
	}
	return out
}

// inlineFile returns the file of the entry as one of the values that it gives the
// chart: all else is blank, so that every value stands where it is written. It is
// nil where the values cannot be told apart so.
func (h kustHelm) inlineFile() *source.File {
	n, keys := h.in, h.path("valuesInline")
	if len(h.spec.ValuesInline) == 0 || !n.has(keys...) {
		return nil
	}
	at := n.field(keys...)
	start, end := n.doc.start(at), n.doc.end(at)
	var b strings.Builder
	for i, r := range n.file.Text() {
		switch {
		case r == '\n', i >= start && i < end:
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	var read map[string]any
	if err := sigsyaml.Unmarshal([]byte(b.String()), &read); err != nil || !equalAsJSON(read, h.spec.ValuesInline) {
		return nil
	}
	return source.NewFile(n.file.Path(), b.String())
}

func equalAsJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// resourceName is the file that stands for the entry in the build.
func (h kustHelm) resourceName() string { return fmt.Sprintf(".helm-chart-%d.yaml", h.index) }

// resource writes objects as a resource file.
func resource(objects []*source.Object) ([]byte, error) {
	var b bytes.Buffer
	for _, o := range objects {
		text, err := json.Marshal(o.Tree)
		if err != nil {
			return nil, fmt.Errorf("writing %s %s: %w", o.Kind, o.Name, err)
		}
		b.WriteString("---\n")
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// renderHelm renders the charts of all kustomizations of a graph.
func renderHelm(ctx context.Context, t *tree, g *kustGraph, opts Options) (map[*kustNode][][]*source.Object, rendered) {
	var out rendered
	objects := map[*kustNode][][]*source.Object{}
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		for _, h := range n.helm {
			if h.missing {
				objects[n] = append(objects[n], nil)
				continue
			}
			r := h.render(ctx, t, opts)
			objects[n] = append(objects[n], r.objects)
			out.gaps = append(out.gaps, r.gaps...)
			out.files = append(out.files, r.files...)
			out.used = append(out.used, r.used...)
		}
	}
	return objects, out
}
