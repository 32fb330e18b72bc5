package loader

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// CompareSets orders the names of value sets: the default, those that charts
// bring, those of the user.
func CompareSets(a, b string) int {
	rank := func(name string) int {
		switch {
		case name == DefaultSet:
			return 0
		case strings.HasPrefix(name, "ci/"):
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// valueSet is one set of values to render a chart with.
type valueSet struct {
	name string
	// bundled are the values files that the chart brings for the set, or that the
	// kustomization gives which inflates it.
	bundled []bundledValues
	files   []string // of the user
	// single are values that a target sets; they win over its files.
	single []SetValue
	// release are the values of the GitOps object that installs the chart.
	release *releaseValues
	// override is laid over all other values.
	override map[string]any
}

// bundledValues is a values file that has been read; fixed is where its values
// are shown if not in the file itself.
type bundledValues struct {
	file   *source.File
	fixed  *source.Location
	parsed *parsedValues // nil for a file that is used once
}

// setObjects is what a chart comes to with one of its value sets.
type setObjects struct {
	name    string
	objects []*source.Object
	// same is the index of the first set with the same objects.
	same   int
	values *ChartValues
}

// part is what one input adds to the groups.
type part struct {
	objects []*source.Object
	sets    []setObjects
}

// set returns the index of the part's set of that name, of the default where it
// has none, and of the first set that comes to the same.
func (p part) set(name string) int {
	i := slices.IndexFunc(p.sets, func(s setObjects) bool { return s.name == name })
	if i < 0 {
		return 0
	}
	return p.sets[i].same
}

// groups makes one group of each name of a value set, and one of names under
// which every part comes to the same.
func groups(parts []part) []Group {
	names := map[string]bool{}
	for _, p := range parts {
		for _, s := range p.sets {
			names[s.name] = true
		}
	}
	names[DefaultSet] = true
	var out []Group
	known := map[string]int{}
	for _, name := range slices.SortedFunc(maps.Keys(names), CompareSets) {
		var key strings.Builder
		var objects []*source.Object
		for _, p := range parts {
			i := p.set(name)
			key.WriteByte(',')
			key.WriteString(strconv.Itoa(i))
			if p.sets == nil {
				objects = append(objects, p.objects...)
			} else {
				objects = append(objects, p.sets[i].objects...)
			}
		}
		if i, ok := known[key.String()]; ok {
			out[i].Names = append(out[i].Names, name)
			continue
		}
		known[key.String()] = len(out)
		assignIDs(objects)
		out = append(out, Group{Names: []string{name}, Objects: objects})
	}
	return out
}

// chartSets lists the value sets of the chart at dir: its defaults, the
// ci/*-values.yaml that it brings (the convention of Helm's chart-testing tool),
// and those of the user.
func chartSets(at chartAt, opts Options) (sets []valueSet, gaps []finding.Gap) {
	sets = append(sets, valueSet{name: DefaultSet})
	for _, name := range sortedKeys(at.packed) {
		if isCIValues(name) {
			sets = append(sets, valueSet{name: name, bundled: []bundledValues{{file: at.packed[name]}}})
		}
	}
	if at.packed == nil {
		sets, gaps = bundledSets(at.t, at.dir, sets)
	}
	for _, s := range opts.ValueSets {
		sets = append(sets, valueSet{name: s.Name, files: s.Files})
	}
	return sets, gaps
}

// bundledSets adds the sets that the chart in a directory brings.
func bundledSets(t *tree, dir string, sets []valueSet) ([]valueSet, []finding.Gap) {
	var gaps []finding.Gap
	entries, err := t.readDir(path.Join(dir, "ci"))
	if err != nil && !isNotExist(err) && t.isDir(path.Join(dir, "ci")) {
		gaps = append(gaps, unreadable(t.display(path.Join(dir, "ci")), err))
	}
	for _, e := range entries {
		if !isCIValues("ci/" + e.Name()) {
			continue
		}
		f, err := t.readFile(path.Join(dir, "ci", e.Name()))
		if err != nil {
			gaps = append(gaps, setGap(unreadable(t.display(path.Join(dir, "ci", e.Name())), err)))
			continue
		}
		sets = append(sets, valueSet{name: "ci/" + e.Name(), bundled: []bundledValues{{file: withoutBOM(f)}}})
	}
	return sets, gaps
}

// setGap words the gap of a values file that a chart brings.
func setGap(g finding.Gap) finding.Gap {
	g.What = "the values file could not be read"
	g.Consequence = "the chart was not rendered with these values"
	return g
}

// isCIValues reports whether a path inside a chart is the values file of a set.
func isCIValues(name string) bool {
	dir, base := path.Split(name)
	return dir == "ci/" && strings.HasSuffix(base, "-values.yaml")
}

// renderChartSets renders the chart at dir with each of its value sets. What
// could not be seen under all of them is one gap; under some, a gap that names
// them.
//
// With a target its values take the place of the chart's own sets.
func renderChartSets(ctx context.Context, t *tree, dir string, opts Options, target *Target) outcome {
	at, gap := opts.shelf.open(t, dir, opts.Limits.withDefaults())
	if gap != nil {
		return outcome{rendered: rendered{gaps: []finding.Gap{*gap}, used: []string{dir}}}
	}
	sets, gaps := chartSets(at, opts)
	if target != nil {
		opts = opts.forTarget(*target)
		own, err := target.valueSet(opts)
		if err != nil {
			g := setGap(unreadable(t.display(dir), err))
			return outcome{rendered: rendered{gaps: []finding.Gap{g}, used: []string{dir}}}
		}
		gaps = nil
		sets = append([]valueSet{own}, slices.DeleteFunc(sets, func(s valueSet) bool { return s.files == nil })...)
	}
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.name
	}
	slices.SortFunc(names, CompareSets)
	var out outcome
	seen := &seenTexts{}
	files := map[string]*source.File{}
	merged := gapSets{of: len(sets), index: map[string]int{}}
	for i, set := range sets {
		set.override = opts.Overrides[t.display(dir)]
		r := renderChart(ctx, at, opts, set, seen)
		same := slices.IndexFunc(out.sets, func(s setObjects) bool { return sameObjects(s.objects, r.objects) })
		if same < 0 {
			same = i
			for _, o := range r.objects {
				o.ValueSets = names
			}
		}
		out.sets = append(out.sets, setObjects{name: set.name, objects: r.objects, same: same, values: r.values})
		for _, f := range r.files {
			if files[f.Path()] == nil {
				files[f.Path()] = f
			}
		}
		merged.add(set.name, r.gaps)
		if i == 0 {
			out.used, out.objects = r.used, r.objects
		}
	}
	out.gaps = slices.Concat(gaps, merged.list())
	if archive := at.archive(); archive != "" {
		for i, g := range out.gaps {
			out.gaps[i] = packedGap(archive, g)
		}
	}
	for _, name := range sortedKeys(files) {
		out.files = append(out.files, files[name])
	}
	return out
}

// sameObjects reports whether two sets share their objects.
func sameObjects(a, b []*source.Object) bool {
	return len(a) == len(b) && (len(a) == 0 || a[0] == b[0])
}

// gapSets merges the gaps of a chart's value sets.
type gapSets struct {
	of    int // how many sets there are
	gaps  []finding.Gap
	sets  [][]string
	index map[string]int
}

func (m *gapSets) add(set string, gaps []finding.Gap) {
	for _, g := range gaps {
		key := strings.Join([]string{g.File, strconv.Itoa(g.Line), string(g.Kind), g.What, g.Why}, "\x00")
		i, ok := m.index[key]
		if !ok {
			i = len(m.gaps)
			m.index[key] = i
			m.gaps = append(m.gaps, g)
			m.sets = append(m.sets, nil)
		}
		if !slices.Contains(m.sets[i], set) {
			m.sets[i] = append(m.sets[i], set)
		}
	}
}

// list returns the gaps; one that not all sets have names those that have it.
func (m *gapSets) list() []finding.Gap {
	for i, sets := range m.sets {
		if len(sets) < m.of {
			slices.SortFunc(sets, CompareSets)
			m.gaps[i].What += " (with the values " + strings.Join(sets, ", ") + ")"
		}
	}
	return m.gaps
}
