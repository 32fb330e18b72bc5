package main

import (
	"github.com/spf13/cobra"

	"github.com/vpnlint/vpnlint/pkg/loader"
)

// renderCommand is what vpnlint calls itself with to render one chart apart.
const renderCommand = "render-chart"

func newRender(std streams) *cobra.Command {
	return &cobra.Command{
		Use:    renderCommand,
		Short:  "Render a chart for a parent process",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return loader.ServeRenders(std.in, std.out)
		},
	}
}
