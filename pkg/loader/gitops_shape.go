package loader

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Most VPN workloads of public GitOps repositories are releases of the bjw-s
// app-template chart, which is in none of them. What it makes of its values
// hardly differs between its versions and is repeated here, as far as a network
// engineer cares: pods, Services, configuration, policies.

// shaper makes the objects of a release without its chart.
type shaper struct {
	rel    *release
	values given
	// major is the version of app-template: 2, 3 or 4; 1 for the older family.
	major int
	// full is the name from which the names of all objects are made.
	full string
	// app are the labels by which all objects of the release are selected.
	app     map[string]string
	objects []*source.Object
	// problem says why the chart would refuse the values, "" when it takes them.
	problem string
	at      []string
}

// refuse records why the chart does not render with these values.
func (s *shaper) refuse(at given, format string, args ...any) {
	if s.problem == "" {
		s.problem, s.at = fmt.Sprintf(format, args...), at.path
	}
}

// templateAction is an action of a Helm template inside of a value.
var (
	helmAction  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	releaseName = regexp.MustCompile(`^\{\{-?\s*\$?\.Release\.(Name|Namespace)\s*(?:\|\s*quote\s*)?-?\}\}$`)
	plainValue  = regexp.MustCompile(`^\{\{-?\s*\$?\.Values((?:\.[A-Za-z_]\w*)+)\s*-?\}\}$`)
)

// unknownText stands for what a template would write: no reader takes it for a
// value.
const unknownText = "${HELM_TEMPLATE}"

// tpl fills in the templates of a text, those that need nothing but the release
// and its values; what others would write is not known.
func (s *shaper) tpl(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return helmAction.ReplaceAllStringFunc(text, func(action string) string {
		if m := releaseName.FindStringSubmatch(action); m != nil {
			if m[1] == "Name" {
				return s.rel.name
			}
			return s.rel.namespace
		}
		if m := plainValue.FindStringSubmatch(action); m != nil {
			if v := s.values.get(strings.Split(m[1][1:], ".")...); v.ok && !v.isMap() && !v.isList() {
				return scalarText(v.val)
			}
		}
		return unknownText
	})
}

// scalarText writes a scalar as a template would.
func scalarText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// string is a value that the chart writes as a string, templates filled in.
func (s *shaper) string(g given) *made {
	text, is := g.val.(string)
	if !is {
		return written(scalarText(g.val), g)
	}
	if filled := s.tpl(text); filled != text {
		return written(filled, g)
	}
	return copied(g)
}

// tree is a value whose strings may hold templates.
func (s *shaper) tree(g given) *made {
	switch {
	case g.isMap():
		out := mapOf(g)
		for _, k := range g.keys() {
			out.set(k, s.tree(g.get(k)))
		}
		return out
	case g.isList():
		out := listOf(g)
		for _, item := range g.items() {
			out.add(s.tree(item))
		}
		return out
	}
	if _, is := g.val.(string); is {
		return s.string(g)
	}
	return copied(g)
}

// setNames works out the name of the release's objects: app-template always
// takes the release's for its own.
func (s *shaper) setNames(chart string) {
	name := chart
	for _, g := range []given{s.values.get("nameOverride"), s.values.get("global", "nameOverride")} {
		if text := g.text(); text != "" {
			name = text
		}
	}
	s.full = s.rel.name
	if !strings.Contains(s.rel.name, name) {
		s.full = s.rel.name + "-" + name
	}
	for _, g := range []given{s.values.get("fullnameOverride"), s.values.get("global", "fullnameOverride")} {
		if text := g.text(); text != "" {
			s.full = text
		}
	}
	s.full = trimName(s.full)
	s.app = map[string]string{"app.kubernetes.io/name": trimName(name), "app.kubernetes.io/instance": s.rel.name}
}

func trimName(name string) string {
	return strings.TrimSuffix(name[:min(len(name), 63)], "-")
}

// controllerLabel tells the controllers of a release apart.
func (s *shaper) controllerLabel() string {
	if s.major >= 4 {
		return "app.kubernetes.io/controller"
	}
	return "app.kubernetes.io/component"
}

// nameOf is the name of an item of the values, one of count of its kind.
func (s *shaper) nameOf(id string, g given, count int, kind string) string {
	if text := g.get("forceRename").text(); text != "" && s.major >= 3 {
		return s.tpl(text)
	}
	withID := s.full + "-" + id
	if s.major >= 4 {
		return s.nameOfItem(id, g, count)
	}
	if override := s.tpl(g.get("nameOverride").text()); override != "" {
		if override == s.full {
			return s.full
		}
		return s.full + "-" + override
	}
	bare := false
	switch kind {
	case "Service":
		bare = !g.get("primary").empty() || s.major == 3 && count <= 1
	case "ConfigMap", "PersistentVolumeClaim":
	case "Secret":
		bare = s.major == 2 && id == "main"
	default:
		bare = s.major == 2 && id == "main" || s.major == 3 && count <= 1
	}
	if bare || s.major == 3 && id == s.full {
		return s.full
	}
	return withID
}

// nameOfItem is nameOf since version 4.
func (s *shaper) nameOfItem(id string, g given, count int) string {
	name := s.full
	if prefix := s.tpl(g.get("prefix").text()); prefix != "" && prefix != name {
		name = prefix + "-" + name
	}
	if (count > 1 || !s.values.get("global", "alwaysAppendIdentifierToResourceName").empty()) &&
		!strings.HasSuffix(name, "-"+id) && name != id {
		name += "-" + id
	}
	if suffix := s.tpl(g.get("suffix").text()); suffix != "" && !strings.HasSuffix(name, "-"+suffix) {
		name += "-" + suffix
	}
	return strings.ToLower(name)
}

// enabledItems returns the members of a map that are maps and not switched off.
func enabledItems(g given) []given {
	var out []given
	for _, k := range g.keys() {
		if item := g.get(k); item.isMap() && item.enabled() {
			out = append(out, item)
		}
	}
	return out
}

func lastOf(path []string) string { return path[len(path)-1] }

// named is the name of an object, which stands at the key of what the object is
// made of, or at nothing in particular.
func named(name string, g given) *made {
	if len(g.path) == 0 {
		return own(name)
	}
	return &made{value: name, path: g.path, moved: true, named: true}
}

// metadata makes an object's metadata.
func (s *shaper) metadata(name string, g given) *made {
	labels := mapOf(given{path: g.path})
	for _, k := range sortedKeys(s.app) {
		labels.set(k, own(s.app[k]))
	}
	for _, k := range g.get("labels").keys() {
		labels.set(k, s.string(g.get("labels", k)))
	}
	meta := &made{path: g.path, fields: map[string]*made{}}
	meta.set("name", named(name, g)).set("labels", labels)
	if s.major > 3 { // before, the chart leaves that to Helm
		meta.set("namespace", own(s.rel.namespace))
	}
	if a := g.get("annotations"); !a.empty() {
		meta.set("annotations", s.tree(a))
	}
	return meta
}

// emit adds an object of the release.
func (s *shaper) emit(apiVersion, kind string, p *made) {
	p.set("apiVersion", own(apiVersion)).set("kind", own(kind))
	s.objects = append(s.objects, s.rel.objectOf(p))
}
