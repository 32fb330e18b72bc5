package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"helm.sh/helm/v3/pkg/strvals"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Target is one way to render a chart, or a kustomization whose cluster is
// known. A chart with targets is rendered once for each of them, instead of
// with its own value sets; each render is a unit of its own.
type Target struct {
	// Name is the name of its value set in findings.
	Name string
	// Root is the directory of the tree that the files must lie in; Path the chart
	// or kustomization, Values the values files. All are absolute.
	Root, Path string
	Values     []string
	Set        []SetValue
	// Release and Namespace are those of the chart; "" as in Options.
	Release, Namespace string
	// Cluster is the name of the planned cluster that it runs in; "" when its path
	// decides.
	Cluster string
}

// SetValue is a single value, and where it is set.
type SetValue struct {
	Path  string // dotted, as --set takes it
	Value any    // string, bool, int64 or float64
	At    source.Location
}

// Check reports what is wrong with the path.
func (v SetValue) Check() error { return v.into(map[string]any{}) }

func (v SetValue) into(values map[string]any) error {
	text, err := json.Marshal(v.Value)
	if err != nil {
		return fmt.Errorf("set %s: %w", v.Path, err)
	}
	if err := strvals.ParseJSON(v.Path+"="+string(text), values); err != nil {
		return errors.New("it is no path of the form a.b or a.b[0]")
	}
	return nil
}

// byTarget says in a report that a target of the plan file sets a value.
const byTarget = "set of the plan file"

// targetsOf returns the targets of an input of a tree.
func (l *load) targetsOf(t *tree, name string) []Target {
	var out []Target
	for _, target := range l.opts.Targets {
		abs, err := filepath.EvalSymlinks(target.Path)
		if err != nil {
			continue // it has gone since the plan file was checked
		}
		if rel, ok := t.rel(abs); ok && cleanPath(rel) == cleanPath(name) {
			out = append(out, target)
		}
	}
	return out
}

// forTarget returns the options with which a target's chart is rendered.
func (o Options) forTarget(t Target) Options {
	if o.ReleaseName == "" {
		o.ReleaseName = t.Release
	}
	if o.Namespace == "" {
		o.Namespace = t.Namespace
	}
	return o
}

// valueSet reads a target's values files. They come before what the user gives
// on the command line, as a chart's own files do.
func (t Target) valueSet(opts Options) (valueSet, error) {
	set := valueSet{name: t.Name, single: t.Set}
	tree, err := openTree(t.Root, opts)
	if err != nil {
		return set, err
	}
	defer tree.close()
	for _, name := range t.Values {
		rel, ok := tree.rel(name)
		if !ok {
			return set, &pathError{shown: shownPath(opts.Dir, name), err: errOutside}
		}
		f, err := tree.readFile(rel)
		if err != nil {
			return set, err
		}
		set.bundled = append(set.bundled, bundledValues{file: withoutBOM(f)})
	}
	return set, nil
}

// markInput gives the objects of an input its path, and those of a target its cluster
// and a unit of their own, so that two renders of one chart do not pass for one.
func markInput(o outcome, shown string, target *Target, n, of int) {
	seen := map[*source.Object]bool{}
	objects := slices.Clone(o.objects)
	numbered := ""
	if target != nil && of > 1 {
		numbered = "/target " + strconv.Itoa(n+1)
	}
	for _, s := range o.sets {
		objects = append(objects, s.objects...)
		if s.values != nil {
			s.values.Path = shown
			s.values.Unit += numbered
		}
	}
	for _, object := range objects {
		if seen[object] {
			continue
		}
		seen[object] = true
		object.Path = shown
		if target != nil {
			object.Cluster = target.Cluster
			object.Unit += numbered
		}
	}
}
