package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	options := report.Options{SourceRoot: "/repo", Dir: "/repo/deploy"}
	type golden struct {
		file   string
		format report.Format
		width  int
		color  bool
	}
	cases := []golden{
		{"awkward.json", report.FormatJSON, 0, false},
		{"awkward.sarif", report.FormatSARIF, 0, false},
		{"awkward.github", report.FormatGitHub, 0, false},
		{"awkward-color.txt", report.FormatText, 100, true},
		{"awkward-table-color.txt", report.FormatTable, 100, true},
	}
	for _, width := range []int{80, 160} {
		w := strconv.Itoa(width)
		cases = append(cases,
			golden{"awkward-" + w + ".txt", report.FormatText, width, false},
			golden{"awkward-table-" + w + ".txt", report.FormatTable, width, false},
		)
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			o := options
			o.Width, o.Color = c.width, c.color
			var out bytes.Buffer
			if err := report.Write(&out, c.format, awkward(), o); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, c.file, out.Bytes())
		})
	}
}

// compareGolden compares with a file of testdata, or rewrites it under -update.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it and run `go test ./pkg/report -update`\n--- got\n%s", path, got)
	}
}
