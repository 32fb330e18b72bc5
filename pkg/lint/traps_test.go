package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// Each file of testdata/traps is a manifest over which a hasty rule says
// something wrong. Its header says which findings must never be made of it (a
// rule, the beginning of one, or a rule with a severity), and what must be said
// instead, or of which object:
//
//	# never: VPN101 error, VPN109
//	# says: VPN101 warning, VPN108 note openvpn
func TestTraps(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	files, err := filepath.Glob(filepath.Join(root, "testdata", "traps", "*.yaml"))
	if err != nil || len(files) < 22 {
		t.Fatalf("%d traps, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			never, says := trapHeader(string(text), "# never: "), trapHeader(string(text), "# says: ")
			if len(never)+len(says) == 0 {
				t.Fatal("it expects nothing")
			}
			r := run(t, root, file)
			if r.Summary.Objects == 0 {
				t.Error("nothing in it was read")
			}
			for _, f := range r.Findings {
				for _, n := range never {
					if matchesTrap(f, n) {
						t.Errorf("%s %s of %s: %s", f.Severity, f.Rule, f.Object.Name, f.Message)
					}
				}
			}
			for _, s := range says {
				found := false
				for _, f := range r.Findings {
					found = found || matchesTrap(f, s)
				}
				if !found {
					t.Errorf("%s is not said", s)
				}
			}
		})
	}
}

func trapHeader(text, key string) []string {
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(line, key); ok {
			return strings.Split(strings.TrimSpace(list), ", ")
		}
	}
	return nil
}

func matchesTrap(f finding.Finding, pattern string) bool {
	rule, rest, _ := strings.Cut(pattern, " ")
	severity, object, _ := strings.Cut(rest, " ")
	return strings.HasPrefix(f.Rule, rule) && (severity == "" || string(f.Severity) == severity) &&
		(object == "" || f.Object.Name == object)
}
