package testtree_test

import (
	"fmt"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// recorder takes down what a test would fail with.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func TestRegions(t *testing.T) {
	dir := testtree.Parse(t, "-- a/b.yaml --\nkey: \U0001F600 x\n\nend\n")
	for region, want := range map[string]string{
		`{"startLine": 1, "startColumn": 6, "endColumn": 8}`:  "",
		`{"startLine": 1, "startColumn": 6, "endColumn": 11}`: "a/b.yaml: columns 6 to 11 of line 1, which has 10",
		`{"startLine": 2, "startColumn": 1, "endColumn": 1}`:  "",
		`{"startLine": 3, "startColumn": 2, "endColumn": 2}`:  "a/b.yaml:3:2: an empty region",
		`{"startLine": 9}`: "a/b.yaml: lines 9 to 9 of 4",
		`{"startLine": 3, "startColumn": 3, "endColumn": 2}`: "a/b.yaml: columns 3 to 2 of line 3, which has 4",
	} {
		r := &recorder{TB: t}
		log := fmt.Sprintf(`{"runs": [{"artifactLocation": {"uri": "a/b.yaml"}, "region": %s}]}`, region)
		if n := testtree.Regions(r, dir, []byte(log)); n != 1 {
			t.Errorf("%s: %d regions", region, n)
		}
		if got := fmt.Sprint(r.said); want == "" && len(r.said) > 0 || want != "" && got != "["+want+"]" {
			t.Errorf("%s: said %s, want %q", region, got, want)
		}
	}
}
