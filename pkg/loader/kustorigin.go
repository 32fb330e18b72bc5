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

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

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

func newAccumulation(t *tree, files map[string]*source.File, limits Limits) *accumulation {
	return &accumulation{t: t, files: files, limits: limits,
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
	node      *kustNode
	field     string
	index     int
	sources   types.KvPairSources
	behavior  string
	kind      string
	name      string
	namespace string
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
		kind: kind, name: args.Name, namespace: args.Namespace}
	return &candidate{generator: g, kind: kind, name: args.Name, namespace: args.Namespace}
}

func (a *accumulation) objects(ctx context.Context, name string) []*source.Object {
	if objects, ok := a.decoded[name]; ok {
		return objects
	}
	f := a.files[name]
	objects, gaps := decodeObjects(ctx, f, identity{f}, unit{kind: source.Kustomization, dir: a.t.display(path.Dir(name))}, a.limits)
	a.decoded[name] = objects
	a.gaps = append(a.gaps, gaps...)
	return objects
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
	object *source.Object
	// from is what the object was made from, nil when that is not known.
	from *candidate
	// generators are the generator entries that made or merged into it, in order.
	generators []*kustGenerator
	patches    []*kustPatch // those that change it, in order
	graph      *kustGraph
	files      map[string]*source.File
	// replacements are the files of replacements by tree path.
	replacements map[string]*replacementFile
}

func newKustOrigin(o *source.Object, a *accumulation, candidates []*candidate, g *kustGraph) *kustOrigin {
	out := &kustOrigin{object: o, graph: g, files: a.files, replacements: a.replacements}
	best := 0
	for _, c := range candidates {
		if c.generator != nil && (c.generator.behavior == "merge" || c.generator.behavior == "replace") {
			continue
		}
		if s := c.score(o); s > best {
			best, out.from = s, c
		}
	}
	if out.from == nil {
		return out
	}
	for _, c := range candidates {
		if c.generator != nil && c.kind == o.Kind && (c == out.from || slices.Contains(out.from.names(), c.name) && c.generator.behavior != "" && c.generator.behavior != "create") {
			out.generators = append(out.generators, c.generator)
		}
	}
	for _, n := range out.from.layers {
		for _, p := range a.patches(n) {
			if p.changes(out.from, o) {
				out.patches = append(out.patches, p)
			}
		}
	}
	return out
}

// kustPatch is one document of a patch.
type kustPatch struct {
	tree   any // a mapping (strategic merge) or a list of operations (JSON 6902)
	origin source.Origin
	target *types.Selector
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
			if f := a.files[path.Join(n.dir, p.Path)]; f != nil && p.Path != "" {
				out = append(out, a.patchFile(f, p.Target)...)
			} else if p.Patch != "" {
				out = append(out, a.inlinePatch(n, p.Patch, p.Target, field, strconv.Itoa(i), "patch")...)
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
	return a.patchText(source.NewFile(n.file.Path(), text), inlineText{n: n, pointer: n.pointer(keys...)}, target)
}

// inlineText is the textMap of a text inside a string of a kustomization file.
type inlineText struct {
	n       *kustNode
	pointer string
}

func (m inlineText) Map(start, end int) source.Provenance {
	return m.n.origin.Locate(source.Ref{Pointer: m.pointer, Start: start, End: max(end, start+1)})
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

// changes reports whether the patch is aimed at the candidate that became o.
func (p *kustPatch) changes(c *candidate, o *source.Object) bool {
	names := append(c.names(), o.Name)
	if p.target == nil {
		tree := asMap(p.tree)
		meta := asMap(tree["metadata"])
		name, _ := meta["name"].(string)
		ns, _ := meta["namespace"].(string)
		return tree["kind"] == o.Kind && slices.Contains(names, name) &&
			(ns == "" || ns == "default" || ns == c.namespace || ns == o.Namespace)
	}
	s, err := types.NewSelectorRegex(p.target)
	if err != nil {
		return false
	}
	group, version, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group, version = "", o.APIVersion
	}
	gvk := p.target.Gvk
	gvk.Group, gvk.Version, gvk.Kind = group, version, o.Kind
	if !s.MatchGvk(gvk) || !slices.ContainsFunc(names, s.MatchName) ||
		!s.MatchNamespace(c.namespace) && !s.MatchNamespace(o.Namespace) {
		return false
	}
	meta := asMap(o.Tree["metadata"])
	return selects(p.target.LabelSelector, meta["labels"]) && selects(p.target.AnnotationSelector, meta["annotations"])
}

func selects(selector string, set any) bool {
	if selector == "" {
		return true
	}
	values := map[string]string{}
	for k, v := range asMap(set) {
		values[k], _ = v.(string)
	}
	n := kyaml.NewMapRNode(nil)
	if err := n.SetLabels(values); err != nil {
		return false
	}
	ok, err := n.MatchesLabelSelector(selector)
	return err == nil && ok
}

// Locate implements source.Origin.
func (o *kustOrigin) Locate(r source.Ref) source.Provenance {
	if o.from == nil {
		file := o.graph.root.file
		return source.Provenance{Primary: source.Location{File: file.Path(), Span: file.Span(0, 0), Precision: source.WholeFile}}
	}
	tokens := source.PointerTokens(r.Pointer)
	final, depth := walkTokens(o.object.Tree, tokens)
	if depth == len(tokens) {
		return o.place(tokens, final, r)
	}
	p := o.place(tokens[:depth], final, source.Ref{})
	worse := source.Parent
	if depth == 0 {
		worse = source.WholeObject
	}
	p.Primary.Precision = p.Primary.Precision.Worse(worse)
	return p
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

// place finds who wrote the existing field at tokens, whose final value is known.
func (o *kustOrigin) place(tokens []string, final any, r source.Ref) source.Provenance {
	if p, ok := o.generatedPlace(tokens, r); ok {
		return p
	}
	var inBase []string
	var baseValue any
	baseHas := false
	if o.from.object != nil {
		inBase, baseValue, baseHas = mapPath(o.object.Tree, o.from.object.Tree, tokens)
	}
	base := func() source.Provenance {
		if o.from.object == nil {
			g := o.from.generator
			return g.node.origin.Locate(source.Ref{Pointer: g.node.pointer(g.field, strconv.Itoa(g.index))})
		}
		return o.from.object.Origin.Locate(ref(inBase, r))
	}
	isScalar := !isCollection(final)
	// What a patch needs to find its target and list items is no change.
	identity := namesObject(tokens) || baseHas && len(tokens) > 0 && slices.Contains(mergeKeys, tokens[len(tokens)-1]) && reflect.DeepEqual(baseValue, final)
	if !identity && len(tokens) > 0 {
		if p, at, ok := o.patched(tokens, final, isScalar, baseHas); ok {
			prov := p.origin.Locate(ref(at, r))
			if baseHas {
				prov.Via = append(prov.Via, source.Note{At: base().Primary, Says: "the base that this patch changes"})
			}
			return prov
		}
	}
	if baseHas && (!isScalar || reflect.DeepEqual(baseValue, final)) {
		return base()
	}
	if p, ok := o.transformed(tokens, final); ok {
		if baseHas {
			p.Via = append(p.Via, source.Note{At: base().Primary, Says: "the base that this changes"})
		}
		return p
	}
	p := base()
	if !baseHas || !namesObject(tokens) {
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	return p
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

// ref returns r at another pointer.
func ref(tokens []string, r source.Ref) source.Ref {
	out := source.Ref{Object: "file"}.Child(tokens...)
	out.Start, out.End, out.Key = r.Start, r.End, r.Key
	return out
}

// patched finds the last patch that holds the field: for a scalar, with its
// final value; for a collection, the patch that brought it in.
func (o *kustOrigin) patched(tokens []string, final any, isScalar, baseHas bool) (*kustPatch, []string, bool) {
	for i := len(o.patches) - 1; i >= 0; i-- {
		p := o.patches[i]
		at, v, whole, ok := p.find(o.object.Tree, tokens)
		switch {
		case !ok:
		case isScalar && reflect.DeepEqual(v, final), !isScalar && (!baseHas || whole && reflect.DeepEqual(v, final)):
			return p, at, true
		}
	}
	return nil, nil, false
}

// find looks for the field of the final object in the patch; whole says that
// the patch sets this very field rather than something inside it.
func (p *kustPatch) find(final map[string]any, tokens []string) (at []string, v any, whole, ok bool) {
	if ops, isJSON := p.tree.([]any); isJSON {
		return findOperation(final, ops, tokens)
	}
	at, v, ok = mapPath(final, p.tree, tokens)
	return at, v, false, ok
}

// findOperation looks for the JSON 6902 operation that set the field.
func findOperation(final map[string]any, ops []any, tokens []string) (at []string, v any, whole, ok bool) {
	for i := len(ops) - 1; i >= 0; i-- {
		op := asMap(ops[i])
		value, has := op["value"]
		if verb := op["op"]; !has || verb != "add" && verb != "replace" {
			continue
		}
		pointer, _ := op["path"].(string)
		target := source.PointerTokens(pointer)
		if len(target) > len(tokens) {
			continue
		}
		holder, depth := walkTokens(final, tokens[:len(target)])
		if depth < len(target) || !samePath(target, tokens, holder, value) {
			continue
		}
		rest, v, found := mapPath(holder, value, tokens[len(target):])
		if found {
			return append([]string{strconv.Itoa(i), "value"}, rest...), v, len(target) == len(tokens), true
		}
	}
	return nil, nil, false, false
}

// samePath reports whether an operation's path leads to tokens; - stands for
// the item that holds the operation's value.
func samePath(target, tokens []string, holder, value any) bool {
	for i, t := range target {
		switch {
		case t == tokens[i]:
		case t == "-" && i == len(target)-1 && sameItem(holder, value):
		default:
			return false
		}
	}
	return true
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

// generatedPlace finds a data key in the generators of the object.
func (o *kustOrigin) generatedPlace(tokens []string, r source.Ref) (source.Provenance, bool) {
	if len(tokens) != 2 || tokens[0] != "data" && tokens[0] != "binaryData" && tokens[0] != "stringData" {
		return source.Provenance{}, false
	}
	for i := len(o.generators) - 1; i >= 0; i-- {
		if p, ok := o.generators[i].locate(tokens[1], r, o.files); ok {
			return p, true
		}
	}
	return source.Provenance{}, false
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

// transformed finds the line of a kustomization that set a field without a
// patch: namespace, image, replicas, label, annotation, replacement.
func (o *kustOrigin) transformed(tokens []string, final any) (source.Provenance, bool) {
	if len(tokens) == 0 {
		return source.Provenance{}, false
	}
	last := tokens[len(tokens)-1]
	for i := len(o.from.layers) - 1; i >= 0; i-- {
		n := o.from.layers[i]
		if at, ok := o.replaced(n, tokens); ok {
			return at, true
		}
		if keys := n.transformer(tokens, last, final, o); keys != nil {
			return n.origin.Locate(source.Ref{Pointer: n.pointer(keys...)}), true
		}
	}
	return source.Provenance{}, false
}

// replaced finds the replacement of n that wrote a field: the last one wins.
func (o *kustOrigin) replaced(n *kustNode, tokens []string) (source.Provenance, bool) {
	for i := len(n.spec.Replacements) - 1; i >= 0; i-- {
		rep := n.spec.Replacements[i]
		if rep.Path == "" {
			if keys := o.replacementTarget(&rep.Replacement, tokens); keys != nil {
				return n.origin.Locate(source.Ref{Pointer: n.pointer(append([]string{"replacements", strconv.Itoa(i)}, keys...)...)}), true
			}
			continue
		}
		file := o.replacements[path.Join(n.dir, rep.Path)]
		if file == nil {
			continue
		}
		for j := len(file.list) - 1; j >= 0; j-- {
			if keys := o.replacementTarget(&file.list[j], tokens); keys != nil {
				if file.isList {
					keys = append([]string{strconv.Itoa(j)}, keys...)
				}
				return file.origin.Locate(source.Ref{Pointer: "/" + strings.Join(keys, "/")}), true
			}
		}
	}
	return source.Provenance{}, false
}

// replacementTarget returns the keys of the path by which a replacement writes
// the field, nil when it does not.
func (o *kustOrigin) replacementTarget(rep *types.Replacement, tokens []string) []string {
	for j, target := range rep.Targets {
		if target == nil || !o.selectedBy(target.Select) {
			continue
		}
		for f, fieldPath := range target.FieldPaths {
			if fieldPathMatches(o.object.Tree, fieldPath, tokens) {
				return []string{"targets", strconv.Itoa(j), "fieldPaths", strconv.Itoa(f)}
			}
		}
	}
	return nil
}

func (o *kustOrigin) selectedBy(s *types.Selector) bool {
	return s == nil || (s.Kind == "" || s.Kind == o.object.Kind) && (s.Name == "" || slices.Contains(o.from.names(), s.Name))
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

// transformer returns the keys of the field of n that gave the field its final
// value, nil when n did not.
func (n *kustNode) transformer(tokens []string, last string, final any, o *kustOrigin) []string {
	text, _ := final.(string)
	k := &n.spec
	if last == "namespace" && k.Namespace != "" && k.Namespace == text {
		return []string{"namespace"}
	}
	if last == "replicas" {
		for i, r := range k.Replicas {
			if final == r.Count && slices.Contains(o.from.names(), r.Name) {
				return []string{"replicas", strconv.Itoa(i), "count"}
			}
		}
	}
	if last == "image" {
		for _, field := range []string{"images", "imageTags"} {
			list := k.Images
			if field != "images" {
				list = n.older.imageTags
			}
			for i, img := range list {
				if key := imageSets(img, text); key != "" {
					return []string{field, strconv.Itoa(i), key}
				}
			}
		}
	}
	parent := ""
	if len(tokens) > 1 {
		parent = tokens[len(tokens)-2]
	}
	switch parent {
	case "labels", "matchLabels", "selector":
		if v, ok := n.older.commonLabels[last]; ok && v == text {
			return []string{"commonLabels", last}
		}
		for i, l := range k.Labels {
			if v, ok := l.Pairs[last]; ok && v == text {
				return []string{"labels", strconv.Itoa(i), "pairs", last}
			}
		}
	case "annotations":
		if v, ok := k.CommonAnnotations[last]; ok && v == text {
			return []string{"commonAnnotations", last}
		}
	}
	return nil
}

// imageSets returns the field of an images entry that made image what it is.
func imageSets(img types.Image, image string) string {
	name := img.Name
	if img.NewName != "" {
		name = img.NewName
	}
	rest, ok := strings.CutPrefix(image, name)
	if !ok || rest != "" && rest[0] != ':' && rest[0] != '@' {
		return ""
	}
	switch {
	case img.Digest != "" && strings.HasSuffix(rest, "@"+img.Digest):
		return "digest"
	case img.NewTag != "" && strings.HasPrefix(rest, ":"+img.NewTag):
		return "newTag"
	case img.TagSuffix != "" && strings.HasSuffix(rest, img.TagSuffix):
		return "tagSuffix"
	case img.NewName != "" && img.NewTag == "" && img.Digest == "":
		return "newName"
	}
	return ""
}

// fieldPathMatches reports whether a replacement's path
// (spec.containers.[name=vpn].image, spec.hosts.*) leads to tokens.
func fieldPathMatches(tree map[string]any, fieldPath string, tokens []string) bool {
	parts := splitFieldPath(fieldPath)
	if len(parts) != len(tokens) {
		return false
	}
	var v any = tree
	for i, part := range parts {
		next, ok := member(v, tokens[i])
		if !ok {
			return false
		}
		if cond, isCond := strings.CutPrefix(part, "["); isCond {
			key, want, _ := strings.Cut(strings.TrimSuffix(cond, "]"), "=")
			if got, _ := asMap(next)[key].(string); got != want {
				return false
			}
		} else if part != "*" && part != tokens[i] {
			return false
		}
		v = next
	}
	return true
}

// splitFieldPath splits at dots outside of brackets; \. is a dot.
func splitFieldPath(s string) []string {
	var parts []string
	var b strings.Builder
	inBrackets := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '.':
			i++
			b.WriteByte('.')
		case c == '.' && !inBrackets:
			parts = append(parts, b.String())
			b.Reset()
		default:
			inBrackets = c == '[' || inBrackets && c != ']'
			b.WriteByte(c)
		}
	}
	return append(parts, b.String())
}
