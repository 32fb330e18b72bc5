package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the parts that the library builds with
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/kv"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustres "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// rebuild is a build of the library that can be done again to learn who wrote
// what.
type rebuild struct {
	a       *accumulation
	graph   *kustGraph
	objects []*source.Object
	// alone: the library runs in other processes, not in this one.
	alone bool
	kept  atomic.Pointer[replay]
	cache *replays
}

// replays are those that were asked for last. Nobody holds the values of all
// kustomizations of a large tree at once: a replay that was let go is done again
// when somebody asks for one of its places.
type replays struct {
	mu   sync.Mutex
	last []*rebuild
}

const keptReplays = 16

func (c *replays) add(b *rebuild) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = append(c.last, b)
	if len(c.last) > keptReplays {
		c.last[0].kept.Store(nil)
		c.last = c.last[1:]
	}
}

func newRebuild(t *tree, a *accumulation, g *kustGraph, opts Options) *rebuild {
	return &rebuild{a: a, graph: g, alone: opts.children != nil, cache: &t.replays}
}

// replay is a build done again with the library's own parts on values that carry
// marks of who wrote them. What it says of a field counts only where it comes to
// the value that the build has.
type replay struct {
	*rebuild
	// err is why the build could not be done again.
	err error
	// ctx ends when it takes longer than a build may.
	ctx      context.Context
	marks    *marks
	factory  *resmap.Factory
	validate ifc.Validator
	// roots are the marked objects by the object of the build; named are they by
	// the names that they had on their way.
	roots map[*source.Object]*kyaml.RNode
	named map[string][]*replayed
}

// replayed is an object of the replay and the one of the build that it became.
type replayed struct {
	root   *yaml.Node
	object *source.Object
}

// replay does the build again, unless it is known from the last time.
func (b *rebuild) replay() *replay {
	if r := b.kept.Load(); r != nil {
		return r
	}
	r := b.run()
	if b.kept.CompareAndSwap(nil, r) {
		b.cache.add(b)
	}
	return r
}

func (b *rebuild) run() *replay {
	deps := provider.NewDefaultDepProvider()
	limit := time.Duration(b.a.limits.RenderSeconds) * time.Second
	// Who asks for a place has no context, and needs none for what was built once.
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit, errBuildTime)
	defer cancel()
	r := &replay{rebuild: b, ctx: ctx, marks: newMarks(), factory: resmap.NewFactory(deps.GetResourceFactory()), validate: deps.GetFieldValidator()}
	if !b.alone {
		select {
		case kustomizeTurn <- struct{}{}:
			defer func() { <-kustomizeTurn }()
		case <-ctx.Done():
			r.err = context.Cause(ctx) // a build that was given up still holds the turn
			return r
		}
	}
	m, err := r.safely(func() (resmap.ResMap, error) {
		m := resmap.New()
		return m, r.target(m, b.graph.root)
	})
	if r.err = err; err == nil {
		r.match(m)
	}
	r.marks.seen = nil
	return r
}

// safely runs what may panic as the build may.
func (r *replay) safely(f func() (resmap.ResMap, error)) (m resmap.ResMap, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("kustomize gave up: %v", p)
		}
	}()
	return f()
}

// match finds the replayed objects that became those of the build.
func (r *replay) match(m resmap.ResMap) {
	r.roots, r.named = map[*source.Object]*kyaml.RNode{}, map[string][]*replayed{}
	type key struct{ apiVersion, kind, namespace, name string }
	byName := map[key][]*kustres.Resource{}
	for _, res := range m.Resources() {
		k := key{res.GetApiVersion(), res.GetKind(), res.GetNamespace(), res.GetName()}
		byName[k] = append(byName[k], res)
	}
	for _, o := range r.objects {
		k := key{o.APIVersion, o.Kind, o.Namespace, o.Name}
		found := byName[k]
		if n := len(o.Name) - hashLen; len(found) == 0 && n > 0 && hashSuffix.MatchString(o.Name[n:]) {
			k.name = o.Name[:n]
			if found = byName[k]; len(found) > 0 && !found[0].NeedHashSuffix() {
				found = nil
			}
		}
		if len(found) == 0 {
			continue
		}
		res := found[0]
		byName[k] = found[1:]
		r.roots[o] = &res.RNode
		at := &replayed{root: res.YNode(), object: o}
		names := []string{res.GetName()}
		for _, id := range res.PrevIds() {
			names = append(names, id.Name)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			r.named[name] = append(r.named[name], at)
		}
	}
}

// hashLen is the length of what kustomize appends to the names of what it
// generates.
const hashLen = 11

// target adds what kustomization n makes of its resources to m, in the library's
// order.
func (r *replay) target(m resmap.ResMap, n *kustNode) error {
	for _, item := range n.resources {
		if item.node == nil {
			for _, o := range r.a.decoded[item.file] {
				if err := r.append(m, o); err != nil {
					return err
				}
			}
			continue
		}
		sub := resmap.New()
		if err := r.target(sub, item.node); err != nil {
			return err
		}
		if err := m.AppendAll(sub); err != nil {
			return err
		}
	}
	for _, objects := range r.a.charts[n] {
		for _, o := range objects {
			if err := r.append(m, o); err != nil {
				return err
			}
		}
	}
	if err := r.generate(m, n); err != nil {
		return err
	}
	for _, c := range n.components {
		if err := r.target(m, c); err != nil {
			return err
		}
	}
	for _, step := range []func(resmap.ResMap, *kustNode) error{r.patchEarly, r.rename, r.label, r.patchLate, r.scale, r.images, r.replace, r.plugins} {
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if err := step(m, n); err != nil {
			return err
		}
		m.DropEmpties()
	}
	return nil
}

func (r *replay) append(m resmap.ResMap, o *source.Object) error {
	return m.Append(&kustres.Resource{RNode: *kyaml.NewRNode(r.marks.plant(o.Tree, o.Origin, "", false))})
}

// transform runs a plug-in of the library on m and marks what it wrote.
func (r *replay) transform(m resmap.ResMap, p resmap.Transformer, by func(key string, n *yaml.Node, old int) writer) error {
	if err := p.Transform(m); err != nil {
		return err
	}
	r.settle(m, by)
	return nil
}

func (r *replay) settle(m resmap.ResMap, by func(key string, n *yaml.Node, old int) writer) {
	for _, res := range m.Resources() {
		if !res.IsNilOrEmpty() {
			r.marks.settle(res.YNode(), by)
		}
	}
}

// mark is the mark of a field of a kustomization.
func (n *kustNode) mark(keys ...string) writer {
	return writer{origin: n.origin, at: n.pointer(keys...)}
}

// overrides is a mark of what replaced an older value.
func (k writer) overrides(old int) writer {
	k.prev, k.prevSays = old, "the base that this changes"
	return k
}

// generate adds what the generators of n make.
func (r *replay) generate(m resmap.ResMap, n *kustNode) error {
	loader := kv.NewLoader(&kustFiles{r.a, n.dir}, r.validate)
	add := func(made resmap.ResMap, err error, field string, index int, args types.GeneratorArgs, own *types.GeneratorOptions) error {
		if err != nil {
			return err
		}
		for _, res := range made.Resources() {
			g := &kustGenerator{node: n, field: field, index: index, sources: args.KvPairSources, behavior: args.Behavior, kind: res.GetKind()}
			g.mark(r.marks, res.YNode(), own)
			if err := r.absorb(m, res); err != nil {
				return err
			}
		}
		return nil
	}
	for i, args := range n.spec.ConfigMapGenerator {
		own := args.Options
		args.Options = types.MergeGlobalOptionsIntoLocal(copyOptions(own), n.spec.GeneratorOptions)
		made, err := r.factory.NewResMapFromConfigMapArgs(loader, []types.ConfigMapArgs{withEnvs(args)})
		if err := add(made, err, "configMapGenerator", i, args.GeneratorArgs, own); err != nil {
			return err
		}
	}
	for i, args := range n.spec.SecretGenerator {
		own := args.Options
		args.Options = types.MergeGlobalOptionsIntoLocal(copyOptions(own), n.spec.GeneratorOptions)
		if args.EnvSource != "" {
			args.EnvSources = append(slices.Clone(args.EnvSources), args.EnvSource)
		}
		made, err := r.factory.NewResMapFromSecretArgs(loader, []types.SecretArgs{args})
		if err := add(made, err, "secretGenerator", i, args.GeneratorArgs, own); err != nil {
			return err
		}
	}
	return nil
}

func withEnvs(args types.ConfigMapArgs) types.ConfigMapArgs {
	if args.EnvSource != "" {
		args.EnvSources = append(slices.Clone(args.EnvSources), args.EnvSource)
	}
	return args
}

// copyOptions copies options that the library would change.
func copyOptions(o *types.GeneratorOptions) *types.GeneratorOptions {
	if o == nil {
		return nil
	}
	out := *o
	out.Labels, out.Annotations = types.CopyMap(o.Labels), types.CopyMap(o.Annotations)
	return &out
}

// absorb adds a generated object, or merges it into the one that it names.
func (r *replay) absorb(m resmap.ResMap, res *kustres.Resource) error {
	var old *yaml.Node
	if found := m.GetMatchingResourcesByAnyId(res.CurId().Equals); len(found) == 1 {
		old = kyaml.CopyYNode(found[0].YNode())
	}
	made := kyaml.CopyYNode(res.YNode())
	one := resmap.New()
	if err := one.Append(res); err != nil {
		return err
	}
	if err := m.AbsorbAll(one); err != nil || old == nil {
		return err
	}
	// What was merged is written anew, without marks.
	var restore func(n *yaml.Node, tokens []string)
	restore = func(n *yaml.Node, tokens []string) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				restore(n.Content[i+1], append(slices.Clip(tokens), n.Content[i].Value))
			}
		}
		if n.Line == 0 {
			for _, from := range []*yaml.Node{nodeAt(made, tokens), nodeAt(old, tokens)} {
				if from != nil && from.Value == n.Value && from.Line != 0 && (n.Line == 0 || namesObject(tokens)) {
					n.Line = from.Line
				}
			}
		}
		if n.Kind == yaml.ScalarNode {
			r.marks.seen[n] = n.Line
		}
	}
	restore(res.YNode(), nil)
	return nil
}

func (r *replay) patchEarly(m resmap.ResMap, n *kustNode) error { return r.patch(m, n, false) }
func (r *replay) patchLate(m resmap.ResMap, n *kustNode) error  { return r.patch(m, n, true) }

// patch applies the early or the late patches of n.
func (r *replay) patch(m resmap.ResMap, n *kustNode, late bool) error {
	for _, p := range r.a.patches(n) {
		if p.late != late {
			continue
		}
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		if err := r.patchOne(m, p); err != nil {
			return err
		}
		m.DropEmpties()
	}
	return nil
}

func (r *replay) patchOne(m resmap.ResMap, p *kustPatch) error {
	if _, isJSON := p.tree.([]any); isJSON {
		if p.target == nil {
			return errors.New("a JSON patch without a target")
		}
		selected, err := m.Select(*p.target)
		if err != nil {
			return err
		}
		for _, res := range selected {
			res.StorePreviousId()
			kept := kioutil.GetInternalAnnotations(&res.RNode)
			if err := r.marks.applyOperations(res.YNode(), p); err != nil {
				return err
			}
			now := kioutil.GetInternalAnnotations(&res.RNode)
			for _, key := range sortedKeys(kept) {
				if now[key] != kept[key] {
					if err := res.PipeE(kyaml.SetAnnotation(key, kept[key])); err != nil {
						return err
					}
				}
			}
			r.marks.settle(res.YNode(), p.unclear)
		}
		return nil
	}
	if len(asMap(p.tree)) == 0 {
		return nil
	}
	if p.target == nil {
		res, err := m.GetById(r.patchResource(p).OrgId())
		if err != nil {
			return err
		}
		return r.merge(res, p, func(patch *kustres.Resource) error { return res.ApplySmPatch(patch) })
	}
	selected, err := m.Select(*p.target)
	if err != nil {
		return err
	}
	for _, res := range selected {
		err := r.merge(res, p, func(patch *kustres.Resource) error {
			// As ResMap.ApplySmPatch, which looks at all objects for each.
			kind := patch.GetKind()
			patch.SetGvk(res.GetGvk())
			patch.SetKind(kind)
			return res.ApplySmPatch(patch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) patchResource(p *kustPatch) *kustres.Resource {
	res := &kustres.Resource{RNode: *kyaml.NewRNode(r.marks.plant(p.tree, p.origin, "", true))}
	if p.options != nil && p.options.AllowNameChange {
		res.AllowNameChange()
	}
	if p.options != nil && p.options.AllowKindChange {
		res.AllowKindChange()
	}
	return res
}

// merge applies a strategic merge patch to res.
func (r *replay) merge(res *kustres.Resource, p *kustPatch, apply func(*kustres.Resource) error) error {
	err := r.marks.keep(res.YNode, func() error { return apply(r.patchResource(p)) },
		[]string{"metadata", "name"}, []string{"metadata", "namespace"}, []string{"kind"}, []string{"apiVersion"})
	if err == nil && !res.IsNilOrEmpty() {
		r.marks.settle(res.YNode(), p.unclear)
	}
	return err
}

// unclear is the mark of what a patch wrote in a way of its own.
func (p *kustPatch) unclear(_ string, _ *yaml.Node, old int) writer {
	return writer{origin: p.origin, vague: true}.overrides(old)
}

// rename sets the namespace of all objects and puts prefix and suffix to their
// names.
func (r *replay) rename(m resmap.ResMap, n *kustNode) error {
	k := &n.spec
	if k.Namespace != "" {
		p := &builtins.NamespaceTransformerPlugin{FieldSpecs: fieldSpecs(namespaceSpecs)}
		p.Namespace = k.Namespace
		err := r.transform(m, p, func(_ string, _ *yaml.Node, old int) writer { return n.mark("namespace").overrides(old) })
		if err != nil {
			return err
		}
	}
	if k.NamePrefix != "" {
		p := &builtins.PrefixTransformerPlugin{Prefix: k.NamePrefix, FieldSpecs: fieldSpecs(nameSpecs)}
		err := r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
			return r.joined(v.Value, r.textMark(n.mark("namePrefix"), k.NamePrefix), old, 1)
		})
		if err != nil {
			return err
		}
	}
	if k.NameSuffix != "" {
		p := &builtins.SuffixTransformerPlugin{Suffix: k.NameSuffix, FieldSpecs: fieldSpecs(nameSpecs)}
		return r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
			return r.joined(v.Value, old, r.textMark(n.mark("nameSuffix"), k.NameSuffix), 0)
		})
	}
	return nil
}

func (r *replay) textMark(k writer, text string) int {
	k.text = text
	return r.marks.add(k)
}

// joined is the mark of a text that was put together from two, of which main is
// the one to change.
func (r *replay) joined(text string, first, second, main int) writer {
	n := len(r.marks.list[first].text)
	if n+len(r.marks.list[second].text) != len(text) {
		return writer{pieces: []fragment{{0, len(text), []int{first, second}[main], 0}}, vague: true}
	}
	return writer{pieces: []fragment{{0, n, first, 0}, {n, len(text), second, 0}}, main: main}
}

// label sets the labels and annotations of n.
func (r *replay) label(m resmap.ResMap, n *kustNode) error {
	type entry struct {
		label types.Label
		keys  []string
	}
	var entries []entry
	if len(n.older.commonLabels) > 0 {
		entries = append(entries, entry{types.Label{Pairs: n.older.commonLabels, IncludeSelectors: true}, []string{"commonLabels"}})
	}
	for i, l := range n.spec.Labels {
		entries = append(entries, entry{l, []string{"labels", strconv.Itoa(i), "pairs"}})
	}
	for _, e := range entries {
		specs, err := labelSpecs(e.label)
		if err != nil {
			return err
		}
		p := &builtins.LabelTransformerPlugin{Labels: e.label.Pairs, FieldSpecs: specs}
		if err := r.transform(m, p, n.entries(e.keys, e.label.Pairs)); err != nil {
			return err
		}
	}
	if len(n.spec.CommonAnnotations) == 0 {
		return nil
	}
	p := &builtins.AnnotationsTransformerPlugin{Annotations: n.spec.CommonAnnotations, FieldSpecs: fieldSpecs(annotationSpecs)}
	return r.transform(m, p, n.entries([]string{"commonAnnotations"}, n.spec.CommonAnnotations))
}

// entries marks the entries of a mapping of n by their keys.
func (n *kustNode) entries(keys []string, pairs map[string]string) func(string, *yaml.Node, int) writer {
	return func(key string, _ *yaml.Node, old int) writer {
		if _, ok := pairs[key]; ok {
			keys := append(slices.Clip(keys), key)
			return n.mark(keys...).overrides(old)
		}
		return n.mark(keys...)
	}
}

// scale sets the replicas that n gives.
func (r *replay) scale(m resmap.ResMap, n *kustNode) error {
	for i, replica := range n.spec.Replicas {
		p := &builtins.ReplicaCountTransformerPlugin{Replica: replica, FieldSpecs: fieldSpecs(replicaSpecs)}
		err := r.transform(m, p, func(_ string, _ *yaml.Node, old int) writer {
			return n.mark("replicas", strconv.Itoa(i), "count").overrides(old)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// images changes images as n says.
func (r *replay) images(m resmap.ResMap, n *kustNode) error {
	for _, field := range []string{"images", "imageTags"} {
		list := n.spec.Images
		if field != "images" {
			list = n.older.imageTags
		}
		for i, img := range list {
			p := &builtins.ImageTagTransformerPlugin{ImageTag: img, FieldSpecs: fieldSpecs(imageSpecs)}
			err := r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
				return r.image(v.Value, old, img, func(key string) writer { return n.mark(field, strconv.Itoa(i), key) })
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// image is the mark of an image that img made of an old one.
func (r *replay) image(text string, old int, img types.Image, at func(key string) writer) writer {
	was := r.marks.list[old].text
	name, tag, digest := splitImage(was)
	var k writer
	n := 0
	put := func(part string, by, offset int, main bool) {
		if main {
			k.main = len(k.pieces)
		}
		k.pieces = append(k.pieces, fragment{n, n + len(part), by, offset})
		n += len(part)
	}
	own := func(key, value string) int { return r.textMark(at(key), value) }
	switch {
	case img.NewName != "":
		put(img.NewName, own("newName", img.NewName), 0, true)
	default:
		put(name, old, 0, false)
	}
	separator := func() { n++ }
	switch {
	case img.NewTag != "":
		separator()
		put(img.NewTag, own("newTag", img.NewTag), 0, true)
	case img.Digest != "":
	case tag != "":
		separator()
		put(tag, old, len(name)+1, false)
		if img.TagSuffix != "" {
			put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true)
		}
	case img.TagSuffix != "":
		separator()
		put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true)
	}
	switch {
	case img.Digest != "":
		separator()
		put(img.Digest, own("digest", img.Digest), 0, true)
	case digest != "" && img.NewTag == "" && img.TagSuffix == "":
		separator()
		put(digest, old, len(was)-len(digest), false)
	}
	if n+len(img.TagSuffix) == len(text) && img.TagSuffix != "" {
		put(img.TagSuffix, own("tagSuffix", img.TagSuffix), 0, true) // the library adds it twice
	}
	if n != len(text) {
		k.vague = true
	}
	return k.overrides(old)
}

// splitImage splits an image as kustomize does.
func splitImage(image string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(image, "@")
	slash := strings.LastIndexByte(name, '/')
	if i := strings.IndexByte(name[slash+1:], ':'); i >= 0 {
		name, tag = name[:slash+1+i], name[slash+2+i:]
	}
	return name, tag, digest
}

// kustFiles hands the files of a build to the library, seen from a directory.
type kustFiles struct {
	a   *accumulation
	dir string
}

func (*kustFiles) Repo() string   { return "" }
func (f *kustFiles) Root() string { return path.Join("/", f.dir) }
func (*kustFiles) Cleanup() error { return nil }
func (f *kustFiles) New(string) (ifc.Loader, error) {
	return nil, errors.New("a plug-in does not read kustomizations")
}

func (f *kustFiles) Load(name string) ([]byte, error) {
	if file := f.a.files[path.Join(f.dir, name)]; file != nil {
		return []byte(file.Text()), nil
	}
	return nil, fmt.Errorf("%s is no file of the build", name)
}

// plugins runs the transformers that stand in files of their own.
func (r *replay) plugins(m resmap.ResMap, n *kustNode) error {
	// What is read here for the first time is nobody else's.
	a := &accumulation{t: r.a.t, files: r.a.files, limits: r.a.limits, patchFiles: map[*source.File][]*kustPatch{}}
	helpers := resmap.NewPluginHelpers(&kustFiles{a, n.dir}, r.validate, r.factory, types.DisabledPluginConfig())
	for i, entry := range n.spec.Transformers {
		var docs []*kustPatch
		if f := r.a.files[path.Join(n.dir, entry)]; f != nil && !isInline(entry) {
			docs = a.patchText(f, identity{f}, nil)
		} else if isInline(entry) {
			docs = a.inlinePatch(n, entry, nil, "transformers", strconv.Itoa(i))
		}
		for _, doc := range docs {
			config := asMap(doc.tree)
			kind, _ := config["kind"].(string)
			if kind == "PatchTransformer" {
				if err := r.patchPlugin(m, a, n, doc); err != nil {
					return err
				}
				continue
			}
			p := builtinTransformer(kind)
			data, err := json.Marshal(config)
			if p == nil || err != nil {
				continue
			}
			if err := p.Config(helpers, data); err != nil {
				return err
			}
			if err := r.transform(m, p, r.configured(doc)); err != nil {
				return err
			}
			m.DropEmpties()
		}
	}
	return nil
}

// patchPlugin applies the patch that a configuration of its own holds or names.
func (r *replay) patchPlugin(m resmap.ResMap, a *accumulation, n *kustNode, doc *kustPatch) error {
	data, err := json.Marshal(doc.tree)
	if err != nil {
		return err
	}
	var spec types.Patch
	if err := json.Unmarshal(data, &spec); err != nil {
		return err
	}
	var patches []*kustPatch
	if spec.Path != "" {
		if f := a.files[path.Join(n.dir, spec.Path)]; f != nil {
			patches = a.patchFile(f, spec.Target)
		}
	} else {
		// The file stands for the text: its places are those of the string.
		f := source.NewFile(n.file.Path(), spec.Patch)
		patches = a.patchText(f, inlineText{origin: doc.origin, pointer: "/patch"}, spec.Target)
	}
	for _, p := range patches {
		p.options = spec.Options
		if err := r.patchOne(m, p); err != nil {
			return err
		}
		m.DropEmpties()
	}
	return nil
}

func builtinTransformer(kind string) resmap.TransformerPlugin {
	switch kind {
	case "AnnotationsTransformer":
		return builtins.NewAnnotationsTransformerPlugin()
	case "ImageTagTransformer":
		return builtins.NewImageTagTransformerPlugin()
	case "LabelTransformer":
		return builtins.NewLabelTransformerPlugin()
	case "NamespaceTransformer":
		return builtins.NewNamespaceTransformerPlugin()
	case "PrefixTransformer":
		return builtins.NewPrefixTransformerPlugin()
	case "SuffixTransformer":
		return builtins.NewSuffixTransformerPlugin()
	case "ReplicaCountTransformer":
		return builtins.NewReplicaCountTransformerPlugin()
	}
	return nil
}

// configured marks what a plug-in wrote by the one value of its configuration
// that is, begins or ends what was written, or holds it.
func (r *replay) configured(doc *kustPatch) func(string, *yaml.Node, int) writer {
	root := r.marks.plant(doc.tree, doc.origin, "", false)
	var values []int
	var list func(n *yaml.Node, key string)
	list = func(n *yaml.Node, key string) {
		if n.Kind == yaml.ScalarNode && key != "kind" && key != "apiVersion" && key != "path" {
			values = append(values, n.Line)
		}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				list(c, key)
			case i%2 == 1:
				list(c, n.Content[i-1].Value)
			}
		}
	}
	list(root, "")
	one := func(fits func(text string) bool) (id int, ok bool) {
		for _, v := range values {
			if fits(r.marks.list[v].text) {
				if id != 0 {
					return 0, false
				}
				id = v
			}
		}
		return id, id != 0
	}
	return func(_ string, n *yaml.Node, old int) writer {
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			if id, ok := one(func(text string) bool { return text == n.Value }); ok {
				return writer{pieces: []fragment{{0, len(n.Value), id, 0}}}.overrides(old)
			}
			if was := r.marks.list[old].text; old != 0 && was != "" {
				if id, ok := one(func(text string) bool { return text+was == n.Value }); ok {
					return r.joined(n.Value, id, old, 1)
				}
				if id, ok := one(func(text string) bool { return was+text == n.Value }); ok {
					return r.joined(n.Value, old, id, 0)
				}
			}
			if id, ok := one(func(text string) bool { return strings.Count(text, n.Value) == 1 }); ok {
				i := strings.Index(r.marks.list[id].text, n.Value)
				return writer{pieces: []fragment{{0, len(n.Value), id, i}}}.overrides(old)
			}
		}
		return writer{origin: doc.origin, vague: true}.overrides(old)
	}
}
