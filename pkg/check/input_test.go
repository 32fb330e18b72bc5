package check

import (
	"bytes"
	"flag"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/facts"
)

var update = flag.Bool("update", false, "write rules/schema/input.json")

const schemaFile = "../../rules/schema/input.json"

func TestSchemaOfTheInputIsUpToDate(t *testing.T) {
	want, err := InputSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s does not fit the Go types; run: go test ./pkg/check -update", schemaFile)
	}
}

func TestInputHasEveryFieldAndNoNull(t *testing.T) {
	value, err := inputValue(documentOf(Input{
		Facts: &facts.Facts{Pods: []facts.Pod{{ID: "p", Labels: map[string]string{"a": "b"}}}},
		Plan: cidrplan.Plan{Overlaps: []cidrplan.Overlap{{
			Set: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), {}},
		}}},
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ path, want string }{
		{"facts.agents", "[]"},
		{"facts.pods.0.id", `"p"`},
		{"facts.pods.0.labels", `{"a": "b"}`},
		{"facts.pods.0.annotations", "{}"},
		{"facts.pods.0.tunnels", "[]"},
		{"facts.pods.0.ref", `{"end": 0, "object": "", "pointer": "", "start": 0}`},
		{"facts.pods.0.forwarding.ipv4.evidence", "[]"},
		{"plan.overlaps.0.set", `["10.0.0.0/8", ""]`},
		{"plan.conflicts", "[]"},
	} {
		got, err := value.Find(pathRef(tc.path))
		if err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		if got.String() != tc.want {
			t.Errorf("%s = %s, want %s", tc.path, got, tc.want)
		}
	}
}

func pathRef(dotted string) ast.Ref {
	var ref ast.Ref
	for _, part := range strings.Split(dotted, ".") {
		if part == "0" {
			ref = append(ref, ast.IntNumberTerm(0))
			continue
		}
		ref = append(ref, ast.StringTerm(part))
	}
	return ref
}
