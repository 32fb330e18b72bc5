package fix

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Options say what to prove and how long to try.
type Options struct {
	// Lint are the options of the run whose findings are to be mended.
	Lint lint.Options
	// Rules are those whose findings are to be mended; none: all.
	Rules []string
	// Tries bounds the candidates that are rendered for one finding; 0:
	// DefaultTries.
	Tries int
	// Time bounds the proofs of a whole run; 0: DefaultTime. Findings whose turn
	// does not come have no fix, and are counted in Result.Late.
	Time time.Duration
	// First: the smallest fix with edits is enough; what is larger is not tried.
	First bool
	// Refused, if it is not nil, is told of each candidate that was not proved, and
	// why.
	Refused func(f *finding.Finding, title, why string)

	// byValues: only values of charts are wanted, and proved as an override.
	byValues bool
}

// The default bounds. A finding has few ways to be mended, and a proof costs as
// much as the run that made the finding.
const (
	DefaultTries = 8
	DefaultTime  = 2 * time.Minute
)

// Result is a report whose findings hold their fixes, smallest first.
type Result struct {
	Report report.Report
	// Late counts the findings for which the time was up.
	Late int
	// Unmended are the findings for which there was nothing to try.
	Unmended []Unmended
}

var errTime = errors.New("the time for fixes is up")

// ErrStdin is the error for a path "-": what was piped in is in no file.
var ErrStdin = errors.New("standard input is no file that could be changed; name the files")

// Prove lints the paths and proves fixes for what it finds. A proof is the whole
// pipeline over all the paths, for what a rule says of one input may depend on
// every other: the candidate is kept if its finding is gone, no finding, gap or
// harsher severity came, and no object, pod, container or tunnel was lost.
func Prove(ctx context.Context, linter *lint.Linter, paths []string, opts Options) (Result, error) {
	if slices.Contains(paths, "-") {
		return Result{}, ErrStdin
	}
	r, readings, err := linter.Study(ctx, paths, opts.Lint)
	if err != nil {
		return Result{}, err
	}
	p := &prover{linter: linter, paths: paths, opts: opts, report: &r, readings: readings, before: look(&r, readings), known: map[string]*outcome{}}
	timed, cancel := context.WithTimeoutCause(ctx, cmp.Or(opts.Time, DefaultTime), errTime)
	defer cancel()
	late, err := p.all(timed)
	if err != nil {
		return Result{}, err
	}
	return Result{Report: r, Late: late, Unmended: p.unmended}, nil
}

// prover proves candidates against one report.
type prover struct {
	linter   *lint.Linter
	paths    []string
	opts     Options
	report   *report.Report
	readings []lint.Reading
	before   *picture
	steadied bool                // before holds only what every run comes to
	known    map[string]*outcome // of candidates, by their key
	unmended []Unmended
}

// outcome is what a candidate came to.
type outcome struct {
	left  map[string]bool // fingerprints of all findings
	moves []string        // fingerprints of findings that are elsewhere now
	worse string          // what came or was lost, "" for nothing
}

// all gives each finding its fixes.
func (p *prover) all(ctx context.Context) (late int, err error) {
	table, once := proposers(), onceRules(p.report)
	shared := sight{Report: p.report, Options: p.opts.Lint, Paths: p.paths, catalog: p.linter.Catalog(), texts: textsCache(), bench: newBench(ctx, p.paths, p.opts.Lint, p.opts.byValues)}
	for i := range p.report.Findings {
		f := &p.report.Findings[i]
		if f.Suppressed != nil || once[f.Rule] || len(p.opts.Rules) > 0 && !slices.Contains(p.opts.Rules, f.Rule) {
			continue
		}
		if len(table[f.Rule]) == 0 {
			p.unmended = append(p.unmended, noneKnown(f))
			continue
		}
		if errors.Is(context.Cause(ctx), errTime) {
			late++
			continue
		}
		c := shared
		c.Finding = f
		if c.Reading = p.readingOf(f); c.Reading == nil {
			continue
		}
		candidates := c.candidates(table)
		if errors.Is(context.Cause(ctx), errTime) {
			late++ // proposers render charts, too
			continue
		}
		if p.opts.byValues {
			candidates = slices.DeleteFunc(candidates, func(c candidate) bool { return len(c.Values) == 0 })
		}
		if len(candidates) == 0 {
			p.unmended = append(p.unmended, c.unmended())
			continue
		}
		fixes, err := p.one(ctx, f, candidates)
		if errors.Is(err, errTime) {
			late++
			continue
		}
		if err != nil {
			return 0, err
		}
		f.Fixes = fixes
	}
	return late, nil
}

// readingOf returns the first reading that shows the finding's object under a
// value set of the finding.
func (p *prover) readingOf(f *finding.Finding) *lint.Reading {
	for i := range p.readings {
		r := &p.readings[i]
		sets := len(f.ValueSets) == 0 || slices.ContainsFunc(r.Groups, func(name string) bool { return slices.Contains(f.ValueSets, name) })
		c := sight{Finding: f, Reading: r}
		if sets && c.Object() != nil {
			return r
		}
	}
	return nil
}

// one proves the candidates of one finding.
func (p *prover) one(ctx context.Context, f *finding.Finding, candidates []candidate) ([]finding.Fix, error) {
	var fixes []finding.Fix
	for _, c := range candidates[:min(len(candidates), cmp.Or(p.opts.Tries, DefaultTries))] {
		if p.opts.First && slices.ContainsFunc(fixes, func(x finding.Fix) bool { return len(x.Edits) > 0 }) {
			break
		}
		if slices.ContainsFunc(fixes, c.exceeds) {
			continue
		}
		after, err := p.try(ctx, &c)
		if err != nil {
			return nil, err
		}
		why := ""
		switch {
		case after == nil:
			why = "it cannot be applied"
		case after.left[f.Fingerprint]:
			why = "the finding stays"
		default:
			why = after.worse
		}
		if why == "" {
			c.Review = p.review(f, &c)
			proved := c.fix()
			proved.Moves = after.moves
			fixes = append(fixes, proved)
		} else if p.opts.Refused != nil {
			p.opts.Refused(f, c.Title, why)
		}
	}
	return fixes, nil
}

// review adds to what must be decided that a file lies beside the paths that were
// to be linted: what else is made of it was not looked at. A file of a chart stands
// for the whole chart, and a values file that was named is one of the inputs.
func (p *prover) review(f *finding.Finding, c *candidate) string {
	said := c.Review
	load := p.opts.Lint.Load
	paths := slices.Concat(p.paths, load.ValuesFiles)
	for _, set := range load.ValueSets {
		paths = append(paths, set.Files...)
	}
	if r := p.readingOf(f); r != nil {
		of := sight{Finding: f, Reading: r}
		if o := of.Object(); o != nil && o.Input == source.Chart {
			paths = append(slices.Clip(paths), o.Path)
		}
	}
	for _, file := range filesOf(c.Edits) {
		if !slices.ContainsFunc(paths, func(path string) bool { return liesIn(load.Dir, path, file) }) {
			said = strings.TrimPrefix(said+"; "+file+" lies outside of the paths that were linted, and what else is made of it was not looked at", "; ")
		}
	}
	return said
}

// liesIn reports whether a file is, or lies below, a path; both relative to dir.
func liesIn(dir, path, file string) bool {
	abs := func(name string) string {
		if name = filepath.FromSlash(name); filepath.IsAbs(name) {
			return filepath.Clean(name)
		}
		return filepath.Join(dir, name)
	}
	rel, err := filepath.Rel(abs(path), abs(file))
	return err == nil && filepath.IsLocal(rel)
}

func (c *candidate) fix() finding.Fix {
	slices.SortStableFunc(c.Edits, func(a, b finding.Edit) int {
		return cmp.Or(cmp.Compare(a.At.File, b.At.File), cmp.Compare(a.At.Span.Start.Line, b.At.Span.Start.Line), cmp.Compare(a.At.Span.Start.Column, b.At.Span.Start.Column))
	})
	return finding.Fix{Title: c.Title, Proof: finding.Rendered, Edits: c.Edits, Chart: c.Chart, Values: c.Values, Review: c.Review}
}

// key tells candidates apart by what they do.
func (c *candidate) key() string {
	text, err := json.Marshal([]any{c.Edits, c.Chart, c.Values})
	if err != nil {
		return c.Title
	}
	return string(text)
}

// try runs the pipeline with a candidate applied; nil for one that cannot be
// applied.
func (p *prover) try(ctx context.Context, c *candidate) (*outcome, error) {
	key := c.key()
	if after, ok := p.known[key]; ok {
		return after, nil
	}
	opts, err := applied(p.opts.Lint, p.report, c)
	if p.opts.byValues {
		opts, err = p.opts.Lint, nil
		opts.Load.Overrides = withOverride(opts.Load.Overrides, c.Chart, c.Values)
	}
	if err != nil || slices.ContainsFunc(filesOf(c.Edits), func(file string) bool { return sealed(p.report.Files[file]) }) {
		p.known[key] = nil
		return nil, nil //nolint:nilerr,nilnil // a proposer that cannot be followed proposes nothing
	}
	after, err := relint(ctx, p.linter, p.paths, opts)
	if err != nil {
		return nil, err
	}
	if !p.steadied && after.misses(p.before) {
		p.steadied = true
		if err := p.before.steadyBy(ctx, p.linter, p.paths, p.opts.Lint); err != nil {
			return nil, err
		}
	}
	out := &outcome{left: after.left(p.before), moves: after.moves(p.before), worse: after.worse(p.before)}
	p.known[key] = out
	return out, nil
}

// sealed: SOPS signs a file with what it encrypts in it; an edit beside that makes
// the whole file unreadable to whoever deploys it.
func sealed(f *source.File) bool {
	return f != nil && (strings.HasPrefix(f.Text(), "sops:") || strings.Contains(f.Text(), "\nsops:") || strings.Contains(f.Text(), `"sops":`))
}

// relint runs the pipeline. Its error is errTime when the time for proofs is up.
func relint(ctx context.Context, linter *lint.Linter, paths []string, opts lint.Options) (*picture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, readings, err := linter.Study(ctx, paths, opts)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("lint with a fix applied: %w", err)
	}
	return look(&r, readings), nil
}

// applied are the options of a run in which the candidate stands.
func applied(opts lint.Options, r *report.Report, c *candidate) (lint.Options, error) {
	overlay := maps.Clone(opts.Load.Overlay)
	if overlay == nil {
		overlay = map[string][]byte{}
	}
	for _, file := range filesOf(c.Edits) {
		text, err := edited(r.Files[file], editsIn(c.Edits, file))
		if err != nil {
			return opts, err
		}
		overlay[file] = []byte(text)
	}
	opts.Load.Overlay = overlay
	if len(c.Edits) == 0 && c.Chart != "" {
		opts.Load.Overrides = withOverride(opts.Load.Overrides, c.Chart, c.Values)
	}
	return opts, nil
}
