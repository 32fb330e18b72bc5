package loader

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// A packed chart is read in memory and never written to disk. Its files have no
// place of their own in the tree: they are named as if the archive were a
// directory while the chart is rendered, and what is said of them is then said
// of the archive, with the file inside in Location.Inner.

// isArchiveName reports whether a file may be a packed chart.
func isArchiveName(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

var (
	errNoChart = errors.New("it holds no chart: there is no Chart.yaml in its only directory")
	errTorn    = errors.New("the archive breaks off; pack the chart again, or download it again")
	errDamaged = errors.New("the archive is damaged; pack the chart again, or download it again")
)

// archiveFile is one file of a packed chart; its name is the path inside the
// chart's directory.
type archiveFile struct{ name, text string }

// unpackChart reads the files of a packed chart. Names that lead out of the archive
// and links are refused, as is what does not stay within the limits when it is
// unpacked: Limits.FileBytes a file, Limits.OutputBytes together. With an error
// come the files before it.
func unpackChart(packed io.Reader, limits Limits) ([]archiveFile, error) {
	zipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("it is no gzip archive: %w", err)
	}
	defer func() { _ = zipped.Close() }()
	// Bound what comes out of gzip, for a bomb need not be in any file.
	all := &io.LimitedReader{R: zipped, N: limits.OutputBytes + 1}
	in := tar.NewReader(all)
	tooLarge := fmt.Errorf("%w: it unpacks to more than %d bytes (raise --limit-output-bytes to read it)", errTooLarge, limits.OutputBytes)
	var out []archiveFile
	for {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			// The checksum stands behind the end of the tar archive.
			if _, rest := io.Copy(io.Discard, all); isDamage(rest) {
				err = rest
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if all.N == 0 {
				return out, tooLarge
			}
			if len(out) == 0 {
				return nil, errNoChart
			}
			return out, nil
		case all.N == 0:
			return out, tooLarge
		case err != nil:
			return out, brokenArchive(err, "it is no tar archive")
		case head.Typeflag == tar.TypeXGlobalHeader, head.FileInfo().IsDir():
			continue
		}
		name, err := innerName(head)
		if err != nil {
			return out, err
		}
		if len(out) == maxChartFiles {
			return out, errManyFiles
		}
		text, err := readLimited(in, limits.FileBytes, head.Size)
		if all.N == 0 {
			return out, tooLarge
		}
		if err != nil {
			return out, brokenArchive(err, fmt.Sprintf("its file %q", name))
		}
		out = append(out, archiveFile{name, strings.TrimPrefix(text, "\ufeff")})
	}
}

// brokenArchive words the error with which the reading of an archive, or of what it
// holds, has ended.
func brokenArchive(err error, what string) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errTorn
	case isDamage(err):
		return errDamaged
	}
	return fmt.Errorf("%s: %w", what, err)
}

// isDamage reports whether an error says that bytes of an archive have changed.
func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

// innerName is the name of an archive's file below the chart's directory.
func innerName(head *tar.Header) (string, error) {
	full := strings.ReplaceAll(head.Name, `\`, "/") // as packed on Windows
	dir, name, ok := strings.Cut(strings.TrimPrefix(full, "./"), "/")
	switch {
	case head.Typeflag != tar.TypeReg:
		return "", fmt.Errorf("its entry %q is a link or device, which is not followed; pack the chart with helm package", head.Name)
	case path.IsAbs(full) || slices.Contains(strings.Split(full, "/"), "..") || strings.Contains(dir, ":") || strings.Contains(name, ":"):
		return "", fmt.Errorf("its entry %q leads out of the archive; pack the chart with helm package", head.Name)
	case !ok || path.Clean(name) == ".":
		return "", fmt.Errorf("its entry %q is not in the chart's directory; pack the chart with helm package", head.Name)
	}
	return path.Clean(name), nil
}

// chartAt is where a chart is: a directory of a tree, or an archive in it.
type chartAt struct {
	t   *tree
	dir string // tree path
	// packed are the files of an archive, nil for a directory.
	packed map[string]*source.File
	// readings are what its renders have in common; nil for a chart that is
	// rendered once.
	readings *chartReadings
	given    map[string]target // copies of charts for dependencies that it lacks
}

// openChart finds out whether the chart at a tree path is packed, and reads it
// if so.
func openChart(t *tree, name string, limits Limits) (chartAt, *finding.Gap) {
	at := chartAt{t: t, dir: name, readings: newChartReadings()}
	if !isArchiveName(name) || !t.isFile(name) {
		return at, nil
	}
	files, err := readArchive(t, name, limits)
	if err != nil {
		g := unreadable(t.display(name), err)
		g.What, g.Consequence = "the packed chart could not be read", "none of the chart's objects were checked"
		return at, &g
	}
	at.packed = map[string]*source.File{}
	for _, f := range files {
		at.packed[f.name] = source.NewFile(t.display(name)+"/"+f.name, f.text)
	}
	return at, nil
}

// readArchive reads a packed chart. With an error come the files before it.
func readArchive(t *tree, name string, limits Limits) ([]archiveFile, error) {
	packed, err := t.readFile(name)
	if err != nil {
		return nil, err
	}
	files, err := unpackChart(strings.NewReader(packed.Text()), limits)
	if err == nil && !holdChart(files) {
		err = errNoChart
	}
	return files, err
}

// holdChart reports whether files of an archive are those of a chart.
func holdChart(files []archiveFile) bool {
	return slices.ContainsFunc(files, func(f archiveFile) bool { return f.name == "Chart.yaml" })
}

// archive is the shown path of the chart's archive, "" for a directory.
func (at chartAt) archive() string {
	if at.packed == nil {
		return ""
	}
	return at.t.display(at.dir)
}

// unit is the directory that decides which cluster the chart belongs to.
func (at chartAt) unit() string {
	if at.packed != nil {
		return at.t.display(path.Dir(at.dir))
	}
	return at.t.display(at.dir)
}

// packedGap says of the archive what a gap says of a file inside.
func packedGap(archive string, g finding.Gap) finding.Gap {
	if inner, ok := strings.CutPrefix(g.File, archive+"/"); ok {
		if g.Line > 0 {
			inner = fmt.Sprintf("%s:%d", inner, g.Line)
		}
		g.File, g.Line = archive, 0
		g.What += " (" + inner + " in the archive)"
	}
	return g
}

// packedOrigin says of the archive what an origin says of files inside.
type packedOrigin struct {
	inner   source.Origin
	archive string
}

// Locate implements source.Origin.
func (o packedOrigin) Locate(r source.Ref) source.Provenance {
	p := o.inner.Locate(r)
	p.Primary = o.at(p.Primary)
	p.Values = o.values(p.Values)
	p.Guards, p.Absent = o.guards(p.Guards), o.guards(p.Absent)
	p.Via = slices.Clone(p.Via)
	for i := range p.Via {
		p.Via[i].At = o.at(p.Via[i].At)
	}
	return p
}

func (o packedOrigin) at(l source.Location) source.Location {
	inner, ok := strings.CutPrefix(l.File, o.archive+"/")
	if !ok {
		return l
	}
	if l.Precision != source.WholeFile && l.Span.Start.Line > 0 {
		inner = fmt.Sprintf("%s:%d:%d", inner, l.Span.Start.Line, l.Span.Start.Column)
	}
	return source.Location{File: o.archive, Precision: source.WholeFile, Inner: inner}
}

func (o packedOrigin) values(in []source.ValueRef) []source.ValueRef {
	out := slices.Clone(in)
	for i := range out {
		out[i].At = o.at(out[i].At)
	}
	return out
}

func (o packedOrigin) guards(in []source.Guard) []source.Guard {
	out := slices.Clone(in)
	for i := range out {
		out[i].At = o.at(out[i].At)
		out[i].Reads = o.values(out[i].Reads)
	}
	return out
}
