package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustomizeChange is what a GitOps object has kustomize do to what it installs.
type kustomizeChange struct {
	spec types.Kustomization
	// patches are those of spec, with their places; parts are those of each entry.
	patches []*kustPatch
	parts   [][]*kustPatch
	// images is where spec.Images stands.
	images string
	origin source.Origin
	// named: names get a prefix or suffix.
	named bool
}

func (c kustomizeChange) empty() bool {
	return len(c.spec.Patches) == 0 && !c.general()
}

// general reports whether a change is one of all objects.
func (c kustomizeChange) general() bool {
	return len(c.spec.Images) > 0 || c.named || len(c.spec.Replicas) > 0 || c.spec.Namespace != "" ||
		len(c.spec.Labels) > 0 || len(c.spec.CommonAnnotations) > 0
}

// based is the Origin of a block inside an object.
type based struct {
	origin source.Origin
	base   string
}

// Locate implements source.Origin.
func (o based) Locate(r source.Ref) source.Provenance {
	r.Pointer = o.base + r.Pointer
	return o.origin.Locate(r)
}

// readChange reads the fields patches, images, patchesStrategicMerge and
// patchesJson6902 as Flux writes them at pointer.
func readChange(o *source.Object, block map[string]any, pointer string, limits Limits) kustomizeChange {
	c := kustomizeChange{origin: o.Origin, images: pointer + "/images"}
	a := &accumulation{limits: limits}
	add := func(p types.Patch, patches []*kustPatch) {
		c.spec.Patches = append(c.spec.Patches, p)
		c.patches = append(c.patches, patches...)
		c.parts = append(c.parts, patches)
	}
	merges, _ := block["patchesStrategicMerge"].([]any)
	for i, item := range merges {
		at := fmt.Sprintf("%s/patchesStrategicMerge/%d", pointer, i)
		if text, err := json.Marshal(item); err == nil && asMap(item) != nil {
			add(types.Patch{Patch: string(text)}, []*kustPatch{{tree: item, origin: based{o.Origin, at}}})
		}
	}
	for _, field := range []string{"patches", "patchesJson6902"} {
		list, _ := block[field].([]any)
		for i, item := range list {
			m := asMap(item)
			at := fmt.Sprintf("%s/%s/%d/patch", pointer, field, i)
			target := readSelector(m["target"])
			switch patch := m["patch"].(type) {
			case string:
				add(types.Patch{Patch: patch, Target: target}, a.patchText(source.NewFile("", patch), stringText{o.Origin, at}, target))
			case []any:
				if text, err := json.Marshal(patch); err == nil {
					add(types.Patch{Patch: string(text), Target: target}, []*kustPatch{{tree: patch, target: target, origin: based{o.Origin, at}}})
				}
			}
		}
	}
	c.spec.NamePrefix, _ = block["namePrefix"].(string)
	c.spec.NameSuffix, _ = block["nameSuffix"].(string)
	c.named = c.spec.NamePrefix+c.spec.NameSuffix != ""
	c.metadata(asMap(block["commonMetadata"]))
	images, _ := block["images"].([]any)
	for _, item := range images {
		m := asMap(item)
		text := func(key string) string { s, _ := m[key].(string); return s }
		c.spec.Images = append(c.spec.Images, types.Image{Name: text("name"), NewName: text("newName"), NewTag: text("newTag"), Digest: text("digest")})
	}
	return c
}

// metadata reads labels and annotations that all objects get. They select nothing.
func (c *kustomizeChange) metadata(block map[string]any) {
	if labels := texts(block["labels"]); len(labels) > 0 {
		c.spec.Labels = append(c.spec.Labels, types.Label{Pairs: labels})
	}
	c.spec.CommonAnnotations = texts(block["annotations"])
}

// texts are the strings of a map.
func texts(v any) map[string]string {
	out := map[string]string{}
	for k, x := range asMap(v) {
		if text, is := x.(string); is {
			out[k] = text
		}
	}
	return out
}

// readSelector reads the target of a patch, nil for none.
func readSelector(v any) *types.Selector {
	m := asMap(v)
	if m == nil {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	var s types.Selector
	if json.Unmarshal(text, &s) != nil {
		return nil
	}
	return &s
}

// concerns reports whether a change can touch any of the objects.
func (c kustomizeChange) concerns(objects []*source.Object) bool {
	return c.general() || len(c.aimed(objects)) > 0
}

// aimed returns the patches that are aimed at any of the objects, and those that
// cannot be read. What the others are for may be there and not in view.
func (c kustomizeChange) aimed(objects []*source.Object) []types.Patch {
	var out []types.Patch
	for i, parts := range c.parts {
		if len(parts) == 0 || slices.ContainsFunc(parts, func(p *kustPatch) bool {
			return slices.ContainsFunc(objects, func(o *source.Object) bool {
				return p.changes(&candidate{object: o, kind: o.Kind, name: o.Name, namespace: o.Namespace}, o)
			})
		}) {
			out = append(out, c.spec.Patches[i])
		}
	}
	return out
}

// mark is the annotation by which an object is known again after a build.
const mark0 = "vpnlint.invalid/object"

// applyChange has kustomize change objects in memory. The objects that it does
// not touch stay what they are.
func applyChange(ctx context.Context, objects []*source.Object, c kustomizeChange, opts Options) ([]*source.Object, error) {
	if c.empty() || len(objects) == 0 || !c.concerns(objects) {
		return objects, nil
	}
	spec := c.spec
	spec.Patches = c.aimed(objects)
	seen := map[string]bool{}
	var kept []*source.Object
	var marked []*source.Object
	for i, o := range objects {
		id := o.APIVersion + " " + o.Kind + " " + fieldText(o.Tree, "metadata", "namespace") + " " + o.Name
		if seen[id] || o.Name == "" {
			kept = append(kept, o) // kustomize wants each once
			continue
		}
		seen[id] = true
		tree := asMap(cloneTree(o.Tree))
		meta := asMap(tree["metadata"])
		annotations := asMap(meta["annotations"])
		if annotations == nil {
			annotations = map[string]any{}
		}
		annotations[mark0] = strconv.Itoa(i)
		meta["annotations"] = annotations
		marked = append(marked, &source.Object{Kind: o.Kind, Name: o.Name, Tree: tree})
	}
	text, err := resource(marked)
	if err != nil {
		return nil, err
	}
	spec.Resources = []string{"objects.yaml"}
	instructions, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("preparing the patches: %w", err)
	}
	built, err := buildKustomization(ctx, []wireFile{{"/build/objects.yaml", text}, {"/build/kustomization.yaml", instructions}}, "/build", opts)
	if err != nil {
		return nil, err
	}
	var out []*source.Object
	for _, tree := range built {
		o := c.result(tree, objects)
		if o != nil {
			out = append(out, o)
		}
	}
	return append(out, kept...), nil
}

// result turns an object of a build into one with places.
func (c kustomizeChange) result(tree map[string]any, objects []*source.Object) *source.Object {
	meta := asMap(tree["metadata"])
	annotations := asMap(meta["annotations"])
	text, _ := annotations[mark0].(string)
	i, ok := indexToken(text, len(objects))
	if !ok {
		return nil
	}
	delete(annotations, mark0)
	base := objects[i]
	if len(annotations) == 0 && asMap(base.Tree["metadata"])["annotations"] == nil {
		delete(meta, "annotations")
	}
	if reflect.DeepEqual(tree, base.Tree) {
		return base
	}
	o := *base
	o.Tree = tree
	o.Name, _ = meta["name"].(string)
	if ns, _ := meta["namespace"].(string); ns != "" {
		o.Namespace = ns
	}
	from := &candidate{object: base, kind: base.Kind, name: base.Name, namespace: base.Namespace}
	origin := &patchedOrigin{object: &o, base: base, change: c}
	for _, p := range c.patches {
		if p.changes(from, &o) {
			origin.patches = append(origin.patches, p)
		}
	}
	o.Origin = origin
	return &o
}

// patchedOrigin is the Origin of an object that a kustomizeChange touched.
type patchedOrigin struct {
	object, base *source.Object
	change       kustomizeChange
	patches      []*kustPatch
}

// Locate implements source.Origin.
func (o *patchedOrigin) Locate(r source.Ref) source.Provenance {
	tokens := source.PointerTokens(r.Pointer)
	final, depth := walkTokens(o.object.Tree, tokens)
	at := tokens[:depth]
	inBase, baseValue, has := mapPath(o.object.Tree, o.base.Tree, at)
	rest := tokens[depth:]
	base := func() source.Provenance { return o.base.Origin.Locate(ref(append(slices.Clip(inBase), rest...), r)) }
	same := has && (isCollection(final) || reflect.DeepEqual(baseValue, final))
	if depth == 0 || same && !isCollection(final) {
		return base()
	}
	if p, where, ok := patched(o.patches, o.object, at, final, !isCollection(final), has); ok && !namesObject(at) {
		out := p.origin.Locate(ref(append(slices.Clip(where), rest...), r))
		if has {
			out.Via = append(slices.Clip(out.Via), source.Note{At: base().Primary, Says: "what this patch changes"})
		}
		return out
	}
	if same {
		return base()
	}
	if text, is := final.(string); is && at[len(at)-1] == "image" {
		for i, img := range o.change.spec.Images {
			if key := imageSets(img, text); key != "" {
				return o.change.origin.Locate(source.Ref{Object: "images", Pointer: fmt.Sprintf("%s/%d/%s", o.change.images, i, key)})
			}
		}
	}
	out := base()
	out.Primary.Precision = out.Primary.Precision.Worse(source.Parent)
	return out
}
