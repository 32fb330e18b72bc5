package fix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// Override is a values file that mends what was found in one chart.
type Override struct {
	// Report is that of the run without it, with its fixes.
	Report report.Report
	Chart  string // its path; "" when no finding is mended by values
	Values map[string]any
	// Choices are what it mends; a choice is in it once, whatever it mends.
	Choices   []Choice
	Conflicts []Conflict
	// Left are those that were not wanted.
	Left []Choice
	// Beats are the values, as --set takes them, that --set sets otherwise: the
	// file only mends without that.
	Beats []string
	Late  int
}

// ChartsError says that values of more than one chart would mend something: a
// values file is for one.
type ChartsError struct{ Charts []string }

func (e *ChartsError) Error() string {
	return fmt.Sprintf("there are fixes for the values of %d charts (%s), and a values file is for one: name one of them as PATH", len(e.Charts), strings.Join(e.Charts, ", "))
}

// OverrideFor finds the values that mend what is found in a chart, round by round
// as All does, and proves that they do it together, as a values file behind all
// others. The error is a *ChartsError when there are several charts.
func OverrideFor(ctx context.Context, linter *lint.Linter, paths []string, opts Options, rounds int, want func(finding.Fix) bool) (Override, error) {
	var out Override
	opts.byValues = true
	base := opts.Lint.Load.Overrides
	for round := range rounds {
		proved, err := Prove(ctx, linter, paths, opts)
		if err != nil {
			return out, err
		}
		if round == 0 {
			out.Report = proved.Report
		}
		out.Late, out.Left = proved.Late, nil
		var wanted []Choice
		for _, c := range valueChoices(&proved.Report) {
			if want(c.Fix) {
				wanted = append(wanted, c)
			} else {
				out.Left = append(out.Left, c)
			}
		}
		charts := chartsOf(wanted)
		if len(charts) > 1 {
			return out, &ChartsError{Charts: charts}
		}
		free, conflicts := apartByValues(wanted)
		out.Conflicts = conflicts
		if len(free) == 0 {
			break
		}
		out.Chart = charts[0]
		kept, values, err := together(ctx, linter, paths, opts, &proved.Report, out.Values, free)
		if err != nil {
			return out, err
		}
		if len(kept) == 0 {
			break
		}
		out.Choices, out.Values = append(out.Choices, kept...), values
		opts.Lint.Load.Overrides = withOverride(base, out.Chart, out.Values)
	}
	opts.Lint.Load.Overrides = base
	if len(out.Choices) == 0 {
		return out, nil
	}
	err := out.check(ctx, linter, paths, opts)
	return out, err
}

func withOverride(all map[string]map[string]any, chart string, values map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	maps.Copy(out, all)
	out[chart] = mergeValues(out[chart], values)
	return out
}

// valueChoices takes the first fix by values of each finding; one fix for several
// findings is one choice.
func valueChoices(r *report.Report) []Choice {
	var out []Choice
	for i := range r.Findings {
		f := r.Findings[i]
		at := slices.IndexFunc(f.Fixes, func(x finding.Fix) bool { return len(x.Values) > 0 && x.Proof == finding.Rendered })
		if at < 0 {
			continue
		}
		same := slices.IndexFunc(out, func(c Choice) bool {
			return c.Fix.Chart == f.Fixes[at].Chart && reflect.DeepEqual(c.Fix.Values, f.Fixes[at].Values)
		})
		if same >= 0 {
			out[same].Findings = append(out[same].Findings, f)
			continue
		}
		out = append(out, Choice{Findings: []finding.Finding{f}, Fix: f.Fixes[at]})
	}
	return out
}

// onlyValues are the choices of findings that no edit mends.
func onlyValues(r *report.Report) []Choice {
	return slices.DeleteFunc(valueChoices(r), func(c Choice) bool {
		return slices.ContainsFunc(c.Findings, func(f finding.Finding) bool {
			return slices.ContainsFunc(f.Fixes, func(x finding.Fix) bool { return len(x.Edits) > 0 })
		})
	})
}

func chartsOf(all []Choice) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Fix.Chart)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// apartByValues tells the choices that can stand beside all others from those
// that set one value to different ends.
func apartByValues(wanted []Choice) (free []Choice, conflicts []Conflict) {
	caught := make([]bool, len(wanted))
	for i := range wanted {
		for j := i + 1; j < len(wanted); j++ {
			if clash(wanted[i].Fix.Values, wanted[j].Fix.Values) {
				caught[i], caught[j] = true, true
				at := wanted[j].Findings[0].Primary
				conflicts = append(conflicts, Conflict{A: wanted[i], B: wanted[j], File: at.File, Line: at.Span.Start.Line})
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

// clash reports whether two overrides set a value to different ends.
func clash(a, b map[string]any) bool {
	for key, value := range b {
		has, ok := a[key]
		if !ok {
			continue
		}
		inner, isMap := value.(map[string]any)
		had, wasMap := has.(map[string]any)
		switch {
		case isMap && wasMap:
			if clash(had, inner) {
				return true
			}
		case !reflect.DeepEqual(has, value):
			return true
		}
	}
	return false
}

// together proves choices on top of values that are taken already; where they do
// not agree, those are kept that go with the ones before them.
func together(ctx context.Context, linter *lint.Linter, paths []string, opts Options, r *report.Report, values map[string]any, all []Choice) ([]Choice, map[string]any, error) {
	before := sketches(r)
	try := func(some []Choice) (map[string]any, bool, error) {
		merged := values
		for _, c := range some {
			merged = mergeValues(merged, c.Fix.Values)
		}
		with := opts.Lint
		with.Load.Overrides = withOverride(with.Load.Overrides, some[0].Fix.Chart, merged)
		after, err := relint(ctx, linter, paths, with)
		if err != nil {
			return nil, false, err
		}
		return merged, after.mended(some, before) && after.raises(before) == "", nil
	}
	merged, ok, err := try(all)
	if !ok && err == nil {
		if err = before.steadyBy(ctx, linter, paths, opts.Lint); err == nil {
			merged, ok, err = try(all)
		}
	}
	if ok || err != nil {
		return all, merged, err
	}
	var kept []Choice
	taken := values
	for _, c := range all {
		merged, ok, err := try(append(slices.Clip(kept), c))
		if err != nil {
			return nil, nil, err
		}
		if ok {
			kept, taken = append(kept, c), merged
		}
	}
	return kept, taken, nil
}

// errBeaten: a values file cannot do what the values do above everything else.
var errBeaten = errors.New("as a values file it does not mend what its values do: values that come behind -f, such as those of a --value-set, beat it")

// check runs the pipeline once more with the values in a file, as whoever uses it
// will, but for what --set sets otherwise.
func (o *Override) check(ctx context.Context, linter *lint.Linter, paths []string, opts Options) error {
	_, readings, err := linter.Study(ctx, paths, opts.Lint)
	if err != nil {
		return err
	}
	beaten := map[string]any{}
	for _, leaf := range leafPaths(o.Values, nil) {
		if o.setElsewhere(leaf, readings) {
			put(beaten, nil, leaf, valueAt(o.Values, leaf))
		}
	}
	file, err := os.CreateTemp("", "vpnlint-*.values")
	if err != nil {
		return fmt.Errorf("check the values file: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(o.Text(""))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("check the values file: %w", err)
	}
	with := opts.Lint
	with.Load.ValuesFiles = append(slices.Clip(with.Load.ValuesFiles), file.Name())
	if len(beaten) > 0 {
		with.Load.Overrides = withOverride(with.Load.Overrides, o.Chart, beaten)
	}
	after, err := relint(ctx, linter, paths, with)
	if err != nil {
		return err
	}
	before := sketches(&o.Report)
	left := after.left(before)
	for _, c := range o.Choices {
		for i := range c.Findings {
			// Of a later round: it is not in the first report.
			if f := &c.Findings[i]; left[f.Fingerprint] && before.knows(f.Fingerprint) {
				return errBeaten
			}
		}
	}
	return nil
}

// setElsewhere: --set sets the value at a path, and beats any file. It notes the
// value among those that are beaten.
func (o *Override) setElsewhere(path []string, readings []lint.Reading) bool {
	found := false
	for _, r := range readings {
		for _, values := range r.Charts {
			if values.Path != o.Chart || values.Place(path).By != "--set" {
				continue
			}
			found = true
			if name := values.JoinPath(path); !slices.Contains(o.Beats, name) {
				o.Beats = append(o.Beats, name)
			}
		}
	}
	return found
}

func valueAt(v any, path []string) any {
	for _, key := range path {
		v = member(v, key)
	}
	return v
}

// leafPaths are the paths of the values that are no mapping.
func leafPaths(values map[string]any, above []string) [][]string {
	var out [][]string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		here := append(slices.Clone(above), key)
		if inner, ok := values[key].(map[string]any); ok && len(inner) > 0 {
			out = append(out, leafPaths(inner, here)...)
		} else {
			out = append(out, here)
		}
	}
	return out
}

// Text is the values file: each value below what it mends. Name is the file that
// it is to be, for the words at its top.
func (o *Override) Text(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Values for the chart %s that mend what vpnlint finds in it. Name the file last:\n#   vpnlint lint -f %s %s\n", report.Plain(o.Chart), report.Plain(name), report.Plain(o.Chart))
	for _, path := range o.Beats {
		fmt.Fprintf(&b, "# --set %s=... would beat this file: leave it out.\n", report.Plain(path))
	}
	root := valueNode(o.Values)
	for _, c := range o.Choices {
		for _, path := range leafPaths(c.Fix.Values, nil) {
			key := keyNode(root, path)
			if key == nil {
				continue
			}
			for i := range c.Findings {
				f := &c.Findings[i]
				line := report.Plain(fmt.Sprintf("%s %s: %s", f.Rule, f.Object, strings.TrimSuffix(f.Name, ".")))
				if !slices.Contains(strings.Split(key.HeadComment, "\n"), line) {
					key.HeadComment = strings.TrimPrefix(key.HeadComment+"\n"+line, "\n")
				}
			}
		}
	}
	text, err := encode(root, style{2, 2})
	if err != nil {
		return b.String() // values come of YAML and go back to it
	}
	return b.String() + "\n" + text
}

// keyNode is the key at the end of a path.
func keyNode(n *yaml.Node, path []string) *yaml.Node {
	var key *yaml.Node
	for _, name := range path {
		k, v := ownMember(n, name)
		if k == nil {
			return nil
		}
		key, n = k, v
	}
	return key
}
