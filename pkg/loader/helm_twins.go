package loader

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// collect lists the templates that the engine will see, under its names.
func (r *chartRun) collect(c *chart.Chart, prefix []string) {
	if r.entries == nil {
		r.entries = map[string]*templateEntry{}
	}
	for _, sub := range c.Dependencies() {
		r.collect(sub, append(slices.Clone(prefix), sub.Name()))
	}
	library := strings.EqualFold(c.Metadata.Type, "library")
	for i, f := range c.Templates {
		e := &templateEntry{
			key: path.Join(c.ChartFullPath(), f.Name), chart: c, index: i, file: r.loaded.files[f],
			fixed: r.loaded.sourceOf(c).fixed, prefix: prefix,
		}
		if library && !e.partial() || e.file == nil {
			continue
		}
		r.entries[e.key] = e
	}
}

// addTwins gives each template that can make objects its marked twin.
func (r *chartRun) addTwins() {
	for _, e := range r.entries {
		if e.partial() || e.notes() || e.fixed != nil {
			continue
		}
		parsed, err := r.shared.template(e.key, e.file)
		if err != nil || emptyTemplate(parsed) {
			continue // if it is an error, the engine says it better
		}
		e.parsed, e.deep = parsed, true
	}
	r.printTwins()
}

// printTwins writes the twins anew. The engine runs templates in the order of
// their depth, the deepest first, so that twins at the top run after all others;
// their numbers keep the others' order.
func (r *chartRun) printTwins() {
	for _, e := range r.entries {
		e.chart.Templates = slices.DeleteFunc(slices.Clone(e.chart.Templates), isTwin)
	}
	r.printer = &twinPrinter{find: r.defineTrees()}
	keys := engineOrder(slices.Collect(maps.Keys(r.entries)))
	for i, key := range keys {
		e := r.entries[key]
		e.twin = ""
		if e.parsed == nil {
			continue
		}
		text, err := r.printer.twin(e.parsed, key, e.deep)
		if err != nil {
			e.parsed = nil
			r.untraced(e, err)
			continue
		}
		e.twin = fmt.Sprintf("%08d", len(keys)-i)
		addTwin(e.chart, e.twin, text)
	}
	if r.printer.copies.Len() > 0 {
		addTwin(r.loaded.chart, copiesFile, r.printer.copies.String())
	}
}

// copiesFile holds the marked copies of defines; the underscore keeps the engine
// from rendering it by itself.
const copiesFile = "_copies"

// addTwin adds a template that the engine finds under the name alone.
func addTwin(c *chart.Chart, name, text string) {
	up := strings.Repeat("../", 1+strings.Count(c.ChartFullPath(), "/"))
	c.Templates = append(slices.Clip(c.Templates), &chart.File{Name: up + name, Data: []byte(text)})
}

// shallow has the twins of entries leave defines alone, and reports whether one
// did not before.
func (r *chartRun) shallow(entries []*templateEntry) bool {
	changed := false
	for _, e := range entries {
		changed = changed || e.deep
		e.deep = false
	}
	if changed {
		r.printTwins()
	}
	return changed
}

// emptyTemplate reports whether the file holds nothing but defines.
func emptyTemplate(f *templateFile) bool {
	return f.root == nil || len(f.root.Nodes) == 0
}

// engineOrder sorts templates as the engine runs them.
func engineOrder(keys []string) []string {
	sort.Slice(keys, func(i, j int) bool {
		a, b := strings.Count(keys[i], "/"), strings.Count(keys[j], "/")
		if a != b {
			return a > b
		}
		return keys[i] > keys[j]
	})
	return keys
}
