package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/vpnlint/vpnlint/pkg/finding"
)

// customMeta is the closed schema of METADATA's custom part.
type customMeta struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Severities []finding.Severity `json:"severities"`
	Family     string             `json:"family"`
	// Claims are of the domain's requirements, each with the text of the rule that
	// answers it: "F2: is not in this pod's network namespace".
	Claims []map[string]string `json:"claims"`
	Fires  string              `json:"fires"`
	Silent string              `json:"silent"`
	Remedy string              `json:"remedy"`
	Verify []string            `json:"verify"`
	// NoVerify says why no command on a cluster shows what the rule finds.
	NoVerify string `json:"no_verify"`
	Since    string `json:"since"`
	// Needs are what the input must hold for the rule to say anything (needs.go);
	// a rule without them is always evaluated.
	Needs []string `json:"needs"`
	// Once: a run has one finding of it at most, the first, which counts the other
	// pods.
	Once bool `json:"once"`
	// Replaces are the rules that say less about the same pod: their finding is
	// dropped where this rule reports the pod.
	Replaces []string `json:"replaces"`
}

// toolFamily is the family of rules about the run itself.
const toolFamily = "tool"

// families, in the order of the first digit of a rule's id.
var families = [...]string{toolFamily, "forwarding", "masquerade", "sidecar", "plan", "names"}

var (
	idPattern    = regexp.MustCompile(`^VPN([0-5])[0-9]{2}$`)
	namePattern  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	claimPattern = regexp.MustCompile(`^[MFC][1-9][0-9]?$`)
)

// readRule reads the METADATA of a rule's package. key is the last part of the
// package's path, such as "vpn101"; validate judges ids, families and claims.
func readRule(module *ast.Module, key string, validate func(m finding.RuleMeta, key string) error) (rule, error) {
	annotations, err := packageAnnotations(module)
	if err != nil {
		return rule{}, err
	}
	custom, err := decodeCustom(annotations.Custom)
	if err != nil {
		return rule{}, err
	}
	meta := finding.RuleMeta{
		ID:          custom.ID,
		Name:        custom.Name,
		Title:       strings.TrimSpace(annotations.Title),
		Description: strings.TrimSpace(annotations.Description),
		Severities:  custom.Severities,
		Family:      custom.Family,
		Fires:       strings.TrimSpace(custom.Fires),
		Silent:      strings.TrimSpace(custom.Silent),
		Remedy:      strings.TrimSpace(custom.Remedy),
		Verify:      custom.Verify,
		NoVerify:    strings.TrimSpace(custom.NoVerify),
		Since:       custom.Since,
		Once:        custom.Once,
	}
	for _, claim := range custom.Claims {
		for id, says := range claim {
			meta.Claims = append(meta.Claims, finding.Claim{ID: id, Says: says})
		}
		if len(claim) != 1 {
			return rule{}, errors.New("METADATA custom.claims: want a list of CLAIM: text")
		}
	}
	for _, r := range annotations.RelatedResources {
		meta.Sources = append(meta.Sources, finding.Link{Title: r.Description, URL: r.Ref.String()})
	}
	if err := validate(meta, key); err != nil {
		return rule{}, err
	}
	needs, err := parseNeeds(custom.Needs)
	if err != nil {
		return rule{}, fmt.Errorf("METADATA custom.needs: %w", err)
	}
	return rule{meta: meta, replaces: custom.Replaces, needs: needs, needsText: custom.Needs}, nil
}

func packageAnnotations(module *ast.Module) (*ast.Annotations, error) {
	var found *ast.Annotations
	for _, a := range module.Annotations {
		if a.Scope != "package" {
			continue
		}
		if found != nil {
			return nil, errors.New("two METADATA blocks of scope package")
		}
		found = a
	}
	if found == nil {
		return nil, errors.New("no METADATA of scope package")
	}
	return found, nil
}

func decodeCustom(custom map[string]any) (customMeta, error) {
	raw, err := json.Marshal(custom)
	if err != nil {
		return customMeta{}, fmt.Errorf("METADATA custom: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var out customMeta
	if err := dec.Decode(&out); err != nil {
		return customMeta{}, fmt.Errorf("METADATA custom: %w", wrongField(err))
	}
	return out, nil
}

// keyOf returns the last part of a rule's package: its id in lower case.
func keyOf(id string) string { return strings.ToLower(id) }

// validateMeta judges the METADATA of vpnlint's own rules.
func validateMeta(m finding.RuleMeta, key string) error {
	id := idPattern.FindStringSubmatch(m.ID)
	switch {
	case id == nil:
		return fmt.Errorf("METADATA custom.id %q is no rule id", m.ID)
	case m.Family != families[id[1][0]-'0']:
		return fmt.Errorf("METADATA custom.family %q: the first digit of %s says %s", m.Family, m.ID, families[id[1][0]-'0'])
	case len(m.Claims) == 0 && m.Family != toolFamily:
		return errors.New("METADATA custom.claims is empty")
	case len(m.Verify) == 0 && m.NoVerify == "":
		return errors.New("METADATA custom.verify is empty, and custom.no_verify does not say why")
	case len(m.Verify) > 0 && m.NoVerify != "":
		return errors.New("METADATA custom.verify and custom.no_verify contradict each other")
	}
	return validateAny(m, key)
}

// validateAny judges what all rules have in common.
func validateAny(m finding.RuleMeta, key string) error {
	switch {
	case keyOf(m.ID) != key:
		return fmt.Errorf("METADATA custom.id %s in package %s", m.ID, key)
	case !namePattern.MatchString(m.Name):
		return fmt.Errorf("METADATA custom.name %q: want lower-case words joined by hyphens", m.Name)
	case len(m.Severities) == 0:
		return errors.New("METADATA custom.severities is empty")
	case m.Since == "":
		return errors.New("METADATA custom.since is empty")
	}
	for _, text := range [...]struct{ key, value string }{
		{"title", m.Title}, {"description", m.Description},
		{"custom.fires", m.Fires}, {"custom.silent", m.Silent}, {"custom.remedy", m.Remedy},
	} {
		if text.value == "" {
			return fmt.Errorf("METADATA %s is empty", text.key)
		}
	}
	for _, s := range m.Severities {
		if _, err := finding.ParseSeverity(string(s)); err != nil {
			return fmt.Errorf("METADATA custom.severities: %w", err)
		}
	}
	for _, c := range m.Claims {
		if !claimPattern.MatchString(c.ID) {
			return fmt.Errorf("METADATA custom.claims: %q is no claim", c.ID)
		}
		if strings.TrimSpace(c.Says) == "" {
			return fmt.Errorf("METADATA custom.claims: %s without the text that answers it", c.ID)
		}
	}
	for _, v := range m.Verify {
		if !slices.ContainsFunc(verifyTemplates[:], func(t verifyTemplate) bool { return t.name == v }) {
			return fmt.Errorf("METADATA custom.verify: no template %q", v)
		}
	}
	return nil
}
