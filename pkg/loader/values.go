package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/strvals"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// The names by which a report says who set a value.
const (
	bySet         = "--set"
	byValuesFile  = "values file"
	byParentChart = "parent chart"
	byDefault     = "chart default"
	byNobody      = "not set"
	byOverride    = "override"
)

// valueLayer is one source of values, and where its top stands below the root
// chart's values: a subchart's values.yaml under the subchart's name.
type valueLayer struct {
	by     string // for charts: decided by who asks
	prefix []string
	file   *source.File
	// fixed is where the layer's values are shown when its file is packed in an
	// archive and cannot be shown.
	fixed *source.Location
	tree  map[string]any // of --set, and of a release
	// release is set for the values of a GitOps object.
	release *releaseLayer
	parsed  *parsedValues // of the file
}

// node returns the nodes of the layer's file, for positions.
func (l *valueLayer) node() *yaml.Node {
	if l.file == nil {
		return nil
	}
	return l.parsed.node(l.file.Text())
}

// dropped tells of the keys of the layer's file that Helm reads and forgets.
func (l *valueLayer) dropped() []finding.Gap {
	if l.file == nil || l.fixed != nil { // who has a chart in an archive did not write it
		return nil
	}
	var out []finding.Gap
	doc := &document{file: l.file, chunk: chunk{0, len(l.file.Text())}}
	for _, key := range l.parsed.droppedKeys(l.file.Text()) {
		out = append(out, finding.Gap{
			Kind: finding.Unmodelled, File: l.file.Path(), Line: l.file.Position(doc.start(key)).Line,
			What:        fmt.Sprintf("key %q is written twice in one mapping", key.Value),
			Why:         "Helm reads the last one and drops the others; remove those that are not meant",
			Consequence: "the last value was checked, the others were not",
		})
	}
	return out
}

// find follows a path below the layer's top. depth is how far it leads.
func (l *valueLayer) find(path []string) (key, value *yaml.Node, depth int) {
	value = l.node()
	for value != nil && depth < len(path) {
		k, v := memberNode(value, path[depth])
		if v == nil {
			break
		}
		key, value = k, v
		depth++
	}
	return key, value, depth
}

// memberNode returns the member of a mapping or list; the key of a list's item
// is nil.
func memberNode(n *yaml.Node, name string) (key, value *yaml.Node) {
	for hops := 0; n.Kind == yaml.AliasNode && n.Alias != nil && hops < 100; hops++ {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		k, v, _ := lookup(n, name, 0)
		return k, v
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
			return nil, n.Content[i]
		}
	}
	return nil, nil
}

// valueScope is what the templates of one chart see as .Values.
type valueScope struct {
	prefix  []string       // where it stands in the root chart's values
	values  map[string]any // as rendered
	layers  []*valueLayer  // of the whole render, the one that wins first
	imports []valueImport
	subs    map[string]*valueScope // of the subcharts, by name
	// switches are the conditions of dependencies that brought the chart in.
	switches []source.Guard
}

// sub is the scope of the subchart of that name.
func (s *valueScope) sub(name string) *valueScope {
	if sub := s.subs[name]; sub != nil {
		return sub
	}
	return &valueScope{prefix: append(slices.Clone(s.prefix), name), layers: s.layers}
}

// at is the scope at a path below this one.
func (s *valueScope) at(prefix []string) *valueScope {
	for _, name := range prefix {
		s = s.sub(name)
	}
	return s
}

// valueImport is an import-values entry of the chart's dependencies: the
// parent's path reads what the child's path says. Paths are below the scope.
type valueImport struct{ parent, child []string }

// candidates are the places, below the root, that may set the scope's path, the
// one that wins first: a global of a parent beats the same global of its child.
func (s *valueScope) candidates(path []string) [][]string {
	var out [][]string
	if len(path) > 0 && path[0] == "global" {
		for i := range s.prefix {
			out = append(out, append(slices.Clone(s.prefix[:i]), path...))
		}
	}
	return append(out, append(slices.Clone(s.prefix), path...))
}

// ref says where the value at path was set.
func (s *valueScope) ref(path []string) source.ValueRef {
	value, _ := descend(s.values, path)
	full := append(slices.Clone(s.prefix), path...)
	if len(path) > 0 && path[0] == "global" {
		full = path
	}
	ref := source.ValueRef{Path: s.dotted(full, path), Text: shortValue(value), By: byNobody}
	if at, by, ok := s.setter(path, 0); ok {
		ref.At, ref.By = at, by
		return ref
	}
	// Nobody sets it: the nearest table that somebody does is where it belongs.
	best := 0
	for _, cand := range s.candidates(path) {
		for _, l := range s.layers {
			rest, ok := below(cand, l.prefix)
			if n := l.reaches(rest); ok && n > best {
				best = n
				ref.At = l.place(rest[:n])
				ref.At.Precision = ref.At.Precision.Worse(source.Parent)
			}
			if !ok || l.file == nil {
				continue
			}
			if key, value, depth := l.find(rest); depth > 0 && depth+len(l.prefix) > best {
				best = depth + len(l.prefix)
				ref.At = l.at(key, value)
				ref.At.Precision = ref.At.Precision.Worse(source.Parent)
			}
		}
	}
	return ref
}

const maxImportHops = 8

// scalar is the node in a values file that decides the value at path, nil where
// that is none of a file that can be shown.
func (s *valueScope) scalar(path []string) (*source.File, *yaml.Node) {
	for _, cand := range s.candidates(path) {
		for _, l := range s.layers {
			rest, ok := below(cand, l.prefix)
			if !ok || l.tree != nil && !hasPath(l.tree, rest) {
				continue
			}
			if l.tree != nil {
				return nil, nil
			}
			_, value, depth := l.find(rest)
			switch {
			case depth < len(rest) || depth == 0:
			case l.fixed != nil:
				return nil, nil
			default:
				return l.file, value
			}
		}
	}
	return nil, nil
}

// setter finds the layer that decides the value at path.
func (s *valueScope) setter(path []string, hops int) (source.Location, string, bool) {
	for _, cand := range s.candidates(path) {
		for _, l := range s.layers {
			rest, ok := below(cand, l.prefix)
			if !ok {
				continue
			}
			if l.tree != nil {
				if hasPath(l.tree, rest) {
					return l.place(rest), l.by, true
				}
				continue
			}
			key, value, depth := l.find(rest)
			if depth < len(rest) || depth == 0 {
				continue
			}
			return l.at(key, value), s.setBy(l), true
		}
	}
	for _, im := range s.imports {
		rest, ok := below(path, im.parent)
		if ok && hops < maxImportHops {
			if at, by, ok := s.setter(append(slices.Clone(im.child), rest...), hops+1); ok {
				return at, by, true
			}
		}
	}
	return source.Location{}, "", false
}

// place is where a layer without a file sets a path; nowhere for --set.
func (l *valueLayer) place(path []string) source.Location {
	switch {
	case l.fixed != nil:
		return *l.fixed
	case l.release == nil:
		return source.Location{}
	}
	return l.release.locate(path, source.Ref{}).Primary
}

// reaches is how far a path leads into the values of a GitOps object.
func (l *valueLayer) reaches(path []string) int {
	if l.release == nil {
		return 0
	}
	n := len(path)
	for n > 0 && !hasPath(l.tree, path[:n]) {
		n--
	}
	return n
}

func (s *valueScope) setBy(l *valueLayer) string {
	switch {
	case l.by != "":
		return l.by
	case len(l.prefix) < len(s.prefix):
		return byParentChart
	default:
		return byDefault
	}
}

// at is the place of a key and its value, or of a list item.
func (l *valueLayer) at(key, value *yaml.Node) source.Location {
	if l.fixed != nil {
		return *l.fixed
	}
	d := &document{file: l.file, chunk: chunk{0, len(l.file.Text())}}
	if key == nil {
		start, end := d.mark(value)
		return source.Location{File: l.file.Path(), Span: l.file.Span(start, end), Precision: source.Exact}
	}
	start, end := d.mark(key)
	if s, e := d.mark(value); value.Kind == yaml.ScalarNode && s >= end && !strings.Contains(l.file.Text()[end:s], "\n") && e > s {
		end = e
	}
	return source.Location{File: l.file.Path(), Span: l.file.Span(start, end), Precision: source.Exact}
}

// below returns the rest of path after prefix.
func below(path, prefix []string) ([]string, bool) {
	if len(path) < len(prefix) || !slices.Equal(path[:len(prefix)], prefix) {
		return nil, false
	}
	return path[len(prefix):], true
}

func hasPath(v any, path []string) bool {
	for _, key := range path {
		switch c := v.(type) {
		case map[string]any:
			inner, ok := c[key]
			if !ok {
				return false
			}
			v = inner
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return false
			}
			v = c[i]
		default:
			return false
		}
	}
	return len(path) > 0
}

// dotted writes a path as --set takes it: items of lists in brackets, dots in
// keys escaped. inner is the part of full that the scope's values hold.
func (s *valueScope) dotted(full, inner []string) string {
	var b strings.Builder
	outer := len(full) - len(inner)
	var v any = s.values
	for i, key := range full {
		_, isList := v.([]any)
		if i >= outer && isList {
			b.WriteString("[" + key + "]")
		} else {
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(strings.NewReplacer(`.`, `\.`, `,`, `\,`).Replace(key))
		}
		if i >= outer {
			v, _ = descend(v, []string{key})
		}
	}
	return b.String()
}

const shortValueRunes = 40

// shortValue writes a value for a message.
func shortValue(v any) string {
	if s, ok := v.(string); ok && s != "" {
		return shorten(s)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return shorten(string(data))
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= shortValueRunes {
		return s
	}
	runes := []rune(s)
	return string(runes[:shortValueRunes-1]) + "…"
}

// memberAt returns the path of the YAML member that stands at an offset of a
// text, nil when that is the text's top or the text is no YAML.
func memberAt(text string, offset int) []string {
	n, err := parseNode(text)
	if err != nil || n == nil {
		return nil
	}
	before := text[:min(max(offset, 0), len(text))]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	var path []string
	for range maxPipeDepth {
		reached := func(n *yaml.Node) bool { return n.Line < line || n.Line == line && n.Column <= column }
		var next *yaml.Node
		step := ""
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if reached(n.Content[i]) {
					step, next = n.Content[i].Value, n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				if reached(item) {
					step, next = strconv.Itoa(i), item
				}
			}
		}
		if next == nil {
			return path
		}
		path = append(path, step)
		if !reached(next) {
			return path
		}
		n = next
	}
	return path
}

// userValues are the values that the user gives beside the charts' own.
type userValues struct {
	merged map[string]any
	layers []*valueLayer // the one that wins first
	files  []*source.File
}

// readUserValues reads the values files and --set strings as helm template
// does: later ones win, --set beats files. What the chart brings for a set comes
// before what the user gives for all sets, so that nothing that the user says is
// contradicted by a file that he may not know. An override beats them all. A nil
// result comes with a gap.
func readUserValues(opts Options, set valueSet, limits Limits) (*userValues, *finding.Gap) {
	u, gap := givenValues(opts, set, limits)
	if gap != nil || len(set.override) == 0 {
		return u, gap
	}
	// Templates can write to their values, and the override is for all sets.
	own, _ := cloneTree(set.override).(map[string]any)
	u.merged = mergeMaps(u.merged, own)
	u.layers = append([]*valueLayer{{by: byOverride, tree: set.override}}, u.layers...)
	return u, nil
}

// givenValues are the values files and --set strings.
func givenValues(opts Options, set valueSet, limits Limits) (*userValues, *finding.Gap) {
	u := &userValues{merged: map[string]any{}}
	failed := func(shown string, err error) *finding.Gap {
		return &finding.Gap{
			Kind: finding.Unreadable, File: shown, What: "the values file could not be read", Why: err.Error(),
			Consequence: "the chart was not rendered and none of its objects were checked",
		}
	}
	add := func(v bundledValues) error {
		if v.parsed == nil {
			v.parsed = &parsedValues{}
		}
		tree, err := v.parsed.merge(v.file.Text(), limits)
		if err != nil {
			return err
		}
		own, _ := cloneTree(tree).(map[string]any) // --set writes to it
		u.merged = mergeMaps(u.merged, own)
		if v.fixed == nil {
			u.files = append(u.files, v.file)
		}
		u.layers = append([]*valueLayer{{by: byValuesFile, file: v.file, fixed: v.fixed, parsed: v.parsed}}, u.layers...)
		return nil
	}
	if set.release != nil {
		u.merged = mergeMaps(u.merged, set.release.merged)
		for _, l := range set.release.layers {
			u.layers = append(u.layers, &valueLayer{by: l.by, tree: l.tree, release: &l})
		}
	}
	for _, v := range set.bundled {
		if err := add(v); err != nil {
			return nil, failed(v.file.Path(), err)
		}
	}
	for _, v := range set.single {
		only := map[string]any{}
		if err := errors.Join(v.into(u.merged), v.into(only)); err != nil {
			return nil, failed(v.At.File, fmt.Errorf("set %s: %w", v.Path, err))
		}
		u.layers = append([]*valueLayer{{by: byTarget, tree: only, fixed: &v.At}}, u.layers...)
	}
	for _, name := range slices.Concat(opts.ValuesFiles, set.files) {
		file, err := opts.shelf.valuesFile(opts, name, limits)
		if err == nil {
			err = add(file)
		}
		if err != nil {
			return nil, failed(shownPath(opts.Dir, absolute(opts.Dir, name)), err)
		}
	}
	if len(opts.Set) == 0 {
		return u, nil
	}
	only := map[string]any{}
	for _, set := range opts.Set {
		err := strvals.ParseInto(set, u.merged)
		if err == nil {
			// Alone, a list item needs the items before it; those count as set too.
			err = strvals.ParseInto(set, only)
		}
		if err != nil {
			return nil, &finding.Gap{
				Kind: finding.Unreadable, File: "--set", What: fmt.Sprintf("--set %s could not be read", set), Why: err.Error() + "; write it as key=value",
				Consequence: "the chart was not rendered and none of its objects were checked",
			}
		}
	}
	u.layers = append([]*valueLayer{{by: bySet, tree: only}}, u.layers...)
	return u, nil
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// readValuesFile reads a file that the user named; it may be anywhere.
func readValuesFile(opts Options, name string, limits Limits) (*source.File, error) {
	abs := absolute(opts.Dir, name)
	info, err := os.Stat(abs)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if text, ok := overlay(opts.overlaid, info); ok {
		if err := withinLimit(int64(len(text)), limits.FileBytes); err != nil {
			return nil, err
		}
		return source.NewFile(shownPath(opts.Dir, abs), text), nil
	}
	f, err := os.Open(abs)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = f.Close() }()
	text, err := readLimited(f, limits.FileBytes, info.Size())
	if err != nil {
		return nil, err
	}
	return source.NewFile(shownPath(opts.Dir, abs), text), nil
}

// withoutPath takes the path out of an error of the os package; the gap names
// the file already, relative to the working directory.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// mergeMaps lays b over a, as Helm lays a later values file over an earlier.
func mergeMaps(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		if inner, ok := v.(map[string]any); ok {
			if base, ok := out[k].(map[string]any); ok {
				out[k] = mergeMaps(base, inner)
				continue
			}
		}
		out[k] = v
	}
	return out
}
