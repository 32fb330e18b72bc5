package loader

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// kustomization is one archive of testdata/kustomizations: files, and in "build"
// the directory that is built, the top where there is none.
type kustomization struct {
	name  string
	files []txtar.File
	dir   string
}

func kustomizations(tb testing.TB) []kustomization {
	tb.Helper()
	names, err := filepath.Glob("testdata/kustomizations/*.txtar")
	if err != nil || len(names) < 15 {
		tb.Fatalf("%d kustomizations, want at least 15: %v", len(names), err)
	}
	var out []kustomization
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		k := kustomization{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), dir: "."}
		for _, f := range archive.Files {
			if f.Name == "build" {
				k.dir = strings.TrimSpace(string(f.Data))
				continue
			}
			k.files = append(k.files, f)
		}
		out = append(out, k)
	}
	return out
}

// build builds the kustomization that is unpacked in dir.
func (k kustomization) build(tb testing.TB, dir string) rendered {
	tb.Helper()
	opts := Options{Dir: dir}
	t, err := openTree(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	defer t.close()
	out := renderKustomization(tb.Context(), t, readKustGraph(t, k.dir, opts), opts)
	// What stands for a chart that is not there is no object of the build.
	out.objects = slices.DeleteFunc(out.objects, isInflation)
	return out
}

// TestKustomizationsUnderMutation changes one literal of a kustomization's tree
// at a time, builds again, and holds the fields that changed against the fields
// that provenance attributes to the changed place. A literal may also decide who
// writes a field (a selector, a path, a name that a patch looks for): then the
// field has another writer afterwards, and both must hold its value.
func TestKustomizationsUnderMutation(t *testing.T) {
	var all score
	aimed := 0
	trees := kustomizations(t)
	for _, k := range trees {
		t.Run(k.name, func(t *testing.T) {
			one, moved := mutateKustomization(t, k)
			t.Logf("%d mutations changed %d fields: %d exact, %d coarse; %d wrong; %d have another writer", one.mutations, one.exact+one.coarse, one.exact, one.coarse, len(one.wrong), moved)
			for _, w := range one.wrong {
				t.Error(w)
			}
			for _, c := range one.blurred {
				t.Log("coarse: " + c)
			}
			all.add(one)
			aimed += moved
		})
	}
	share := float64(all.clear) / float64(max(1, all.total))
	often := float64(all.exact) / float64(max(1, all.exact+all.coarse+len(all.wrong)))
	t.Logf("%d mutations in %d kustomizations changed %d scalars: %d of them (%.2f%%) always attributed exactly; of %d attributions %.2f%% exact, %d coarse, %d wrong; %d fields have another writer",
		all.mutations, len(trees), all.total, all.clear, 100*share, all.exact+all.coarse+len(all.wrong), 100*often, all.coarse, len(all.wrong), aimed)
	if all.mutations < 400 || share < 0.99 || often < 0.99 {
		t.Errorf("%.2f%% of the fields that %d mutations changed are attributed exactly, want 99%% of at least 400", 100*share, all.mutations)
	}
}

func mutateKustomization(t *testing.T, k kustomization) (out score, aimed int) {
	out.scalars = map[string]bool{}
	dir := testtree.Unpack(t, k.files)
	plain := k.build(t, dir)
	if len(plain.gaps) > 0 || len(plain.objects) == 0 {
		t.Fatalf("%d objects, gaps %+v", len(plain.objects), plain.gaps)
	}
	for _, o := range plain.objects {
		r := o.Origin.(*kustOrigin).again.replay()
		if r.err != nil {
			t.Fatalf("the build cannot be replayed: %v", r.err)
		}
		if r.roots[o] == nil {
			t.Errorf("the replay has no %s %s", o.Kind, o.Name)
		}
	}
	was := unhashed(plain.objects)
	files := map[string]*source.File{}
	for _, f := range k.files {
		files[f.Name] = source.NewFile(f.Name, string(f.Data))
	}
	known := map[string]source.Provenance{}
	for key, l := range was {
		known[key] = l.where(l.text)
		if why := l.inconsistent(files); why != "" {
			out.wrong = append(out.wrong, key+": "+why)
		}
	}
	for _, at := range kustSites(t, k) {
		later := maps.Clone(files)
		later[at.file] = source.NewFile(at.file, string(replaced([]txtar.File{{Name: at.file, Data: []byte(files[at.file].Text())}}, at)[0].Data))
		write(t, dir, later[at.file])
		now := k.build(t, dir)
		write(t, dir, files[at.file])
		if len(now.gaps) != len(plain.gaps) || len(now.objects) == 0 {
			continue // the change breaks the build
		}
		is := repaired(unhashed(now.objects), now.objects, plain.objects)
		out.mutations++
		moved := at
		moved.end = at.start + len(at.to)
		both := maps.Clone(was)
		maps.Copy(both, is)
		for _, key := range sortedKeys(both) {
			a, had := was[key]
			b, has := is[key]
			same := had && has && a.text == b.text
			if same && (at.value || !covers(known[key].Primary, at, files) || known[key].Primary.Precision != source.Exact || strings.Contains(a.text, "\n")) {
				continue
			}
			var before, after source.Provenance
			var named, exact bool
			if had {
				before = a.where(b.text)
				named, exact = blames(before, at, files)
			}
			if has {
				after = b.where(a.text)
				if !named {
					named, exact = blames(after, moved, later)
				}
			}
			if !named || same {
				// The change may have decided who writes the field, or where to.
				why := ""
				if had {
					why = a.inconsistent(files)
				}
				if has && why == "" {
					why = b.inconsistent(later)
				}
				sameWriter := had && has && textAt(before.Primary, files) == textAt(after.Primary, later)
				if same {
					sameWriter = covers(after.Primary, moved, later)
				}
				vague := had && before.Primary.Precision != source.Exact || has && after.Primary.Precision != source.Exact
				if why == "" && !vague && (!sameWriter || at.aims) {
					aimed++
					continue
				}
			}
			if same {
				out.wrong = append(out.wrong, fmt.Sprintf("%s: %s did not change and is said to come from there", at, key))
				continue
			}
			if _, ok := out.scalars[key]; !ok {
				out.scalars[key] = true
			}
			out.scalars[key] = out.scalars[key] && named && exact
			p := before
			if !had {
				p = after
			}
			switch {
			case named && exact:
				out.exact++
			case named || p.Primary.Precision != source.Exact:
				out.coarse++
				out.blurred = append(out.blurred, fmt.Sprintf("%s: %s changed from %q to %q and comes from %s", at, key, a.text, b.text, shown(p)))
			default:
				out.wrong = append(out.wrong, fmt.Sprintf("%s: %s changed from %q to %q and is said to come from %s", at, key, a.text, b.text, shown(p)))
			}
		}
	}
	return out, aimed
}

func write(t *testing.T, dir string, f *source.File) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(f.Path())), []byte(f.Text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unhashed are the leaves of objects without the hashes of contents that
// kustomize appends to the names of what it generates: nobody writes them.
func unhashed(objects []*source.Object) map[string]leaf {
	names := map[string]string{}
	for _, o := range objects {
		if n := len(o.Name) - 11; n > 0 && hashSuffix.MatchString(o.Name[n:]) && (o.Kind == "ConfigMap" || o.Kind == "Secret") {
			names["string "+o.Name] = "string " + o.Name[:n]
		}
	}
	out := leaves(objects)
	for key, l := range out {
		if name, ok := names[l.text]; ok {
			l.text = name
			out[key] = l
		}
	}
	return out
}

// repaired gives the leaves of objects the numbers of the objects that they were
// before: those of the same kind and name, and the others as they are alike.
func repaired(is map[string]leaf, now, then []*source.Object) map[string]leaf {
	name := func(o *source.Object) string {
		if n := len(o.Name) - hashLen; n > 0 && hashSuffix.MatchString(o.Name[n:]) {
			return o.Kind + "/" + o.Namespace + "/" + o.Name[:n]
		}
		return o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	number := map[*source.Object]int{}
	taken := map[int]bool{}
	for _, like := range []func(*source.Object) string{
		name,
		func(o *source.Object) string { return o.Kind + "/" + o.Namespace },
		func(o *source.Object) string { return o.Kind },
		func(*source.Object) string { return "" },
	} {
		free := map[string][]int{}
		for i, o := range then {
			if !taken[i] {
				free[like(o)] = append(free[like(o)], i)
			}
		}
		waiting := map[string]int{}
		for _, o := range now {
			if _, ok := number[o]; !ok {
				waiting[like(o)]++
			}
		}
		for _, o := range now {
			if _, ok := number[o]; ok || len(free[like(o)]) == 0 || waiting[like(o)] != len(free[like(o)]) {
				continue
			}
			k := like(o)
			number[o] = free[k][0]
			taken[number[o]], free[k] = true, free[k][1:]
			waiting[k]--
		}
	}
	for i, o := range now {
		if _, ok := number[o]; !ok {
			number[o] = len(then) + i
		}
	}
	out := map[string]leaf{}
	for key, l := range is {
		_, pointer, _ := strings.Cut(key, "/")
		out[fmt.Sprintf("%d/%s", number[l.object], pointer)] = l
	}
	return out
}

func textAt(at source.Location, files map[string]*source.File) string {
	f := files[at.File]
	if f == nil {
		return ""
	}
	return at.File + ":" + f.Text()[f.Offset(at.Span.Start):f.Offset(at.Span.End)]
}

// inconsistent says why a leaf cannot have been written where an exact
// provenance says; "" if it can.
func (l leaf) inconsistent(files map[string]*source.File) string {
	p := l.where(l.text)
	if p.Primary.Precision != source.Exact {
		return ""
	}
	_, text, _ := strings.Cut(textAt(p.Primary, files), ":")
	if strings.HasPrefix(text, "*") || strings.Contains(text, "{{") || strings.ContainsAny(text, "\\") || strings.Contains(text, "''") {
		return "" // an alias, a template or an escape
	}
	_, value, _ := strings.Cut(l.text, " ")
	if l.object.Kind == "Secret" {
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && strings.HasPrefix(l.pointer, "/data/") {
			value = string(decoded)
		}
	}
	bare := strings.Trim(strings.TrimSpace(text), `"'`)
	if _, sign, ok := strings.Cut(bare, ": "); ok && (sign[0] == '|' || sign[0] == '>') {
		bare = "" // a block of text is shown by its key
	}
	switch {
	case bare == "":
		return ""
	case value == "" || value == "<nil>":
		return ""
	case bare != "" && (strings.Contains(value, bare) || strings.Contains(bare, value)):
		return ""
	}
	return fmt.Sprintf("%q is said to come from %q at %s", value, text, shown(p))
}

// kustSites lists what can be changed in a tree: every scalar of every YAML and
// JSON file, those of patches that stand in strings too, the values of env lines,
// and the last words of other files' lines.
func kustSites(t *testing.T, k kustomization) []site {
	t.Helper()
	var out []site
	for _, f := range k.files {
		inChart := strings.HasPrefix(f.Name, "charts/")
		switch ext := path.Ext(f.Name); {
		case inChart && strings.Contains(f.Name, "templates/"):
			out = append(out, templateSites(f)...)
		case inChart && path.Base(f.Name) == "Chart.yaml":
		case inChart, k.name == "chart" && f.Name == "more.yaml":
			out = append(out, valueSites(f)...)
		case ext == ".yaml" || ext == ".json":
			sites := yamlSites(t, f)
			for i, s := range sites {
				// The values that a kustomization gives a chart.
				from, to := bytes.Index(f.Data, []byte("valuesInline")), bytes.Index(f.Data, []byte("additionalValues"))
				sites[i].value = from >= 0 && s.start > from && s.start < to
			}
			out = append(out, sites...)
		default:
			for _, m := range fileWord.FindAllSubmatchIndex(f.Data, -1) {
				word := string(f.Data[m[2]:m[3]])
				if key, value, ok := strings.Cut(word, "="); ok {
					if value == "" {
						continue
					}
					m[2] += len(key) + 1
				}
				out = append(out, site{file: f.Name, start: m[2], end: m[3], to: other(string(f.Data[m[2]:m[3]]))})
			}
		}
	}
	return out
}

func yamlSites(t *testing.T, f txtar.File) []site {
	t.Helper()
	var out []site
	file := source.NewFile(f.Name, string(f.Data))
	for _, c := range splitDocuments(string(f.Data)) {
		d := decoder{file: file, m: identity{file}, limits: Limits{}.withDefaults(), aliasBudget: 1000}
		_, root, doc, ok := d.parse(c)
		if !ok {
			continue
		}
		out = append(out, scalarSites(t, doc, root, f)...)
	}
	return out
}

func scalarSites(t *testing.T, d *document, root *yaml.Node, f txtar.File) []site {
	t.Helper()
	var out []site
	var walk func(n *yaml.Node, under string)
	walk = func(n *yaml.Node, under string) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 1; i < len(n.Content); i += 2 {
				walk(n.Content[i], n.Content[i-1].Value)
			}
		case yaml.SequenceNode:
			for _, c := range n.Content {
				walk(c, under)
			}
		case yaml.ScalarNode:
			if n.Value == "" || n.Tag == "!!null" {
				return
			}
			m, ok := d.scalar(n)
			if !ok {
				t.Fatalf("%s: no places in %q", f.Name, n.Value)
			}
			add := func(from, to int) {
				start, end := m.span(from, to)
				if end > start {
					aims := under == "delimiter" || under == "index"
					out = append(out, site{file: f.Name, start: start, end: end, to: other(string(f.Data[start:end])), aims: aims})
				}
			}
			inPatch := (under == "patch" || under == "patchesStrategicMerge" || under == "transformers") && strings.Contains(n.Value, "\n")
			switch {
			case inPatch:
				for _, s := range yamlSites(t, txtar.File{Name: f.Name, Data: []byte(n.Value)}) {
					add(s.start, s.end)
				}
			case strings.Contains(n.Value, "\n"):
				for _, w := range fileWord.FindAllStringSubmatchIndex(n.Value, -1) {
					add(w[2], w[3])
				}
			default:
				add(0, len(n.Value))
			}
		}
	}
	walk(root, "")
	slices.SortFunc(out, func(a, b site) int { return a.start - b.start })
	return out
}
