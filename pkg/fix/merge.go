package fix

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// Choice is the fix that is taken for a finding, or for several that it mends
// alike.
type Choice struct {
	Findings []finding.Finding
	Fix      finding.Fix
}

// Change is what becomes of one file when the choices are applied to it.
type Change struct {
	File          string // as in the report
	Before, After string
	Choices       []Choice // those that edit it
}

// Conflict is two fixes of which neither is taken, because both touch one place,
// or because one undoes the other.
type Conflict struct {
	A, B Choice
	File string
	Line int
}

// merged is what the fixes of a report come to together.
type merged struct {
	Changes   []Change // by file
	Choices   []Choice // taken, in the order of the findings
	Conflicts []Conflict
	// Left are those that were not wanted.
	Left []Choice
	// Waiting are choices that can be looked at again when others are applied.
	Waiting []Conflict
}

// merge takes the smallest fix of each finding that edits files, as far as want
// agrees, and proves once more that they do together what each does alone.
func merge(ctx context.Context, linter *lint.Linter, paths []string, opts Options, r *report.Report, want func(finding.Fix) bool) (merged, error) {
	var m merged
	var wanted []Choice
	for _, c := range choices(r) {
		if want(c.Fix) {
			wanted = append(wanted, c)
		} else {
			m.Left = append(m.Left, c)
		}
	}
	wanted, moving := mendedFirst(wanted)
	free, conflicts := apart(r, wanted)
	free, behind := inTurn(r, free)
	m.Choices, m.Conflicts, m.Waiting = free, conflicts, slices.Concat(moving, behind)
	if len(m.Choices) > 1 {
		if err := m.agree(ctx, linter, paths, opts, r); err != nil {
			return merged{}, err
		}
	}
	changes, err := changesOf(r, m.Choices)
	m.Changes = changes
	return m, err
}

// choices takes the first fix with edits of each finding; one fix for several
// findings is one choice.
func choices(r *report.Report) []Choice {
	var out []Choice
	for i := range r.Findings {
		f := r.Findings[i]
		at := slices.IndexFunc(f.Fixes, func(x finding.Fix) bool { return len(x.Edits) > 0 && x.Proof == finding.Rendered })
		if at < 0 {
			continue
		}
		same := slices.IndexFunc(out, func(c Choice) bool { return slices.Equal(c.Fix.Edits, f.Fixes[at].Edits) })
		if same >= 0 {
			out[same].Findings = append(out[same].Findings, f)
			if review := f.Fixes[at].Review; !strings.Contains(out[same].Fix.Review, review) {
				out[same].Fix.Review = strings.TrimPrefix(out[same].Fix.Review+"; "+review, "; ")
			}
			continue
		}
		out = append(out, Choice{Findings: []finding.Finding{f}, Fix: f.Fixes[at]})
	}
	return out
}

// mendedFirst puts off the choices that move what another one mends until that is
// mended: both at once would edit one place.
func mendedFirst(wanted []Choice) (now []Choice, waiting []Conflict) {
	late := make([]bool, len(wanted))
	for i := range wanted {
		mends := func(c Choice) bool {
			return slices.ContainsFunc(c.Findings, func(f finding.Finding) bool { return slices.Contains(wanted[i].Fix.Moves, f.Fingerprint) })
		}
		for j := range wanted {
			if !late[i] && !late[j] && i != j && mends(wanted[j]) {
				late[i] = true
				waiting = append(waiting, conflictAt(wanted[i], wanted[j], wanted[i].Fix.Edits[0]))
			}
		}
		if !late[i] {
			now = append(now, wanted[i])
		}
	}
	return now, waiting
}

// apart tells the choices that can stand beside all others, at once or one after
// the other, from those that cannot: which of two is meant is not guessed.
func apart(r *report.Report, wanted []Choice) (free []Choice, conflicts []Conflict) {
	caught := make([]bool, len(wanted))
	for i := range wanted {
		for j := i + 1; j < len(wanted); j++ {
			if e, how := meeting(r, wanted[i].Fix, wanted[j].Fix); how == contrary {
				caught[i], caught[j] = true, true
				conflicts = append(conflicts, conflictAt(wanted[i], wanted[j], e))
			}
		}
	}
	for i := range wanted {
		if !caught[i] {
			free = append(free, wanted[i])
		}
	}
	return free, conflicts
}

// inTurn puts off the choices that add to, or take from, the place where one before
// them does: neither undoes the other, and on top of the first the second has a
// place of its own.
func inTurn(r *report.Report, free []Choice) (now []Choice, waiting []Conflict) {
	for _, c := range free {
		first := -1
		for i := range now {
			if e, how := meeting(r, c.Fix, now[i].Fix); how != separate && first < 0 {
				first = i
				waiting = append(waiting, conflictAt(c, now[i], e))
			}
		}
		if first < 0 {
			now = append(now, c)
		}
	}
	return now, waiting
}

func conflictAt(a, b Choice, e finding.Edit) Conflict {
	return Conflict{A: a, B: b, File: e.At.File, Line: e.At.Span.Start.Line}
}

// encounter is how two fixes stand to each other.
type encounter int

const (
	separate encounter = iota // no edit of one touches the place of an edit of the other
	inARow                    // where they touch both only insert, or both only remove
	contrary                  // one writes over what the other writes or removes
)

// meeting returns how two fixes stand to each other, with an edit of a that
// decides it.
func meeting(r *report.Report, a, b finding.Fix) (at finding.Edit, how encounter) {
	for _, e := range a.Edits {
		f := r.Files[e.At.File]
		for _, o := range b.Edits {
			if o.At.File != e.At.File || f == nil {
				continue
			}
			s, t := spanOf(f, e), spanOf(f, o)
			if !s.meets(t) {
				continue
			}
			here := contrary
			if s.empty() && t.empty() || e.Text == "" && o.Text == "" {
				here = inARow
			}
			if here > how {
				at, how = e, here
			}
		}
	}
	return at, how
}

// agree leaves out the choices that undo what others do. Most often none does,
// which takes one run to see.
func (m *merged) agree(ctx context.Context, linter *lint.Linter, paths []string, opts Options, r *report.Report) error {
	before := sketches(r)
	good := func(some []Choice) (bool, error) {
		c := candidate{}
		for _, one := range some {
			c.Edits = append(c.Edits, one.Fix.Edits...)
		}
		with, err := applied(opts.Lint, r, &c)
		if err != nil {
			return false, nil //nolint:nilerr // edits that meet do not agree
		}
		after, err := relint(ctx, linter, paths, with)
		if err != nil {
			return false, err
		}
		return after.mended(some, before) && after.raises(before) == "", nil
	}
	ok, err := good(m.Choices)
	if ok || err != nil {
		return err
	}
	if err := before.steadyBy(ctx, linter, paths, opts.Lint); err != nil {
		return err
	}
	if ok, err = good(m.Choices); ok || err != nil {
		return err
	}
	var kept []Choice
	for _, c := range m.Choices {
		ok, err := good(append(slices.Clip(kept), c))
		switch {
		case err != nil:
			return err
		case ok:
			kept = append(kept, c)
		case len(kept) > 0:
			m.Conflicts = append(m.Conflicts, conflictAt(c, kept[len(kept)-1], c.Fix.Edits[0]))
		}
	}
	m.Choices = kept
	return nil
}

// mended: none of the findings of the choices is left.
func (p *picture) mended(some []Choice, before *picture) bool {
	left := p.left(before)
	for _, c := range some {
		for i := range c.Findings {
			if left[c.Findings[i].Fingerprint] {
				return false
			}
		}
	}
	return true
}

// changesOf are what choices make of the files of a report. Its error names every
// file in which two of their edits meet.
func changesOf(r *report.Report, all []Choice) ([]Change, error) {
	var edits []finding.Edit
	for _, c := range all {
		edits = append(edits, c.Fix.Edits...)
	}
	var out []Change
	var failed error
	for _, file := range filesOf(edits) {
		text, err := edited(r.Files[file], editsIn(edits, file))
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		change := Change{File: file, Before: r.Files[file].Text(), After: text}
		for _, c := range all {
			if slices.Contains(filesOf(c.Fix.Edits), file) {
				change.Choices = append(change.Choices, c)
			}
		}
		out = append(out, change)
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.File, b.File) })
	return out, failed
}
