package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

func newInput(std streams) *cobra.Command {
	var load loader.Options
	cmd := &cobra.Command{
		Use:   "input PATH...",
		Short: "Print what the rules see of charts, kustomizations and manifests",
		Long: `Prints the input of the rules as JSON: the pods with their roles, tunnels and
forwarding, the masquerade agents, the clusters and the address plan. Whoever
writes a rule looks here first, and gives it to the rule's tests.

"vpnlint schema input" prints its schema.`,
		Example: `  vpnlint input examples/user-rules/bad
  vpnlint input -f env/prod.yaml charts/openvpn > fixtures/prod/input.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`input: no PATH given: try "vpnlint input ."`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("find the working directory: %w", err)
			}
			load.Dir, load.Stdin = dir, std.in
			l, err := lint.New(cmd.Context())
			if err != nil {
				return err
			}
			text, err := l.Input(cmd.Context(), args, lint.Options{Load: load})
			if err != nil {
				return err
			}
			if _, err := std.out.Write(text); err != nil {
				return fmt.Errorf("write the input: %w", err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	chartFlags(f, &load)
	limitFlags(f, &load.Limits)
	return cmd
}
