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
	"syscall"
)

// softMemoryLimit is where the collector starts to work harder; it fails nothing.
const softMemoryLimit = 400 << 20

// gcPercent saves a third of the time of a run over thousands of small files, for
// some twenty megabytes, and keeps the time of a workload from growing with their
// number.
const gcPercent = 400

func main() {
	std := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	if isNowhere(os.Stdout) {
		std.out = &nowhere{say: os.Stderr}
	}
	// Helm and kustomize write remarks on charts to the standard logger, among
	// them values, and kustomize some to standard error itself; lint --verbose
	// shows both.
	log.SetOutput(io.Discard)
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
	// Without a limit the collector lets garbage grow as large as what is alive,
	// which for thousands of gateways is half a gigabyte.
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemoryLimit)
	}
	// Up to that limit memory is cheaper than collecting: a run is short.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], std)
	stop()
	os.Exit(code)
}
