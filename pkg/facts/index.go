package facts

import (
	"fmt"
	"path"
	"reflect"
	"sort"
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

	mu       sync.Mutex
	services map[serviceView]*serviceIndex
	gaps     []finding.Gap
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
		"MutatingWebhookConfiguration":
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

// gap records something that could not be seen.
func (ix *index) gap(g finding.Gap) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.gaps = append(ix.gaps, g)
}

// gapAt records a gap of an object at a place of it.
func (ix *index) gapAt(kind finding.GapKind, o *source.Object, r source.Ref, what, why, consequence string, rules ...string) {
	name := nameOf(o)
	ix.gap(finding.Gap{Kind: kind, What: what, Why: why, Consequence: consequence, Object: &name, At: r, Rules: rules})
}

// sortedGaps returns the gaps, each once, in a stable order.
func (ix *index) sortedGaps() []finding.Gap {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	out := append([]finding.Gap{}, ix.gaps...)
	sort.SliceStable(out, func(i, j int) bool { return gapKey(out[i]) < gapKey(out[j]) })
	kept := out[:0]
	for i, g := range out {
		if i == 0 || gapKey(out[i-1]) != gapKey(g) {
			kept = append(kept, g)
		}
	}
	return kept
}

func gapKey(g finding.Gap) string {
	object := ""
	if g.Object != nil {
		object = g.Object.APIVersion + " " + g.Object.String()
	}
	return strings.Join([]string{
		object, string(g.At.Object), g.At.Pointer, fmt.Sprintf("%010d", g.At.Start), string(g.Kind), g.What, g.Why, g.Consequence, strings.Join(g.Rules, ","),
	}, "\x00")
}

func nameOf(o *source.Object) finding.ObjectName {
	if o == nil {
		return finding.ObjectName{}
	}
	return finding.NameOf(o)
}
