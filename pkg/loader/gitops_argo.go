package loader

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// appSource is one source of an Argo CD Application.
type appSource struct {
	tree    map[string]any
	pointer string
}

// appSources returns the sources of an Application, one or several.
func appSources(o *source.Object) []appSource {
	if list, ok := field(o.Tree, "spec", "sources"); ok {
		items, _ := list.([]any)
		var out []appSource
		for i, item := range items {
			if m := asMap(item); m != nil {
				out = append(out, appSource{m, fmt.Sprintf("/spec/sources/%d", i)})
			}
		}
		return out
	}
	one, _ := field(o.Tree, "spec", "source")
	if m := asMap(one); m != nil {
		return []appSource{{m, "/spec/source"}}
	}
	return nil
}

// dir is the tree path of a source in a git repository, "" for a chart of a
// chart repository or a path that leaves the tree.
func (s appSource) dir() string {
	if text, _ := s.tree["chart"].(string); text != "" {
		return ""
	}
	text, _ := s.tree["path"].(string)
	dir := path.Clean(strings.TrimPrefix(text, "/"))
	if text == "" || !isPlain(text) || !filepath.IsLocal(filepath.FromSlash(dir)) {
		return ""
	}
	return dir
}

// application makes the objects of an Argo CD Application.
func (g *gitops) application(ctx context.Context, o homed) []*source.Object {
	out := g.deploy(ctx, o)
	if cluster := destination(o.Object); cluster != "" {
		for _, made := range out {
			made.Cluster = cluster
		}
	}
	return out
}

// destination is the cluster to which an Application deploys: its name, or the
// address of its API server, "" for the one that Argo CD itself runs in.
func destination(app *source.Object) string {
	name, server := fieldText(app.Tree, "spec", "destination", "name"), fieldText(app.Tree, "spec", "destination", "server")
	if name == "in-cluster" || name == "" && strings.HasPrefix(server, "https://kubernetes.default.svc") {
		return ""
	}
	return cmp.Or(name, server)
}

// deploy makes the objects of all sources of an Application.
func (g *gitops) deploy(ctx context.Context, o homed) []*source.Object {
	var out []*source.Object
	for _, s := range appSources(o.Object) {
		chart, _ := s.tree["chart"].(string)
		dir := s.dir()
		switch {
		case chart != "":
			out = append(out, g.install(ctx, g.appRelease(o, s, chartRef{
				name: path.Base(chart), version: scalarText(s.tree["targetRevision"]), repository: fieldText(s.tree, "repoURL"), at: s.pointer + "/chart",
			}))...)
		case dir == "" || o.scan == nil:
			// A repository that only brings values files has no path.
			if text, _ := s.tree["path"].(string); text != "" && o.scan != nil {
				why := notInTree
				if !isPlain(text) {
					why = "its path holds a template that something else fills in"
				}
				g.notHere(o.Object, s.pointer+"/path", why)
			}
		case !o.scan.t.isDir(dir) && !isArchiveName(dir):
			g.notHere(o.Object, s.pointer+"/path", notInTree)
		default:
			if _, isChart := chartMeta(o.scan.t, dir, g.l.opts.Limits); isChart {
				out = append(out, g.install(ctx, g.appRelease(o, s, chartRef{name: path.Base(dir), path: dir, at: s.pointer + "/path"}))...)
				continue
			}
			out = append(out, g.appDirectory(ctx, o, s, dir)...)
		}
	}
	return out
}

// appRelease reads the Helm options of a source. Values files come first, then
// the inline values, then the parameters.
func (g *gitops) appRelease(o homed, s appSource, c chartRef) *release {
	if !isPlain(c.name) {
		c.unknown = "the chart's name holds a variable that nothing in the tree defines"
	}
	r := &release{object: o.Object, scan: o.scan, kind: "Application", chart: c}
	helm := asMap(s.tree["helm"])
	at := s.pointer + "/helm"
	name, _ := helm["releaseName"].(string)
	r.name = cmp.Or(name, o.Name)
	r.namespace = fieldText(o.Tree, "spec", "destination", "namespace")
	skip, _ := helm["skipCrds"].(bool)
	r.crds = !skip
	v := &releaseValues{merged: map[string]any{}}
	r.values = v
	v.top = func() source.Provenance {
		return o.Origin.Locate(source.Ref{Object: o.ID, Pointer: at + "/valuesObject"})
	}
	files, _ := helm["valueFiles"].([]any)
	missing, _ := helm["ignoreMissingValueFiles"].(bool)
	for i, f := range files {
		text, _ := f.(string)
		g.appValuesFile(r, text, fmt.Sprintf("%s/valueFiles/%d", at, i), missing)
	}
	by := "Application values"
	switch inline := helm["valuesObject"].(type) {
	case map[string]any:
		v.add(releaseLayer{by: by, tree: inline, origin: o.Origin, base: at + "/valuesObject"})
	case nil:
		text, _ := helm["values"].(string)
		value, origin, gap := parseInner(text, stringText{o.Origin, at + "/values"}, g.l.opts.Limits)
		switch tree, is := value.(map[string]any); {
		case gap != nil:
			why, kind := gap.Why, finding.Unmodelled
			if !isPlain(text) {
				why, kind = "they hold templates that something else fills in; lint what it makes of them", finding.Unresolved
			}
			v.unseen = "the values of the Application may set it"
			r.gap(kind, at+"/values", "the values of the Application "+o.Name+" were not read", why, "what they set is taken for unknown")
		case is:
			v.add(releaseLayer{by: by, tree: tree, origin: origin})
		case value != nil:
			r.gap(finding.Unmodelled, at+"/values", "the values of the Application "+o.Name+" were not read",
				"they are "+kindOfValue(value)+", not a mapping", "what they set was not checked")
		}
	default:
		r.gap(finding.Unmodelled, at+"/valuesObject", "the values of the Application "+o.Name+" were not read",
			"they are "+kindOfValue(inline)+", and the API server refuses all but a mapping", "what they set was not checked")
	}
	parameters, _ := helm["parameters"].([]any)
	for i, item := range parameters {
		m := asMap(item)
		key, _ := m["name"].(string)
		parse := strvals.ParseInto
		if force, _ := m["forceString"].(bool); force {
			parse = strvals.ParseIntoString
		}
		tree := map[string]any{}
		if key == "" || parse(key+"="+strings.ReplaceAll(scalarText(m["value"]), ",", `\,`), tree) != nil {
			continue
		}
		v.add(releaseLayer{by: "Application parameter", tree: tree, origin: pinned{o.Origin, fmt.Sprintf("%s/parameters/%d/value", at, i)}})
	}
	return r
}

// appValuesFile adds a values file: relative to the chart, or $NAME/ and a path
// of the repository.
func (g *gitops) appValuesFile(r *release, name, pointer string, optional bool) {
	missed := func(why string) {
		r.gap(finding.Unresolved, pointer, "the values file "+name+" could not be seen", why, "what it sets is taken for unknown")
		r.values.unseen = "the values file " + name + " may set it"
	}
	file := path.Join(r.chart.path, name)
	switch {
	case strings.HasPrefix(name, "$"):
		_, file, _ = strings.Cut(name, "/")
	case strings.HasPrefix(name, "/"):
		file = strings.TrimPrefix(name, "/")
	case r.chart.path == "":
		missed("it is part of the chart")
		return
	}
	file = path.Clean(file)
	if r.scan == nil || !isPlain(name) || !filepath.IsLocal(filepath.FromSlash(file)) || strings.Contains(name, "://") {
		missed("it is no path of this tree")
		return
	}
	f, err := r.scan.t.readFile(file)
	if err != nil {
		switch {
		case !isNotExist(err):
			missed(unreadable("", err).Why)
		case !optional:
			missed("this tree has no " + file)
		}
		return
	}
	value, origin, gap := parseInner(f.Text(), identity{f}, g.l.opts.Limits)
	tree, is := value.(map[string]any)
	switch {
	case gap != nil:
		missed("it does not parse: " + gap.Why)
	case is:
		g.addFiles([]*source.File{f})
		r.values.add(releaseLayer{by: "values file", tree: tree, origin: origin})
	case value != nil:
		missed("it holds " + kindOfValue(value) + ", not a mapping")
	}
}

// appDirectory makes the objects of a directory that none of the inputs covers.
func (g *gitops) appDirectory(ctx context.Context, o homed, s appSource, dir string) []*source.Object {
	place := chartPlace{o.scan, dir}
	t := o.scan.t
	g.mu.Lock()
	known := g.read[place]
	g.read[place] = true
	g.mu.Unlock()
	if known || g.covered(place) || !t.isDir(dir) {
		return nil
	}
	objects := g.directoryObjects(ctx, o, s, dir)
	for i, made := range objects {
		if made.Namespace == "" {
			if ns := fieldText(o.Tree, "spec", "destination", "namespace"); ns != "" && isPlain(ns) {
				objects[i] = destined(made, ns)
			}
		}
	}
	changed, err := applyChange(ctx, objects, appChange(o.Object, s, g.l.opts.Limits), g.l.opts)
	if err != nil {
		g.addGaps([]finding.Gap{g.notPatched(o.Object, s.pointer+"/kustomize", err)})
		return objects
	}
	return changed
}

// directoryObjects reads what Argo CD reads of a directory: its kustomization, else
// its files, and those below it if the source says so.
func (g *gitops) directoryObjects(ctx context.Context, o homed, s appSource, dir string) []*source.Object {
	inner := newTreeScan(o.scan.t, g.l.opts)
	inner.walk(ctx, dir, false)
	sub := &load{opts: g.l.opts, trees: map[string]*treeScan{o.scan.t.dir: inner}}
	var objects []*source.Object
	for _, j := range sub.jobs(ctx) {
		if !s.deploys(o.scan.t, dir, j) {
			continue
		}
		result := j.run()
		g.addFiles(result.files)
		g.addGaps(result.gaps)
		objects = append(objects, g.appComponents(ctx, o.Object, s, result.objects, j)...)
	}
	return objects
}

// appComponents returns the objects of an input with the components that a source
// adds to its kustomization.
func (g *gitops) appComponents(ctx context.Context, app *source.Object, s appSource, objects []*source.Object, j job) []*source.Object {
	block := asMap(s.tree["kustomize"])
	entries := componentsOf(block)
	if len(entries) == 0 {
		return objects
	}
	optional, _ := block["ignoreMissingComponents"].(bool)
	built, why := g.rebuild(ctx, j, entries, optional)
	switch {
	case why != "":
		at := app.Origin.Locate(source.Ref{Object: app.ID, Pointer: s.pointer + "/kustomize/components"}).Primary
		g.addGaps([]finding.Gap{noComponents(app, at, why)})
		return objects
	case built == nil:
		return objects
	}
	return built
}

// deploys reports whether a source with a directory deploys an input.
func (s appSource) deploys(t *tree, dir string, j job) bool {
	if len((&kustReader{t: t}).fileNames(dir)) > 0 {
		return j.kind == source.Kustomization && j.dir == dir
	}
	options := asMap(s.tree["directory"])
	recurse, _ := options["recurse"].(bool)
	rel, below := strings.CutPrefix(j.dir, strings.TrimPrefix(dir+"/", "./"))
	if j.kind != source.Manifest || !below || strings.Contains(rel, "/") && !recurse {
		return false
	}
	include, _ := options["include"].(string)
	exclude, _ := options["exclude"].(string)
	return (include == "" || matchesBraces(include, rel)) && (exclude == "" || !matchesBraces(exclude, rel))
}

// matchesBraces matches a path against a glob with alternatives in braces, as Argo
// CD reads include and exclude: * stands for slashes, too.
func matchesBraces(glob, name string) bool {
	open := strings.IndexByte(glob, '{')
	shut := strings.IndexByte(glob, '}')
	if open < 0 || shut < open {
		ok, err := path.Match(strings.ReplaceAll(strings.ReplaceAll(glob, "**/", "*"), "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
		return ok && err == nil
	}
	for _, one := range strings.Split(glob[open+1:shut], ",") {
		if matchesBraces(glob[:open]+one+glob[shut+1:], name) {
			return true
		}
	}
	return false
}

func (g *gitops) notPatched(o *source.Object, pointer string, err error) finding.Gap {
	at := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}).Primary
	return finding.Gap{
		Kind: finding.Unmodelled, File: at.File, Line: at.Span.Start.Line,
		What: "what the " + o.Kind + " " + o.Name + " changes with kustomize was not applied", Why: oneLine(err.Error()),
		Consequence: "its objects were checked without that",
	}
}

// destined gives an object the namespace that an Application deploys to.
func destined(o *source.Object, namespace string) *source.Object {
	moved := *o
	moved.Namespace = namespace
	return &moved
}

// covered reports whether an input of the run lies in a directory.
func (g *gitops) covered(place chartPlace) bool {
	return slices.ContainsFunc(g.inputs, func(p chartPlace) bool {
		return p.scan == place.scan && (p.dir == place.dir || place.dir == "." || strings.HasPrefix(p.dir, place.dir+"/"))
	})
}

// appChange reads the kustomize options of a source.
func appChange(o *source.Object, s appSource, limits Limits) kustomizeChange {
	block := asMap(s.tree["kustomize"])
	c := readChange(o, block, s.pointer+"/kustomize", limits)
	images, _ := block["images"].([]any)
	c.spec.Images = nil
	for _, item := range images {
		// Argo CD writes [NAME=]NEW[:TAG][@DIGEST].
		text, _ := item.(string)
		name, renamed, is := strings.Cut(text, "=")
		if !is {
			renamed = text
		}
		img := types.Image{}
		renamed, img.Digest, _ = strings.Cut(renamed, "@")
		if i := strings.LastIndexByte(renamed, ':'); i > strings.LastIndexByte(renamed, '/') {
			renamed, img.NewTag = renamed[:i], renamed[i+1:]
		}
		img.Name = name
		if is {
			img.NewName = renamed
		} else {
			img.Name = renamed
		}
		c.spec.Images = append(c.spec.Images, img)
	}
	c.spec.Namespace, _ = block["namespace"].(string)
	if labels := texts(block["commonLabels"]); len(labels) > 0 {
		bare, _ := block["labelWithoutSelector"].(bool)
		templates, _ := block["labelIncludeTemplates"].(bool)
		c.spec.Labels = append(c.spec.Labels, types.Label{Pairs: labels, IncludeSelectors: !bare, IncludeTemplates: bare && templates})
	}
	c.spec.CommonAnnotations = texts(block["commonAnnotations"])
	replicas, _ := block["replicas"].([]any)
	for _, item := range replicas {
		m := asMap(item)
		name, _ := m["name"].(string)
		if count, is := m["count"].(int64); is && name != "" {
			c.spec.Replicas = append(c.spec.Replicas, types.Replica{Name: name, Count: count})
		}
	}
	return c
}

// deployment is a source of an Application, which stands in the input home.
type deployment struct {
	app    *source.Object
	source appSource
	home   string
}

// place is an object as the Application deploys it: into its cluster and, without
// one of its own, its namespace.
func (d deployment) place(o *source.Object) *source.Object {
	out := *o
	if o != d.app {
		out.MadeBy = d.app
		if cluster := destination(d.app); cluster != "" {
			out.Cluster = cluster
		} else {
			out.AppliedBy = appliedBy(o, append([]string{d.home}, d.app.AppliedBy...)).AppliedBy
		}
	}
	if ns := fieldText(d.app.Tree, "spec", "destination", "namespace"); out.Namespace == "" && isPlain(ns) {
		out.Namespace = ns
	}
	return &out
}

// applyApplications changes the inputs that exactly one Application deploys.
func (g *gitops) applyApplications(ctx context.Context, jobs []job, lists []objectList) {
	by := map[int][]deployment{}
	for _, list := range lists {
		if list.scan == nil {
			continue
		}
		for _, o := range *list.objects {
			if o.Kind != "Application" || !isArgo(o) {
				continue
			}
			for _, s := range appSources(o) {
				dir := s.dir()
				for i, other := range lists {
					if j := jobs[other.job]; dir != "" && other.scan == list.scan && s.deploys(list.scan.t, dir, j) {
						by[i] = append(by[i], deployment{o, s, jobs[list.job].shown})
					}
				}
			}
		}
	}
	for i, list := range lists {
		if len(by[i]) != 1 {
			continue
		}
		d := by[i][0]
		rendered := g.appComponents(ctx, d.app, d.source, *list.objects, jobs[list.job])
		objects := make([]*source.Object, len(rendered))
		for k, o := range rendered {
			objects[k] = d.place(o)
		}
		changed, err := applyChange(ctx, objects, appChange(d.app, d.source, g.l.opts.Limits), g.l.opts)
		if err != nil {
			g.gaps = append(g.gaps, g.notPatched(d.app, d.source.pointer+"/kustomize", err))
		} else {
			objects = changed
		}
		*list.objects = objects
	}
}

var setParameter = regexp.MustCompile(`\{\{-?\s*\.?([A-Za-z_][A-Za-z0-9_.-]*)\s*-?\}\}`)

// applicationSet makes the Applications of an ApplicationSet's list generators.
func (g *gitops) applicationSet(o homed) []homed {
	template, _ := field(o.Tree, "spec", "template")
	generators, _ := field(o.Tree, "spec", "generators")
	list, _ := generators.([]any)
	var out []homed
	for i, item := range list {
		block := asMap(item)
		elements, isList := asMap(block["list"])["elements"].([]any)
		if !isList {
			at := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: fmt.Sprintf("/spec/generators/%d", i)}).Primary
			g.addLike(likeGap{
				kind: finding.Unresolved, of: "ApplicationSet", name: o.Name,
				one: "the Applications of the %s are not known", many: "the Applications of %s are not known",
				why:         "only list generators say in the tree what they make; lint what Argo CD generates",
				consequence: "what they deploy was not checked unless it is an input by itself", at: at,
			})
			continue
		}
		for k, element := range elements {
			if app := g.generated(o, asMap(template), asMap(element), fmt.Sprintf("/spec/generators/%d/list/elements/%d", i, k)); app != nil {
				out = append(out, homed{app, o.scan})
			}
		}
	}
	return out
}

// generated makes the Application of one element.
func (g *gitops) generated(o homed, template, element map[string]any, pointer string) *source.Object {
	if template == nil || element == nil {
		return nil
	}
	edits := map[string]edit{}
	var fill func(v any, at source.Ref) any
	fill = func(v any, at source.Ref) any {
		switch v := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(v))
			for k, x := range v {
				out[k] = fill(x, at.Child(k))
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, x := range v {
				out[i] = fill(x, at.Child(itoa(i)))
			}
			return out
		case string:
			e := edit{}
			text := setParameter.ReplaceAllStringFunc(v, func(action string) string {
				name := setParameter.FindStringSubmatch(action)[1]
				value, depth := walkTokens(element, strings.Split(name, "."))
				if depth == 0 || isCollection(value) {
					return action
				}
				at := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}.Child(strings.Split(name, ".")...))
				e.notes = append(e.notes, source.Note{At: at.Primary, Says: name + " is set here"})
				return scalarText(value)
			})
			if text != v {
				e.pieces = []piece{{0, len(text), 0, len(v), false}}
				edits[at.Pointer] = e
			}
			return text
		}
		return v
	}
	tree := asMap(fill(template, source.Ref{}))
	tree["apiVersion"], tree["kind"] = o.APIVersion, "Application"
	meta := asMap(tree["metadata"])
	name, _ := meta["name"].(string)
	return &source.Object{
		APIVersion: o.APIVersion, Kind: "Application", Name: name, Namespace: o.Namespace, Tree: tree,
		Unit: o.Unit, Input: o.Input, ValueSets: o.ValueSets,
		Origin: &editedOrigin{inner: based{o.Origin, "/spec/template"}, edits: edits},
	}
}
