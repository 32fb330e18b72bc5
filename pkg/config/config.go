// Package config reads the plan file, .vpnlint.yaml: the clusters that a
// repository is for, how to render its charts, the severity of rules, and what
// to suppress. A plan file that is wrong is an error with all that is wrong in
// it, each at its place; nothing of it is used then.
//
// The clusters are decoded here as far as they decide what belongs to whom;
// what they say of the network is read by pkg/facts from the same object.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suggest"
	"github.com/vpnlint/vpnlint/pkg/suppress"
)

// FileName is the name of the plan file.
const FileName = ".vpnlint.yaml"

// Options say where the plan file is, and what it may name.
type Options struct {
	// Dir is the working directory, absolute; paths of the result are relative to
	// it.
	Dir string
	// File is the plan file that the user names; "" looks for FileName in Dir and
	// the directories above it, up to the root of the git work tree.
	File string
	// Rules are the ids of all rules.
	Rules  []string
	Limits loader.Limits
}

// Config is a plan file that is right.
type Config struct {
	// File is its path as shown, Text its text.
	File string
	Text *source.File
	// Plan is the file as an object, for facts.Options.
	Plan     *source.Object
	Clusters []Cluster
	Targets  []loader.Target
	// Severities are those of the rules that the file names; "" is off.
	Severities map[string]finding.Severity
	Suppress   []suppress.Entry

	dir, workDir string // of the file, and of the run; absolute
}

// Cluster says what belongs to a cluster of the plan. Its place in
// Config.Clusters is that in the file.
type Cluster struct {
	Name string
	// All: the file names no paths, so that every input belongs to it.
	All   bool
	Paths []string
	// At is where the file names its paths, Missing the paths that lead to no file
	// or directory.
	At      source.Location
	Missing []Missing
}

// Missing is a path of a cluster that leads nowhere: the part of the glob before
// its first wildcard is no file or directory. It is no error, because a part of
// the repository may not be checked out.
type Missing struct {
	Glob, Path string
	At         source.Location
}

// Off reports whether a rule is turned off.
func (c *Config) Off(rule string) bool {
	if c == nil {
		return false
	}
	severity, named := c.Severities[rule]
	return named && severity == ""
}

// HasClusters reports whether the plan names clusters.
func (c *Config) HasClusters() bool { return c != nil && len(c.Clusters) > 0 }

// Named returns the place of the cluster with a name, none when there is none.
func (c *Config) Named(name string) []int {
	for i := range c.Clusters {
		if name != "" && c.Clusters[i].Name == name {
			return []int{i}
		}
	}
	return nil
}

// Members returns the places of the clusters that an input belongs to, given
// its path relative to the working directory.
func (c *Config) Members(input string) []int {
	if c == nil {
		return nil
	}
	var out []int
	for i, cluster := range c.Clusters {
		if cluster.All || slices.ContainsFunc(cluster.Paths, func(glob string) bool {
			return matches(glob, c.dir, filepath.Join(c.workDir, filepath.FromSlash(input)))
		}) {
			out = append(out, i)
		}
	}
	return out
}

// within reports whether all that a glob can match lies in a path that the user
// gave.
func (c *Config) within(glob, input string) bool {
	input = filepath.FromSlash(input)
	if !filepath.IsAbs(input) {
		input = filepath.Join(c.workDir, input)
	}
	rel, err := filepath.Rel(input, filepath.Join(c.dir, filepath.FromSlash(source.GlobRoot(glob))))
	return err == nil && filepath.IsLocal(rel)
}

// matches holds an absolute path against a glob that is relative to dir.
func matches(glob, dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	if lead := source.GlobRoot(glob); len(source.GlobSegments(lead)) == len(source.GlobSegments(glob)) {
		glob += "/**" // without a wildcard it names a file, or a directory with all that is in it
	}
	return source.MatchGlob(glob, filepath.ToSlash(rel))
}

// Load finds and reads the plan file; nil when there is none. The error is an
// *Error where the file is wrong, a *loader.PathError where it cannot be read.
func Load(opts Options) (*Config, error) {
	dir, err := filepath.EvalSymlinks(opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the plan file: %w", err)
	}
	opts.Dir = dir
	name := opts.File
	if name == "" {
		found, err := loader.FindUp(dir, FileName)
		if err != nil {
			return nil, fmt.Errorf("find the plan file: %w", err)
		}
		if found == "" {
			return nil, nil
		}
		if name, err = filepath.Rel(dir, found); err != nil {
			return nil, fmt.Errorf("find the plan file: %w", err)
		}
	}
	text, err := loader.ReadFile(dir, name, opts.Limits)
	if err != nil {
		return nil, fmt.Errorf("read the plan file: %w", err)
	}
	return Parse(text, opts)
}

// Parse reads the text of a plan file. Of the file system it only asks whether
// the files that targets name are there.
func Parse(text *source.File, opts Options) (*Config, error) {
	doc, problems := loader.ReadDocument(text, opts.Limits)
	if len(problems) > 0 || doc == nil {
		e := &Error{}
		for _, p := range problems {
			e.Problems = append(e.Problems, Problem{At: p.At, Says: p.Says})
		}
		return nil, e
	}
	d := &decoder{doc: doc, bad: map[string]bool{}}
	var file document
	if doc.Object.Tree == nil {
		d.shape(d.at(""), "the file is empty; it starts with version: 1")
	} else {
		d.value(doc.Object.Tree, reflect.ValueOf(&file).Elem(), "", "")
	}
	c := &Config{
		File: text.Path(), Text: doc.File, Plan: doc.Object, workDir: opts.Dir, Severities: map[string]finding.Severity{},
	}
	c.Plan.APIVersion, c.Plan.Kind, c.Plan.ID = source.PlanAPIVersion, source.PlanKind, source.PlanKind+"//"+source.ObjectID(text.Path())
	c.Plan.Name = path.Base(text.Path())
	c.dir = filepath.Dir(filepath.Join(opts.Dir, filepath.FromSlash(text.Path())))
	c.clusters(d, file)
	c.rules(d, file, opts.Rules)
	c.targets(d, file)
	if found := d.sorted(); len(found) > 0 {
		return nil, &Error{Problems: found}
	}
	return c, nil
}

func (c *Config) clusters(d *decoder, file document) {
	seen := seenNames{}
	root := targetRoot{dir: loader.TreeRoot(c.dir)}
	for i, doc := range file.Clusters {
		at := "/clusters/" + strconv.Itoa(i)
		seen.once(d, at+"/name", "cluster", string(doc.Name))
		cluster := Cluster{Name: string(doc.Name), All: !has(d, at, "paths")}
		if !cluster.All {
			cluster.At = d.doc.Key(at + "/paths")
		}
		for j, g := range doc.Paths {
			cluster.Paths = append(cluster.Paths, string(g))
			if lead := source.GlobRoot(string(g)); lead != "" && root.missing(filepath.Join(c.dir, filepath.FromSlash(lead))) {
				cluster.Missing = append(cluster.Missing, Missing{Glob: string(g), Path: lead, At: d.at(at + "/paths/" + strconv.Itoa(j))})
			}
		}
		c.Clusters = append(c.Clusters, cluster)
		d.contradictions(at, doc)
	}
}

// has reports whether the file has a key.
func has(d *decoder, pointer, key string) bool {
	p := d.at(source.Ref{Pointer: pointer}.Child(key).Pointer)
	return p.Precision == source.Exact
}

// seenNames finds names that are given twice.
type seenNames map[string]string

func (s seenNames) once(d *decoder, pointer, what, name string) {
	if name == "" {
		return
	}
	if earlier, twice := s[name]; twice {
		d.meaning(pointer, "the %s %q is named twice; the first stands at line %d", what, clip(name), d.at(earlier).Span.Start.Line)
		return
	}
	s[name] = pointer
}

func (c *Config) rules(d *decoder, file document, known []string) {
	for id, choice := range file.Rules {
		c.Severities[string(id)] = ""
		if choice.Severity != "off" {
			c.Severities[string(id)] = finding.Severity(choice.Severity)
		}
		pointer := source.Ref{Pointer: "/rules"}.Child(string(id)).Pointer
		if says := unknownRule(string(id), known); says != "" {
			d.problems = append(d.problems, Problem{At: d.doc.Key(pointer), Says: says})
		}
	}
	for i, s := range file.Suppress {
		pointer := "/suppress/" + strconv.Itoa(i)
		if says := unknownRule(string(s.Rule), known); says != "" && s.Rule != "" {
			d.meaning(pointer+"/rule", "%s", says)
		}
		everywhere := "**"
		entry := suppress.Entry{
			Rule: string(s.Rule), Path: cmp.Or(string(s.Path), everywhere), Reason: strings.TrimSpace(string(s.Reason)), At: d.at(pointer),
		}
		entry.Covers = func(file string) bool {
			return matches(entry.Path, c.dir, filepath.Join(c.workDir, filepath.FromSlash(file)))
		}
		entry.Within = func(input string) bool { return c.within(entry.Path, input) }
		c.Suppress = append(c.Suppress, entry)
	}
	for i, cluster := range file.Clusters {
		for j, pool := range cluster.ClientPools {
			for k, id := range pool.Acknowledge {
				if says := unknownRule(string(id), known); says != "" && id != "" {
					d.meaning(fmt.Sprintf("/clusters/%d/clientPools/%d/acknowledge/%d", i, j, k), "%s", says)
				}
			}
		}
	}
}

// unknownRule says what is wrong with the id of a rule, "" for nothing. Rules of
// the user's own are part of some runs and not of others, so that ids of another
// form than the built-in ones are let be, unless they look like a misspelt one.
func unknownRule(id string, known []string) string {
	if slices.Contains(known, id) {
		return ""
	}
	if near := suggest.Nearest(id, known); near != "" {
		return fmt.Sprintf("there is no rule %q; did you mean %s?", clip(id), near)
	}
	if !strings.HasPrefix(id, "VPN") && ruleIDForm.MatchString(id) {
		return ""
	}
	return fmt.Sprintf("there is no rule %q; vpnlint rules lists them", clip(id))
}

var ruleIDForm = regexp.MustCompile(ruleIDPattern)

// targets checks that what targets name is there, inside the tree of the file.
func (c *Config) targets(d *decoder, file document) {
	if len(file.Targets) == 0 {
		return
	}
	names := make([]string, 0, len(c.Clusters))
	for _, cluster := range c.Clusters {
		names = append(names, cluster.Name)
	}
	root := targetRoot{dir: loader.TreeRoot(c.dir)}
	for i, t := range file.Targets {
		at := "/targets/" + strconv.Itoa(i)
		target := loader.Target{
			Release: string(t.Release), Namespace: string(t.Namespace), Cluster: string(t.Cluster),
			Root: root.dir, Path: filepath.Join(c.dir, filepath.FromSlash(string(t.Path))),
		}
		if t.Cluster != "" && !slices.Contains(names, string(t.Cluster)) {
			d.meaning(at+"/cluster", "%s", unknownCluster(string(t.Cluster), names))
		}
		kind := kindNothing
		if t.Path != "" {
			var says string
			if kind, says = root.target(target.Path); says != "" {
				d.meaning(at+"/path", "%q %s", clip(string(t.Path)), says)
			}
		}
		target.Values = c.targetValues(d, at, t, root)
		target.Set = targetSets(d, at, t)
		if kind == kindKustomization {
			onlyForCharts(d, at, t)
		}
		c.Targets = append(c.Targets, target)
	}
	c.nameTargets()
}

// targetValues are the values files of a target, those included that are not there.
func (c *Config) targetValues(d *decoder, at string, t targetDoc, root targetRoot) []string {
	var out []string
	for i, v := range t.Values {
		if v == "" {
			continue
		}
		name := filepath.Join(c.dir, filepath.FromSlash(string(v)))
		if says := root.file(name); says != "" {
			d.meaning(fmt.Sprintf("%s/values/%d", at, i), "values file %q %s", clip(string(v)), says)
		}
		out = append(out, name)
	}
	return out
}

// targetSets are the values that a target sets by path, in the order of the paths.
func targetSets(d *decoder, at string, t targetDoc) []loader.SetValue {
	var out []loader.SetValue
	for _, key := range sortedNames(t.Set) {
		pointer := source.Ref{Pointer: at + "/set"}.Child(key).Pointer
		set := loader.SetValue{Path: key, Value: t.Set[name(key)], At: d.doc.Key(pointer)}
		if err := set.Check(); err != nil {
			d.problems = append(d.problems, Problem{At: set.At, Says: fmt.Sprintf("set: %q: %v", clip(key), err)})
		}
		out = append(out, set)
	}
	return out
}

// onlyForCharts refuses what a kustomization does not take.
func onlyForCharts(d *decoder, at string, t targetDoc) {
	for _, key := range []string{"values", "set", "release", "namespace"} {
		if has(d, at, key) {
			d.problems = append(d.problems, Problem{
				At: d.doc.Key(at + "/" + key), Says: key + " is for charts; " + clip(string(t.Path)) + " is a kustomization",
			})
		}
	}
}

func sortedNames[V any](m map[name]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}

func unknownCluster(wrong string, names []string) string {
	if near := suggest.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("there is no cluster %q in clusters; did you mean %s?", clip(wrong), near)
	}
	if len(names) == 0 {
		return fmt.Sprintf("there is no cluster %q: the file names no clusters", clip(wrong))
	}
	shown := names
	if len(shown) > 8 {
		shown = append(slices.Clone(names[:8]), "…")
	}
	return fmt.Sprintf("there is no cluster %q in clusters; they are %s", clip(wrong), strings.Join(shown, ", "))
}

// nameTargets gives each target a name by which findings tell it from the
// others of its chart: its values files, and what else is needed.
func (c *Config) nameTargets() {
	type key struct{ path, name string }
	count := map[key]int{}
	for i := range c.Targets {
		t := &c.Targets[i]
		files := make([]string, 0, len(t.Values))
		for _, v := range t.Values {
			files = append(files, c.fromHere(v))
		}
		t.Name = cmp.Or(strings.Join(files, "+"), loader.DefaultSet)
		count[key{t.Path, t.Name}]++
	}
	taken := map[key]int{}
	for i := range c.Targets {
		t := &c.Targets[i]
		if count[key{t.Path, t.Name}] > 1 {
			var more []string
			for _, part := range [][2]string{{"cluster", t.Cluster}, {"release", t.Release}, {"namespace", t.Namespace}} {
				if part[1] != "" {
					more = append(more, part[0]+" "+part[1])
				}
			}
			if len(more) > 0 {
				t.Name += " (" + strings.Join(more, ", ") + ")"
			}
		}
		taken[key{t.Path, t.Name}]++
		if n := taken[key{t.Path, t.Name}]; n > 1 {
			t.Name += " #" + strconv.Itoa(n)
		}
	}
}

// fromHere writes an absolute path as the plan file does.
func (c *Config) fromHere(abs string) string {
	rel, err := filepath.Rel(c.dir, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(rel)
}

type targetKind int

const (
	kindNothing targetKind = iota
	kindChart
	kindKustomization
)

// targetRoot looks at files of the tree around the plan file; dir is its root.
type targetRoot struct{ dir string }

// target says what a path is, and what is wrong with it.
func (r targetRoot) target(name string) (targetKind, string) {
	info, says := r.stat(name)
	switch {
	case says != "":
		return kindNothing, says
	case !info.IsDir() && strings.HasSuffix(name, ".tgz"):
		return kindChart, ""
	case !info.IsDir():
		return kindNothing, "is a file; name the directory of its chart or kustomization"
	}
	if _, says := r.stat(filepath.Join(name, "Chart.yaml")); says == "" {
		return kindChart, ""
	}
	for _, file := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, says := r.stat(filepath.Join(name, file)); says == "" {
			return kindKustomization, ""
		}
	}
	return kindNothing, "is neither a chart nor a kustomization; the paths of clusters say where plain manifests belong"
}

// file says what is wrong with a path that must be a file.
func (r targetRoot) file(name string) string {
	info, says := r.stat(name)
	if says == "" && !info.Mode().IsRegular() {
		return "is no regular file"
	}
	return says
}

// missing reports whether there is no such file or directory.
func (r targetRoot) missing(name string) bool {
	_, err := loader.StatInTree(r.dir, name)
	return errors.Is(err, os.ErrNotExist)
}

func (r targetRoot) stat(name string) (fs.FileInfo, string) {
	info, err := loader.StatInTree(r.dir, name)
	switch {
	case err == nil:
		return info, ""
	case errors.Is(err, os.ErrNotExist):
		return nil, "does not exist"
	default:
		var p *loader.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, "cannot be read: " + err.Error()
	}
}
