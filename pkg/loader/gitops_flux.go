package loader

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"path"
	"strings"

	"helm.sh/helm/v3/pkg/strvals"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// helmRelease reads a Flux HelmRelease.
func (g *gitops) helmRelease(o homed) *release {
	tree := o.Tree
	r := &release{object: o.Object, scan: o.scan, kind: "HelmRelease"}
	own := o.Namespace
	target := fieldText(tree, "spec", "targetNamespace")
	r.namespace = cmp.Or(target, own)
	r.name = fieldText(tree, "spec", "releaseName")
	if r.name == "" {
		r.name = o.Name
		if target != "" {
			r.name = target + "-" + o.Name
		}
	}
	r.crds = fieldText(tree, "spec", "install", "crds") != "Skip"
	r.chart = g.fluxChart(o)
	g.fluxValues(r, o)
	renderers, _ := field(tree, "spec", "postRenderers")
	list, _ := renderers.([]any)
	for i, item := range list {
		block := asMap(asMap(item)["kustomize"])
		r.patches = append(r.patches, readChange(o.Object, block, fmt.Sprintf("/spec/postRenderers/%d/kustomize", i), g.l.opts.Limits))
	}
	return r
}

// fluxChart finds out which chart a HelmRelease installs.
func (g *gitops) fluxChart(o homed) chartRef {
	if ref, ok := field(o.Tree, "spec", "chartRef"); ok {
		return g.fluxChartRef(o, asMap(ref))
	}
	c := chartRef{at: "/spec/chart/spec/chart"}
	spec, _ := field(o.Tree, "spec", "chart", "spec")
	return g.chartFrom(o, asMap(spec), c)
}

// chartFrom reads what a chart template and a HelmChart have in common.
func (g *gitops) chartFrom(o homed, spec map[string]any, c chartRef) chartRef {
	c.name, _ = spec["chart"].(string)
	c.version, _ = spec["version"].(string)
	if f, is := spec["version"].(float64); is {
		c.version = fmt.Sprint(f)
	}
	ref := asMap(spec["sourceRef"])
	kind, _ := ref["kind"].(string)
	switch kind {
	case "GitRepository", "Bucket":
		c.path, c.name = c.name, path.Base(path.Clean("/"+c.name))
		c.version = ""
	default:
		name, _ := ref["name"].(string)
		c.repository = name
		ns, _ := ref["namespace"].(string)
		if repo, _, ok := g.find("HelmRepository", cmp.Or(ns, o.Namespace), name, o); ok {
			c.repository = cmp.Or(fieldText(repo.Tree, "spec", "url"), name)
		}
	}
	if c.name == "" || c.name == "/" || !isPlain(c.name) {
		c.unknown = "it names no chart"
		if c.name != "" && c.name != "/" {
			c.unknown = "the chart's name holds a variable that nothing in the tree defines"
		}
	}
	return c
}

// fluxChartRef follows a reference to an OCIRepository or a HelmChart.
func (g *gitops) fluxChartRef(o homed, ref map[string]any) chartRef {
	c := chartRef{at: "/spec/chartRef/name"}
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	ns, _ := ref["namespace"].(string)
	found, why, ok := g.find(kind, cmp.Or(ns, o.Namespace), name, o)
	if !ok {
		c.unknown = fmt.Sprintf("its %s %s is not known: %s", cmp.Or(kind, "source"), name, why)
		// A source has often the name of its chart.
		c.name = name
		return c
	}
	if kind == "HelmChart" {
		spec, _ := field(found.Tree, "spec")
		return g.chartFrom(found, asMap(spec), c)
	}
	c.repository = fieldText(found.Tree, "spec", "url")
	c.name = path.Base(c.repository)
	c.version = cmp.Or(fieldText(found.Tree, "spec", "ref", "tag"), fieldText(found.Tree, "spec", "ref", "semver"))
	if c.name == "." || !isPlain(c.name) {
		c.unknown = fmt.Sprintf("the url of its %s %s names no chart that is known", kind, name)
	}
	return c
}

// fluxValues merges the values of a HelmRelease: those of valuesFrom in their
// order, then the inline ones, which win.
func (g *gitops) fluxValues(r *release, o homed) {
	v := &releaseValues{merged: map[string]any{}}
	r.values = v
	v.top = func() source.Provenance { return o.Origin.Locate(source.Ref{Object: o.ID, Pointer: "/spec/values"}) }
	from, _ := field(o.Tree, "spec", "valuesFrom")
	list, _ := from.([]any)
	for i, item := range list {
		g.valuesFrom(r, o, asMap(item), fmt.Sprintf("/spec/valuesFrom/%d", i))
	}
	inline, ok := field(o.Tree, "spec", "values")
	if !ok {
		return
	}
	tree, is := inline.(map[string]any)
	if !is {
		r.gap(finding.Unmodelled, "/spec/values", "the values of the "+r.kind+" "+o.Name+" were not read",
			fmt.Sprintf("they are %s, and the API server refuses all but a mapping", kindOfValue(inline)), "what they set was not checked")
		return
	}
	v.add(releaseLayer{by: r.kind + " values", tree: tree, origin: o.Origin, base: "/spec/values"})
}

func kindOfValue(v any) string {
	switch v.(type) {
	case []any:
		return "a list"
	case string:
		return "a text"
	case map[string]any:
		return "a mapping"
	default:
		return "a single value"
	}
}

// valuesFrom adds the values of a ConfigMap or Secret.
func (g *gitops) valuesFrom(r *release, o homed, ref map[string]any, pointer string) {
	kind, _ := ref["kind"].(string)
	name, _ := ref["name"].(string)
	key, _ := ref["valuesKey"].(string)
	key = cmp.Or(key, "values.yaml")
	target, _ := ref["targetPath"].(string)
	optional, _ := ref["optional"].(bool)
	missed := func(why string) {
		r.gap(finding.Unresolved, pointer, fmt.Sprintf("values from the %s %s could not be seen", cmp.Or(kind, "object"), name), why,
			"what they set is taken for unknown")
		if target == "" {
			r.values.unseen = fmt.Sprintf("the %s %s may set it", kind, name)
			return
		}
		// One value that is not known: no reader takes it for one.
		tree := map[string]any{}
		if strvals.ParseIntoString(target+"=x", tree) == nil {
			setPath(tree, dottedPath(target), unknownText)
			r.values.add(releaseLayer{by: "values from the " + kind + " " + name, tree: tree, origin: pinned{o.Origin, pointer + "/targetPath"}})
		}
	}
	if !isPlain(name) {
		missed("its name holds a variable that nothing in the tree defines")
		return
	}
	object, why, ok := g.find(kind, o.Namespace, name, o)
	if !ok {
		if maker := g.secretMaker(kind, o.Namespace, name); maker != "" {
			missed("it is made in the cluster by the " + maker)
			return
		}
		if optional && why == "it is not in the tree" && kind == "ConfigMap" {
			return
		}
		missed(why)
		return
	}
	text, at, why := dataOf(object.Object, key)
	switch {
	case why != "":
		missed(why)
	case target != "":
		g.valueAt(r, object, target, text, at, pointer)
	default:
		value, origin, gap := parseInner(text, stringText{object.Origin, at}, g.l.opts.Limits)
		if gap != nil {
			missed(fmt.Sprintf("its key %s does not parse: %s", key, gap.Why))
			return
		}
		if tree := asMap(value); tree != nil {
			r.values.add(releaseLayer{by: "values from the " + kind + " " + name, tree: tree, origin: origin})
		} else if value != nil {
			missed(fmt.Sprintf("its key %s holds %s, not a mapping", key, kindOfValue(value)))
		}
	}
}

// valueAt adds a single value at a path, as Flux does: as --set would read it,
// unless it is quoted.
func (g *gitops) valueAt(r *release, from homed, target, text, at, pointer string) {
	tree := map[string]any{}
	parse := strvals.ParseInto
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		text, parse = strings.Trim(text, `"'`), strvals.ParseIntoString
	}
	if err := parse(target+"="+text, tree); err != nil {
		r.gap(finding.Unmodelled, pointer+"/targetPath", "a value of the "+r.kind+" "+r.object.Name+" was not read", err.Error(), "what it sets was not checked")
		return
	}
	r.values.add(releaseLayer{by: "values from the " + from.Kind + " " + from.Name, tree: tree, origin: pinned{from.Origin, at}})
}

// setPath writes a value into a tree; lists are as long as they are.
func setPath(tree map[string]any, path []string, value any) {
	var at any = tree
	for i, key := range path {
		last := i == len(path)-1
		switch c := at.(type) {
		case map[string]any:
			if last {
				c[key] = value
				return
			}
			at = c[key]
		case []any:
			j, ok := indexToken(key, len(c))
			if !ok {
				return
			}
			if last {
				c[j] = value
				return
			}
			at = c[j]
		default:
			return
		}
	}
}

// dataOf returns a key of a ConfigMap or Secret and the pointer to it; why says
// that it cannot be seen.
func dataOf(o *source.Object, key string) (text, pointer, why string) {
	if why := sealed(o); why != "" {
		return "", "", why
	}
	for _, f := range []string{"stringData", "data"} {
		v, ok := asMap(o.Tree[f])[key]
		if !ok {
			continue
		}
		pointer = source.Ref{Pointer: "/" + f}.Child(key).Pointer
		text, ok := v.(string)
		if !ok {
			return "", "", "its key " + key + " is no text"
		}
		if o.Kind != "Secret" || f != "data" {
			return text, pointer, ""
		}
		plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return "", "", "its key " + key + " is no base64"
		}
		return string(plain), pointer, ""
	}
	return "", "", "it has no key " + key
}

// sealed says why the content of an object cannot be read, "" when it can.
func sealed(o *source.Object) string {
	if _, has := o.Tree["sops"]; has {
		return "it is encrypted with SOPS"
	}
	for _, f := range []string{"stringData", "data"} {
		for _, v := range asMap(o.Tree[f]) {
			if text, _ := v.(string); strings.HasPrefix(text, "ENC[") {
				return "it is encrypted with SOPS"
			}
		}
	}
	return ""
}

// secretMaker names the object in view that makes a Secret in the cluster.
func (g *gitops) secretMaker(kind, namespace, name string) string {
	if kind != "Secret" {
		return ""
	}
	for _, maker := range []string{"SealedSecret", "ExternalSecret", "OnePasswordItem", "VaultStaticSecret", "BitwardenSecret"} {
		for _, key := range sortedObjectNames(g.objects, maker) {
			for _, o := range g.objects[key] {
				made := o.Name
				for _, at := range [][]string{{"spec", "template", "metadata", "name"}, {"spec", "target", "name"}, {"spec", "destination", "name"}} {
					made = cmp.Or(fieldText(o.Tree, at...), made)
				}
				if made == name && (o.Namespace == namespace || o.Namespace == "" || namespace == "") {
					return maker + " " + o.Name
				}
			}
		}
	}
	return ""
}

func sortedObjectNames(all map[objectName][]homed, kind string) []objectName {
	names := map[string]objectName{}
	for key := range all {
		if key.kind == kind {
			names[key.name] = key
		}
	}
	out := make([]objectName, 0, len(names))
	for _, n := range sortedKeys(names) {
		out = append(out, names[n])
	}
	return out
}
