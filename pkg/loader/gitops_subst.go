package loader

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// applied is a Flux Kustomization: a directory that a cluster applies, and what
// is changed on the way.
type applied struct {
	object *source.Object
	scan   *treeScan
	job    int
	// home is the path of the input that holds it.
	home string
	path string
	// covers are the lists of objects that it applies.
	covers []int
}

// setting is what a name stands for, and where that is written.
type setting struct {
	text string
	at   source.Location
}

// variables are what one or more Kustomizations substitute.
type variables struct {
	known map[string]setting
	// active: something is substituted at all; Flux leaves texts alone otherwise.
	active bool
	// hidden says why further variables may exist.
	hidden string
	hideAt source.Location
}

// substitute applies what Flux Kustomizations do to the objects of their paths:
// target namespace, patches, variables. Those that others apply come later.
func (g *gitops) substitute(ctx context.Context, jobs []job, outcomes []outcome) {
	lists := objectLists(jobs, outcomes)
	// A path may hold a variable that a Kustomization above fills in.
	open := map[source.Location]bool{}
	for round := range maxGitopsDepth {
		all, left := g.kustomizations(jobs, lists, round == 0, open)
		g.applyAll(ctx, jobs, outcomes, lists, all)
		if open = left; len(all) == 0 || len(open) == 0 {
			break
		}
	}
	for _, list := range lists {
		for _, o := range *list.objects {
			if isKustomization(o) && open[pathOf(o)] {
				g.notHere(o, "/spec/path", "its path holds a variable that nothing in the tree defines")
			}
		}
	}
}

// applyAll applies Kustomizations, each after those that apply it.
func (g *gitops) applyAll(ctx context.Context, jobs []job, outcomes []outcome, lists []objectList, all []*applied) {
	order, loops := appliedOrder(all)
	for _, loop := range loops {
		var names []string
		for _, k := range loop[1:] {
			names = append(names, k.object.Name)
		}
		slices.Sort(names)
		g.loopGap(loop[0].object, "the Flux Kustomization "+loop[0].object.Name+" applies itself by way of "+strings.Join(names, ", "))
	}
	// Those that apply the same objects are applied together, when the last of them
	// is what it will be.
	done := make([]bool, len(all))
	for _, i := range order {
		if done[i] || ctx.Err() != nil {
			continue
		}
		for _, list := range all[i].covers {
			var group []*applied
			for _, j := range order {
				if slices.Contains(all[j].covers, list) {
					group = append(group, all[j])
				}
			}
			if group[len(group)-1] == all[i] { // once for each list
				g.applyTo(ctx, group, lists[list], jobs[lists[list].job])
				for _, k := range all {
					if k.job == list {
						k.find(*lists[list].objects)
					}
				}
				g.index(jobs, outcomes)
			}
		}
		done[i] = true
	}
}

// find finds the Kustomization among the objects of its list after these have
// changed.
func (k *applied) find(objects []*source.Object) {
	at := pathOf(k.object)
	for _, o := range objects {
		if isKustomization(o) && pathOf(o) == at {
			k.object = o
			return
		}
	}
}

func isKustomization(o *source.Object) bool { return o.Kind == "Kustomization" && isFlux(o) }

// pathOf is where a Kustomization's path is written, which no variable changes.
func pathOf(o *source.Object) source.Location {
	return o.Origin.Locate(source.Ref{Object: o.ID, Pointer: "/spec/path"}).Primary
}

// kustomizations finds the Flux Kustomizations and what they apply: all, or those
// whose path was open before. left are those whose path still is.
func (g *gitops) kustomizations(jobs []job, lists []objectList, first bool, open map[source.Location]bool) (all []*applied, left map[source.Location]bool) {
	left = map[source.Location]bool{}
	own := sourcesOfTrees(lists)
	for li, list := range lists {
		for _, o := range *list.objects {
			if !isKustomization(o) || list.scan == nil || !first && !open[pathOf(o)] {
				continue
			}
			dir := path.Clean(strings.TrimPrefix(cmp.Or(fieldText(o.Tree, "spec", "path"), "."), "/"))
			if !isPlain(dir) {
				left[pathOf(o)] = true
				continue
			}
			if dir == "." && own.isForeign(list.scan, o) {
				if first {
					g.notHere(o, "/spec/sourceRef", "its source is another than that of this tree; lint the repository that holds it")
				}
				continue
			}
			k := &applied{object: o, scan: list.scan, job: li, home: jobs[list.job].shown, path: dir}
			k.cover(jobs, lists)
			if len(k.covers) > 0 {
				all = append(all, k)
			} else if !filepath.IsLocal(filepath.FromSlash(dir)) || !list.scan.t.isDir(dir) {
				g.notHere(o, "/spec/path", notInTree)
			}
		}
	}
	return all, left
}

// treeSources are the Flux sources that hold a tree, each by its kind and name.
type treeSources map[*treeScan]map[string]bool

// sourcesOfTrees finds them: the sources of which Kustomizations apply
// directories that the tree has. Its root says nothing, every source has one.
func sourcesOfTrees(lists []objectList) treeSources {
	own := treeSources{}
	for _, list := range lists {
		for _, o := range *list.objects {
			if !isKustomization(o) || list.scan == nil {
				continue
			}
			dir := path.Clean(strings.TrimPrefix(fieldText(o.Tree, "spec", "path"), "/"))
			if dir == "." || !filepath.IsLocal(filepath.FromSlash(dir)) || !list.scan.t.isDir(dir) {
				continue
			}
			if own[list.scan] == nil {
				own[list.scan] = map[string]bool{}
			}
			own[list.scan][sourceOf(o)] = true
		}
	}
	return own
}

// isForeign reports whether a Kustomization applies the root of another source
// than those that hold the tree. Where these are not known, none is foreign.
func (s treeSources) isForeign(scan *treeScan, o *source.Object) bool {
	return len(s[scan]) > 0 && sourceOf(o) != "" && !s[scan][sourceOf(o)]
}

// sourceOf is the kind and name of a Kustomization's source, "" if that cannot be
// seen.
func sourceOf(o *source.Object) string {
	kind, name := fieldText(o.Tree, "spec", "sourceRef", "kind"), fieldText(o.Tree, "spec", "sourceRef", "name")
	if name == "" || !isPlain(name) {
		return ""
	}
	return kind + " " + name
}

// cover finds the lists of objects that a Kustomization applies.
func (k *applied) cover(jobs []job, lists []objectList) {
	if !filepath.IsLocal(filepath.FromSlash(k.path)) {
		return
	}
	t := k.scan.t
	built := t.isDir(k.path) && len((&kustReader{t: t}).fileNames(k.path)) > 0
	for i, other := range lists {
		j := jobs[other.job]
		switch {
		case other.scan != k.scan:
		case built && (j.kind == source.Kustomization && j.dir == k.path),
			!built && j.kind != source.Chart && k.scan.foundBelow(k.path, j):
			k.covers = append(k.covers, i)
		}
	}
}

// foundBelow reports whether a job's input is part of what Flux applies of a
// directory without a kustomization: its files and the outermost kustomizations
// below it.
func (s *treeScan) foundBelow(dir string, j job) bool {
	if dir != "." && !strings.HasPrefix(j.dir, dir+"/") {
		return false
	}
	for d := path.Dir(j.dir); d != dir && d != "."; d = path.Dir(d) {
		if len((&kustReader{t: s.t}).fileNames(d)) > 0 {
			return false
		}
	}
	return true
}

// appliedOrder sorts Kustomizations so that each comes after those that apply
// it; loops are those that apply each other, where that cannot be done. One that
// applies itself, as Flux's own does, is no loop, and neither is one that a loop
// applies.
func appliedOrder(all []*applied) (order []int, loops [][]*applied) {
	waits := make([]map[int]bool, len(all))
	for i, k := range all {
		waits[i] = map[int]bool{}
		for j, other := range all {
			if i != j && other.job != k.job && slices.Contains(other.covers, k.job) {
				waits[i][j] = true
			}
		}
	}
	placed := make([]bool, len(all))
	for len(order) < len(all) {
		next := -1
		for i := range all {
			if !placed[i] && len(waits[i]) == 0 {
				next = i
				break
			}
		}
		if next < 0 {
			loop := firstLoop(waits, placed)
			var members []*applied
			for _, i := range loop {
				members = append(members, all[i])
				clear(waits[i]) // all that it waits for is in the loop
			}
			loops = append(loops, members)
			continue
		}
		placed[next] = true
		order = append(order, next)
		for i := range waits {
			delete(waits[i], next)
		}
	}
	return order, loops
}

// firstLoop finds a loop among those that are not placed that waits for nothing
// outside it. There is one when each of them waits for another.
func firstLoop(waits []map[int]bool, placed []bool) (loop []int) {
	for i := range waits {
		if placed[i] {
			continue
		}
		// Who waits for the fewest, by way of others too, waits for its loop alone.
		if behind := allBehind(waits, i); loop == nil || len(behind) < len(loop) {
			loop = behind
		}
	}
	return loop
}

// allBehind are all that one waits for, directly or by way of others; sorted.
func allBehind(waits []map[int]bool, of int) []int {
	seen := map[int]bool{}
	for next := []int{of}; len(next) > 0; {
		i := next[0]
		next = next[1:]
		for j := range waits[i] {
			if !seen[j] {
				seen[j] = true
				next = append(next, j)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (g *gitops) loopGap(o *source.Object, what string) {
	at := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: "/spec/path"}).Primary
	g.gaps = append(g.gaps, finding.Gap{
		Kind: finding.Unresolved, File: at.File, Line: at.Span.Start.Line, What: what,
		Why: "that is a loop, which is followed once; break it", Consequence: "variables that go round in it are taken for unknown",
	})
}

// applyTo changes a list of objects as all the Kustomizations that apply it say;
// where they disagree, nothing is known.
func (g *gitops) applyTo(ctx context.Context, group []*applied, list objectList, from job) {
	first := group[0].object
	vars := g.variablesOf(homed{first, group[0].scan})
	target := fieldText(first.Tree, "spec", "targetNamespace")
	var by []string
	for _, k := range group {
		by = append(append(by, k.home), k.object.AppliedBy...)
	}
	for _, k := range group[1:] {
		if fieldText(k.object.Tree, "spec", "targetNamespace") != target {
			target = ""
		}
		vars.agree(g.variablesOf(homed{k.object, k.scan}))
	}
	rendered := g.withComponents(ctx, group, *list.objects, from)
	objects := make([]*source.Object, len(rendered))
	for i, o := range rendered {
		objects[i] = appliedBy(o, by)
	}
	objects = g.patchedBy(ctx, group, objects) // which see them in their own namespaces
	if target != "" && isPlain(target) {
		for i, o := range objects {
			objects[i] = inNamespace(o, target, first)
		}
	}
	open := false
	if vars.active {
		for i, o := range objects {
			s := &substituter{vars: vars}
			objects[i] = s.object(o)
			open = open || s.open
		}
	}
	if open && vars.hidden != "" {
		g.alike = append(g.alike, likeGap{
			kind: finding.Unresolved, of: "Flux Kustomization", name: first.Name,
			one: "variables of the %s could not be seen", many: "variables of %s could not be seen",
			why: vars.hidden, consequence: "texts that need them are taken for unknown", at: vars.hideAt,
		})
	}
	*list.objects = objects
}

// appliedBy gives an object the inputs that apply it.
func appliedBy(o *source.Object, inputs []string) *source.Object {
	applied := *o
	applied.AppliedBy = slices.Concat(o.AppliedBy, inputs)
	slices.Sort(applied.AppliedBy)
	applied.AppliedBy = slices.Compact(applied.AppliedBy)
	return &applied
}

// inNamespace puts an object into a namespace, as Flux does with all that a
// Kustomization applies.
func inNamespace(o *source.Object, namespace string, by *source.Object) *source.Object {
	switch o.Kind {
	case "Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PersistentVolume", "StorageClass":
		return o
	}
	if o.Namespace == namespace {
		return o
	}
	moved := *o
	moved.Namespace = namespace
	moved.Tree = asMap(cloneTree(o.Tree))
	if meta := asMap(moved.Tree["metadata"]); meta != nil {
		meta["namespace"] = namespace
	}
	moved.Origin = namespacedOrigin{o.Origin, by}
	return &moved
}

// namespacedOrigin is the Origin of an object that a Kustomization put into its
// target namespace.
type namespacedOrigin struct {
	source.Origin
	by *source.Object
}

// Locate implements source.Origin.
func (o namespacedOrigin) Locate(r source.Ref) source.Provenance {
	if r.Pointer == "/metadata/namespace" {
		return o.by.Origin.Locate(source.Ref{Object: o.by.ID, Pointer: "/spec/targetNamespace"})
	}
	return o.Origin.Locate(r)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variablesOf reads what a Flux Kustomization substitutes: substituteFrom in its
// order, then substitute, which wins.
func (g *gitops) variablesOf(o homed) *variables {
	v := &variables{known: map[string]setting{}}
	from, _ := field(o.Tree, "spec", "postBuild", "substituteFrom")
	list, _ := from.([]any)
	for i, item := range list {
		ref := asMap(item)
		pointer := fmt.Sprintf("/spec/postBuild/substituteFrom/%d/name", i)
		kind, _ := ref["kind"].(string)
		name, _ := ref["name"].(string)
		optional, _ := ref["optional"].(bool)
		hide := func(why string) {
			v.active = true
			v.hidden = fmt.Sprintf("those from the %s %s: %s", cmp.Or(kind, "object"), name, why)
			v.hideAt = o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}).Primary
			clear(v.known) // it comes later and wins
		}
		object, why, ok := g.find(kind, o.Namespace, name, o)
		if !ok {
			if maker := g.secretMaker(kind, o.Namespace, name); maker != "" {
				why = "it is made in the cluster by the " + maker
			}
			if !optional || kind != "ConfigMap" {
				hide(why)
			}
			continue
		}
		if why := sealed(object.Object); why != "" {
			hide(why)
			continue
		}
		for _, f := range []string{"data", "stringData"} {
			for _, key := range sortedKeys(asMap(object.Tree[f])) {
				text, at, why := dataOf(object.Object, key)
				if why != "" || !variableName.MatchString(key) {
					continue
				}
				place := object.Origin.Locate(source.Ref{Object: object.ID, Pointer: at}).Primary
				g.selfDefined(key, text, place)
				v.set(key, text, place)
			}
		}
	}
	inline, _ := field(o.Tree, "spec", "postBuild", "substitute")
	for _, key := range sortedKeys(asMap(inline)) {
		value := asMap(inline)[key]
		if isCollection(value) || !variableName.MatchString(key) {
			continue
		}
		pointer := source.Ref{Pointer: "/spec/postBuild/substitute"}.Child(key).Pointer
		text := scalarText(value)
		place := o.Origin.Locate(source.Ref{Object: o.ID, Pointer: pointer}).Primary
		g.selfDefined(key, text, place)
		v.set(key, text, place)
	}
	return v
}

// selfDefined records a variable whose text holds a variable of its own name. What a
// Kustomization above fills in is filled in by now: this one is left to one that
// the tree does not show, or to nobody.
func (g *gitops) selfDefined(name, text string, at source.Location) {
	if !refersTo(text, name) {
		return
	}
	g.gaps = append(g.gaps, finding.Gap{
		Kind: finding.Unresolved, File: at.File, Line: at.Span.Start.Line, What: "the variable " + name + " stands for a variable of the same name",
		Why: "no Kustomization in the tree fills that one in; lint the one that does, too, or write the value", Consequence: "texts that need it are taken for unknown",
	})
}

// refersTo reports whether a text holds the variable of a name.
func refersTo(text, name string) bool {
	return strings.Contains(text, "${"+name+"}") || strings.Contains(text, "${"+name+":")
}

func (v *variables) set(name, text string, at source.Location) {
	v.active = true
	v.known[name] = setting{text, at}
}

// disagree says that a directory is applied with different variables.
const disagree = "other Flux Kustomizations apply the same objects with other variables; lint the paths of one cluster alone to see its own"

// agree keeps what another set of variables says, too.
func (v *variables) agree(other *variables) {
	differ := func(at source.Location) {
		if v.hidden == "" {
			v.hidden, v.hideAt = disagree, at
		}
	}
	for _, name := range sortedKeys(v.known) {
		mine := v.known[name]
		if theirs, ok := other.known[name]; !ok || theirs.text != mine.text {
			delete(v.known, name)
			differ(mine.at)
		}
	}
	for _, name := range sortedKeys(other.known) {
		if _, ok := v.known[name]; !ok {
			differ(other.known[name].at)
		}
	}
	v.active = v.active || other.active
	if v.hidden == "" {
		v.hidden, v.hideAt = other.hidden, other.hideAt
	}
}

// substituter fills variables into one object.
type substituter struct {
	vars  *variables
	edits map[string]edit
	// open: a variable is left that is not known.
	open bool
}

// edit is how a text came about.
type edit struct {
	pieces []piece
	notes  []source.Note
}

// piece is a part of a new text and the part of the old one that it comes from.
type piece struct {
	start, end int
	from, to   int
	same       bool // byte for byte
}

const substituteLabel = "kustomize.toolkit.fluxcd.io/substitute"

// object fills in the variables of an object; an object without any is returned
// as it is.
func (s *substituter) object(o *source.Object) *source.Object {
	meta := asMap(o.Tree["metadata"])
	for _, f := range []string{"labels", "annotations"} {
		if asMap(meta[f])[substituteLabel] == "disabled" {
			return o
		}
	}
	if !holdsVariable(o.Tree, 0) {
		return o
	}
	s.edits = map[string]edit{}
	tree := asMap(s.value(o.Tree, source.Ref{}, o.Kind))
	if len(s.edits) == 0 {
		return o
	}
	out := *o
	out.Tree = tree
	if meta := asMap(tree["metadata"]); meta != nil {
		if name, ok := meta["name"].(string); ok {
			out.Name = name
		}
		if ns, ok := meta["namespace"].(string); ok && ns != "" {
			out.Namespace = ns
		}
	}
	out.Origin = &editedOrigin{inner: o.Origin, edits: s.edits}
	return &out
}

func holdsVariable(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case map[string]any:
		for _, x := range v {
			if depth < 500 && holdsVariable(x, depth+1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return depth < 500 && holdsVariable(x, depth+1) })
	}
	return false
}

func (s *substituter) value(v any, at source.Ref, kind string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			out[k] = s.value(v[k], at.Child(k), kind)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = s.value(x, at.Child(itoa(i)), kind)
		}
		return out
	case string:
		text, e := s.fill(v, 0)
		if text == v {
			return v
		}
		s.edits[at.Pointer] = e
		if strings.Contains(text, "${") || staysText(at.Pointer, kind) {
			return text
		}
		// Flux fills in the text of the YAML: 8080 is a number afterwards.
		switch x := scalarValue(&yaml.Node{Kind: yaml.ScalarNode, Value: text}).(type) {
		case bool, int64:
			return x
		}
		return text
	}
	return v
}

// staysText reports whether a field holds texts only, so that whoever wrote it
// took care that it stays one.
func staysText(pointer, kind string) bool {
	if kind == "HelmRelease" && strings.HasPrefix(pointer, "/spec/values/") {
		return false
	}
	for _, part := range []string{"/data/", "/stringData/", "/labels/", "/annotations/", "/matchLabels/", "/args/", "/command/", "/value", "/name", "/substitute/"} {
		if strings.Contains(pointer+"/", part) {
			return true
		}
	}
	return false
}

const maxNestedVariables = 8

// fill fills the variables into a text, once: what they hold is not looked at
// again. Variables that are not known stay as they are.
func (s *substituter) fill(text string, depth int) (string, edit) {
	var b strings.Builder
	var e edit
	put := func(t string, from, to int, same bool) {
		if t != "" || !same {
			e.pieces = append(e.pieces, piece{b.Len(), b.Len() + len(t), from, to, same})
		}
		b.WriteString(t)
	}
	for i := 0; i < len(text); {
		start := strings.Index(text[i:], "${")
		if start < 0 {
			put(text[i:], i, len(text), true)
			break
		}
		start += i
		end := closingBrace(text, start+2)
		if end < 0 {
			put(text[i:], i, len(text), true)
			break
		}
		if start > i && text[start-1] == '$' {
			put(text[i:start-1], i, start-1, true) // $${NAME} is ${NAME}
			put(text[start:end+1], start, end+1, true)
			i = end + 1
			continue
		}
		put(text[i:start], i, start, true)
		filled, note, ok := s.expand(text[start+2:end], depth)
		if ok {
			put(filled, start, end+1, false)
			if note != nil {
				e.notes = append(e.notes, *note)
			}
		} else {
			s.open = true
			put(text[start:end+1], start, end+1, true)
		}
		i = end + 1
	}
	return b.String(), e
}

// closingBrace finds the brace that ends a variable which starts before i.
func closingBrace(text string, i int) int {
	for depth := 1; i < len(text); i++ {
		switch {
		case text[i] == '}':
			if depth--; depth == 0 {
				return i
			}
		case strings.HasPrefix(text[i:], "${"):
			depth++
			i++
		case text[i] == '\n':
			return -1
		}
	}
	return -1
}

// expand finds what the inside of ${...} stands for. ok is false when that is
// not known.
func (s *substituter) expand(inner string, depth int) (text string, note *source.Note, ok bool) {
	end := 0
	for end < len(inner) && (inner[end] == '_' || inner[end] >= '0' && inner[end] <= '9' || inner[end]|0x20 >= 'a' && inner[end]|0x20 <= 'z') {
		end++
	}
	name, rest := inner[:end], inner[end:]
	if !variableName.MatchString(name) {
		return "", nil, false
	}
	v, known := s.vars.known[name]
	fallback, hasDefault := "", false
	for _, op := range []string{":=", ":-", "=", "-"} {
		if text, is := strings.CutPrefix(rest, op); is {
			fallback, hasDefault = text, true
			break
		}
	}
	switch {
	case rest != "" && !hasDefault:
		return "", nil, false // a function of the shell
	case known && (v.text != "" || !strings.HasPrefix(rest, ":")):
		if refersTo(v.text, name) {
			return "", nil, false
		}
		return v.text, &source.Note{At: v.at, Says: name + " is set here"}, true
	case !hasDefault || s.vars.hidden != "" && !known || depth >= maxNestedVariables:
		return "", nil, false
	}
	filled, _ := s.fill(fallback, depth+1)
	return filled, nil, true
}

// editedOrigin is the Origin of an object with filled-in variables.
type editedOrigin struct {
	inner source.Origin
	edits map[string]edit
}

// Locate implements source.Origin.
func (o *editedOrigin) Locate(r source.Ref) source.Provenance {
	e, ok := o.edits[r.Pointer]
	if !ok {
		return o.inner.Locate(r)
	}
	if r.End > 0 {
		r.Start, r.End = e.before(r.Start, r.End)
	}
	p := o.inner.Locate(r)
	p.Via = append(slices.Clip(p.Via), e.notes...)
	return p
}

// before maps the bytes of a new text to those of the old one.
func (e edit) before(start, end int) (from, to int) {
	from, to = -1, 0
	for _, p := range e.pieces {
		if p.end <= start && p.end > p.start || p.start >= end {
			continue
		}
		a, b := p.from, p.to
		if p.same {
			a += max(0, start-p.start)
			b -= max(0, p.end-end)
		}
		if from < 0 {
			from = a
		}
		to = max(to, b)
	}
	return max(from, 0), to
}
