package loader

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestProvenanceUnderMutation changes one literal of a template or one value at
// a time, renders again, and holds the fields that changed against the fields
// that provenance attributes to the changed place. No attribution may be wrong,
// and hardly one inexact.
func TestProvenanceUnderMutation(t *testing.T) {
	var all score
	charts := scenarios(t)
	if len(charts) < 25 {
		t.Errorf("%d charts, want at least 25", len(charts))
	}
	for _, s := range charts {
		if s.unstable {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			one := mutateChart(t, s)
			t.Logf("%d mutations changed %d fields: %d exact, %d coarse; %d wrong", one.mutations, one.exact+one.coarse, one.exact, one.coarse, len(one.wrong))
			for _, w := range one.wrong {
				t.Error(w)
			}
			for _, c := range one.blurred {
				t.Log("coarse: " + c)
			}
			all.add(one)
		})
	}
	share := float64(all.clear) / float64(max(1, all.total))
	t.Logf("%d mutations in %d charts changed %d scalars, %d times: %d of them (%.2f%%) always attributed exactly; wrong: %d attributions",
		all.mutations, len(charts), all.total, all.exact+all.coarse, all.clear, 100*share, len(all.wrong))
	if all.mutations < 400 || share < 0.99 {
		t.Errorf("%.2f%% of the fields that %d mutations changed are attributed exactly, want 99%% of at least 400", 100*share, all.mutations)
	}
}

// score counts changed fields by how provenance attributed them.
type score struct {
	mutations, exact, coarse int
	wrong, blurred           []string
	// scalars tells of each that changed whether all attributions were exact.
	scalars      map[string]bool
	total, clear int
}

func (s *score) add(o score) {
	s.mutations += o.mutations
	s.exact += o.exact
	s.coarse += o.coarse
	s.wrong = append(s.wrong, o.wrong...)
	for _, exact := range o.scalars {
		s.total++
		if exact {
			s.clear++
		}
	}
}

// site is one place that can be changed: bytes of a file of the archive.
type site struct {
	file       string
	start, end int
	to         string
	value      bool // in a values file
	aims       bool // says where a value goes, or which part of it
	// around are the keys and items that the value is a part of.
	around []int
}

func (s site) String() string { return fmt.Sprintf("%s[%d:%d] -> %s", s.file, s.start, s.end, s.to) }

// leaf is one scalar of a rendered object.
type leaf struct {
	object  *source.Object
	pointer string
	text    string
}

func leaves(objects []*source.Object) map[string]leaf {
	out := map[string]leaf{}
	for i, o := range objects {
		var walk func(v any, pointer string)
		walk = func(v any, pointer string) {
			switch v := v.(type) {
			case map[string]any:
				for key, inner := range v {
					walk(inner, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
				}
			case []any:
				for j, inner := range v {
					walk(inner, pointer+"/"+strconv.Itoa(j))
				}
			default:
				out[fmt.Sprintf("%d%s", i, pointer)] = leaf{o, pointer, fmt.Sprintf("%T %v", v, v)}
			}
		}
		walk(o.Tree, "")
	}
	return out
}

// where is the provenance of the byte of a leaf at which it begins to differ
// from another; of a text of one line, that of the leaf.
func (l leaf) where(other string) source.Provenance {
	ref := source.Ref{Object: l.object.ID, Pointer: l.pointer}
	if text, ok := strings.CutPrefix(l.text, "string "); ok && text != "" && l.text != other {
		other := strings.TrimPrefix(other, "string ")
		i := 0
		for i < len(text)-1 && i < len(other) && text[i] == other[i] {
			i++
		}
		if text[i] == '\n' && i > 0 {
			i-- // what was added to the end of a line belongs to the line
		}
		ref.Start, ref.End = i, i+1
	}
	return l.object.Origin.Locate(ref)
}

// shownLines are the precisions at which a location's lines mean something.
var shownLines = []source.Precision{source.Exact, source.Action, source.Parent}

// covers reports whether a location holds changed bytes.
func covers(at source.Location, s site, files map[string]*source.File) bool {
	f := files[s.file]
	if at.File != s.file || f == nil || !slices.Contains(shownLines, at.Precision) {
		return false
	}
	for _, start := range s.around {
		if f.Span(start, start).Start == at.Span.Start {
			return true // the whole of a table or list is read
		}
	}
	changed := f.Span(s.start, s.end)
	return before(changed.Start, at.Span.End) && before(at.Span.Start, changed.End)
}

func before(a, b source.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}

// blames reports whether a provenance names the site: exactly, or as the action
// whose output it went into.
func blames(p source.Provenance, s site, files map[string]*source.File) (named, exact bool) {
	if s.value {
		for _, v := range p.Values {
			if covers(v.At, s, files) {
				return true, true
			}
		}
		for _, g := range p.Guards {
			for _, v := range g.Reads {
				if covers(v.At, s, files) {
					return true, true
				}
			}
		}
		return false, false
	}
	if covers(p.Primary, s, files) {
		return true, p.Primary.Precision == source.Exact
	}
	for _, via := range p.Via {
		if covers(via.At, s, files) {
			return true, true
		}
	}
	for _, g := range p.Guards {
		if covers(g.At, s, files) {
			return true, true
		}
	}
	return false, false
}

func mutateChart(t *testing.T, s scenario) score {
	out := score{scalars: map[string]bool{}}
	plain := render(t, s, s.files)
	was := leaves(plain.objects)
	files := map[string]*source.File{}
	for _, f := range s.files {
		files[f.Name] = source.NewFile(f.Name, string(f.Data))
	}
	known := map[string]source.Provenance{}
	for key, l := range was {
		known[key] = l.where(l.text)
	}
	for _, at := range sites(s) {
		now := render(t, s, replaced(s.files, at))
		if len(now.gaps) != len(plain.gaps) || len(now.objects) == 0 {
			continue // the change breaks the chart
		}
		is := leaves(now.objects)
		if len(now.objects) != len(plain.objects) {
			is = rekeyed(is, now.objects, plain.objects)
		}
		out.mutations++
		later := map[string]*source.File{}
		maps.Copy(later, files)
		later[at.file] = source.NewFile(at.file, string(replaced([]txtar.File{{Name: at.file, Data: []byte(files[at.file].Text())}}, at)[0].Data))
		moved := at
		moved.end = at.start + len(at.to)
		both := maps.Clone(was)
		maps.Copy(both, is)
		for _, key := range sortedKeys(both) {
			a, had := was[key]
			b, has := is[key]
			var p source.Provenance
			var named, exact bool
			switch {
			case had && has && a.text == b.text:
				if p := known[key].Primary; !at.value && p.Precision == source.Exact && covers(p, at, files) && !strings.Contains(a.text, "\n") {
					out.wrong = append(out.wrong, fmt.Sprintf("%s: %s did not change and is said to come from there", at, key))
				}
				continue
			case had:
				p = a.where(b.text)
				named, exact = blames(p, at, files)
				if !named && has {
					// The text that came in may be another template's.
					named, exact = blames(b.where(a.text), moved, later)
				}
			default:
				p = b.where(a.text)
				named, exact = blames(p, moved, later)
			}
			if _, ok := out.scalars[key]; !ok {
				out.scalars[key] = true
			}
			out.scalars[key] = out.scalars[key] && named && exact
			switch {
			case named && exact:
				out.exact++
			case named || p.Primary.Precision != source.Exact:
				out.coarse++
				out.blurred = append(out.blurred, fmt.Sprintf("%s: %s comes from %s", at, key, shown(p)))
			default:
				out.wrong = append(out.wrong, fmt.Sprintf("%s: %s changed from %q to %q and is said to come from %s", at, key, a.text, b.text, shown(p)))
			}
		}
	}
	return out
}

func shown(p source.Provenance) string {
	out := fmt.Sprintf("%s:%d:%d %s", p.Primary.File, p.Primary.Span.Start.Line, p.Primary.Span.Start.Column, p.Primary.Precision)
	for _, v := range p.Values {
		out += fmt.Sprintf(" %s@%s:%d", v.Path, v.At.File, v.At.Span.Start.Line)
	}
	for _, g := range p.Guards {
		out += fmt.Sprintf(" guard:%d", g.At.Span.Start.Line)
		for _, v := range g.Reads {
			out += " " + v.Path
		}
	}
	return out
}

// rekeyed gives the leaves of objects the numbers that objects of their kind and
// name had before.
func rekeyed(is map[string]leaf, now, then []*source.Object) map[string]leaf {
	name := func(o *source.Object) string { return o.Kind + "/" + o.Name }
	number := map[string]int{}
	for i, o := range then {
		number[name(o)] = i
	}
	out := map[string]leaf{}
	for key, l := range is {
		i, ok := number[name(l.object)]
		if !ok {
			i = len(then) + slices.Index(now, l.object)
		}
		_, pointer, _ := strings.Cut(key, "/")
		out[fmt.Sprintf("%d/%s", i, pointer)] = l
	}
	return out
}

func render(t *testing.T, s scenario, files []txtar.File) rendered {
	t.Helper()
	return renderDir(t, testtree.Unpack(t, files), s.opts)
}

func replaced(files []txtar.File, at site) []txtar.File {
	out := slices.Clone(files)
	for i, f := range out {
		if f.Name == at.file {
			out[i].Data = slices.Concat(f.Data[:at.start], []byte(at.to), f.Data[at.end:])
		}
	}
	return out
}

// sites lists what can be changed in a chart: the scalars that stand in the
// templates' own text, the constants of their actions, and the values.
func sites(s scenario) []site {
	var out []site
	for _, f := range s.files {
		switch {
		case strings.Contains(f.Name, "templates/"):
			out = append(out, templateSites(f)...)
		case strings.HasPrefix(f.Name, "files/"):
			for _, m := range fileWord.FindAllSubmatchIndex(f.Data, -1) {
				out = append(out, site{file: f.Name, start: m[2], end: m[3], to: other(string(f.Data[m[2]:m[3]]))})
			}
		case path.Ext(f.Name) == ".yaml" && path.Base(f.Name) != "Chart.yaml" && !strings.Contains(f.Name, "crds/"):
			out = append(out, valueSites(f)...)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return a.file < b.file || a.file == b.file && a.start < b.start
	})
	return out
}

// scalarLine is a line of YAML whose value is one plain or quoted scalar.
var scalarLine = regexp.MustCompile(`(?m)^[ \t]*(?:- )*(?:[A-Za-z0-9_./-]+: |- )"?([A-Za-z0-9][A-Za-z0-9_./:-]*)"?[ \t]*$`)

// fileWord is the last word of a line of a file that is no template.
var fileWord = regexp.MustCompile(`(?m)([A-Za-z0-9._=]+)[ \t]*$`)

func templateSites(f txtar.File) []site {
	file := source.NewFile(f.Name, string(f.Data))
	parsed, err := parseTemplate(f.Name, file)
	if err != nil {
		return nil
	}
	var out []site
	var list func(l *parse.ListNode)
	list = func(l *parse.ListNode) {
		if l == nil {
			return
		}
		for _, n := range l.Nodes {
			if b, _ := branchOf(n); b != nil {
				list(b.List)
				list(b.ElseList)
				continue
			}
			text, ok := n.(*parse.TextNode)
			if !ok {
				continue
			}
			from := int(text.Pos)
			// Whole lines only: what stands beside an action may be a part of a value.
			for _, m := range scalarLine.FindAllSubmatchIndex(text.Text, -1) {
				atStart := m[0] == 0 && from > 0 && parsed.text[from-1] != '\n'
				atEnd := m[1] == len(text.Text) && from+m[1] < len(parsed.text) && parsed.text[from+m[1]] != '\n'
				if atStart || atEnd && !strings.HasPrefix(strings.TrimLeft(parsed.text[from+m[1]:], " \t\r\n"), "{{-") {
					continue
				}
				out = append(out, site{file: f.Name, start: from + m[2], end: from + m[3], to: other(string(text.Text[m[2]:m[3]]))})
			}
		}
	}
	for _, name := range sortedKeys(parsed.trees) {
		list(parsed.trees[name].Root)
	}
	return out
}

func other(text string) string {
	switch text {
	case "true":
		return "false"
	case "false":
		return "true"
	}
	return text + "9"
}

func valueSites(f txtar.File) []site {
	root, err := parseNode(string(f.Data))
	if err != nil || root == nil {
		return nil
	}
	d := &document{file: source.NewFile(f.Name, string(f.Data)), chunk: chunk{0, len(f.Data)}}
	var out []site
	var walk func(n *yaml.Node, around []int)
	walk = func(n *yaml.Node, around []int) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				walk(n.Content[i], append(slices.Clip(around), d.start(n.Content[i-1])))
			}
		case yaml.SequenceNode:
			for _, c := range n.Content {
				walk(c, append(slices.Clip(around), d.start(c)))
			}
		case yaml.ScalarNode:
			start, end := d.mark(n)
			if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || n.Value == "" || n.Tag == "!!null" {
				return
			}
			if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
				start, end = start+1, end-1
			}
			if text := string(f.Data[start:end]); !strings.Contains(text, "{{") {
				out = append(out, site{file: f.Name, start: start, end: end, to: other(text), value: true, around: around})
			}
		}
	}
	walk(root, nil)
	return out
}
