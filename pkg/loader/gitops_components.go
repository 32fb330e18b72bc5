package loader

import (
	"context"
	"path"
	"reflect"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// withComponents returns the objects of a directory with the components that
// Flux Kustomizations add to its kustomization, which is built anew with them.
func (g *gitops) withComponents(ctx context.Context, group []*applied, objects []*source.Object, from job) []*source.Object {
	first := group[0].object
	entries := components(first)
	for _, k := range group[1:] {
		if !slices.Equal(components(k.object), entries) {
			g.differ(first, "components", "/spec/components")
			return objects
		}
	}
	if len(entries) == 0 {
		return objects
	}
	optional, _ := field(first.Tree, "spec", "ignoreMissingComponents")
	built, why := g.rebuild(ctx, from, entries, optional == true)
	if why != "" {
		at := first.Origin.Locate(source.Ref{Object: first.ID, Pointer: "/spec/components"}).Primary
		g.addGaps([]finding.Gap{noComponents(first, at, why)})
		return objects
	}
	if built == nil {
		return objects // without them it could not be built either
	}
	return built
}

func noComponents(o *source.Object, at source.Location, why string) finding.Gap {
	kind := o.Kind
	if isFlux(o) {
		kind = "Flux " + kind
	}
	return finding.Gap{
		Kind: finding.Unmodelled, File: at.File, Line: at.Span.Start.Line,
		What: "the components of the " + kind + " " + o.Name + " were not applied", Why: why,
		Consequence: "its objects were checked without them",
	}
}

// rebuild builds the kustomization of an input with more components. why says
// that it cannot be done because of these; nil without a reason is a
// kustomization that is not built at all.
func (g *gitops) rebuild(ctx context.Context, from job, entries []string, optional bool) (built []*source.Object, why string) {
	if from.kind != source.Kustomization || from.scan == nil {
		return nil, "the directory has no kustomization to add them to; write one"
	}
	t := from.scan.t
	if i := slices.IndexFunc(entries, func(e string) bool { return !isPlain(e) }); i >= 0 {
		return nil, "the path " + entries[i] + " holds a variable that nothing in the tree defines"
	}
	if optional {
		entries = slices.DeleteFunc(slices.Clone(entries), func(e string) bool { return !t.isDir(path.Join(from.dir, e)) })
	}
	if before := readKustGraph(t, from.dir, g.l.opts); before == nil || len(before.refusals) > 0 {
		return nil, ""
	}
	result := renderKustomization(ctx, t, readKustGraphWith(t, from.dir, entries, g.l.opts), g.l.opts)
	if len(result.objects) == 0 && len(result.gaps) > 0 {
		return nil, result.gaps[0].Why
	}
	g.addFiles(result.files)
	return result.objects, ""
}

// components are the paths of a Flux Kustomization's components.
func components(o *source.Object) []string {
	spec, _ := field(o.Tree, "spec")
	return componentsOf(asMap(spec))
}

func componentsOf(block map[string]any) []string {
	items, _ := block["components"].([]any)
	var out []string
	for _, item := range items {
		if text, is := item.(string); is {
			out = append(out, text)
		}
	}
	return out
}

// differ records that several Kustomizations apply the same objects in different
// ways.
func (g *gitops) differ(o *source.Object, what, pointer string) {
	g.addLike(likeGap{
		kind: finding.Unresolved, of: "Flux Kustomization", name: o.Name,
		one: what + " of the %s were not applied", many: what + " of %s were not applied",
		why: "other Flux Kustomizations apply the same objects with other " + what + "; lint the paths of one cluster alone to see its own", consequence: "their objects were checked without them",
		at: o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}).Primary,
	})
}

// patchedBy applies the changes that all Flux Kustomizations of a group make to
// their objects.
func (g *gitops) patchedBy(ctx context.Context, group []*applied, objects []*source.Object) []*source.Object {
	first := group[0].object
	spec, _ := field(first.Tree, "spec")
	common := asMap(spec)
	for _, k := range group[1:] {
		theirs, _ := field(k.object.Tree, "spec")
		for _, f := range []string{"patches", "images", "namePrefix", "nameSuffix", "commonMetadata"} {
			if reflect.DeepEqual(asMap(theirs)[f], common[f]) {
				continue
			}
			for _, one := range []map[string]any{asMap(theirs), common} {
				if c := readChange(first, map[string]any{f: one[f]}, "/spec", g.l.opts.Limits); f != "commonMetadata" && !c.empty() && c.concerns(objects) {
					g.differ(first, f, "/spec/"+f)
					break
				}
			}
			left := make(map[string]any, len(common))
			for key, v := range common {
				if key != f {
					left[key] = v
				}
			}
			common = left
		}
	}
	changed, err := applyChange(ctx, objects, readChange(first, common, "/spec", g.l.opts.Limits), g.l.opts)
	if err != nil {
		at := first.Origin.Locate(source.Ref{Object: first.ID, Pointer: "/spec/patches"}).Primary
		g.gaps = append(g.gaps, finding.Gap{
			Kind: finding.Unmodelled, File: at.File, Line: at.Span.Start.Line,
			What: "the patches of the Flux Kustomization " + first.Name + " were not applied", Why: oneLine(err.Error()),
			Consequence: "its objects were checked without them",
		})
		return objects
	}
	return changed
}
