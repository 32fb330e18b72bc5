package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/fix"
)

// A file's name is no part of the patch: git takes the diff of each as it takes its
// own, and no name becomes lines of another file's.
func TestDiffNamesOnlyItsFile(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	for _, name := range []string{
		"plain.yaml", "sp ace.yaml", "t\tab.yaml", `q"uo\te.yaml`, "ü.yaml", "a\x1b[31m.yaml",
		"x\n--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-good\n+evil\ndiff .yaml",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		const before, after = "a: 1\nb: 2\n", "a: 1\nb: 3\n"
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		for at, text := range map[string]string{file: before, filepath.Join(dir, "run.sh"): "good\n"} {
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(git, "apply")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(fileDiff(fix.Change{File: name, Before: before, After: after}))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s", name, err, out)
			continue
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != after {
			t.Errorf("%q: %q, %v", name, text, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "run.sh")); err != nil || string(text) != "good\n" {
			t.Errorf("%q changes another file: %q, %v", name, text, err)
		}
	}
	if fileDiff(fix.Change{File: "a.yaml", Before: "a\n", After: "a\n"}) != "" {
		t.Error("a diff of nothing")
	}
}

// git apply takes no name that leads upwards: a diff of files above the working
// directory is one for the directory that they are in.
func TestDiffOfFilesAbove(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	changes := make([]fix.Change, 0, 3)
	for _, name := range []string{"here.yaml", "../beside/a.yaml", "../../top.yaml"} {
		writeFile(t, filepath.Join(dir, "team", "work", name), "a: 1\n")
		changes = append(changes, fix.Change{File: name, Before: "a: 1\n", After: "a: 2\n"})
	}
	text := diffOf(filepath.Join(dir, "team", "work"), changes)
	if !strings.HasPrefix(text, "# for the directory ../..: git -C ../.. apply, or patch -p1 -d ../..\n") {
		t.Errorf("got %s", text)
	}
	cmd := exec.Command(git, "-C", "../..", "apply")
	cmd.Dir, cmd.Stdin = filepath.Join(dir, "team", "work"), strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range changes {
		if got, err := os.ReadFile(filepath.Join(dir, "team", "work", c.File)); err != nil || string(got) != c.After {
			t.Errorf("%s: %q, %v", c.File, got, err)
		}
	}
}
