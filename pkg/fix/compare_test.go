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
			Rule: "VPN101", Severity: finding.Warning, Fingerprint: fingerprint, Object: finding.ObjectName{Kind: "Pod", Name: fingerprint},
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

// A finding that only moved is no new one, and is not mended either; one that is
// worse, of another object or in other words about another field is new.
func TestMoved(t *testing.T) {
	t.Parallel()
	found := func(pointer, message string) finding.Finding {
		return finding.Finding{
			Rule: "VPN302", Severity: finding.Warning, Fingerprint: pointer + message, Pointer: pointer, Message: message,
			Object: finding.ObjectName{Kind: "Pod", Name: "a"}, Containers: []string{"vpn"}, ValueSets: []string{"default"},
			Primary: source.Location{File: "pod.yaml", Span: source.Span{Start: source.Position{Line: len(pointer)}}},
		}
	}
	was := found("/spec/containers/1/env/0", "old words")
	for name, c := range map[string]struct {
		now   finding.Finding
		moved bool
	}{
		"to the other list":         {found("/spec/initContainers/0/env/0", "old words"), true},
		"in other words":            {found("/spec/initContainers/0/env/0", "new words"), true},
		"to another field":          {found("/spec/initContainers/0", "old words"), true},
		"to the pod":                {found("/spec", "old words"), true},
		"other words, other field":  {found("/spec/containers/1/env/1", "new words"), false},
		"other words, of the pod":   {found("/spec", "new words"), false},
		"another rule":              {with(found("/spec", "old words"), func(f *finding.Finding) { f.Rule = "VPN408" }), false},
		"another object":            {with(found("/spec", "old words"), func(f *finding.Finding) { f.Object.Name = "b" }), false},
		"more severe":               {with(found("/spec", "old words"), func(f *finding.Finding) { f.Severity = finding.Error }), false},
		"under another value set":   {with(found("/spec", "old words"), func(f *finding.Finding) { f.ValueSets = []string{"ci"} }), false},
		"less severe, and silenced": {with(found("/spec", "old words"), func(f *finding.Finding) { f.Severity, f.Suppressed = finding.Note, &finding.Suppression{} }), true},
	} {
		before, after := sketches([]finding.Finding{was}), sketches([]finding.Finding{c.now})
		if raised := after.raises(before); (raised == "") != c.moved {
			t.Errorf("%s: raises %q", name, raised)
		}
		if left := after.left(before)[was.Fingerprint]; left != c.moved {
			t.Errorf("%s: left %v", name, left)
		}
	}
	silenced := with(was, func(f *finding.Finding) { f.Suppressed = &finding.Suppression{} })
	if sketches([]finding.Finding{was}).raises(sketches([]finding.Finding{silenced})) == "" {
		t.Error("a finding that nobody silences any more is not new")
	}
	// Each of those before stands for one of those now.
	twice := sketches([]finding.Finding{found("/spec/initContainers/0/env/0", "old words"), found("/spec/initContainers/1/env/0", "old words")})
	if twice.raises(sketches([]finding.Finding{was})) == "" {
		t.Error("one finding moved to two places")
	}
}

func with(f finding.Finding, change func(*finding.Finding)) finding.Finding {
	change(&f)
	return f
}

// What moves a finding waits for what mends it, unless that waits for the first.
func TestMoversWait(t *testing.T) {
	t.Parallel()
	choice := func(fingerprint string, moves ...string) Choice {
		return Choice{Findings: []finding.Finding{{Fingerprint: fingerprint}}, Fix: finding.Fix{Moves: moves}}
	}
	for name, c := range map[string]struct {
		wanted []Choice
		want   string
	}{
		"first":               {[]Choice{choice("a", "b"), choice("b")}, "b"},
		"last":                {[]Choice{choice("a"), choice("b", "a")}, "a"},
		"one waits":           {[]Choice{choice("a", "b"), choice("b", "a")}, "b"},
		"nobody mends it":     {[]Choice{choice("a", "c"), choice("b")}, "ab"},
		"a row waits in turn": {[]Choice{choice("a", "b"), choice("b", "c"), choice("c")}, "c"},
	} {
		got := ""
		for _, one := range withoutMovers(c.wanted) {
			got += one.Findings[0].Fingerprint
		}
		if got != c.want {
			t.Errorf("%s: now %q, want %q", name, got, c.want)
		}
	}
}
