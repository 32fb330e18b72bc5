package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzKustomization walks the graph of any kustomization file: whatever is in it,
// nothing outside of the tree is used, and a refusal says where and why.
func FuzzKustomization(f *testing.F) {
	for _, seed := range []string{
		"resources: [a.yaml, b]\n", "resources: [../x, /etc/passwd, https://example.com/a]\n", "bases: [.]\ncomponents: [b]\n",
		"helmCharts: [{name: c, repo: https://example.com}]\n", "configMapGenerator: [{name: x, files: [k=../../x], envs: [/x]}]\n",
		"patches: [{path: a.yaml}, {patch: 'a: b'}]\nreplacements: [{path: ../r.yaml}]\n", "generators: [a.yaml]\ntransformers: [b]\n",
		"openapi: {path: ../x}\ncrds: [a.yaml]\nconfigurations: [b]\n", "resources: &r [*r]\n", "kind: Component\nresources: {}\n", "vars: 1\n",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	for name, text := range map[string]string{"k/a.yaml": podA, "k/b/kustomization.yaml": "resources: [../a.yaml]\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	limits := DefaultLimits()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "k", "kustomization.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := openTree(dir, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.close()
		g := readKustGraph(tree, "k", Options{Limits: limits})
		if g == nil {
			return
		}
		for _, refused := range g.refusals {
			if refused.File == "" || refused.Why == "" || refused.Consequence == "" {
				t.Errorf("a refusal without a place or reason: %+v", refused)
			}
		}
		for name := range g.copies {
			if !filepath.IsLocal(name) {
				t.Errorf("%s lies outside of the tree", name)
			}
		}
	})
}

// FuzzValues reads any values file and any --set.
func FuzzValues(f *testing.F) {
	for _, seed := range [][2]string{
		{"a: {b: 1}\n", "a.b=2,c={x,y}"}, {"a: &a [*a]\n", "a[99999999]=1"}, {"- 1\n", "a[-1]=2"}, {"null", "a.b.c=null"}, {"a: 1\n", "a.b=2"},
		{"<<: {a: b}\n", `a\.b=c\,d`}, {"", "=,=,="}, {"a: !!binary aGk=\n", "a[0][0]=1"},
	} {
		f.Add(seed[0], seed[1])
	}
	name := filepath.Join(f.TempDir(), "values.yaml")
	f.Fuzz(func(t *testing.T, file, set string) {
		if err := os.WriteFile(name, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		opts := Options{Dir: filepath.Dir(name), ValuesFiles: []string{name}, Set: []string{set}}
		u, gap := readUserValues(opts, valueSet{name: DefaultSet}, DefaultLimits())
		if gap != nil && (gap.What == "" || gap.Why == "" || gap.Consequence == "") {
			t.Errorf("gap %+v", gap)
		}
		if gap == nil && u.merged == nil {
			t.Error("neither values nor a gap")
		}
	})
}

// FuzzStdin reads any standard input, with its "# Source:" comments.
func FuzzStdin(f *testing.F) {
	for _, seed := range []string{
		"# Source: c/templates/a.yaml\n" + podA, "---\n# Source: ../../etc/passwd\n" + podA, "# Source: \n" + podA,
		"# Source: c/charts/d/templates/a.yaml\n" + podA + "---\n" + podA, "# Source: /a\x1b\n" + podA, strings.Repeat("# Source: a/b\n", 50) + podA,
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Load(t.Context(), []string{"-"}, Options{Dir: dir, Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Objects {
			at := o.Origin.Locate(o.Ref())
			if at.Primary.File != stdinName {
				t.Errorf("an object of %s", at.Primary.File)
			}
			for _, via := range at.Via {
				if via.At.File != stdinName {
					t.Errorf("a template that is not there: %+v", via)
				}
			}
		}
	})
}
