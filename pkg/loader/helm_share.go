package loader

import (
	"context"
	"fmt"
	"path"
	"sync"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// One run may render a chart many times: with each of its value sets, for each
// cluster of the plan, for each release that installs it. Its files stay the
// same, so they are read and parsed once; what a render changes is its own.

// chartShelf keeps the charts that one run has opened. It is safe for concurrent
// use; a nil shelf keeps nothing.
type chartShelf struct {
	given map[string]target // copies of charts that the user names

	mu     sync.Mutex
	opened map[shelfKey]func() (chartAt, *finding.Gap)
	values map[string]func() (bundledValues, error)
	// files are those that kustomizations use, objects what they hold.
	files   map[shelfKey]func() (*source.File, error)
	objects map[*source.File]func() decodedFile
}

// decodedFile is what a file of plain objects holds; nobody may change it.
type decodedFile struct {
	objects []*source.Object
	gaps    []finding.Gap
}

type shelfKey struct {
	t   *tree
	dir string
}

func newChartShelf(given map[string]target) *chartShelf {
	return &chartShelf{
		given:  given,
		opened: map[shelfKey]func() (chartAt, *finding.Gap){}, values: map[string]func() (bundledValues, error){},
		files: map[shelfKey]func() (*source.File, error){}, objects: map[*source.File]func() decodedFile{},
	}
}

// open is openChart, once for each chart.
func (s *chartShelf) open(t *tree, name string, limits Limits) (chartAt, *finding.Gap) {
	if s == nil {
		return openChart(t, name, limits)
	}
	return once(&s.mu, s.opened, shelfKey{t, path.Clean(name)}, func() func() (chartAt, *finding.Gap) {
		return sync.OnceValues(func() (chartAt, *finding.Gap) {
			at, gap := openChart(t, name, limits)
			at.given = s.given
			return at, gap
		})
	})()
}

// valuesFile reads a values file that the user names, once for all charts.
func (s *chartShelf) valuesFile(opts Options, name string, limits Limits) (bundledValues, error) {
	read := func() (bundledValues, error) {
		file, err := readValuesFile(opts, name, limits)
		return bundledValues{file: file, parsed: &parsedValues{}}, err
	}
	if s == nil {
		return read()
	}
	return once(&s.mu, s.values, name, func() func() (bundledValues, error) { return sync.OnceValues(read) })()
}

// file reads a file that kustomizations use, once for all of them.
func (s *chartShelf) file(t *tree, name string) (*source.File, error) {
	if s == nil {
		return t.readFile(name)
	}
	return once(&s.mu, s.files, shelfKey{t, path.Clean(name)}, func() func() (*source.File, error) {
		return sync.OnceValues(func() (*source.File, error) { return t.readFile(name) })
	})()
}

// decoded is what a file that file has read holds, decoded once.
func (s *chartShelf) decoded(f *source.File, decode func() decodedFile) decodedFile {
	if s == nil {
		return decode()
	}
	return once(&s.mu, s.objects, f, func() func() decodedFile { return sync.OnceValue(decode) })()
}

// once returns the entry of a key, which it makes if there is none.
func once[K comparable, V any](mu *sync.Mutex, in map[K]V, key K, create func() V) V {
	mu.Lock()
	defer mu.Unlock()
	v, ok := in[key]
	if !ok {
		v = create()
		in[key] = v
	}
	return v
}

// chartReadings are what all renders of a chart have in common. It is safe for
// concurrent use: a render that was abandoned may still go on.
type chartReadings struct {
	mu sync.Mutex
	// read is what reading the chart's files came to, nil before that.
	read      *chartReading
	templates map[string]parsedTemplate // by the engine's name
	defines   map[*source.File][]definePlace
	values    map[*source.File]*parsedValues
}

func newChartReadings() *chartReadings {
	return &chartReadings{
		templates: map[string]parsedTemplate{}, defines: map[*source.File][]definePlace{}, values: map[*source.File]*parsedValues{},
	}
}

// chartReading is a chart as its files say, before any render.
type chartReading struct {
	loaded *loadedChart
	gaps   []finding.Gap
	used   []string
	err    error
}

type parsedTemplate struct {
	file *templateFile
	err  error
}

// chart reads the chart. The result is never changed; a render works on a copy.
func (s *chartReadings) chart(ctx context.Context, at chartAt, limits Limits) *chartReading {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read != nil {
		return s.read
	}
	reader := &chartReader{ctx: ctx, t: at.t, limits: limits, given: at.given, out: &loadedChart{
		sources: map[*chart.File]*chartSource{}, files: map[*chart.File]*source.File{},
	}}
	c, err := reader.readAt(at)
	reader.out.chart = c
	out := &chartReading{loaded: reader.out, gaps: reader.gaps, used: reader.used, err: err}
	if ctx.Err() == nil {
		s.read = out
	}
	return out
}

// template parses a template file under the name that the engine gives it.
func (s *chartReadings) template(key string, file *source.File) (*templateFile, error) {
	p := once(&s.mu, s.templates, key, func() (p parsedTemplate) {
		p.file, p.err = parseTemplate(key, file)
		return p
	})
	return p.file, p.err
}

// definesOf lists the defines of a template file.
func (s *chartReadings) definesOf(file *source.File) []definePlace {
	return once(&s.mu, s.defines, file, func() []definePlace { return scanDefines(file.Text()) })
}

// valuesOf returns the parsed form of a chart's own values file.
func (s *chartReadings) valuesOf(file *source.File) *parsedValues {
	return once(&s.mu, s.values, file, func() *parsedValues { return &parsedValues{} })
}

// parsedValues are a values file in the two forms that are needed of it, each
// made when first asked for.
type parsedValues struct {
	nodes sync.Once
	root  *yaml.Node

	keys    sync.Once
	dropped []*yaml.Node

	values sync.Once
	tree   map[string]any
	err    error
}

// node returns the file's nodes, for their places; nil when it does not parse,
// which has been reported by whoever read its values.
func (p *parsedValues) node(text string) *yaml.Node {
	p.nodes.Do(func() {
		if root, err := parseNode(text); err == nil {
			p.root = root
		}
	})
	return p.root
}

// droppedKeys are the keys that a later one of the same mapping replaces.
func (p *parsedValues) droppedKeys(text string) []*yaml.Node {
	p.keys.Do(func() {
		if root := p.node(text); root != nil {
			p.dropped = droppedKeys(root, nil)
		}
	})
	return p.dropped
}

func droppedKeys(n *yaml.Node, out []*yaml.Node) []*yaml.Node {
	for _, c := range n.Content { // what an alias stands for is looked at where it is written
		out = droppedKeys(c, out)
	}
	if n.Kind != yaml.MappingNode {
		return out
	}
	last := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, err := keyString(n.Content[i])
		if err != nil || isMergeKey(n.Content[i]) {
			continue
		}
		if earlier := last[key]; earlier != nil {
			out = append(out, earlier)
		}
		last[key] = n.Content[i]
	}
	return out
}

// merge returns what the file says, which nobody may change, as Helm reads it.
func (p *parsedValues) merge(text string, limits Limits) (map[string]any, error) {
	p.values.Do(func() {
		if p.err = tooDense(text, limits.Nodes, limits); p.err != nil {
			return
		}
		p.tree = map[string]any{}
		if err := sigsyaml.Unmarshal([]byte(text), &p.tree); err != nil {
			p.err = fmt.Errorf("parsing it: %w", err)
		}
	})
	return p.tree, p.err
}

// copyChart copies what a render changes of a chart: Helm rewrites the
// dependencies and the values, we add twins to the templates. The files are the
// same, for they lead back to their sources.
func copyChart(c *chart.Chart) *chart.Chart {
	meta := *c.Metadata
	meta.Dependencies = nil
	for _, d := range c.Metadata.Dependencies {
		if d == nil {
			continue
		}
		own := *d
		own.ImportValues, _ = cloneTree(d.ImportValues).([]any)
		meta.Dependencies = append(meta.Dependencies, &own)
	}
	out := &chart.Chart{Raw: c.Raw, Metadata: &meta, Lock: c.Lock, Templates: c.Templates, Schema: c.Schema, Files: c.Files}
	out.Values, _ = cloneTree(c.Values).(map[string]any)
	for _, sub := range c.Dependencies() {
		out.AddDependency(copyChart(sub))
	}
	return out
}
