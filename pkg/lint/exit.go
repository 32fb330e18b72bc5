package lint

import (
	"fmt"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// The exit codes of the program.
const (
	ExitClean    = 0 // nothing at or above the threshold
	ExitFindings = 1 // a finding at or above --fail-on
	ExitUsage    = 2 // wrong flags, a path that does not exist, an internal error
	ExitGaps     = 3 // something could not be read, so the report is no pass

	ExitInterrupted = 130 // as shells report what SIGINT has ended
)

// FailOn is the severity from which a finding fails a run.
type FailOn struct {
	severity finding.Severity // "" never fails
}

// ParseFailOn reads error, warning, note or never; the error for anything else names
// the flag and these.
func ParseFailOn(s string) (FailOn, error) {
	if s == "never" {
		return FailOn{}, nil
	}
	severity, err := finding.ParseSeverity(s)
	if err != nil {
		return FailOn{}, fmt.Errorf("--fail-on %q: want error, warning, note or never", s)
	}
	return FailOn{severity: severity}, nil
}

// Policy says what makes a run fail. The zero value fails on inputs that could not be
// read, and on no finding.
type Policy struct {
	FailOn FailOn
	// AllowGaps: inputs that could not be read do not fail the run.
	AllowGaps bool
	// FailOnGaps: values that could not be seen fail the run as well.
	FailOnGaps bool
}

// ExitCode judges a report. A chart that does not render is never a pass: gaps
// of kind unreadable win over findings.
func (p Policy) ExitCode(r report.Report) int {
	for _, g := range r.Gaps {
		unreadable := g.Kind == finding.Unreadable
		if unreadable && !p.AllowGaps || !unreadable && p.FailOnGaps {
			return ExitGaps
		}
	}
	if p.FailOn.severity == "" {
		return ExitClean
	}
	for _, f := range r.Findings {
		if f.Suppressed == nil && f.Severity.AtLeast(p.FailOn.severity) {
			return ExitFindings
		}
	}
	return ExitClean
}
