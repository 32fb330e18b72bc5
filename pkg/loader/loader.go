package loader

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// rendered is what one input came to.
type rendered struct {
	objects []*source.Object
	files   []*source.File // every text that the objects' locations point into
	gaps    []finding.Gap
	used    []string // tree paths that it consumed
	// values are those of a chart; nil for what is none, or was not rendered.
	values *ChartValues
}

// copied returns the same with objects of its own.
func (r rendered) copied() rendered {
	objects := make([]*source.Object, len(r.objects))
	for i, shared := range r.objects {
		o := *shared
		objects[i] = &o
	}
	r.objects = objects
	return r
}

// PathError is the error of a path on the command line that cannot be used.
type PathError struct {
	Path string // as given
	Err  error
}

func (e *PathError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason, such as fs.ErrNotExist.
func (e *PathError) Unwrap() error { return e.Err }

// stdinName is the file name of standard input.
const stdinName = "stdin"

// Load reads the charts, kustomizations and manifests at the paths. What
// cannot be read is a gap of the result, never an error: the error is for
// usage (a *PathError for a path or values file that does not exist) and for a
// cancelled context.
//
// Every path is read as part of a tree: the git work tree around it, else the
// working directory if it lies there, else the path itself. Links and
// references that leave the tree are not followed.
func Load(ctx context.Context, paths []string, opts Options) (*Result, error) {
	opts, err := opts.resolved()
	if err != nil {
		return nil, err
	}
	opts.charts = map[string]target{}
	opts.shelf = newChartShelf(opts.charts)
	opts.Limits.budget = newBudget(opts.Limits)
	l := &load{opts: opts, trees: map[string]*treeScan{}, result: Result{Files: map[string]*source.File{}}}
	defer l.close()
	if len(opts.Isolate) > 0 {
		l.opts.children = &children{ctx: ctx, command: opts.Isolate, limits: opts.Limits}
	}
	// Usage errors come first: nothing is read when one path is wrong.
	var targets []target
	stdin := false
	for _, p := range paths {
		if p == "-" {
			stdin = true
			continue
		}
		t, err := l.target(p)
		if opts.Changed && errors.Is(err, fs.ErrNotExist) {
			l.result.Skipped = append(l.result.Skipped, Skip{Path: p, Why: "it does not exist any more"})
			continue
		}
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	if err := l.openCharts(); err != nil {
		return nil, err
	}
	for _, t := range targets {
		l.collect(ctx, t)
	}
	jobs := l.jobs(ctx)
	if stdin {
		jobs = append(jobs, job{kind: source.Manifest, shown: stdinName, run: func() outcome { return l.stdin(ctx) }})
	}
	l.run(ctx, jobs)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("loading: %w", err)
	}
	return l.finish(), nil
}

// resolved fills in defaults and checks the files that options name.
func (o Options) resolved() (Options, error) {
	o.Limits = o.Limits.withDefaults()
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("finding the working directory: %w", err)
	}
	if o.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return o, &PathError{Path: dir, Err: reason(err)}
	}
	if err := o.checkChartOptions(); err != nil {
		return o, err
	}
	if o.overlaid, err = o.statOverlay(); err != nil {
		return o, err
	}
	files := slices.Clone(o.ValuesFiles)
	for _, set := range o.ValueSets {
		files = append(files, set.Files...)
	}
	for _, f := range files {
		if f == "-" {
			continue
		}
		info, err := os.Stat(o.abs(f))
		if err == nil && info.IsDir() {
			err = errors.New("is a directory, not a values file")
		}
		if err != nil {
			return o, &PathError{Path: f, Err: reason(err)}
		}
	}
	return o, nil
}

// checkChartOptions refuses what would fail for whatever chart.
func (o Options) checkChartOptions() error {
	values := map[string]any{}
	for _, set := range o.Set {
		if err := strvals.ParseInto(set, values); err != nil {
			return fmt.Errorf("--set %s: want key=value: %w", set, err)
		}
	}
	if o.ReleaseName != "" {
		if err := chartutil.ValidateReleaseName(o.ReleaseName); err != nil {
			return fmt.Errorf("--release-name %s: helm refuses it: %w", o.ReleaseName, err)
		}
	}
	if wrong := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(wrong) > 0 {
		return fmt.Errorf("--namespace %s: Kubernetes refuses it: %s", o.Namespace, wrong[0])
	}
	if o.KubeVersion != "" {
		if _, err := chartutil.ParseKubeVersion(o.KubeVersion); err != nil {
			return fmt.Errorf("--kube-version %s: want a version such as %s: %w", o.KubeVersion, DefaultKubeVersion, err)
		}
	}
	return nil
}

func (o Options) abs(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(o.Dir, p)
}

// reason drops the operation and path of an error of the os package.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// load is one run of Load.
type load struct {
	opts   Options
	trees  map[string]*treeScan
	parts  []part // in the order of their paths
	result Result
}

func (l *load) close() {
	l.opts.children.close()
	for _, s := range l.trees {
		s.t.close()
	}
}

// target is a path of the command line within its tree.
type target struct {
	scan *treeScan
	path string // tree path
	dir  bool
}

func (l *load) target(p string) (target, error) {
	if p == "" { // of a variable that is not set; filepath would make it "."
		return target{}, &PathError{Path: `""`, Err: errors.New("the path is empty")}
	}
	resolved, err := filepath.EvalSymlinks(l.opts.abs(p))
	if err != nil {
		return target{}, &PathError{Path: p, Err: reason(err)}
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return target{}, &PathError{Path: p, Err: reason(err)}
	}
	root := treeRoot(resolved, l.opts.Dir, info.IsDir())
	scan := l.trees[root]
	if scan == nil {
		t, err := openTree(root, l.opts)
		if err != nil {
			return target{}, &PathError{Path: p, Err: reason(err)}
		}
		scan = newTreeScan(t, l.opts)
		l.trees[root] = scan
	}
	rel, ok := scan.t.rel(resolved)
	if !ok {
		return target{}, &PathError{Path: p, Err: errLeavesTree}
	}
	return target{scan: scan, path: rel, dir: info.IsDir()}, nil
}

// treeRoot returns the directory that what resolved refers to must lie in.
func treeRoot(resolved, workDir string, isDir bool) string {
	dir := resolved
	if !isDir {
		dir = filepath.Dir(resolved)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	if rel, err := filepath.Rel(workDir, resolved); err == nil && filepath.IsLocal(rel) {
		return workDir
	}
	return dir
}

// collect finds what a path means.
func (l *load) collect(ctx context.Context, t target) {
	if ctx.Err() != nil {
		return
	}
	if !t.dir {
		t.scan.addFile(t.path)
		return
	}
	if t.scan.addChartOf(t.path, true) {
		return
	}
	before := t.scan.found
	t.scan.walk(ctx, t.path, false)
	if t.scan.found == before {
		l.result.Gaps = append(l.result.Gaps, finding.Gap{
			Kind: finding.Unmodelled, File: t.scan.t.display(t.path),
			What:        "there is nothing to check in this directory",
			Why:         "no chart, kustomization or manifest was found in it; check the path",
			Consequence: "nothing was checked here",
		})
	}
}

// job is one chart, kustomization or file to load.
type job struct {
	kind  source.InputKind
	shown string
	// scan and dir are its tree and its path there; scan is nil for standard input.
	scan *treeScan
	dir  string
	run  func() outcome
	// target is how it is rendered, one of a number of them; nil for none.
	target     *Target
	number, of int
}

// outcome is what a job came to. Skip is set for a file that is no Kubernetes.
type outcome struct {
	rendered
	skip string
	// added: it is none of the inputs, but stands for what GitOps objects make of
	// them.
	added bool
	// sets are the renders of a chart, the default first and the same as
	// rendered.objects; nil for what has no value sets.
	sets []setObjects
}

// jobs turns what was collected into jobs, each once.
func (l *load) jobs(ctx context.Context) []job {
	var jobs []job
	for _, root := range sortedKeys(l.trees) {
		s := l.trees[root]
		s.settle()
		l.result.Gaps = append(l.result.Gaps, s.gaps...)
		l.result.Skipped = append(l.result.Skipped, s.skipped...)
		for _, dir := range sortedKeys(s.charts) {
			jobs = append(jobs, l.eachTarget(s.t, job{kind: source.Chart, shown: s.t.display(dir), scan: s, dir: dir}, dir, func(target *Target) outcome {
				return renderChartSets(ctx, s.t, dir, l.opts, target)
			})...)
		}
		for _, dir := range sortedKeys(s.kustomizations) {
			build := func() rendered { return renderKustomization(ctx, s.t, s.graph(dir), l.opts) }
			if len(l.targetsOf(s.t, dir)) > 1 {
				build = sync.OnceValue(build) // built once, however many clusters it is for
			}
			jobs = append(jobs, l.eachTarget(s.t, job{kind: source.Kustomization, shown: s.t.display(dir), scan: s, dir: dir}, dir, func(*Target) outcome {
				return outcome{rendered: build().copied()}
			})...)
		}
		for _, name := range sortedKeys(s.files) {
			named := s.files[name] && !l.opts.Changed
			jobs = append(jobs, job{kind: source.Manifest, shown: s.t.display(name), scan: s, dir: name, run: func() outcome { return l.manifest(ctx, s.t, name, named) }})
		}
	}
	return jobs
}

// eachTarget makes a job of each target of an input, one where it has none.
func (l *load) eachTarget(t *tree, like job, name string, run func(*Target) outcome) []job {
	targets := l.targetsOf(t, name)
	if len(targets) == 0 {
		like.run = func() outcome { return run(nil) }
		return []job{like}
	}
	jobs := make([]job, len(targets))
	for i := range targets {
		jobs[i] = like
		jobs[i].target, jobs[i].number, jobs[i].of = &targets[i], i, len(targets)
		jobs[i].run = func() outcome { return run(&targets[i]) }
	}
	return jobs
}

// run runs the jobs on Options.Workers workers and merges what they came to in
// the order of their paths.
func (l *load) run(ctx context.Context, jobs []job) {
	slices.SortStableFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.shown, b.shown), cmp.Compare(a.kind, b.kind))
	})
	outcomes := make([]outcome, len(jobs))
	l.runWithin(ctx, jobs, outcomes)
	outcomes = l.expand(ctx, jobs, outcomes)
	for i, o := range outcomes {
		o.dropLongNames()
		l.result.Gaps = append(l.result.Gaps, o.gaps...)
		if o.skip != "" {
			l.result.Skipped = append(l.result.Skipped, Skip{Path: jobs[i].shown, Why: o.skip})
			continue
		}
		if !o.added {
			markInput(o, jobs[i].shown, jobs[i].target, jobs[i].number, jobs[i].of)
			for _, s := range o.sets {
				if s.values != nil {
					l.result.Charts = append(l.result.Charts, s.values)
				}
			}
			l.result.Inputs = append(l.result.Inputs, Input{Kind: jobs[i].kind, Path: jobs[i].shown})
		}
		l.parts = append(l.parts, part{objects: o.objects, sets: o.sets})
		for _, f := range o.files {
			l.result.Files[f.Path()] = f
		}
	}
}

// maxName bounds the length in bytes of the names of an object, its namespace and
// what its pod has by name. The API server takes 253 and 63 of nearly all kinds;
// messages and commands repeat them.
const maxName = 1024

// longName is a name that is longer than maxName.
type longName struct {
	ref         source.Ref
	what        string // which name, for messages
	bytes, most int    // how long it is, and what Kubernetes takes
}

// tooLong returns the first name of an object that is too long.
func tooLong(o *source.Object) (longName, bool) {
	switch {
	case len(o.Namespace) > maxName:
		return longName{source.Ref{}.Child("metadata", "namespace"), "namespace", len(o.Namespace), validation.DNS1123LabelMaxLength}, true
	case len(o.Name) > maxName:
		return longName{source.Ref{}.Child("metadata", "name"), "name", len(o.Name), validation.DNS1123SubdomainMaxLength}, true
	}
	lead, ok := podSpecs[o.Kind]
	if !ok {
		return longName{}, false
	}
	pod := mapAt(o.Tree, lead)
	for _, list := range []struct{ key, what string }{
		{"containers", "container"}, {"initContainers", "init container"}, {"volumes", "volume"},
	} {
		items, _ := pod[list.key].([]any)
		for i, item := range items {
			m, _ := item.(map[string]any)
			if name, _ := m["name"].(string); len(name) > maxName {
				ref := source.Ref{}.Child(lead...).Child(list.key, strconv.Itoa(i), "name")
				return longName{ref, fmt.Sprintf("%s %d's name", list.what, i+1), len(name), validation.DNS1123LabelMaxLength}, true
			}
		}
	}
	return longName{}, false
}

// dropLongNames takes away the objects with names that are too long, and says so.
func (o *outcome) dropLongNames() {
	keep := func(objects []*source.Object) []*source.Object {
		return slices.DeleteFunc(slices.Clone(objects), func(x *source.Object) bool {
			long, is := tooLong(x)
			if !is {
				return false
			}
			at := x.Origin.Locate(long.ref).Primary
			o.gaps = append(o.gaps, finding.Gap{
				Kind: finding.Unreadable, File: at.File, Line: at.Span.Start.Line,
				What:        "an object was not read",
				Why:         fmt.Sprintf("its %s has %d bytes, and Kubernetes takes %d at most; give it a shorter one", long.what, long.bytes, long.most),
				Consequence: "whatever it declares is missing from this report",
			})
			return true
		})
	}
	o.objects = keep(o.objects)
	for i := range o.sets {
		o.sets[i].objects = keep(o.sets[i].objects)
	}
}

// runWithin runs the jobs within Limits.TotalBytes: of the jobs in order, the
// first that does not fit and those behind it that do not are gaps. What a worker
// could not keep, because others were there first, is run again if it does fit.
func (l *load) runWithin(ctx context.Context, jobs []job, outcomes []outcome) {
	budget := l.opts.Limits.budget
	weights := make([]int64, len(jobs))
	late := make([]bool, len(jobs))
	parallel(ctx, len(jobs), l.opts.Workers, func(i int) {
		o := jobs[i].run()
		weights[i] = o.weigh()
		if late[i] = !budget.take(weights[i]); !late[i] {
			outcomes[i] = o
		}
	})
	var total int64
	for i := range jobs {
		switch fits := total+weights[i] <= l.opts.Limits.TotalBytes; {
		case !fits:
			outcomes[i] = outcome{rendered: rendered{gaps: []finding.Gap{budget.refused(jobs[i].shown)}}}
			continue
		case late[i] && ctx.Err() == nil:
			outcomes[i] = jobs[i].run()
		}
		total += weights[i]
	}
}

// finish names the objects and sorts what is not in order yet.
func (l *load) finish() *Result {
	r := &l.result
	r.Inputs = slices.Compact(r.Inputs) // an input with several targets is one
	r.Groups = groups(l.parts)
	r.Objects = r.Groups[0].Objects
	slices.SortStableFunc(r.Gaps, func(a, b finding.Gap) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why))
	})
	r.Gaps = slices.CompactFunc(r.Gaps, func(a, b finding.Gap) bool {
		return a.File == b.File && a.Line == b.Line && a.Kind == b.Kind && a.What == b.What && a.Why == b.Why
	})
	slices.SortFunc(r.Skipped, func(a, b Skip) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Why, b.Why)) })
	r.Skipped = slices.Compact(r.Skipped)
	return r
}

// assignIDs names objects kind/namespace/name; the second and later of a name
// get #2, #3. It names copies: an object can have another number in another
// group.
func assignIDs(objects []*source.Object) {
	seen := map[string]int{}
	named := make(map[*source.Object]*source.Object, len(objects))
	first := make(map[string]*source.Object, len(objects))
	for i, shared := range objects {
		o := *shared
		objects[i] = &o
		id := o.Kind + "/" + o.Namespace + "/" + o.Name
		seen[id]++
		if n := seen[id]; n > 1 {
			id += "#" + strconv.Itoa(n)
		}
		o.ID = source.ObjectID(id)
		named[shared] = &o
		if seen[o.Kind+"/"+o.Namespace+"/"+o.Name] == 1 {
			first[id] = &o
		}
	}
	for _, o := range objects {
		if o.MadeBy == nil {
			continue
		}
		by, ok := named[o.MadeBy]
		if !ok { // another GitOps object has changed it since
			by = first[o.MadeBy.Kind+"/"+o.MadeBy.Namespace+"/"+o.MadeBy.Name]
		}
		o.MadeBy = by
	}
}

// manifest reads a file of plain objects. named: it stands on the command line.
func (l *load) manifest(ctx context.Context, t *tree, name string, named bool) outcome {
	f, err := t.readFile(name)
	if err != nil {
		if !named && errors.Is(err, errTooLarge) && !looksKubernetes(t.head(name)) {
			return outcome{skip: "it is too large and does not look like Kubernetes"}
		}
		return outcome{rendered: rendered{gaps: []finding.Gap{unreadable(t.display(name), err)}}}
	}
	return l.decode(ctx, f, t.display(path.Dir(name)), named)
}

func (l *load) decode(ctx context.Context, f *source.File, dir string, named bool) outcome {
	if text, as, ok := otherEncoding(f.Text()); ok {
		if !named && !looksKubernetes(text) {
			return outcome{skip: "it holds no Kubernetes object"}
		}
		return outcome{rendered: rendered{gaps: []finding.Gap{{
			Kind: finding.Unreadable, File: f.Path(), Line: 1, What: "the file could not be read",
			Why:         as.why(),
			Consequence: "whatever it declares is missing from this report",
		}}}}
	}
	if !named && !mayHoldObjects(f.Text()) && !(hasKey(f.Text(), "kind") && strings.Contains(f.Text(), "ontainers")) {
		return outcome{skip: "it was not parsed, for it names no apiVersion and kind"}
	}
	u := unit{kind: source.Manifest, dir: dir}
	objects, gaps := decodeObjects(ctx, f, identity{f}, u, l.opts.Limits)
	objects = slices.DeleteFunc(objects, func(o *source.Object) bool {
		// A build instruction, not an object of a cluster.
		return strings.HasPrefix(o.APIVersion, "kustomize.config.k8s.io/")
	})
	nearly := func(g finding.Gap) bool { return strings.HasSuffix(g.What, noAPIVersion) }
	if len(objects) == 0 && !named && !looksKubernetes(f.Text()) && !slices.ContainsFunc(gaps, nearly) {
		if len(gaps) > 0 {
			return outcome{skip: "it does not parse (" + gaps[0].Why + ") and does not look like Kubernetes"}
		}
		return outcome{skip: "it holds no Kubernetes object"}
	}
	if len(objects) == 0 && len(gaps) == 0 {
		return outcome{skip: "it holds no Kubernetes object"}
	}
	return outcome{rendered: rendered{objects: objects, files: []*source.File{f}, gaps: gaps}}
}

// encoding is one of the encodings of Unicode that nobody reads but who wrote it.
type encoding string

const (
	utf16Text encoding = "UTF-16"
	utf32Text encoding = "UTF-32"
)

// why says it to the reader of a gap.
func (e encoding) why() string {
	if e == utf16Text {
		return "it is UTF-16, as PowerShell's > writes it; save it as UTF-8"
	}
	return "it is " + string(e) + "; save it as UTF-8"
}

// otherEncoding decodes a text that starts with the byte order mark of UTF-16 or
// UTF-32, or with a character of ASCII as these have it: there is no zero in a text
// of YAML.
func otherEncoding(text string) (string, encoding, bool) {
	if order, mark, ok := startsWide(text, 4); ok {
		var b strings.Builder
		for data := []byte(text[mark:]); len(data) > 3; data = data[4:] {
			b.WriteRune(rune(order.Uint32(data))) // of what is no character, the replacement
		}
		return b.String(), utf32Text, true
	}
	if order, mark, ok := startsWide(text, 2); ok {
		units := make([]uint16, 0, len(text)/2)
		for data := []byte(text[mark:]); len(data) > 1; data = data[2:] {
			units = append(units, order.Uint16(data))
		}
		return string(utf16.Decode(units)), utf16Text, true
	}
	return "", "", false
}

// startsWide reports whether a text starts with a byte order mark, or a character of
// ASCII, of so many bytes; mark is how many of them are no text.
func startsWide(text string, width int) (order binary.ByteOrder, mark int, ok bool) {
	if len(text) < width {
		return nil, 0, false
	}
	zeros := strings.Repeat("\x00", width-1)
	switch first := text[:width]; {
	case first == "\xff\xfe"+zeros[1:]:
		return binary.LittleEndian, width, true
	case first == zeros[1:]+"\xfe\xff":
		return binary.BigEndian, width, true
	case first[0] != 0 && first[1:] == zeros:
		return binary.LittleEndian, 0, true
	case first[:width-1] == zeros && first[width-1] != 0:
		return binary.BigEndian, 0, true
	}
	return nil, 0, false
}

// looksKubernetes reports whether text has both apiVersion and kind at the
// start of a line, or as JSON keys.
func looksKubernetes(text string) bool {
	return hasKey(text, "apiVersion") && hasKey(text, "kind")
}

func hasKey(text, key string) bool {
	for i := 0; ; {
		j := strings.Index(text[i:], key)
		if j < 0 {
			return false
		}
		i += j
		before, after := text[:i], text[i+len(key):]
		i += len(key)
		if quote := strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`); quote {
			after = strings.TrimLeft(after[1:], " \t\r\n")
		} else if before != "" && !strings.HasSuffix(before, "\n") && before != "\ufeff" {
			continue
		}
		if strings.HasPrefix(after, ":") {
			return true
		}
	}
}
