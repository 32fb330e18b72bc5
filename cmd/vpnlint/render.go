package main

import (
	"io"
	"os"

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
			return loader.ServeRenders(untilEOF(std.in), std.out)
		},
	}
}

// untilEOF reads ahead and ends the process when nothing more will come: the
// parent has ended, however it did, or wants no answer any more. Helm's engine
// would go on for as long as a template makes it.
func untilEOF(in io.Reader) io.Reader {
	out, ahead := io.Pipe()
	go func() {
		_, _ = io.Copy(ahead, in)
		os.Exit(0)
	}()
	return out
}
