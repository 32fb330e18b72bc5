package loader

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// kustGenerator is one entry of configMapGenerator or secretGenerator.
type kustGenerator struct {
	node     *kustNode
	field    string
	index    int
	sources  types.KvPairSources
	behavior string
	kind     string
}

func generated(n *kustNode, field string, i int, args types.GeneratorArgs, kind string) *candidate {
	g := &kustGenerator{node: n, field: field, index: i, sources: args.KvPairSources, behavior: args.Behavior,
		kind: kind}
	return &candidate{generator: g, kind: kind, name: args.Name, namespace: args.Namespace}
}

func (g *kustGenerator) locate(key string, r source.Ref, files map[string]*source.File) (source.Provenance, bool) {
	item := strconv.Itoa(g.index)
	for j := len(g.sources.LiteralSources) - 1; j >= 0; j-- {
		k, value, _ := strings.Cut(g.sources.LiteralSources[j], "=")
		if k != key {
			continue
		}
		offset := len(k) + len("=")
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			offset, value = offset+1, value[1:n-1]
		}
		start, end := offset, offset+len(value)
		if r.End > 0 && r.End <= len(value) {
			start, end = offset+r.Start, offset+r.End
		}
		at := source.Ref{Pointer: g.node.pointer(g.field, item, "literals", strconv.Itoa(j)), Start: start, End: end}
		if start == end {
			at.Start, at.End = 0, 0
		}
		return g.node.origin.Locate(at), true
	}
	entryNote := func(keys ...string) []source.Note {
		p := g.node.origin.Locate(source.Ref{Pointer: g.node.pointer(append([]string{g.field, item}, keys...)...)})
		return []source.Note{{At: p.Primary, Says: "put into the " + g.kind + " here"}}
	}
	for j, entry := range g.sources.FileSources {
		k, name := splitFileSource(entry)
		f := files[path.Join(g.node.dir, name)]
		if f == nil {
			f = files[path.Join(g.node.dir, name, key)] // a directory of files
		} else if k != key {
			continue
		}
		if f == nil {
			continue
		}
		p := identity{f}.Map(0, lineLen(f.Text()))
		if r.End > 0 && r.Start <= r.End && r.End <= len(f.Text()) {
			p = identity{f}.Map(r.Start, r.End)
		}
		p.Via = entryNote("files", strconv.Itoa(j))
		return p, true
	}
	envs := g.sources.EnvSources
	if g.sources.EnvSource != "" {
		envs = append(slices.Clone(envs), g.sources.EnvSource)
	}
	for _, name := range envs {
		f := files[path.Join(g.node.dir, name)]
		if f == nil {
			continue
		}
		if start, end, ok := envValue(f.Text(), key); ok {
			if r.End > 0 && r.Start <= r.End && start+r.End <= end {
				start, end = start+r.Start, start+r.End
			}
			p := identity{f}.Map(start, end)
			p.Via = entryNote("envs")
			return p, true
		}
	}
	return source.Provenance{}, false
}

// place is where the value of a key was written; of no key, where the entry is.
func (g *kustGenerator) place(key string, r source.Ref, files map[string]*source.File) source.Provenance {
	if key != "" {
		if p, ok := g.locate(key, r, files); ok {
			return p
		}
	}
	p := g.node.origin.Locate(source.Ref{Pointer: g.node.pointer(g.field, strconv.Itoa(g.index))})
	if key != "" {
		p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	}
	return p
}

// mark marks what the generator made; own are the options of its entry.
func (g *kustGenerator) mark(m *marks, root *yaml.Node, own *types.GeneratorOptions) {
	item := []string{g.field, strconv.Itoa(g.index)}
	at := func(keys ...string) writer { return g.node.mark(append(slices.Clip(item), keys...)...) }
	options := func(key, entry string, local map[string]string) writer {
		if _, ok := local[entry]; ok {
			return at("options", key, entry)
		}
		return g.node.mark("generatorOptions", key, entry)
	}
	if own == nil {
		own = &types.GeneratorOptions{}
	}
	var walk func(n *yaml.Node, tokens []string)
	walk = func(n *yaml.Node, tokens []string) {
		k := writer{generator: g, vague: len(tokens) > 0}
		switch p := strings.Join(tokens[:min(len(tokens), 2)], "/"); {
		case len(tokens) == 2 && (tokens[0] == "data" || tokens[0] == "binaryData"):
			k.key, k.vague = tokens[1], false
		case p == "metadata/name":
			k = at("name")
		case p == "metadata/namespace":
			k = at("namespace")
		case p == "metadata/labels" && len(tokens) == 3:
			k = options("labels", tokens[2], own.Labels)
		case p == "metadata/annotations" && len(tokens) == 3:
			k = options("annotations", tokens[2], own.Annotations)
		case p == "type" && g.node.has(append(slices.Clip(item), "type")...):
			k = at("type")
		case p == "immutable" && own.Immutable:
			k = at("options", "immutable")
		case p == "immutable":
			k = g.node.mark("generatorOptions", "immutable")
		}
		if n.Kind == yaml.ScalarNode {
			k.text = n.Value
		}
		n.Line = m.add(k)
		m.seen[n] = n.Line
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			walk(n.Content[i+1], append(slices.Clip(tokens), n.Content[i].Value))
		}
	}
	walk(root, nil)
}

// envValue finds the value of a KEY=value line.
func envValue(text, key string) (start, end int, ok bool) {
	offset := 0
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimLeft(body, " \t")
		if value, found := strings.CutPrefix(trimmed, key+"="); found {
			end = offset + len(body)
			start, ok = end-len(value), true
		}
		offset += len(line)
	}
	return start, end, ok
}
