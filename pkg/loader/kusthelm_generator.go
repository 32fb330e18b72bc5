package loader

import (
	"maps"

	sigsyaml "sigs.k8s.io/yaml"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// inflationGenerator is the generator that does what an entry of helmCharts does.
const inflationGenerator = "HelmChartInflationGenerator"

// inflations takes the documents out of entry i of n's generators that render
// charts, and returns what is left of its text. f is its file, of the tree path
// name; nil for a text in the kustomization itself.
func (r *kustReader) inflations(n *kustNode, i int, f *source.File, name, text string) string {
	rest := text
	for _, c := range splitDocuments(text) {
		h, home, ok := r.generatorOf(n, i, f, text, c)
		if !ok {
			continue
		}
		rest = blanked(rest, c)
		r.inflate(n, h, home, h.field("chartHome"))
	}
	switch {
	case rest == text:
		return text
	case blankDocument(rest):
		n.leave("generators", i)
	case f == nil:
		n.spec.Generators[i] = rest
	default:
		r.g.texts = maps.Clone(r.g.texts)
		if r.g.texts == nil {
			r.g.texts = map[string]string{}
		}
		r.g.texts[name] = rest
	}
	return rest
}

// generatorOf reads one document of a generator, and reports whether it renders a
// chart.
func (r *kustReader) generatorOf(n *kustNode, i int, f *source.File, text string, c chunk) (h kustHelm, home string, ok bool) {
	var config struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Annotations map[string]any `json:"annotations"`
		} `json:"metadata"`
		types.HelmGlobals `json:",inline"`
		types.HelmChart   `json:",inline"`
	}
	if err := sigsyaml.Unmarshal([]byte(text[c.start:c.end]), &config); err != nil || config.Kind != inflationGenerator || runsFunction(config.Metadata.Annotations) {
		return kustHelm{}, "", false // for the other checks
	}
	h = kustHelm{spec: config.HelmChart, in: n, keys: []string{"generators", itoa(i)}}
	if f != nil {
		d := decoder{file: f, m: identity{f}, limits: r.limits, aliasBudget: r.limits.AliasNodes}
		if v, root, doc, read := d.parse(c); read && root != nil {
			h.in, h.keys = &kustNode{dir: n.dir, name: n.name, file: f, doc: doc, origin: &textOrigin{doc: doc, root: root, m: d.m}, read: v}, nil
		}
	}
	return h, config.ChartHome, true
}

// blanked returns a text with a part of it blank, all else on its line.
func blanked(text string, part chunk) string {
	out := []byte(text)
	for i := part.start; i < part.end; i++ {
		if out[i] != '\n' && out[i] != '\r' {
			out[i] = ' '
		}
	}
	return string(out)
}
