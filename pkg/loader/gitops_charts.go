package loader

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

var errNotChart = errors.New("is no chart: it is neither a directory with a Chart.yaml nor a packed chart")

// openCharts finds the charts of Options.Charts.
func (l *load) openCharts() error {
	for _, name := range sortedKeys(l.opts.Charts) {
		t, err := l.target(l.opts.Charts[name])
		if err != nil {
			return err
		}
		if _, ok := chartMeta(t.scan.t, t.path, l.opts.Limits); !ok {
			return &PathError{Path: l.opts.Charts[name], Err: errNotChart}
		}
		l.opts.charts[name] = t
	}
	return nil
}

// chartName is what a chart says it is.
type chartName struct{ name, version string }

// chartMeta reads the name of the chart at a tree path, a directory or an
// archive; ok is false when there is none.
func chartMeta(t *tree, name string, limits Limits) (meta chartName, ok bool) {
	text := ""
	if isArchiveName(name) && t.isFile(name) {
		files, err := readArchive(t, name, limits)
		if err != nil {
			return chartName{}, false
		}
		for _, f := range files {
			if f.name == "Chart.yaml" {
				text = f.text
			}
		}
	} else {
		f, err := t.readFile(path.Join(name, "Chart.yaml"))
		if err != nil {
			return chartName{}, false
		}
		text = f.Text()
	}
	var m map[string]any
	if sigsyaml.Unmarshal([]byte(text), &m) != nil {
		return chartName{}, false
	}
	meta.name, _ = m["name"].(string)
	meta.version = scalarText(m["version"])
	return meta, meta.name != ""
}

// findChart finds the chart of a release: the one that the user names, a path
// of the repository, or the only one of its name in the tree. found is false
// when there is none; why says so, "" when the reason is a gap already.
func (g *gitops) findChart(r *release) (at chartAt, why string, found bool) {
	c := r.chart
	limits := g.l.opts.Limits
	open := func(place chartPlace) (chartAt, string, bool) {
		at, gap := g.l.opts.shelf.open(place.scan.t, place.dir, limits)
		if gap != nil {
			return at, gap.Why, false
		}
		g.mu.Lock()
		g.claimed[place] = true
		g.mu.Unlock()
		return at, "", true
	}
	if t, ok := g.charts[c.name]; ok && c.name != "" {
		return open(chartPlace{t.scan, t.path})
	}
	give := "give a copy of it with --chart " + c.name + "=PATH"
	switch {
	case c.unknown != "" && c.name == "":
		return at, c.unknown + "; it can be rendered once its name is known", false
	case c.unknown != "":
		return at, c.unknown + "; " + give, false
	case c.path != "":
		dir := path.Clean(strings.TrimPrefix(c.path, "/"))
		if r.scan != nil && filepath.IsLocal(filepath.FromSlash(dir)) {
			if _, ok := chartMeta(r.scan.t, dir, limits); ok {
				return open(chartPlace{r.scan, dir})
			}
		}
		return at, fmt.Sprintf("this tree has no chart at %s; %s", c.path, give), false
	}
	places, others := g.chartsNamed(r)
	switch {
	case len(places) == 1:
		return open(places[0])
	case len(places) > 1:
		shown := make([]string, len(places))
		for i, p := range places {
			shown[i] = p.scan.t.display(p.dir)
		}
		return at, fmt.Sprintf("the tree holds it at %s, and which of them is meant is not known; say so with --chart %s=PATH", strings.Join(shown, " and "), c.name), false
	case len(others) > 0:
		return at, fmt.Sprintf("nothing is downloaded, and the tree has another version, %s; %s", strings.Join(others, ", "), give), false
	}
	return at, c.notDownloaded(), false
}

// notDownloaded says that a chart is missing for no reason of its own.
func (c chartRef) notDownloaded() string {
	return "nothing is downloaded; give a copy of it with --chart " + c.name + "=PATH"
}

// chartsNamed returns the places of the tree with the chart that a release
// names, and, where there is none, those with another version of it.
func (g *gitops) chartsNamed(r *release) (places []chartPlace, others []string) {
	if r.scan == nil {
		return nil, nil
	}
	t := r.scan.t
	dirs := map[string]bool{}
	for dir := range r.scan.charts {
		dirs[dir] = true
	}
	// Also beside the paths that were named.
	if home, ok := t.rel(g.l.opts.abs(filepath.FromSlash(r.object.Unit))); ok {
		for d := home; ; d = path.Dir(d) {
			for _, below := range []string{d, path.Join(d, "charts")} {
				if t.isFile(path.Join(d, "Chart.yaml")) {
					continue // these are parts of the chart at d
				}
				for dir := range g.chartsIn(t, below, r.chart.name) {
					dirs[dir] = true
				}
			}
			if d == "." {
				break
			}
		}
	}
	for _, dir := range sortedKeys(dirs) {
		meta, ok := chartMeta(t, dir, g.l.opts.Limits)
		switch {
		case !ok || meta.name != r.chart.name:
		case !satisfies(r.chart.version, meta.version):
			others = append(others, meta.version+" at "+t.display(dir))
		default:
			places = append(places, chartPlace{r.scan, dir})
		}
	}
	return places, others
}

// chartsIn returns the chart NAME and the archives NAME.tgz and NAME-*.tgz of a
// directory.
func (g *gitops) chartsIn(t *tree, dir, name string) map[string]bool {
	out := map[string]bool{}
	if path.Base(dir) == "charts" && t.isFile(path.Join(dir, name, "Chart.yaml")) {
		out[path.Join(dir, name)] = true
	}
	entries, err := t.readDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		base := e.Name()
		if isArchiveName(base) && (strings.HasPrefix(base, name+".") || strings.HasPrefix(base, name+"-")) {
			out[path.Join(dir, base)] = true
		}
	}
	return out
}

// satisfies reports whether a version is in the range that a release asks for.
func satisfies(want, version string) bool {
	if want == "" || want == "*" || !isPlain(want) {
		return true
	}
	want, _, _ = strings.Cut(want, "@") // a digest after the tag
	return want == version || chartutil.IsCompatibleRange(want, version)
}

// renderRelease renders a release's chart with its values.
func (g *gitops) renderRelease(ctx context.Context, r *release, at chartAt) []*source.Object {
	opts := g.l.opts
	name, namespace := r.name, r.namespace
	if strings.Contains(name, "{{") {
		name = "" // what stands for it would not be YAML
	}
	if strings.Contains(namespace, "{{") {
		namespace = ""
	}
	out := renderChart(ctx, at, Options{
		Dir: opts.Dir, Limits: opts.Limits, children: opts.children, shelf: opts.shelf, KubeVersion: opts.KubeVersion, APIVersions: opts.APIVersions,
		ReleaseName: name, Namespace: namespace,
	}, valueSet{name: DefaultSet, release: r.values, override: opts.Overrides[r.key()]}, &seenTexts{})
	if out.values != nil {
		out.values.Path, out.values.Unit, out.values.release = r.key(), r.object.Unit, r
	}
	g.addFiles(out.files)
	for _, gap := range out.gaps {
		if archive := at.archive(); archive != "" {
			gap = packedGap(archive, gap)
		}
		if r.values.unseen != "" && gap.Kind == finding.Unreadable {
			// With all its values it may well render.
			gap.Kind = finding.Unresolved
		}
		g.mu.Lock()
		g.charted = append(g.charted, chartedGap{gap, r.kind + " " + r.object.Name})
		g.mu.Unlock()
	}
	var shaped []*source.Object
	top := given{val: withoutNulls(r.values.merged), ok: true}
	kind, major := familyOf(r.chart, top)
	r.misspelt(kind, asMap(top.val))
	if kind == newer {
		// The library's templates emit everything through one include: where a
		// field comes from is known from what the chart makes of its values.
		s := &shaper{rel: r, values: top, major: major}
		if major == 2 {
			s.values.val = laid(newerDefaults(), asMap(top.val))
		}
		s.appTemplate()
		shaped = s.objects
	}
	inTree := at.archive() == "" && r.scan != nil && at.t == r.scan.t
	var objects []*source.Object
	for _, o := range out.objects {
		if o.Helm == source.HelmCRD && !r.crds {
			continue
		}
		o.Unit, o.Input, o.ValueSets = r.object.Unit, r.object.Input, r.object.ValueSets
		origin := &releaseOrigin{inner: o.Origin, object: o, release: r, chart: out.values, inTree: inTree}
		for _, s := range shaped {
			if s.Kind == o.Kind && s.Name == o.Name {
				origin.shape = s
			}
		}
		o.Origin = origin
		if r.values.unseen != "" {
			o.Unseen = []string{""}
		}
		if namespace == "" && o.Namespace == defaultNamespace {
			withoutNamespace(o)
		}
		objects = append(objects, o)
	}
	return objects
}

// defaultNamespace is what Helm takes where nobody names a namespace.
const defaultNamespace = "default"

// withoutNamespace takes a namespace away that stands for one that is not known.
func withoutNamespace(o *source.Object) {
	o.Namespace = ""
	if meta := asMap(o.Tree["metadata"]); meta["namespace"] == defaultNamespace {
		delete(meta, "namespace")
	}
}

// releaseOrigin is the Origin of an object that a release's chart rendered: it
// leads to the value of the release where one decides, else to the template.
type releaseOrigin struct {
	inner   source.Origin
	object  *source.Object
	release *release
	// chart are the values that it was rendered with.
	chart *ChartValues
	// shape is the same object as its values' shape tells it, nil for charts whose
	// values are not known by shape.
	shape  *source.Object
	inTree bool
}

// Locate implements source.Origin.
func (o *releaseOrigin) Locate(r source.Ref) source.Provenance {
	p := o.inner.Locate(r)
	tokens := source.PointerTokens(r.Pointer)
	final, depth := walkTokens(o.object.Tree, tokens)
	if o.shape != nil {
		if at, v, ok := mapPath(o.object.Tree, o.shape.Tree, tokens[:depth]); ok && (isCollection(final) || reflect.DeepEqual(v, final)) {
			q := o.shape.Origin.Locate(ref(append(at, tokens[depth:]...), r))
			return o.at(p, q.Primary)
		}
	}
	for _, v := range p.Values {
		if v.At.File == "" || !o.sets(v) {
			continue
		}
		at := v.At
		if p.Primary.Precision != source.Exact {
			at.Precision = at.Precision.Worse(source.Action)
		}
		if r.End > 0 {
			at.Precision = at.Precision.Worse(source.Parent)
			path := dottedPath(v.Path)
			if text, ok := descend(o.release.values.merged, path); ok && depth == len(tokens) && reflect.DeepEqual(text, final) {
				at = o.release.values.locate(path, r).Primary
			}
		}
		return o.at(p, at)
	}
	if o.inTree {
		p.Via = append(slices.Clip(p.Via), source.Note{At: o.release.locate(o.release.chart.at), Says: "rendered for this " + o.release.kind})
		return p
	}
	at := o.release.values.top().Primary
	at.Precision = at.Precision.Worse(source.Parent)
	return o.at(p, at)
}

// sets reports whether a value was set by the release.
func (o *releaseOrigin) sets(v source.ValueRef) bool {
	return slices.ContainsFunc(o.release.values.layers, func(l releaseLayer) bool { return l.by == v.By })
}

// at moves a provenance to a place of the release.
func (o *releaseOrigin) at(p source.Provenance, at source.Location) source.Provenance {
	if o.inTree {
		p.Via = append(slices.Clip(p.Via), source.Note{At: p.Primary, Says: "written by this template"})
	}
	p.Primary = at
	return p
}
