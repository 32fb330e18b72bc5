package loader

import (
	"context"
	"errors"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"
	kustres "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

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
			if err := r.operateOn(res, p); err != nil {
				return err
			}
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

// operateOn runs the operations of a JSON patch on one resource. The library keeps
// its own annotations through it, whatever the patch says of annotations.
func (r *replay) operateOn(res *kustres.Resource, p *kustPatch) error {
	res.StorePreviousId()
	kept := kioutil.GetInternalAnnotations(&res.RNode)
	if err := r.marks.applyOperations(res.YNode(), p); err != nil {
		return err
	}
	now := kioutil.GetInternalAnnotations(&res.RNode)
	for _, key := range sortedKeys(kept) {
		if now[key] == kept[key] {
			continue
		}
		if err := res.PipeE(kyaml.SetAnnotation(key, kept[key])); err != nil {
			return err
		}
	}
	r.marks.settle(res.YNode(), p.unclear)
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
