package suppress

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// origin puts each part of an annotation on a line of its own: its start.
type origin struct{}

func (origin) Locate(r source.Ref) source.Provenance {
	return source.Provenance{Primary: place("o.yaml", 100+r.Start)}
}

func place(file string, line int) source.Location {
	at := source.Position{Line: line, Column: 1}
	return source.Location{File: file, Span: source.Span{Start: at, End: at}, Precision: source.Exact}
}

func annotated(text any, keys ...string) *source.Object {
	return annotatedBy(annotation, text, keys...)
}

func annotatedBy(annotation string, text any, keys ...string) *source.Object {
	tree := map[string]any{"annotations": map[string]any{annotation: text}}
	for _, key := range slices.Backward(keys) {
		tree = map[string]any{key: tree}
	}
	return &source.Object{ID: "Deployment/a/b", Kind: "Deployment", Namespace: "a", Name: "b", Tree: tree, Origin: origin{}}
}

func about(rule string, lines ...int) finding.Finding {
	f := finding.Finding{Rule: rule, Primary: place("a.yaml", lines[0]), ObjectID: "Deployment/a/b"}
	for _, n := range lines[1:] {
		f.Related = append(f.Related, source.Note{At: place("values.yaml", n)})
	}
	return f
}

func texts(pairs ...string) map[string]*source.File {
	files := map[string]*source.File{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = source.NewFile(pairs[i], pairs[i+1])
	}
	return files
}

var known = []finding.RuleMeta{
	{ID: Rule, Name: "suppression", Severities: []finding.Severity{finding.Warning}},
	{ID: "ACME1"}, {ID: "VPN301", Name: "sidecar-on-host-network"}, {ID: "VPN304"},
}

// complaints runs findings through a set and returns "LINE message".
func complaints(s *Set, run Run, findings ...finding.Finding) []string {
	if run.Unseen == nil {
		run.Unseen = func(string, string) bool { return false }
	}
	run.Rules = known
	used := map[Use]bool{}
	for _, f := range findings {
		_, uses := s.Of(f)
		for _, u := range uses {
			used[u] = true
		}
	}
	var out []string
	for _, f := range s.Complaints(used, run) {
		out = append(out, fmt.Sprintf("%d %s", f.Primary.Span.Start.Line, f.Message))
	}
	return out
}

func TestOf(t *testing.T) {
	const here = "a: 1 # vpnlint:ignore VPN301 -- why\n"
	for name, tc := range map[string]struct {
		set     *Set
		finding finding.Finding
		want    *finding.Suppression
	}{
		"on the primary line":  {New(texts("a.yaml", here), nil, nil), about("VPN301", 1), &finding.Suppression{By: "comment", Reason: "why", File: "a.yaml", Line: 1}},
		"on a related line":    {New(texts("values.yaml", here), nil, nil), about("VPN301", 7, 1), &finding.Suppression{By: "comment", Reason: "why", File: "values.yaml", Line: 1}},
		"above":                {New(texts("a.yaml", "# vpnlint:ignore VPN301 -- why\na: 1\n"), nil, nil), about("VPN301", 2), &finding.Suppression{By: "comment", Reason: "why", File: "a.yaml", Line: 1}},
		"of another rule":      {New(texts("a.yaml", here), nil, nil), about("VPN304", 1), nil},
		"of another line":      {New(texts("a.yaml", here), nil, nil), about("VPN301", 2), nil},
		"of another file":      {New(texts("b.yaml", here), nil, nil), about("VPN301", 1), nil},
		"without a reason":     {New(texts("a.yaml", "a: 1 # vpnlint:ignore VPN301\n"), nil, nil), about("VPN301", 1), nil},
		"of itself":            {New(texts("a.yaml", "a: 1 # vpnlint:ignore VPN001 -- why\n"), nil, nil), about(Rule, 1), nil},
		"a finding of no line": {New(texts("a.yaml", here), nil, nil), finding.Finding{Rule: "VPN301", Primary: source.Location{File: "a.yaml"}}, nil},
		"an annotation": {
			New(nil, []*source.Object{annotated("VPN304: x; VPN301: why; really", "metadata")}, nil), about("VPN301", 5),
			&finding.Suppression{By: "annotation", Reason: "why; really", File: "o.yaml", Line: 111},
		},
		"a pod template's": {
			New(nil, []*source.Object{annotated("VPN301: why", "spec", "jobTemplate", "spec", "template", "metadata")}, nil), about("VPN301", 5),
			&finding.Suppression{By: "annotation", Reason: "why", File: "o.yaml", Line: 100},
		},
		"an annotation of another object": {
			New(nil, []*source.Object{annotated("VPN301: why", "metadata")}, nil),
			finding.Finding{Rule: "VPN301", Primary: place("a.yaml", 1), ObjectID: "Deployment/a/b#2"}, nil,
		},
		"an annotation that is no text": {New(nil, []*source.Object{annotated(3, "metadata")}, nil), about("VPN301", 5), nil},
		"an entry": {
			New(nil, nil, []Entry{{Rule: "VPN301", Path: "**/a.yaml", Reason: "lab", At: place("plan.yaml", 9)}}), about("VPN301", 5),
			&finding.Suppression{By: "config", Reason: "lab", File: "plan.yaml", Line: 9},
		},
		"an entry of other files": {New(nil, nil, []Entry{{Rule: "VPN301", Path: "lab/**", Reason: "lab"}}), about("VPN301", 5), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := tc.set.Of(tc.finding)
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestComplaints(t *testing.T) {
	comment := func(text string) *Set { return New(texts("a.yaml", "a: 1 # vpnlint:ignore "+text+"\n"), nil, nil) }
	const nothingHere = "finds nothing on this line or the one below: the comment suppresses nothing now, and would hide what comes"
	const nothingThere = "find nothing on this line or the one below: the comment suppresses nothing now, and would hide what comes"
	lab := Entry{Rule: "VPN301", Path: "lab/**", Reason: "x", At: place("plan.yaml", 9)}
	for name, tc := range map[string]struct {
		set  *Set
		run  Run
		said []finding.Finding
		want []string
	}{
		"used":         {set: comment("VPN301 -- x"), said: []finding.Finding{about("VPN301", 1)}},
		"unused":       {set: comment("VPN301,VPN304 -- x"), want: []string{"1 VPN301, VPN304 " + nothingThere}},
		"half used":    {set: comment("VPN301,VPN304 -- x"), said: []finding.Finding{about("VPN301", 1)}, want: []string{"1 VPN304 " + nothingHere}},
		"no reason":    {set: comment("VPN301"), said: []finding.Finding{about("VPN301", 1)}, want: []string{"1 the comment gives no reason, so it does not suppress VPN301"}},
		"no rule":      {set: comment("-- x"), want: []string{"1 the comment names no rule, so it suppresses nothing"}},
		"with a colon": {set: comment("VPN305: because"), want: []string{"1 the comment suppresses nothing of VPN305: write \"VPN305 -- reason\""}},
		"with two hyphens": {
			set:  New(nil, []*source.Object{annotated("VPN303 -- ok", "metadata")}, nil),
			want: []string{"100 the annotation suppresses nothing of VPN303: write \"VPN303: reason\""},
		},
		"a typing error behind another": {
			set:  New(nil, []*source.Object{annotated("VPN301: ok; VPN3O4: ok; and so on; vpn-304: ok", "metadata")}, nil),
			said: []finding.Finding{about("VPN301", 1)},
			want: []string{
				"112 there is no rule VPN3O4 (the nearest is VPN304), so the annotation suppresses nothing of it",
				"135 there is no rule vpn-304 (the nearest is VPN304), so the annotation suppresses nothing of it",
			},
		},
		"a misspelt comment": {
			set:  New(texts("a.yaml", "a: 1 # vpnlint:ignroe VPN301 -- x\n"), nil, nil),
			said: []finding.Finding{about("VPN301", 1)},
			want: []string{"1 the comment suppresses nothing: write \"vpnlint:ignore VPN301\" for \"vpnlint:ignroe VPN301\""},
		},
		"a misspelt annotation": {
			set:  New(nil, []*source.Object{annotatedBy("vpnlint.dev/ignroe", "VPN301: x", "metadata")}, nil),
			said: []finding.Finding{about("VPN301", 1)},
			want: []string{"100 the annotation suppresses nothing: write \"vpnlint.dev/ignore\" for \"vpnlint.dev/ignroe\""},
		},
		"an annotation that suppresses nothing": {set: New(nil, []*source.Object{annotatedBy("vpnlint.dev/node-scope", "VPN301: x", "metadata")}, nil)},
		"an annotation of others":               {set: New(nil, []*source.Object{annotatedBy("example.com/ignroe", "VPN301: x", "metadata")}, nil)},
		"itself":                                {set: comment("VPN001 -- x"), want: []string{"1 VPN001 is about suppressions and cannot be suppressed"}},
		"a typing error":                        {set: comment("VPN3O1 -- x"), want: []string{"1 there is no rule VPN3O1 (the nearest is VPN301), so the comment suppresses nothing of it"}},
		"in lower case":                         {set: comment("vpn301 -- x"), want: []string{"1 there is no rule vpn301 (the nearest is VPN301), so the comment suppresses nothing of it"}},
		"by its name":                           {set: comment("sidecar-on-host-network -- x"), want: []string{"1 there is no rule sidecar-on-host-network (the nearest is VPN301), so the comment suppresses nothing of it"}},
		"all rules":                             {set: comment("* -- x"), want: []string{"1 there is no rule *, so the comment suppresses nothing of it"}},
		"far from any":                          {set: comment("VPN99999 -- x"), want: []string{"1 there is no rule VPN99999, so the comment suppresses nothing of it"}},
		"of other rules":                        {set: comment("TEAM77 -- x")},
		"of an own rule":                        {set: comment("ACME1 -- x"), want: []string{"1 ACME1 " + nothingHere}},
		"a rule not run":                        {set: comment("VPN301 -- x"), run: Run{Off: map[string]bool{"VPN301": true}}},
		"a file not seen":                       {set: comment("VPN301 -- x"), run: Run{Unseen: func(file, rule string) bool { return file == "a.yaml" && rule == "VPN301" }}},
		"an annotation":                         {set: New(nil, []*source.Object{annotated("VPN301: x", "metadata")}, nil), want: []string{"100 VPN301 finds nothing about Deployment a/b: the annotation suppresses nothing now, and would hide what comes"}},
		"one without text":                      {set: New(nil, []*source.Object{annotated("", "metadata")}, nil), want: []string{"100 the annotation names no rule, so it suppresses nothing"}},
		"the same twice":                        {set: New(nil, []*source.Object{annotated("VPN301", "metadata"), annotated("VPN301", "metadata")}, nil), want: []string{"100 the annotation gives no reason, so it does not suppress VPN301"}},
		"an entry without a reason": {
			set:  New(nil, nil, []Entry{{Rule: "VPN301", Path: "lab/**", At: place("plan.yaml", 9)}}),
			want: []string{"9 the entry gives no reason, so it does not suppress VPN301"},
		},
		"an entry": {
			set: New(nil, nil, []Entry{lab}), run: Run{Paths: []string{"."}, Files: []string{"a.yaml", "lab/x.yaml"}},
			want: []string{"9 VPN301 finds nothing in lab/**: the entry suppresses nothing now, and would hide what comes"},
		},
		"an entry, in its directory": {
			set: New(nil, nil, []Entry{lab}), run: Run{Paths: []string{"a", "lab/"}, Files: []string{"lab/x.yaml"}},
			want: []string{"9 VPN301 finds nothing in lab/**: the entry suppresses nothing now, and would hide what comes"},
		},
		"an entry about files that are not there": {
			set: New(nil, nil, []Entry{lab}), run: Run{Paths: []string{"."}, Files: []string{"a.yaml"}},
			want: []string{"9 VPN301 finds nothing in lab/**: the entry suppresses nothing now, and would hide what comes"},
		},
		"an entry about files that were not read": {set: New(nil, nil, []Entry{lab}), run: Run{Paths: []string{"a"}, Files: []string{"a/x.yaml"}}},
		"an entry about more than what was read":  {set: New(nil, nil, []Entry{lab}), run: Run{Paths: []string{"lab/x.yaml"}, Files: []string{"lab/x.yaml"}}},
		"an entry about files that were not seen": {
			set: New(nil, nil, []Entry{lab}),
			run: Run{Paths: []string{"."}, Files: []string{"lab/x.yaml", "lab/y.yaml"}, Unseen: func(file, _ string) bool { return file == "lab/y.yaml" }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := complaints(tc.set, tc.run, tc.said...)
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Two complaints never share a fingerprint, and it does not move with the line.
func TestFingerprints(t *testing.T) {
	of := func(text string) []string {
		var out []string
		for _, f := range New(texts("a.yaml", text), nil, nil).Complaints(nil, Run{Rules: known, Unseen: func(string, string) bool { return false }}) {
			out = append(out, f.Fingerprint)
		}
		return out
	}
	const text = "a: 1 # vpnlint:ignore VPN301 -- x\nb: 1 # vpnlint:ignore VPN301 -- y\nc: 1 # vpnlint:ignore VPN304 -- y\n"
	prints := of(text)
	if len(prints) != 3 || prints[0] == prints[1] || prints[1] == prints[2] {
		t.Errorf("got %v", prints)
	}
	if !slices.Equal(prints, of("\n\n"+text)) {
		t.Error("they change with the line")
	}
}

func FuzzAnnotation(f *testing.F) {
	f.Add("VPN301: reason; VPN304: reason")
	f.Add("VPN301;; VPN304,VPN305 :x;y")
	f.Fuzz(func(t *testing.T, text string) {
		for _, i := range parseAnnotation(text) {
			if i.start < 0 || i.start > i.end || i.end > len(text) {
				t.Errorf("%q: bytes %d to %d", text, i.start, i.end)
			}
		}
	})
}

// Every suppressed finding repeats the reason.
func TestALongReasonIsCut(t *testing.T) {
	set := New(texts("a.yaml", "a: 1 # vpnlint:ignore VPN301 -- "+strings.Repeat("ü", 2*maxReason)+"\n"), nil, nil)
	got, _ := set.Of(about("VPN301", 1))
	if got == nil || got.Reason != strings.Repeat("ü", maxReason-1)+"…" {
		t.Errorf("got %v", got)
	}
}
