package fix

import (
	"context"
	"maps"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Done is what all fixes of a run come to.
type Done struct {
	// Report is that of the first round, with its fixes.
	Report    report.Report
	Changes   []Change
	Conflicts []Conflict
	Left      []Choice
	// Unwritable are fixes of findings that no file can be changed for: values of
	// a packed chart, or those that --set sets (OverrideFor).
	Unwritable []Choice
	// Without counts the findings that no fix is offered for.
	Without int
	// Unmended are those of them for which nothing was tried, of the last round.
	Unmended []Unmended
	Late     int
}

// All proves, merges and applies in memory, again and again until nothing is left
// to apply: what one fix makes possible is part of the same run, so that a second
// run changes nothing.
func All(ctx context.Context, linter *lint.Linter, paths []string, opts Options, rounds int, want func(finding.Fix) bool) (Done, error) {
	var done Done
	overlay := maps.Clone(opts.Lint.Load.Overlay)
	if overlay == nil {
		overlay = map[string][]byte{}
	}
	opts.First = true
	changes := map[string]*Change{}
	var originals map[string]*source.File
	for round := range rounds {
		opts.Lint.Load.Overlay = overlay
		proved, err := Prove(ctx, linter, paths, opts)
		if err != nil {
			return Done{}, err
		}
		if round == 0 {
			done.Report, originals = proved.Report, proved.Report.Files
		}
		done.Late = proved.Late
		m, err := merge(ctx, linter, paths, opts, &proved.Report, want)
		if err != nil {
			return Done{}, err
		}
		done.Conflicts, done.Left, done.Unwritable = m.Conflicts, m.Left, onlyValues(&proved.Report)
		done.Without, done.Unmended = without(&proved.Report), proved.Unmended
		if len(m.Changes) == 0 {
			done.Conflicts = append(done.Conflicts, m.Waiting...) // what they wait for does not come
			break
		}
		overlay = maps.Clone(overlay)
		for i := range m.Changes {
			c := &m.Changes[i]
			asFirst(&done.Report, c.Choices)
			overlay[c.File] = []byte(c.After)
			if had := changes[c.File]; had != nil {
				had.After, had.Choices = c.After, append(had.Choices, c.Choices...)
				continue
			}
			if f := originals[c.File]; f != nil {
				c.Before = f.Text()
			}
			changes[c.File] = c
		}
		if proved.Late > 0 {
			break // whoever waits has been told
		}
	}
	asFirst(&done.Report, done.Left)
	for i := range done.Unmended {
		asOf(&done.Report, &done.Unmended[i].Finding)
	}
	for _, file := range slices.Sorted(maps.Keys(changes)) {
		done.Changes = append(done.Changes, *changes[file])
	}
	return done, nil
}

// asFirst puts the findings of the first round, whose places are those of the files
// on disk, in the place of the same findings of a later one.
func asFirst(first *report.Report, all []Choice) {
	for i := range all {
		for j := range all[i].Findings {
			asOf(first, &all[i].Findings[j])
		}
	}
}

// asOf puts a report's finding in the place of the same one of another report,
// which a fix may have moved since.
func asOf(first *report.Report, f *finding.Finding) {
	before, now := sketches(first), sketches(&report.Report{Findings: []finding.Finding{*f}})
	if at := before.by[f.Fingerprint]; len(at) > 0 {
		*f = first.Findings[at[0]]
	} else if at, ok := now.moved(before)[0]; ok {
		*f = first.Findings[at]
	}
}

// without counts the findings that have no fix. What a rule says once of the whole
// run is about no line that an edit could mend.
func without(r *report.Report) int {
	once := onceRules(r)
	n := 0
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Suppressed == nil && len(f.Fixes) == 0 && !once[f.Rule] {
			n++
		}
	}
	return n
}
