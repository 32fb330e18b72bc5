package fix_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

type sarifLog struct {
	Runs []struct {
		ColumnKind string
		Results    []struct {
			Fixes []struct{ ArtifactChanges []sarifChange }
		}
	}
}

type sarifChange struct {
	ArtifactLocation struct{ URI string }
	Replacements     []struct {
		DeletedRegion   struct{ StartLine, StartColumn, EndLine, EndColumn int }
		InsertedContent struct{ Text string }
	}
}

// TestSARIF: who applies the replacements as the standard says, by UTF-16 code
// units, gets what the fix itself makes of the file.
func TestSARIF(t *testing.T) {
	linter := newLinter(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	applied := 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
		for i := range archive.Files {
			f := &archive.Files[i]
			// Characters beyond the basic plane, where they move columns.
			f.Data = bytes.ReplaceAll(f.Data, []byte("containers:\n"), []byte("containers: # \U0001f687 é\n"))
		}
		dir := testtree.Parse(t, string(txtar.Format(archive)))
		opts := options(t, dir)
		proved, err := fix.Prove(t.Context(), linter, []string{"."}, opts)
		if err != nil {
			t.Fatal(err)
		}
		r := &proved.Report
		var out bytes.Buffer
		if err := report.SARIF(&out, *r, report.Options{Dir: dir, SourceRoot: dir}); err != nil {
			t.Fatal(err)
		}
		var log sarifLog
		if err := json.Unmarshal(out.Bytes(), &log); err != nil {
			t.Fatal(err)
		}
		if log.Runs[0].ColumnKind != "utf16CodeUnits" {
			t.Fatalf("columns are %s", log.Runs[0].ColumnKind)
		}
		for i, f := range r.Findings {
			for j, x := range f.Fixes {
				one := *r
				one.Findings = slices.Clone(r.Findings[i : i+1])
				one.Findings[0].Fixes = f.Fixes[j : j+1]
				changes, err := fix.Changes(&one)
				if err != nil {
					t.Fatal(err)
				}
				said := log.Runs[0].Results[i].Fixes[j].ArtifactChanges
				if len(said) != len(changes) {
					t.Errorf("%s: %q changes %d files, %d in SARIF", name, x.Title, len(changes), len(said))
					continue
				}
				for k, c := range changes {
					applied++
					if got := sarifApplied(c.Before, said[k]); got != c.After {
						t.Errorf("%s: %q: SARIF makes\n%s\nwant\n%s", name, x.Title, got, c.After)
					}
				}
			}
		}
	}
	if applied < 10 {
		t.Errorf("only %d fixes were compared", applied)
	}
}

func sarifApplied(text string, c sarifChange) string {
	units := utf16.Encode([]rune(text))
	offset := func(line, column int) int {
		at := 0
		for ; line > 1; line-- {
			at += slices.Index(units[at:], '\n') + 1
		}
		return at + column - 1
	}
	all := slices.Clone(c.Replacements)
	slices.SortStableFunc(all, func(a, b struct {
		DeletedRegion   struct{ StartLine, StartColumn, EndLine, EndColumn int }
		InsertedContent struct{ Text string }
	}) int {
		return -cmp.Or(cmp.Compare(a.DeletedRegion.StartLine, b.DeletedRegion.StartLine), cmp.Compare(a.DeletedRegion.StartColumn, b.DeletedRegion.StartColumn))
	})
	for _, r := range all {
		d := r.DeletedRegion
		units = slices.Replace(units, offset(d.StartLine, d.StartColumn), offset(d.EndLine, d.EndColumn), utf16.Encode([]rune(r.InsertedContent.Text))...)
	}
	return string(utf16.Decode(units))
}
