// Package report writes a finished report in one of the output formats. Each
// format is a pure writer over the same sorted value and decides nothing.
package report

import (
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Report is the result of a run, sorted once by pkg/lint.
type Report struct {
	Version  string // of vpnlint
	Findings []finding.Finding
	Gaps     []finding.Gap
	Plan     cidrplan.Plan
	Rules    []finding.RuleMeta // every rule that ran, sorted by id
	Summary  Summary
	// ValueSets are the names of all the value sets of the run; with more than
	// one, findings show theirs.
	ValueSets []string
	// Clusters are the names of the plan's clusters; with more than one, findings
	// show theirs.
	Clusters []string
	// Skipped are the files that were passed over, for --verbose.
	Skipped []Skip
	// Files hold the texts that locations point into, for excerpts and columns.
	Files map[string]*source.File
}

// defaultSet is the value set of a chart's defaults, as pkg/loader names it.
const defaultSet = "default"

// showsSets reports whether a finding's value sets say something.
func (r Report) showsSets(f *finding.Finding) bool {
	n := len(f.ValueSets)
	return n > 0 && (len(r.ValueSets) > 1 || n > 1 || f.ValueSets[0] != defaultSet)
}

// clustersOf says for which clusters a finding holds, "" where that says nothing.
func (r Report) clustersOf(f *finding.Finding) string {
	n := len(f.Clusters)
	if n == 0 || n == 1 && len(r.Clusters) < 2 {
		return ""
	}
	if n == 1 {
		return "cluster " + f.Clusters[0]
	}
	return "clusters " + strings.Join(f.Clusters, ", ")
}

// Skip is a file that was passed over, and why.
type Skip struct{ Path, Why string }

// Summary counts a report. Suppressed findings are counted apart.
type Summary struct {
	Inputs     int `json:"inputs"`
	Objects    int `json:"objects"`
	Errors     int `json:"errors"`
	Warnings   int `json:"warnings"`
	Notes      int `json:"notes"`
	Suppressed int `json:"suppressed"`
	Gaps       int `json:"gaps"`
}

// Options are what a format may need besides the report.
type Options struct {
	Color bool
	// Width of the terminal in columns; 0: 100.
	Width int
	// SourceRoot is the directory (absolute) that SARIF URIs are relative to,
	// and Dir the working directory that the report's paths are relative to.
	SourceRoot string
	Dir        string
	// Links is the address (URL or relative path) below which an address map
	// finds the files; "" for the directory of the map itself.
	Links string
}
