package loader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustomizeTurn admits one build at a time in this process: the library keeps the OpenAPI
// schema that a kustomization chooses in variables of its own.
var kustomizeTurn = make(chan struct{}, 1)

// renderKustomization builds the kustomization of a graph in memory, and only
// if the graph has no refusal.
func renderKustomization(ctx context.Context, t *tree, g *kustGraph, opts Options) rendered {
	out := rendered{used: sortedKeys(g.uses)}
	for _, dir := range sortedKeys(g.nodes) {
		out.files = append(out.files, g.nodes[dir].file)
	}
	limits := opts.Limits.withDefaults()
	out.gaps = slices.Concat(g.refusals, g.left, g.remarks)
	if len(g.refusals) > 0 {
		return out
	}
	refuse := func(file string, line int, why string) rendered {
		out.gaps = append(out.gaps, notBuilt(finding.Gap{File: file, Line: line, Why: why}))
		return out
	}
	if g.resources > limits.KustomizeFiles {
		return refuse(t.display(g.file), 1, fmt.Sprintf(
			"it includes %d resource files, more than the limit of %d (the time to build grows faster than their square); raise --limit-kustomize-files, or lint the directory of the files",
			g.resources, limits.KustomizeFiles))
	}
	files := map[string]*source.File{}
	for _, name := range sortedKeys(g.copies) {
		f, err := opts.shelf.file(t, name)
		if err != nil {
			out.gaps = append(out.gaps, notBuilt(unreadable(t.display(name), err)))
			return out
		}
		files[name] = f
		out.files = append(out.files, f)
	}
	// Read what is to be merged first: a file that does not parse gets a line,
	// and an alias bomb goes off within our limits instead of in the library.
	a := newAccumulation(t, files, limits, opts.shelf)
	charts, fromCharts := renderHelm(ctx, t, g, opts)
	a.charts = charts
	out.files = append(out.files, fromCharts.files...)
	out.used = append(out.used, fromCharts.used...)
	candidates := a.target(ctx, g.root, nil)
	for _, dir := range sortedKeys(g.nodes) {
		a.patches(g.nodes[dir])
		a.replacementFiles(g.nodes[dir])
	}
	for _, gap := range a.gaps {
		if gap.Kind == finding.Unreadable {
			out.gaps = append(out.gaps, notBuilt(gap))
		}
	}
	if len(out.gaps) > len(g.left)+len(g.remarks) {
		return out
	}
	out.gaps = append(append(out.gaps, fromCharts.gaps...), a.gaps...)
	if opts.children != nil {
		g.warn(files)
	}
	inputs, err := a.inputs(g)
	if err != nil {
		return refuse(t.display(g.file), 1, err.Error())
	}
	out.inflations(t, g, opts)
	resources, err := buildKustomization(ctx, inputs, path.Join("/", g.dir), opts)
	for tries := 0; err != nil && tries < maxLeft && a.leave(g, err); tries++ {
		if inputs, err = a.inputs(g); err == nil {
			resources, err = buildKustomization(ctx, inputs, path.Join("/", g.dir), opts)
		}
	}
	if at := a.lacking(g, err); err != nil && at != nil {
		return refuse(at.node.file.Path(), at.line(), "no object of the kustomization is the "+at.name+" that this patch is for; correct what names it, kustomize build fails in the same way")
	}
	if err != nil {
		if file, line, why, ok := g.twice(err); ok {
			return refuse(file, line, why)
		}
		file, why := explainBuild(t, g, files, limits, err)
		if g.isPartial() && lacksTarget.MatchString(err.Error()) {
			why = oneLine(err.Error()) + "; it was built without the charts and resources that are not in the tree, which may be why: vendor them, or lint the output of kustomize build"
		}
		out = refuse(file, 1, withoutAddresses(why))
		if g.missesCharts() {
			out.gaps[len(out.gaps)-1].Consequence = "of the objects it produces, only those in the values of charts that are not in the tree were checked"
		}
		return out
	}
	if len(g.left) > 0 {
		g.sayLost(&out.gaps[0])
	}
	if len(g.lost) > 0 {
		candidates = a.target(ctx, g.root, nil)
	}
	unitDir := t.display(g.dir)
	again := newRebuild(t, a, g, opts)
	for _, tree := range resources {
		apiVersion, kind := identify(tree, "")
		if kind == "" {
			continue
		}
		o := &source.Object{APIVersion: apiVersion, Kind: kind, Tree: tree, Unit: unitDir, Input: source.Kustomization, Helm: helmRole(tree)}
		if meta, ok := tree["metadata"].(map[string]any); ok {
			o.Name, _ = meta["name"].(string)
			o.Namespace, _ = meta["namespace"].(string)
		}
		o.Origin = &kustOrigin{object: o, again: again, candidates: candidates}
		again.objects = append(again.objects, o)
		out.objects = append(out.objects, o)
	}
	return out
}

// inputs are the files of the build.
func (a *accumulation) inputs(g *kustGraph) ([]wireFile, error) {
	var out []wireFile
	for _, name := range sortedKeys(g.copies) {
		text, in := g.texts[name]
		if !in {
			text = a.files[name].Text()
		}
		out = append(out, wireFile{"/" + name, []byte(text)})
	}
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		spec := withoutDeprecations(n, a.files)
		data, err := json.Marshal(spec)
		// To the library a list without entries is something, and no kustomization is
		// empty that has one; it does not outlive being written down.
		if err == nil && emptied(n, data) {
			spec.Resources, n.remote = []string{nothingResource}, true
			data, err = json.Marshal(spec)
		}
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", n.file.Path(), err)
		}
		out = append(out, wireFile{"/" + n.name, data})
		if n.remote {
			out = append(out, wireFile{path.Join("/", n.dir, nothingResource), nil})
		}
		for i, h := range n.helm {
			data, err := resource(a.charts[n][i])
			if err != nil {
				return nil, err
			}
			out = append(out, wireFile{path.Join("/", n.dir, h.resourceName()), data})
		}
	}
	return out, nil
}

// emptied reports whether nothing is left of a kustomization that is not empty.
func emptied(n *kustNode, data []byte) bool {
	var k types.Kustomization
	return n.spec.CheckEmpty() == nil && json.Unmarshal(data, &k) == nil && k.CheckEmpty() != nil
}

// warn says which fields of kustomizations are deprecated.
func (g *kustGraph) warn(files map[string]*source.File) {
	for _, dir := range sortedKeys(g.nodes) {
		spec := withoutDeprecations(g.nodes[dir], files)
		if warnings := spec.CheckDeprecatedFields(); warnings != nil {
			for _, w := range *warnings {
				log.Print(w) //nolint:forbidigo // the library would say it where nobody hears
			}
		}
	}
}

// maxLeft bounds how many patches and generators a kustomization is built without:
// each costs a build.
const maxLeft = 30

// lacksTarget is what the library says when what a patch, a replacement or the like
// is for is not there.
var lacksTarget = regexp.MustCompile(`no matches for Id|no resource matches|failed to find|not found|does not exist; cannot merge|nothing selected by`)

// memoryAddress is what the library shows of some values for want of a name.
var memoryAddress = regexp.MustCompile(`&?\{?0x[0-9a-f]{6,}( <nil>)?\}?`)

// withoutAddresses makes an error of the library say the same in each run.
func withoutAddresses(text string) string { return memoryAddress.ReplaceAllString(text, "…") }

var errBuildTime = errors.New("building takes longer than the limit")

// buildKustomization builds within the time limit. The library knows no context,
// so a build in this process that outlives its time is left behind, and with it
// the turn: those that follow wait for it as long as they may take themselves.
func buildKustomization(ctx context.Context, files []wireFile, dir string, opts Options) ([]map[string]any, error) {
	limit := time.Duration(opts.Limits.withDefaults().RenderSeconds) * time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errBuildTime)
	defer cancel()
	order := wireBuild{Files: files, Dir: dir}
	if opts.children != nil {
		_, texts, err := opts.children.ask(ctx, wireOrder{Build: &order})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		return plainObjects([]byte(texts[""]))
	}
	select {
	case kustomizeTurn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	type result struct {
		texts  map[string]string
		answer wireAnswer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-kustomizeTurn }()
		texts, answer, err := order.build(opts.Limits.withDefaults())
		done <- result{texts, answer, err}
	}()
	select {
	case r := <-done:
		switch {
		case r.err != nil:
			return nil, r.err
		case r.answer.TooLarge:
			return nil, tooMuchOutput(opts.Limits.withDefaults())
		case r.answer.Failed:
			return nil, &engineFailure{text: r.answer.Error}
		}
		return plainObjects([]byte(r.texts[""]))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// runKustomize runs the library and returns the resources as a JSON list.
func runKustomize(files filesys.FileSystem, dir string) (text []byte, err error) {
	// The library panics on some inputs, such as a broken OpenAPI file.
	defer func() {
		if r := recover(); r != nil {
			text, err = nil, fmt.Errorf("kustomize gave up: %v", r)
		}
	}()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	// The file system holds nothing but the files of the graph.
	options.LoadRestrictions = types.LoadRestrictionsNone
	m, err := krusty.MakeKustomizer(options).Run(files, dir)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i, r := range m.Resources() {
		data, err := r.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("reading the result: %w", err)
		}
		b.WriteByte("[,"[min(i, 1)])
		b.Write(data)
	}
	if b.Len() == 0 {
		b.WriteByte('[')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// plainObjects returns resources as Kubernetes would read them.
func plainObjects(text []byte) ([]map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var list []any
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	var out []map[string]any
	for _, v := range list {
		if tree, ok := plainNumbers(v).(map[string]any); ok {
			out = append(out, tree)
		}
	}
	return out, nil
}

// explainBuild finds the file that an error of the library names, and words it
// with the paths that people know.
func explainBuild(t *tree, g *kustGraph, files map[string]*source.File, limits Limits, err error) (file, why string) {
	if errors.Is(err, errBuildTime) {
		return t.display(g.file), fmt.Sprintf("%v of %d seconds; raise --limit-render-seconds", err, limits.RenderSeconds)
	}
	var lost *lostError
	if errors.As(err, &lost) {
		return t.display(g.file), lost.why
	}
	why = oneLine(err.Error())
	file = t.display(g.file)
	longest := ""
	for _, name := range append(sortedKeys(files), nodeFiles(g)...) {
		if strings.Contains(why, "/"+name) && len(name) > len(longest) {
			longest = name
		}
	}
	for _, n := range g.nodes {
		if n.dir != "." {
			why = strings.ReplaceAll(why, "'/"+n.dir, "'"+t.display(n.dir))
		}
	}
	if longest != "" {
		file = t.display(longest)
		why = strings.ReplaceAll(why, "/"+longest, file)
	}
	return file, why + "; correct it, kustomize build fails in the same way"
}

func nodeFiles(g *kustGraph) []string {
	var out []string
	for _, dir := range sortedKeys(g.nodes) {
		out = append(out, g.nodes[dir].name)
	}
	return out
}
