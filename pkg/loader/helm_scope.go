package loader

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// values makes the templates' top context anew: templates can write to it.
func (r *chartRun) values() (chartutil.Values, error) {
	v, err := chartutil.ToRenderValuesWithSchemaValidation(r.loaded.chart, r.user.merged, r.release, r.caps, true)
	if err != nil {
		return nil, fmt.Errorf("working out its values: %w", err)
	}
	return v, nil
}

// valueLayers lists who sets values, the one that wins first: --set, the last
// values file to the first, the chart, its subcharts.
func (r *chartRun) valueLayers(c *chart.Chart) []*valueLayer {
	layers := slices.Clone(r.user.layers)
	var visit func(c *chart.Chart, prefix []string)
	visit = func(c *chart.Chart, prefix []string) {
		src := r.loaded.sourceOf(c)
		if f := src.files["values.yaml"]; f != nil {
			layers = append(layers, &valueLayer{prefix: prefix, file: f, fixed: src.fixed, parsed: r.shared.valuesOf(f)})
		}
		for _, sub := range c.Dependencies() {
			visit(sub, append(slices.Clone(prefix), sub.Name()))
		}
	}
	visit(c, nil)
	// Parents before their children's children.
	sort.SliceStable(layers, func(i, j int) bool { return len(layers[i].prefix) < len(layers[j].prefix) })
	return layers
}

// scope is what the chart's templates see as .Values.
func (r *chartRun) scope(c *chart.Chart, prefix []string, top chartutil.Values) *valueScope {
	s := &valueScope{prefix: prefix, values: plainMap(top["Values"]), layers: r.layers}
	s.addImports(c, r.loaded)
	s.subs = map[string]*valueScope{}
	for _, sub := range c.Dependencies() {
		inner := chartutil.Values{"Values": s.values[sub.Name()]}
		s.subs[sub.Name()] = r.scope(sub, append(slices.Clone(prefix), sub.Name()), inner)
	}
	for _, d := range r.loaded.sourceOf(c).listed {
		if sub := s.subs[d.called()]; sub != nil {
			sub.switchedBy(s, d)
		}
	}
	return s
}

// switchedBy notes the condition under which the parent brings the chart in, of
// several the first that is set.
func (s *valueScope) switchedBy(parent *valueScope, d dependency) {
	for _, path := range d.condition {
		if v, _ := descend(parent.values, path); v == nil {
			continue
		}
		s.addSwitch(source.Guard{At: d.conditionAt, Reads: []source.ValueRef{parent.ref(path)}, Taken: true})
		return
	}
}

// addSwitch gives a condition to the chart and to all that it brings.
func (s *valueScope) addSwitch(g source.Guard) {
	s.switches = append([]source.Guard{g}, s.switches...)
	for _, sub := range s.subs {
		sub.addSwitch(g)
	}
}

func plainMap(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return v
	case chartutil.Values:
		return v
	}
	return map[string]any{}
}

// addImports records which of the chart's values come from its dependencies.
func (s *valueScope) addImports(c *chart.Chart, l *loadedChart) {
	split := func(v any) []string {
		text, ok := v.(string)
		if !ok || text == "." || text == "" {
			return nil
		}
		return strings.Split(text, ".")
	}
	for _, d := range l.sourceOf(c).listed {
		for _, im := range d.imports {
			switch im := im.(type) {
			case string:
				s.imports = append(s.imports, valueImport{child: append([]string{d.called(), "exports"}, split(im)...)})
			case map[string]any:
				s.imports = append(s.imports, valueImport{parent: split(im["parent"]), child: append([]string{d.called()}, split(im["child"])...)})
			}
		}
	}
}

// missingDependencies reports dependencies that are on but not in charts/.
func (r *chartRun) missingDependencies(c *chart.Chart) {
	have := map[string]bool{}
	for _, sub := range c.Dependencies() {
		have[sub.Name()] = true
	}
	on := map[string]bool{}
	for _, d := range c.Metadata.Dependencies {
		on[d.Name] = true // Helm has put the alias there and taken out what is off
	}
	for _, d := range r.loaded.sourceOf(c).listed {
		if !on[d.called()] || have[d.called()] {
			continue
		}
		name := d.name
		if d.alias != "" {
			name += " (alias " + d.alias + ")"
		}
		r.lacking = append(r.lacking, len(r.out.gaps))
		r.gap(finding.Gap{
			Kind: finding.Unreadable, File: d.at.File, Line: d.at.Span.Start.Line,
			What:        fmt.Sprintf("the dependency %s %s is not in charts/", name, d.version),
			Why:         "nothing is downloaded; run helm dependency build " + r.t.display(r.dir) + ", give a copy of it with --chart " + d.name + "=PATH, or turn the dependency off",
			Consequence: "its objects are missing from this report; the rest of the chart was rendered without it",
		})
	}
	for _, sub := range c.Dependencies() {
		r.missingDependencies(sub)
	}
}
