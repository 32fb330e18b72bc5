package loader

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustres "sigs.k8s.io/kustomize/api/resource"
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
