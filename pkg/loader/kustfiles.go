package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// errNamedFilesOnly is what a build gets that wants to list files or to write
// them: it has no reason to.
var errNamedFilesOnly = errors.New("a build only reads files by their names")

// graphFiles are the files of a graph as kustomize sees them, below "/". The
// file system in memory that the library brings refuses names which every disk
// takes: one with a blank, a plus or an at sign in a directory's name would lose
// the whole build.
type graphFiles struct {
	files map[string][]byte
	dirs  map[string]bool
}

func newGraphFiles(files []wireFile) *graphFiles {
	g := &graphFiles{files: map[string][]byte{}, dirs: map[string]bool{"/": true}}
	for _, f := range files {
		name := inGraph(f.Name)
		g.files[name] = f.Data
		for dir := path.Dir(name); !g.dirs[dir]; dir = path.Dir(dir) {
			g.dirs[dir] = true
		}
	}
	return g
}

// inGraph is a path of the graph; relative ones start at its root.
func inGraph(name string) string { return path.Clean("/" + name) }

func (g *graphFiles) missing(name string) error {
	return fmt.Errorf("'%s' doesn't exist%w", name, silent{fs.ErrNotExist})
}

// silent is an error that errors.Is finds and that adds no words: the library's
// sentence is what people know.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

func (g *graphFiles) Exists(name string) bool {
	_, isFile := g.files[inGraph(name)]
	return name != "" && (isFile || g.dirs[inGraph(name)])
}

func (g *graphFiles) IsDir(name string) bool { return name != "" && g.dirs[inGraph(name)] }

func (g *graphFiles) ReadFile(name string) ([]byte, error) {
	data, ok := g.files[inGraph(name)]
	switch {
	case name != "" && g.dirs[inGraph(name)]:
		return nil, fmt.Errorf("cannot read content from non-file '%s'", name)
	case !ok:
		return nil, g.missing(name)
	}
	// The library may change what it reads.
	return append([]byte(nil), data...), nil
}

func (g *graphFiles) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	switch p := inGraph(name); {
	case !g.Exists(name):
		return "", "", g.missing(name)
	case g.dirs[p]:
		return filesys.ConfirmedDir(p), "", nil
	default:
		return filesys.ConfirmedDir(path.Dir(p)), path.Base(p), nil
	}
}

// What follows is for programs that write into a tree or list it; a build does
// neither.

func (*graphFiles) Create(string) (filesys.File, error)  { return nil, errNamedFilesOnly }
func (*graphFiles) Open(string) (filesys.File, error)    { return nil, errNamedFilesOnly }
func (*graphFiles) Mkdir(string) error                   { return errNamedFilesOnly }
func (*graphFiles) MkdirAll(string) error                { return errNamedFilesOnly }
func (*graphFiles) RemoveAll(string) error               { return errNamedFilesOnly }
func (*graphFiles) WriteFile(string, []byte) error       { return errNamedFilesOnly }
func (*graphFiles) ReadDir(string) ([]string, error)     { return nil, errNamedFilesOnly }
func (*graphFiles) Glob(string) ([]string, error)        { return nil, errNamedFilesOnly }
func (*graphFiles) Walk(string, filepath.WalkFunc) error { return errNamedFilesOnly }
