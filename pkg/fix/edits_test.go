package fix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
)

// TestEdits: each archive in testdata holds files as people write them and, under
// want/, what all fixes together make of them; a file that is not there is left as
// it is. \r stands for a carriage return, and \c at the end of a text for no line
// break.
func TestEdits(t *testing.T) {
	linter := newLinter(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	written := strings.NewReplacer(`\r`, "\r", "\\c\n", "")
	shown := strings.NewReplacer("\r", `\r`)
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			want := map[string]string{}
			kept := archive.Files[:0:0]
			for _, f := range archive.Files {
				if file, is := strings.CutPrefix(f.Name, "want/"); is {
					want[file] = written.Replace(string(f.Data))
					continue
				}
				kept = append(kept, f)
				path := filepath.Join(dir, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(written.Replace(string(f.Data))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			done, err := fix.All(t.Context(), linter, []string{"."}, options(t, dir), 5, func(finding.Fix) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				archive.Files = kept
				for _, c := range done.Changes {
					text := shown.Replace(c.After)
					if !strings.HasSuffix(text, "\n") {
						text += "\\c\n"
					}
					archive.Files = append(archive.Files, txtar.File{Name: "want/" + c.File, Data: []byte(text)})
				}
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !slices.ContainsFunc(done.Report.Findings, func(f finding.Finding) bool { return f.Rule == "VPN101" || f.Rule == "VPN302" }) && len(want) == 0 {
				t.Error("there is nothing to mend, so that nothing is shown")
			}
			got := map[string]string{}
			for _, c := range done.Changes {
				got[c.File] = c.After
				if c.After != want[c.File] {
					t.Errorf("%s: got\n%s\nwant\n%s", c.File, shown.Replace(c.After), shown.Replace(want[c.File]))
				}
			}
			for file := range want {
				if _, ok := got[file]; !ok {
					t.Errorf("%s: no fix", file)
				}
			}
			if err := fix.Write(dir, done.Changes); err != nil {
				t.Fatal(err)
			}
			again, err := fix.All(t.Context(), linter, []string{"."}, options(t, dir), 5, func(finding.Fix) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			if len(again.Changes) > 0 {
				t.Errorf("a second run changes %s to\n%s", again.Changes[0].File, again.Changes[0].After)
			}
		})
	}
}
