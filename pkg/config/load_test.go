package config

import (
	"testing"
	"github.com/vpnlint/vpnlint/pkg/source"
)

func TestTry(t *testing.T) {
	for _, text := range []string{`version: 2
clustres:
  - name: prod
clusters:
  - {name: prod, pods: 10.4.0.0/14, podforwarding: guaranteed, services: [10.4.1.0/14], node: [a]}
  - name: prod
    masquerade: {agent: gke-managd}
    vpn: [{name: x, destinations: [10.20.0.0], localTrafficSelectors: [99.0.0.0/8]}]
rules:
  VPN30: {severity: warn}
  VPN305: {severity: off}
suppress:
  - {rule: VPN301, path: "[", reson: x}
targets:
  - {path: charts/x, cluster: prd, set: {a: [1]}, values: [nope.yaml, /etc/passwd]}
`, "a: &a [*a]\n", "\x00", "version: 1\nversion: 1\n", "- a\n", "", "version: 1\n---\nversion: 1\n", "version: 1\n  bad: [\n"} {
		c, err := Parse(source.NewFile(".vpnlint.yaml", text), Options{Dir: t.TempDir(), Rules: []string{"VPN301", "VPN305"}})
		t.Logf("%v %v\n%v", c != nil, text[:min(len(text), 20)], err)
	}
}
