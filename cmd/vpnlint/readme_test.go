package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadmeCommands runs every line of the README's sh blocks from the root of
// the repository, with vpnlint on PATH. Exit code 1 means findings, which is
// what the examples are for.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	root := filepath.Join("..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "vpnlint"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	commands := shellLines(string(readme))
	if len(commands) < 5 {
		t.Fatalf("only %d commands found in the README", len(commands))
	}
	for _, command := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			if reason := notHere(command); reason != "" {
				t.Skip(reason)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "sh", "-c", command)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GOBIN="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
				t.Errorf("exit code %d (%v):\n%s", code, err, out)
			}
		})
	}
}

// notHere says why a command cannot run inside the tests.
func notHere(command string) string {
	switch {
	case strings.HasPrefix(command, "go test"):
		return "it would run this very test"
	case strings.Contains(command, "@latest"), strings.HasPrefix(command, "git clone"), strings.HasPrefix(command, "pre-commit "):
		return "needs the network"
	}
	for _, tool := range []string{"helm", "kustomize"} {
		if regexp.MustCompile(`(^|\| *)` + tool + ` `).MatchString(command) {
			if _, err := exec.LookPath(tool); err != nil {
				return tool + " is not installed"
			}
		}
	}
	return ""
}

// shellLines returns the commands of all ```sh blocks.
func shellLines(markdown string) []string {
	var lines []string
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside && line == "```sh"
		case inside && line != "" && !strings.HasPrefix(line, "#"):
			lines = append(lines, line)
		}
	}
	return lines
}
