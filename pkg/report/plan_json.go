package report

import (
	_ "embed"
	"io"
	"net/netip"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// planVersion is the version of the plan's JSON format; a change that breaks
// readers raises it.
const planVersion = "1"

//go:embed schema/plan.json
var planSchema string

// PlanSchema returns the JSON Schema (draft 2020-12) of the plan's JSON.
func PlanSchema() string { return planSchema }

// The types are the contract with programs, as in json.go: names and order are
// part of it, and no slice is ever null.

type jsonPlan struct {
	Version     string           `json:"version"`
	Tool        jsonTool         `json:"tool"`
	Ranges      []jsonRange      `json:"ranges"`
	Overlaps    []jsonOverlap    `json:"overlaps"`
	Conflicts   []jsonConflict   `json:"conflicts"`
	Suggestions []jsonSuggestion `json:"suggestions"`
	Gaps        []jsonGap        `json:"gaps"`
}

type jsonRange struct {
	Cluster  string         `json:"cluster"`
	Role     cidrplan.Role  `json:"role"`
	Owner    string         `json:"owner"`
	Prefixes []netip.Prefix `json:"prefixes"`
	Claims   []jsonClaim    `json:"claims"`
}

type jsonClaim struct {
	Role     cidrplan.Role     `json:"role"`
	Owner    string            `json:"owner"`
	Prefix   netip.Prefix      `json:"prefix"`
	Says     string            `json:"says"`
	Strength cidrplan.Strength `json:"strength"`
	Idiom    cidrplan.Idiom    `json:"idiom"`
	// At is null for a default that nobody wrote.
	At *jsonPlace `json:"at"`
}

type jsonOverlap struct {
	Cluster  string            `json:"cluster"`
	Relation cidrplan.Relation `json:"relation"`
	Set      []netip.Prefix    `json:"set"`
	A        jsonClaim         `json:"a"`
	B        jsonClaim         `json:"b"`
	Breaks   string            `json:"breaks"`
	More     int               `json:"more,omitempty"`
}

type jsonConflict struct {
	Cluster string    `json:"cluster"`
	A       jsonClaim `json:"a"`
	B       jsonClaim `json:"b"`
}

type jsonSuggestion struct {
	Suggestion
	At *jsonPlace `json:"at"`
}

func planJSON(w io.Writer, p AddressPlan) error {
	out := jsonPlan{
		Version: planVersion, Tool: jsonTool{Name: toolName, Version: p.Version},
		Ranges: []jsonRange{}, Overlaps: []jsonOverlap{}, Conflicts: []jsonConflict{}, Suggestions: []jsonSuggestion{}, Gaps: []jsonGap{},
	}
	for _, r := range p.Ranges {
		one := jsonRange{Cluster: r.Cluster, Role: r.Role, Owner: r.Owner, Prefixes: list(r.Prefixes), Claims: []jsonClaim{}}
		for _, c := range r.Claims {
			one.Claims = append(one.Claims, p.jsonClaim(c))
		}
		out.Ranges = append(out.Ranges, one)
	}
	for _, o := range p.Overlaps {
		out.Overlaps = append(out.Overlaps, jsonOverlap{
			Cluster: o.Cluster, Relation: o.Relation, Set: list(o.Set),
			A: p.jsonClaim(o.A), B: p.jsonClaim(o.B), Breaks: whatBreaks(o), More: o.More,
		})
	}
	for _, c := range p.Conflicts {
		out.Conflicts = append(out.Conflicts, jsonConflict{Cluster: c.Cluster, A: p.jsonClaim(c.A), B: p.jsonClaim(c.B)})
	}
	for _, s := range p.Suggestions {
		s.Write, s.Prefixes = list(s.Write), list(s.Prefixes)
		out.Suggestions = append(out.Suggestions, jsonSuggestion{Suggestion: s, At: p.jsonAt(s.At)})
	}
	for i := range p.Gaps {
		out.Gaps = append(out.Gaps, gapToJSON(&p.Gaps[i]))
	}
	return writeJSON(w, out)
}

func (p *AddressPlan) jsonClaim(c cidrplan.Claim) jsonClaim {
	return jsonClaim{Role: c.Role, Owner: c.Owner, Prefix: c.Prefix, Says: c.Says, Strength: c.Strength, Idiom: c.Idiom, At: p.jsonAt(c.At)}
}

func (p *AddressPlan) jsonAt(ref source.Ref) *jsonPlace {
	at, ok := p.Places[ref]
	if !ok || at.File == "" {
		return nil
	}
	return &jsonPlace{jsonRegion: regionToJSON(at), Precision: precisionOf(at)}
}
