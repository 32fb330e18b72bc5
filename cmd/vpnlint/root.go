package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/check"
	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
)

// streams are what a run may read and write besides the files it is given.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError carries an exit code through cobra; it has nothing to print.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// run is the whole program but for os: it returns the exit code.
func run(ctx context.Context, args []string, std streams) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return lint.ExitClean
	}
	var exit exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	if ctx.Err() != nil {
		fmt.Fprintln(std.err, "vpnlint: interrupted; nothing was reported")
		return lint.ExitInterrupted
	}
	text := "vpnlint: " + strings.TrimSpace(err.Error())
	var wrong *config.Error
	var rego *check.RegoError
	switch {
	case errors.As(err, &wrong):
		text = wrong.Error() // file:line:column first, as editors read it
	case errors.As(err, &rego):
	default:
		fmt.Fprintln(std.err, report.Plain(text))
		return lint.ExitUsage
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(std.err, report.Plain(line))
	}
	return lint.ExitUsage
}

func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "vpnlint",
		Short: "Finds VPN-networking mistakes in Kubernetes manifests, kustomizations and Helm charts",
		Long: `vpnlint reads Kubernetes manifests, kustomizations and Helm charts and finds the
VPN-networking mistakes that look fine until packets die: a gateway pod that does
not forward, a masquerade exemption list that is too broad, a sidecar that takes
more routes than was meant, ranges that overlap. It works offline.`,
		Example: `  vpnlint lint charts/openvpn
  vpnlint lint -f prod.yaml charts/openvpn clusters/prod
  helm template charts/openvpn | vpnlint lint -
  vpnlint explain VPN101`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if _, err := os.Stat(args[0]); err == nil {
				return fmt.Errorf("unknown command %q: to lint it, run: vpnlint lint %s", args[0], args[0])
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return fmt.Errorf("unknown command %q: did you mean vpnlint %s?", args[0], near[0])
			}
			return fmt.Errorf(`unknown command %q: "vpnlint --help" lists the commands`, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	// Given here, it gets no -v, which is --verbose of other commands.
	root.Flags().Bool("version", false, "print the version of vpnlint")
	root.SetVersionTemplate("vpnlint {{.Version}}\n")
	root.SuggestionsMinimumDistance = 2
	root.SetUsageFunc(plainUsage(root.UsageFunc()))
	root.AddCommand(newLint(std), newFix(std), newPlan(std), newRules(std), newExplain(std), newSchema(std), newInput(std), newRender(std))
	return root
}

// version is the module's version as the build recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

// plainUsage takes out of a usage text what the flag library writes behind
// every switch, [=true|false]: nobody needs it, and it hides what matters.
func plainUsage(usage func(*cobra.Command) error) func(*cobra.Command) error {
	const noise = "[=true|false]"
	return func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		var b strings.Builder
		cmd.SetOut(&b)
		err := usage(cmd)
		cmd.SetOut(out)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, strings.ReplaceAll(b.String(), noise, strings.Repeat(" ", len(noise))))
		return err
	}
}
