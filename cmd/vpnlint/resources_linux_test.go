package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
		// most is the memory in MB that it may take where that is less than 512. It
		// bounds what is alive: how much garbage a run leaves lying below the soft
		// limit is a matter of the collector's timing, so that one works harder.
		most int64
	}{
		"5,000 plain objects in 1,000 files": {files: plainObjects(1000), most: 160, says: []string{"5000 objects"}},
		"10,000 documents": {
			files: map[string]string{"a.yaml": strings.Repeat(configMap+"---\n", 9_000) + gateways(1_000)},
			code:  1, says: []string{"1000 warnings"},
		},
		"10,000 gateways": {
			files: map[string]string{"a.yaml": gateways(10_000)},
			code:  1, says: []string{"10000 errors, 10000 warnings"},
		},
		"more documents than the limit": {
			files: map[string]string{"a.yaml": strings.Repeat(configMap+"---\n", 30_000)},
			code:  3, says: []string{"--limit-documents", "20000 objects"},
		},
		"a file of 100 MB": {
			files: map[string]string{"a.yaml": configMap + "data: {a: " + strings.Repeat("x", 100<<20) + "}\n", "b.yaml": gateways(1)},
			code:  3, says: []string{"--limit-file-bytes", "VPN101"},
		},
		"nesting of 400,000": {
			files: map[string]string{"a.yaml": configMap + "data: " + strings.Repeat("[", 400_000), "b.yaml": gateways(1)},
			code:  3, says: []string{"--limit-depth", "VPN101"},
		},
		"a name of 5 MB": {
			files: map[string]string{"a.yaml": strings.ReplaceAll(gateways(1), "vpn0", strings.Repeat("v", 5<<20)) + gateways(1)},
			code:  3, says: []string{"a.yaml:3", "its name has 5242880 bytes", "VPN101"},
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
			files: map[string]string{"a.yaml": configMap + "data: {a: [" + strings.Repeat("a,", 499_900) + "]}\n", "b.yaml": gateways(1)},
			code:  1, says: []string{"VPN101"},
		},
		"20,000 gateways in two files": {
			files: map[string]string{"a.yaml": gateways(10_000), "b.yaml": strings.ReplaceAll(gateways(10_000), "vpn", "b")},
			code:  3, says: []string{"--limit-workloads", "b.yaml:1"},
		},
		"sixteen files of as many values as the limit allows": {
			files: many(16, configMap+"data: {a: ["+strings.Repeat("a,", 499_900)+"]}\n"),
			code:  3, says: []string{"--limit-total-bytes", "f15.yaml"},
		},
		"sixteen files of 10 MB": {
			files: many(16, configMap+"data:\n"+strings.Repeat("  - aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 100_000)),
			code:  3, says: []string{"--limit-total-bytes", "f15.yaml"},
		},
		"300 broken templates": {
			files: brokenTemplates(chartFile, 300),
			code:  3, says: []string{"VPN101", "1 warning, 1 note, 300 gaps"},
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
			limit := int64(512)
			if tc.most != 0 {
				limit = tc.most
				cmd.Env = append(os.Environ(), "GOGC=50")
			}
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			peak := make(chan int64, 1)
			go func() { peak <- watchPeak(cmd.Process.Pid, ended) }()
			err := cmd.Wait()
			close(ended)
			own := <-peak
			if code := cmd.ProcessState.ExitCode(); code != tc.code {
				t.Errorf("exit code %d (%v), want %d:\n%s", code, err, tc.code, tail(out.String()))
			}
			for _, s := range tc.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("it does not say %q:\n%s", s, tail(out.String()))
				}
			}
			t.Logf("%d kB resident", own)
			if own == 0 || own > limit<<10 {
				t.Errorf("%d kB resident, want at most %d MB", own, limit)
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

// watchPeak returns the most memory in kB that a process or one of its children
// has had, as seen last before its end. What the kernel accounts for a process
// that has ended counts the test's own peak, for the two share their memory until
// the program runs.
func watchPeak(pid int, ended <-chan struct{}) (peak int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		peak = max(peak, peakOf(strconv.Itoa(pid)))
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is fine
		for _, list := range lists {
			children, err := os.ReadFile(list)
			if err != nil {
				continue // the thread has ended
			}
			for child := range strings.FieldsSeq(string(children)) {
				peak = max(peak, peakOf(child))
			}
		}
		select {
		case <-ended:
			return peak
		case <-tick.C:
		}
	}
}

// peakOf returns the most memory in kB that a process which runs vpnlint has had
// so far, 0 for any other.
func peakOf(pid string) (peak int64) {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	name, _, _ := strings.Cut(string(status), "\n")
	_, rest, ok := strings.Cut(string(status), "VmHWM:")
	if err != nil || !ok || !strings.HasSuffix(name, "vpnlint") {
		return 0
	}
	if _, err := fmt.Sscanf(rest, "%d kB", &peak); err != nil {
		return 0
	}
	return peak
}

// plainObjects are five objects a file that have nothing to do with a VPN.
func plainObjects(files int) map[string]string {
	out := map[string]string{}
	for i := range files {
		text := fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%[1]d, namespace: team-%[2]d, labels: {app: app-%[1]d}}
spec:
  replicas: 2
  selector: {matchLabels: {app: app-%[1]d}}
  template:
    metadata: {labels: {app: app-%[1]d}}
    spec:
      containers:
        - name: app
          image: registry.example.com/app:%[1]d
          env: [{name: PEER, value: "http://app-%[3]d:8080"}]
          ports: [{containerPort: 8080}]
          resources: {limits: {cpu: 100m, memory: 64Mi}}
`, i, i%20, i+1)
		for _, kind := range []string{"Service", "ConfigMap", "ServiceAccount", "Secret"} {
			text += fmt.Sprintf("---\napiVersion: v1\nkind: %s\nmetadata: {name: app-%d, namespace: team-%d}\n", kind, i, i%20)
			if kind == "Service" {
				text += fmt.Sprintf("spec: {selector: {app: app-%d}, ports: [{port: 8080}]}\n", i)
			}
		}
		out[fmt.Sprintf("app-%04d.yaml", i)] = text
	}
	return out
}

// many are n files of one text.
func many(n int, text string) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%02d.yaml", i)] = text
	}
	return files
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
