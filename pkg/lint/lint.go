// Package lint is vpnlint as a library: it takes paths through the loader, the
// facts, the address plan and the rules to a finished report.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
	"github.com/vpnlint/vpnlint/pkg/suppress"
)

// Options say what to read and how. The zero value reads the paths as they are, with
// the default limits and without a plan.
type Options struct {
	// Load says how charts and kustomizations are rendered, within which limits.
	Load loader.Options
	// RulesTime bounds the evaluation of the rules over one group of objects; 0:
	// DefaultRulesTime. To take longer is a gap of kind unreadable, for a report
	// without some of its findings is no pass.
	RulesTime time.Duration
	// Workloads bounds the workloads with a VPN that are judged together; 0:
	// DefaultWorkloads. More are a gap of kind unreadable.
	Workloads int
	// Plan is the plan file, nil for none.
	Plan *config.Config
	// UserRules are directories with rules of the user's own, for Run; New takes
	// them for a Linter.
	UserRules []string
	// Version of vpnlint, for the report.
	Version string
}

// DefaultWorkloads is how many workloads with a VPN are judged together.
const DefaultWorkloads = facts.DefaultWorkloads

// DefaultRulesTime is far above what ten thousand objects take.
const DefaultRulesTime = time.Minute

// Linter holds what does not depend on the input: the rules and the image
// catalogue. It is safe for concurrent use.
type Linter struct {
	engine  *check.Engine
	user    []*check.UserRules
	catalog *images.Catalog
}

// New reads the rules and the image catalogue. Rules are compiled when an input
// first needs them; those of the user, in the directories userRules, at once.
func New(ctx context.Context, userRules ...string) (*Linter, error) {
	catalog, err := images.Load()
	if err != nil {
		return nil, fmt.Errorf("read the image catalogue: %w", err)
	}
	engine, err := check.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	user, err := readUserRules(ctx, userRules)
	if err != nil {
		return nil, err
	}
	return &Linter{engine: engine, user: user, catalog: catalog}, nil
}

// Compile compiles all rules now, for a linter that is to run often.
func (l *Linter) Compile(ctx context.Context) error { return l.engine.Compile(ctx) }

// Rules returns the metadata of all rules, sorted by id.
func (l *Linter) Rules() []finding.RuleMeta {
	all := l.engine.Rules()
	for _, u := range l.user {
		all = append(all, u.Rules()...)
	}
	slices.SortFunc(all, func(a, b finding.RuleMeta) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Catalog returns what is known of images; it is shared and not to be changed.
func (l *Linter) Catalog() *images.Catalog { return l.catalog }

// Page returns the documentation page of a rule as Markdown.
func (l *Linter) Page(id string) (string, bool) {
	for _, u := range l.user {
		if page, ok := u.Page(id); ok {
			return page, true
		}
	}
	return l.engine.Page(id)
}

// Run lints paths. The error is one of usage (a path that does not exist) or of
// vpnlint itself (a rule that fails to evaluate); what is wrong with an input
// is a gap in the report and never an error.
func (l *Linter) Run(ctx context.Context, paths []string, opts Options) (report.Report, error) {
	loaded, err := loader.Load(ctx, paths, opts.load())
	if err != nil {
		return report.Report{}, err
	}
	return l.judge(ctx, paths, loaded, opts, nil)
}

// Run is New and Linter.Run in one, for a single run: rules and catalogue are
// read while the inputs are.
func Run(ctx context.Context, paths []string, opts Options) (report.Report, error) {
	type made struct {
		linter *Linter
		err    error
	}
	ready := make(chan made, 1)
	go func() {
		l, err := New(ctx, opts.UserRules...)
		ready <- made{linter: l, err: err}
	}()
	loaded, err := loader.Load(ctx, paths, opts.load())
	done := <-ready
	if err == nil {
		err = done.err
	}
	if err != nil {
		return report.Report{}, err
	}
	return done.linter.judge(ctx, paths, loaded, opts, nil)
}

// load are the loader's options with what the plan file adds.
func (o Options) load() loader.Options {
	load := o.Load
	if o.Plan != nil {
		load.Targets = o.Plan.Targets
	}
	return load
}

// judge takes what was loaded through facts, plan and rules. keep, if it is not
// nil, gets what each look at the objects told.
func (l *Linter) judge(ctx context.Context, paths []string, loaded *loader.Result, opts Options, keep func(Reading)) (report.Report, error) {
	groups, err := l.distinct(ctx, loaded.Groups, opts)
	if err != nil {
		return report.Report{}, err
	}
	var said []held
	gaps := loaded.Gaps
	var claims []cidrplan.Claim // of the default value sets
	for i, group := range groups {
		for _, r := range readings(group.Objects, opts.Plan) {
			known, err := l.read(ctx, r.objects, r.options(opts))
			if err != nil {
				return report.Report{}, err
			}
			if i == 0 {
				claims = append(claims, known.Claims...)
			}
			all := r.everything(opts.Plan)
			gaps = append(gaps, locateGaps(known.Gaps, all)...)
			if keep != nil {
				keep(Reading{Groups: group.Names, Objects: all, Facts: *known, Charts: loaded.Charts})
			}
			findings, late, err := l.evaluate(ctx, check.Input{Facts: known, Plan: cidrplan.Compute(known.Claims), Objects: all}, opts)
			if err != nil {
				return report.Report{}, err
			}
			gaps = append(gaps, late...)
			for _, f := range r.settle(findings, opts.Plan) {
				said = append(said, held{finding: f, groups: group.Names})
			}
		}
	}
	missed, err := unplanned(ctx, loaded.Objects, opts.Plan, l.catalog)
	if err != nil {
		return report.Report{}, err
	}
	gaps = append(gaps, missed...)
	files := opts.files(loaded.Files)
	complaints := applySuppressions(readSuppressions(files, groups, opts.entries()), said,
		suppress.Run{Rules: l.Rules(), Off: opts.off(), Unseen: unseen(gaps, files), Paths: paths, Files: slices.Sorted(maps.Keys(loaded.Files))})
	for _, f := range applySeverities(complaints, opts.Plan) {
		said = append(said, held{finding: f, groups: setNames(groups)})
	}
	r := report.Report{
		Version:   opts.Version,
		Findings:  mergeSets(onlyOnce(said, l.Rules()), groups),
		Gaps:      sortGaps(gaps),
		Plan:      cidrplan.Compute(claims),
		Rules:     l.Rules(),
		Files:     files,
		ValueSets: setNames(groups),
		Clusters:  opts.clusters(),
	}
	r.Summary = summarize(r, len(loaded.Inputs), countObjects(loaded.Groups))
	for _, skip := range loaded.Skipped {
		r.Skipped = append(r.Skipped, report.Skip(skip))
	}
	return r, nil
}

// files are the texts that the report may point into.
func (o Options) files(loaded map[string]*source.File) map[string]*source.File {
	if o.Plan == nil {
		return loaded
	}
	files := maps.Clone(loaded)
	files[o.Plan.File] = o.Plan.Text
	return files
}

// entries are the suppressions of the plan file.
func (o Options) entries() []suppress.Entry {
	if o.Plan == nil {
		return nil
	}
	return o.Plan.Suppress
}

// clusters are the names of the plan's clusters.
func (o Options) clusters() []string {
	var names []string
	if o.Plan != nil {
		for _, c := range o.Plan.Clusters {
			names = append(names, c.Name)
		}
	}
	return names
}

// off are the rules that the plan file turns off.
func (o Options) off() map[string]bool {
	off := map[string]bool{}
	if o.Plan != nil {
		for rule := range o.Plan.Severities {
			off[rule] = o.Plan.Off(rule)
		}
	}
	return off
}

// evaluate runs the rules: each directory of the user's by itself, then the
// built-in ones, last, for they let go of the facts. Rules that do not end in
// their time say nothing, which is a gap, and the others are run all the same.
func (l *Linter) evaluate(ctx context.Context, in check.Input, opts Options) ([]finding.Finding, []finding.Gap, error) {
	var findings []finding.Finding
	var gaps []finding.Gap
	objects := in.Objects
	within := func(name string, run func(context.Context) ([]finding.Finding, error)) error {
		limit := cmp.Or(opts.RulesTime, DefaultRulesTime)
		timed, cancel := context.WithTimeoutCause(ctx, limit, errRulesTime)
		defer cancel()
		found, err := run(timed)
		switch {
		case err != nil && ctx.Err() == nil && errors.Is(context.Cause(timed), errRulesTime):
			gaps = append(gaps, lateGap(name, limit, objects))
		case err != nil:
			return fmt.Errorf("evaluate the rules: %w", err)
		}
		findings = append(findings, found...)
		return nil
	}
	for _, u := range l.user {
		if err := within("the rules of "+u.Dir(), func(ctx context.Context) ([]finding.Finding, error) { return u.Run(ctx, in) }); err != nil {
			return nil, nil, err
		}
	}
	builtIn := func(ctx context.Context) ([]finding.Finding, error) {
		last := in
		in = check.Input{} // or it would hold the facts while the rules run
		return l.engine.Run(ctx, last)
	}
	if err := within("the rules", builtIn); err != nil {
		return nil, nil, err
	}
	return findings, gaps, nil
}

var errRulesTime = errors.New("the rules took too long")

// lateGap says that rules did not end in their time.
func lateGap(rules string, limit time.Duration, objects []*source.Object) finding.Gap {
	g := finding.Gap{
		Kind:        finding.Unreadable,
		What:        fmt.Sprintf("%s were not evaluated to the end over %d objects", rules, len(objects)),
		Why:         fmt.Sprintf("they took longer than the limit of %s; raise --limit-rules-seconds, or lint fewer paths at once", limit),
		Consequence: "nothing of what they would say of these objects is in this report",
	}
	if len(objects) > 0 {
		at := objects[0].Origin.Locate(source.Ref{Object: objects[0].ID}).Primary
		g.File, g.Line = at.File, at.Span.Start.Line
	}
	return g
}

func (l *Linter) read(ctx context.Context, objects []*source.Object, opts facts.Options) (*facts.Facts, error) {
	known, err := facts.Read(ctx, objects, l.catalog, opts)
	if err != nil {
		return nil, fmt.Errorf("read the facts: %w", err)
	}
	return known, nil
}

func summarize(r report.Report, inputs, objects int) report.Summary {
	s := report.Summary{Inputs: inputs, Objects: objects, Gaps: len(r.Gaps)}
	for _, f := range r.Findings {
		switch {
		case f.Suppressed != nil:
			s.Suppressed++
		case f.Severity == finding.Error:
			s.Errors++
		case f.Severity == finding.Warning:
			s.Warnings++
		default:
			s.Notes++
		}
	}
	return s
}
