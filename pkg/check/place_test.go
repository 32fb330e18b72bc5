package check

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

func read(path, text string, line int) source.ValueRef {
	return source.ValueRef{Path: path, Text: text, By: "chart default", At: inValues(line)}
}

func TestWhatDecidedTheText(t *testing.T) {
	for name, tc := range map[string]struct {
		missing []string
		where   source.Provenance
		want    []source.Note
	}{
		"a value that the place reads": {
			where: source.Provenance{Values: []source.ValueRef{read("image.tag", "v3.40.0", 7)}},
			want:  []source.Note{{At: inValues(7), Says: "set by image.tag (chart default)"}},
		},
		"only the innermost condition that let it in": {
			where: source.Provenance{Guards: []source.Guard{
				{Taken: true, Reads: []source.ValueRef{read("enabled", "true", 1)}},
				{Taken: true, Reads: []source.ValueRef{read("hostNetwork", "true", 2)}},
				{Taken: false, Reads: []source.ValueRef{read("other", "false", 3)}},
			}},
			want: []source.Note{{At: inValues(2), Says: "true here lets it in"}},
		},
		"a mapping by its name": {
			where: source.Provenance{Guards: []source.Guard{{Taken: true, Reads: []source.ValueRef{read("vpn", `{"env":{"VPN_TYPE":"wireg…`, 2)}}}},
			want:  []source.Note{{At: inValues(2), Says: "vpn here lets it in"}},
		},
		"an empty list by its text": {
			missing: []string{"TS_ROUTES"},
			where:   source.Provenance{Absent: []source.Guard{{Keeps: "name: TS_ROUTES", Reads: []source.ValueRef{read("routes", "[]", 4)}}}},
			want:    []source.Note{{At: inValues(4), Says: "[] here keeps TS_ROUTES out"}},
		},
		"a condition that kept the missing text out": {
			missing: []string{"startupProbe"},
			where: source.Provenance{
				Values: []source.ValueRef{read("image.tag", "v3.40.0", 7)},
				Guards: []source.Guard{{Taken: true, Reads: []source.ValueRef{read("enabled", "true", 1)}}},
				Absent: []source.Guard{
					{Keeps: "startupProbe:\n  exec: {}", Reads: []source.ValueRef{read("probes.startup", "false", 9)}},
					{Keeps: "resources: {}", Reads: []source.ValueRef{read("resources", "", 10)}},
				},
			},
			want: []source.Note{{At: inValues(9), Says: "false here keeps the startup probe out"}},
		},
		"an empty value": {
			missing: []string{"FIREWALL_OUTBOUND_SUBNETS"},
			where: source.Provenance{Absent: []source.Guard{
				{Keeps: "- name: FIREWALL_OUTBOUND_SUBNETS", Reads: []source.ValueRef{read("bypass", "", 3)}},
			}},
			want: []source.Note{{At: inValues(3), Says: "the value here keeps FIREWALL_OUTBOUND_SUBNETS out"}},
		},
		"a condition over no value of the chart": {
			missing: []string{"ip_forward"},
			where: source.Provenance{Absent: []source.Guard{
				{At: at(12), Keeps: "sysctls: [{name: net.ipv4.ip_forward}]", Reads: []source.ValueRef{{Path: "x"}}},
			}},
			want: []source.Note{{At: at(12), Says: "this condition keeps the pod's sysctls out"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decidedBy(tc.missing, tc.where); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %v\nwant %v", got, tc.want)
			}
		})
	}
}

// run evaluates one rule over a gateway pod whose origin knows nothing special.
func run(t *testing.T, header, body string) []finding.Finding {
	t.Helper()
	e, err := testRules(t, header, body)
	if err != nil {
		t.Fatal(err)
	}
	known, objects := gatewayPod()
	found, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSameRemarkInTwoClustersIsOneFinding(t *testing.T) {
	found := run(t, testMeta, `findings contains {"ref": pod.ref, "message": "m", "clusters": [cluster], "containers": [sprintf("in-%s", [cluster])]} if {
		some pod in input.facts.pods
		some cluster in ["prod", "lab", ""]
	}`)
	if len(found) != 1 {
		t.Fatalf("%d findings, want 1", len(found))
	}
	if want := []string{"lab", "prod"}; !slices.Equal(found[0].Clusters, want) {
		t.Errorf("clusters %v, want %v", found[0].Clusters, want)
	}
	if want := []string{"in-", "in-lab", "in-prod"}; !slices.Equal(found[0].Containers, want) {
		t.Errorf("containers %v, want %v", found[0].Containers, want)
	}
}

func TestTwoRemarksOnOnePlaceAreTwoFindings(t *testing.T) {
	found := run(t, testMeta, `findings contains {"ref": pod.ref, "message": message} if {
		some pod in input.facts.pods
		some message in ["b", "a"]
	}`)
	if len(found) != 2 || found[0].Message != "a" {
		t.Fatalf("got %v", found)
	}
	if found[0].Fingerprint == found[1].Fingerprint {
		t.Error("one fingerprint for two findings")
	}
}

func TestRelatedPlacesComeOnceAndOnlyWhereWritten(t *testing.T) {
	found := run(t, testMeta, `findings contains {"ref": pod.ref, "message": "m", "related": [
		{"ref": {"object": pod.ref.object, "pointer": "/a"}, "says": "first"},
		{"ref": {"object": pod.ref.object, "pointer": "/b"}, "says": "same place"},
		{"ref": {"object": "", "pointer": ""}, "says": "a default"},
		{"ref": pod.ref, "says": "the primary"},
	]} if {
		some pod in input.facts.pods
	}`)
	if len(found) != 1 || len(found[0].Related) != 1 || found[0].Related[0].Says != "first" {
		t.Errorf("got %v", found)
	}
}

func TestMoreSpecificRuleSpeaks(t *testing.T) {
	general := &rule{meta: finding.RuleMeta{ID: "VPN101"}}
	special := &rule{meta: finding.RuleMeta{ID: "VPN102"}, replaces: []string{"VPN101"}}
	said := dropReplaced([]statement{
		{rule: general, Pod: "a", Message: "dropped"},
		{rule: general, Pod: "b", Message: "kept"},
		{rule: general, Message: "of no pod, kept"},
		{rule: special, Pod: "a", Message: "speaks"},
		{rule: special, Message: "of no pod"},
	})
	var got []string
	for _, s := range said {
		got = append(got, s.Message)
	}
	if want := []string{"kept", "of no pod, kept", "speaks", "of no pod"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFingerprint(t *testing.T) {
	tree := func(containers ...string) map[string]any {
		var list []any
		for _, c := range containers {
			list = append(list, map[string]any{"name": c})
		}
		return map[string]any{"spec": map[string]any{"containers": list}, "config": "a: 10.0.0.0/8\nb: 172.16.0.0/12\n"}
	}
	base := finding.Finding{Rule: "VPN101", Primary: at(3), Object: finding.ObjectName{Kind: "Pod", Name: "p"}}
	of := func(f finding.Finding, tree map[string]any, ref source.Ref) string {
		return fingerprint(f, &source.Object{Tree: tree}, ref)
	}
	container := source.Ref{Pointer: "/spec/containers/1"}
	first := of(base, tree("app", "vpn"), container)

	moved := base
	moved.Primary, moved.Message = at(90), "other words"
	if got := of(moved, tree("app", "vpn"), container); got != first {
		t.Error("changes with line or message")
	}
	if got := of(base, tree("vpn", "app", "more"), source.Ref{Pointer: "/spec/containers/0"}); got != first {
		t.Error("changes when the container moves in its list")
	}
	if got := of(base, tree("app", "other"), container); got == first {
		t.Error("does not tell containers apart")
	}
	other := base
	other.Rule = "VPN102"
	if got := of(other, tree("app", "vpn"), container); got == first {
		t.Error("does not tell rules apart")
	}

	entry := of(base, tree(), source.Ref{Pointer: "/config", Start: 3, End: 13})
	longer := tree()
	longer["config"] = "# a comment\n" + longer["config"].(string)
	if got := of(base, longer, source.Ref{Pointer: "/config", Start: 15, End: 25}); got != entry {
		t.Error("changes when a list entry moves in its text")
	}
	if got := of(base, tree(), source.Ref{Pointer: "/config", Start: 17, End: 30}); got == entry {
		t.Error("does not tell list entries apart")
	}
}

// A field of a text that a ConfigMap holds is one finding, whatever else comes into
// its list and however it is written.
func TestFingerprintOfAFieldInAText(t *testing.T) {
	of := func(text, field string) string {
		start := strings.Index(text, field)
		if start < 0 {
			t.Fatalf("%q is not in %q", field, text)
		}
		ref := source.Ref{Pointer: "/config", Start: start, End: start + len(field)}
		return fingerprint(finding.Finding{Rule: "VPN203"}, &source.Object{Tree: map[string]any{"config": text}}, ref)
	}
	first := of("nonMasqueradeCIDRs:\n  - 10.0.0.0/8\n", "nonMasqueradeCIDRs:\n  - 10.0.0.0/8")
	for text, field := range map[string]string{
		"# why\nnonMasqueradeCIDRs:\n- 10.0.0.0/8\n- 10.4.0.0/14\n": "nonMasqueradeCIDRs:\n- 10.0.0.0/8\n- 10.4.0.0/14",
		"nonMasqueradeCIDRs: [10.4.0.0/14]":                         "nonMasqueradeCIDRs: [10.4.0.0/14]",
		`{"nonMasqueradeCIDRs":["10.4.0.0/14"]}`:                    `"nonMasqueradeCIDRs":["10.4.0.0/14"]`,
	} {
		if of(text, field) != first {
			t.Errorf("%q is another finding", text)
		}
	}
	for _, field := range []string{"masqLinkLocal: true", "fd00::/8", "fd00::/48"} {
		if of(field, field) == first {
			t.Errorf("%q is the same finding", field)
		}
	}
	if of("fd00::/8", "fd00::/8") == of("fd00::/48", "fd00::/48") {
		t.Error("does not tell IPv6 prefixes apart")
	}
}

// Pointers that do not fit the tree, offsets outside the text.
func TestFingerprintOfStrangePlaces(t *testing.T) {
	tree := map[string]any{"a": []any{"x", map[string]any{"name": 3}}, "s": "short"}
	seen := map[string]bool{}
	for _, ref := range []source.Ref{
		{}, {Pointer: "/a/x"}, {Pointer: "/a/9"}, {Pointer: "/a/-1"}, {Pointer: "/a/1/name/deeper"},
		{Pointer: "/s", Start: 2, End: 900}, {Pointer: "/missing/more"},
	} {
		f := fingerprint(finding.Finding{Rule: "VPN101"}, &source.Object{Tree: tree}, ref)
		if seen[f] {
			t.Errorf("%v has another place's fingerprint", ref)
		}
		seen[f] = true
	}
}

func TestRunIsTheSameForAnyOrderOfPods(t *testing.T) {
	e, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, objects := gatewayPod()
	second := known.Pods[0]
	second.ID, second.Ref.Pointer = "q", "/spec/other"
	known.Pods = append(known.Pods, second)
	reversed := &facts.Facts{Pods: []facts.Pod{known.Pods[1], known.Pods[0]}}
	one, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	two, err := e.Run(t.Context(), Input{Facts: reversed, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	if len(one) != 2 || !reflect.DeepEqual(one, two) {
		t.Errorf("%v\n%v", one, two)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	e, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	known, objects := gatewayPod()
	if found, err := e.Run(ctx, Input{Facts: known, Objects: objects}); err == nil {
		t.Errorf("no error, but %v", found)
	}
}
