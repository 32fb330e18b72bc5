package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

func newFix(std streams) *cobra.Command {
	var flags lintFlags
	var write, review bool
	var valuesOut string
	var only []string
	cmd := &cobra.Command{
		Use:   "fix [PATH...]",
		Short: "Show or write fixes that are proved",
		Long: `Looks for changes that mend findings and proves each one: it is applied in
memory, everything is rendered and linted again, and only what removes its
finding and raises no other is shown, as a diff that git apply and patch take.
Without PATH it looks at the working directory. Of several ways to mend a
finding the smallest is taken ("vpnlint lint --fixes -o json" lists all).

--write changes the files, keeping comments and formatting. It leaves out fixes
that somebody has to decide on first, such as those that change the source
address of packets; --review takes these as well. Two fixes of which one writes
over what the other changes are reported and neither is taken. A file that was changed after it was read, or
that a link leads to outside of the work tree, is refused, and nothing is written
then. A second run changes nothing.

A chart is mended by its values, where its templates let them: in its own
values.yaml, or in the -f file that sets the value. --values-out writes the same
as a small values file of its own, for a chart that you do not change: a packed
one, or somebody else's. It is for one chart, and FILE must not exist.

Exit code 0: there is nothing to fix, or everything was written. 1: fixes are
shown, or left. 2: wrong usage. 3: something could not be read (--allow-gaps).`,
		Example: `  vpnlint fix
  vpnlint fix clusters/prod > fixes.patch
  vpnlint fix --write clusters/prod
  vpnlint fix --values-out vpn.values.yaml charts/openvpn`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFix(cmd, pathsOr(args), flags, fixFlags{write: write, review: review, rules: only, valuesOut: valuesOut}, std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&write, "write", "w", false, "write the fixes to the files")
	f.BoolVar(&review, "review", false, "with --write or --values-out: also those that need a decision, which you have made; says why others have none")
	f.StringVar(&valuesOut, "values-out", "", "write what mends a chart to a new values `FILE`, for -f (\"-\": standard output)")
	f.StringSliceVar(&only, "rule", nil, "mend findings of this `RULE` only, such as VPN302 (repeatable)")
	inputFlags(f, &flags)
	f.BoolVar(&flags.allowGaps, "allow-gaps", false, "do not exit with 3 for inputs that could not be read")
	flags.config.register(f)
	isolateFlag(f, &flags.isolate)
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "say why a finding has no fix, which fixes were tried in vain, which files were\nskipped, and what Helm's library remarks")
	limitFlags(f, &flags.load.Limits)
	f.IntVar(&flags.rulesSeconds, "limit-rules-seconds", int(lint.DefaultRulesTime/time.Second), "seconds for the rules over all objects")
	fixTimeFlag(f, &flags.fixSeconds)
	return cmd
}

func fixTimeFlag(f *pflag.FlagSet, seconds *int) {
	f.IntVar(seconds, "limit-fix-seconds", int(fix.DefaultTime/time.Second), "seconds for the proofs of all fixes")
}

// proving are the options of the proofs.
func (flags *lintFlags) proving(opts lint.Options, std streams) fix.Options {
	out := fix.Options{Lint: opts, Time: time.Duration(flags.fixSeconds) * time.Second}
	if flags.verbose {
		type refusal struct{ fingerprint, title, why string }
		said := map[refusal]bool{} // each round tries again what the one before it refused
		out.Refused = func(f *finding.Finding, title, why string) {
			this := refusal{f.Fingerprint, title, why}
			if said[this] {
				return
			}
			said[this] = true
			fmt.Fprintln(std.err, report.Plain(fmt.Sprintf("%s:%d: %s: not offered: %s: %s", f.Primary.File, f.Primary.Span.Start.Line, f.Rule, title, why)))
		}
	}
	return out
}

// prove lints and proves fixes.
func prove(ctx context.Context, paths []string, flags lintFlags, opts lint.Options, std streams) (fix.Result, error) {
	linter, err := lint.New(ctx, opts.UserRules...)
	if err != nil {
		return fix.Result{}, err
	}
	proved, err := fix.Prove(ctx, linter, paths, flags.proving(opts, std))
	if err != nil {
		return fix.Result{}, err
	}
	sayLate(std, proved.Late, flags.fixSeconds)
	return proved, nil
}

func sayLate(std streams, late, seconds int) {
	if late > 0 {
		fmt.Fprintf(std.err, "vpnlint: no fix was looked for, or not to the end, for %d of the findings: the limit of %d seconds was over; raise --limit-fix-seconds, or name fewer paths\n", late, seconds)
	}
}

// maxRounds ends fixes that never come to rest. Each round takes what the one
// before it made possible; more than two are rare.
const maxRounds = 8

// fixFlags say what becomes of the fixes.
type fixFlags struct {
	write, review bool
	rules         []string
	valuesOut     string
}

func runFix(cmd *cobra.Command, paths []string, flags lintFlags, how fixFlags, std streams) error {
	write, review := how.write, how.review
	switch {
	case how.valuesOut == "" && cmd.Flags().Changed("values-out"):
		return errors.New("--values-out: want a file to write, or \"-\" for standard output; an empty name is neither")
	case write && how.valuesOut != "":
		return errors.New("--write and --values-out are two ways to apply the same fixes: choose one")
	case review && !write && how.valuesOut == "":
		return errors.New("--review goes with --write or --values-out: without them all fixes are shown")
	}
	if err := flags.prepare(cmd, std); err != nil {
		return err
	}
	opts, err := flags.options(paths, std)
	if err != nil {
		return err
	}
	linter, err := lint.New(cmd.Context(), opts.UserRules...)
	if err != nil {
		return err
	}
	for _, rule := range how.rules {
		if !slices.ContainsFunc(linter.Rules(), func(m finding.RuleMeta) bool { return m.ID == rule }) {
			return fmt.Errorf("--rule %s: there is no such rule (vpnlint rules lists them)", rule)
		}
	}
	proving := flags.proving(opts, std)
	proving.Rules = how.rules
	if how.valuesOut != "" {
		return runValuesOut(cmd.Context(), linter, paths, flags, how, proving, std)
	}
	done, err := fix.All(cmd.Context(), linter, paths, proving, maxRounds, func(f finding.Fix) bool {
		return !write || review || f.Review == ""
	})
	if err != nil {
		return err
	}
	sayLate(std, done.Late, flags.fixSeconds)
	if write {
		if err := fix.Write(opts.Load.Dir, done.Changes); err != nil {
			fmt.Fprintln(std.err, "vpnlint: not written: "+report.Plain(err.Error()))
			return exitError{code: lint.ExitFindings}
		}
	} else if _, err := io.WriteString(std.out, shownOn(std.out, diffOf(opts.Load.Dir, done.Changes))); err != nil {
		return fmt.Errorf("write the diff: %w", err)
	}
	fmt.Fprint(std.err, fixWords(done, write))
	sayNothing(std, done.Report, paths, flags.verbose)
	if flags.verbose || review {
		sayUnmended(std, done.Unmended)
	}
	if done.Without > 0 && done.Late == 0 && len(how.rules) == 0 {
		fmt.Fprintf(std.err, "vpnlint: no fix is known for %d of the findings; vpnlint lint lists them, and -v says why\n", done.Without)
	}
	sayUnread(std, done.Report)
	policy := lint.Policy{AllowGaps: flags.allowGaps}
	if code := policy.ExitCode(done.Report); code != lint.ExitClean {
		return exitError{code: code}
	}
	if !write && len(done.Changes) > 0 || len(done.Conflicts) > 0 || len(done.Left) > 0 || len(done.Unwritable) > 0 {
		return exitError{code: lint.ExitFindings}
	}
	return nil
}

// sayUnmended says of each finding for which nothing was tried why that is.
func sayUnmended(std streams, all []fix.Unmended) {
	for i := range all {
		f := &all[i].Finding
		fmt.Fprintln(std.err, report.Plain(fmt.Sprintf("%s:%d: %s: no fix: %s", f.Primary.File, f.Primary.Span.Start.Line, f.Rule, all[i].Why)))
	}
}

// sayUnread names what was not read, for which the exit code is 3.
func sayUnread(std streams, r report.Report) {
	for _, g := range r.Gaps {
		if g.Kind == finding.Unreadable {
			fmt.Fprintln(std.err, report.Plain(fmt.Sprintf("%s:%d: %s: %s", g.File, max(g.Line, 1), g.What, g.Why)))
		}
	}
}

// shownOn is a diff as it may be written: whatever bytes the files have for a
// program that applies it, nothing that a terminal would obey for people.
func shownOn(w io.Writer, text string) string {
	if _, is := terminal(w); !is {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = report.Plain(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// diffOf shows what would become of files below dir or, with ".." in their
// names, above it. What stands before the diff of a file says what for; git apply
// and patch pass over it. They refuse names with "..", so that the names are those
// from the directory above all files.
func diffOf(dir string, changes []fix.Change) string {
	var b strings.Builder
	up := ""
	for _, c := range changes {
		for strings.HasPrefix(c.File, up+"../") {
			up += "../"
		}
	}
	if up != "" {
		above := path.Clean(up)
		fmt.Fprintf(&b, "# for the directory %[1]s: git -C %[1]s apply, or patch -p1 -d %[1]s\n", above)
	}
	for _, c := range changes {
		if up != "" {
			c.File = fromAbove(dir, up, c.File)
		}
		for _, choice := range c.Choices {
			for _, line := range choiceWords(choice) {
				b.WriteString("# " + line + "\n")
			}
		}
		b.WriteString(fileDiff(c))
	}
	return b.String()
}

// fromAbove is the name, seen from the directory up above dir, of a file that is
// called name in dir.
func fromAbove(dir, up, name string) string {
	rel, err := filepath.Rel(filepath.Join(dir, up), filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// fileDiff is the diff of a file, whose name can say nothing else than which file
// it is.
func fileDiff(c fix.Change) string {
	const ownHeader = "diff a b\n--- a\n+++ b\n"
	hunks, changed := strings.CutPrefix(string(diff.Diff("a", []byte(c.Before), "b", []byte(c.After))), ownHeader)
	if !changed {
		return ""
	}
	before, after := patchName("a/"+c.File), patchName("b/"+c.File)
	end := "" // a name with blanks ends in a tab, as git and patch have it
	if strings.Contains(before, " ") && before[0] != '"' {
		end = "\t"
	}
	return fmt.Sprintf("diff %s %s\n--- %s%s\n+++ %s%s\n%s", before, after, before, end, after, end, hunks)
}

// patchName writes a path as git and patch read it: one with control characters
// or quotes as a C string.
func patchName(name string) string {
	special := func(c byte) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }
	var b strings.Builder
	quoted := false
	for i := range len(name) {
		switch c := name[i]; {
		case !special(c):
			b.WriteByte(c)
			continue
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(rune(c)))
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
		quoted = true
	}
	if quoted {
		return `"` + b.String() + `"`
	}
	return name
}

// choiceWords name a fix, the findings that it mends and what to know of it.
func choiceWords(c fix.Choice) []string {
	var lines []string
	for i := range c.Findings {
		f := &c.Findings[i]
		lines = append(lines, report.Plain(fmt.Sprintf("%s:%d: %s: %s", f.Primary.File, f.Primary.Span.Start.Line, f.Rule, c.Fix.Title)))
	}
	if c.Fix.Review != "" {
		lines = append(lines, report.Plain("  decide first: "+c.Fix.Review))
	}
	return lines
}

// fixWords says what was written and what was left.
func fixWords(done fix.Done, write bool) string {
	var b strings.Builder
	if write {
		for _, c := range done.Changes {
			for _, choice := range c.Choices {
				b.WriteString(strings.Join(choiceWords(choice), "\n") + "\n")
			}
		}
	}
	for _, c := range done.Left {
		b.WriteString(strings.Join(choiceWords(c), "\n") + "\n  not written: --review writes it\n")
	}
	for _, c := range done.Unwritable {
		b.WriteString(strings.Join(choiceWords(c), "\n") + "\n  not written: --values-out FILE writes it to a values file\n")
	}
	for _, c := range done.Conflicts {
		way := ""
		if c.A.Findings[0].Rule != c.B.Findings[0].Rule {
			way = " (--rule takes one)"
		}
		b.WriteString(report.Plain(fmt.Sprintf("%s:%d: two fixes do not go together, so neither was taken: %q for %s and %q for %s%s",
			c.File, c.Line, c.A.Fix.Title, whose(c.A), c.B.Fix.Title, whose(c.B), way)) + "\n")
	}
	return b.String()
}

// whose names the first finding that a fix mends.
func whose(c fix.Choice) string { return c.Findings[0].Rule + " of " + c.Findings[0].Object.String() }
