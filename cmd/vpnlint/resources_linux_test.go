package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const gatewayManifest = `apiVersion: v1
kind: Pod
metadata: {name: vpn%d}
spec:
  containers:
    - name: wireguard
      image: ghcr.io/wg-easy/wg-easy:14
      env: [{name: WG_HOST, value: vpn.example.com}]
---
`

// TestResources gives the program inputs that are made to use it up, with the
// default limits: it ends in time, below 512 MB, and says what it left out.
func TestResources(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	if raceDetector {
		t.Skip("a child's peak memory counts its parent's, which the race detector multiplies")
	}
	binary := filepath.Join(t.TempDir(), "vpnlint")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	const chartFile = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
	configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, tc := range map[string]struct {
		files map[string]string
		code  int
		says  []string
	}{
		"10,000 documents": {
			files: map[string]string{"a.yaml": strings.Repeat(configMap+"---\n", 9_000) + gateways(1_000)},
			code:  1, says: []string{"1000 warnings"},
		},
		"more documents than the limit": {
			files: map[string]string{"a.yaml": strings.Repeat(configMap+"---\n", 30_000)},
			code:  3, says: []string{"--limit-documents", "20000 objects"},
		},
		"a file of 100 MB": {
			files: map[string]string{"a.yaml": configMap + "data: {a: " + strings.Repeat("x", 100<<20) + "}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"--limit-file-bytes", "VPN101"},
		},
		"nesting of half a million": {
			files: map[string]string{"a.yaml": configMap + "data: " + strings.Repeat("[", 1<<19), "b.yaml": gateways(1)},
			code:  3, says: []string{"max depth", "VPN101"},
		},
		"a name of 5 MB": {
			files: map[string]string{"a.yaml": strings.ReplaceAll(gateways(1), "vpn0", strings.Repeat("v", 5<<20))},
			code:  1, says: []string{"VPN101"},
		},
		"a repeat of 400 million": {
			files: map[string]string{"c/Chart.yaml": chartFile, "c/templates/a.yaml": "x: {{ repeat 400000000 \"yyyyyyyy\" }}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"the chart was not rendered", "VPN101"},
		},
		"a loop of a thousand million": {
			files: map[string]string{"c/Chart.yaml": chartFile, "c/templates/a.yaml": "{{ range until 999999999 }}x{{ end }}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"the chart was not rendered", "VPN101"},
		},
		"a value that renders itself": {
			files: map[string]string{"c/Chart.yaml": chartFile, "c/values.yaml": "x: '{{ tpl .Values.x . }}'\n", "c/templates/a.yaml": "{{ tpl .Values.x . }}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"the chart was not rendered", "VPN101"},
		},
		"a text that doubles forty times": {
			files: map[string]string{
				"c/Chart.yaml": chartFile, "b.yaml": gateways(1),
				"c/templates/a.yaml": "{{ $x := \"x\" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}{{ $x }}\n",
			},
			code: 3, says: []string{"the chart was not rendered", "VPN101"},
		},
		"an annotation of 1 MB on 4,000 objects": {
			files: map[string]string{
				"k/kustomization.yaml": "resources: [a.yaml]\ncommonAnnotations: {a: " + strings.Repeat("x", 1<<20) + "}\n",
				"k/a.yaml":             configMaps(4_000), "b.yaml": gateways(1),
			},
			code: 3, says: []string{"the kustomization was not built", "VPN101"},
		},
		"5 million values in 10 MB": {
			files: map[string]string{"a.yaml": configMap + "data: {a: [" + strings.Repeat("a,", 4_900_000) + "]}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"--limit-nodes", "VPN101"},
		},
		"as many values as the limit allows": {
			files: map[string]string{"a.yaml": configMap + "data: {a: [" + strings.Repeat("a,", 999_900) + "]}\n", "b.yaml": gateways(1)},
			code:  1, says: []string{"VPN101"},
		},
		"300 broken templates": {
			files: brokenTemplates(chartFile, 300),
			code:  3, says: []string{"VPN101", "1 warning, 300 gaps"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range tc.files {
				writeFile(t, filepath.Join(dir, file), text)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary, "lint", ".")
			cmd.Dir = dir
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Errorf("exit code %d (%v), want %d:\n%s", code, err, tc.code, tail(out.String()))
			}
			for _, s := range tc.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("it does not say %q:\n%s", s, tail(out.String()))
				}
			}
			const most = 512 << 10 // kilobytes
			if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); !ok || usage.Maxrss > most {
				t.Errorf("%d kB resident, want at most %d", usage.Maxrss, most)
			}
		})
	}
}

func configMaps(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n---\n", i)
	}
	return b.String()
}

func gateways(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, gatewayManifest, i)
	}
	return b.String()
}

func brokenTemplates(chart string, n int) map[string]string {
	files := map[string]string{"Chart.yaml": chart, "templates/good.yaml": gateways(1)}
	for i := range n {
		files[fmt.Sprintf("templates/t%d.yaml", i)] = "{{ fail \"no\" }}\n"
	}
	return files
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tail(s string) string {
	const most = 2000
	return s[max(0, len(s)-most):]
}
