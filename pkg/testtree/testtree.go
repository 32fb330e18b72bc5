// Package testtree holds what the tests of several packages share: trees of
// files, and the regions of a SARIF report, which must lie in them. Nothing but
// tests imports it.
package testtree

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// Write writes files, by their path with forward slashes, into a fresh directory
// and returns it. A path that leads out of the directory fails the test.
func Write(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		write(tb, dir, name, []byte(text))
	}
	return dir
}

// Unpack writes the files of an archive into a fresh directory and returns it. Of
// two with one name the last counts.
func Unpack(tb testing.TB, files []txtar.File) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, f := range files {
		write(tb, dir, f.Name, f.Data)
	}
	return dir
}

// Parse unpacks the text of an archive.
func Parse(tb testing.TB, archive string) string {
	tb.Helper()
	return Unpack(tb, txtar.Parse([]byte(archive)).Files)
}

func write(tb testing.TB, dir, name string, data []byte) {
	tb.Helper()
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		tb.Fatalf("%q leads out of the directory", name)
	}
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		tb.Fatal(err)
	}
}
