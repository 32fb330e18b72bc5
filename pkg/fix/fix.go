// Package fix finds changes that mend findings, and proves them: each candidate
// is applied in memory, the whole pipeline runs again, and only what removes its
// finding and raises no other is offered. Nothing is written but by Write.
package fix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// candidate is a change that may mend a finding: edits of files, or values for a
// chart. It is worth nothing until it is proved.
type candidate struct {
	Title string // a verb phrase, without full stop
	Edits []finding.Edit
	// Chart is the chart that Values are for, by source.Object.Path.
	Chart  string
	Values map[string]any
	// Review says what somebody must decide or know before this is applied; ""
	// for a change that does nothing but mend the finding.
	Review string
	// Size orders the candidates of a finding, the smallest first. 0: what its
	// edits insert, in bytes.
	Size int
}

func (c *candidate) size() int {
	size := c.Size
	for _, e := range c.Edits {
		if c.Size == 0 {
			size += max(1, len(e.Text))
		}
	}
	return size
}

// proposer looks at one finding and returns what may mend it. No candidate is
// better than a doubtful one.
type proposer func(*sight) []candidate

// proposers are the sources of candidates by rule. It is the only list.
func proposers() map[string][]proposer {
	return map[string][]proposer{
		"VPN101": {podSysctl, initContainer, chartForwarding},
		"VPN102": {privilegedWriter, tolerated(initContainer), moveWrite, chartWriter, tolerated(chartForwarding)},
		"VPN107": {initContainer, chartForwarding},
		"VPN108": {initContainer, chartForwarding},
		"VPN201": {narrowExemption},
		"VPN202": {writeExemption},
		"VPN203": {completeExemption},
		"VPN302": {bypassList, chartBypass},
		"VPN303": {startupProbe, nativeSidecar, chartGate},
		"VPN304": {killSwitch, chartKillSwitch},
		"VPN305": {dropPrivilege, chartPrivilege},
		"VPN312": {nativeSidecar},
		"VPN408": {bypassList, chartBypass},
	}
}

// sight is what a proposer sees of one finding.
type sight struct {
	Finding *finding.Finding
	// Reading is one in which the finding was made.
	Reading *lint.Reading
	Report  *report.Report
	// Options are those of the run that made the report.
	Options lint.Options
	// Paths are those of the run.
	Paths []string

	catalog *images.Catalog
	texts   map[string][]loader.Text // by file, as far as they were read
	bench   *bench
	why     []string // proposers have nothing
}

// Object is the object that the finding is about, nil when it is not among those
// of the reading.
func (c *sight) Object() *source.Object { return c.object(c.Finding.ObjectID) }

func (c *sight) object(id source.ObjectID) *source.Object {
	i := slices.IndexFunc(c.Reading.Objects, func(o *source.Object) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	return c.Reading.Objects[i]
}

// Pod is the pod that the finding points into, nil for none.
func (c *sight) Pod() *facts.Pod {
	for i := range c.Reading.Facts.Pods {
		p := &c.Reading.Facts.Pods[i]
		if p.Ref.Object == c.Finding.ObjectID && within(c.Finding.Pointer, p.Ref.Pointer) {
			return p
		}
	}
	return nil
}

// within reports whether a JSON pointer is another or leads below it.
func within(pointer, top string) bool {
	rest, ok := strings.CutPrefix(pointer, top)
	return ok && (rest == "" || rest[0] == '/')
}

// Locate finds where a field was written; the zero value for one of an object that the
// reading does not have.
func (c *sight) Locate(r source.Ref) source.Provenance {
	o := c.object(r.Object)
	if o == nil {
		return source.Provenance{}
	}
	return o.Origin.Locate(r)
}

// candidates are those of all proposers of the finding's rule, each once, the
// smallest first.
func (c *sight) candidates(table map[string][]proposer) []candidate {
	var out []candidate
	for _, propose := range table[c.Finding.Rule] {
		out = append(out, propose(c)...)
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.size(), b.size()), cmp.Compare(a.Title, b.Title))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(one candidate) bool {
		key := one.key()
		again := seen[key] || len(one.Edits) == 0 && len(one.Values) == 0
		seen[key] = true
		return again
	})
}
