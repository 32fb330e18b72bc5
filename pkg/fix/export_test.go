package fix

import "github.com/vpnlint/vpnlint/pkg/report"

// Changes are what the smallest fixes of a report make of its files, whether they
// agree or not.
func Changes(r *report.Report) ([]Change, error) { return changesOf(r, choices(r)) }
