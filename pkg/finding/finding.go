// Package finding holds what vpnlint says: findings, the metadata of the rules
// that made them, fixes, suppressions, and the gaps that say what could not be
// seen. It judges validity only.
package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Severity is how certain and how bad a finding is.
type Severity string

// The severities. Error: the manifests themselves prove that it fails.
// Warning: it fails on ordinary clusters, or depends on something that the
// manifests do not guarantee. Note: worth writing down.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// AtLeast reports whether s is as severe as t or more.
func (s Severity) AtLeast(t Severity) bool { return s.rank() >= t.rank() }

func (s Severity) rank() int {
	switch s {
	case Error:
		return 3
	case Warning:
		return 2
	case Note:
		return 1
	default:
		return 0
	}
}

// ParseSeverity reads a severity as users write it.
func ParseSeverity(s string) (Severity, error) {
	switch sev := Severity(s); sev {
	case Error, Warning, Note:
		return sev, nil
	default:
		return "", fmt.Errorf("unknown severity %q: want error, warning or note", s)
	}
}

// RuleMeta is a rule's documentation, read from its METADATA and from nowhere
// else.
type RuleMeta struct {
	ID          string     `json:"id"`          // VPN101
	Name        string     `json:"name"`        // forwarding-not-declared
	Title       string     `json:"title"`       // one line, no full stop
	Description string     `json:"description"` // what happens to the packet, then why (Markdown)
	Severities  []Severity `json:"severities"`  // default first
	Family      string     `json:"family"`      // forwarding | masquerade | sidecar | plan | names | tool
	Claims      []Claim    `json:"claims"`
	Fires       string     `json:"fires"`              // Markdown: when it fires
	Silent      string     `json:"silent"`             // Markdown: when it stays silent
	Remedy      string     `json:"remedy"`             // what to do, one or two sentences
	Verify      []string   `json:"verify"`             // names of the verify templates it uses
	NoVerify    string     `json:"noVerify,omitempty"` // why there are none
	Since       string     `json:"since"`              // first version that had it
	Sources     []Link     `json:"sources"`
	User        bool       `json:"user,omitempty"`
	Once        bool       `json:"-"` // a run has one finding of it at most
}

// Claim is one of the domain's requirements, and the words of a rule that answer
// it: in what it says of its example, or on its page.
type Claim struct {
	ID   string `json:"id"` // F1, C5
	Says string `json:"says"`
}

// Severity returns the severity of findings that do not state their own.
func (m RuleMeta) Severity() Severity {
	if len(m.Severities) == 0 {
		return Warning
	}
	return m.Severities[0]
}

// Link is a source that a rule's page names.
type Link struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// ObjectName is how people name an object. Namespace is as written, "" where the
// object has none or says none.
type ObjectName struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Helm is set for what has its own part in a chart: a hook, a test, a CRD.
	Helm source.HelmRole `json:"helm,omitempty"`
}

// NameOf returns the name of an object that is not nil.
func NameOf(o *source.Object) ObjectName {
	return ObjectName{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Helm: o.Helm}
}

// Described is String with the part that the object has in its chart.
func (n ObjectName) Described() string {
	if n.Helm == "" {
		return n.String()
	}
	return n.String() + " (Helm " + string(n.Helm) + ")"
}

// String returns "Kind namespace/name", or "Kind name" without a namespace.
func (n ObjectName) String() string {
	if n.Namespace == "" {
		return n.Kind + " " + n.Name
	}
	return n.Kind + " " + n.Namespace + "/" + n.Name
}

// Finding is one thing that is wrong, at one place.
type Finding struct {
	Rule     string
	Name     string
	Severity Severity
	Message  string
	// Pointer is the JSON pointer of the field in Object.
	Pointer string
	Object  ObjectName
	// ObjectID tells objects of one name apart; no format shows it.
	ObjectID   source.ObjectID
	Containers []string
	Clusters   []string
	ValueSets  []string
	Primary    source.Location
	Related    []source.Note
	Fixes      []Fix
	Verify     []string
	// Fingerprint hashes rule, file, object and pointer (list items by name),
	// never message or line, so that it survives edits elsewhere.
	Fingerprint string
	Suppressed  *Suppression
	// Pod is the id of the pod that the finding is about, "" for none; Alike are
	// other pods of which a rule that speaks once a run says the same. No format
	// shows them: the message counts them.
	Pod   string
	Alike []string
}

// ErrNoPlace is what Validate says of a finding that points nowhere.
var ErrNoPlace = errors.New("finding without a primary location")

// Validate refuses a finding that cannot be shown.
func (f Finding) Validate() error {
	switch {
	case f.Rule == "":
		return errors.New("finding without a rule")
	case f.Message == "":
		return fmt.Errorf("%s: finding without a message", f.Rule)
	case f.Primary.File == "":
		return fmt.Errorf("%s: %w", f.Rule, ErrNoPlace)
	case f.Severity.rank() == 0:
		return fmt.Errorf("%s: unknown severity %q", f.Rule, f.Severity)
	}
	return nil
}

// Digest makes a fingerprint: the first 16 bytes of SHA-256 over the
// length-prefixed parts.
func Digest(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d:%s", len(p), p)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:16])
}

// Fix is one way to mend a finding. Fixes of one finding are alternatives, all
// against the files as they are.
type Fix struct {
	Title string // a verb phrase
	Proof Proof
	Edits []Edit
	// Values mend the finding as an override for the chart at the path Chart.
	Chart  string
	Values map[string]any
	// Review says what somebody must decide or know before the fix is applied; ""
	// for one that does nothing but mend the finding.
	Review string
	// Moves are the fingerprints of other findings, which it does not mend but takes
	// to another place, and to another fingerprint. No format shows them.
	Moves []string
}

// Proof says what stands behind a fix.
type Proof string

// Rendered: rendered again, the finding was gone and no other came. Computed:
// follows from arithmetic. Unproved: neither.
const (
	Rendered Proof = "rendered"
	Computed Proof = "computed"
	Unproved Proof = "none"
)

// Edit replaces the text at a place; an empty span is a place to insert at. Edits of
// one fix are against the same files and do not overlap.
type Edit struct {
	At   source.Location
	Text string
}

// Suppression says who silenced a finding and why.
type Suppression struct {
	By     string // comment | annotation | config
	Reason string
	File   string
	Line   int
}
