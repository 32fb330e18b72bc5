package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// runValuesOut is fix --values-out.
func runValuesOut(ctx context.Context, linter *lint.Linter, paths []string, flags lintFlags, how fixFlags, opts fix.Options, std streams) error {
	o, err := fix.OverrideFor(ctx, linter, paths, opts, maxRounds, func(f finding.Fix) bool { return how.review || f.Review == "" })
	var several *fix.ChartsError
	if errors.As(err, &several) {
		return fmt.Errorf("--values-out %s: %w", how.valuesOut, err)
	}
	if err != nil {
		return err
	}
	sayLate(std, o.Late, flags.fixSeconds)
	fmt.Fprint(std.err, fixWords(fix.Done{Conflicts: o.Conflicts, Left: o.Left}, true))
	if len(o.Choices) == 0 {
		if len(o.Conflicts) == 0 && len(o.Left) == 0 {
			fmt.Fprintln(std.err, "vpnlint: nothing was written: no finding is mended by the values of a chart")
		}
	} else if err := writeValues(how.valuesOut, &o, std); err != nil {
		return err
	}
	sayUnread(std, o.Report)
	policy := lint.Policy{AllowGaps: flags.allowGaps}
	if code := policy.ExitCode(o.Report); code != lint.ExitClean {
		return exitError{code: code}
	}
	if len(o.Conflicts) > 0 || len(o.Left) > 0 {
		return exitError{code: lint.ExitFindings}
	}
	return nil
}

// writeValues writes the values file and says what is in it. A file that is there
// is somebody's, unless it says the same.
func writeValues(name string, o *fix.Override, std streams) error {
	shown := name
	if name == "-" {
		shown = "FILE"
	}
	text := o.Text(shown)
	if name == "-" {
		if _, err := io.WriteString(std.out, text); err != nil {
			return fmt.Errorf("write the values: %w", err)
		}
	} else if err := writeNew(name, text); err != nil {
		return fmt.Errorf("--values-out %s: %w", name, err)
	}
	var b strings.Builder
	for _, c := range o.Choices {
		b.WriteString(strings.Join(choiceWords(c), "\n") + "\n")
	}
	for _, path := range o.Beats {
		b.WriteString(report.Plain(fmt.Sprintf("vpnlint: --set %s beats the values file: leave it out", path)) + "\n")
	}
	_, _ = io.WriteString(std.err, b.String())
	return nil
}

func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		// A device or a pipe never ends.
		if info, statErr := os.Lstat(name); statErr == nil && info.Mode().IsRegular() && info.Size() == int64(len(text)) {
			if have, readErr := os.ReadFile(name); readErr == nil && string(have) == text {
				return nil
			}
		}
		return errors.New("the file exists, and what is in it may be yours: name a new one, or remove it first")
	}
	if err != nil {
		return plainPath(err)
	}
	if _, err = f.WriteString(text); err != nil {
		return errors.Join(plainPath(err), f.Close(), os.Remove(name))
	}
	return plainPath(f.Close())
}

// plainPath drops the path of an error of the os package: the caller names it.
func plainPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
