package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/term"

	"github.com/vpnlint/vpnlint/pkg/report"
)

// reportOptions finds out what the output may look like: colour only on a
// terminal and never with NO_COLOR, the terminal's width, the root of paths.
func reportOptions(flags lintFlags, std streams, dir string) (report.Options, error) {
	o := report.Options{Dir: dir, Width: width(std.out)}
	switch flags.color {
	case "always":
		o.Color = true
	case "never":
	case "auto":
		_, isTerminal := terminal(std.out)
		o.Color = isTerminal && colourWanted()
	default:
		return o, fmt.Errorf("--color %q: want auto, always or never", flags.color)
	}
	o.SourceRoot = gitRoot(dir)
	if flags.sourceRoot != "" {
		root, err := filepath.Abs(flags.sourceRoot)
		if err != nil {
			return o, fmt.Errorf("--src-root: %w", err)
		}
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return o, fmt.Errorf("--src-root %s: there is no such directory", flags.sourceRoot)
		}
		o.SourceRoot = root
	}
	return o, nil
}

// colourWanted reports whether the environment lets a terminal have colours.
func colourWanted() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

func terminal(w io.Writer) (fd int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// width is the terminal's, else COLUMNS, else 0 for the format's own choice.
func width(w io.Writer) int {
	if fd, ok := terminal(w); ok {
		if columns, _, err := term.GetSize(fd); err == nil {
			return columns
		}
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return 0
}

// gitRoot returns the enclosing git work tree of dir, or dir itself.
func gitRoot(dir string) string {
	for d := dir; ; {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		parent := filepath.Dir(d)
		if parent == d {
			return dir
		}
		d = parent
	}
}
