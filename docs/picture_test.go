// Package docs_test keeps the documentation true: the picture in the README is
// what the program prints, and the workflows in it are valid.
package docs_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

var update = flag.Bool("update", false, "draw the picture anew")

// The picture shows this command, at this width.
const (
	pictured = "vpnlint lint examples/VPN101/bad"
	columns  = 100
)

// TestPicture compares docs/output.svg with what the program prints.
func TestPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	binary := filepath.Join(t.TempDir(), "vpnlint")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../cmd/vpnlint")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	args := slices.Concat(strings.Fields(pictured)[1:], []string{"--color", "always"})
	run := exec.CommandContext(t.Context(), binary, args...)
	run.Dir = ".."
	run.Env = append(os.Environ(), fmt.Sprintf("COLUMNS=%d", columns))
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("running %s: %v\n%s", pictured, err, &stderr)
	}
	got := svg("\x1b[2m$\x1b[0m " + pictured + "\n" + string(out))
	if *update {
		if err := os.WriteFile("output.svg", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("output.svg")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the output has changed since docs/output.svg was drawn: look at it and run `go test ./docs -update`\n%s", out)
	}
}

// Sizes of a character and of the frame, in pixels.
const (
	cellWidth  = 8.4
	lineHeight = 19
	margin     = 16
)

// styles are the classes of the picture and their colours on light and dark
// ground, by the codes that the program writes.
var styles = []struct{ code, class, light, dark, more string }{
	{"1", "b", "#1f2328", "#f0f6fc", "font-weight:bold"},
	{"2", "d", "#6e7781", "#8b949e", ""},
	{"31", "r", "#cf222e", "#ff7b72", ""},
	{"32", "g", "#116329", "#7ee787", ""},
	{"36", "c", "#0550ae", "#79c0ff", ""},
	{"1;31", "e", "#cf222e", "#ff7b72", "font-weight:bold"},
	{"1;33", "w", "#9a6700", "#e3b341", "font-weight:bold"},
	{"1;34", "n", "#0969da", "#58a6ff", "font-weight:bold"},
	{"1;35", "u", "#8250df", "#d2a8ff", "font-weight:bold"},
}

// svg draws the output of a terminal. The reader's own scheme decides between
// light and dark. Every line is stretched to its cells, so that marks stand
// right in whatever font there is.
func svg(output string) string {
	var lines [][]part
	for line := range strings.SplitSeq(strings.TrimRight(output, "\n"), "\n") {
		lines = append(lines, broken(parts(line))...)
	}
	var body strings.Builder
	for i, line := range lines {
		var text strings.Builder
		cells := 0
		for _, part := range line {
			cells += displaywidth.String(part.text)
			if part.class == "" {
				text.WriteString(html.EscapeString(part.text))
				continue
			}
			fmt.Fprintf(&text, `<tspan class="%s">%s</tspan>`, part.class, html.EscapeString(part.text))
		}
		if cells > 0 {
			fmt.Fprintf(&body, "<text x=\"%d\" y=\"%d\" textLength=\"%.1f\">%s</text>\n",
				margin, margin+14+i*lineHeight, float64(cells)*cellWidth, &text)
		}
	}
	width, height := int(columns*cellWidth)+2*margin, len(lines)*lineHeight+2*margin

	var out strings.Builder
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
		width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n<style>\n", html.EscapeString(pictured))
	out.WriteString("text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#1f2328;white-space:pre}\n")
	out.WriteString("rect{fill:#ffffff;stroke:#d0d7de}\n")
	for _, s := range styles {
		fmt.Fprintf(&out, ".%s{fill:%s;%s}\n", s.class, s.light, s.more)
	}
	out.WriteString("@media (prefers-color-scheme: dark){\ntext{fill:#e6edf3}\nrect{fill:#0d1117;stroke:#30363d}\n")
	for _, s := range styles {
		fmt.Fprintf(&out, ".%s{fill:%s}\n", s.class, s.dark)
	}
	out.WriteString("}\n</style>\n")
	fmt.Fprintf(&out, "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width-1, height-1)
	out.WriteString(body.String())
	out.WriteString("</svg>\n")
	return out.String()
}

// broken breaks a line where a terminal does: at its last column.
func broken(line []part) [][]part {
	var out [][]part
	var row []part
	room := columns
	for _, p := range line {
		graphemes := displaywidth.StringGraphemes(p.text)
		start, end := 0, 0
		for graphemes.Next() {
			if graphemes.Width() > room {
				out = append(out, append(row, part{p.class, p.text[start:end]}))
				row, room, start = nil, columns, end
			}
			end += len(graphemes.Value())
			room -= graphemes.Width()
		}
		row = append(row, part{p.class, p.text[start:end]})
	}
	return append(out, row)
}

type part struct{ class, text string }

// parts splits a line at its escape sequences.
func parts(line string) []part {
	var out []part
	class := ""
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			out = append(out, part{class, text})
		}
		if !found {
			break
		}
		code, after, _ := strings.Cut(rest, "m")
		class = ""
		for _, s := range styles {
			if s.code == code {
				class = s.class
			}
		}
		line = after
	}
	return out
}
