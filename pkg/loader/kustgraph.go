package loader

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustGraph is a kustomization with all that it refers to. It is made before
// kustomize's library sees any of it: the library fetches remote entries and
// runs git and plug-ins without asking, so only a graph without refusals, whose
// every entry is an existing path inside the tree, reaches it.
type kustGraph struct {
	dir, file string // tree paths
	component bool
	root      *kustNode
	// uses holds the tree paths of all files and kustomization directories that
	// the graph refers to; dir itself only if it includes itself.
	uses map[string]bool
	// copies are the files that the library needs, other than kustomization
	// files; nodes the kustomization files by directory.
	copies    map[string]bool
	nodes     map[string]*kustNode
	resources int // resource files
	refusals  []finding.Gap
	// left are resources that are built without.
	left []finding.Gap
	// texts are the copies that the library gets in part, by tree path.
	texts map[string]string
	// lost is what was left out with them.
	lost []string
	// remarks are what else is to be said of the kustomization files.
	remarks []finding.Gap
}

// kustNode is one kustomization file.
type kustNode struct {
	dir, name string // tree paths of the directory and the file
	file      *source.File
	doc       *document
	origin    *textOrigin // places of the file
	read      any         // the file as manifests are read; nil before it is asked for
	spec      types.Kustomization
	older     olderFields
	resources []kustItem
	remote    bool // resources of it are elsewhere
	helm      []kustHelm
	without   map[string]bool // entries that it is built without, as field/index
	// components in order.
	components []*kustNode
	// unmade are the objects of generators that lack their files, and unmadeGap is
	// which of the graph's gaps tells of them.
	unmade    []string
	unmadeGap int
}

// kustItem is one entry of resources: a file or a kustomization.
type kustItem struct {
	file string
	node *kustNode
}

// olderFields are the fields of a kustomization that have successors but are
// still written and built.
type olderFields struct {
	bases          []string
	strategicMerge []types.PatchStrategicMerge
	json6902       []types.Patch
	imageTags      []types.Image
	commonLabels   map[string]string
	vars           int
}

//nolint:staticcheck // this is the one place that reads what is deprecated
func newOlderFields(k *types.Kustomization) olderFields {
	return olderFields{k.Bases, k.PatchesStrategicMerge, k.PatchesJson6902, k.ImageTags, k.CommonLabels, len(k.Vars)}
}

// withoutDeprecations returns the kustomization in the terms that the library
// does not complain about on standard error; the meaning is the same.
//
//nolint:staticcheck // this is the one place that empties what is deprecated
func withoutDeprecations(n *kustNode, files map[string]*source.File) types.Kustomization {
	k := n.spec
	k.Resources = slices.Clone(k.Resources)
	if n.remote {
		k.Resources = append(slices.DeleteFunc(k.Resources, looksRemote), nothingResource)
		k.Bases = slices.DeleteFunc(slices.Clone(k.Bases), looksRemote)
	}
	for _, h := range n.helm {
		k.Resources = append(k.Resources, h.resourceName())
	}
	k.HelmCharts, k.HelmGlobals = nil, nil
	k.Generators = kept(n, "generators", k.Generators)
	k.Patches = kept(n, "patches", k.Patches)
	k.ConfigMapGenerator, k.SecretGenerator = kept(n, "configMapGenerator", k.ConfigMapGenerator), kept(n, "secretGenerator", k.SecretGenerator)
	k.FixKustomization()
	// Strategic merge patches run before the others, so they go first.
	var patches []types.Patch
	for _, p := range kept(n, "patchesStrategicMerge", n.older.strategicMerge) {
		if files[path.Join(n.dir, string(p))] != nil && !isInline(string(p)) {
			patches = append(patches, types.Patch{Path: string(p)})
		} else {
			patches = append(patches, types.Patch{Patch: string(p)})
		}
	}
	k.Patches = append(patches, k.Patches...)
	k.PatchesStrategicMerge = nil
	if len(n.older.commonLabels) > 0 {
		k.Labels = append([]types.Label{{Pairs: n.older.commonLabels, IncludeSelectors: true}}, k.Labels...)
		k.CommonLabels = nil
	}
	return k
}

// nothingResource is a resource without objects: the library refuses a
// kustomization without any.
const nothingResource = ".nothing.yaml"

func isKustFileName(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

const maxKustDepth = 64

// kustReader walks a graph.
type kustReader struct {
	t      *tree
	limits Limits
	charts map[string]target // copies that the user gives, by name
	g      *kustGraph
}

// readKustGraph reads the kustomization at dir; nil when there is none.
func readKustGraph(t *tree, dir string, opts Options) *kustGraph {
	return readKustGraphWith(t, dir, nil, opts)
}

// readKustGraphWith is readKustGraph with more components than the kustomization
// itself names.
func readKustGraphWith(t *tree, dir string, components []string, opts Options) *kustGraph {
	g := &kustGraph{dir: dir, uses: map[string]bool{}, copies: map[string]bool{}, nodes: map[string]*kustNode{}}
	r := &kustReader{t: t, limits: opts.Limits.withDefaults(), charts: opts.charts, g: g}
	names := r.fileNames(dir)
	if len(names) == 0 {
		return nil
	}
	g.file = names[0]
	n, isKust := r.read(dir, names)
	if !isKust {
		return nil
	}
	g.uses[g.file] = true
	g.root = n
	if n != nil {
		g.component = n.spec.Kind == types.ComponentKind
		g.nodes[dir] = n
		n.spec.Components = slices.Concat(n.spec.Components, components)
		r.walk(n, []string{dir}, false)
	}
	return g
}

func (r *kustReader) fileNames(dir string) []string {
	var names []string
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if p := path.Join(dir, name); r.t.isFile(p) {
			names = append(names, p)
		}
	}
	return names
}

// read parses a kustomization file. isKust is false when the file is no
// kustomization at all, such as a Flux object of that kind; the node is nil
// when it cannot be built, which is then among the refusals.
func (r *kustReader) read(dir string, names []string) (n *kustNode, isKust bool) {
	f, err := r.t.readFile(names[0])
	if err != nil {
		r.g.refusals = append(r.g.refusals, notBuilt(unreadable(r.t.display(names[0]), err)))
		return nil, true
	}
	n = &kustNode{dir: dir, name: names[0], file: f, doc: &document{file: f}}
	v, doc, gaps := parseOne(f, "kustomize", r.limits)
	if doc == nil {
		gap := &gaps[0]
		r.g.refusals = append(r.g.refusals, notBuilt(*gap))
		return nil, true
	}
	tree, ok := v.(map[string]any)
	if v != nil && !ok {
		r.refuse(n, nil, "it is no mapping of fields; kustomize build fails in the same way")
		return nil, true
	}
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	if apiVersion != "" && !strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/") ||
		kind != "" && kind != types.KustomizationKind && kind != types.ComponentKind {
		return nil, false
	}
	r.g.remarks = append(r.g.remarks, gaps...)
	n.doc = doc
	n.origin = &textOrigin{doc: doc, root: doc.root, m: identity{f}}
	if len(names) > 1 {
		r.refuse(n, nil, fmt.Sprintf("the directory holds %d kustomization files; keep one of %s", len(names), strings.Join(baseNames(names), ", ")))
		return nil, true
	}
	if err := n.spec.Unmarshal([]byte(f.Text())); err != nil {
		field, why := jsonWords(err.Error())
		var at *yaml.Node
		if len(field) > 0 {
			at = n.field(field...)
			if culprit := wrongAt(n.doc.root, field, wrongType.FindStringSubmatch(err.Error())[1]); culprit != nil {
				at = culprit
			}
		}
		r.refuse(n, at, why+"; correct the field")
		return nil, true
	}
	n.older = newOlderFields(&n.spec)
	if len(tree) == 0 {
		r.refuse(n, nil, "it is empty; list its resources, or remove it")
		return nil, true
	}
	return n, true
}

// wrongAt finds the first value below a field that is of a kind of JSON. The
// fields lead through lists, of which nobody says which item it is.
func wrongAt(at *yaml.Node, field []string, kind string) *yaml.Node {
	switch {
	case at == nil:
		return nil
	case len(field) == 0 && (at.Kind == yaml.MappingNode) == (kind == "object") && (at.Kind == yaml.SequenceNode) == (kind == "array"):
		return at
	case at.Kind == yaml.SequenceNode:
		for _, item := range at.Content {
			if found := wrongAt(item, field, kind); found != nil {
				return found
			}
		}
	case at.Kind == yaml.MappingNode && len(field) > 0:
		_, value, _ := lookup(at, field[0], 0)
		return wrongAt(value, field[1:], kind)
	}
	return nil
}

func baseNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = path.Base(n)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// parseOne parses the first document of a text that holds any, for a reader that
// takes the last of two keys of one name. There is no document where it cannot be
// read, for which the first gap says why.
func parseOne(f *source.File, reader string, limits Limits) (any, *document, []finding.Gap) {
	d := decoder{file: f, m: identity{f}, limits: limits, aliasBudget: limits.AliasNodes, reader: reader}
	chunks := splitDocuments(f.Text())
	for i, c := range chunks {
		v, _, doc, ok := d.parse(c)
		if ok {
			for _, more := range chunks[i+1:] {
				if !blankDocument(f.Text()[more.start:more.end]) {
					d.gap((&document{file: f, chunk: more}).next(more.start), "a second document of the file was not read", reader+" reads the first and drops the rest without a word; merge the two", "")
					break
				}
			}
			return v, doc, d.gaps
		}
		if len(d.gaps) > 0 {
			return nil, nil, d.gaps
		}
	}
	return nil, &document{file: f, chunk: chunk{0, len(f.Text())}}, nil
}

// notBuilt turns the gap of a file into one of the kustomization.
func notBuilt(g finding.Gap) finding.Gap {
	g.Kind = finding.Unreadable
	g.What = "the kustomization was not built"
	g.Consequence = "none of the objects it produces was checked"
	return g
}

// refuse records why the graph is not built; at is nil for the file as a whole.
func (r *kustReader) refuse(n *kustNode, at *yaml.Node, why string) {
	r.g.refusals = append(r.g.refusals, notBuilt(finding.Gap{File: n.file.Path(), Line: r.lineOf(n, at), Why: why}))
}

func (r *kustReader) lineOf(n *kustNode, at *yaml.Node) int {
	if at == nil {
		return 1
	}
	return n.file.Position(n.doc.start(at)).Line
}

const neverFetched = " is remote and nothing is ever fetched; vendor it into the tree, or lint the output of kustomize build"

// field returns the node of a kustomization's field. Its keys may be written in
// any case.
func (n *kustNode) field(keys ...string) *yaml.Node {
	at := n.doc.root
	for _, key := range keys {
		if at == nil {
			return nil
		}
		if at.Kind == yaml.AliasNode && at.Alias != nil {
			at = at.Alias
		}
		var next *yaml.Node
		if i, err := strconv.Atoi(key); err == nil && at.Kind == yaml.SequenceNode {
			next = childAt(at, i)
		} else if at.Kind == yaml.MappingNode {
			for j := 0; j+1 < len(at.Content); j += 2 {
				if strings.EqualFold(at.Content[j].Value, key) {
					next = at.Content[j+1]
				}
			}
		}
		if next == nil {
			return at // the nearest place there is
		}
		at = next
	}
	return at
}

// pointer returns the JSON pointer of a field as it is written.
func (n *kustNode) pointer(keys ...string) string {
	r := source.Ref{Object: "kustomization"}
	at := n.doc.root
	for _, key := range keys {
		written := key
		if at != nil && at.Kind == yaml.MappingNode {
			for j := 0; j+1 < len(at.Content); j += 2 {
				if strings.EqualFold(at.Content[j].Value, key) {
					written = at.Content[j].Value
				}
			}
			at = child(at, written)
		} else if i, err := strconv.Atoi(key); err == nil {
			at = childAt(at, i)
		}
		r = r.Child(written)
	}
	return r.Pointer
}

var (
	remoteUser   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)
	remoteScheme = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`)
	remoteHost   = regexp.MustCompile(`(?i)^(git::|github\.com[/:])`)
)

// looksRemote reports whether kustomize would take an entry for a URL or a git
// repository, even if a path of that name exists.
func looksRemote(entry string) bool {
	return remoteScheme.MatchString(entry) || remoteUser.MatchString(entry) || remoteHost.MatchString(entry)
}

// entry checks that an entry is an existing path inside the tree and returns
// its tree path.
func (r *kustReader) entry(n *kustNode, field, entry string, at *yaml.Node) (string, bool) {
	return r.entryIn(n.dir, n, field, entry, at)
}

// entryIn is entry for one that is relative to the directory dir.
func (r *kustReader) entryIn(dir string, n *kustNode, field, entry string, at *yaml.Node) (string, bool) {
	quoted := fmt.Sprintf("%s entry %q", field, entry)
	switch {
	case entry == "":
		r.refuse(n, at, field+" has an empty entry; remove it")
		return "", false
	case looksRemote(entry):
		r.refuse(n, at, quoted+neverFetched)
		return "", false
	case path.IsAbs(entry) || filepath.IsAbs(entry):
		r.refuse(n, at, quoted+" is an absolute path; write it relative to this file")
		return "", false
	}
	name := path.Join(dir, entry)
	if name == ".." || strings.HasPrefix(name, "../") {
		r.refuse(n, at, fmt.Sprintf("%s leads out of the tree %s; run from a directory that encloses it, or vendor it into the tree", quoted, r.t.display(".")))
		return "", false
	}
	if _, err := r.t.stat(name); err != nil {
		why := quoted + " cannot be read: " + unreadable("", err).Why
		if isNotExist(err) {
			why = quoted + " does not exist; create it or correct the path"
			if strings.Contains(entry, "?") {
				why = quoted + " is no path of the tree; a remote entry is never fetched: vendor it, or lint the output of kustomize build"
			}
		}
		r.refuse(n, at, why)
		return "", false
	}
	return name, true
}

// fileEntry is entry for what must be a file, which is then copied.
func (r *kustReader) fileEntry(n *kustNode, field, entry string, at *yaml.Node) {
	name, ok := r.entry(n, field, entry, at)
	if !ok {
		return
	}
	if r.t.isDir(name) {
		r.refuse(n, at, fmt.Sprintf("%s entry %q is a directory; name a file", field, entry))
		return
	}
	r.copy(name)
}

func (r *kustReader) copy(name string) {
	r.g.copies[name] = true
	r.g.uses[name] = true
}

// walk follows every entry of a kustomization. stack are the directories that
// lead to it. config: its resources are plug-in configurations.
func (r *kustReader) walk(n *kustNode, stack []string, config bool) {
	k := &n.spec
	for i, entry := range k.Resources {
		r.resource(n, "resources", entry, n.field("resources", strconv.Itoa(i)), stack, config)
	}
	for i, entry := range n.older.bases {
		r.resource(n, "bases", entry, n.field("bases", strconv.Itoa(i)), stack, config)
	}
	for i, entry := range k.Components {
		at := n.field("components", strconv.Itoa(i))
		if name, ok := r.entry(n, "components", entry, at); ok {
			if sub := r.include(n, "components", entry, name, at, stack, config); sub != nil {
				n.components = append(n.components, sub)
			}
		}
	}
	r.files(n, "crds", k.Crds)
	r.files(n, "configurations", k.Configurations)
	if p := k.OpenAPI["path"]; p != "" {
		r.fileEntry(n, "openapi.path", p, n.field("openapi", "path"))
	}
	r.patches(n)
	for i, rep := range k.Replacements {
		if rep.Path != "" {
			r.fileEntry(n, "replacements", rep.Path, n.field("replacements", strconv.Itoa(i), "path"))
		}
	}
	for i, g := range k.ConfigMapGenerator {
		r.generator(n, "configMapGenerator", i, g.GeneratorArgs)
	}
	for i, g := range k.SecretGenerator {
		r.generator(n, "secretGenerator", i, g.GeneratorArgs)
	}
	r.plugins(n, "generators", k.Generators, stack)
	r.plugins(n, "transformers", k.Transformers, stack)
	r.plugins(n, "validators", k.Validators, stack)
	for i := range k.HelmCharts {
		r.helmChart(n, i)
	}
	if len(k.HelmChartInflationGenerator) > 0 {
		const field = "helmChartInflationGenerator"
		r.refuse(n, n.field(field), field+" needs the helm program and network access, which are never used; use helmCharts with the chart in the tree, or lint the output of kustomize build --enable-helm")
	}
	if config && (len(k.Patches)+len(n.older.strategicMerge)+len(n.older.json6902)+len(k.Replacements)+len(k.CommonAnnotations)+len(k.ConfigMapGenerator)+len(k.SecretGenerator) > 0) {
		r.refuse(n, nil, "it changes plug-in configurations before they run, which cannot be checked beforehand; lint the output of kustomize build")
	}
}

func (r *kustReader) files(n *kustNode, field string, entries []string) {
	for i, entry := range entries {
		r.fileEntry(n, field, entry, n.field(field, strconv.Itoa(i)))
	}
}

func (r *kustReader) resource(n *kustNode, field, entry string, at *yaml.Node, stack []string, config bool) {
	if looksRemote(entry) && !config {
		// The library never hears of it.
		n.remote = true
		r.g.left = append(r.g.left, finding.Gap{
			Kind: finding.Unreadable, File: n.file.Path(), Line: r.lineOf(n, at), What: "a resource of the kustomization is not in the tree",
			Why:         fmt.Sprintf("%s entry %q%s", field, entry, neverFetched),
			Consequence: "the objects that it brings were not checked",
		})
		return
	}
	name, ok := r.entry(n, field, entry, at)
	if !ok {
		return
	}
	if !r.t.isDir(name) {
		r.g.resources++
		r.copy(name)
		n.resources = append(n.resources, kustItem{file: name})
		if config {
			r.pluginFile(n, field, name, at)
		}
		return
	}
	if sub := r.include(n, field, entry, name, at, stack, config); sub != nil {
		n.resources = append(n.resources, kustItem{node: sub})
	}
}

// include walks the kustomization at the directory name.
func (r *kustReader) include(n *kustNode, field, entry, name string, at *yaml.Node, stack []string, config bool) *kustNode {
	switch {
	case slices.Contains(stack, name):
		r.g.uses[name] = true
		r.refuse(n, at, fmt.Sprintf("%s entry %q leads back to a kustomization that includes this one; break the cycle", field, entry))
		return nil
	case len(stack) >= maxKustDepth:
		r.refuse(n, at, fmt.Sprintf("%s entry %q is more than %d kustomizations deep; flatten the includes", field, entry, maxKustDepth))
		return nil
	case len(r.g.refusals) > 0 && len(r.g.nodes) > r.limits.KustomizeFiles:
		return nil
	}
	if len(r.g.nodes) > r.limits.KustomizeFiles {
		r.refuse(n, at, fmt.Sprintf("it includes more kustomizations than the limit of %d; raise --limit-kustomize-files", r.limits.KustomizeFiles))
		return nil
	}
	r.g.uses[name] = true
	names := r.fileNames(name)
	if len(names) == 0 {
		r.refuse(n, at, fmt.Sprintf("%s entry %q is a directory without a kustomization file; add one or list its files", field, entry))
		return nil
	}
	r.g.uses[names[0]] = true
	if known := r.g.nodes[name]; known != nil {
		// Reached twice (a diamond): walked already, and no cycle.
		return known
	}
	sub, isKust := r.read(name, names)
	if sub == nil {
		if !isKust {
			r.refuse(n, at, fmt.Sprintf("%s entry %q: its %s is no kustomization", field, entry, path.Base(names[0])))
		}
		return nil
	}
	r.g.nodes[name] = sub
	r.walk(sub, append(slices.Clone(stack), name), config)
	return sub
}

// patches checks the files of patches; inline ones need none.
func (r *kustReader) patches(n *kustNode) {
	for _, field := range []string{"patches", "patchesJson6902"} {
		list := n.spec.Patches
		if field != "patches" {
			list = n.older.json6902
		}
		for i, p := range list {
			if p.Path != "" {
				r.fileEntry(n, field, p.Path, n.field(field, strconv.Itoa(i), "path"))
			}
		}
	}
	for i, p := range n.older.strategicMerge {
		if !isInline(string(p)) {
			r.fileEntry(n, "patchesStrategicMerge", string(p), n.field("patchesStrategicMerge", strconv.Itoa(i)))
		}
	}
}

// isInline reports whether an entry that may be a path or YAML is YAML.
func isInline(entry string) bool {
	return strings.Contains(entry, "\n") || strings.Contains(entry, ": ") || strings.HasPrefix(strings.TrimSpace(entry), "{")
}

// generator checks the files of a ConfigMap or Secret generator.
func (r *kustReader) generator(n *kustNode, field string, i int, g types.GeneratorArgs) {
	s := g.KvPairSources
	item := strconv.Itoa(i)
	if r.leavesGenerator(n, field, i, g) {
		return
	}
	for j, entry := range s.FileSources {
		_, file := splitFileSource(entry)
		at := n.field(field, item, "files", strconv.Itoa(j))
		// Unlike kubectl create configmap, kustomize takes no directory.
		r.fileEntry(n, field+" files", file, at)
	}
	for j, entry := range s.EnvSources {
		r.fileEntry(n, field+" envs", entry, n.field(field, item, "envs", strconv.Itoa(j)))
	}
	if s.EnvSource != "" {
		r.fileEntry(n, field+" env", s.EnvSource, n.field(field, item, "env"))
	}
}

// leavesGenerator leaves a generator out whose files are not in the tree, as the
// .env of a Secret that nobody commits: the rest is built without the object, of
// which nothing is known then. One that changes what another makes cannot be left
// out, for what that makes would be taken for all there is.
func (r *kustReader) leavesGenerator(n *kustNode, field string, i int, g types.GeneratorArgs) bool {
	if g.Behavior != "" && g.Behavior != "create" {
		return false
	}
	item := strconv.Itoa(i)
	gone := func(kind, entry string, at *yaml.Node) bool {
		name := path.Join(n.dir, entry)
		if entry == "" || looksRemote(entry) || path.IsAbs(entry) || strings.HasPrefix(name, "..") {
			return false
		}
		if _, err := r.t.stat(name); !isNotExist(err) {
			return false
		}
		r.unmade(n, map[string]string{"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}[field]+" "+g.Name,
			fmt.Sprintf("%s %s entry %q is not in the tree; lint it where the file is, or put one with the same keys in its place", field, kind, entry), at)
		n.leave(field, i)
		return true
	}
	for j, entry := range g.FileSources {
		if _, file := splitFileSource(entry); gone("files", file, n.field(field, item, "files", strconv.Itoa(j))) {
			return true
		}
	}
	for j, entry := range g.EnvSources {
		if gone("envs", entry, n.field(field, item, "envs", strconv.Itoa(j))) {
			return true
		}
	}
	return gone("env", g.EnvSource, n.field(field, item, "env"))
}

// unmade records that an object is not made: one gap tells of all of a
// kustomization.
func (r *kustReader) unmade(n *kustNode, object, why string, at *yaml.Node) {
	if n.unmade == nil {
		n.unmadeGap = len(r.g.left)
		r.g.left = append(r.g.left, finding.Gap{
			Kind: finding.Unreadable, File: n.file.Path(), Line: r.lineOf(n, at), What: object + " of the kustomization was not made",
			Why: why, Consequence: "what is in it is taken for unknown",
		})
	}
	n.unmade = append(n.unmade, object)
	if len(n.unmade) > 1 {
		gap := &r.g.left[n.unmadeGap]
		gap.What = fmt.Sprintf("%d objects of the kustomization were not made: %s", len(n.unmade), enumerate(n.unmade, 12))
		gap.Consequence = "what is in them is taken for unknown"
	}
}

// splitFileSource splits [key=]path; the key defaults to the file's name.
func splitFileSource(entry string) (key, file string) {
	if key, file, ok := strings.Cut(entry, "="); ok {
		return key, file
	}
	return path.Base(entry), entry
}

// plugins checks generators, transformers and validators: only plug-ins built
// into kustomize run, and none that starts a program.
func (r *kustReader) plugins(n *kustNode, field string, entries []string, stack []string) {
	for i, entry := range entries {
		at := n.field(field, strconv.Itoa(i))
		if isInline(entry) {
			if field == "generators" {
				entry = r.inflations(n, i, nil, "", entry)
			}
			r.pluginText(n, field, entry, at)
			continue
		}
		name, ok := r.entry(n, field, entry, at)
		if !ok {
			continue
		}
		if r.t.isDir(name) {
			r.include(n, field, entry, name, at, stack, true)
			continue
		}
		r.copy(name)
		f, err := r.t.readFile(name)
		if err != nil {
			r.refuse(n, at, err.Error())
			continue
		}
		text := f.Text()
		if field == "generators" {
			text = r.inflations(n, i, f, name, text)
		}
		r.pluginText(n, field, text, at)
	}
}

func (r *kustReader) pluginFile(n *kustNode, field, name string, at *yaml.Node) {
	f, err := r.t.readFile(name)
	if err != nil {
		r.refuse(n, at, err.Error())
		return
	}
	r.pluginText(n, field, f.Text(), at)
}

// pluginText checks the configurations of plug-ins and the files they name.
func (r *kustReader) pluginText(n *kustNode, field, text string, at *yaml.Node) {
	for _, c := range splitDocuments(text) {
		doc := text[c.start:c.end]
		if blankDocument(doc) {
			continue
		}
		var config map[string]any
		if err := sigsyaml.Unmarshal([]byte(doc), &config); err != nil {
			r.refuse(n, at, fmt.Sprintf("a %s configuration does not parse: %s", field, oneLine(err.Error())))
			continue
		}
		r.plugin(n, field, config, at)
	}
}

func (r *kustReader) plugin(n *kustNode, field string, config map[string]any, at *yaml.Node) {
	kind, _ := config["kind"].(string)
	meta, _ := config["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if runsFunction(annotations) {
		r.refuse(n, at, fmt.Sprintf("%s runs the function %q as a program or container, which is never done; lint the output of kustomize build", field, kind))
		return
	}
	switch {
	case kind == inflationGenerator:
		r.refuse(n, at, field+" runs the helm program, which is never done; list it among the generators of a kustomization or use helmCharts, with the chart in the tree")
	case config["apiVersion"] != "builtin" || !slices.Contains(krusty.GetBuiltinPluginNames(), kind):
		r.refuse(n, at, fmt.Sprintf("%s uses the plug-in %q, which is not built into kustomize and never run; lint the output of kustomize build", field, kind))
	default:
		r.pluginPaths(n, field, config, at)
	}
}

// runsFunction reports whether annotations make a program or a container of a plug-in.
func runsFunction(annotations map[string]any) bool {
	for key := range annotations {
		if strings.Contains(key, "config.kubernetes.io/function") || strings.Contains(key, "config.k8s.io/function") {
			return true
		}
	}
	return false
}

// pluginPaths checks and copies the files that a built-in plug-in's
// configuration names.
func (r *kustReader) pluginPaths(n *kustNode, field string, config map[string]any, at *yaml.Node) {
	for _, key := range sortedKeys(config) {
		if strings.EqualFold(key, "fieldSpecs") || key == "fields" {
			continue // their paths lead into objects
		}
		var entries []any
		switch v := config[key].(type) {
		case string:
			entries = []any{v}
		case []any:
			entries = v
		}
		for _, e := range entries {
			if sub, ok := e.(map[string]any); ok {
				r.pluginPaths(n, field, sub, at)
			}
			entry, ok := e.(string)
			if !ok || entry == "" {
				continue
			}
			switch key {
			case "files":
				_, entry = splitFileSource(entry)
				r.fileEntry(n, field+" "+key, entry, at)
			case "path", "env", "envs":
				if !strings.HasPrefix(entry, "/") && key == "path" && config["op"] != nil {
					continue
				}
				if _, isSpec := config["create"]; key == "path" && (isSpec || config["kind"] != nil && config["apiVersion"] == nil) {
					continue // a field specification, not a file
				}
				r.fileEntry(n, field+" "+key, entry, at)
			case "paths":
				if !isInline(entry) {
					r.fileEntry(n, field+" "+key, entry, at)
				}
			}
		}
	}
}
