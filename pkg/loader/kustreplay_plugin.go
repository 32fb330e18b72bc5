package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/builtins" //nolint:staticcheck // the parts that the library builds with
	"sigs.k8s.io/kustomize/api/ifc"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustFiles hands the files of a build to the library, seen from a directory.
type kustFiles struct {
	a   *accumulation
	dir string
}

func (*kustFiles) Repo() string   { return "" }
func (f *kustFiles) Root() string { return path.Join("/", f.dir) }
func (*kustFiles) Cleanup() error { return nil }
func (f *kustFiles) New(string) (ifc.Loader, error) {
	return nil, errors.New("a plug-in does not read kustomizations")
}

func (f *kustFiles) Load(name string) ([]byte, error) {
	if file := f.a.files[path.Join(f.dir, name)]; file != nil {
		return []byte(file.Text()), nil
	}
	return nil, fmt.Errorf("%s is no file of the build", name)
}

// plugins runs the transformers that stand in files of their own.
func (r *replay) plugins(m resmap.ResMap, n *kustNode) error {
	// What is read here for the first time is nobody else's.
	a := &accumulation{t: r.a.t, files: r.a.files, limits: r.a.limits, patchFiles: map[*source.File][]*kustPatch{}}
	helpers := resmap.NewPluginHelpers(&kustFiles{a, n.dir}, r.validate, r.factory, types.DisabledPluginConfig())
	for i, entry := range n.spec.Transformers {
		var docs []*kustPatch
		if f := r.a.files[path.Join(n.dir, entry)]; f != nil && !isInline(entry) {
			docs = a.patchText(f, identity{f}, nil)
		} else if isInline(entry) {
			docs = a.inlinePatch(n, entry, nil, "transformers", strconv.Itoa(i))
		}
		for _, doc := range docs {
			config := asMap(doc.tree)
			kind, _ := config["kind"].(string)
			if kind == "PatchTransformer" {
				if err := r.patchPlugin(m, a, n, doc); err != nil {
					return err
				}
				continue
			}
			p := builtinTransformer(kind)
			data, err := json.Marshal(config)
			if p == nil || err != nil {
				continue
			}
			if err := p.Config(helpers, data); err != nil {
				return err
			}
			if err := r.transform(m, p, r.configured(doc)); err != nil {
				return err
			}
			m.DropEmpties()
		}
	}
	return nil
}

// patchPlugin applies the patch that a configuration of its own holds or names.
func (r *replay) patchPlugin(m resmap.ResMap, a *accumulation, n *kustNode, doc *kustPatch) error {
	data, err := json.Marshal(doc.tree)
	if err != nil {
		return err
	}
	var spec types.Patch
	if err := json.Unmarshal(data, &spec); err != nil {
		return err
	}
	var patches []*kustPatch
	if spec.Path != "" {
		if f := a.files[path.Join(n.dir, spec.Path)]; f != nil {
			patches = a.patchFile(f, spec.Target)
		}
	} else {
		// The file stands for the text: its places are those of the string.
		f := source.NewFile(n.file.Path(), spec.Patch)
		patches = a.patchText(f, inlineText{origin: doc.origin, pointer: "/patch"}, spec.Target)
	}
	for _, p := range patches {
		p.options = spec.Options
		if err := r.patchOne(m, p); err != nil {
			return err
		}
		m.DropEmpties()
	}
	return nil
}

func builtinTransformer(kind string) resmap.TransformerPlugin {
	switch kind {
	case "AnnotationsTransformer":
		return builtins.NewAnnotationsTransformerPlugin()
	case "ImageTagTransformer":
		return builtins.NewImageTagTransformerPlugin()
	case "LabelTransformer":
		return builtins.NewLabelTransformerPlugin()
	case "NamespaceTransformer":
		return builtins.NewNamespaceTransformerPlugin()
	case "PrefixTransformer":
		return builtins.NewPrefixTransformerPlugin()
	case "SuffixTransformer":
		return builtins.NewSuffixTransformerPlugin()
	case "ReplicaCountTransformer":
		return builtins.NewReplicaCountTransformerPlugin()
	}
	return nil
}

// configured marks what a plug-in wrote by the one value of its configuration
// that is, begins or ends what was written, or holds it.
func (r *replay) configured(doc *kustPatch) func(string, *yaml.Node, int) writer {
	root := r.marks.plant(doc.tree, doc.origin, "", false)
	var values []int
	var list func(n *yaml.Node, key string)
	list = func(n *yaml.Node, key string) {
		if n.Kind == yaml.ScalarNode && key != "kind" && key != "apiVersion" && key != "path" {
			values = append(values, n.Line)
		}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				list(c, key)
			case i%2 == 1:
				list(c, n.Content[i-1].Value)
			}
		}
	}
	list(root, "")
	one := func(fits func(text string) bool) (id int, ok bool) {
		for _, v := range values {
			if fits(r.marks.list[v].text) {
				if id != 0 {
					return 0, false
				}
				id = v
			}
		}
		return id, id != 0
	}
	return func(_ string, n *yaml.Node, old int) writer {
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			if id, ok := one(func(text string) bool { return text == n.Value }); ok {
				return writer{pieces: []fragment{{0, len(n.Value), id, 0}}}.overrides(old)
			}
			if was := r.marks.list[old].text; old != 0 && was != "" {
				if id, ok := one(func(text string) bool { return text+was == n.Value }); ok {
					return r.joined(n.Value, id, old, 1)
				}
				if id, ok := one(func(text string) bool { return was+text == n.Value }); ok {
					return r.joined(n.Value, old, id, 0)
				}
			}
			if id, ok := one(func(text string) bool { return strings.Count(text, n.Value) == 1 }); ok {
				i := strings.Index(r.marks.list[id].text, n.Value)
				return writer{pieces: []fragment{{0, len(n.Value), id, i}}}.overrides(old)
			}
		}
		return writer{origin: doc.origin, vague: true}.overrides(old)
	}
}
