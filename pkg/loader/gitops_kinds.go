package loader

import (
	"fmt"
	"slices"
	"strings"
)

// newerKinds and olderKinds are what the values of app-template must be of, before
// which its templates give up and its schema refuses them: * stands for each member
// of a mapping or a list, m is a mapping, l a list and t a text.
var (
	newerKinds = kindTable(`
controllers m
controllers/* m
controllers/*/containers m
controllers/*/initContainers m
controllers/*/pod m
controllers/*/defaultContainerOptions m
controllers/*/containers/* m
controllers/*/initContainers/* m
defaultPodOptions m
service m
service/* m
service/*/ports m
service/*/ports/* m
configMaps m
configMaps/* m
configMaps/*/data m
secrets m
secrets/* m
secrets/*/stringData m
persistence m
persistence/* m
persistence/*/globalMounts l
persistence/*/advancedMounts m
networkpolicies m
networkpolicies/* m
rawResources m
rawResources/* m
` + containerKinds("controllers/*/containers/*/") + containerKinds("controllers/*/initContainers/*/"))

	olderKinds = kindTable(`
controller m
service m
service/* m
service/*/ports m
persistence m
persistence/* m
podSecurityContext m
addons m
addons/vpn m
` + containerKinds(""))
)

// containerKinds are those of a container's fields.
func containerKinds(prefix string) string {
	var b strings.Builder
	for line := range strings.Lines("image mt\nenv ml\nenvFrom l\ncommand lt\nargs lt\nsecurityContext m\nlifecycle m\nports l\nprobes m\nresources m\n") {
		b.WriteString(prefix + line)
	}
	return b.String()
}

type valueKind struct {
	path  []string
	kinds string
}

func kindTable(text string) []valueKind {
	var out []valueKind
	for line := range strings.Lines(strings.TrimSpace(text)) {
		where, kinds, _ := strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, valueKind{strings.Split(where, "/"), kinds})
	}
	return out
}

// is reports whether a value is of a kind, or not there.
func (k valueKind) is(g given) bool {
	_, isText := g.val.(string)
	return !g.ok || g.isMap() && strings.Contains(k.kinds, "m") || g.isList() && strings.Contains(k.kinds, "l") ||
		isText && strings.Contains(k.kinds, "t")
}

// wants names the kinds.
func (k valueKind) wants() string {
	names := make([]string, 0, len(k.kinds))
	for _, r := range k.kinds {
		names = append(names, map[rune]string{'m': "a mapping", 'l': "a list", 't': "a text"}[r])
	}
	return strings.Join(names, " or ")
}

// maxWrongKinds bounds the values of a wrong kind that are named of one release.
const maxWrongKinds = 20

// wrongKinds are the values of another kind than a table has, each with what is
// wanted. What is switched off is made nothing of, and what holds a
// text of a template is what that makes of it.
func wrongKinds(values given, table []valueKind) (at []given, wants []string) {
	for _, k := range table {
		for _, g := range values.each(k.path) {
			text, isText := g.val.(string)
			inWrong := slices.ContainsFunc(at, func(wrong given) bool {
				return len(wrong.path) < len(g.path) && slices.Equal(wrong.path, g.path[:len(wrong.path)])
			})
			if inWrong || k.is(g) || isText && strings.Contains(text, "{{") || len(at) == maxWrongKinds {
				continue
			}
			at = append(at, g)
			wants = append(wants, k.wants())
		}
	}
	return at, wants
}

// each returns the values at a path with wildcards, that are not below a member
// which is switched off.
func (g given) each(path []string) []given {
	for i, key := range path {
		if key != "*" {
			g = g.get(key)
			continue
		}
		var out []given
		for _, item := range g.items() {
			out = append(out, item.each(path[i+1:])...)
		}
		for _, k := range g.keys() {
			if item := g.get(k); !item.isMap() || item.enabled() {
				out = append(out, item.each(path[i+1:])...)
			}
		}
		return out
	}
	return []given{g}
}

// sayKinds records the values that a chart of the family could not have read, and
// reports whether there are any.
func (r *release) sayKinds(values given, table []valueKind) bool {
	at, wants := wrongKinds(values, table)
	for i, g := range at {
		r.gapAtValue(g.path, fmt.Sprintf("the value %s of the %s %s was not read", strings.Join(g.path, "."), r.kind, r.object.Name),
			fmt.Sprintf("it is %s, and the chart takes %s there", kindOfValue(g.val), wants[i]), "what it would set was not checked")
	}
	return len(at) > 0
}
