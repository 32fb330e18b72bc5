package fix_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/fix"
	"github.com/vpnlint/vpnlint/pkg/testtree"
)

// TestUnmendedSaysWhy: of what the archives hold that is not mended, each finding
// has a reason of its own, or a fix was tried in vain.
func TestUnmendedSaysWhy(t *testing.T) {
	linter := newLinter(t)
	archives, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	said := map[string]string{}
	for _, name := range archives {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		opts := options(t, testtree.Parse(t, string(text)))
		vain := map[string]bool{}
		opts.Refused = func(f *finding.Finding, _, _ string) { vain[f.Fingerprint] = true }
		proved, err := fix.Prove(t.Context(), linter, []string{"."}, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range proved.Unmended {
			vain[u.Finding.Fingerprint] = true
			said[filepath.Base(name)+" "+u.Finding.Rule] = u.Why
			if strings.Contains(u.Why, "nothing that is written there") {
				t.Errorf("%s: %s: %s", name, u.Finding.Rule, u.Why)
			}
		}
		for _, m := range proved.Report.Rules {
			vain[m.ID] = m.Once
		}
		for _, f := range proved.Report.Findings {
			if f.Suppressed == nil && len(f.Fixes) == 0 && !vain[f.Fingerprint] && !vain[f.Rule] {
				t.Errorf("%s: %s at %s has no fix and no reason", name, f.Rule, f.Primary.File)
			}
		}
	}
	for of, why := range map[string]string{
		"flow_left.txtar VPN101":        "written in a form that is not edited: in brackets",
		"kept_blank_lines.txtar VPN102": "forbids itself any privilege: allowPrivilegeEscalation: false",
		"merge_keys_left.txtar VPN302":  "FIREWALL_OUTBOUND_SUBNETS",
		"openvpn_routes.txtar VPN304":   "no variable is known that turns on a kill switch",
	} {
		if !strings.Contains(said[of], why) {
			t.Errorf("%s: %q, want %q", of, said[of], why)
		}
	}
}

// TestUnmendedKeepsItsLine: the place is that of the file as it is on the disk,
// though an earlier round has moved it.
func TestUnmendedKeepsItsLine(t *testing.T) {
	const flow = "---\n{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: openvpn, image: 'kylemanna/openvpn:2.4', securityContext: {capabilities: {add: [NET_ADMIN]}}}]}}\n"
	dir := testtree.Parse(t, gateway+flow)
	done, err := fix.All(t.Context(), newLinter(t), []string{"."}, options(t, dir), 4, func(finding.Fix) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Changes) != 1 || len(done.Unmended) == 0 {
		t.Fatalf("%d changes, %d without a fix", len(done.Changes), len(done.Unmended))
	}
	last := strings.Count(done.Changes[0].Before, "\n")
	for _, u := range done.Unmended {
		if at := u.Finding.Primary.Span.Start.Line; at != last {
			t.Errorf("%s at line %d, want %d", u.Finding.Rule, at, last)
		}
	}
}
