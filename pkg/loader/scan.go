package loader

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// treeScan collects the inputs of one tree: charts and kustomizations by their
// directory, manifests by their path.
type treeScan struct {
	t    *tree
	opts Options

	charts         map[string]bool
	kustomizations map[string]bool
	files          map[string]bool // true: named on the command line
	// components are kustomize components met on the way; alone they build
	// nothing.
	components map[string]bool

	chartAt map[string]bool       // answers of isChart
	kustAt  map[string]*kustGraph // answers of graph
	found   int                   // inputs, and things that should be one, met so far
	walked  map[string]bool       // directories
	links   []dirLink             // to directories, met on the way
	index   *kustIndex            // of the whole tree, made when first needed
	gaps    []finding.Gap
	skipped []Skip
}

// dirLink is a link to a directory of the tree; both are tree paths.
type dirLink struct{ name, target string }

func newTreeScan(t *tree, opts Options) *treeScan {
	return &treeScan{
		t: t, opts: opts,
		charts: map[string]bool{}, kustomizations: map[string]bool{}, files: map[string]bool{}, components: map[string]bool{},
		chartAt: map[string]bool{}, kustAt: map[string]*kustGraph{}, walked: map[string]bool{},
	}
}

func (s *treeScan) skip(name, why string) {
	s.skipped = append(s.skipped, Skip{Path: s.t.display(name), Why: why})
}

// isChart reports whether dir is a chart: its Chart.yaml has a name and the
// apiVersion of a chart. A Chart.yaml that does not parse counts as one, and so
// does one that lacks these beside templates, so that rendering can say what is
// wrong with it: once, and not of each template.
func (s *treeScan) isChart(dir string) bool {
	if answer, ok := s.chartAt[dir]; ok {
		return answer
	}
	answer := false
	if s.t.isFile(path.Join(dir, "Chart.yaml")) {
		answer = true
		if f, err := s.t.readFile(path.Join(dir, "Chart.yaml")); err == nil {
			var meta struct {
				APIVersion any `json:"apiVersion"`
				Name       any `json:"name"`
				Kind       any `json:"kind"`
			}
			if sigsyaml.Unmarshal([]byte(f.Text()), &meta) == nil {
				version, _ := meta.APIVersion.(string)
				whole := meta.Name != nil && (version == "v1" || version == "v2" || version == "")
				answer = meta.Kind == nil && (whole || s.t.isDir(path.Join(dir, "templates")))
			}
		}
	}
	s.chartAt[dir] = answer
	return answer
}

// graph returns the kustomization at dir with all that it refers to, nil when
// there is none.
func (s *treeScan) graph(dir string) *kustGraph {
	g, ok := s.kustAt[dir]
	if !ok {
		g = readKustGraph(s.t, dir, s.opts)
		s.kustAt[dir] = g
	}
	return g
}

// Directories of a chart that hold its own files and no inputs of their own.
func isChartDir(name string) bool {
	switch name {
	case "templates", "charts", "crds", "ci", "tests", "files":
		return true
	}
	return false
}

// walk adds the inputs below dir; inChart leaves out plain files, which are
// the chart's own.
func (s *treeScan) walk(ctx context.Context, dir string, inChart bool) {
	if ctx.Err() != nil {
		return
	}
	entries, err := s.t.readDir(dir)
	if err != nil {
		g := unreadable(s.t.display(dir), err)
		g.What = "the directory could not be read"
		s.found++
		s.gaps = append(s.gaps, g)
		return
	}
	s.walked[dir] = true
	if s.isChart(dir) {
		s.charts[dir] = true
		s.found++
		inChart = true
	}
	kustFile := ""
	if g := s.graph(dir); g != nil {
		s.found++
		kustFile = g.file
		s.addKustomization(dir, g)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case s.isForeign(dir, e) || name == kustFile:
		case e.IsDir():
			if !inChart || !isChartDir(e.Name()) {
				s.walk(ctx, name, inChart)
			}
		case !inChart && s.addDirLink(name, e):
		case !inChart && isArchiveName(e.Name()):
			s.addArchive(name, e)
		case inChart || !isManifestName(e.Name()):
		default:
			s.found++
			s.addWalkedFile(name, e)
		}
	}
}

func (s *treeScan) addKustomization(dir string, g *kustGraph) {
	if g.component {
		s.components[dir] = true
		return
	}
	s.kustomizations[dir] = true
}

// isForeign reports whether an entry of a walk is none of the project's own
// input: a dotfile, or the code that a package manager brought.
func (s *treeScan) isForeign(dir string, e fs.DirEntry) bool {
	switch name := e.Name(); {
	case strings.HasPrefix(name, "."), name == "node_modules":
		return true
	case name == "vendor" && e.IsDir():
		// Go's; a chart may keep its charts in a vendor directory of its own.
		_, err := s.t.stat(path.Join(dir, name, "modules.txt"))
		return err == nil
	}
	return false
}

func isManifestName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// addArchive adds an archive met on the way, if it holds a chart.
func (s *treeScan) addArchive(name string, e fs.DirEntry) {
	if !e.Type().IsRegular() {
		s.skip(name, errNotRegular.Error())
		return
	}
	// One that breaks off is a chart all the same when its Chart.yaml comes before,
	// where helm package puts it.
	if files, err := readArchive(s.t, name, s.opts.Limits.withDefaults()); err != nil && !holdChart(files) {
		s.skip(name, unreadable(name, err).Why)
		return
	}
	s.charts[name] = true
	s.found++
}

func (s *treeScan) addWalkedFile(name string, e fs.DirEntry) {
	if e.Type()&fs.ModeSymlink != 0 {
		target, ok := s.follow(name)
		if !ok {
			return
		}
		name = target
	} else if !e.Type().IsRegular() {
		s.gaps = append(s.gaps, unreadable(s.t.display(name), errNotRegular))
		return
	}
	if !s.files[name] {
		s.files[name] = false
	}
}

// addDirLink notes a link to a directory. It is not followed: what it leads to is
// read where it is, or nowhere.
func (s *treeScan) addDirLink(name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	if info, err := s.t.stat(name); err != nil || !info.IsDir() {
		return false
	}
	if target, err := filepath.EvalSymlinks(filepath.Join(s.t.dir, filepath.FromSlash(name))); err == nil {
		if rel, ok := s.t.rel(target); ok {
			s.links = append(s.links, dirLink{name, rel})
		}
	}
	return true
}

// unfollowed tells of the links to directories that nothing else has read.
func (s *treeScan) unfollowed() {
	for _, l := range s.links {
		read := false
		for d := l.target; !read; d = path.Dir(d) {
			read = s.walked[d] && (d == l.target || s.charts[d] || s.kustomizations[d])
			if d == "." {
				break
			}
		}
		if !read {
			s.gaps = append(s.gaps, finding.Gap{
				Kind: finding.Unmodelled, File: s.t.display(l.name), Line: 1, What: "the linked directory was not read",
				Why:         "links to directories are not followed; name " + s.t.display(l.target) + " as well",
				Consequence: "whatever it declares is missing from this report",
			})
		}
	}
}

// follow returns the tree path of what a link to a file leads to, so that the
// file is read once.
func (s *treeScan) follow(name string) (string, bool) {
	info, err := s.t.stat(name)
	if err != nil {
		s.gaps = append(s.gaps, unreadable(s.t.display(name), err))
		return "", false
	}
	if !info.Mode().IsRegular() {
		s.gaps = append(s.gaps, unreadable(s.t.display(name), errNotRegular))
		return "", false
	}
	target, err := filepath.EvalSymlinks(filepath.Join(s.t.dir, filepath.FromSlash(name)))
	if err == nil {
		if rel, ok := s.t.rel(target); ok {
			return rel, true
		}
	}
	return name, true
}

// addFile adds what a file named on the command line means: its chart, the
// kustomizations that use it, or itself.
func (s *treeScan) addFile(name string) {
	if s.addChartOf(name, false) {
		return
	}
	if isArchiveName(name) {
		s.charts[name] = true
		return
	}
	users := s.wholeIndex().users(name)
	for _, dir := range users {
		s.kustomizations[dir] = true
	}
	if len(users) > 0 {
		return
	}
	if g := s.graph(path.Dir(name)); g != nil && g.file == name {
		if g.component {
			s.gaps = append(s.gaps, finding.Gap{
				Kind: finding.Unmodelled, File: s.t.display(name), Line: 1, What: "the component was not built",
				Why:         "no kustomization of the tree uses it, and a component builds nothing alone; name the kustomization that uses it",
				Consequence: "what it changes was not checked",
			})
			return
		}
		s.kustomizations[path.Dir(name)] = true
		return
	}
	s.files[name] = true
}

// addChartOf adds the chart that name is a file or directory of: the outermost
// one, for a chart in charts/ is rendered as part of its parent.
func (s *treeScan) addChartOf(name string, isDir bool) bool {
	if isDir && s.isChart(name) {
		return false // named itself: walk it
	}
	found := ""
	for d := path.Dir(name); ; d = path.Dir(d) {
		if s.isChart(d) {
			if found == "" {
				if s.belongsToChart(within(d, name), name, isDir) {
					found = d
				}
			} else if strings.HasPrefix(within(d, found), "charts/") {
				found = d
			}
		}
		if d == "." {
			break
		}
	}
	if found == "" {
		return false
	}
	s.charts[found] = true
	return true
}

// within returns the part of a tree path below dir.
func within(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
}

// belongsToChart reports whether rel, a path within a chart, is one of the
// chart's own files or directories.
func (s *treeScan) belongsToChart(rel, name string, isDir bool) bool {
	first, _, nested := strings.Cut(rel, "/")
	if nested || isDir {
		return isChartDir(first)
	}
	switch {
	case rel == "Chart.yaml", rel == "Chart.lock", rel == "values.schema.json", rel == ".helmignore":
		return true
	case !isManifestName(rel):
		return false
	}
	f, err := s.t.readFile(name)
	return err != nil || !looksKubernetes(f.Text()) && !isKustFileName(rel)
}

// settle drops what is part of something else: kustomizations that another one
// uses, and files that a chart or kustomization consumes.
func (s *treeScan) settle() {
	s.unfollowed()
	used := map[string]bool{}
	for dir := range s.kustomizations {
		for name := range s.graph(dir).uses {
			if name != dir {
				used[name] = true
			}
		}
	}
	for dir := range s.kustomizations {
		// Of kustomizations that include each other none is a root; keep them,
		// so that building can say so.
		if used[dir] && !s.graph(dir).uses[dir] {
			delete(s.kustomizations, dir)
		}
	}
	for dir := range s.charts {
		// A chart that a kustomization inflates is rendered with its values.
		if used[dir] {
			delete(s.charts, dir)
		}
	}
	for dir := range s.components {
		if !used[dir] {
			s.skip(path.Join(dir, "kustomization.yaml"), "it is a component that no kustomization here uses")
		}
	}
	for name := range s.files {
		if used[name] {
			delete(s.files, name)
		}
	}
}

// kustIndex knows the kustomizations of a whole tree.
type kustIndex struct {
	graphs map[string]*kustGraph
	used   map[string]bool // kustomizations that another one uses
}

func (s *treeScan) wholeIndex() *kustIndex {
	if s.index == nil {
		s.index = &kustIndex{graphs: map[string]*kustGraph{}, used: map[string]bool{}}
		s.indexDir(".")
		for dir, g := range s.index.graphs {
			for name := range g.uses {
				if name != dir {
					s.index.used[name] = true
				}
			}
		}
	}
	return s.index
}

func (s *treeScan) indexDir(dir string) {
	entries, err := s.t.readDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			if !s.isForeign(dir, e) {
				s.indexDir(path.Join(dir, e.Name()))
			}
		case isKustFileName(e.Name()):
			if g := s.graph(dir); g != nil {
				s.index.graphs[dir] = g
			}
		}
	}
}

// users returns the root kustomizations that use name, a file or the
// kustomization file itself.
func (x *kustIndex) users(name string) []string {
	var out []string
	for _, dir := range sortedKeys(x.graphs) {
		if g := x.graphs[dir]; !g.component && g.uses[name] && !x.used[dir] {
			out = append(out, dir)
		}
	}
	return out
}

// head returns the first part of a file that is too large to read.
func (t *tree) head(name string) string {
	f, err := t.root.Open(filepath.FromSlash(cleanPath(name)))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	var b strings.Builder
	if _, err := io.CopyN(&b, f, 64<<10); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		return ""
	}
	return b.String()
}
