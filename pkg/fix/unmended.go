package fix

import (
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Unmended is a finding for which nothing was even tried.
type Unmended struct {
	Finding finding.Finding
	// Why is in lower case and without full stop: "no startup probe is known to
	// work in the image of vpn".
	Why string
}

// The reasons that several proposers give.
const (
	whyTemplate = "templates of charts are not edited, and no value of the chart was found to do it"
	whyLayout   = " in a form that is not edited: in brackets, in quotes, shared through an anchor, or made from other files"
	whyNoPod    = "it points at no pod whose manifest could be changed"
)

// none notes why a proposer has nothing, for those who ask.
func (c *sight) none(why string) []candidate {
	if !slices.Contains(c.why, why) {
		c.why = append(c.why, why)
	}
	return nil
}

// notEdited is none for what is written in a way that no edit fits.
func (c *sight) notEdited(what string) []candidate {
	if o := c.Object(); o != nil && o.Input == source.Chart {
		return c.none(whyTemplate)
	}
	return c.none(what + " written" + whyLayout)
}

// unmended is why a finding without candidates has none.
func (c *sight) unmended() Unmended {
	why := strings.Join(c.why, "; ")
	if why == "" {
		why = "nothing that is written there fits a change that is known"
	}
	return Unmended{Finding: *c.Finding, Why: why}
}

// noneKnown is the reason for all findings of a rule.
func noneKnown(f *finding.Finding) Unmended {
	return Unmended{Finding: *f, Why: "what mends it is for people to say (vpnlint explain " + f.Rule + ")"}
}

// onceRules are the rules that say one thing of the whole run: about no line that
// an edit could mend.
func onceRules(r *report.Report) map[string]bool {
	once := map[string]bool{}
	for _, m := range r.Rules {
		once[m.ID] = m.Once
	}
	return once
}
