package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/lint"
)

// TestNoOrphans: a process that renders a chart without end does not outlive the
// one that asked for it, however that ended, and one that was asked to end says so.
func TestNoOrphans(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	binary := filepath.Join(t.TempDir(), "vpnlint")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "Chart.yaml"), "apiVersion: v2\nname: c\nversion: 0.1.0\n")
			writeFile(t, filepath.Join(dir, "templates", "a.yaml"), "{{ range until 10000 }}{{ derivePassword 1 \"long\" \"a\" \"b\" \"c\" }}{{ end }}\n")
			cmd := exec.Command(binary, "lint", dir)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var child string
			within(t, "the process that renders", func() bool {
				lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid)) // the pattern is fine
				for _, list := range lists {
					if text, err := os.ReadFile(list); err == nil && strings.TrimSpace(string(text)) != "" {
						child = strings.Fields(string(text))[0]
					}
				}
				return child != "" && peakOf(child) > 0
			})
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			if want := "vpnlint: interrupted; nothing was reported\n"; signal != syscall.SIGKILL && (said.String() != want || cmd.ProcessState.ExitCode() != lint.ExitInterrupted) {
				t.Errorf("it says %q and exits with %d", said.String(), cmd.ProcessState.ExitCode())
			}
			within(t, "the end of the process that renders", func() bool { return peakOf(child) == 0 })
		})
	}
}

// within waits for something that takes moments.
func within(t *testing.T, what string, seen func() bool) {
	t.Helper()
	for range 1500 {
		if seen() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}
