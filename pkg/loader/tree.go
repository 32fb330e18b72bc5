package loader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// tree is a read-only view of a directory tree that cannot be left: a symbolic
// link that points out of it fails as if it were broken. Its paths are slash
// paths relative to its root. It is safe for concurrent use.
type tree struct {
	root *os.Root
	// dir is the root's own path, links resolved; shown is the same relative to
	// the working directory, "." for the working directory itself.
	dir, shown string
	// below is the working directory as seen from the root, "" when it is the root
	// or lies elsewhere.
	below     string
	fileBytes int64
	overlaid  []overlaid
	replays   replays
}

// openTree opens the directory dir; opts.Dir decides how paths are shown.
func openTree(dir string, opts Options) (*tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the tree %s: %w", dir, err)
	}
	t := &tree{root: root, dir: dir, shown: shownPath(opts.Dir, dir), fileBytes: opts.Limits.withDefaults().FileBytes, overlaid: opts.overlaid}
	if below, err := filepath.Rel(dir, opts.Dir); err == nil && below != "." && filepath.IsLocal(below) {
		t.below = below
	}
	return t, nil
}

func (t *tree) close() { _ = t.root.Close() }

// shownPath returns the absolute path abs as people write it from dir.
func shownPath(dir, abs string) string {
	if rel, err := filepath.Rel(dir, abs); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// Reasons why a path of a tree cannot be read; each names what can be done.
var (
	errNotRegular = errors.New("it is no regular file")
	errLeavesTree = errors.New("it is a symbolic link that leaves the tree, or one of a loop")
	errTooLarge   = errors.New("it is too large")
)

// pathError says which file of a tree could not be read and why.
type pathError struct {
	shown string
	err   error
}

func (e *pathError) Error() string { return e.shown + ": " + e.why() }
func (e *pathError) Unwrap() error { return e.err }

// why is the message without the path, for a finding.Gap.
func (e *pathError) why() string {
	var pe *fs.PathError
	switch {
	case errors.Is(e.err, errLeavesTree):
		return errLeavesTree.Error()
	case errors.As(e.err, &pe):
		return pe.Err.Error()
	}
	return e.err.Error()
}

func (t *tree) fail(name string, err error) error {
	// The os package keeps its "path escapes from parent" to itself.
	if err != nil && (strings.Contains(err.Error(), "escapes from parent") || strings.Contains(err.Error(), "too many levels of symbolic links") ||
		strings.Contains(err.Error(), "too many symbolic links") || strings.Contains(err.Error(), "too many links")) {
		err = fmt.Errorf("%w (%w)", errLeavesTree, err)
	}
	return &pathError{shown: t.display(name), err: err}
}

// stat describes what name leads to, links followed inside the tree.
func (t *tree) stat(name string) (fs.FileInfo, error) {
	info, err := t.root.Stat(filepath.FromSlash(cleanPath(name)))
	if err != nil {
		return nil, t.fail(name, err)
	}
	return info, nil
}

// isDir reports whether name leads to a directory of the tree.
func (t *tree) isDir(name string) bool {
	info, err := t.stat(name)
	return err == nil && info.IsDir()
}

// isFile reports whether name leads to a regular file of the tree.
func (t *tree) isFile(name string) bool {
	info, err := t.stat(name)
	return err == nil && info.Mode().IsRegular()
}

// readFile reads a regular file of at most Limits.FileBytes. The error names
// the file as shown and is a *pathError.
func (t *tree) readFile(name string) (*source.File, error) {
	// A named pipe would block in Open, so ask first.
	info, err := t.stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, t.fail(name, errNotRegular)
	}
	if text, ok := overlay(t.overlaid, info); ok {
		if err := withinLimit(int64(len(text)), t.fileBytes); err != nil {
			return nil, t.fail(name, err)
		}
		return source.NewFile(t.display(name), text), nil
	}
	f, err := t.root.Open(filepath.FromSlash(cleanPath(name)))
	if err != nil {
		return nil, t.fail(name, err)
	}
	defer func() { _ = f.Close() }()
	data, err := readLimited(f, t.fileBytes, info.Size())
	if err != nil {
		return nil, t.fail(name, err)
	}
	return source.NewFile(t.display(name), data), nil
}

// readLimited reads r whole unless it holds more than limit bytes. What is known
// to hold more is not read at all.
func readLimited(r io.Reader, limit, sizeHint int64) (string, error) {
	if err := withinLimit(sizeHint, limit); err != nil {
		return "", err
	}
	// One byte more than expected, so that the end is met without growing.
	data := make([]byte, 0, min(max(sizeHint, 0), limit)+1)
	r = io.LimitReader(r, limit+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		end := errors.Is(err, io.EOF)
		switch {
		case err != nil && !end:
			return "", err
		case int64(len(data)) > limit:
			return "", fmt.Errorf("%w: more than %d bytes (raise --limit-file-bytes to read it)", errTooLarge, limit)
		case end:
			return string(data), nil
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// withinLimit refuses a file of that many bytes if they are more than the limit.
func withinLimit(size, limit int64) error {
	if size > limit {
		return fmt.Errorf("%w: %d bytes, more than the limit of %d (raise --limit-file-bytes to read it)", errTooLarge, size, limit)
	}
	return nil
}

// readDir lists a directory by name.
func (t *tree) readDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(t.root.FS(), cleanPath(name))
	if err != nil {
		return nil, t.fail(name, err)
	}
	return entries, nil
}

// display returns the path as shown: relative to Options.Dir, forward slashes.
func (t *tree) display(name string) string {
	if filepath.IsAbs(t.shown) {
		return path.Join(t.shown, name)
	}
	if name = cleanPath(name); t.below == "" {
		return path.Join(t.shown, name)
	}
	// Options.Dir lies below the tree: the way out of it and back in is cut short.
	rel, err := filepath.Rel(t.below, filepath.FromSlash(name))
	if err != nil {
		return path.Join(t.shown, name)
	}
	return filepath.ToSlash(rel)
}

// rel returns the tree path of the absolute path abs, and false outside.
func (t *tree) rel(abs string) (string, bool) {
	rel, err := filepath.Rel(t.dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func cleanPath(name string) string {
	if name == "" {
		return "."
	}
	return path.Clean(name)
}

// unreadable is the gap of a file that could not be read.
func unreadable(name string, err error) finding.Gap {
	why := err.Error()
	var pe *pathError
	if errors.As(err, &pe) {
		name, why = pe.shown, pe.why()
	}
	return finding.Gap{
		Kind: finding.Unreadable, File: name,
		What: "the file could not be read", Why: why,
		Consequence: "whatever it declares is missing from this report",
	}
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
