package finding

import "github.com/vpnlint/vpnlint/pkg/source"

// GapKind says why something was not seen, and so whether it fails the run.
type GapKind string

const (
	// Unreadable: it could not be parsed, rendered or built, or broke a limit.
	// It makes the run fail (exit code 3).
	Unreadable GapKind = "unreadable"
	// Unresolved: a value lives where vpnlint cannot see it (a Secret that is
	// not in the tree, a ${VAR}, an image's volume).
	Unresolved GapKind = "unresolved"
	// Unmodelled: it was seen but vpnlint does not understand it.
	Unmodelled GapKind = "unmodelled"
)

// Gap is something that vpnlint could not see, with what follows from that.
// Gaps are results: every format shows them.
type Gap struct {
	Kind GapKind `json:"kind"`
	File string  `json:"file"`
	// Line is 1-based; 0 when no line is known.
	Line int `json:"line,omitempty"`
	// What was not seen, why, and what that means for the report. Why ends in
	// what the user can do about it.
	What        string      `json:"what"`
	Why         string      `json:"why"`
	Consequence string      `json:"consequence"`
	Object      *ObjectName `json:"object,omitempty"`
	// At is the symbolic place for gaps that facts find; pkg/lint turns it into
	// File and Line.
	At source.Ref `json:"-"`
	// Rules that stay silent because of it.
	Rules []string `json:"rules,omitempty"`
}
