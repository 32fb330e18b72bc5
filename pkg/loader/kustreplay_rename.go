package loader

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the parts that the library builds with
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
)

// rename sets the namespace of all objects and puts prefix and suffix to their
// names.
func (r *replay) rename(m resmap.ResMap, n *kustNode) error {
	k := &n.spec
	if k.Namespace != "" {
		p := &builtins.NamespaceTransformerPlugin{FieldSpecs: fieldSpecs(namespaceSpecs)}
		p.Namespace = k.Namespace
		err := r.transform(m, p, func(_ string, _ *yaml.Node, old int) writer { return n.mark("namespace").overrides(old) })
		if err != nil {
			return err
		}
	}
	if k.NamePrefix != "" {
		p := &builtins.PrefixTransformerPlugin{Prefix: k.NamePrefix, FieldSpecs: fieldSpecs(nameSpecs)}
		err := r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
			return r.joined(v.Value, r.textMark(n.mark("namePrefix"), k.NamePrefix), old, 1)
		})
		if err != nil {
			return err
		}
	}
	if k.NameSuffix != "" {
		p := &builtins.SuffixTransformerPlugin{Suffix: k.NameSuffix, FieldSpecs: fieldSpecs(nameSpecs)}
		return r.transform(m, p, func(_ string, v *yaml.Node, old int) writer {
			return r.joined(v.Value, old, r.textMark(n.mark("nameSuffix"), k.NameSuffix), 0)
		})
	}
	return nil
}

func (r *replay) textMark(k writer, text string) int {
	k.text = text
	return r.marks.add(k)
}

// joined is the mark of a text that was put together from two, of which main is
// the one to change.
func (r *replay) joined(text string, first, second, main int) writer {
	n := len(r.marks.list[first].text)
	if n+len(r.marks.list[second].text) != len(text) {
		return writer{pieces: []fragment{{0, len(text), []int{first, second}[main], 0}}, vague: true}
	}
	return writer{pieces: []fragment{{0, n, first, 0}, {n, len(text), second, 0}}, main: main}
}

// label sets the labels and annotations of n.
func (r *replay) label(m resmap.ResMap, n *kustNode) error {
	type entry struct {
		label types.Label
		keys  []string
	}
	var entries []entry
	if len(n.older.commonLabels) > 0 {
		entries = append(entries, entry{types.Label{Pairs: n.older.commonLabels, IncludeSelectors: true}, []string{"commonLabels"}})
	}
	for i, l := range n.spec.Labels {
		entries = append(entries, entry{l, []string{"labels", strconv.Itoa(i), "pairs"}})
	}
	for _, e := range entries {
		specs, err := labelSpecs(e.label)
		if err != nil {
			return err
		}
		p := &builtins.LabelTransformerPlugin{Labels: e.label.Pairs, FieldSpecs: specs}
		if err := r.transform(m, p, n.entries(e.keys, e.label.Pairs)); err != nil {
			return err
		}
	}
	if len(n.spec.CommonAnnotations) == 0 {
		return nil
	}
	p := &builtins.AnnotationsTransformerPlugin{Annotations: n.spec.CommonAnnotations, FieldSpecs: fieldSpecs(annotationSpecs)}
	return r.transform(m, p, n.entries([]string{"commonAnnotations"}, n.spec.CommonAnnotations))
}

// entries marks the entries of a mapping of n by their keys.
func (n *kustNode) entries(keys []string, pairs map[string]string) func(string, *yaml.Node, int) writer {
	return func(key string, _ *yaml.Node, old int) writer {
		if _, ok := pairs[key]; ok {
			keys := append(slices.Clip(keys), key)
			return n.mark(keys...).overrides(old)
		}
		return n.mark(keys...)
	}
}

// scale sets the replicas that n gives.
func (r *replay) scale(m resmap.ResMap, n *kustNode) error {
	for i, replica := range n.spec.Replicas {
		p := &builtins.ReplicaCountTransformerPlugin{Replica: replica, FieldSpecs: fieldSpecs(replicaSpecs)}
		err := r.transform(m, p, func(_ string, _ *yaml.Node, old int) writer {
			return n.mark("replicas", strconv.Itoa(i), "count").overrides(old)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
