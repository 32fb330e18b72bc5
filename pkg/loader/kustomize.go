package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustomizeTurn admits one build at a time: the library keeps the OpenAPI
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
	if len(g.refusals) > 0 {
		out.gaps = g.refusals
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
	memory := filesys.MakeFsInMemory()
	files := map[string]*source.File{}
	for _, name := range sortedKeys(g.copies) {
		f, err := t.readFile(name)
		if err == nil {
			err = memory.WriteFile("/"+name, []byte(f.Text()))
		}
		if err != nil {
			out.gaps = append(out.gaps, notBuilt(unreadable(t.display(name), err)))
			return out
		}
		files[name] = f
		out.files = append(out.files, f)
	}
	// Read what is to be merged first: a file that does not parse gets a line,
	// and an alias bomb goes off within our limits instead of in the library.
	a := newAccumulation(t, files, limits)
	charts, fromCharts := renderHelm(ctx, t, g, opts)
	a.charts = charts
	out.files = append(out.files, fromCharts.files...)
	out.used = append(out.used, fromCharts.used...)
	candidates := a.target(ctx, g.root, nil)
	for _, dir := range sortedKeys(g.nodes) {
		a.patches(g.nodes[dir])
	}
	for _, gap := range a.gaps {
		if gap.Kind == finding.Unreadable {
			out.gaps = append(out.gaps, notBuilt(gap))
		}
	}
	if len(out.gaps) > 0 {
		return out
	}
	out.gaps = append(append(out.gaps, fromCharts.gaps...), a.gaps...)
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		data, err := json.Marshal(withoutDeprecations(n, files))
		if err == nil {
			err = memory.WriteFile("/"+n.name, data)
		}
		for i, h := range n.helm {
			if err == nil {
				data, err = resource(charts[n][i])
			}
			if err == nil {
				err = memory.WriteFile(path.Join("/", n.dir, h.resourceName()), data)
			}
		}
		if err != nil {
			return refuse(n.file.Path(), 1, err.Error())
		}
	}
	resources, err := buildKustomization(ctx, memory, path.Join("/", g.dir), time.Duration(limits.RenderSeconds)*time.Second)
	if err != nil {
		file, why := explainBuild(t, g, files, err)
		return refuse(file, 1, why)
	}
	unitDir := t.display(g.dir)
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
		o.Origin = newKustOrigin(o, a, candidates, g)
		out.objects = append(out.objects, o)
	}
	return out
}

var errBuildTime = errors.New("building takes longer than the limit")

// buildKustomization runs the library. It knows no context, so a build that
// outlives its time is left behind.
func buildKustomization(ctx context.Context, memory filesys.FileSystem, dir string, limit time.Duration) ([]map[string]any, error) {
	select {
	case kustomizeTurn <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting to build: %w", ctx.Err())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errBuildTime)
	defer cancel()
	type result struct {
		objects []map[string]any
		err     error
	}
	done := make(chan result, 1)
	go func() {
		defer func() { <-kustomizeTurn }()
		// The library panics on some inputs, such as a broken OpenAPI file.
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("kustomize gave up: %v", r)}
			}
		}()
		options := krusty.MakeDefaultOptions()
		options.Reorder = krusty.ReorderOptionUnspecified
		// The file system holds nothing but the files of the graph.
		options.LoadRestrictions = types.LoadRestrictionsNone
		m, err := krusty.MakeKustomizer(options).Run(memory, dir)
		if err != nil {
			done <- result{err: err}
			return
		}
		objects, err := plainObjects(m)
		done <- result{objects, err}
	}()
	select {
	case r := <-done:
		return r.objects, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// plainObjects returns the resources as Kubernetes would read them.
func plainObjects(m resmap.ResMap) ([]map[string]any, error) {
	var out []map[string]any
	for _, r := range m.Resources() {
		data, err := r.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("reading the result: %w", err)
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("reading the result: %w", err)
		}
		if tree, ok := plainNumbers(v).(map[string]any); ok {
			out = append(out, tree)
		}
	}
	return out, nil
}

// explainBuild finds the file that an error of the library names, and words it
// with the paths that people know.
func explainBuild(t *tree, g *kustGraph, files map[string]*source.File, err error) (file, why string) {
	if errors.Is(err, errBuildTime) {
		return t.display(g.file), err.Error() + "; raise --limit-render-seconds"
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
