package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// statement is one finding as a rule returns it. Ref and Message are required;
// references are those of the input, passed on as they are.
type statement struct {
	rule *rule

	Ref     *source.Ref `json:"ref"`
	Message string      `json:"message"`
	// Severity is one of the rule's; the first when not given.
	Severity finding.Severity `json:"severity"`
	Related  []relatedRef     `json:"related"`
	// Pod is the id of the pod that the finding is about, "" for none.
	Pod        string   `json:"pod"`
	Containers []string `json:"containers"`
	// Clusters are the pod's when not given.
	Clusters []string `json:"clusters"`
	// Missing are words of the text whose absence is the finding. A template
	// condition that keeps such text out is shown with the finding.
	Missing []string   `json:"missing"`
	Verify  verifyArgs `json:"verify"`

	// alike are the ids of all pods of which a rule that speaks once a run would have
	// spoken.
	alike []string
}

type relatedRef struct {
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"`
}

// decodeStatement refuses what a typing error in a rule would otherwise turn
// into a finding without a severity, a container or a place.
func decodeStatement(r *rule, value ast.Value) (statement, error) {
	plain, err := ast.JSON(value)
	if err != nil {
		return statement{}, fmt.Errorf("finding: %w", err)
	}
	raw, err := json.Marshal(plain)
	if err != nil {
		return statement{}, fmt.Errorf("finding: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	s := statement{rule: r}
	if err := dec.Decode(&s); err != nil {
		return statement{}, fmt.Errorf("finding %s: %w", raw, wrongField(err))
	}
	if s.Severity == "" {
		s.Severity = r.meta.Severity()
	}
	switch {
	case s.Ref == nil || s.Ref.IsZero():
		return statement{}, fmt.Errorf("finding %s: no ref", raw)
	case strings.TrimSpace(s.Message) == "":
		return statement{}, fmt.Errorf("finding %s: no message", raw)
	case !slices.Contains(r.meta.Severities, s.Severity):
		return statement{}, fmt.Errorf("finding %s: severity is not one of the rule's %v", raw, r.meta.Severities)
	}
	for _, note := range s.Related {
		if note.Says == "" {
			return statement{}, errors.New("related place without a remark")
		}
	}
	return s, nil
}
