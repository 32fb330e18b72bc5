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
	cmd := &cobra.Command{
		Use:     "explain RULE...",
		Short:   "Show the page of a rule: what it finds, why, and how to mend it",
		Example: "  vpnlint explain VPN101\n  vpnlint explain forwarding-not-declared",
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
			for _, arg := range args {
				page, ok := l.Page(ruleID(l.Rules(), arg))
				if !ok {
					return noRule(l.Rules(), arg)
				}
				if _, err := io.WriteString(std.out, withoutComment(page)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	userRulesFlag(cmd.Flags(), &user)
	return cmd
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
