//go:build unix

package fix_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestWriteKeepsOwner: a file that root writes stays somebody else's.
func TestWriteKeepsOwner(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\na: 1\n")
	name := filepath.Join(dir, "a.yaml")
	if err := os.Chown(name, 12345, 23456); err != nil {
		t.Skip(err) // only root may
	}
	if err := fix.Write(dir, []fix.Change{{File: "a.yaml", Before: "a: 1\n", After: "a: 2\n"}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != 12345 || stat.Gid != 23456 || read(t, name) != "a: 2\n" {
		t.Errorf("%+v, %q", info.Sys(), read(t, name))
	}
}

// TestWriteRefusesSeveralNames: a file that is replaced would lose its other names,
// which then keep the old text.
func TestWriteRefusesSeveralNames(t *testing.T) {
	dir := testtree.Parse(t, "-- a.yaml --\na: 1\n-- b.yaml --\nb: 1\n")
	if err := os.Link(filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c.yaml")); err != nil {
		t.Skip(err)
	}
	changes := []fix.Change{{File: "a.yaml", Before: "a: 1\n", After: "a: 2\n"}, {File: "b.yaml", Before: "b: 1\n", After: "b: 2\n"}}
	if err := fix.Write(dir, changes); !errors.Is(err, fix.ErrSeveralNames) {
		t.Errorf("%v", err)
	}
	if got := read(t, filepath.Join(dir, "a.yaml")) + read(t, filepath.Join(dir, "b.yaml")); got != "a: 1\nb: 1\n" {
		t.Errorf("written: %q", got)
	}
}
