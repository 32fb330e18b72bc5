package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// In a table a message that begins with its cluster needs no second mention.
func TestATableNamesTheClusterOnce(t *testing.T) {
	for message, want := range map[string]int{"in cluster prod, the pool": 0, "the pool": 1, "in cluster production, it": 1} {
		var out bytes.Buffer
		r := report.Report{Clusters: []string{"lab", "prod"}, Findings: []finding.Finding{{
			Rule: "VPN406", Severity: finding.Note, Message: message, Clusters: []string{"prod"},
		}}}
		if err := report.Table(&out, r, report.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "(cluster prod)"); got != want {
			t.Errorf("%q: %d, want %d:\n%s", message, got, want, out.String())
		}
	}
}
