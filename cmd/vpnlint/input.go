package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
)

func newInput(std streams) *cobra.Command {
	var load loader.Options
	var config configFlags
	var cluster string
	var isolate bool
	var workloads int
	cmd := &cobra.Command{
		Use:   "input PATH...",
		Short: "Print what the rules see of charts, kustomizations and manifests",
		Long: `Prints the input of the rules as JSON: the pods with their roles, tunnels and
forwarding, the masquerade agents, the clusters and the address plan. Whoever
writes a rule looks here first, and gives it to the rule's tests.

The plan file is read as "vpnlint lint" reads it. What belongs to several of its
clusters is seen once for each of them: --cluster says which.

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
			if err := checkFlags(cmd.Flags()); err != nil {
				return err
			}
			if err := prepareLoad(&load, isolate, std); err != nil {
				return err
			}
			plan, err := config.load(load.Dir, load.Limits)
			if err != nil {
				return err
			}
			config.remark(std, load.Dir, args, plan)
			l, err := lint.New(cmd.Context())
			if err != nil {
				return err
			}
			text, err := l.Input(cmd.Context(), args, cluster, lint.Options{Load: load, Plan: plan, Workloads: workloads})
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
	config.register(f)
	f.StringVar(&cluster, "cluster", "", "cluster `NAME` of the plan file, where an input belongs to several")
	isolateFlag(f, &isolate)
	limitFlags(f, &load.Limits)
	workloadsFlag(f, &workloads)
	return cmd
}
