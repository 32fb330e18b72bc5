package report

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// A message that begins with its cluster needs no second mention.
func TestTheClusterIsNamedOnce(t *testing.T) {
	r := Report{Clusters: []string{"lab", "prod"}}
	for message, want := range map[string]string{
		"in cluster prod, the client pool is common": "", "the pool is common": "cluster prod", "in cluster production, it is": "cluster prod",
	} {
		if got := r.clustersOf(&finding.Finding{Message: message, Clusters: []string{"prod"}}); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
