package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tracer returns strace and the program as a file in a new directory.
func tracer(t *testing.T) (strace, dir, binary string) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	dir = t.TempDir()
	binary = filepath.Join(dir, "vpnlint")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return strace, dir, binary
}

// TestNoNetwork watches a whole run from outside: it opens no socket and starts
// no process but its own that render, whatever it is given.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	strace, dir, binary := tracer(t)
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
	own := regexp.MustCompile(`^\d+ +execve\("` + regexp.QuoteMeta(binary) + `", \["[^"]*"(\.\.\.)?, "(lint|` + renderCommand + `)"`)
	calls := call.FindAllString(string(trace), -1)
	if len(calls) == 0 {
		t.Error("the trace does not show the program")
	}
	for _, c := range calls {
		if !own.MatchString(c) {
			t.Errorf("want nothing but the program itself and its renderers, got: %s", c)
		}
	}
}

// TestReadsOnlyItsTree watches which files a run opens that is given links,
// template functions and kustomization entries that lead out of its tree.
func TestReadsOnlyItsTree(t *testing.T) {
	t.Parallel()
	strace, dir, binary := tracer(t)
	tree := filepath.Join(dir, "tree")
	const secret = "secret-outside.yaml"
	for name, text := range map[string]string{
		filepath.Join(dir, secret):              "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		tree + "/chart/Chart.yaml":              "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies: [{name: d, version: 1.0.0, repository: \"file://../../../d\"}]\n",
		tree + "/chart/templates/a.yaml":        "x: {{ .Files.Get \"../../" + secret + "\" }}{{ .Files.Get \"/etc/passwd\" }}{{ (.Files.Glob \"../../*\").AsConfig }}\n",
		tree + "/chart/values.schema.json":      `{"$ref": "file://` + dir + "/" + secret + `"}`,
		tree + "/kustomize/kustomization.yaml":  "resources: [../../" + secret + ", " + dir + "/" + secret + "]\nconfigMapGenerator: [{name: x, files: [/etc/passwd], envs: [../../" + secret + "]}]\n",
		tree + "/linked/kustomization.yaml":     "resources: [link.yaml]\n",
		tree + "/plain/a.yaml":                  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		tree + "/archive/charts/Chart.yaml.txt": "nothing\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"plain/file.yaml": "../../" + secret, "plain/absolute.yaml": filepath.Join(dir, secret), "plain/dir": "../..", "linked/link.yaml": "../../" + secret,
		"chart/values.yaml": "/etc/passwd", "chart/templates/b.yaml": "../../../" + secret, "chart/charts": "../..",
	} {
		if err := os.Symlink(target, filepath.Join(tree, link)); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "strace.log")
	cmd := exec.Command(strace, "-f", "-s", "4096", "-o", log, "-e", "trace=open,openat,openat2,readlink,readlinkat,network,execve,execveat", binary, "lint", "--fail-on", "never", "--allow-gaps", ".")
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) {
			t.Skipf("strace cannot trace here: %s", out)
		}
		t.Fatalf("run: %v\n%s", err, out)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// What a process of Go's opens for itself, by the path that is opened.
	own := regexp.MustCompile(`^(/dev/null$|/proc/|/sys/|/lib|/usr/lib|/etc/(ld\.so|localtime|nsswitch|mime)|/usr/share/(zoneinfo|locale|mime))`)
	opened := regexp.MustCompile(`open(?:at2?)?\((?:AT_FDCWD|\d+)?,? ?"([^"]*)"[^=]*(?:= \d+)`)
	found := false
	for line := range strings.Lines(string(trace)) {
		m := opened.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		found = found || strings.HasSuffix(name, "a.yaml")
		switch {
		case filepath.IsAbs(name) && !own.MatchString(name) && name != tree && name != binary && !strings.HasPrefix(name, tree+"/") && !strings.Contains(line, "O_PATH"),
			strings.HasPrefix(name, ".."), strings.Contains(name, secret):
			t.Errorf("opened outside the tree: %s", line)
		}
	}
	if !found {
		t.Errorf("the trace shows no file of the tree:\n%s", trace)
	}
}
