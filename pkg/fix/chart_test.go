package fix_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

var update = flag.Bool("update", false, "rewrite what is wanted of the charts")

// TestCharts: each archive of testdata/charts is a tree with a chart. What is
// offered for its findings is in "want": the title of each fix and what it makes
// of the files, or the override. Each fix is then written and linted again.
func TestCharts(t *testing.T) {
	t.Parallel()
	linter := newLinter(t)
	names, err := filepath.Glob("testdata/charts/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no charts: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, opts := chartTree(t, archive)
			proved, err := fix.Prove(t.Context(), linter, []string{"."}, opts)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			before := said(&proved.Report)
			for _, f := range proved.Report.Findings {
				fmt.Fprintf(&got, "%s %s\n", f.Rule, f.Object)
				for _, x := range f.Fixes {
					got.WriteString(written(t, &proved.Report, x))
					work, with := chartTree(t, archive)
					with.Lint.Load.Set = nil // an override file cannot beat it
					if len(x.Edits) > 0 {
						with = opts
						with.Lint.Load.Dir = work
						applyTo(t, work, &proved.Report, x)
					} else {
						text, err := sigsyaml.Marshal(x.Values)
						if err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(filepath.Join(work, "override.values"), text, 0o644); err != nil {
							t.Fatal(err)
						}
						with.Lint.Load.ValuesFiles = append(slices.Clone(with.Lint.Load.ValuesFiles), "override.values")
					}
					r, err := linter.Run(t.Context(), []string{"."}, with.Lint)
					if err != nil {
						t.Fatal(err)
					}
					after := said(&r)
					if slices.Contains(after, f.Rule+" "+f.Fingerprint) {
						t.Errorf("%s: %q leaves the finding", f.Rule, x.Title)
					}
					for _, s := range after {
						if !slices.Contains(before, s) {
							t.Errorf("%s: %q raises %s", f.Rule, x.Title, s)
						}
					}
				}
			}
			compareWant(t, name, archive, got.String())
		})
	}
}

// chartTree writes an archive's tree and reads its options.
func chartTree(t *testing.T, archive *txtar.Archive) (string, fix.Options) {
	t.Helper()
	tree := &txtar.Archive{}
	var lines []string
	for _, f := range archive.Files {
		switch f.Name {
		case "options":
			lines = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		case "want":
		default:
			tree.Files = append(tree.Files, f)
		}
	}
	dir := testtree.Parse(t, string(txtar.Format(tree)))
	opts := options(t, dir)
	for _, line := range lines {
		switch flag, value, _ := strings.Cut(line, " "); flag {
		case "-f":
			opts.Lint.Load.ValuesFiles = append(opts.Lint.Load.ValuesFiles, value)
		case "--set":
			opts.Lint.Load.Set = append(opts.Lint.Load.Set, value)
		case "pack":
			pack(t, filepath.Join(dir, value))
		default:
			t.Fatalf("unknown option %q", line)
		}
	}
	return dir, opts
}

// pack makes an archive of a chart's directory and removes that.
func pack(t *testing.T, dir string) {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(dir), name)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	for _, done := range []func() error{w.Close, gz.Close} {
		if e := done(); err == nil {
			err = e
		}
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err == nil {
		err = os.WriteFile(dir+"-1.0.0.tgz", b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// written shows a fix: its title and the lines that it changes, or the override.
func written(t *testing.T, r *report.Report, x finding.Fix) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "  %s\n", x.Title)
	if x.Review != "" {
		b.WriteString("    decide first\n")
	}
	if len(x.Edits) == 0 {
		text, err := sigsyaml.Marshal(x.Values)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			b.WriteString("    | " + line)
		}
		return b.String()
	}
	one := *r
	one.Findings = []finding.Finding{{Rule: "X", Fixes: []finding.Fix{x}}}
	changes, err := fix.Changes(&one)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		old := map[string]int{}
		for line := range strings.Lines(c.Before) {
			old[line]++
		}
		for line := range strings.Lines(c.After) {
			if old[line]--; old[line] < 0 {
				b.WriteString("    + " + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
		left := map[string]int{}
		for line := range strings.Lines(c.After) {
			left[line]++
		}
		for line := range strings.Lines(c.Before) {
			if left[line]--; left[line] < 0 {
				b.WriteString("    - " + strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return b.String()
}

func compareWant(t *testing.T, name string, archive *txtar.Archive, got string) {
	t.Helper()
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if *update {
		if at < 0 {
			archive.Files = append(archive.Files, txtar.File{Name: "want"})
			at = len(archive.Files) - 1
		}
		archive.Files[at].Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if at < 0 || string(archive.Files[at].Data) != got {
		t.Errorf("got\n%s", got)
	}
}

// When the time is up the findings that are left have no fix, and are counted.
func TestChartsOutOfTime(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/charts/init-containers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, opts := chartTree(t, archive)
	opts.Time = time.Nanosecond
	proved, err := fix.Prove(t.Context(), newLinter(t), []string{"."}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if proved.Late == 0 {
		t.Error("no finding is late")
	}
	for _, f := range proved.Report.Findings {
		if len(f.Fixes) > 0 {
			t.Errorf("%s has a fix", f.Rule)
		}
	}
}
