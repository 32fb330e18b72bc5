package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart"
	chartloader "helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/ignore"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// chartSource is where one chart was read from. Helm copies chart structures
// when it gives them aliases, but never the files in them: a file's identity is
// what leads back from a processed chart to its source.
type chartSource struct {
	dir string // tree path; "" for a chart inside an archive
	// fixed is what a location in the chart is replaced by when its files cannot
	// be shown: the dependency's entry in the parent's Chart.yaml.
	fixed  *source.Location
	files  map[string]*source.File // by name in the chart
	listed []dependency            // as declared, before Helm rewrites them
}

// dependency is one entry of Chart.yaml (or requirements.yaml).
type dependency struct {
	name, alias, version, repository string
	imports                          []any
	at                               source.Location
	// condition lists the values that turn it on, of which the first that is set
	// decides, and conditionAt is where that is written.
	condition   [][]string
	conditionAt source.Location
}

// called is the name under which the parent knows the chart.
func (d dependency) called() string {
	if d.alias != "" {
		return d.alias
	}
	return d.name
}

// loadedChart is a chart and where all its parts come from.
type loadedChart struct {
	chart   *chart.Chart
	sources map[*chart.File]*chartSource // by each chart's first raw file
	files   map[*chart.File]*source.File // templates and other files
	copies  []givenCopy
}

// givenCopy is a copy of a dependency, from outside the tree of the chart.
type givenCopy struct {
	below string          // what the paths of its files begin with
	at    source.Location // the dependency that it stands in for
}

func (l *loadedChart) sourceOf(c *chart.Chart) *chartSource {
	if len(c.Raw) > 0 {
		if s := l.sources[c.Raw[0]]; s != nil {
			return s
		}
	}
	return &chartSource{}
}

// Limits of one chart directory that nobody has reached in earnest.
const (
	maxChartFiles = 20_000
	maxChartDepth = 40
	maxSubcharts  = 8 // charts inside charts inside charts
)

// chartReader reads a chart's directory into memory, in Helm's way but for the
// links that leave the tree.
type chartReader struct {
	ctx    context.Context
	t      *tree
	limits Limits
	out    *loadedChart
	gaps   []finding.Gap
	used   []string
	total  int64
	packed bool // the chart is an archive
	// local are the directories of file:// dependencies, and the names of given ones,
	// that are being read.
	local []string
	given map[string]target // copies of charts that the user names
}

var (
	errManyFiles  = errors.New("the chart holds more files than can be read; exclude some with .helmignore")
	errLargeChart = errors.New("the chart's files are larger than --limit-output-bytes together; exclude some with .helmignore, or raise the limit")
	errDeepChart  = errors.New("its directories or subcharts are nested too deeply")
)

func (r *chartReader) gap(at source.Location, what, why, consequence string) {
	r.gaps = append(r.gaps, finding.Gap{Kind: finding.Unreadable, File: at.File, Line: at.Span.Start.Line, What: what, Why: why, Consequence: consequence})
}

// readAt reads a chart.
func (r *chartReader) readAt(at chartAt) (*chart.Chart, error) {
	if at.packed == nil {
		return r.read(at.dir)
	}
	r.packed = true
	r.used = append(r.used, at.dir)
	return r.build(at.packed, &chartSource{dir: at.dir}, 0)
}

// read reads the chart at dir.
func (r *chartReader) read(dir string) (*chart.Chart, error) {
	return r.localChart(dir, 0)
}

func (r *chartReader) ignoreRules(dir string) (*ignore.Rules, error) {
	rules := ignore.Empty()
	name := path.Join(dir, ignore.HelmIgnore)
	if _, err := r.t.stat(name); err == nil {
		file, err := r.t.readFile(name)
		if err != nil {
			return nil, err
		}
		r.used = append(r.used, name)
		parsed, err := ignore.Parse(strings.NewReader(file.Text()))
		if err == nil {
			rules = parsed
		} else {
			r.gap(source.Location{File: file.Path()}, "the .helmignore file could not be used", err.Error()+"; Helm refuses the chart until the line is removed",
				"the chart was rendered with the files that it may mean to leave out")
		}
	}
	rules.AddDefaults()
	return rules, nil
}

// walk collects the files below dir/sub; names are relative to dir.
func (r *chartReader) walk(dir, sub string, rules *ignore.Rules, files map[string]*source.File, above []fs.FileInfo) error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("reading the chart: %w", err)
	}
	if len(above) > maxChartDepth {
		return errDeepChart
	}
	here, err := r.t.stat(path.Join(dir, sub))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(above, func(i fs.FileInfo) bool { return os.SameFile(i, here) }) {
		r.gaps = append(r.gaps, unreadable(r.t.display(path.Join(dir, sub)), errLeavesTree))
		return nil
	}
	above = append(slices.Clip(above), here)
	entries, err := r.t.readDir(path.Join(dir, sub))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(sub, e.Name())
		full := path.Join(dir, name)
		info, err := r.t.stat(full)
		if err != nil {
			if linkInfo, infoErr := e.Info(); infoErr == nil && rules.Ignore(name, linkInfo) {
				continue
			}
			r.gaps = append(r.gaps, r.unread(name, full, err))
			continue
		}
		if rules.Ignore(name, info) {
			continue
		}
		if info.IsDir() {
			if err := r.walk(dir, name, rules, files, above); err != nil {
				return err
			}
			continue
		}
		file, err := r.t.readFile(full)
		if err != nil {
			r.gaps = append(r.gaps, r.unread(name, full, err))
			continue
		}
		r.used = append(r.used, full)
		files[name] = withoutBOM(file)
		if r.total += info.Size(); r.total > r.limits.OutputBytes {
			return errLargeChart
		}
		if len(files) > maxChartFiles {
			return errManyFiles
		}
	}
	return nil
}

// unread is the gap of a chart's file. Most that are no part of the chart proper,
// such as a LICENSE, are read by nobody.
func (r *chartReader) unread(name, full string, err error) finding.Gap {
	g := unreadable(r.t.display(full), err)
	top, _, nested := strings.Cut(name, "/")
	switch {
	case nested && isChartDir(top), !nested && (isManifestName(name) || name == "templates" || name == "charts" || name == "crds"):
	default:
		g.Kind, g.Consequence = finding.Unmodelled, "what templates would read of it by .Files is missing"
	}
	return g
}

// withoutBOM drops a byte order mark, as Helm does; columns do not count it.
func withoutBOM(f *source.File) *source.File {
	if text, ok := strings.CutPrefix(f.Text(), "\ufeff"); ok {
		return source.NewFile(f.Path(), text)
	}
	return f
}

// build makes a chart of its files; those below charts/ are its subcharts.
func (r *chartReader) build(files map[string]*source.File, src *chartSource, depth int) (*chart.Chart, error) {
	if depth > maxSubcharts {
		return nil, errDeepChart
	}
	src.files = map[string]*source.File{}
	subs := map[string]map[string]*source.File{}
	var own []*chartloader.BufferedFile
	for _, name := range sortedKeys(files) {
		inner, ok := strings.CutPrefix(name, "charts/")
		if !ok || path.Ext(name) == ".prov" {
			if ext := path.Ext(name); ext == ".yaml" || ext == ".json" || ext == ".lock" {
				if err := tooDense(files[name].Text(), r.limits.Nodes, r.limits); err != nil && !strings.Contains(name, "/") {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
			src.files[name] = files[name]
			own = append(own, &chartloader.BufferedFile{Name: name, Data: []byte(files[name].Text())})
			continue
		}
		sub, rest, _ := strings.Cut(inner, "/")
		if strings.IndexAny(sub, "_.") == 0 {
			continue
		}
		if subs[sub] == nil {
			subs[sub] = map[string]*source.File{}
		}
		subs[sub][rest] = files[name]
	}
	c, err := chartloader.LoadFiles(own)
	if err != nil {
		return nil, refusal(files, err)
	}
	r.remember(c, src)
	for _, name := range sortedKeys(subs) {
		sub, err := r.subchart(name, subs[name], src, depth+1)
		if err != nil {
			file, line, why := refusedAt(err)
			at := source.Location{File: r.shownIn(src, path.Join("charts", name, file)), Span: source.Span{Start: source.Position{Line: line}}}
			if file == "" {
				at.Span = source.Span{}
			}
			if src.fixed != nil {
				at = *src.fixed
			}
			r.gap(at, fmt.Sprintf("the subchart charts/%s could not be loaded", name), why, "the chart was rendered without it")
			continue
		}
		c.AddDependency(sub)
	}
	r.localDependencies(c, src, depth)
	r.givenDependencies(c, src, depth)
	return c, nil
}

func (r *chartReader) shownIn(src *chartSource, name string) string {
	if src.fixed != nil {
		return src.fixed.File
	}
	return r.t.display(path.Join(src.dir, name))
}

// remember records where the chart's parts come from.
func (r *chartReader) remember(c *chart.Chart, src *chartSource) {
	if len(c.Raw) > 0 {
		r.out.sources[c.Raw[0]] = src
	}
	for _, f := range c.Templates {
		r.out.files[f] = src.files[f.Name]
	}
	for _, f := range c.Files {
		r.out.files[f] = src.files[f.Name]
	}
	declaring := src.files["Chart.yaml"]
	if req := src.files["requirements.yaml"]; req != nil {
		declaring = req
	}
	var items *yaml.Node
	if declaring != nil {
		if root, err := parseNode(declaring.Text()); err == nil {
			items = child(root, "dependencies")
		}
	}
	for i, d := range c.Metadata.Dependencies {
		dep := dependency{name: d.Name, alias: d.Alias, version: d.Version, repository: d.Repository, imports: slices.Clone(d.ImportValues)}
		switch item := childAt(items, i); {
		case src.fixed != nil:
			dep.at = *src.fixed
		case item != nil:
			doc := &document{file: declaring, chunk: chunk{0, len(declaring.Text())}}
			dep.readCondition(d, doc, item)
			start, end := doc.mark(item)
			dep.at = source.Location{File: declaring.Path(), Span: declaring.Span(start, end), Precision: source.WholeObject}
		case declaring != nil:
			dep.at = source.Location{File: declaring.Path(), Span: declaring.Span(0, 0), Precision: source.WholeFile}
		}
		src.listed = append(src.listed, dep)
	}
}

// readCondition notes what turns a dependency on: its condition, else its tags.
func (d *dependency) readCondition(meta *chart.Dependency, doc *document, item *yaml.Node) {
	key := "condition"
	for c := range strings.SplitSeq(meta.Condition, ",") {
		if c = strings.TrimSpace(c); c != "" {
			d.condition = append(d.condition, strings.Split(c, "."))
		}
	}
	if len(d.condition) == 0 {
		key = "tags"
		for _, tag := range meta.Tags {
			d.condition = append(d.condition, []string{"tags", tag})
		}
	}
	if n := child(item, key); n != nil {
		start, end := doc.mark(n)
		d.conditionAt = source.Location{File: doc.file.Path(), Span: doc.file.Span(start, end), Precision: source.Exact}
	}
}

// subchart loads one entry of charts/.
func (r *chartReader) subchart(name string, files map[string]*source.File, parent *chartSource, depth int) (*chart.Chart, error) {
	if archive, ok := files[""]; ok {
		if path.Ext(name) != ".tgz" {
			return nil, errors.New("it is neither a chart directory nor a .tgz archive; Helm refuses the chart until it is removed")
		}
		return r.archive(archive, parent, depth)
	}
	if files["Chart.yaml"] == nil {
		return nil, errors.New("it holds no Chart.yaml; Helm refuses the chart until it is removed")
	}
	if parent.fixed != nil {
		return r.build(files, &chartSource{fixed: parent.fixed}, depth)
	}
	return r.build(files, &chartSource{dir: path.Join(parent.dir, "charts", name)}, depth)
}

// archive loads a packed subchart. Its files have no place in the tree, so
// whatever points into them points at the dependency that names the chart.
func (r *chartReader) archive(packed *source.File, parent *chartSource, depth int) (*chart.Chart, error) {
	unpacked, err := unpackChart(strings.NewReader(packed.Text()), r.limits)
	if err != nil {
		return nil, fmt.Errorf("unpacking it: %w", err)
	}
	files := map[string]*source.File{}
	fixed := parent.fixed
	if fixed == nil {
		fixed = &source.Location{File: r.shownIn(parent, "Chart.yaml"), Span: source.Span{Start: source.Position{Line: 1, Column: 1}, End: source.Position{Line: 1, Column: 1}}, Precision: source.WholeFile}
	}
	for _, f := range unpacked {
		if r.total += int64(len(f.text)); r.total > r.limits.OutputBytes {
			return nil, errLargeChart
		}
		files[f.name] = source.NewFile(packed.Path(), f.text)
	}
	if meta := files["Chart.yaml"]; meta != nil && parent.fixed == nil {
		if root, err := parseNode(meta.Text()); err == nil {
			if n := child(root, "name"); n != nil {
				for _, d := range parent.listed {
					if d.name == n.Value {
						at := d.at
						fixed = &at
						break
					}
				}
			}
		}
	}
	return r.build(files, &chartSource{fixed: fixed}, depth)
}

// localDependencies loads dependencies whose repository is a directory of the
// same tree (file://../common) and that charts/ does not hold: helm dependency
// build would copy exactly these.
func (r *chartReader) localDependencies(c *chart.Chart, src *chartSource, depth int) {
	if src.fixed != nil || r.packed {
		return
	}
	for _, d := range src.listed {
		rel, ok := strings.CutPrefix(d.repository, "file://")
		if !ok || path.IsAbs(rel) || hasDependency(c, d) {
			continue
		}
		dir := path.Join(src.dir, rel)
		if strings.HasPrefix(dir, "..") || slices.Contains(r.local, dir) || !r.t.isFile(path.Join(dir, "Chart.yaml")) {
			continue
		}
		r.local = append(r.local, dir)
		sub, err := r.localChart(dir, depth+1)
		r.local = r.local[:len(r.local)-1]
		if err != nil {
			r.gap(d.at, fmt.Sprintf("the dependency %s in %s could not be loaded", d.name, r.t.display(dir)), err.Error(), "the chart was rendered without it")
			continue
		}
		if sub.Name() == d.name && chartutil.IsCompatibleRange(d.version, sub.Metadata.Version) {
			c.AddDependency(sub)
		}
	}
}

// givenDependencies loads dependencies that the chart does not hold and of which
// the user names a copy. The copy is taken whatever version it has, as for a
// release: Helm must not leave it out.
func (r *chartReader) givenDependencies(c *chart.Chart, src *chartSource, depth int) {
	for _, d := range src.listed {
		copied, ok := r.given[d.name]
		if !ok || slices.Contains(r.local, d.name) || slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool { return sub.Name() == d.name }) {
			continue
		}
		r.local = append(r.local, d.name)
		sub, err := r.givenChart(copied, d.at, depth+1)
		r.local = r.local[:len(r.local)-1]
		if err != nil {
			r.gap(d.at, "the copy of the dependency "+d.name+" in "+copied.scan.t.display(copied.path)+" could not be loaded", err.Error(), "the chart was rendered without it")
			continue
		}
		if sub.Name() != d.name {
			continue
		}
		for _, meta := range c.Metadata.Dependencies {
			if meta.Name == d.name && sub.Metadata.Version != "" {
				meta.Version = sub.Metadata.Version
			}
		}
		c.AddDependency(sub)
	}
}

func (r *chartReader) givenChart(copied target, fixed source.Location, depth int) (*chart.Chart, error) {
	at, gap := openChart(copied.scan.t, copied.path, r.limits)
	if gap != nil {
		return nil, errors.New(gap.Why)
	}
	if at.packed != nil {
		// Its files have no place, so whatever points into them points at the
		// dependency.
		return r.build(at.packed, &chartSource{fixed: &fixed}, depth)
	}
	there := &chartReader{ctx: r.ctx, t: at.t, limits: r.limits, out: r.out, local: r.local, given: r.given}
	c, err := there.localChart(at.dir, depth)
	r.total += there.total
	r.gaps = append(r.gaps, there.gaps...)
	if at.t != r.t {
		r.out.copies = append(r.out.copies, givenCopy{at.t.display(at.dir) + "/", fixed})
	}
	return c, err
}

// copiedOrigin is the Origin of an object of a chart with copies of dependencies:
// what to change stands in the chart's own values where one decides, else with the
// dependency, and not in the copy.
type copiedOrigin struct {
	inner  source.Origin
	copies []givenCopy
}

// Locate implements source.Origin.
func (o copiedOrigin) Locate(r source.Ref) source.Provenance {
	p := o.inner.Locate(r)
	at, ok := o.of(p.Primary)
	if !ok {
		return p
	}
	at.Precision = at.Precision.Worse(source.Parent)
	for _, v := range p.Values {
		if _, copied := o.of(v.At); v.At.File != "" && !copied {
			at = v.At
			if p.Primary.Precision != source.Exact || r.End > 0 {
				at.Precision = at.Precision.Worse(source.Action)
			}
			break
		}
	}
	p.Via = append(slices.Clip(p.Via), source.Note{At: p.Primary, Says: "written by this template"})
	p.Primary = at
	return p
}

// of returns the dependency whose copy holds a place.
func (o copiedOrigin) of(at source.Location) (source.Location, bool) {
	for _, c := range o.copies {
		if strings.HasPrefix(at.File, c.below) {
			return c.at, true
		}
	}
	return source.Location{}, false
}

func (r *chartReader) localChart(dir string, depth int) (*chart.Chart, error) {
	rules, err := r.ignoreRules(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]*source.File{}
	if err := r.walk(dir, "", rules, files, nil); err != nil {
		return nil, err
	}
	return r.build(files, &chartSource{dir: dir}, depth)
}

// hasDependency reports whether the chart holds the declared dependency.
func hasDependency(c *chart.Chart, d dependency) bool {
	return slices.ContainsFunc(c.Dependencies(), func(sub *chart.Chart) bool {
		return sub.Name() == d.name && chartutil.IsCompatibleRange(d.version, sub.Metadata.Version)
	})
}
