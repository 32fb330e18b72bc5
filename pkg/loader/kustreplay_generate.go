package loader

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/kv"
	"sigs.k8s.io/kustomize/api/resmap"
	kustres "sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// generate adds what the generators of n make.
func (r *replay) generate(m resmap.ResMap, n *kustNode) error {
	loader := kv.NewLoader(&kustFiles{r.a, n.dir}, r.validate)
	add := func(made resmap.ResMap, err error, field string, index int, args types.GeneratorArgs, own *types.GeneratorOptions) error {
		if err != nil {
			return err
		}
		for _, res := range made.Resources() {
			g := &kustGenerator{node: n, field: field, index: index, sources: args.KvPairSources, behavior: args.Behavior, kind: res.GetKind()}
			g.mark(r.marks, res.YNode(), own)
			if err := r.absorb(m, res); err != nil {
				return err
			}
		}
		return nil
	}
	for i, args := range n.spec.ConfigMapGenerator {
		if n.leaves("configMapGenerator", i) {
			continue
		}
		own := args.Options
		args.Options = types.MergeGlobalOptionsIntoLocal(copyOptions(own), n.spec.GeneratorOptions)
		made, err := r.factory.NewResMapFromConfigMapArgs(loader, []types.ConfigMapArgs{withEnvs(args)})
		if err := add(made, err, "configMapGenerator", i, args.GeneratorArgs, own); err != nil {
			return err
		}
	}
	for i, args := range n.spec.SecretGenerator {
		if n.leaves("secretGenerator", i) {
			continue
		}
		own := args.Options
		args.Options = types.MergeGlobalOptionsIntoLocal(copyOptions(own), n.spec.GeneratorOptions)
		if args.EnvSource != "" {
			args.EnvSources = append(slices.Clone(args.EnvSources), args.EnvSource)
		}
		made, err := r.factory.NewResMapFromSecretArgs(loader, []types.SecretArgs{args})
		if err := add(made, err, "secretGenerator", i, args.GeneratorArgs, own); err != nil {
			return err
		}
	}
	return nil
}

func withEnvs(args types.ConfigMapArgs) types.ConfigMapArgs {
	if args.EnvSource != "" {
		args.EnvSources = append(slices.Clone(args.EnvSources), args.EnvSource)
	}
	return args
}

// copyOptions copies options that the library would change.
func copyOptions(o *types.GeneratorOptions) *types.GeneratorOptions {
	if o == nil {
		return nil
	}
	out := *o
	out.Labels, out.Annotations = types.CopyMap(o.Labels), types.CopyMap(o.Annotations)
	return &out
}

// absorb adds a generated object, or merges it into the one that it names.
func (r *replay) absorb(m resmap.ResMap, res *kustres.Resource) error {
	var old *yaml.Node
	if found := m.GetMatchingResourcesByAnyId(res.CurId().Equals); len(found) == 1 {
		old = kyaml.CopyYNode(found[0].YNode())
	}
	made := kyaml.CopyYNode(res.YNode())
	one := resmap.New()
	if err := one.Append(res); err != nil {
		return err
	}
	if err := m.AbsorbAll(one); err != nil || old == nil {
		return err
	}
	// What was merged is written anew, without marks.
	var restore func(n *yaml.Node, tokens []string)
	restore = func(n *yaml.Node, tokens []string) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				restore(n.Content[i+1], append(slices.Clip(tokens), n.Content[i].Value))
			}
		}
		if n.Line == 0 {
			for _, from := range []*yaml.Node{nodeAt(made, tokens), nodeAt(old, tokens)} {
				if from != nil && from.Value == n.Value && from.Line != 0 && (n.Line == 0 || namesObject(tokens)) {
					n.Line = from.Line
				}
			}
		}
		if n.Kind == yaml.ScalarNode {
			r.marks.seen[n] = n.Line
		}
	}
	restore(res.YNode(), nil)
	return nil
}
