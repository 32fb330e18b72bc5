package fix

import (
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
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
	before := drawing(found("stays", 1), found("first", 2))
	before.objects = map[finding.ObjectName]int{{Kind: "Pod", Name: "a-1"}: 1, {Kind: "Pod", Name: "b"}: 1}
	again := drawing(found("stays", 1), found("second", 2))
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
	after := drawing(found("stays", 1), found("new", 3))
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
		before, after := drawing(was), drawing(c.now)
		if raised := after.raises(before); (raised == "") != c.moved {
			t.Errorf("%s: raises %q", name, raised)
		}
		if left := after.left(before)[was.Fingerprint]; left != c.moved {
			t.Errorf("%s: left %v", name, left)
		}
	}
	silenced := with(was, func(f *finding.Finding) { f.Suppressed = &finding.Suppression{} })
	if drawing(was).raises(drawing(silenced)) == "" {
		t.Error("a finding that nobody silences any more is not new")
	}
	// Each of those before stands for one of those now.
	twice := drawing(found("/spec/initContainers/0/env/0", "old words"), found("/spec/initContainers/1/env/0", "old words"))
	if twice.raises(drawing(was)) == "" {
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
		return Choice{Findings: []finding.Finding{{Fingerprint: fingerprint}}, Fix: finding.Fix{Moves: moves, Edits: make([]finding.Edit, 1)}}
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
		now, _ := mendedFirst(c.wanted)
		for _, one := range now {
			got += one.Findings[0].Fingerprint
		}
		if got != c.want {
			t.Errorf("%s: now %q, want %q", name, got, c.want)
		}
	}
}

func drawing(all ...finding.Finding) *picture { return sketches(&report.Report{Findings: all}) }

// Two fixes go in a row where both add or both remove; what one writes over, the
// other may not touch.
func TestMeeting(t *testing.T) {
	t.Parallel()
	r := &report.Report{Files: map[string]*source.File{"a": source.NewFile("a", "0123456789")}}
	edit := func(start, end int, text string) finding.Fix {
		return finding.Fix{Edits: []finding.Edit{replace(r.Files["a"], start, end, text)}}
	}
	for name, c := range map[string]struct {
		a, b finding.Fix
		want encounter
	}{
		"two insertions":              {edit(3, 3, "x"), edit(3, 3, "y"), inARow},
		"two removals":                {edit(0, 4, ""), edit(2, 6, ""), inARow},
		"elsewhere":                   {edit(0, 2, "x"), edit(2, 4, "y"), separate},
		"two replacements":            {edit(0, 4, "x"), edit(2, 6, "y"), contrary},
		"a removal, a replacement":    {edit(0, 4, ""), edit(2, 6, "y"), contrary},
		"an insertion, a removal":     {edit(3, 3, "x"), edit(2, 6, ""), contrary},
		"an insertion at a removal":   {edit(2, 2, "x"), edit(2, 6, ""), contrary},
		"an insertion, a replacement": {edit(3, 3, "x"), edit(2, 6, "y"), contrary},
	} {
		for _, pair := range [][2]finding.Fix{{c.a, c.b}, {c.b, c.a}} {
			if _, how := meeting(r, pair[0], pair[1]); how != c.want {
				t.Errorf("%s: %d, want %d", name, how, c.want)
			}
		}
		free, conflicts := apart(r, []Choice{{Fix: c.a}, {Fix: c.b}})
		now, waiting := inTurn(r, free)
		if got, want := [3]int{len(now), len(waiting), len(conflicts)}, [][3]int{{2, 0, 0}, {1, 1, 0}, {0, 0, 1}}[c.want]; got != want {
			t.Errorf("%s: now, waiting and conflicts are %v, want %v", name, got, want)
		}
	}
}
