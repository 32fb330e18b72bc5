package fix_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWriteRefusesChangedFiles: one file that is not what was linted keeps all of
// them from being written.
func TestWriteRefusesChangedFiles(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\na: 1\n-- b.yaml --\nb: 1\n")
	changes := []fix.Change{{File: "a.yaml", Before: "a: 1\n", After: "a: 2\n"}, {File: "b.yaml", Before: "b: 1\n", After: "b: 2\n"}}
	for _, now := range []string{"b: 3\n", "b: 1\n# more\n", "b:", ""} {
		if err := os.WriteFile(filepath.Join(dir, "b.yaml"), []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
		err := fix.Write(dir, changes)
		if !errors.Is(err, fix.ErrChanged) || !strings.HasPrefix(err.Error(), "b.yaml: ") {
			t.Errorf("%q: %v", now, err)
		}
		if got := read(t, filepath.Join(dir, "a.yaml")); got != "a: 1\n" {
			t.Errorf("a.yaml was written: %q", got)
		}
	}
	if err := os.Remove(filepath.Join(dir, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := fix.Write(dir, changes); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// TestWriteKeepsModeAndMark: what is not part of the change stays, and nothing
// else is left in the directory.
func TestWriteKeepsModeAndMark(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\na: 1\n")
	name := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(name, []byte("\ufeffa: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	// A chart's files are read without the mark.
	if err := fix.Write(dir, []fix.Change{{File: "a.yaml", Before: "a: 1\n", After: "a: 2\n"}}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, name); got != "\ufeffa: 2\n" {
		t.Errorf("%q", got)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestWriteAndLinks: a link is followed inside of its tree, and stays a link; one
// that leaves it is refused.
func TestWriteAndLinks(t *testing.T) {
	outside := testtree.Parse(t, "-- far.yaml --\na: 1\n")
	dir := testtree.Parse(t, "-- real/a.yaml --\na: 1\n")
	for link, to := range map[string]string{"a.yaml": "real/a.yaml", "far.yaml": filepath.Join(outside, "far.yaml"), "elsewhere": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	change := func(file string) []fix.Change { return []fix.Change{{File: file, Before: "a: 1\n", After: "a: 2\n"}} }
	for _, file := range []string{"far.yaml", "elsewhere/far.yaml"} {
		if err := fix.Write(dir, change(file)); !errors.Is(err, fix.ErrOutside) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if got := read(t, filepath.Join(outside, "far.yaml")); got != "a: 1\n" {
		t.Errorf("outside: %q", got)
	}
	if err := fix.Write(dir, change("a.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "real", "a.yaml")); got != "a: 2\n" {
		t.Errorf("inside: %q", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "a.yaml")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// TestWriteHeedsPermissions: a file that may not be written is not replaced.
func TestWriteHeedsPermissions(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not hold here")
	}
	dir := testtree.Parse(t, "-- a.yaml --\na: 1\n")
	if err := os.Chmod(filepath.Join(dir, "a.yaml"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := fix.Write(dir, []fix.Change{{File: "a.yaml", Before: "a: 1\n", After: "a: 2\n"}}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
