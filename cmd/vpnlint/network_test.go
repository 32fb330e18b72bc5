package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoNetwork watches a whole run from outside: it opens no socket and starts
// no process, whatever it is given.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "vpnlint")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	remote := filepath.Join(dir, "remote")
	if err := os.MkdirAll(remote, 0o755); err != nil {
		t.Fatal(err)
	}
	kustomization := "resources:\n  - https://example.com/base.yaml\n  - github.com/example/base?ref=v1\n"
	if err := os.WriteFile(filepath.Join(remote, "kustomization.yaml"), []byte(kustomization), 0o644); err != nil {
		t.Fatal(err)
	}

	log := filepath.Join(dir, "strace.log")
	cmd := exec.Command(strace, "-f", "-o", log, "-e", "trace=network,execve,execveat",
		binary, "lint", "--fail-on", "never", "--allow-gaps", filepath.Join("..", "..", "examples"), remote)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if strings.Contains(stderr.String(), "ptrace") {
			t.Skipf("strace cannot trace here: %s", stderr.String())
		}
		t.Fatalf("run: %v\n%s", err, stderr.String())
	}
	if !bytes.Contains(out, []byte("VPN101")) {
		t.Errorf("the traced run found nothing:\n%s", out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?m)^\d+ +(socket|connect|bind|sendto|recvfrom|execve|execveat)\(.*$`)
	calls := call.FindAllString(string(trace), -1)
	if len(calls) != 1 || !strings.Contains(calls[0], "execve(") {
		t.Errorf("want only the program's own execve, got:\n%s", strings.Join(calls, "\n"))
	}
}
