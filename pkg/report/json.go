package report

import (
	_ "embed"
	"io"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// jsonVersion is the version of the JSON format; a change that breaks readers
// raises it.
const jsonVersion = "1"

//go:embed schema/report.json
var jsonSchema string

// JSONSchema returns the JSON Schema (draft 2020-12) that every output of JSON
// conforms to.
func JSONSchema() string { return jsonSchema }

// The json* types are the contract with programs: the names and their order are
// part of it, and no slice is ever null.

type jsonReport struct {
	Version  string        `json:"version"`
	Tool     jsonTool      `json:"tool"`
	Findings []jsonFinding `json:"findings"`
	Gaps     []jsonGap     `json:"gaps"`
	Plan     cidrplan.Plan `json:"plan"`
	Summary  Summary       `json:"summary"`
}

type jsonTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type jsonFinding struct {
	Rule        string             `json:"rule"`
	Name        string             `json:"name"`
	Severity    finding.Severity   `json:"severity"`
	Message     string             `json:"message"`
	Pointer     string             `json:"pointer"`
	Object      finding.ObjectName `json:"object"`
	Containers  []string           `json:"containers"`
	Clusters    []string           `json:"clusters"`
	ValueSets   []string           `json:"valueSets"`
	Primary     jsonPlace          `json:"primary"`
	Related     []jsonRelated      `json:"related"`
	Fixes       []jsonFix          `json:"fixes"`
	Verify      []string           `json:"verify"`
	Fingerprint string             `json:"fingerprint"`
	Suppressed  *jsonSuppression   `json:"suppressed"`
}

type jsonRegion struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
}

type jsonPlace struct {
	jsonRegion
	Precision source.Precision `json:"precision"`
}

type jsonRelated struct {
	jsonRegion
	Message string `json:"message"`
}

type jsonFix struct {
	Title string        `json:"title"`
	Proof finding.Proof `json:"proof"`
	Edits []jsonEdit    `json:"edits"`
	// Chart and Values are a fix by values; Review is for people.
	Chart  string         `json:"chart,omitempty"`
	Values map[string]any `json:"values,omitempty"`
	Review string         `json:"review,omitempty"`
}

type jsonEdit struct {
	jsonRegion
	Text string `json:"text"`
}

type jsonSuppression struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
	File   string `json:"file"`
	Line   int    `json:"line"`
}

type jsonGap struct {
	Kind        finding.GapKind     `json:"kind"`
	File        string              `json:"file"`
	Line        int                 `json:"line,omitempty"`
	What        string              `json:"what"`
	Why         string              `json:"why"`
	Consequence string              `json:"consequence"`
	Object      *finding.ObjectName `json:"object"`
	Rules       []string            `json:"rules"`
}

// JSON writes the report for programs: versioned, described by JSONSchema, the
// same bytes for the same report. Suppressed findings are part of it.
func JSON(w io.Writer, r Report, _ Options) error {
	out := jsonReport{
		Version:  jsonVersion,
		Tool:     jsonTool{Name: toolName, Version: r.Version},
		Findings: make([]jsonFinding, 0, len(r.Findings)),
		Gaps:     make([]jsonGap, 0, len(r.Gaps)),
		Plan:     planWithoutNull(r.Plan),
		Summary:  r.Summary,
	}
	for i := range r.Findings {
		out.Findings = append(out.Findings, findingToJSON(&r.Findings[i]))
	}
	for i := range r.Gaps {
		out.Gaps = append(out.Gaps, gapToJSON(&r.Gaps[i]))
	}
	return writeJSON(w, out)
}

func gapToJSON(g *finding.Gap) jsonGap {
	return jsonGap{
		Kind: g.Kind, File: g.File, Line: g.Line, What: g.What, Why: g.Why,
		Consequence: g.Consequence, Object: g.Object, Rules: list(g.Rules),
	}
}

func findingToJSON(f *finding.Finding) jsonFinding {
	out := jsonFinding{
		Rule: f.Rule, Name: f.Name, Severity: f.Severity, Message: f.Message,
		Pointer: f.Pointer, Object: f.Object,
		Containers: list(f.Containers), Clusters: list(f.Clusters), ValueSets: list(f.ValueSets),
		Primary: jsonPlace{jsonRegion: regionToJSON(f.Primary), Precision: precisionOf(f.Primary)},
		Related: make([]jsonRelated, 0, len(f.Related)),
		Fixes:   make([]jsonFix, 0, len(f.Fixes)),
		Verify:  list(f.Verify), Fingerprint: f.Fingerprint,
	}
	for _, n := range f.Related {
		out.Related = append(out.Related, jsonRelated{jsonRegion: regionToJSON(n.At), Message: n.Says})
	}
	for _, fix := range f.Fixes {
		jf := jsonFix{Title: fix.Title, Proof: fix.Proof, Edits: make([]jsonEdit, 0, len(fix.Edits)), Chart: fix.Chart, Values: fix.Values, Review: fix.Review}
		if jf.Proof == "" {
			jf.Proof = finding.Unproved
		}
		for _, e := range fix.Edits {
			jf.Edits = append(jf.Edits, jsonEdit{jsonRegion: regionToJSON(e.At), Text: e.Text})
		}
		out.Fixes = append(out.Fixes, jf)
	}
	if s := f.Suppressed; s != nil {
		out.Suppressed = &jsonSuppression{By: s.By, Reason: s.Reason, File: s.File, Line: max(s.Line, 1)}
	}
	return out
}

// regionToJSON keeps lines and columns 1-based: a place that is only a file is
// its first character, and its precision says that no line is meant.
func regionToJSON(l source.Location) jsonRegion {
	s := normal(l.Span)
	return jsonRegion{
		File: l.File,
		Line: s.Start.Line, Column: s.Start.Column, EndLine: s.End.Line, EndColumn: s.End.Column,
	}
}

// planWithoutNull copies the plan with empty slices for nil ones.
func planWithoutNull(p cidrplan.Plan) cidrplan.Plan {
	out := cidrplan.Plan{
		Ranges:    list(p.Ranges),
		Overlaps:  list(p.Overlaps),
		Conflicts: list(p.Conflicts),
	}
	for i := range out.Ranges {
		out.Ranges[i].Prefixes = list(out.Ranges[i].Prefixes)
		out.Ranges[i].Claims = list(out.Ranges[i].Claims)
	}
	for i := range out.Overlaps {
		out.Overlaps[i].Set = list(out.Overlaps[i].Set)
	}
	return out
}

// list returns a copy that is never nil.
func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }
