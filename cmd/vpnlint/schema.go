package main

import (
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/config"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/rules"
)

func newSchema(std streams) *cobra.Command {
	cmd := &cobra.Command{Use: "schema", Short: "Print the JSON schemas"}
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
