package loader

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Flux and Argo CD objects say what a cluster applies: a chart with values, a
// directory with variables. What they stand for joins the objects of the input
// that holds them, so that it belongs to the same cluster.

// gitops is what is known of the GitOps objects of a run, and of what they
// refer to.
type gitops struct {
	l       *load
	objects map[objectName][]homed
	// charts are those that --chart names.
	charts map[string]target

	// inputs are the places of the run's inputs.
	inputs []chartPlace

	mu      sync.Mutex
	read    map[chartPlace]bool // directories that Applications deploy
	claimed map[chartPlace]bool
	missing []missingChart
	gaps    []finding.Gap
	charted []chartedGap
	alike   []likeGap
	files   map[string]*source.File
}

// objectName finds an object. The namespace is as written, "" for none.
type objectName struct{ kind, name string }

// homed is an object and the tree that it was read from, nil for standard input.
type homed struct {
	*source.Object
	scan *treeScan
}

// chartPlace is a chart of a tree.
type chartPlace struct {
	scan *treeScan
	dir  string
}

// release is a chart that a GitOps object installs.
type release struct {
	object *source.Object
	scan   *treeScan
	// name and namespace of Helm's release.
	name, namespace string
	chart           chartRef
	values          *releaseValues
	// crds: the chart's crds directory is installed.
	crds    bool
	patches []kustomizeChange
	// open: the chart may set what its values do not say.
	open bool
	// kind is what people call the object, "HelmRelease".
	kind string
	gaps []finding.Gap
}

// chartRef is how a release names its chart.
type chartRef struct {
	name, version, repository string
	// path is a directory or archive of a git repository, "" for a chart of a
	// chart repository.
	path string
	// at is the pointer of the name in the release's object.
	at string
	// why the name is not known.
	unknown string
}

// title is the chart as people write it, "" when it has no name.
func (c chartRef) title() string {
	name := cmp.Or(c.name, c.path)
	if name != "" && c.version != "" && isPlain(c.version) {
		name += " " + c.version
	}
	return name
}

// missingChart is a chart that a release names and the tree does not hold.
type missingChart struct {
	name, title, why string
	// read says what was learned of the values all the same, reads what was of those
	// of several plain ones.
	read, reads string
	// plain: nothing is special about it, neither why it is missing nor its values,
	// which say nothing of a VPN.
	plain bool
	// kind of the gap.
	kind finding.GapKind
	file string
	line int
}

func (r *release) locate(pointer string) source.Location {
	return r.object.Origin.Locate(source.Ref{Object: r.object.ID, Pointer: pointer}).Primary
}

// gap records what is not known of the release, once: a Secret of which it takes
// twenty values is one cause.
func (r *release) gap(kind finding.GapKind, pointer, what, why, consequence string) {
	if slices.ContainsFunc(r.gaps, func(g finding.Gap) bool { return g.What == what && g.Why == why }) {
		return
	}
	at := r.locate(pointer)
	r.gaps = append(r.gaps, finding.Gap{Kind: kind, File: at.File, Line: at.Span.Start.Line, What: what, Why: why, Consequence: consequence})
}

// expand replaces what GitOps objects change and adds what they stand for.
func (l *load) expand(ctx context.Context, jobs []job, outcomes []outcome) []outcome {
	g := &gitops{l: l, claimed: map[chartPlace]bool{}, read: map[chartPlace]bool{}, files: map[string]*source.File{}, charts: l.opts.charts}
	g.index(jobs, outcomes)
	if !g.any() {
		return outcomes
	}
	for _, j := range jobs {
		if j.scan != nil {
			g.inputs = append(g.inputs, chartPlace{j.scan, j.dir})
		}
	}
	g.substitute(ctx, jobs, outcomes)
	g.applyApplications(ctx, jobs, objectLists(jobs, outcomes))
	g.index(jobs, outcomes)
	lists := objectLists(jobs, outcomes)
	more := make([][]*source.Object, len(lists))
	workers := l.opts.Workers
	if g.deploysDirectories() {
		workers = 1 // two Applications may deploy one directory: the first has it
	}
	parallel(ctx, len(lists), workers, func(i int) {
		for _, o := range *lists[i].objects {
			more[i] = append(more[i], g.standsFor(ctx, homed{o, lists[i].scan}, 0)...)
		}
	})
	for i, list := range lists {
		if len(more[i]) > 0 {
			*list.objects = slices.Concat(*list.objects, more[i])
		}
	}
	out := outcome{rendered: rendered{gaps: slices.Concat(g.gaps, g.likeGaps(), g.missingCharts(), g.chartGaps())}, added: true}
	for _, name := range sortedKeys(g.files) {
		out.files = append(out.files, g.files[name])
	}
	for i, j := range jobs {
		if j.kind == source.Chart && g.claimed[chartPlace{j.scan, j.dir}] {
			// It is rendered with the values of its release.
			outcomes[i] = outcome{added: true, rendered: rendered{files: outcomes[i].files}}
		}
	}
	return append(outcomes, out)
}

// objectList is a list of objects that reaches the facts together.
type objectList struct {
	objects *[]*source.Object
	scan    *treeScan
	job     int
}

// objectLists returns the lists of all outcomes: of a chart, one for each value
// set that comes to something of its own.
func objectLists(jobs []job, outcomes []outcome) []objectList {
	var out []objectList
	for i := range outcomes {
		o := &outcomes[i]
		if o.sets == nil {
			out = append(out, objectList{&o.objects, jobs[i].scan, i})
			continue
		}
		for k := range o.sets {
			if o.sets[k].same == k {
				out = append(out, objectList{&o.sets[k].objects, jobs[i].scan, i})
			}
		}
	}
	return out
}

// parallel calls do for the numbers below n, on so many workers.
func parallel(ctx context.Context, n, workers int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				if ctx.Err() == nil {
					do(i)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// index lists the objects of the default renders by kind and name.
func (g *gitops) index(jobs []job, outcomes []outcome) {
	g.objects = map[objectName][]homed{}
	for i := range outcomes {
		objects := outcomes[i].objects
		if outcomes[i].sets != nil {
			objects = outcomes[i].sets[0].objects
		}
		for _, o := range objects {
			key := objectName{o.Kind, o.Name}
			g.objects[key] = append(g.objects[key], homed{o, jobs[i].scan})
		}
	}
}

// any reports whether there are GitOps objects at all.
func (g *gitops) any() bool {
	for key, objects := range g.objects {
		switch key.kind {
		case "HelmRelease", "Application", "ApplicationSet", "Kustomization", "HelmChart", source.ChartEntryKind:
			if slices.ContainsFunc(objects, func(h homed) bool {
				return isFlux(h.Object) || isArgo(h.Object) || isHelmController(h.Object) || isInflation(h.Object)
			}) {
				return true
			}
		}
	}
	return false
}

// deploysDirectories reports whether there are Argo CD objects.
func (g *gitops) deploysDirectories() bool {
	for key, objects := range g.objects {
		if strings.HasPrefix(key.kind, "Application") && slices.ContainsFunc(objects, func(h homed) bool { return isArgo(h.Object) }) {
			return true
		}
	}
	return false
}

func isFlux(o *source.Object) bool {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return strings.HasSuffix(group, ".toolkit.fluxcd.io")
}

func isArgo(o *source.Object) bool { return strings.HasPrefix(o.APIVersion, "argoproj.io/") }

// maxGitopsDepth bounds how deep GitOps objects may make others.
const maxGitopsDepth = 8

// standsFor returns the objects that a GitOps object makes, none for others.
func (g *gitops) standsFor(ctx context.Context, o homed, depth int) []*source.Object {
	if depth > maxGitopsDepth || ctx.Err() != nil {
		return nil
	}
	if _, loose := o.Origin.(*madeOrigin); loose {
		return nil // a container of a release, under its name
	}
	g.sayFields(o.Object)
	var out []*source.Object
	switch {
	case o.Kind == "HelmRelease" && isFlux(o.Object):
		out = g.install(ctx, g.helmRelease(o))
	case o.Kind == "HelmChart" && isHelmController(o.Object):
		out = g.install(ctx, g.k3sChart(o))
	case isInflation(o.Object):
		out = g.install(ctx, g.inflated(o))
	case o.Kind == "Application" && isArgo(o.Object):
		out = g.application(ctx, o)
	case o.Kind == "ApplicationSet" && isArgo(o.Object):
		for _, app := range g.applicationSet(o) {
			out = append(out, g.application(ctx, app)...)
		}
	default:
		return nil
	}
	for _, made := range slices.Clone(out) {
		made.MadeBy, made.AppliedBy = o.Object, o.AppliedBy
		out = append(out, g.standsFor(ctx, homed{made, o.scan}, depth+1)...)
	}
	return out
}

// install makes the objects of a release: with its chart if that can be found,
// else by the shape of its values.
func (g *gitops) install(ctx context.Context, r *release) []*source.Object {
	if r == nil {
		return nil
	}
	defer func() { g.addGaps(r.gaps) }()
	at, why, found := g.findChart(r)
	var objects []*source.Object
	if found {
		objects = g.renderRelease(ctx, r, at)
	} else {
		objects = g.byShape(r, why)
	}
	return g.postRender(ctx, r, objects)
}

// postRender applies what a release has kustomize do to the chart's objects.
func (g *gitops) postRender(ctx context.Context, r *release, objects []*source.Object) []*source.Object {
	for _, c := range r.patches {
		changed, err := applyChange(ctx, objects, c, g.l.opts)
		if err == nil {
			objects = changed
			continue
		}
		at := c.origin.Locate(source.Ref{Object: r.object.ID, Pointer: path.Dir(c.images)}).Primary
		r.gaps = append(r.gaps, finding.Gap{
			Kind: finding.Unmodelled, File: at.File, Line: at.Span.Start.Line,
			What: "the patches of the " + r.kind + " " + r.object.Name + " were not applied", Why: oneLine(err.Error()),
			Consequence: "what they change is taken for unknown",
		})
		for i, o := range objects {
			changed := *o
			changed.Unseen = []string{""}
			objects[i] = &changed
		}
	}
	return objects
}

func (g *gitops) addGaps(gaps []finding.Gap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gaps = append(g.gaps, gaps...)
}

func (g *gitops) addFiles(files []*source.File) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range files {
		if g.files[f.Path()] == nil {
			g.files[f.Path()] = f
		}
	}
}

// miss records that a release's chart is not in the tree.
func (g *gitops) miss(r *release, m missingChart) {
	at := r.locate(r.chart.at)
	m.file, m.line = at.File, at.Span.Start.Line
	m.name, m.title = r.chart.name, cmp.Or(r.chart.title(), "of the "+r.kind+" "+r.object.Name)
	m.plain = m.plain && m.name != ""
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missing = append(g.missing, m)
}

// missingCharts makes one gap of all releases that miss a chart in the same way.
func (g *gitops) missingCharts() []finding.Gap {
	slices.SortFunc(g.missing, func(a, b missingChart) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.title, b.title))
	})
	byKind := map[finding.GapKind][]missingChart{}
	for _, m := range g.missing {
		byKind[m.kind] = append(byKind[m.kind], m)
	}
	return slices.Concat(mergedCharts(byKind[finding.Unreadable]), mergedCharts(byKind[finding.Unresolved]))
}

// mergedCharts makes one gap of all those that miss a chart in the same way.
func mergedCharts(missing []missingChart) []finding.Gap {
	type key struct{ name, why, read string }
	count := map[key]int{}
	var plain, special []missingChart
	for _, m := range missing {
		count[key{m.name, m.why, m.read}]++
		if m.plain {
			plain = append(plain, m)
		} else {
			special = append(special, m)
		}
	}
	var out []finding.Gap
	var readings []string
	byReading := map[string][]missingChart{}
	for _, m := range plain {
		if byReading[m.reads] == nil {
			readings = append(readings, m.reads)
		}
		byReading[m.reads] = append(byReading[m.reads], m)
	}
	for _, reads := range readings {
		if gap, ok := plainCharts(byReading[reads]); ok {
			out = append(out, gap)
		} else {
			special = append(special, byReading[reads]...)
		}
	}
	for _, m := range special {
		k := key{m.name, m.why, m.read}
		n := count[k]
		if n == 0 {
			continue
		}
		count[k] = 0
		what := "the chart " + m.title + " was not available"
		if n > 1 {
			what = fmt.Sprintf("the chart %s was not available, for this and %d other releases", cmp.Or(m.name, m.title), n-1)
			if n == 2 {
				what = fmt.Sprintf("the chart %s was not available, for this and another release", cmp.Or(m.name, m.title))
			}
		}
		out = append(out, finding.Gap{Kind: m.kind, File: m.file, Line: m.line, What: what, Why: m.why, Consequence: m.read})
	}
	return out
}

// plainCharts makes one gap of all charts that are missing, were read alike and whose
// values say nothing of a VPN; ok is false where they are no two.
func plainCharts(missing []missingChart) (gap finding.Gap, ok bool) {
	const shown = 12
	titles := map[string]string{}
	for _, m := range missing {
		if known, twice := titles[m.name]; twice && known != m.title {
			titles[m.name] = m.name // several versions
		} else {
			titles[m.name] = m.title
		}
	}
	if len(titles) < 2 {
		return finding.Gap{}, false
	}
	var names []string
	for _, name := range sortedKeys(titles) {
		names = append(names, titles[name])
	}
	return finding.Gap{
		Kind: missing[0].kind, File: missing[0].file, Line: missing[0].line,
		What:        fmt.Sprintf("%d charts were not available, for this and other releases: %s", len(names), enumerate(names, shown)),
		Why:         "nothing is downloaded; give a copy of one that matters with --chart NAME=PATH",
		Consequence: missing[0].reads,
	}, true
}

// chartedGap is a gap of a chart that a release had rendered.
type chartedGap struct {
	gap     finding.Gap
	release string
}

// chartGaps merges the gaps of charts that several releases had rendered.
func (g *gitops) chartGaps() []finding.Gap {
	slices.SortFunc(g.charted, func(a, b chartedGap) int { return cmp.Compare(a.release, b.release) })
	type key struct {
		kind            finding.GapKind
		file, what, why string
		line            int
	}
	names := map[key][]string{}
	var out []finding.Gap
	for _, c := range g.charted {
		k := key{c.gap.Kind, c.gap.File, c.gap.What, c.gap.Why, c.gap.Line}
		if names[k] == nil {
			out = append(out, c.gap)
		}
		names[k] = append(names[k], c.release)
	}
	for i, gap := range out {
		of := names[key{gap.Kind, gap.File, gap.What, gap.Why, gap.Line}]
		out[i].What += " (with the values of the " + of[0]
		if n := len(of) - 1; n > 0 {
			out[i].What += fmt.Sprintf(" and %d more", n)
		}
		out[i].What += ")"
	}
	return out
}

// find returns the object of a kind, name and namespace that is nearest to
// another one. ok is false when there is none, or several equally near ones
// that differ: why says so.
func (g *gitops) find(kind, namespace, name string, near homed) (o homed, why string, ok bool) {
	best := -1
	var found []homed
	for _, c := range g.objects[objectName{kind, name}] {
		if c.Namespace != namespace && c.Namespace != "" && namespace != "" {
			continue
		}
		rank := sharedDirs(c.Unit, near.Unit)
		if c.scan != near.scan {
			rank = 0
		}
		switch {
		case rank > best:
			best, found = rank, []homed{c}
		case rank == best:
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return homed{}, "it is not in the tree", false
	}
	for _, other := range found[1:] {
		if !reflect.DeepEqual(other.Tree, found[0].Tree) {
			return homed{}, fmt.Sprintf("the tree holds %d of that name, and none is nearer than the others", len(found)), false
		}
	}
	return found[0], "", true
}

// sharedDirs counts the directories that two paths have in common.
func sharedDirs(a, b string) int {
	as, bs := strings.Split(path.Clean(a), "/"), strings.Split(path.Clean(b), "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	if a == b {
		n++
	}
	return n
}

// isPlain reports whether a text holds no variable that is filled in later.
func isPlain(text string) bool { return !strings.Contains(text, "${") && !strings.Contains(text, "{{") }

// fieldText is a string of an object's tree, "" where there is none.
func fieldText(tree map[string]any, keys ...string) string {
	v, _ := field(tree, keys...)
	s, _ := v.(string)
	return s
}

// field is a value of an object's tree.
func field(tree map[string]any, keys ...string) (any, bool) {
	v, depth := walkTokens(tree, keys)
	if depth < len(keys) {
		return nil, false
	}
	return v, v != nil
}
