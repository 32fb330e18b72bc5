package loader

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// changes reports whether the patch is aimed at the candidate that became o.
func (p *kustPatch) changes(c *candidate, o *source.Object) bool {
	names := append(c.names(), o.Name)
	if p.target == nil {
		tree := asMap(p.tree)
		meta := asMap(tree["metadata"])
		name, _ := meta["name"].(string)
		ns, _ := meta["namespace"].(string)
		return tree["kind"] == o.Kind && slices.Contains(names, name) &&
			(ns == "" || ns == "default" || ns == c.namespace || ns == o.Namespace)
	}
	s, err := types.NewSelectorRegex(p.target)
	if err != nil {
		return false
	}
	group, version, ok := strings.Cut(o.APIVersion, "/")
	if !ok {
		group, version = "", o.APIVersion
	}
	gvk := p.target.Gvk
	gvk.Group, gvk.Version, gvk.Kind = group, version, o.Kind
	if !s.MatchGvk(gvk) || !slices.ContainsFunc(names, s.MatchName) ||
		!s.MatchNamespace(c.namespace) && !s.MatchNamespace(o.Namespace) {
		return false
	}
	meta := asMap(o.Tree["metadata"])
	return selects(p.target.LabelSelector, meta["labels"]) && selects(p.target.AnnotationSelector, meta["annotations"])
}

func selects(selector string, set any) bool {
	if selector == "" {
		return true
	}
	values := map[string]string{}
	for k, v := range asMap(set) {
		values[k], _ = v.(string)
	}
	n := kyaml.NewMapRNode(nil)
	if err := n.SetLabels(values); err != nil {
		return false
	}
	ok, err := n.MatchesLabelSelector(selector)
	return err == nil && ok
}

// ref returns r at another pointer.
func ref(tokens []string, r source.Ref) source.Ref {
	out := source.Ref{Object: "file"}.Child(tokens...)
	out.Start, out.End, out.Key = r.Start, r.End, r.Key
	return out
}

// patched finds the last of the patches of an object that holds the field: for a
// scalar, with its final value; for a collection, the patch that brought it in.
func patched(patches []*kustPatch, o *source.Object, tokens []string, final any, isScalar, baseHas bool) (*kustPatch, []string, bool) {
	for i := len(patches) - 1; i >= 0; i-- {
		p := patches[i]
		at, v, whole, ok := p.find(o.Tree, tokens)
		switch {
		case !ok:
		case isScalar && reflect.DeepEqual(v, final), !isScalar && (!baseHas || whole && reflect.DeepEqual(v, final)):
			return p, at, true
		}
	}
	return nil, nil, false
}

// find looks for the field of the final object in the patch; whole says that
// the patch sets this very field rather than something inside it.
func (p *kustPatch) find(final map[string]any, tokens []string) (at []string, v any, whole, ok bool) {
	if ops, isJSON := p.tree.([]any); isJSON {
		return findOperation(final, ops, tokens)
	}
	at, v, ok = mapPath(final, p.tree, tokens)
	return at, v, false, ok
}

// findOperation looks for the JSON 6902 operation that set the field.
func findOperation(final map[string]any, ops []any, tokens []string) (at []string, v any, whole, ok bool) {
	for i := len(ops) - 1; i >= 0; i-- {
		op := asMap(ops[i])
		value, has := op["value"]
		if verb := op["op"]; !has || verb != "add" && verb != "replace" {
			continue
		}
		pointer, _ := op["path"].(string)
		target := source.PointerTokens(pointer)
		if len(target) > len(tokens) {
			continue
		}
		holder, depth := walkTokens(final, tokens[:len(target)])
		if depth < len(target) || !samePath(target, tokens, holder, value) {
			continue
		}
		rest, v, found := mapPath(holder, value, tokens[len(target):])
		if found {
			return append([]string{strconv.Itoa(i), "value"}, rest...), v, len(target) == len(tokens), true
		}
	}
	return nil, nil, false, false
}

// samePath reports whether an operation's path leads to tokens; - stands for
// the item that holds the operation's value.
func samePath(target, tokens []string, holder, value any) bool {
	for i, t := range target {
		switch {
		case t == tokens[i]:
		case t == "-" && i == len(target)-1 && sameItem(holder, value):
		default:
			return false
		}
	}
	return true
}

// imageSets returns the field of an images entry that made image what it is.
func imageSets(img types.Image, image string) string {
	name := img.Name
	if img.NewName != "" {
		name = img.NewName
	}
	rest, ok := strings.CutPrefix(image, name)
	if !ok || rest != "" && rest[0] != ':' && rest[0] != '@' {
		return ""
	}
	switch {
	case img.Digest != "" && strings.HasSuffix(rest, "@"+img.Digest):
		return "digest"
	case img.NewTag != "" && strings.HasPrefix(rest, ":"+img.NewTag):
		return "newTag"
	case img.TagSuffix != "" && strings.HasSuffix(rest, img.TagSuffix):
		return "tagSuffix"
	case img.NewName != "" && img.NewTag == "" && img.Digest == "":
		return "newName"
	}
	return ""
}
