package loader

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// ChartValues are the values that a chart was rendered with under one value set,
// and who set them. They are read-only.
type ChartValues struct {
	// Path and Unit are those of the chart's objects, Set is the value set. Of what
	// a GitOps object installs, Path only names that object: Options.Overrides
	// knows it by this name.
	Path, Unit, Set string
	// Name is the chart's own name.
	Name string
	// Tree holds the values as the templates see them: those of subcharts under
	// the names of these, and with the globals that they were given.
	Tree map[string]any

	scope *valueScope
	// release is set for what a GitOps object installs.
	release *release
}

// ValuesOf returns the values that a GitOps object gives to the chart which an
// object comes of; nil for an object of no such chart.
func ValuesOf(o *source.Object) *ChartValues {
	if r, ok := o.Origin.(*releaseOrigin); ok {
		return r.chart
	}
	return nil
}

// ValuePlace is where a value is set, or where it would be.
type ValuePlace struct {
	// By says who sets it, as source.ValueRef has it.
	By string
	// File holds the value, nil when there is no text of the tree to change: a
	// --set, the plan file, a packed chart.
	File *source.File
	// Keys leads to the value in File, items of lists by their index.
	Keys []string
	// Held is how many of Keys lead somewhere; all of them when the value is set
	// here, fewer when nobody sets it and this is where it belongs.
	Held int
	// Document is the offset in File of the YAML document that Keys start from; -1
	// for a file of one document.
	Document int
	// At is known in the place of File and Document for an object that was built of
	// files: the text of the value, or what is nearest to it.
	At source.Location

	fixed bool
}

// Place returns where the value at a path is set. A value that nobody sets
// belongs to the layer that holds most of the way to it: of several the one that
// wins.
//
// Of a release it is the release's own: its values, or the place for them.
func (c *ChartValues) Place(path []string) ValuePlace {
	if c.release != nil {
		return c.release.place(path)
	}
	if p, ok := c.scope.placeOf(path, 0); ok {
		if p.fixed || p.File != nil && c.packed(p.File) {
			p.File = nil
		}
		return p
	}
	best, reach := ValuePlace{By: byNobody, Document: -1}, -1
	for _, l := range c.scope.layers {
		rest, ok := below(path, l.prefix)
		if !ok || l.file == nil || l.fixed != nil || l.node() == nil && !isBlankText(withoutComments(l.file.Text())) {
			continue
		}
		_, _, depth := l.find(rest)
		own := l.by == "" && len(l.prefix) == 0
		if total := depth + len(l.prefix); total > reach || total == reach && own {
			reach = total
			best.File, best.Keys, best.Held = l.file, slices.Clone(rest), depth
		}
	}
	if best.File != nil && c.packed(best.File) {
		best.File = nil
	}
	return best
}

// key names a release among the charts that are rendered.
func (r *release) key() string {
	return r.kind + " " + r.object.Namespace + "/" + r.object.Name + " in " + r.object.Unit
}

// place is where the release sets a value: in a block of its own values. What is
// set elsewhere, or by nobody, belongs there.
func (r *release) place(path []string) ValuePlace {
	for _, l := range r.values.layers {
		if !hasPath(l.tree, path) {
			continue
		}
		if p := r.textPlace(l.origin, l.base, path); p.Keys != nil {
			p.By, p.Held = l.by, len(p.Keys)
			return p
		}
		break // what cannot be changed may be beaten by the release's own values
	}
	for _, l := range r.values.layers {
		if p := r.textPlace(l.origin, l.base, path); p.Keys != nil && l.base != "" {
			p.By = byNobody
			return p
		}
	}
	if r.kind != "HelmRelease" {
		return ValuePlace{By: byNobody}
	}
	p := r.textPlace(r.object.Origin, "/spec/values", path)
	p.By = byNobody
	return p
}

// textPlace is a path below a pointer of what an origin speaks of, as far as that
// is the text of a file, or the release's object; without Keys for anything else.
func (r *release) textPlace(origin source.Origin, base string, path []string) ValuePlace {
	keys := slices.Concat(source.PointerTokens(base), path)
	if o, ok := origin.(*textOrigin); ok {
		m, plain := o.m.(identity)
		if !plain || o.base64 || o.root == nil {
			return ValuePlace{}
		}
		return ValuePlace{File: m.file, Keys: keys, Document: o.doc.chunk.start}
	}
	if origin != r.object.Origin {
		return ValuePlace{}
	}
	at := origin.Locate(source.Ref{Object: r.object.ID, Pointer: base}.Child(path...)).Primary
	if at.Precision == source.WholeFile || at.Inner != "" {
		return ValuePlace{}
	}
	return ValuePlace{At: at, Keys: keys}
}

// packed reports whether a file stands in the archive that the chart is.
func (c *ChartValues) packed(f *source.File) bool {
	return isArchiveName(c.Path) && strings.HasPrefix(f.Path(), c.Path+"/")
}

// Lookup returns the value at a path, and whether the way leads there.
func (c *ChartValues) Lookup(path []string) (any, bool) {
	if !hasPath(c.Tree, path) {
		return nil, false
	}
	return descend(c.Tree, path)
}

// SplitPath takes a dotted path apart as source.ValueRef writes it.
func SplitPath(dotted string) []string {
	var keys []string
	var b strings.Builder
	for i := 0; i < len(dotted); i++ {
		switch c := dotted[i]; {
		case c == '\\' && i+1 < len(dotted):
			i++
			b.WriteByte(dotted[i])
		case c == '.':
			keys = append(keys, b.String())
			b.Reset()
		case c == '[' && closes(dotted[i:]):
			keys = append(keys, b.String())
			b.Reset()
		case c == ']' && b.Len() > 0 && allDigits(b.String()) && i > 0:
			// The item's number ends here; what follows is a dot, a bracket or nothing.
		default:
			b.WriteByte(c)
		}
	}
	return append(keys, b.String())
}

// closes reports whether a text begins with a number in brackets.
func closes(s string) bool {
	end := strings.IndexByte(s, ']')
	return end > 1 && allDigits(s[1:end])
}

// JoinPath is the reverse of SplitPath for values of the chart.
func (c *ChartValues) JoinPath(path []string) string { return c.scope.dotted(path, path) }

// placeOf finds the layer that decides the value at a path of the chart: that
// of setter.
func (s *valueScope) placeOf(path []string, hops int) (ValuePlace, bool) {
	for _, l := range s.layers {
		rest, ok := below(path, l.prefix)
		if !ok {
			continue
		}
		if l.tree != nil {
			if hasPath(l.tree, rest) {
				return ValuePlace{By: l.by, Keys: slices.Clone(rest), Held: len(rest)}, true
			}
			continue
		}
		if _, _, depth := l.find(rest); depth == len(rest) && depth > 0 {
			return ValuePlace{By: s.setBy(l), File: l.file, Keys: slices.Clone(rest), Held: depth, Document: -1, fixed: l.fixed != nil}, true
		}
	}
	for _, im := range s.imports {
		rest, ok := below(path, im.parent)
		if ok && hops < maxImportHops {
			if p, ok := s.placeOf(append(slices.Clone(im.child), rest...), hops+1); ok {
				return p, true
			}
		}
	}
	return ValuePlace{}, false
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "#") && t != "---" && t != "{}" {
			b.WriteString(line)
		}
	}
	return b.String()
}
