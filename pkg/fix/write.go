package fix

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/loader"
)

// Why a file is not written.
var (
	// ErrChanged: it is not what was linted any more.
	ErrChanged = errors.New("it was changed since it was linted; run vpnlint fix again")
	// ErrOutside: it is a link that leads out of the tree.
	ErrOutside = errors.New("it is a symbolic link that leaves the tree; change the file that it leads to")
	// ErrSeveralNames: it has hard links, and only one of them would be changed.
	ErrSeveralNames = errors.New("it has several names (hard links), and only this one would lead to the new text; make it a file of its own first")
)

// mark is a byte order mark, which the loader drops where Helm does.
const mark = "\ufeff"

// Write replaces the content of files by what the changes make of them. All of
// them are looked at first: when one is not what was linted, none is written.
// The error names the file, and those that were written before it.
// Each is replaced at once, with its mode and owner, never half; a link is followed within
// its tree only. dir is the directory that the changes' paths are relative to.
func Write(dir string, changes []Change) error {
	files := make([]*target, len(changes))
	defer func() {
		for _, f := range files {
			if f != nil {
				_ = f.root.Close()
			}
		}
	}()
	for i := range changes {
		f, err := openTarget(dir, &changes[i])
		if err != nil {
			return fmt.Errorf("%s: %w", changes[i].File, err)
		}
		files[i] = f
	}
	for i, f := range files {
		if err := f.write(); err != nil {
			err = fmt.Errorf("%s: %w", changes[i].File, err)
			for _, done := range changes[:i] {
				err = fmt.Errorf("%w; %s was written", err, done.File)
			}
			return err
		}
	}
	return nil
}

// target is a file that is to be written, seen from the root of its tree.
type target struct {
	root   *os.Root
	name   string
	change *Change
	info   fs.FileInfo
}

func openTarget(dir string, c *Change) (*target, error) {
	abs := filepath.FromSlash(c.File)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(dir, abs)
	}
	above := loader.TreeRoot(filepath.Dir(abs))
	if _, err := os.Lstat(filepath.Join(above, ".git")); err != nil {
		// No work tree: what lies in the working directory is a tree.
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			above = dir
		}
	}
	top, err := filepath.EvalSymlinks(above)
	if err != nil {
		return nil, plain(err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, plain(err)
	}
	name, err := filepath.Rel(top, resolved)
	if err != nil || !filepath.IsLocal(name) {
		return nil, ErrOutside
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, plain(err)
	}
	t := &target{root: root, name: name, change: c}
	if err := t.check(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return t, nil
}

// plain drops the path of an error of the os package: the caller names it.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// check refuses a file that is not what was linted, or that may not be written.
func (t *target) check() error {
	f, err := t.root.OpenFile(t.name, os.O_RDWR, 0)
	if err != nil {
		return plain(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return plain(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	if names(info) > 1 {
		return ErrSeveralNames
	}
	t.info = info
	now, err := io.ReadAll(io.LimitReader(f, int64(len(t.change.Before)+len(mark)+1)))
	if err != nil {
		return plain(err)
	}
	if strings.TrimPrefix(string(now), mark) != strings.TrimPrefix(t.change.Before, mark) {
		return ErrChanged
	}
	return nil
}

func (t *target) write() error {
	if err := t.check(); err != nil {
		return err
	}
	text := t.change.After
	if has, err := t.startsWithMark(); err != nil {
		return err
	} else if has && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	f, temporary, err := t.temporary()
	if err != nil {
		return plain(err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, keepOwner(f, t.info), f.Chmod(t.info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = t.root.Rename(temporary, t.name)
	}
	if err != nil {
		return errors.Join(plain(err), t.root.Remove(temporary))
	}
	return nil
}

func (t *target) startsWithMark() (bool, error) {
	f, err := t.root.Open(t.name)
	if err != nil {
		return false, plain(err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(mark))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, plain(err)
	}
	return string(head[:n]) == mark, nil
}

// temporary makes a file next to the target that nothing takes for a manifest.
func (t *target) temporary() (*os.File, string, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(t.name), "."+filepath.Base(t.name)+".vpnlint-"+strconv.Itoa(n))
		f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) || n > 100 {
			return f, name, err
		}
	}
}
