// Command vpnlint finds VPN-networking mistakes in Kubernetes manifests,
// kustomizations and Helm charts before they are deployed. It works offline.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
)

// softMemoryLimit is where the collector starts to work harder; it fails nothing.
const softMemoryLimit = 400 << 20

func main() {
	// Helm and kustomize write remarks on charts to the standard logger, among
	// them values; lint --verbose shows them.
	log.SetOutput(io.Discard)
	// Without a limit the collector lets garbage grow as large as what is alive,
	// which for thousands of gateways is half a gigabyte.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
