package loader

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// An entry of helmCharts whose chart is not in the tree is built without: an
// object stands for it, of a kind that no file has, and is installed like the
// releases of GitOps objects, with a copy of the chart or by the shape of its values.
const inflationAPI = source.ChartEntryGroup + "/v1beta1"

func isInflation(o *source.Object) bool {
	return o.APIVersion == inflationAPI && o.Kind == source.ChartEntryKind
}

// inflation returns the object that stands for an entry, with its values under
// valuesInline. changed: the kustomization changes what the chart makes.
func (h kustHelm) inflation(t *tree, g *kustGraph, n *kustNode, values *releaseValues, changed bool) *source.Object {
	entry := h.pointer()
	name, namespace := cmp.Or(h.spec.ReleaseName, h.spec.Name), cmp.Or(g.root.spec.Namespace, n.spec.Namespace, h.spec.Namespace)
	return &source.Object{
		APIVersion: inflationAPI, Kind: source.ChartEntryKind, Name: name, Namespace: namespace,
		Tree: map[string]any{
			"apiVersion": inflationAPI, "kind": source.ChartEntryKind, "metadata": map[string]any{"name": name, "namespace": namespace},
			"name": h.spec.Name, "version": h.spec.Version, "repo": h.spec.Repo,
			"valuesInline": values.merged, "home": t.display(h.dir), "changed": changed,
		},
		Unit: t.display(g.dir), Input: source.Kustomization,
		Origin: &inflationOrigin{
			entry: pinned{h.in.origin, entry}, name: pinned{h.in.origin, h.pointer("name")}, values: values,
		},
	}
}

// values merges those of the entry's files and its own.
func (h kustHelm) values(t *tree, opts Options) (*releaseValues, []*source.File, *finding.Gap) {
	limits := opts.Limits.withDefaults()
	values := &releaseValues{merged: map[string]any{}, top: func() source.Provenance {
		return h.in.origin.Locate(source.Ref{Pointer: h.pointer()})
	}}
	var files []*source.File
	refuse := func(gap finding.Gap) (*releaseValues, []*source.File, *finding.Gap) {
		gap = notBuilt(gap)
		return nil, nil, &gap
	}
	for _, name := range h.order() {
		if name == inlineValues {
			values.add(releaseLayer{by: "valuesInline", tree: h.inlineTree(limits), origin: h.in.origin, base: h.pointer("valuesInline")})
			continue
		}
		f, err := opts.shelf.file(t, name)
		if err != nil {
			return refuse(unreadable(t.display(name), err))
		}
		files = append(files, f)
		read, origin, gap := parseInner(f.Text(), identity{f}, limits)
		layer, is := read.(map[string]any)
		switch {
		case gap != nil:
			return refuse(finding.Gap{File: f.Path(), Line: gap.Line, Why: gap.Why})
		case is:
			values.add(releaseLayer{by: "values file", tree: layer, origin: origin})
		case read != nil:
			return refuse(finding.Gap{File: f.Path(), Line: 1, Why: "it holds " + kindOfValue(read) + ", not a mapping of values"})
		}
	}
	return values, files, nil
}

// inflations adds the objects that stand for entries without a chart.
func (r *rendered) inflations(t *tree, g *kustGraph, opts Options) {
	changed := g.changesObjects()
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		for _, h := range n.helm {
			if !h.missing {
				continue
			}
			values, files, gap := h.values(t, opts)
			if gap != nil {
				r.gaps = append(r.gaps, *gap)
				continue
			}
			r.objects, r.files = append(r.objects, h.inflation(t, g, n, values, changed)), append(r.files, files...)
		}
	}
}

// missesCharts reports whether there is no chart for an entry of helmCharts.
func (g *kustGraph) missesCharts() bool {
	for _, n := range g.nodes {
		if slices.ContainsFunc(n.helm, func(h kustHelm) bool { return h.missing }) {
			return true
		}
	}
	return false
}

// inlineTree is what stands in valuesInline, as manifests are read.
func (h kustHelm) inlineTree(limits Limits) map[string]any {
	n := h.in
	if !n.has(h.path("valuesInline")...) {
		return h.spec.ValuesInline // in a text inside of the kustomization
	}
	if n.read == nil {
		n.read, _, _ = parseInner(n.file.Text(), identity{n.file}, limits) // it parsed before
	}
	at := n.read
	for _, token := range source.PointerTokens(h.pointer("valuesInline")) {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, ok := indexToken(token, len(v))
			if !ok {
				return nil
			}
			at = v[i]
		}
	}
	return asMap(at)
}

// changesObjects reports whether a kustomization of the graph changes what others
// make of it, beyond namespace and labels.
func (g *kustGraph) changesObjects() bool {
	for _, n := range g.nodes {
		k, older := n.spec, n.older
		if k.NamePrefix != "" || k.NameSuffix != "" || len(k.Patches)+len(k.Images)+len(k.Replacements)+len(k.Transformers)+len(k.Replicas)+older.vars > 0 ||
			len(older.strategicMerge)+len(older.json6902)+len(older.imageTags) > 0 {
			return true
		}
	}
	return false
}

// inflationOrigin finds the fields of an object that stands for an entry.
type inflationOrigin struct {
	entry, name pinned
	values      *releaseValues
}

// Locate implements source.Origin.
func (o *inflationOrigin) Locate(r source.Ref) source.Provenance {
	tokens := source.PointerTokens(r.Pointer)
	switch {
	case len(tokens) > 0 && tokens[0] == "valuesInline":
		return o.values.locate(tokens[1:], r)
	case r.Pointer == "/name":
		return o.name.Locate(r)
	}
	p := o.entry.Locate(source.Ref{Object: r.Object})
	p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	return p
}

// inflated reads the object that stands for an entry of helmCharts. It is nil
// where the kustomization changes what the chart makes: what comes of its values is
// not known then, be they written or not.
func (g *gitops) inflated(o homed) *release {
	r := &release{
		object: o.Object, scan: o.scan, kind: "helmCharts entry", name: o.Name, namespace: o.Namespace, crds: true,
		chart: chartRef{at: "/name", name: fieldText(o.Tree, "name"), version: fieldText(o.Tree, "version"), repository: fieldText(o.Tree, "repo")},
	}
	values, _ := field(o.Tree, "valuesInline")
	r.values = &releaseValues{merged: map[string]any{}}
	r.values.top = func() source.Provenance { return o.Origin.Locate(source.Ref{Object: o.ID, Pointer: ""}) }
	r.values.add(releaseLayer{by: "helmCharts values", tree: asMap(values), origin: o.Origin, base: "/valuesInline"})
	if changed, _ := o.Tree["changed"].(bool); changed {
		r.gap(finding.Unreadable, r.chart.at, "the chart "+cmp.Or(r.chart.title(), o.Name)+" of helmCharts was not rendered",
			r.notInflated(r.chart.notDownloaded())+"; the kustomization changes what it makes, which its values alone do not tell", "the objects that it makes were not checked")
		g.addGaps(r.gaps)
		return nil
	}
	return r
}

// notInflated says why an entry of helmCharts has no chart.
func (r *release) notInflated(why string) string {
	if why != r.chart.notDownloaded() {
		return why
	}
	return fmt.Sprintf("it is not in %s, and pulling it needs the helm program and network access, which are never used; vendor it there, or give a copy of it with --chart %s=PATH",
		fieldText(r.object.Tree, "home"), r.chart.name)
}
