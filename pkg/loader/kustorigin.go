package loader

import (
	"context"
	"encoding/json"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// accumulation repeats, on the level of texts, what a build does: which object
// of which file (or which generator) passes through which kustomizations. The
// result of the build is then matched against it, so that the library's output
// stays free of marks.
type accumulation struct {
	t      *tree
	files  map[string]*source.File
	limits Limits
	shelf  *chartShelf
	gaps   []finding.Gap
	// decoded and patchesOf are kept by file and kustomization.
	decoded   map[string][]*source.Object
	patchesOf map[*kustNode][]*kustPatch
	// patchFiles are the documents of patch files, which may be used for many
	// targets.
	patchFiles map[*source.File][]*kustPatch
	// replacements are the files of replacements by tree path.
	replacements map[string]*replacementFile
	// charts are the objects of the charts that each kustomization inflates.
	charts map[*kustNode][][]*source.Object
}

func newAccumulation(t *tree, files map[string]*source.File, limits Limits, shelf *chartShelf) *accumulation {
	return &accumulation{t: t, files: files, limits: limits, shelf: shelf,
		decoded: map[string][]*source.Object{}, patchesOf: map[*kustNode][]*kustPatch{},
		patchFiles: map[*source.File][]*kustPatch{}, replacements: map[string]*replacementFile{}}
}

// candidate is what an object of the result may have been made from.
type candidate struct {
	object    *source.Object // nil for a generator
	generator *kustGenerator
	kind      string
	name      string
	namespace string
	// layers are the kustomizations it passes through, in order.
	layers []*kustNode
}

// kustGenerator is one entry of configMapGenerator or secretGenerator.
type kustGenerator struct {
	node     *kustNode
	field    string
	index    int
	sources  types.KvPairSources
	behavior string
	kind     string
}

// target adds what kustomization n contributes to the candidates so far, in
// the library's order: resources, generators, components, and then its own
// changes to all of them.
func (a *accumulation) target(ctx context.Context, n *kustNode, candidates []*candidate) []*candidate {
	for _, item := range n.resources {
		if item.node != nil {
			candidates = append(candidates, a.target(ctx, item.node, nil)...)
			continue
		}
		for _, o := range a.objects(ctx, item.file) {
			candidates = append(candidates, &candidate{object: o, kind: o.Kind, name: o.Name, namespace: o.Namespace})
		}
	}
	for _, objects := range a.charts[n] {
		for _, o := range objects {
			candidates = append(candidates, &candidate{object: o, kind: o.Kind, name: o.Name, namespace: o.Namespace})
		}
	}
	for i, g := range n.spec.ConfigMapGenerator {
		candidates = append(candidates, generated(n, "configMapGenerator", i, g.GeneratorArgs, "ConfigMap"))
	}
	for i, g := range n.spec.SecretGenerator {
		candidates = append(candidates, generated(n, "secretGenerator", i, g.GeneratorArgs, "Secret"))
	}
	for _, c := range n.components {
		candidates = a.target(ctx, c, candidates)
	}
	for _, c := range candidates {
		c.layers = append(c.layers, n)
	}
	return candidates
}

func generated(n *kustNode, field string, i int, args types.GeneratorArgs, kind string) *candidate {
	g := &kustGenerator{node: n, field: field, index: i, sources: args.KvPairSources, behavior: args.Behavior,
		kind: kind}
	return &candidate{generator: g, kind: kind, name: args.Name, namespace: args.Namespace}
}

func (a *accumulation) objects(ctx context.Context, name string) []*source.Object {
	if objects, ok := a.decoded[name]; ok {
		return objects
	}
	f := a.files[name]
	read := a.shelf.decoded(f, func() decodedFile {
		objects, gaps := decodeObjects(ctx, f, identity{f}, unit{kind: source.Kustomization, dir: a.t.display(path.Dir(name))}, a.limits)
		return decodedFile{objects, gaps}
	})
	a.decoded[name] = read.objects
	a.gaps = append(a.gaps, read.gaps...)
	return read.objects
}

// names returns the names the candidate has on its way: as written, and after
// each kustomization.
func (c *candidate) names() []string {
	name := c.name
	out := []string{name}
	for _, n := range c.layers {
		switch c.kind {
		case "Namespace", "CustomResourceDefinition", "APIService":
		default:
			name = n.spec.NamePrefix + name + n.spec.NameSuffix
		}
		out = append(out, name)
	}
	return out
}

func (c *candidate) finalNamespace() string {
	ns := c.namespace
	for _, n := range c.layers {
		if n.spec.Namespace != "" {
			ns = n.spec.Namespace
		}
	}
	return ns
}

var hashSuffix = regexp.MustCompile(`^-[a-z0-9]{10}$`)

// score says how well c explains the object o; 0: not at all.
func (c *candidate) score(o *source.Object) int {
	if c.kind != o.Kind {
		return 0
	}
	var score int
	names := c.names()
	final := names[len(names)-1]
	rest, isPrefix := strings.CutPrefix(o.Name, final)
	switch {
	case o.Name == final, c.generator != nil && isPrefix && hashSuffix.MatchString(rest):
		score = 8
	case slices.Contains(names, o.Name):
		score = 4
	case c.name != "" && strings.Contains(o.Name, c.name):
		score = 1
	default:
		return 0
	}
	if c.finalNamespace() == o.Namespace || c.namespace == o.Namespace {
		score += 2
	}
	if c.object == nil || c.object.APIVersion == o.APIVersion {
		score++
	}
	return score
}

// kustOrigin is the Origin of an object that a kustomization produced.
type kustOrigin struct {
	object     *source.Object
	again      *rebuild
	candidates []*candidate
}

// Locate implements source.Origin.
func (o *kustOrigin) Locate(r source.Ref) source.Provenance {
	tokens := source.PointerTokens(r.Pointer)
	final, depth := walkTokens(o.object.Tree, tokens)
	missing := depth < len(tokens)
	if missing {
		tokens, r = tokens[:depth], source.Ref{}
	}
	again := o.again.replay()
	p, by, ok := again.place(o.object, tokens, final, r)
	switch {
	case !ok:
		p = o.near(tokens)
	case by != 0 && again.marks.list[by].patch && again.marks.list[by].prev == 0 && !isCollection(final):
		// The patch brought a list of its own: the base's item is the one like it.
		if from := o.from(); from != nil && from.object != nil {
			if at, v, ok := mapPath(o.object.Tree, from.object.Tree, tokens); ok && !isCollection(v) {
				base := from.object.Origin.Locate(source.Ref{Object: from.object.ID}.Child(at...))
				p.Via = append(p.Via, source.Note{At: base.Primary, Says: baseOfPatch})
			}
		}
	}
	switch {
	case missing && depth == 0:
		p.Primary.Precision = p.Primary.Precision.Worse(source.WholeObject)
	case missing:
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	return p
}

// near is a place near a field whose writer is not known: in what the object
// was most likely made from.
func (o *kustOrigin) near(tokens []string) source.Provenance {
	from := o.from()
	if from == nil {
		file := o.again.graph.root.file
		return source.Provenance{Primary: source.Location{File: file.Path(), Span: file.Span(0, 0), Precision: source.WholeFile}}
	}
	p := source.Provenance{}
	if from.object == nil {
		p = from.generator.place("", source.Ref{}, nil)
	} else {
		at, _, _ := mapPath(o.object.Tree, from.object.Tree, tokens)
		p = from.object.Origin.Locate(source.Ref{Object: from.object.ID}.Child(at...))
	}
	p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	return p
}

// from is what the object was most likely made from; nil where nothing is like
// it.
func (o *kustOrigin) from() (from *candidate) {
	best := 0
	for _, c := range o.candidates {
		if c.generator != nil && (c.generator.behavior == "merge" || c.generator.behavior == "replace") {
			continue
		}
		if s := c.score(o.object); s > best {
			best, from = s, c
		}
	}
	return from
}

// baseOfPatch is said of the place that a patch overrides.
const baseOfPatch = "the base that this patch changes"

// place says where the field of an object of the build was written, as far as
// the replay knows; by is the mark of who wrote it.
func (r *replay) place(o *source.Object, tokens []string, final any, ref source.Ref) (p source.Provenance, by int, ok bool) {
	res := r.roots[o]
	if res == nil || res.YNode() == nil || res.YNode().Line == 0 {
		return source.Provenance{}, 0, false
	}
	n, depth := followNode(res.YNode(), o.Tree, tokens)
	ref.Pointer = ""
	switch {
	case depth < len(tokens), n.Kind == yaml.ScalarNode && !holdsScalar(n, final), (n.Kind == yaml.ScalarNode) == isCollection(final):
		if p, ok := r.reference(o, n, depth, tokens, final, ref); ok {
			return p, 0, true
		}
		p = r.marks.locate(n.Line, source.Ref{}, r.a.files)
		worse := source.Parent
		if depth == 0 && len(tokens) > 0 {
			worse = source.WholeObject
		}
		p.Primary.Precision = p.Primary.Precision.Worse(worse)
		return p, 0, true
	}
	return r.marks.locate(n.Line, ref, r.a.files), n.Line, true
}

// followNode follows tokens in a replayed object as far as it is like the one of
// the build.
func followNode(n *yaml.Node, final any, tokens []string) (*yaml.Node, int) {
	for i, token := range tokens {
		if list, ok := final.([]any); ok && len(list) != len(n.Content) {
			return n, i
		}
		next := entryNode(n, token)
		if next == nil || next.Line == 0 {
			return n, i
		}
		n = next
		final, _ = member(final, token)
	}
	return n, len(tokens)
}

func holdsScalar(n *yaml.Node, final any) bool {
	if f, ok := final.(float64); ok {
		v, err := strconv.ParseFloat(n.Value, 64)
		return err == nil && v == f
	}
	if final == nil {
		return n.Tag == "!!null" || n.Value == ""
	}
	_, text := tagged(final)
	return n.Value == text
}

// reference locates a field that the library made to follow the name or the
// namespace of another object.
func (r *replay) reference(o *source.Object, n *yaml.Node, depth int, tokens []string, final any, ref source.Ref) (source.Provenance, bool) {
	text, ok := final.(string)
	if !ok || text == "" || len(tokens) == 0 {
		return source.Provenance{}, false
	}
	if tokens[len(tokens)-1] == "namespace" && depth >= len(tokens)-1 {
		holder, _ := walkTokens(o.Tree, tokens[:len(tokens)-1])
		name, _ := asMap(holder)["name"].(string)
		for _, to := range r.named[name] {
			if at := nodeAt(to.root, []string{"metadata", "namespace"}); to.object.Namespace == text && at != nil && at.Value == text && at.Line != 0 {
				return r.marks.locate(at.Line, ref, r.a.files), true
			}
		}
		return source.Provenance{}, false
	}
	if depth < len(tokens) || n.Kind != yaml.ScalarNode {
		return source.Provenance{}, false
	}
	own := n.Value
	for _, to := range r.named[own] {
		at := nodeAt(to.root, []string{"metadata", "name"})
		if to.object.Name != text || at == nil || at.Line == 0 {
			continue
		}
		offset, ok := r.marks.within(at.Line, own)
		if !ok || !strings.HasPrefix(text[offset:], own) {
			continue
		}
		if ref.End > 0 && (ref.Start < offset || ref.End > offset+len(own)) {
			if ref.End > len(at.Value) {
				return source.Provenance{}, false // the hash of a generator's content
			}
			return r.marks.locate(at.Line, ref, r.a.files), true
		}
		if ref.End > 0 {
			ref.Start, ref.End = ref.Start-offset, ref.End-offset
		}
		p := r.marks.locate(n.Line, ref, r.a.files)
		for _, other := range r.marks.list[at.Line].pieces {
			if other.start != offset || other.end != offset+len(own) {
				p.Via = append(p.Via, source.Note{At: r.marks.part(other, other.start, other.end, r.a.files).Primary, Says: "a part of the name that this refers to"})
			}
		}
		return p, true
	}
	return source.Provenance{}, false
}

// kustPatch is one document of a patch.
type kustPatch struct {
	tree   any // a mapping (strategic merge) or a list of operations (JSON 6902)
	origin source.Origin
	target *types.Selector
	// options let the patch change what it finds its target by.
	options *types.PatchArgs
	// late: of patchesJson6902, which apply behind labels and annotations.
	late bool
}

// patches returns the patches of a kustomization in the order they apply.
func (a *accumulation) patches(n *kustNode) []*kustPatch {
	if out, ok := a.patchesOf[n]; ok {
		return out
	}
	var out []*kustPatch
	for i, p := range n.older.strategicMerge {
		if f := a.files[path.Join(n.dir, string(p))]; f != nil && !isInline(string(p)) {
			out = append(out, a.patchFile(f, nil)...)
		} else {
			out = append(out, a.inlinePatch(n, string(p), nil, "patchesStrategicMerge", strconv.Itoa(i))...)
		}
	}
	for _, field := range []string{"patches", "patchesJson6902"} {
		list := n.spec.Patches
		if field != "patches" {
			list = n.older.json6902
		}
		for i, p := range list {
			known := len(out)
			if f := a.files[path.Join(n.dir, p.Path)]; f != nil && p.Path != "" {
				out = append(out, a.patchFile(f, p.Target)...)
			} else if p.Patch != "" {
				out = append(out, a.inlinePatch(n, p.Patch, p.Target, field, strconv.Itoa(i), "patch")...)
			}
			for _, read := range out[known:] {
				read.options, read.late = p.Options, field != "patches"
			}
		}
	}
	a.patchesOf[n] = out
	return out
}

// patchFile returns the patches of a file, aimed at a target.
func (a *accumulation) patchFile(f *source.File, target *types.Selector) []*kustPatch {
	read, ok := a.patchFiles[f]
	if !ok {
		read = a.patchText(f, identity{f}, nil)
		a.patchFiles[f] = read
	}
	out := make([]*kustPatch, len(read))
	for i, p := range read {
		out[i] = &kustPatch{tree: p.tree, origin: p.origin, target: target}
	}
	return out
}

// inlinePatch reads a patch that stands in a string of a kustomization file.
func (a *accumulation) inlinePatch(n *kustNode, text string, target *types.Selector, keys ...string) []*kustPatch {
	return a.patchText(source.NewFile(n.file.Path(), text), inlineText{origin: n.origin, pointer: n.pointer(keys...)}, target)
}

// inlineText is the textMap of a text inside a string of a YAML file.
type inlineText struct {
	origin  source.Origin
	pointer string
}

func (m inlineText) Map(start, end int) source.Provenance {
	return m.origin.Locate(source.Ref{Pointer: m.pointer, Start: start, End: max(end, start+1)})
}

func (inlineText) Absent(int, int) []source.Guard { return nil }

func (a *accumulation) patchText(f *source.File, m textMap, target *types.Selector) []*kustPatch {
	d := decoder{file: f, m: m, limits: a.limits, aliasBudget: a.limits.AliasNodes}
	var out []*kustPatch
	for _, c := range splitDocuments(f.Text()) {
		if v, root, doc, ok := d.parse(c); ok {
			kind, _ := asMap(v)["kind"].(string)
			out = append(out, &kustPatch{tree: v, target: target, origin: &textOrigin{doc: doc, root: root, m: m, base64: kind == "Secret"}})
		}
	}
	a.gaps = append(a.gaps, d.gaps...)
	return out
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// walkTokens follows tokens in a value as far as they lead.
func walkTokens(v any, tokens []string) (any, int) {
	for i, token := range tokens {
		next, ok := member(v, token)
		if !ok {
			return v, i
		}
		v = next
	}
	return v, len(tokens)
}

func member(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		x, ok := v[token]
		return x, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// namesObject reports whether tokens lead to what tells an object from others.
func namesObject(tokens []string) bool {
	return slices.Equal(tokens, []string{"metadata", "name"}) || len(tokens) == 1 && (tokens[0] == "kind" || tokens[0] == "apiVersion")
}

func isCollection(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// mergeKeys are the fields by which Kubernetes tells the items of its lists
// apart (patchMergeKey), the most telling first.
var mergeKeys = []string{"name", "mountPath", "containerPort", "devicePath", "port", "ip", "topologyKey", "key", "uid", "type"}

// mapPath follows tokens through the final object and through a source of it,
// whose lists may hold the same items at other places. ok is false when the
// source does not have the field; at then leads as near as it goes, and on
// along tokens.
func mapPath(final, src any, tokens []string) (at []string, value any, ok bool) {
	for i, token := range tokens {
		next, _ := member(final, token)
		mapped := token
		if list, isList := final.([]any); isList {
			srcList, _ := src.([]any)
			j := matchItem(list, token, srcList)
			if j < 0 {
				return append(at, tokens[i:]...), nil, false
			}
			mapped = strconv.Itoa(j)
		}
		srcNext, has := member(src, mapped)
		if !has {
			return append(at, tokens[i:]...), nil, false
		}
		at = append(at, mapped)
		final, src = next, srcNext
	}
	return at, src, true
}

// matchItem finds item token of list in src, -1 when it is not there.
func matchItem(list []any, token string, src []any) int {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(list) {
		return -1
	}
	if i < len(src) && reflect.DeepEqual(list[i], src[i]) {
		return i
	}
	if asMap(list[i]) == nil && len(list) == len(src) && i < len(src) {
		// A list of plain values that was changed in place.
		return i
	}
	return slices.IndexFunc(src, func(x any) bool { return sameItem(list[i], x) })
}

// sameItem reports whether two items are one as far as patches are concerned.
func sameItem(a, b any) bool {
	ma, mb := asMap(a), asMap(b)
	if ma == nil || mb == nil {
		return reflect.DeepEqual(a, b)
	}
	for _, key := range mergeKeys {
		va, inA := ma[key]
		vb, inB := mb[key]
		if inA && inB {
			if !reflect.DeepEqual(va, vb) {
				return false
			}
			// Ports of one number differ by protocol.
			pa, hasA := ma["protocol"]
			pb, hasB := mb["protocol"]
			return !hasA || !hasB || pa == pb
		}
	}
	return reflect.DeepEqual(a, b)
}

func (g *kustGenerator) locate(key string, r source.Ref, files map[string]*source.File) (source.Provenance, bool) {
	item := strconv.Itoa(g.index)
	for j := len(g.sources.LiteralSources) - 1; j >= 0; j-- {
		k, value, _ := strings.Cut(g.sources.LiteralSources[j], "=")
		if k != key {
			continue
		}
		offset := len(k) + len("=")
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			offset, value = offset+1, value[1:n-1]
		}
		start, end := offset, offset+len(value)
		if r.End > 0 && r.End <= len(value) {
			start, end = offset+r.Start, offset+r.End
		}
		at := source.Ref{Pointer: g.node.pointer(g.field, item, "literals", strconv.Itoa(j)), Start: start, End: end}
		if start == end {
			at.Start, at.End = 0, 0
		}
		return g.node.origin.Locate(at), true
	}
	entryNote := func(keys ...string) []source.Note {
		p := g.node.origin.Locate(source.Ref{Pointer: g.node.pointer(append([]string{g.field, item}, keys...)...)})
		return []source.Note{{At: p.Primary, Says: "put into the " + g.kind + " here"}}
	}
	for j, entry := range g.sources.FileSources {
		k, name := splitFileSource(entry)
		f := files[path.Join(g.node.dir, name)]
		if f == nil {
			f = files[path.Join(g.node.dir, name, key)] // a directory of files
		} else if k != key {
			continue
		}
		if f == nil {
			continue
		}
		p := identity{f}.Map(0, lineLen(f.Text()))
		if r.End > 0 && r.Start <= r.End && r.End <= len(f.Text()) {
			p = identity{f}.Map(r.Start, r.End)
		}
		p.Via = entryNote("files", strconv.Itoa(j))
		return p, true
	}
	envs := g.sources.EnvSources
	if g.sources.EnvSource != "" {
		envs = append(slices.Clone(envs), g.sources.EnvSource)
	}
	for _, name := range envs {
		f := files[path.Join(g.node.dir, name)]
		if f == nil {
			continue
		}
		if start, end, ok := envValue(f.Text(), key); ok {
			if r.End > 0 && r.Start <= r.End && start+r.End <= end {
				start, end = start+r.Start, start+r.End
			}
			p := identity{f}.Map(start, end)
			p.Via = entryNote("envs")
			return p, true
		}
	}
	return source.Provenance{}, false
}

// place is where the value of a key was written; of no key, where the entry is.
func (g *kustGenerator) place(key string, r source.Ref, files map[string]*source.File) source.Provenance {
	if key != "" {
		if p, ok := g.locate(key, r, files); ok {
			return p
		}
	}
	p := g.node.origin.Locate(source.Ref{Pointer: g.node.pointer(g.field, strconv.Itoa(g.index))})
	if key != "" {
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	return p
}

// mark marks what the generator made; own are the options of its entry.
func (g *kustGenerator) mark(m *marks, root *yaml.Node, own *types.GeneratorOptions) {
	item := []string{g.field, strconv.Itoa(g.index)}
	at := func(keys ...string) writer { return g.node.mark(append(slices.Clip(item), keys...)...) }
	options := func(key, entry string, local map[string]string) writer {
		if _, ok := local[entry]; ok {
			return at("options", key, entry)
		}
		return g.node.mark("generatorOptions", key, entry)
	}
	if own == nil {
		own = &types.GeneratorOptions{}
	}
	var walk func(n *yaml.Node, tokens []string)
	walk = func(n *yaml.Node, tokens []string) {
		k := writer{generator: g, vague: len(tokens) > 0}
		switch p := strings.Join(tokens[:min(len(tokens), 2)], "/"); {
		case len(tokens) == 2 && (tokens[0] == "data" || tokens[0] == "binaryData"):
			k.key, k.vague = tokens[1], false
		case p == "metadata/name":
			k = at("name")
		case p == "metadata/namespace":
			k = at("namespace")
		case p == "metadata/labels" && len(tokens) == 3:
			k = options("labels", tokens[2], own.Labels)
		case p == "metadata/annotations" && len(tokens) == 3:
			k = options("annotations", tokens[2], own.Annotations)
		case p == "type" && g.node.has(append(slices.Clip(item), "type")...):
			k = at("type")
		case p == "immutable" && own.Immutable:
			k = at("options", "immutable")
		case p == "immutable":
			k = g.node.mark("generatorOptions", "immutable")
		}
		if n.Kind == yaml.ScalarNode {
			k.text = n.Value
		}
		n.Line = m.add(k)
		m.seen[n] = n.Line
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			walk(n.Content[i+1], append(slices.Clip(tokens), n.Content[i].Value))
		}
	}
	walk(root, nil)
}

// has reports whether a field is written.
func (n *kustNode) has(keys ...string) bool {
	at := n.field(keys...)
	return at != nil && at != n.field(keys[:len(keys)-1]...)
}

// envValue finds the value of a KEY=value line.
func envValue(text, key string) (start, end int, ok bool) {
	offset := 0
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(body, " \t")
		if value, found := strings.CutPrefix(trimmed, key+"="); found {
			end = offset + len(body)
			start, ok = end-len(value), true
		}
		offset += len(line)
	}
	return start, end, ok
}

// replacementFile is a file of replacements: one, or a list of them.
type replacementFile struct {
	list   []types.Replacement
	isList bool
	origin source.Origin
}

// replacementFiles reads the files that a kustomization takes replacements from.
// One that holds something else is left to the library, which refuses it.
func (a *accumulation) replacementFiles(n *kustNode) {
	for _, rep := range n.spec.Replacements {
		name := path.Join(n.dir, rep.Path)
		f := a.files[name]
		if rep.Path == "" || f == nil || a.replacements[name] != nil {
			continue
		}
		v, doc, gap := parseOne(f, a.limits)
		if gap != nil {
			a.gaps = append(a.gaps, *gap)
			continue
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		out := &replacementFile{isList: isList, origin: &textOrigin{doc: doc, root: doc.root, m: identity{f}}}
		if data, err := json.Marshal(list); err != nil || json.Unmarshal(data, &out.list) != nil {
			out.list = nil
		}
		a.replacements[name] = out
	}
}
