package loader

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// A kustomization that is built without its remote resources, or without a chart,
// may change objects that these bring. The library refuses a patch or a merging
// generator without an object; both say nothing of the objects that are there, so
// they are left out with what they were for.

// patchLacks and mergeLacks are what the library says of them.
var (
	patchLacks = regexp.MustCompile(`no resource matches strategic merge patch "([^"]+)": no matches for Id`)
	mergeLacks = regexp.MustCompile(`Kind:"(ConfigMap|Secret)".*Name:"([^"]*)", Namespace:"([^"]*)".* does not exist; cannot merge or replace`)
)

// isPartial reports whether the graph is built without something that it names.
func (g *kustGraph) isPartial() bool { return len(g.left) > 0 || g.missesCharts() }

// leave takes what an error of the library is about out of the graph, and reports
// whether it could. What more than one place may mean stays: one of them may have
// its object.
func (a *accumulation) leave(g *kustGraph, err error) bool {
	if !g.isPartial() {
		return false
	}
	if m := patchLacks.FindStringSubmatch(err.Error()); m != nil {
		return a.leavePatch(g, m[1])
	}
	if m := mergeLacks.FindStringSubmatch(err.Error()); m != nil {
		return leaveGenerator(g, m[1], m[2], m[3])
	}
	return false
}

// patchDocument is a document of a patch that has no target of its own.
type patchDocument struct {
	node  *kustNode
	field string
	index int
	// file is the tree path of the patch, "" where it stands in the kustomization.
	file string
	text string
	in   chunk
	name string // of the object that it is for
}

// patchesFor finds the documents of patches for the object that the library calls id.
func (a *accumulation) patchesFor(g *kustGraph, id string) []patchDocument {
	var found []patchDocument
	for _, dir := range sortedKeys(g.nodes) {
		for _, p := range a.untargeted(g.nodes[dir]) {
			if patchID(p.text[p.in.start:p.in.end], a.limits) == id {
				p.name = spokenID(id)
				found = append(found, p)
			}
		}
	}
	return found
}

// spokenID says which object it is that the library calls id.
func spokenID(id string) string {
	kind, _, _ := strings.Cut(id, ".")
	_, name, _ := strings.Cut(id, "/")
	return kind + " " + name[:max(0, strings.LastIndexByte(name, '.'))]
}

// comesTwice is what the library says of a resource that holds an object which an
// earlier one holds too.
var comesTwice = regexp.MustCompile(`merging resources from '([^']+)': may not add resource with an already registered id: ([^\s']+)`)

// twice says where the resource stands that an error of the library is about; ok is
// false if it is about something else, or more than one place may be meant.
func (g *kustGraph) twice(err error) (file string, line int, why string, ok bool) {
	m := comesTwice.FindStringSubmatch(err.Error())
	if m == nil {
		return "", 0, "", false
	}
	found := 0
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		for _, field := range []struct {
			name    string
			entries []string
		}{{"resources", n.spec.Resources}, {"bases", n.older.bases}} {
			for i, entry := range field.entries {
				if entry == m[1] {
					file, line, why = n.file.Path(), n.lineOf(field.name, i), fmt.Sprintf("%s entry %q", field.name, entry)
					found++
				}
			}
		}
		for _, h := range n.helm {
			if h.resourceName() == m[1] {
				file, line, why = h.in.file.Path(), h.in.file.Position(h.in.doc.start(h.field())).Line, h.title()
				found++
			}
		}
	}
	return file, line, why + " brings the " + spokenID(m[2]) + ", which another brings already; leave one of the two, kustomize build fails in the same way", found == 1
}

// lacking is the one patch that an error of the library is about, nil for none. A
// graph that is built without something may bring its object there.
func (a *accumulation) lacking(g *kustGraph, err error) *patchDocument {
	if err == nil || g.isPartial() {
		return nil
	}
	m := patchLacks.FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	if found := a.patchesFor(g, m[1]); len(found) == 1 {
		return &found[0]
	}
	return nil
}

// line is where the entry of the patch stands in its kustomization.
func (p *patchDocument) line() int { return p.node.lineOf(p.field, p.index) }

func (a *accumulation) leavePatch(g *kustGraph, id string) bool {
	found := a.patchesFor(g, id)
	if len(found) != 1 {
		return false
	}
	p := found[0]
	switch rest := blanked(p.text, p.in); {
	case blankDocument(rest):
		p.node.leave(p.field, p.index)
	case p.file != "":
		a.files[p.file] = source.NewFile(a.files[p.file].Path(), rest)
	case p.field == "patchesStrategicMerge":
		p.node.older.strategicMerge[p.index] = types.PatchStrategicMerge(rest)
	default:
		p.node.spec.Patches[p.index].Patch = rest
	}
	clear(a.patchesOf)
	g.noteLeft("the patch of "+p.name, p.node, p.field, p.index)
	return true
}

// untargeted are the documents of a node's patches that find their object by its name.
func (a *accumulation) untargeted(n *kustNode) []patchDocument {
	var out []patchDocument
	add := func(field string, i int, file, inline string) {
		text := inline
		if f := a.files[path.Join(n.dir, file)]; file != "" && f != nil {
			file, text = path.Join(n.dir, file), f.Text()
		} else {
			file = ""
		}
		for _, c := range splitDocuments(text) {
			if !n.leaves(field, i) && !blankDocument(text[c.start:c.end]) {
				out = append(out, patchDocument{node: n, field: field, index: i, file: file, text: text, in: c})
			}
		}
	}
	for i, p := range n.older.strategicMerge {
		if isInline(string(p)) {
			add("patchesStrategicMerge", i, "", string(p))
		} else {
			add("patchesStrategicMerge", i, string(p), "")
		}
	}
	for i, p := range n.spec.Patches {
		if p.Target == nil {
			add("patches", i, p.Path, p.Patch)
		}
	}
	return out
}

// patchID is what the library calls the object that a patch is for.
func patchID(text string, limits Limits) string {
	v, _, gap := parseInner(text, nowhereMap{}, limits)
	tree := asMap(v)
	if gap != nil || tree == nil {
		return ""
	}
	meta := asMap(tree["metadata"])
	apiVersion, _ := tree["apiVersion"].(string)
	kind, _ := tree["kind"].(string)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	group, version := resid.ParseGroupVersion(apiVersion)
	return resid.NewResIdWithNamespace(resid.NewGvk(group, version, kind), name, namespace).String()
}

// nowhereMap is the textMap of a text whose places nobody asks for.
type nowhereMap struct{}

func (nowhereMap) Map(int, int) source.Provenance { return source.Provenance{} }
func (nowhereMap) Absent(int, int) []source.Guard { return nil }

// leaveGenerator leaves the generator out that changes a ConfigMap or Secret.
func leaveGenerator(g *kustGraph, kind, name, namespace string) bool {
	type entry struct {
		node  *kustNode
		field string
		index int
	}
	var found []entry
	for _, dir := range sortedKeys(g.nodes) {
		n := g.nodes[dir]
		add := func(field, of string, i int, args types.GeneratorArgs) {
			changes := strings.EqualFold(args.Behavior, "merge") || strings.EqualFold(args.Behavior, "replace")
			if of == kind && changes && args.Name == name && args.Namespace == namespace && !n.leaves(field, i) {
				found = append(found, entry{n, field, i})
			}
		}
		for i, args := range n.spec.ConfigMapGenerator {
			add("configMapGenerator", "ConfigMap", i, args.GeneratorArgs)
		}
		for i, args := range n.spec.SecretGenerator {
			add("secretGenerator", "Secret", i, args.GeneratorArgs)
		}
	}
	if len(found) != 1 {
		return false
	}
	e := found[0]
	e.node.leave(e.field, e.index)
	g.noteLeft("what is generated into the "+kind+" "+name, e.node, e.field, e.index)
	return true
}

// noteLeft records what was left out.
func (g *kustGraph) noteLeft(what string, n *kustNode, field string, index int) {
	g.lost = append(g.lost, fmt.Sprintf("%s (%s:%d)", what, n.file.Path(), n.lineOf(field, index)))
}

// lineOf is the line of an entry of a list of the kustomization.
func (n *kustNode) lineOf(field string, index int) int {
	return n.file.Position(n.doc.start(n.field(field, strconv.Itoa(index)))).Line
}

// sayLost adds what was left out to the gap of the first resource without which the
// kustomization is built.
func (g *kustGraph) sayLost(gap *finding.Gap) {
	const shown = 5
	if len(g.lost) == 0 || len(g.left) == 0 {
		return
	}
	text := strings.Join(g.lost[:min(len(g.lost), shown)], ", ")
	if more := len(g.lost) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	gap.Consequence += "; left out with them: " + text
}

// leave leaves an entry of a list of the kustomization out of the build.
func (n *kustNode) leave(field string, index int) {
	if n.without == nil {
		n.without = map[string]bool{}
	}
	n.without[field+"/"+strconv.Itoa(index)] = true
}

func (n *kustNode) leaves(field string, index int) bool {
	return n.without[field+"/"+strconv.Itoa(index)]
}

// kept returns the entries of a list of the kustomization that are built with.
func kept[T any](n *kustNode, field string, list []T) []T {
	if len(n.without) == 0 {
		return list
	}
	var out []T
	for i, entry := range list {
		if !n.leaves(field, i) {
			out = append(out, entry)
		}
	}
	return out
}
