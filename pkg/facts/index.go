package facts

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// index finds objects by kind and by name, and collects the gaps of a run. It
// is built once; only the gaps and what is remembered of Services change
// afterwards, under a lock.
type index struct {
	objects []*source.Object
	byKind  map[string][]*source.Object
	byName  map[objectKey][]*source.Object
	byID    map[source.ObjectID]*source.Object

	// apart reports that two objects certainly belong to different clusters, so
	// that a reference never reaches across. It is set once the clusters are
	// read; nil before.
	apart func(a, b *source.Object) bool
	// kubeletLists are the kubelet configurations of a tree without clusters.
	kubeletLists []kubeletList

	// parsedServices reads the Services of the tree, once.
	parsedServices func() []service
	// nodePools are the node pools of the tree, once. It is set when the clusters
	// are read.
	nodePools func() []nodePool
	// inlined are the objects that Talos' machine configurations bring along, once.
	inlined func() map[source.ObjectID][]node
	// mutations are the policies that change pods, once.
	mutations func() []mutation
	// gatewayControllers are the command lines of the pod-gateway's webhooks, once.
	gatewayControllers func() []node

	mu       sync.Mutex
	services map[serviceView]*serviceIndex
	gaps     []unseenPart
	invalid  []InvalidRange
}

type objectKey struct{ kind, namespace, name string }

// clusterScoped are the kinds for which a namespace means nothing; a chart's
// render gives them the release's all the same.
func clusterScoped(kind string) bool {
	switch kind {
	case "Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "StorageClass",
		"CustomResourceDefinition", "PriorityClass", "RuntimeClass", "IngressClass", "ServiceCIDR",
		"GlobalNetworkPolicy", "IPPool", "FelixConfiguration", "CiliumClusterwideNetworkPolicy",
		"AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ValidatingWebhookConfiguration",
		"MutatingWebhookConfiguration", "ProxyClass", "Connector", "ProxyGroup":
		return true
	default:
		return false
	}
}

func normalNamespace(ns string) string {
	if ns == "" {
		return "default"
	}
	return ns
}

func keyOf(kind, namespace, name string) objectKey {
	if clusterScoped(kind) {
		return objectKey{kind, "", name}
	}
	return objectKey{kind, normalNamespace(namespace), name}
}

func newIndex(objects []*source.Object) *index {
	ix := &index{
		byKind: map[string][]*source.Object{},
		byName: map[objectKey][]*source.Object{},
		byID:   map[source.ObjectID]*source.Object{},

		services: map[serviceView]*serviceIndex{},
	}
	for _, o := range objects {
		if o == nil || o.Origin == nil {
			continue
		}
		ix.objects = append(ix.objects, o)
		ix.byKind[o.Kind] = append(ix.byKind[o.Kind], o)
		key := keyOf(o.Kind, o.Namespace, o.Name)
		ix.byName[key] = append(ix.byName[key], o)
		ix.byID[o.ID] = o
	}
	ix.nodePools = func() []nodePool { return nil }
	ix.inlined = sync.OnceValue(func() map[source.ObjectID][]node { return readInlineManifests(ix) })
	ix.mutations = sync.OnceValue(func() []mutation { return readMutations(ix) })
	ix.gatewayControllers = sync.OnceValue(func() []node { return gatewayArgs(ix.objects) })
	ix.parsedServices = sync.OnceValue(func() []service { return readServices(ix.ofKind("", "Service")) })
	return ix
}

// ofKind returns the objects of a kind in any version of an API group, in the
// order of the input. The group "" is Kubernetes' core group.
func (ix *index) ofKind(group, kind string) []*source.Object {
	var out []*source.Object
	for _, o := range ix.byKind[kind] {
		if groupOf(o) == group {
			out = append(out, o)
		}
	}
	return out
}

func groupOf(o *source.Object) string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// find resolves a reference to an object of a kind. Of several objects with
// the name, one of near's own unit wins, then the one with the nearest
// directory; a tie between objects that differ is Unknown. A missing namespace
// and "default" are the same.
func (ix *index) find(kind, namespace, name string, near *source.Object) (*source.Object, Known) {
	if name == "" {
		return nil, Absent
	}
	var best []*source.Object
	bestRank := -1
	for _, o := range ix.byName[keyOf(kind, namespace, name)] {
		if near != nil && ix.apart != nil && ix.apart(near, o) {
			continue
		}
		rank := 0
		if near != nil {
			rank = nearness(near.Unit, o.Unit)
			if near.Input == source.Chart && near.Path == o.Path && near.Unit == o.Unit {
				// Packed charts of one directory share their unit: what the chart itself
				// makes is meant.
				rank++
			}
		}
		switch {
		case rank > bestRank:
			best, bestRank = []*source.Object{o}, rank
		case rank == bestRank:
			best = append(best, o)
		}
	}
	switch {
	case len(best) == 0:
		return nil, Absent
	case len(best) == 1 || allAlike(best):
		return best[0], Present
	default:
		return nil, Unknown
	}
}

// nearness counts the directories that two units share; a unit's own objects
// are nearer than any other's.
func nearness(a, b string) int {
	a, b = path.Clean(a), path.Clean(b)
	if a == b {
		return 1 << 20
	}
	return len(commonDirs(a, b))
}

// commonDirs returns the leading directories that two slash paths share.
func commonDirs(a, b string) []string {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return as[:n]
}

func allAlike(objects []*source.Object) bool {
	for _, o := range objects[1:] {
		if !reflect.DeepEqual(o.Tree, objects[0].Tree) {
			return false
		}
	}
	return true
}

// unseenPart is a gap, and whether what is missing is in none of the inputs.
type unseenPart struct {
	finding.Gap
	outside bool
}

// gapAt records a gap of an object at a place of it.
func (ix *index) gapAt(kind finding.GapKind, o *source.Object, r source.Ref, what string, why reason, consequence string, rules ...string) {
	if asks := ix.byID[o.ID]; asks != nil {
		o = asks // of what an operator makes, the object that asks for it is in the tree
	}
	name := nameOf(o)
	g := finding.Gap{Kind: kind, What: what, Why: why.said(), Consequence: consequence, Object: &name, At: r, Rules: rules}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.gaps = append(ix.gaps, unseenPart{g, why.outside})
}

// sortedGaps returns the gaps in a stable order. What an object reads and is not
// in the tree is one gap, whatever hangs on it.
func (ix *index) sortedGaps() []finding.Gap {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	all := slices.Clone(ix.gaps)
	sort.SliceStable(all, func(i, j int) bool { return gapKey(all[i].Gap) < gapKey(all[j].Gap) })
	out := []finding.Gap{}
	at := map[string]int{}
	for _, g := range all {
		cause := gapCause(g)
		i, known := at[cause]
		if !known {
			at[cause] = len(out)
			out = append(out, g.Gap)
			continue
		}
		out[i] = joined(out[i], g.Gap)
	}
	return out
}

// gapCause tells what lies behind a gap: its place, or what is missing wherever
// the object names it.
func gapCause(g unseenPart) string {
	at := g.At
	if g.outside {
		at = source.Ref{Object: at.Object}
	}
	return strings.Join([]string{gapObject(g.Gap), string(at.Object), at.Pointer, strconv.Itoa(at.Start), string(g.Kind), g.Why}, "\x00")
}

// joined says of one gap what two of one cause say.
func joined(a, b finding.Gap) finding.Gap {
	if !strings.Contains(a.What, b.What) {
		a.What += ", and " + b.What
	}
	if !strings.Contains(a.Consequence, b.Consequence) {
		a.Consequence += "; " + b.Consequence
	}
	rules := append(slices.Clone(a.Rules), b.Rules...)
	slices.Sort(rules)
	a.Rules = slices.Compact(rules)
	return a
}

func gapObject(g finding.Gap) string {
	if g.Object == nil {
		return ""
	}
	return g.Object.APIVersion + " " + g.Object.String()
}

func gapKey(g finding.Gap) string {
	return strings.Join([]string{
		gapObject(g), string(g.At.Object), g.At.Pointer, fmt.Sprintf("%010d", g.At.Start), string(g.Kind), g.What, g.Why, g.Consequence, strings.Join(g.Rules, ","),
	}, "\x00")
}

func nameOf(o *source.Object) finding.ObjectName {
	if o == nil {
		return finding.ObjectName{}
	}
	return finding.NameOf(o)
}
