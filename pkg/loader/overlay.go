package loader

import (
	"io/fs"
	"os"
)

// overlaid is one entry of Options.Overlay. A file is known by what it is, not
// by its name: a link to it reads the same content.
type overlaid struct {
	file fs.FileInfo
	text string
}

// statOverlay finds the files of Options.Overlay. The error is a *PathError.
func (o Options) statOverlay() ([]overlaid, error) {
	var out []overlaid
	for _, name := range sortedKeys(o.Overlay) {
		info, err := os.Stat(absolute(o.Dir, name))
		if err == nil && !info.Mode().IsRegular() {
			err = errNotRegular
		}
		if err != nil {
			return nil, &PathError{Path: name, Err: reason(err)}
		}
		out = append(out, overlaid{file: info, text: string(o.Overlay[name])})
	}
	return out, nil
}

// overlay returns what stands in for the content of a file, and false for a file
// that is read from disk.
func overlay(all []overlaid, file fs.FileInfo) (string, bool) {
	for _, o := range all {
		if os.SameFile(o.file, file) {
			return o.text, true
		}
	}
	return "", false
}
