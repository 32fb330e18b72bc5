package loader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template/parse"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// This file and its neighbours (helm_*.go, values.go) are all that knows Helm's
// library. What it may do is kept small: no DNS, no lookup, no network, no file
// beside those of the tree and the values files that the user names.
//
// Helm writes warnings ("cannot overwrite table ...") to the standard logger of
// package log. A library has no business in redirecting that for the whole
// process while others may write to it; the program's main function does, once,
// before anything runs.

// renderChart renders the chart in the tree's directory dir with one set of
// values and those of opts, and reads its objects. What cannot be rendered is a
// gap; the templates around it are rendered all the same. seen holds what
// earlier sets of the chart came to, and what this one does is added: texts that
// are the same are read once.
//
// Helm's engine knows neither contexts nor limits. A render that outlives its
// time is abandoned: its goroutine runs on until the engine returns, which costs
// memory and a core but nothing else, for all that it reads is its own.
func renderChart(ctx context.Context, at chartAt, opts Options, set valueSet, seen *seenTexts) rendered {
	limits := opts.Limits.withDefaults()
	within := time.Duration(limits.RenderSeconds) * time.Second
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	failed := func(why string) rendered {
		return rendered{gaps: []finding.Gap{chartGap(at.t, at.dir, why)}, used: []string{path.Join(at.dir, "Chart.yaml")}}
	}
	done := make(chan rendered, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- failed(fmt.Sprintf("Helm's library gave up: %v", r))
			}
		}()
		run := &chartRun{ctx: ctx, t: at.t, dir: at.dir, at: at, opts: opts, limits: limits, set: set, seen: seen, engine: ownEngine{limits}}
		if run.shared = at.readings; run.shared == nil {
			run.shared = newChartReadings()
		}
		if opts.children != nil {
			run.engine = &childEngine{ctx: ctx, children: opts.children}
		}
		done <- run.render()
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return failed(fmt.Sprintf("it took longer than %s; look for a loop or a huge repeat in its templates, or raise --limit-render-seconds", within))
		}
		return failed("the run was stopped")
	}
}

// chartGap says that a chart could not be rendered at all.
func chartGap(t *tree, dir, why string) finding.Gap {
	return finding.Gap{
		Kind: finding.Unreadable, File: t.display(path.Join(dir, "Chart.yaml")), Line: 1,
		What: "the chart was not rendered", Why: why, Consequence: "none of the chart's objects were checked",
	}
}

// chartRun renders one chart.
type chartRun struct {
	ctx    context.Context
	t      *tree
	dir    string
	opts   Options
	limits Limits
	at     chartAt
	set    valueSet
	seen   *seenTexts
	shared *chartReadings
	engine chartEngine

	loaded  *loadedChart
	user    *userValues
	caps    *chartutil.Capabilities
	release chartutil.ReleaseOptions
	layers  []*valueLayer
	entries map[string]*templateEntry // by the engine's name for them
	printer *twinPrinter
	lacking bool // a dependency that is on is not there
	out     rendered
}

// templateEntry is one template as the engine names it: a chart that is used
// under two aliases has its templates twice.
type templateEntry struct {
	key    string
	chart  *chart.Chart
	index  int // in chart.Templates
	file   *source.File
	fixed  *source.Location
	prefix []string // of the chart's values
	// parsed is nil for a template without a twin.
	parsed *templateFile
	twin   string // the engine's name for the twin, "" when there is none
	// deep: the twin prints marked copies of defines.
	deep bool
	// events are those of the last render, strayed is why there are none.
	events  []event
	strayed error
	// left says that the template failed and is left out.
	left bool
}

func (e *templateEntry) partial() bool { return strings.HasPrefix(path.Base(e.key), "_") }
func (e *templateEntry) notes() bool   { return strings.HasSuffix(e.key, "NOTES.txt") }

func (r *chartRun) gap(g finding.Gap) { r.out.gaps = append(r.out.gaps, g) }

func (r *chartRun) fail(why string) rendered {
	r.gap(chartGap(r.t, r.dir, why))
	return r.out
}

func (r *chartRun) render() rendered {
	read := r.shared.chart(r.ctx, r.at, r.limits)
	r.out.used = append(r.out.used, read.used...)
	r.out.gaps = append(r.out.gaps, read.gaps...)
	if read.err != nil {
		return r.fail(read.err.Error())
	}
	c := copyChart(read.loaded.chart)
	r.loaded = &loadedChart{chart: c, sources: read.loaded.sources, files: read.loaded.files}
	if strings.EqualFold(c.Metadata.Type, "library") {
		return r.out // it has no objects of its own; charts that use it are rendered with it
	}
	user, gap := readUserValues(r.opts, r.set, r.limits)
	if gap != nil {
		r.gap(*gap)
		return r.out
	}
	r.user = user
	if err := r.prepare(c); err != nil {
		return r.fail(err.Error())
	}
	values, err := r.values()
	if err != nil {
		return r.fail(err.Error())
	}
	r.layers = r.valueLayers(c)
	scope := r.scope(c, nil, values)
	r.out.values = &ChartValues{Unit: r.at.unit(), Set: r.set.name, Name: c.Name(), Tree: scope.values, scope: scope}
	r.out.gaps = append(r.out.gaps, checkSchemas(c, scope, r.loaded)...)
	r.missingDependencies(c)
	r.collect(c, nil)
	r.addTwins()
	texts, values, ok := r.execute(values)
	if ok && r.shallow(r.align(texts)) {
		if values, err = r.values(); err != nil {
			return r.fail(err.Error())
		}
		if texts, values, ok = r.execute(values); ok {
			r.align(texts)
		}
	}
	if ok {
		r.readOnce(texts, r.scope(c, nil, values))
	}
	r.collectFiles()
	return r.out
}

// prepare sets what the templates see beside the values, and lets Helm decide
// which dependencies are on.
func (r *chartRun) prepare(c *chart.Chart) error {
	version := r.opts.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return fmt.Errorf("the Kubernetes version %q cannot be read: %w", version, err)
	}
	r.caps = chartutil.DefaultCapabilities.Copy()
	r.caps.KubeVersion = *kube
	r.caps.APIVersions = append(slices.Clone(r.caps.APIVersions), r.opts.APIVersions...)
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, kube.Version) {
		r.gap(finding.Gap{
			Kind: finding.Unmodelled, File: r.t.display(path.Join(r.dir, "Chart.yaml")), Line: 1,
			What:        fmt.Sprintf("the chart wants Kubernetes %s and was rendered for %s", want, kube.Version),
			Why:         "helm refuses to install it there; name the cluster's version with --kube-version",
			Consequence: "what was checked may differ from what that cluster gets",
		})
	}
	r.release = chartutil.ReleaseOptions{Name: r.opts.ReleaseName, Namespace: r.opts.Namespace, Revision: 1, IsInstall: true}
	if r.release.Name == "" {
		r.release.Name = c.Name()
	}
	if r.release.Namespace == "" {
		r.release.Namespace = defaultNamespace
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, r.user.merged); err != nil {
		return fmt.Errorf("working out its dependencies: %w", err)
	}
	return nil
}

// values makes the templates' top context anew: templates can write to it.
func (r *chartRun) values() (chartutil.Values, error) {
	v, err := chartutil.ToRenderValuesWithSchemaValidation(r.loaded.chart, r.user.merged, r.release, r.caps, true)
	if err != nil {
		return nil, fmt.Errorf("working out its values: %w", err)
	}
	return v, nil
}

// valueLayers lists who sets values, the one that wins first: --set, the last
// values file to the first, the chart, its subcharts.
func (r *chartRun) valueLayers(c *chart.Chart) []*valueLayer {
	layers := slices.Clone(r.user.layers)
	var visit func(c *chart.Chart, prefix []string)
	visit = func(c *chart.Chart, prefix []string) {
		src := r.loaded.sourceOf(c)
		if f := src.files["values.yaml"]; f != nil {
			layers = append(layers, &valueLayer{prefix: prefix, file: f, fixed: src.fixed, parsed: r.shared.valuesOf(f)})
		}
		for _, sub := range c.Dependencies() {
			visit(sub, append(slices.Clone(prefix), sub.Name()))
		}
	}
	visit(c, nil)
	// Parents before their children's children.
	sort.SliceStable(layers, func(i, j int) bool { return len(layers[i].prefix) < len(layers[j].prefix) })
	return layers
}

// scope is what the chart's templates see as .Values.
func (r *chartRun) scope(c *chart.Chart, prefix []string, top chartutil.Values) *valueScope {
	s := &valueScope{prefix: prefix, values: plainMap(top["Values"]), layers: r.layers}
	s.addImports(c, r.loaded)
	s.subs = map[string]*valueScope{}
	for _, sub := range c.Dependencies() {
		inner := chartutil.Values{"Values": s.values[sub.Name()]}
		s.subs[sub.Name()] = r.scope(sub, append(slices.Clone(prefix), sub.Name()), inner)
	}
	for _, d := range r.loaded.sourceOf(c).listed {
		if sub := s.subs[d.called()]; sub != nil {
			sub.switchedBy(s, d)
		}
	}
	return s
}

// switchedBy notes the condition under which the parent brings the chart in, of
// several the first that is set.
func (s *valueScope) switchedBy(parent *valueScope, d dependency) {
	for _, path := range d.condition {
		if v, _ := descend(parent.values, path); v == nil {
			continue
		}
		s.addSwitch(source.Guard{At: d.conditionAt, Reads: []source.ValueRef{parent.ref(path)}, Taken: true})
		return
	}
}

// addSwitch gives a condition to the chart and to all that it brings.
func (s *valueScope) addSwitch(g source.Guard) {
	s.switches = append([]source.Guard{g}, s.switches...)
	for _, sub := range s.subs {
		sub.addSwitch(g)
	}
}

func plainMap(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case chartutil.Values:
		return v
	}
	return map[string]any{}
}

// addImports records which of the chart's values come from its dependencies.
func (s *valueScope) addImports(c *chart.Chart, l *loadedChart) {
	split := func(v any) []string {
		text, ok := v.(string)
		if !ok || text == "." || text == "" {
			return nil
		}
		return strings.Split(text, ".")
	}
	for _, d := range l.sourceOf(c).listed {
		for _, im := range d.imports {
			switch im := im.(type) {
			case string:
				s.imports = append(s.imports, valueImport{child: append([]string{d.called(), "exports"}, split(im)...)})
			case map[string]any:
				s.imports = append(s.imports, valueImport{parent: split(im["parent"]), child: append([]string{d.called()}, split(im["child"])...)})
			}
		}
	}
}

// missingDependencies reports dependencies that are on but not in charts/.
func (r *chartRun) missingDependencies(c *chart.Chart) {
	have := map[string]bool{}
	for _, sub := range c.Dependencies() {
		have[sub.Name()] = true
	}
	on := map[string]bool{}
	for _, d := range c.Metadata.Dependencies {
		on[d.Name] = true // Helm has put the alias there and taken out what is off
	}
	for _, d := range r.loaded.sourceOf(c).listed {
		if !on[d.called()] || have[d.called()] {
			continue
		}
		name := d.name
		if d.alias != "" {
			name += " (alias " + d.alias + ")"
		}
		r.lacking = true
		r.gap(finding.Gap{
			Kind: finding.Unreadable, File: d.at.File, Line: d.at.Span.Start.Line,
			What:        fmt.Sprintf("the dependency %s %s is not in charts/", name, d.version),
			Why:         "nothing is downloaded; run helm dependency build " + r.t.display(r.dir) + ", or turn the dependency off",
			Consequence: "its objects are missing from this report; the rest of the chart was rendered without it",
		})
	}
	for _, sub := range c.Dependencies() {
		r.missingDependencies(sub)
	}
}

// collect lists the templates that the engine will see, under its names.
func (r *chartRun) collect(c *chart.Chart, prefix []string) {
	if r.entries == nil {
		r.entries = map[string]*templateEntry{}
	}
	for _, sub := range c.Dependencies() {
		r.collect(sub, append(slices.Clone(prefix), sub.Name()))
	}
	library := strings.EqualFold(c.Metadata.Type, "library")
	for i, f := range c.Templates {
		e := &templateEntry{
			key: path.Join(c.ChartFullPath(), f.Name), chart: c, index: i, file: r.loaded.files[f],
			fixed: r.loaded.sourceOf(c).fixed, prefix: prefix,
		}
		if library && !e.partial() || e.file == nil {
			continue
		}
		r.entries[e.key] = e
	}
}

// addTwins gives each template that can make objects its marked twin.
func (r *chartRun) addTwins() {
	for _, e := range r.entries {
		if e.partial() || e.notes() || e.fixed != nil {
			continue
		}
		parsed, err := r.shared.template(e.key, e.file)
		if err != nil || emptyTemplate(parsed) {
			continue // if it is an error, the engine says it better
		}
		e.parsed, e.deep = parsed, true
	}
	r.printTwins()
}

// printTwins writes the twins anew. The engine runs templates in the order of
// their depth, the deepest first, so that twins at the top run after all others;
// their numbers keep the others' order.
func (r *chartRun) printTwins() {
	for _, e := range r.entries {
		e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), isTwin)
	}
	r.printer = &twinPrinter{find: r.defineTrees()}
	keys := engineOrder(slices.Collect(maps.Keys(r.entries)))
	for i, key := range keys {
		e := r.entries[key]
		e.twin = ""
		if e.parsed == nil {
			continue
		}
		text, err := r.printer.twin(e.parsed, key, e.deep)
		if err != nil {
			e.parsed = nil
			r.untraced(e, err)
			continue
		}
		e.twin = fmt.Sprintf("%08d", len(keys)-i)
		addTwin(e.chart, e.twin, text)
	}
	if r.printer.copies.Len() > 0 {
		addTwin(r.loaded.chart, copiesFile, r.printer.copies.String())
	}
}

// copiesFile holds the marked copies of defines; the underscore keeps the engine
// from rendering it by itself.
const copiesFile = "_copies"

// addTwin adds a template that the engine finds under the name alone.
func addTwin(c *chart.Chart, name, text string) {
	up := strings.Repeat("../", 1+strings.Count(c.ChartFullPath(), "/"))
	c.Templates = append(slices.Clip(c.Templates), &chart.File{Name: up + name, Data: []byte(text)})
}

// shallow has the twins of entries leave defines alone, and reports whether one
// did not before.
func (r *chartRun) shallow(entries []*templateEntry) bool {
	changed := false
	for _, e := range entries {
		changed = changed || e.deep
		e.deep = false
	}
	if changed {
		r.printTwins()
	}
	return changed
}

// emptyTemplate reports whether the file holds nothing but defines.
func emptyTemplate(f *templateFile) bool {
	return f.root == nil || len(f.root.Nodes) == 0
}

// engineOrder sorts templates as the engine runs them.
func engineOrder(keys []string) []string {
	sort.Slice(keys, func(i, j int) bool {
		a, b := strings.Count(keys[i], "/"), strings.Count(keys[j], "/")
		if a != b {
			return a > b
		}
		return keys[i] > keys[j]
	})
	return keys
}

// untraced says that places in a template are not known.
func (r *chartRun) untraced(e *templateEntry, err error) {
	r.gap(finding.Gap{
		Kind: finding.Unmodelled, File: e.file.Path(), What: "the lines of this template could not be traced", Why: err.Error(),
		Consequence: "its objects were checked, but findings in them point at the file instead of a line",
	})
}

// execute renders the templates. One that fails is left out, for the engine
// gives nothing at all when any does; each costs a few renders, within the time
// of the chart. It returns the values as they were rendered.
func (r *chartRun) execute(values chartutil.Values) (map[string]string, chartutil.Values, bool) {
	for {
		texts, after, err := r.engine.render(r.loaded.chart, values)
		if err == nil {
			return texts, after, true
		}
		if r.lost(err) {
			return nil, nil, false
		}
		at := readEngineError(err)
		if e := r.twinEntry(at.template); at.template == copiesFile || e != nil && e.deep {
			r.shallow(slices.Collect(maps.Values(r.entries)))
		} else if e != nil {
			// The plain one went through: its objects can still be checked.
			r.dropTwin(e, err)
		} else if e, err := r.culprit(at); r.lost(err) {
			return nil, nil, false
		} else if e != nil {
			if !e.notes() || !r.lacking { // without a chart that it needs nobody installs it
				r.gap(r.explain(at, e, values))
			}
			r.leaveOut(e)
		} else if !r.dropTwins(err) {
			r.gap(chartGap(r.t, r.dir, err.Error()))
			return nil, nil, false
		}
		if values, err = r.values(); err != nil {
			r.gap(chartGap(r.t, r.dir, err.Error()))
			return nil, nil, false
		}
	}
}

// lost reports whether err ends the render; the chart then has a gap, of the
// watchdog if the time is over.
func (r *chartRun) lost(err error) bool {
	if r.ctx.Err() != nil {
		return true
	}
	var lost *lostError
	if !errors.As(err, &lost) {
		return false
	}
	r.gap(chartGap(r.t, r.dir, lost.why))
	return true
}

func (r *chartRun) twinEntry(name string) *templateEntry {
	if name == "" {
		return nil
	}
	for _, e := range r.entries {
		if e.twin == name {
			return e
		}
	}
	return nil
}

// dropTwin gives up tracing a template whose marked copy does not render.
func (r *chartRun) dropTwin(e *templateEntry, err error) {
	r.removeTwin(e)
	r.untraced(e, fmt.Errorf("its marked copy does not render: %w", err))
}

// dropTwins gives up tracing any template; it reports whether there was a twin.
func (r *chartRun) dropTwins(err error) bool {
	dropped := false
	for _, key := range sortedKeys(r.entries) {
		if e := r.entries[key]; e.twin != "" {
			r.dropTwin(e, err)
			dropped = true
		}
	}
	return dropped
}

func (r *chartRun) removeTwin(e *templateEntry) {
	e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), func(f *chart.File) bool {
		return e.twin != "" && isTwin(f) && path.Base(f.Name) == e.twin
	})
	e.twin, e.parsed = "", nil
}

func isTwin(f *chart.File) bool { return strings.HasPrefix(f.Name, "../") }

// culprit finds the template that was being rendered when the engine failed.
// The error names it only when it fails itself; of a define that is reached by
// {{template}} it names the define's file. The engine runs templates in a known
// order and stops at the first that fails: a binary search finds that one.
//
// The error is a *lostError: there was no answer.
func (r *chartRun) culprit(at engineError) (*templateEntry, error) {
	if e := r.entries[at.template]; e != nil && !e.left && (at.parsing || at.itself) {
		return e, nil
	}
	var order []*templateEntry
	for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
		if e := r.entries[key]; !e.partial() && !e.left {
			order = append(order, e)
		}
	}
	var lost *lostError
	i := sort.Search(len(order), func(i int) bool {
		if r.ctx.Err() != nil || lost != nil {
			return false
		}
		err := r.tryWithout(order[i+1:])
		return err != nil && !errors.As(err, &lost)
	})
	switch {
	case lost != nil:
		return nil, lost
	case i == len(order):
		return nil, nil
	}
	return order[i], nil
}

// tryWithout returns the error of the chart when the given templates are left
// out for the time being, and all twins.
func (r *chartRun) tryWithout(out []*templateEntry) error {
	saved := map[*chart.Chart][]*chart.File{}
	for _, e := range r.entries {
		if _, ok := saved[e.chart]; !ok {
			saved[e.chart] = e.chart.Templates
			e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), isTwin)
		}
	}
	defer func() {
		for c, templates := range saved {
			c.Templates = templates
		}
	}()
	for _, e := range out {
		e.chart.Templates[e.index] = e.definesOnly()
	}
	values, err := r.values()
	if err != nil {
		return err
	}
	_, _, err = r.engine.render(r.loaded.chart, values)
	return err
}

// leaveOut takes a template's own text out of the render and leaves its
// defines, which others may include.
func (r *chartRun) leaveOut(e *templateEntry) {
	r.removeTwin(e)
	e.left = true
	e.chart.Templates = slices.Clone(e.chart.Templates)
	e.chart.Templates[e.index] = e.definesOnly()
}

// definesOnly is the template's file with nothing but line breaks outside of its
// defines, so that errors in these keep their lines.
func (e *templateEntry) definesOnly() *chart.File {
	var b strings.Builder
	text, pos := e.file.Text(), 0
	breaks := func(s string) { b.WriteString(strings.Repeat("\n", strings.Count(s, "\n"))) }
	actions := scanActions(text)
	for _, a := range actions {
		if a.word == "define" && a.next >= 0 && a.start >= pos {
			breaks(text[pos:a.start])
			pos = actions[a.next].end
			b.WriteString(text[a.start:pos])
		}
	}
	breaks(text[pos:])
	return &chart.File{Name: e.chart.Templates[e.index].Name, Data: []byte(b.String())}
}

// readOnce reads the objects of the rendered texts unless an earlier value set
// came to the same ones: then its objects stand for both.
func (r *chartRun) readOnce(texts map[string]string, root *valueScope) {
	sum := sha256.New()
	for _, key := range sortedKeys(r.entries) {
		if text, ok := texts[key]; ok && !r.entries[key].left {
			fmt.Fprintf(sum, "%d %s %d %s", len(key), key, len(text), text)
		}
	}
	digest := string(sum.Sum(nil))
	before := len(r.out.gaps)
	if earlier, ok := r.seen.get(digest); ok {
		r.out.objects = earlier.objects
		r.out.gaps = append(r.out.gaps, earlier.gaps...)
		return
	}
	r.read(texts, root)
	r.seen.put(digest, rendered{objects: r.out.objects, gaps: slices.Clone(r.out.gaps[before:])})
}

// seenTexts remembers what the texts of a chart's value sets came to. A render
// that was abandoned may still write to it.
type seenTexts struct {
	mu       sync.Mutex
	byDigest map[string]rendered
}

func (s *seenTexts) get(digest string) (rendered, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byDigest[digest]
	return r, ok
}

func (s *seenTexts) put(digest string, r rendered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDigest == nil {
		s.byDigest = map[string]rendered{}
	}
	s.byDigest[digest] = r
}

// read reads the objects of the rendered texts and of the crds directories.
func (r *chartRun) read(texts map[string]string, root *valueScope) {
	u := unit{kind: source.Chart, dir: r.at.unit(), namespace: r.release.Namespace}
	defines := r.defines()
	for _, key := range sortedKeys(r.entries) {
		e := r.entries[key]
		text, ok := texts[key]
		if !ok || e.left || e.notes() || isBlankText(text) {
			continue
		}
		r.decode(source.NewFile(e.file.Path(), text), r.mapOf(e, text, root, defines), u)
	}
	u.crds = true
	for _, crd := range r.loaded.chart.CRDObjects() {
		file := r.loaded.files[crd.File]
		if file == nil {
			continue
		}
		var m textMap = identity{file}
		if fixed := r.fixedOf(crd.File); fixed != nil {
			m = fixedMap{*fixed}
		}
		r.decode(file, m, u)
	}
}

func (r *chartRun) decode(f *source.File, m textMap, u unit) {
	objects, gaps := decodeObjects(r.ctx, f, m, u, r.limits)
	if archive := r.at.archive(); archive != "" {
		for _, o := range objects {
			o.Origin = packedOrigin{inner: o.Origin, archive: archive}
		}
	}
	r.out.objects = append(r.out.objects, objects...)
	r.out.gaps = append(r.out.gaps, gaps...)
}

// fixedOf returns the replacement location of the chart that holds a file.
func (r *chartRun) fixedOf(f *chart.File) *source.Location {
	var found *source.Location
	var visit func(c *chart.Chart)
	visit = func(c *chart.Chart) {
		if slices.Contains(c.Files, f) {
			found = r.loaded.sourceOf(c).fixed
		}
		for _, sub := range c.Dependencies() {
			visit(sub)
		}
	}
	visit(r.loaded.chart)
	return found
}

// mapOf finds how a rendered text leads back to its template.
func (r *chartRun) mapOf(e *templateEntry, plain string, root *valueScope, defines func(string) (source.Location, bool)) textMap {
	if e.fixed != nil {
		return fixedMap{*e.fixed}
	}
	if e.parsed != nil {
		if e.strayed == nil {
			return &templateMap{file: e.file, marks: r.printer.marks, plain: plain, events: e.events, scope: root.at(e.prefix), defines: defines,
				trees: r.printer.find, files: r.filesOf(e)}
		}
		r.untraced(e, e.strayed)
	}
	return fixedMap{documentLocation(e.file)}
}

// align reads the places of a render and returns the templates whose deep twins
// came to something else.
func (r *chartRun) align(texts map[string]string) []*templateEntry {
	var strayed []*templateEntry
	for _, e := range r.entries {
		if e.parsed == nil {
			continue
		}
		if e.events, e.strayed = r.printer.align(texts[e.key], texts[e.twin]); e.strayed != nil && e.deep {
			strayed = append(strayed, e)
		}
	}
	return strayed
}

// filesOf lists the files that a template finds under .Files.
func (r *chartRun) filesOf(e *templateEntry) func() map[string]*source.File {
	return sync.OnceValue(func() map[string]*source.File {
		out := map[string]*source.File{}
		for _, f := range e.chart.Files {
			if known := r.loaded.files[f]; known != nil {
				out[f.Name] = known
			}
		}
		return out
	})
}

// documentLocation points at a template's only document, or at the file.
func documentLocation(f *source.File) source.Location {
	at := source.Location{File: f.Path(), Span: f.Span(0, 0), Precision: source.WholeFile}
	if i := strings.Index(f.Text(), "apiVersion:"); i >= 0 && strings.Count(f.Text(), "apiVersion:") == 1 {
		at.Span, at.Precision = f.Span(i, i+len("apiVersion:")), source.WholeObject
	}
	return at
}

// fixedMap is the textMap of a text whose lines are not known or cannot be
// shown.
type fixedMap struct{ at source.Location }

func (m fixedMap) Map(int, int) source.Provenance { return source.Provenance{Primary: m.at} }
func (fixedMap) Absent(int, int) []source.Guard   { return nil }

// defineTrees finds the trees of the defines that the engine uses: of several of
// one name, the one that it parsed last.
func (r *chartRun) defineTrees() func(string) (*templateFile, *parse.Tree, bool) {
	byName := sync.OnceValue(func() map[string]*templateEntry {
		out := map[string]*templateEntry{}
		for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
			e := r.entries[key]
			for _, d := range r.shared.definesOf(e.file) {
				out[d.name] = e
			}
		}
		return out
	})
	return func(name string) (*templateFile, *parse.Tree, bool) {
		e := byName()[name]
		if e == nil || e.fixed != nil {
			return nil, nil, false
		}
		f, err := r.shared.template(e.key, e.file)
		if err != nil {
			return nil, nil, false
		}
		tree := f.trees[name]
		// An empty define does not replace an earlier one of its name.
		return f, tree, tree != nil && tree.Root != nil && !parse.IsEmptyTree(tree.Root)
	}
}

// defines finds where a define that the engine knows was written: of several,
// the one that it parsed last.
func (r *chartRun) defines() func(string) (source.Location, bool) {
	find := sync.OnceValue(func() map[string]source.Location {
		out := map[string]source.Location{}
		for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
			e := r.entries[key]
			for _, d := range r.shared.definesOf(e.file) {
				at := source.Location{File: e.file.Path(), Span: e.file.Span(d.start, d.end), Precision: source.Exact}
				if e.fixed != nil {
					at = *e.fixed
				}
				out[d.name] = at
			}
		}
		return out
	})
	return func(name string) (source.Location, bool) {
		at, ok := find()[name]
		return at, ok
	}
}

// collectFiles lists the texts that locations may point into.
func (r *chartRun) collectFiles() {
	seen := map[string]bool{}
	add := func(f *source.File) {
		if f != nil && !seen[f.Path()] {
			seen[f.Path()] = true
			r.out.files = append(r.out.files, f)
		}
	}
	for _, src := range r.loaded.sources {
		if src.fixed != nil || r.at.packed != nil {
			continue // not a file that can be shown
		}
		reads := readsFiles(src)
		for name, f := range src.files {
			if reads || strings.HasPrefix(name, "templates/") || strings.HasPrefix(name, "crds/") || path.Dir(name) == "." && path.Ext(name) == ".yaml" {
				add(f)
			}
		}
	}
	for _, f := range r.user.files {
		add(f)
	}
	sort.Slice(r.out.files, func(i, j int) bool { return r.out.files[i].Path() < r.out.files[j].Path() })
}

// readsFiles reports whether a template of the chart may print the chart's files.
func readsFiles(src *chartSource) bool {
	for name, f := range src.files {
		if strings.HasPrefix(name, "templates/") && strings.Contains(f.Text(), ".Files") {
			return true
		}
	}
	return false
}
