package fix

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// A chart is mended by its values: they survive its next version, which a
// changed template does not. What its values can do is never taken from a list
// of charts. Provenance says which values and conditions made the text at a
// place, and rendering with marked values says where each of them goes.

// chartView is a finding about an object of a chart.
type chartView struct {
	*sight
	object *source.Object
	// charts are the values under which the finding holds, one for each value set;
	// those of the reading first.
	charts []*loader.ChartValues
	// release: a GitOps object installs the chart, and its values are what to
	// change.
	release bool
}

// of reports whether an object is one that the chart makes.
func (v *chartView) of(o *source.Object) bool {
	if v.release {
		values := loader.ValuesOf(o)
		return values != nil && values.Path == v.values().Path
	}
	return o.Path == v.object.Path && o.Unit == v.object.Unit
}

// chartView is nil for an object that is none of a chart among the inputs.
func (c *sight) chartView() *chartView {
	o := c.Object()
	if o == nil {
		return nil
	}
	v := &chartView{sight: c, object: o}
	if values := loader.ValuesOf(o); values != nil {
		v.charts, v.release = append(v.charts, values), true
		return v
	}
	if o.Input != source.Chart {
		return nil
	}
	have := map[string]*loader.ChartValues{}
	for _, values := range c.Reading.Charts {
		if values.Path == o.Path && values.Unit == o.Unit {
			have[values.Set] = values
		}
	}
	sets := slices.Concat(c.Reading.Groups, c.Finding.ValueSets)
	if len(sets) == 0 {
		sets = []string{loader.DefaultSet}
	}
	for _, set := range sets {
		values := have[set]
		if values == nil {
			// A chart without a set of the name takes part with its defaults, a chart
			// with a target with that.
			values = have[loader.DefaultSet]
			if values == nil && len(have) == 1 {
				for _, only := range have {
					values = only
				}
			}
		}
		if values != nil && !slices.Contains(v.charts, values) {
			v.charts = append(v.charts, values)
		}
	}
	if len(v.charts) == 0 {
		return nil
	}
	return v
}

// values are those of the reading.
func (v *chartView) values() *loader.ChartValues { return v.charts[0] }

// change is one value that is set.
type change struct {
	path  []string
	value any
	// items are set when value is the list that is there with these behind it.
	items []any
}

func (ch change) key() string { return strings.Join(ch.path, "\x00") }

// grow is the change that puts an item behind a list.
func (v *chartView) grow(path []string, item any) change {
	had, _ := v.values().Lookup(path)
	list, _ := had.([]any)
	return change{path: path, value: append(slices.Clone(list), item), items: []any{item}}
}

// joined makes one change of those that put items behind the same list.
func joined(changes []change) []change {
	var out []change
	for _, ch := range changes {
		at := slices.IndexFunc(out, func(o change) bool { return o.key() == ch.key() && o.items != nil && ch.items != nil })
		if at < 0 {
			out = append(out, ch)
			continue
		}
		list, _ := out[at].value.([]any)
		out[at].value = append(slices.Clone(list), ch.items...)
		out[at].items = append(slices.Clone(out[at].items), ch.items...)
	}
	return out
}

// candidate is a change of the chart's values, as edits of the files that set
// them where there are such files, and as an override in any case.
func (v *chartView) candidate(what string, size int, changes ...change) candidate {
	c := candidate{Title: what, Size: size, Chart: v.values().Path, Values: override(v.values().Tree, changes)}
	if v.release {
		c.Chart, c.Values = "", nil // there is no values file to write
	}
	if v.bench.byValues {
		return c
	}
	edits, err := v.edits(changes)
	if err != nil {
		// There is no text to change: an override still can.
		c.Title += " in an override file"
		for _, values := range v.charts {
			if slices.ContainsFunc(changes, func(ch change) bool { return values.Place(ch.path).By == "--set" }) {
				c.Title += ", without the --set that beats it"
				break
			}
		}
		return c
	}
	c.Edits = edits
	if !v.alike(changes) {
		c.Values = nil // one list would take the place of several
	}
	files := filesOf(edits)
	c.Title += " in " + strings.Join(files, " and ")
	return c
}

// alike reports whether the lists that grow are the same under all value sets.
func (v *chartView) alike(changes []change) bool {
	for _, ch := range changes {
		had, _ := v.values().Lookup(ch.path)
		for _, values := range v.charts[1:] {
			if has, _ := values.Lookup(ch.path); ch.items != nil && !sameValue(had, has) {
				return false
			}
		}
	}
	return true
}

// override is the tree of values that makes the changes. A list takes the place
// of a list, so that a change inside of one restates it.
func override(tree map[string]any, changes []change) map[string]any {
	out := map[string]any{}
	for _, ch := range changes {
		put(out, tree, ch.path, ch.value)
	}
	return out
}

func put(out map[string]any, had any, path []string, value any) {
	for i, key := range path {
		had = member(had, key)
		if i == len(path)-1 {
			out[key] = value
			return
		}
		if list, ok := had.([]any); ok {
			if again, ok := out[key].([]any); ok {
				list = again // an earlier change restates it
			}
			out[key] = withMember(list, path[i+1:], value)
			return
		}
		inner, ok := out[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			out[key] = inner
		}
		out = inner
	}
}

// withMember copies a value with another one at a path.
func withMember(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case []any:
		out := slices.Clone(v)
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(out) {
			out[i] = withMember(out[i], path[1:], value)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		out[path[0]] = withMember(out[path[0]], path[1:], value)
		return out
	}
	return map[string]any{path[0]: withMember(nil, path[1:], value)}
}

func member(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// edits make the changes in the files that set the values, under every value set
// in which the finding holds.
func (v *chartView) edits(changes []change) ([]finding.Edit, error) {
	byFile := map[string][]placedChange{}
	files := map[string]*source.File{}
	for _, values := range v.charts {
		for _, ch := range changes {
			at, err := v.placeFor(values, ch.path)
			if err != nil {
				return nil, err
			}
			name := at.File.Path()
			if v.Report.Files[name] == nil || sealed(at.File) {
				return nil, errNoEdit
			}
			same := func(p placedChange) bool { return p.begin == at.Document && slices.Equal(p.keys, at.Keys) }
			if !slices.ContainsFunc(byFile[name], same) {
				byFile[name] = append(byFile[name], placedChange{change: ch, keys: at.Keys, begin: at.Document, tree: values.Tree})
			}
			files[name] = at.File
		}
	}
	var out []finding.Edit
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		edits, err := editsOf(files[name], byFile[name])
		if err != nil {
			return nil, err
		}
		out = append(out, edits...)
	}
	return out, nil
}

// placedChange is a change with the place in a values file where it is to be made.
type placedChange struct {
	change
	keys  []string
	begin int // of the document
	tree  map[string]any
}

// editsOf make changes in one file. Of several each is made in the text that the
// others left.
func editsOf(f *source.File, changes []placedChange) ([]finding.Edit, error) {
	now := f
	for _, p := range changes {
		edits, err := p.edits(now)
		if err != nil || len(changes) == 1 {
			return edits, err
		}
		text, err := edited(now, edits)
		if err != nil {
			return nil, err
		}
		now = source.NewFile(f.Path(), text)
	}
	return []finding.Edit{difference(f, now.Text())}, nil
}

func (p placedChange) edits(f *source.File) ([]finding.Edit, error) {
	editor, err := newValuesEditor(f, p.begin)
	if err != nil {
		return nil, err
	}
	return editor.set(p.keys, p.value, p.items, func(held []string) any {
		// Above the values' top there is nothing but the way to it.
		above := len(p.keys) - len(p.path)
		if len(held) < above {
			return nested(p.keys[len(held):above], restated(p.tree, nil, p.path, p.value))
		}
		if above > 0 {
			return restated(p.tree, held[above:], p.path, p.value)
		}
		return restated(p.tree, slices.Concat(p.path[:-above], held), p.path, p.value)
	})
}

// placeFor is where a value is to be written. What a subchart sets by itself is
// set by its parent, whose file belongs to whoever uses it.
func (v *chartView) placeFor(values *loader.ChartValues, path []string) (loader.ValuePlace, error) {
	at := values.Place(path)
	if at.At.File != "" {
		at.File = v.Report.Files[at.At.File]
		if at.File != nil {
			at.Document = documentAt(at.File, at.File.Offset(at.At.Span.Start))
		}
	}
	if len(at.Keys) > 0 && len(at.Keys) < len(path) {
		prefix := path[:len(path)-len(at.Keys)]
		top := values.Place(prefix[:1])
		if top.File == nil || len(top.Keys) != 1 {
			return at, errNoEdit
		}
		at = loader.ValuePlace{By: at.By, File: top.File, Keys: slices.Clone(path), Document: -1}
	}
	if at.File == nil {
		return at, errNoEdit
	}
	return at, nil
}

// documentAt is where the YAML document begins that holds an offset of a file.
func documentAt(f *source.File, offset int) int {
	begin := -1
	for _, doc := range loader.Texts(f, loader.Limits{}) {
		if doc.Begin() <= offset {
			begin = doc.Begin()
		}
	}
	return begin
}

// restated is what a values file that leads to held has to say there for the
// value at path: a list as a whole, else nothing but the value.
func restated(tree map[string]any, held, path []string, value any) any {
	rest := path[len(held):]
	var at any = tree
	for _, key := range held {
		at = member(at, key)
	}
	if len(rest) == 0 {
		return value
	}
	if _, ok := at.([]any); ok {
		return withMember(at, rest, value)
	}
	out := map[string]any{}
	put(out, at, rest, value)
	return out
}

// nested wraps a value in the keys that lead to it.
func nested(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		value = map[string]any{key: value}
	}
	return value
}

// difference is one edit that turns a file into another text: the lines between
// the first and the last that differ.
func difference(f *source.File, text string) finding.Edit {
	old := f.Text()
	start := 0
	for start < len(old) && start < len(text) && old[start] == text[start] {
		start++
	}
	start = strings.LastIndexByte(old[:start], '\n') + 1
	a, b := len(old), len(text)
	for a > start && b > start && old[a-1] == text[b-1] {
		a, b = a-1, b-1
	}
	if i := strings.IndexByte(old[a:], '\n'); i >= 0 && a > start && old[a-1] != '\n' {
		a, b = a+i, b+i
	}
	return replace(f, start, a, text[start:b])
}

// dotted is a path as --set takes it.
func (v *chartView) dotted(path []string) string { return v.values().JoinPath(path) }

// mirror finds the value that is printed at a pointer: a scalar by the value
// that the place reads, a collection by those of its members.
func (v *chartView) mirror(pointer string) ([]string, bool) {
	if v.bench.stopped() {
		return nil, false
	}
	at := descend(v.object, pointer)
	keys, one := firstMember(at)
	if !one {
		if at == nil {
			return nil, false
		}
		for _, read := range v.object.Origin.Locate(source.Ref{Object: v.object.ID, Pointer: pointer}).Values {
			path := loader.SplitPath(read.Path)
			if is, ok := v.values().Lookup(path); ok && sameValue(is, at) {
				return path, true
			}
		}
		return nil, false
	}
	for _, key := range keys {
		inner, ok := v.mirror(source.Ref{Pointer: pointer}.Child(key).Pointer)
		if !ok || len(inner) == 0 || inner[len(inner)-1] != key {
			continue
		}
		path := inner[:len(inner)-1]
		is, _ := v.values().Lookup(path)
		if len(path) > 0 && reflect.TypeOf(is) == reflect.TypeOf(at) {
			return path, true
		}
	}
	return nil, false
}

// firstMember lists the members of a collection that has some; a few are enough.
func firstMember(v any) (keys []string, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		keys = slices.Sorted(maps.Keys(v))
	case []any:
		for i := range v {
			keys = append(keys, strconv.Itoa(i))
		}
	}
	const enough = 8
	return keys[:min(len(keys), enough)], len(keys) > 0
}

// sameValue compares a value with what became of it in an object.
func sameValue(a, b any) bool {
	switch b.(type) {
	case map[string]any, []any:
		return reflect.DeepEqual(a, b) || emptyValue(a) && emptyValue(b)
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func emptyValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}

// podReads are the values that the object's pod spec reads, and the conditions
// that kept text out of it.
func (v *chartView) podReads(spec string) (paths [][]string, absent []source.Guard) {
	seen := map[string]bool{}
	add := func(refs []source.ValueRef) {
		for _, r := range refs {
			if r.Path != "" && !seen[r.Path] {
				seen[r.Path] = true
				paths = append(paths, loader.SplitPath(r.Path))
			}
		}
	}
	absent = v.object.Origin.Locate(source.Ref{Object: v.object.ID, Pointer: spec}).Absent
	for _, g := range absent {
		add(g.Reads)
	}
	const most = 400 // fields: what is further down adds nothing
	n := 0
	var visit func(pointer string, at any)
	visit = func(pointer string, at any) {
		if n++; n > most || v.bench.stopped() {
			return
		}
		p := v.object.Origin.Locate(source.Ref{Object: v.object.ID, Pointer: pointer})
		add(p.Values)
		for _, g := range p.Guards {
			add(g.Reads)
		}
		keys, _ := firstMember(at)
		if m, ok := at.(map[string]any); ok {
			keys = slices.Sorted(maps.Keys(m))
		}
		for _, key := range keys {
			visit(source.Ref{Pointer: pointer}.Child(key).Pointer, member(at, key))
		}
	}
	visit(spec, descend(v.object, spec))
	return paths, absent
}

// shortest orders paths by how much they say.
func shortest(paths [][]string) {
	slices.SortStableFunc(paths, func(a, b []string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
}

// exceeds reports whether a candidate sets all the values that a proved fix sets,
// and more.
func (c *candidate) exceeds(x finding.Fix) bool {
	return c.Chart != "" && c.Chart == x.Chart && len(x.Values) > 0 && holds(c.Values, x.Values)
}

// holds reports whether all values of b are in a.
func holds(a, b map[string]any) bool {
	for key, value := range b {
		inner, isMap := value.(map[string]any)
		has, ok := a[key]
		if had, wasMap := has.(map[string]any); isMap && wasMap {
			if !holds(had, inner) {
				return false
			}
			continue
		}
		if !ok || !reflect.DeepEqual(has, value) {
			return false
		}
	}
	return true
}
