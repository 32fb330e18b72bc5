package fix

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// What is found about an object whose name is drawn anew at each render is the
// same finding at the same place, under another fingerprint.
func TestDrawnNames(t *testing.T) {
	t.Parallel()
	found := func(fingerprint string, line int) finding.Finding {
		return finding.Finding{
			Rule: "VPN101", Severity: finding.Warning, Fingerprint: fingerprint,
			Primary: source.Location{File: "pod.yaml", Span: source.Span{Start: source.Position{Line: line}}},
		}
	}
	before := sketches([]finding.Finding{found("stays", 1), found("first", 2)})
	before.objects = map[finding.ObjectName]int{{Kind: "Pod", Name: "a-1"}: 1, {Kind: "Pod", Name: "b"}: 1}
	again := sketches([]finding.Finding{found("stays", 1), found("second", 2)})
	again.objects = map[finding.ObjectName]int{{Kind: "Pod", Name: "a-2"}: 1, {Kind: "Pod", Name: "b"}: 1}
	if !again.misses(before) || again.raises(before) == "" {
		t.Error("two runs pass for the same")
	}
	before.steady(again)
	if again.misses(before) || again.raises(before) != "" {
		t.Error("an object with another name is lost, or what is said of it is new")
	}
	if left := again.left(before); !left["first"] || !left["stays"] {
		t.Errorf("a finding about an object with another name is gone: %v", left)
	}
	after := sketches([]finding.Finding{found("stays", 1), found("new", 3)})
	if after.raises(before) == "" {
		t.Error("a finding at another place is not new")
	}
	if left := after.left(before); left["first"] || !left["stays"] {
		t.Errorf("%v", left)
	}
	after.objects = map[finding.ObjectName]int{{Kind: "Pod", Name: "a-3"}: 1}
	if !after.misses(before) {
		t.Error("an object that every run had is not lost")
	}
}
