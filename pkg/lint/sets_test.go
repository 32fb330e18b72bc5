package lint_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/lint"
	"github.com/vpnlint/vpnlint/pkg/loader"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestRulesTime: rules that take too long are a gap that no run passes with.
func TestRulesTime(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(repoRoot(t), "examples", "VPN101")
	r, err := lint.Run(context.Background(), []string{"bad"}, lint.Options{Load: loader.Options{Dir: dir}, RulesTime: time.Nanosecond})
	if err != nil || len(r.Gaps) != 1 {
		t.Fatalf("gaps %v, error %v", r.Gaps, err)
	}
	g := r.Gaps[0]
	if g.Kind != finding.Unreadable || !strings.HasPrefix(g.File, "bad/") || !strings.Contains(g.Why, "--limit-rules-seconds") || !strings.Contains(g.Why, "limit of 1ns") {
		t.Errorf("got %+v", g)
	}
	if code := (lint.Policy{}).ExitCode(r); code != lint.ExitGaps {
		t.Errorf("exit code %d", code)
	}
}

const gatewayTemplate = `apiVersion: v1
kind: Pod
metadata: {name: {{ .Chart.Name }}}
spec:
  {{- if .Values.forward }}
  securityContext: {sysctls: [{name: net.ipv4.ip_forward, value: "1"}]}
  {{- end }}
  containers:
    - name: wireguard
      image: ghcr.io/wg-easy/wg-easy:14
      env: [{name: WG_HOST, value: vpn.example.com}, {name: POOL, value: "{{ .Values.pool }}"}]
      securityContext: {capabilities: {add: [NET_ADMIN]}}
`

// TestValueSets holds the sets that findings name against charts that differ in
// theirs.
func TestValueSets(t *testing.T) {
	t.Parallel()
	dir := testtree.Write(t, map[string]string{
		"one/Chart.yaml":           "apiVersion: v2\nname: one\nversion: 1.0.0\n",
		"one/values.yaml":          "forward: false\n",
		"one/ci/a-values.yaml":     "forward: false\n",
		"one/ci/b-values.yaml":     "forward: true\n",
		"one/templates/pod.yaml":   gatewayTemplate,
		"two/Chart.yaml":           "apiVersion: v2\nname: two\nversion: 1.0.0\n",
		"two/values.yaml":          "forward: true\n",
		"two/ci/b-values.yaml":     "{forward: false, pool: 10.0.0.0/24}\n",
		"two/templates/pod.yaml":   gatewayTemplate,
		"three/Chart.yaml":         "apiVersion: v2\nname: three\nversion: 1.0.0\n",
		"three/templates/pod.yaml": gatewayTemplate,
		"prod.yaml":                "forward: false\n",
		"plain/pod.yaml":           strings.NewReplacer("{{ .Chart.Name }}", "plain", "{{- if .Values.forward }}", "#", "securityContext: {sysctls", "# {", "{{- end }}", "#", "{{ .Values.pool }}", "x").Replace(gatewayTemplate),
	})
	r, err := lint.Run(context.Background(), []string{"."}, lint.Options{Load: loader.Options{
		Dir: dir, ValueSets: []loader.ValueSet{{Name: "prod", Files: []string{"prod.yaml"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"one":   {"default", "ci/a-values.yaml", "prod"},
		"two":   {"ci/b-values.yaml", "prod"},
		"three": {"default", "prod"},
		"plain": nil,
	}
	seen := map[string]int{}
	for _, f := range r.Findings {
		if f.Rule != "VPN101" {
			continue
		}
		seen[f.Object.Name]++
		if !slices.Equal(f.ValueSets, want[f.Object.Name]) {
			t.Errorf("%s: %v, want %v", f.Object.Name, f.ValueSets, want[f.Object.Name])
		}
	}
	for name := range want {
		if seen[name] != 1 {
			t.Errorf("%s: %d findings of VPN101, want one", name, seen[name])
		}
	}
	if len(r.Gaps) > 0 || r.Summary.Objects != 4 {
		t.Errorf("%+v %+v", r.Gaps, r.Summary)
	}
}
