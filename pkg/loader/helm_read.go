package loader

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template/parse"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// readOnce reads the objects of the rendered texts unless an earlier value set
// came to the same ones: then its objects stand for both.
func (r *chartRun) readOnce(texts map[string]string, root *valueScope) {
	sum := sha256.New()
	for _, key := range sortedKeys(r.entries) {
		if text, ok := texts[key]; ok && !r.entries[key].left {
			fmt.Fprintf(sum, "%d %s %d %s", len(key), key, len(text), text)
		}
	}
	digest := string(sum.Sum(nil))
	before := len(r.out.gaps)
	if earlier, ok := r.seen.get(digest); ok {
		r.out.objects = earlier.objects
		r.out.gaps = append(r.out.gaps, earlier.gaps...)
		return
	}
	r.read(texts, root)
	r.seen.put(digest, rendered{objects: r.out.objects, gaps: slices.Clone(r.out.gaps[before:])})
}

// seenTexts remembers what the texts of a chart's value sets came to. A render
// that was abandoned may still write to it.
type seenTexts struct {
	mu       sync.Mutex
	byDigest map[string]rendered
}

func (s *seenTexts) get(digest string) (rendered, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byDigest[digest]
	return r, ok
}

func (s *seenTexts) put(digest string, r rendered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byDigest == nil {
		s.byDigest = map[string]rendered{}
	}
	s.byDigest[digest] = r
}

// read reads the objects of the rendered texts and of the crds directories.
func (r *chartRun) read(texts map[string]string, root *valueScope) {
	u := unit{kind: source.Chart, dir: r.at.unit(), namespace: r.release.Namespace}
	defines := r.defines()
	for _, key := range sortedKeys(r.entries) {
		e := r.entries[key]
		text, ok := texts[key]
		if !ok || e.left || e.notes() || isBlankText(text) {
			continue
		}
		r.decode(source.NewFile(e.file.Path(), text), r.mapOf(e, text, root, defines), u)
	}
	u.crds = true
	for _, crd := range r.loaded.chart.CRDObjects() {
		file := r.loaded.files[crd.File]
		if file == nil {
			continue
		}
		var m textMap = identity{file}
		if fixed := r.fixedOf(crd.File); fixed != nil {
			m = fixedMap{*fixed}
		}
		r.decode(file, m, u)
	}
}

func (r *chartRun) decode(f *source.File, m textMap, u unit) {
	objects, gaps := decodeObjects(r.ctx, f, m, u, r.limits)
	if archive := r.at.archive(); archive != "" {
		for _, o := range objects {
			o.Origin = packedOrigin{inner: o.Origin, archive: archive}
		}
	}
	if len(r.loaded.copies) > 0 {
		for _, o := range objects {
			o.Origin = copiedOrigin{o.Origin, r.loaded.copies}
		}
	}
	r.out.objects = append(r.out.objects, objects...)
	r.out.gaps = append(r.out.gaps, gaps...)
}

// fixedOf returns the replacement location of the chart that holds a file.
func (r *chartRun) fixedOf(f *chart.File) *source.Location {
	var found *source.Location
	var visit func(c *chart.Chart)
	visit = func(c *chart.Chart) {
		if slices.Contains(c.Files, f) {
			found = r.loaded.sourceOf(c).fixed
		}
		for _, sub := range c.Dependencies() {
			visit(sub)
		}
	}
	visit(r.loaded.chart)
	return found
}

// mapOf finds how a rendered text leads back to its template.
func (r *chartRun) mapOf(e *templateEntry, plain string, root *valueScope, defines func(string) (source.Location, bool)) textMap {
	if e.fixed != nil {
		return fixedMap{*e.fixed}
	}
	if e.parsed != nil {
		if e.strayed == nil {
			return &templateMap{file: e.file, marks: r.printer.marks, plain: plain, events: e.events, scope: root.at(e.prefix), defines: defines,
				trees: r.printer.find, files: r.filesOf(e)}
		}
		r.untraced(e, e.strayed)
	}
	return fixedMap{documentLocation(e.file)}
}

// align reads the places of a render and returns the templates whose deep twins
// came to something else.
func (r *chartRun) align(texts map[string]string) []*templateEntry {
	var strayed []*templateEntry
	for _, e := range r.entries {
		if e.parsed == nil {
			continue
		}
		if e.events, e.strayed = r.printer.align(texts[e.key], texts[e.twin]); e.strayed != nil && e.deep {
			strayed = append(strayed, e)
		}
	}
	return strayed
}

// filesOf lists the files that a template finds under .Files.
func (r *chartRun) filesOf(e *templateEntry) func() map[string]*source.File {
	return sync.OnceValue(func() map[string]*source.File {
		out := map[string]*source.File{}
		for _, f := range e.chart.Files {
			if known := r.loaded.files[f]; known != nil {
				out[f.Name] = known
			}
		}
		return out
	})
}

// documentLocation points at a template's only document, or at the file.
func documentLocation(f *source.File) source.Location {
	at := source.Location{File: f.Path(), Span: f.Span(0, 0), Precision: source.WholeFile}
	if i := strings.Index(f.Text(), "apiVersion:"); i >= 0 && strings.Count(f.Text(), "apiVersion:") == 1 {
		at.Span, at.Precision = f.Span(i, i+len("apiVersion:")), source.WholeObject
	}
	return at
}

// fixedMap is the textMap of a text whose lines are not known or cannot be
// shown.
type fixedMap struct{ at source.Location }

func (m fixedMap) Map(int, int) source.Provenance { return source.Provenance{Primary: m.at} }
func (fixedMap) Absent(int, int) []source.Guard   { return nil }

// defineTrees finds the trees of the defines that the engine uses: of several of
// one name, the one that it parsed last.
func (r *chartRun) defineTrees() func(string) (*templateFile, *parse.Tree, bool) {
	byName := sync.OnceValue(func() map[string]*templateEntry {
		out := map[string]*templateEntry{}
		for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
			e := r.entries[key]
			for _, d := range r.shared.definesOf(e.file) {
				out[d.name] = e
			}
		}
		return out
	})
	return func(name string) (*templateFile, *parse.Tree, bool) {
		e := byName()[name]
		if e == nil || e.fixed != nil {
			return nil, nil, false
		}
		f, err := r.shared.template(e.key, e.file)
		if err != nil {
			return nil, nil, false
		}
		tree := f.trees[name]
		// An empty define does not replace an earlier one of its name.
		return f, tree, tree != nil && tree.Root != nil && !parse.IsEmptyTree(tree.Root)
	}
}

// defines finds where a define that the engine knows was written: of several,
// the one that it parsed last.
func (r *chartRun) defines() func(string) (source.Location, bool) {
	find := sync.OnceValue(func() map[string]source.Location {
		out := map[string]source.Location{}
		for _, key := range engineOrder(slices.Collect(maps.Keys(r.entries))) {
			e := r.entries[key]
			for _, d := range r.shared.definesOf(e.file) {
				at := source.Location{File: e.file.Path(), Span: e.file.Span(d.start, d.end), Precision: source.Exact}
				if e.fixed != nil {
					at = *e.fixed
				}
				out[d.name] = at
			}
		}
		return out
	})
	return func(name string) (source.Location, bool) {
		at, ok := find()[name]
		return at, ok
	}
}

// collectFiles lists the texts that locations may point into.
func (r *chartRun) collectFiles() {
	seen := map[string]bool{}
	add := func(f *source.File) {
		if f != nil && !seen[f.Path()] {
			seen[f.Path()] = true
			r.out.files = append(r.out.files, f)
		}
	}
	for _, src := range r.loaded.sources {
		if src.fixed != nil || r.at.packed != nil {
			continue // not a file that can be shown
		}
		reads := readsFiles(src)
		for name, f := range src.files {
			if reads || strings.HasPrefix(name, "templates/") || strings.HasPrefix(name, "crds/") || path.Dir(name) == "." && path.Ext(name) == ".yaml" {
				add(f)
			}
		}
	}
	for _, f := range r.user.files {
		add(f)
	}
	sort.Slice(r.out.files, func(i, j int) bool { return r.out.files[i].Path() < r.out.files[j].Path() })
}

// readsFiles reports whether a template of the chart may print the chart's files.
func readsFiles(src *chartSource) bool {
	for name, f := range src.files {
		if strings.HasPrefix(name, "templates/") && strings.Contains(f.Text(), ".Files") {
			return true
		}
	}
	return false
}
