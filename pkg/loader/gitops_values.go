package loader

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// releaseLayer is one source of a release's values: a block of the release
// itself, or a text in a ConfigMap.
type releaseLayer struct {
	by   string
	tree map[string]any
	// origin finds the tree's fields; base is the pointer of the tree's top in
	// what origin speaks of.
	origin source.Origin
	base   string
}

// locate finds the place of a path that the layer has.
func (l releaseLayer) locate(path []string, r source.Ref) source.Provenance {
	at := source.Ref{Object: "values", Pointer: l.base}.Child(path...)
	at.Start, at.End, at.Key = r.Start, r.End, r.Key
	return l.origin.Locate(at)
}

// releaseValues are the values of a release, merged, with the places that set
// them.
type releaseValues struct {
	merged map[string]any
	layers []releaseLayer // the one that wins first
	// top is where the values would stand if there were any.
	top func() source.Provenance
	// unseen says why values may exist that are not in the tree; "" when none can.
	unseen string
}

// add lays a layer over those before it.
func (v *releaseValues) add(l releaseLayer) {
	v.merged = mergeMaps(v.merged, l.tree)
	v.layers = slices.Insert(v.layers, 0, l)
}

// locate finds where the value at path is written: in the layer that wins. A
// path that nobody sets is located at its nearest ancestor that somebody does.
func (v *releaseValues) locate(path []string, r source.Ref) source.Provenance {
	for n := len(path); n > 0; n-- {
		for _, l := range v.layers {
			if !hasPath(l.tree, path[:n]) {
				continue
			}
			if n == len(path) {
				return l.locate(path, r)
			}
			p := l.locate(path[:n], source.Ref{})
			p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
			return p
		}
	}
	p := v.top()
	p.Primary.Precision = p.Primary.Precision.Worse(source.Parent)
	return p
}

// given is a value of a release and the path that leads to it.
type given struct {
	path []string
	val  any
	ok   bool
}

// get follows keys; what is missing or null is not ok and keeps its path.
func (g given) get(keys ...string) given {
	for _, k := range keys {
		next := given{path: append(slices.Clip(g.path), k)}
		if m, is := g.val.(map[string]any); is && g.ok {
			next.val, next.ok = m[k]
			next.ok = next.ok && next.val != nil
		}
		g = next
	}
	return g
}

// has reports whether a map has a key, be its value null.
func (g given) has(key string) bool {
	m, is := g.val.(map[string]any)
	_, has := m[key]
	return is && has
}

// keys returns the sorted keys of a map.
func (g given) keys() []string { return sortedKeys(asMap(g.val)) }

// items returns the elements of a list.
func (g given) items() []given {
	list, _ := g.val.([]any)
	out := make([]given, len(list))
	for i, v := range list {
		out[i] = given{path: append(slices.Clip(g.path), itoa(i)), val: v, ok: v != nil}
	}
	return out
}

func (g given) isMap() bool {
	_, is := g.val.(map[string]any)
	return g.ok && is
}

func (g given) isList() bool {
	_, is := g.val.([]any)
	return g.ok && is
}

// text returns a string, "" for anything else.
func (g given) text() string {
	s, _ := g.val.(string)
	return s
}

// empty is the notion of Helm's templates: false, 0, "" and collections without
// members.
func (g given) empty() bool { return !g.ok || isEmptyValue(g.val) }

func isEmptyValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// enabled reads a switch that is on unless it says otherwise. A placeholder
// that is filled in later counts as on: what it switches is looked at.
func (g given) enabled() bool { return !g.has("enabled") || !g.get("enabled").empty() }

// made is a field of an object that is made of values.
type made struct {
	// value is a scalar, or a tree that is copied as it stands.
	value any
	// path is the value that it comes from, nil for what a chart adds by itself.
	path []string
	// moved: value is not the very text at path.
	moved bool
	// named: what is at path has its name from the key there, which stands for it.
	named  bool
	fields map[string]*made
	list   []*made
	isList bool
}

// copied is a value as it stands.
func copied(g given) *made { return &made{value: cloneTree(g.val), path: g.path} }

// own is a value that a chart adds by itself.
func own(v any) *made { return &made{value: v} }

// written is a text that a chart makes of a value.
func written(v any, from given) *made { return &made{value: v, path: from.path, moved: true} }

func mapOf(from given) *made { return &made{path: from.path, fields: map[string]*made{}} }

func listOf(from given) *made { return &made{path: from.path, isList: true} }

func (p *made) set(key string, v *made) *made {
	if v != nil {
		p.fields[key] = v
	}
	return p
}

// setGiven copies a value unless it is empty.
func (p *made) setGiven(key string, g given) {
	if !g.empty() {
		p.fields[key] = copied(g)
	}
}

func (p *made) add(v *made) { p.list = append(p.list, v) }

func (p *made) tree() any {
	switch {
	case p.fields != nil:
		out := make(map[string]any, len(p.fields))
		for k, f := range p.fields {
			out[k] = f.tree()
		}
		return out
	case p.isList:
		out := make([]any, len(p.list))
		for i, item := range p.list {
			out[i] = item.tree()
		}
		return out
	}
	return p.value
}

// child is the member, nil where it has none of its own.
func (p *made) child(token string) *made {
	if p.isList {
		if i, ok := indexToken(token, len(p.list)); ok {
			return p.list[i]
		}
		return nil
	}
	return p.fields[token]
}

// madeOrigin is the Origin of an object that is made of a release's values.
type madeOrigin struct {
	top    *made
	values *releaseValues
}

// Locate implements source.Origin.
func (o *madeOrigin) Locate(r source.Ref) source.Provenance {
	tokens := source.PointerTokens(r.Pointer)
	p, path, exact := o.top, o.top.path, o.top.path != nil
	for i, token := range tokens {
		next := p.child(token)
		if next == nil {
			_, depth := walkTokens(p.value, tokens[i:])
			if p.path != nil {
				path = append(slices.Clip(p.path), tokens[i:i+depth]...)
			}
			exact = p.path != nil && depth == len(tokens)-i
			break
		}
		p = next
		if exact = p.path != nil; exact {
			path = p.path
		}
	}
	within := source.Ref{Start: r.Start, End: r.End}
	if p.moved || !exact {
		within = source.Ref{}
	}
	within.Key = p.named && exact && slices.Equal(path, p.path)
	out := o.values.locate(path, within)
	// A name is often made of more than the key.
	if !exact || p.moved && r.End > 0 || within.Key && p.value != nil && p.value != any(lastOf(path)) {
		out.Primary.Precision = out.Primary.Precision.Worse(source.Parent)
	}
	return out
}

// objectOf makes an object of what was made of values.
func (r *release) objectOf(p *made) *source.Object {
	tree := asMap(p.tree())
	apiVersion, kind := identify(tree, "")
	o := &source.Object{
		APIVersion: apiVersion, Kind: kind, Tree: tree, Namespace: r.namespace,
		Unit: r.object.Unit, Input: r.object.Input, Helm: helmRole(tree), ValueSets: r.object.ValueSets,
		Origin: &madeOrigin{top: p, values: r.values},
	}
	o.Name, _ = asMap(tree["metadata"])["name"].(string)
	if ns, _ := asMap(tree["metadata"])["namespace"].(string); ns != "" {
		o.Namespace = ns
	}
	return o
}

// stringText is the textMap of a text inside a string of an object.
type stringText struct {
	origin  source.Origin
	pointer string
}

func (m stringText) Map(start, end int) source.Provenance {
	return m.origin.Locate(source.Ref{Object: "text", Pointer: m.pointer, Start: start, End: max(end, start+1)})
}

func (stringText) Absent(int, int) []source.Guard { return nil }

// parseInner parses the YAML text in a string of an object.
func parseInner(text string, m textMap, limits Limits) (any, *textOrigin, *finding.Gap) {
	d := decoder{file: source.NewFile("", text), m: m, limits: limits, aliasBudget: limits.AliasNodes}
	c := chunk{0, len(text)}
	v, root, doc, ok := d.parse(c)
	if !ok {
		if len(d.gaps) > 0 {
			return nil, nil, &d.gaps[0]
		}
		return nil, &textOrigin{doc: &document{file: d.file, chunk: c, root: &yaml.Node{Kind: yaml.MappingNode}}, m: m}, nil
	}
	return v, &textOrigin{doc: doc, root: root, m: m}, nil
}

// pinned is the Origin of a value that is one string of an object.
type pinned struct {
	origin  source.Origin
	pointer string
}

// Locate implements source.Origin.
func (o pinned) Locate(r source.Ref) source.Provenance {
	return o.origin.Locate(source.Ref{Object: r.Object, Pointer: o.pointer, Start: r.Start, End: r.End})
}

// cloneTree copies a value, so that what is made of it can be changed.
func cloneTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = cloneTree(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = cloneTree(x)
		}
		return out
	}
	return v
}

// withoutNulls drops the keys whose value is null: in a release's values that
// takes back a default.
func withoutNulls(v any) any {
	m, is := v.(map[string]any)
	if !is {
		return v
	}
	out := make(map[string]any, len(m))
	for k, x := range m {
		if x != nil {
			out[k] = withoutNulls(x)
		}
	}
	return out
}

// dottedPath splits a path as --set writes it: dots in keys are escaped, list
// items are in brackets.
func dottedPath(text string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '.' || c == '[' || c == ']':
			flush()
		default:
			b.WriteByte(c)
		}
	}
	flush()
	return out
}
