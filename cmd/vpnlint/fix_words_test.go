package main

import (
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
)

// --rule tells two fixes apart only where they mend findings of two rules.
func TestConflictWords(t *testing.T) {
	t.Parallel()
	choice := func(rule string) fix.Choice { return fix.Choice{Findings: []finding.Finding{{Rule: rule}}} }
	for other, want := range map[string]bool{"VPN304": true, "VPN302": false} {
		words := fixWords(fix.Done{Conflicts: []fix.Conflict{{A: choice("VPN302"), B: choice(other), File: "a.yaml", Line: 1}}}, true)
		if got := strings.Contains(words, "--rule takes one"); got != want {
			t.Errorf("VPN302 and %s: %q", other, words)
		}
	}
}
