package check

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vpnlint/vpnlint/pkg/facts"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// fakeOrigin has a place for every pointer that it lists.
type fakeOrigin map[string]source.Provenance

func (o fakeOrigin) Locate(r source.Ref) source.Provenance {
	if p, ok := o[r.Pointer]; ok {
		return p
	}
	return source.Provenance{Primary: at(1)}
}

func at(line int) source.Location {
	return source.Location{
		File:      "chart/templates/vpn.yaml",
		Span:      source.Span{Start: source.Position{Line: line, Column: 1}, End: source.Position{Line: line, Column: 9}},
		Precision: source.Exact,
	}
}

func inValues(line int) source.Location {
	l := at(line)
	l.File = "chart/values.yaml"
	return l
}

func TestBuiltInRules(t *testing.T) {
	e, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	metas := e.Rules()
	for i, m := range metas {
		if i > 0 && metas[i-1].ID >= m.ID {
			t.Errorf("%s after %s", m.ID, metas[i-1].ID)
		}
		if page, ok := e.Page(m.ID); !ok || page == "" {
			t.Errorf("%s has no page", m.ID)
		}
	}
	if len(metas) == 0 {
		t.Error("no rules")
	}
	if _, ok := e.Page("VPN999"); ok {
		t.Error("a page for a rule that does not exist")
	}
	found, err := e.Run(t.Context(), Input{})
	if err != nil || len(found) != 0 {
		t.Errorf("empty input: %v, %v", found, err)
	}
}

// gatewayPod is a gateway that needs forwarding and does not declare it.
func gatewayPod() (*facts.Facts, []*source.Object) {
	object := &source.Object{
		ID: "Deployment/vpn/openvpn", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "vpn", Name: "openvpn",
		Tree: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{}}}},
	}
	ref := object.Ref("spec", "template", "spec")
	object.Origin = fakeOrigin{ref.Pointer: {
		Primary: at(18),
		Absent: []source.Guard{
			{At: at(19), Keeps: "initContainers:\n- args: [sysctl, -w, net.ipv4.ip_forward=1]", Reads: []source.ValueRef{
				{Path: "ipForwardInitContainer", At: inValues(40), By: "chart default", Text: "false"},
			}},
			{At: at(30), Keeps: "nodeSelector:", Reads: []source.ValueRef{{Path: "nodeSelector", At: inValues(50), Text: "{}"}}},
		},
	}}
	return &facts.Facts{Pods: []facts.Pod{{
		ID: "p", Namespace: "vpn", Workload: "deploy/openvpn", Object: finding.ObjectName{Kind: "Deployment", Namespace: "vpn", Name: "openvpn"},
		Ref: ref, Role: facts.Gateway, Clusters: []string{"prod"},
		Containers: []facts.Container{{Name: "openvpn", DataPlane: true, Stage: facts.Main}},
		Forwarding: facts.Forwarding{Needed: facts.Present, IPv4: facts.FamilyForwarding{State: facts.Absent}},
	}}}, []*source.Object{object}
}

func TestFindingHasItsPlaceAndWhatKeepsTheTextOut(t *testing.T) {
	e, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known, objects := gatewayPod()
	found, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("%d findings, want 1: %v", len(found), found)
	}
	f := found[0]
	if f.Rule != "VPN101" || f.Severity != finding.Warning || f.Primary.Span.Start.Line != 18 {
		t.Errorf("got %s %s at line %d", f.Rule, f.Severity, f.Primary.Span.Start.Line)
	}
	if f.Object.String() != "Deployment vpn/openvpn" || f.Pointer != "/spec/template/spec" {
		t.Errorf("about %s %s", f.Object, f.Pointer)
	}
	if len(f.Clusters) != 1 || f.Clusters[0] != "prod" {
		t.Errorf("clusters %v, want the pod's", f.Clusters)
	}
	want := source.Note{At: inValues(40), Says: "false here keeps the init container out"}
	if len(f.Related) != 1 || f.Related[0] != want {
		t.Errorf("related %v, want only the condition about forwarding", f.Related)
	}
	if len(f.Verify) == 0 || f.Verify[0] != "kubectl -n vpn exec deploy/openvpn -c openvpn -- sysctl net.ipv4.ip_forward" {
		t.Errorf("verify %q", f.Verify)
	}
}

const testMeta = `# METADATA
# title: t
# description: d
# custom:
#   id: VPN101
#   name: n
#   severities: [warning, note]
#   family: forwarding
#   claims: [F1: f]
#   fires: f
#   silent: s
#   remedy: r
#   verify: [forwarding]
#   since: "0.1"
`

// testRules builds an engine from one rule's body.
func testRules(t *testing.T, header, body string) (*Engine, error) {
	t.Helper()
	schema, err := InputSchema()
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(t.Context(), fstest.MapFS{
		"schema/input.json": {Data: schema},
		"vpn101_n.rego":     {Data: []byte(header + "package vpnlint.rules.vpn101\n\n" + body)},
	})
}

func TestRulesThatMustNotCompile(t *testing.T) {
	for name, tc := range map[string]struct{ header, body string }{
		"misspelt field of the input":   {testMeta, `findings contains input.facts.podz[0]`},
		"misspelt field of a pod":       {testMeta, `findings contains f if { some p in input.facts.pods; f := p.rolle }`},
		"a clock":                       {testMeta, `findings contains time.now_ns()`},
		"the network":                   {testMeta, `findings contains http.send({"url": "http://example.com", "method": "get"})`},
		"a random number":               {testMeta, `findings contains rand.intn("x", 5)`},
		"the environment":               {testMeta, `findings contains opa.runtime()`},
		"an unused variable":            {testMeta, `findings contains 1 if { x := 2 }`},
		"no METADATA":                   {"", `findings contains 1 if false`},
		"an id that is not the package": {strings.ReplaceAll(testMeta, "VPN101", "VPN102"), `findings contains 1 if false`},
		"an unknown key in METADATA":    {testMeta + "#   severety: note\n", `findings contains 1 if false`},
		"an unknown severity":           {strings.ReplaceAll(testMeta, "note]", "fatal]"), `findings contains 1 if false`},
		"an unknown verify template":    {strings.ReplaceAll(testMeta, "verify: [forwarding]", "verify: [nope]"), `findings contains 1 if false`},
		"another family":                {strings.ReplaceAll(testMeta, "family: forwarding", "family: names"), `findings contains 1 if false`},
		"a claim without words":         {strings.ReplaceAll(testMeta, "claims: [F1: f]", "claims: [F1]"), `findings contains 1 if false`},
		"no verify and no reason":       {strings.ReplaceAll(testMeta, "verify: [forwarding]", "verify: []"), `findings contains 1 if false`},
		"verify and a reason for none":  {testMeta + "#   no_verify: n\n", `findings contains 1 if false`},
		"no claims":                     {strings.ReplaceAll(testMeta, "claims: [F1: f]", "claims: []"), `findings contains 1 if false`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := testRules(t, tc.header, tc.body); err == nil {
				t.Error("compiled")
			}
		})
	}
}

func TestFindingsThatAreErrorsOfTheRun(t *testing.T) {
	known, objects := gatewayPod()
	const pod = `some pod in input.facts.pods`
	for name, body := range map[string]string{
		"unknown key":            `findings contains {"ref": pod.ref, "message": "m", "container": "x"} if { ` + pod + ` }`,
		"no message":             `findings contains {"ref": pod.ref} if { ` + pod + ` }`,
		"no ref":                 `findings contains {"message": "m"}`,
		"severity not listed":    `findings contains {"ref": pod.ref, "message": "m", "severity": "error"} if { ` + pod + ` }`,
		"an object of nowhere":   `findings contains {"ref": {"object": "X/y/z", "pointer": ""}, "message": "m"}`,
		"a pod of nowhere":       `findings contains {"ref": pod.ref, "message": "m", "pod": "other"} if { ` + pod + ` }`,
		"a related without says": `findings contains {"ref": pod.ref, "message": "m", "related": [{"ref": pod.ref, "says": ""}]} if { ` + pod + ` }`,
		"a built-in that fails":  `findings contains {"ref": pod.ref, "message": "m"} if { ` + pod + `; to_number(pod.id) == 1 }`,
		"findings that are none": `findings := "none"`,
	} {
		t.Run(name, func(t *testing.T) {
			e, err := testRules(t, testMeta, body)
			if err != nil {
				t.Fatal(err)
			}
			found, err := e.Run(t.Context(), Input{Facts: known, Objects: objects})
			if err == nil {
				t.Errorf("no error, but %v", found)
			}
		})
	}
}
