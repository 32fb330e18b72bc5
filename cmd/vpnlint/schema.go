package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/suggest"
	"github.com/vpnlint/vpnlint/rules"
)

func newSchema(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schemas",
		Args: func(cmd *cobra.Command, args []string) error {
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			slices.Sort(names)
			want := "want one of " + strings.Join(names, ", ")
			if len(args) == 0 {
				return errors.New("schema: no name given: " + want)
			}
			if near := suggest.Nearest(args[0], names); near != "" {
				want = "did you mean vpnlint schema " + near + "?"
			}
			return fmt.Errorf("schema: there is none of %q: %s", args[0], want)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }, // without it, Args are not looked at
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "input",
		Short: "Print the schema of what the rules see",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := fs.ReadFile(rules.FS(), "schema/input.json")
			if err != nil {
				return fmt.Errorf("read the schema: %w", err)
			}
			_, err = std.out.Write(text)
			return err
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "report",
		Short: "Print the schema of --output json",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(std.out, report.JSONSchema())
			return err
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "plan",
		Short: "Print the schema of plan --output json",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(std.out, report.PlanSchema())
			return err
		},
	})
	cmd.AddCommand(&cobra.Command{
		Use:   "config",
		Short: "Print the schema of the plan file, " + config.FileName,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := config.JSONSchema()
			if err != nil {
				return err
			}
			_, err = io.WriteString(std.out, schema)
			return err
		},
	})
	return cmd
}
