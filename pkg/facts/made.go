package facts

import (
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// maker is what a controller of the cluster makes of an object: a pod that no
// manifest holds, and what is known of it beside its spec.
type maker struct {
	// asks is the object that the controller acts on, and the field of it that
	// makes it do so.
	asks node
	// by is the controller.
	by string
	// role and why are the pod's; side is what its VPN container does.
	role Role
	why  string
	side part
	// namespaceKnown: the namespace is where the pod certainly runs.
	namespaceKnown bool
	// forwards is the field of asks that makes the pod forward IPv4, "" for none.
	forwards string
	// ownState: each replica has a key and an identity of its own.
	ownState bool
	// advertised are the networks that a mesh member announces, acceptRoutes the
	// field that makes it take those of others.
	advertised   []PrefixAt
	acceptRoutes node
}

// madePlaces is the origin of an object that a controller makes: where, in the
// objects of the tree, each of its fields comes from. It never locates anything
// itself, for node.ref hands out places of the tree only.
type madePlaces struct {
	source.Origin
	// asks is the place of whatever nothing else is known of.
	asks source.Ref
	// copied are fields taken over as they stand, with all below them; said are
	// fields that some place decides without holding them.
	copied, said map[string]source.Ref
}

// place returns where the field at a pointer comes from, and whether the text
// there is the field's own.
func (m *madePlaces) place(pointer string) (at source.Ref, verbatim bool) {
	for p, more := pointer, true; more; p, more = source.ParentPointer(p) {
		if at, has := m.copied[p]; has {
			at.Pointer += strings.TrimPrefix(pointer, p)
			return at, true
		}
		if at, has := m.said[p]; has {
			return at, false
		}
	}
	return m.asks, false
}

// made returns the places of a field that a controller makes, nil for one that
// is written in the tree.
func (n node) made() *madePlaces {
	if n.obj == nil {
		return nil
	}
	m, _ := n.obj.Origin.(*madePlaces)
	return m
}

// moved: the text of the field does not stand at its place.
func (n node) moved() bool {
	m := n.made()
	if m == nil {
		return false
	}
	_, verbatim := m.place(n.ptr)
	return !verbatim
}

// workload is a workload while it is being made.
type workload struct {
	tree   map[string]any
	places *madePlaces
	object *source.Object
}

// newWorkload starts a workload that a controller makes because of a field.
func newWorkload(asks node, kind, namespace, name string) *workload {
	o := asks.obj
	w := &workload{
		tree:   map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace}},
		places: &madePlaces{Origin: o.Origin, asks: asks.ref(), copied: map[string]source.Ref{}, said: map[string]source.Ref{}},
	}
	w.object = &source.Object{
		ID: o.ID, APIVersion: "apps/v1", Kind: kind, Namespace: namespace, Name: name, Tree: w.tree,
		Unit: o.Unit, Path: o.Path, Cluster: o.Cluster, Input: o.Input, Helm: o.Helm, ValueSets: o.ValueSets,
		AppliedBy: o.AppliedBy, MadeBy: o.MadeBy, Origin: w.places,
	}
	return w
}

// template is the pointer of its pod template.
const madeTemplate = "/spec/template"

// set puts a value at a pointer below the workload; maps on the way are made,
// and a list takes the index after its last.
func (w *workload) set(pointer string, v any) {
	w.tree, _ = put(w.tree, source.PointerTokens(pointer), v).(map[string]any)
	w.object.Tree = w.tree
}

func put(in any, tokens []string, v any) any {
	if len(tokens) == 0 {
		return v
	}
	if list, isList := in.([]any); isList {
		i, err := strconv.Atoi(tokens[0])
		switch {
		case err != nil || i < 0 || i > len(list):
			return in
		case i == len(list):
			return append(list, put(nil, tokens[1:], v))
		}
		out := append([]any{}, list...)
		out[i] = put(out[i], tokens[1:], v)
		return out
	}
	out := map[string]any{}
	if m, isMap := in.(map[string]any); isMap {
		for k, have := range m {
			out[k] = have
		}
	}
	out[tokens[0]] = put(out[tokens[0]], tokens[1:], v)
	return out
}

// take copies a field of the tree to a pointer; one that is missing takes the
// pointer's field away where replace asks for that.
func (w *workload) take(pointer string, from node) {
	if !from.exists() {
		return
	}
	w.set(pointer, from.val)
	if from.in == nil {
		w.places.copied[pointer] = from.ref()
	} else {
		w.places.said[pointer] = from.ref()
	}
}

// decided says that a field of the tree decides what stands at a pointer.
func (w *workload) decided(pointer string, by node) {
	if !by.exists() {
		return
	}
	at := by.ref()
	if parent, has := source.ParentPointer(at.Pointer); has && by.isMap() && len(by.keys()) == 0 {
		at.Pointer = parent // {} says nothing by itself
	}
	w.places.said[pointer] = at
}

// root returns the whole workload.
func (w *workload) root() node { return root(w.object) }

// variable adds a variable to a container of the template.
func (w *workload) variable(container, name string, value any) string {
	at := madeTemplate + "/spec" + container + "/env"
	n := len(w.root().at(at).items())
	entry := map[string]any{"name": name}
	switch v := value.(type) {
	case string:
		entry["value"] = v
	default:
		entry["valueFrom"] = v
	}
	if n == 0 {
		w.set(at, []any{})
	}
	at += "/" + strconv.Itoa(n)
	w.set(at, entry)
	return at
}

// atRunTime is a variable whose value the controller fills in from the cluster.
func atRunTime(what string) map[string]any {
	return map[string]any{"fieldRef": map[string]any{"fieldPath": what}}
}

// view makes the pod that the controller makes readable like one of the tree.
// Findings about it are about the object that asks for it.
func (w *workload) view(ix *index, cs *clusterSet, catalog *images.Catalog, m *maker) *podView {
	asks := m.asks.obj
	p := newPodView(ix, template{w.object, w.root().at(madeTemplate)}, cs.of(asks), catalog)
	p.made = m
	p.tied = cs.tied(asks)
	p.pod.ClusterKnown = knownIf(!p.tied)
	p.pod.Object, p.pod.Maker = nameOf(asks), m.by
	p.pod.StatePerReplica = m.ownState
	p.pod.Surge = Setting{State: Absent, Ref: m.asks.ref()} // how it is rolled out is the controller's
	for k, v := range root(asks).get("metadata", "annotations").stringMap() {
		if _, has := p.pod.Annotations[k]; !has {
			p.pod.Annotations[k] = v
		}
	}
	return p
}
