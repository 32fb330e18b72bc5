package loader

import (
	"strings"
	"testing"
)

func TestWrongKinds(t *testing.T) {
	for text, want := range map[string]string{
		"controllers: [1]":                                   "controllers: it is a list, and the chart takes a mapping there",
		"controllers: {a: x}":                                "controllers.a: it is a text, and the chart takes a mapping there",
		"controllers: {a: null}":                             "",
		"controllers: '{{ x }}'":                             "",
		"controllers: {a: {enabled: false, containers: 1}}":  "",
		"controllers: {a: {containers: {c: {image: 7}}}}":    "controllers.a.containers.c.image: it is a single value, and the chart takes a mapping or a text there",
		"controllers: {a: {containers: {c: {command: ls}}}}": "",
		"controllers: {a: {initContainers: {c: {env: x}}}}":  "controllers.a.initContainers.c.env: it is a text, and the chart takes a mapping or a list there",
		"persistence: {a: {globalMounts: {path: /x}}}":       "persistence.a.globalMounts: it is a mapping, and the chart takes a list there",
	} {
		v, _, gap := parseInner(text, nil, DefaultLimits())
		if gap != nil {
			t.Fatal(text, gap)
		}
		at, wants := wrongKinds(given{val: v, ok: true}, newerKinds)
		var got []string
		for i, g := range at {
			got = append(got, strings.Join(g.path, ".")+": it is "+kindOfValue(g.val)+", and the chart takes "+wants[i]+" there")
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
