package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/suggest"
)

func newRules(std streams) *cobra.Command {
	var user []string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List the rules",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := lint.New(cmd.Context(), user...)
			if err != nil {
				return err
			}
			return report.RulesTable(std.out, l.Rules(), report.Options{Width: width(std.out)})
		},
	}
	userRulesFlag(cmd.Flags(), &user)
	return cmd
}

// userRulesFlag adds --rules.
func userRulesFlag(f *pflag.FlagSet, dirs *[]string) {
	f.StringArrayVar(dirs, "rules", nil, "`DIR` with rules of your own in Rego, packages vpnlint.user.NAME (repeatable)")
}

func newExplain(std streams) *cobra.Command {
	var user []string
	var output string
	cmd := &cobra.Command{
		Use:   "explain RULE...",
		Short: "Show the page of a rule: what it finds, why, and how to mend it",
		Long: `Shows the page of a rule: what happens to the packet, when the rule fires and
when it stays silent, an example with what vpnlint says of it, how to verify it on
a running cluster, and how to suppress it. In a terminal it is plain text; into a
file or pipe goes the Markdown that it is made of.`,
		Example: `  vpnlint explain VPN101
  vpnlint explain forwarding-not-declared
  vpnlint explain VPN101 -o markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`explain: no RULE given: "vpnlint rules" lists them`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lint.New(cmd.Context(), user...)
			if err != nil {
				return err
			}
			write, err := pageWriter(output, std)
			if err != nil {
				return err
			}
			for i, arg := range args {
				page, ok := l.Page(ruleID(l.Rules(), arg))
				if !ok {
					return noRule(l.Rules(), arg)
				}
				if i > 0 {
					fmt.Fprintln(std.out)
				}
				if err := write(withoutComment(page)); err != nil {
					return fmt.Errorf("write the page: %w", err)
				}
			}
			return nil
		},
	}
	userRulesFlag(cmd.Flags(), &user)
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FORMAT`: text or markdown (default: text in a terminal, else markdown)")
	return cmd
}

// pageWriter returns what writes a page of Markdown in a format, "" for the one
// that the stream is for.
func pageWriter(format string, std streams) (func(page string) error, error) {
	_, isTerminal := terminal(std.out)
	if format == "" {
		format = "markdown"
		if isTerminal {
			format = "text"
		}
	}
	switch format {
	case "markdown":
		return func(page string) error {
			_, err := io.WriteString(std.out, page)
			return err
		}, nil
	case "text":
		options := report.Options{Width: width(std.out), Color: isTerminal && colourWanted()}
		return func(page string) error { return report.Page(std.out, page, options) }, nil
	default:
		return nil, fmt.Errorf("--output %q: want text or markdown", format)
	}
}

// ruleID returns the id of a rule that is named by its id or its name.
func ruleID(rules []finding.RuleMeta, arg string) string {
	for _, r := range rules {
		if strings.EqualFold(r.Name, arg) {
			return r.ID
		}
	}
	return strings.ToUpper(arg)
}

func noRule(rules []finding.RuleMeta, arg string) error {
	var words []string
	for _, r := range rules {
		words = append(words, r.ID)
	}
	for _, r := range rules {
		words = append(words, r.Name)
	}
	guess := ""
	if near := suggest.Nearest(arg, words); near != "" {
		guess = "did you mean " + near + "? "
	}
	return fmt.Errorf(`no rule %q: %s"vpnlint rules" lists them`, arg, guess)
}

// withoutComment drops the comment at the top of a page, which is for those who
// edit the file and not for those who read it.
func withoutComment(page string) string {
	if comment, ok := strings.CutPrefix(page, "<!--"); ok {
		if _, rest, ok := strings.Cut(comment, "-->\n"); ok {
			return rest
		}
	}
	return page
}
