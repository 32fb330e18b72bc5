package rules_test

import (
	"os"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
)

// TestHomes: what VPN406 warns of is what free ranges keep away from.
func TestHomes(t *testing.T) {
	text, err := os.ReadFile("vpn406_pool_collides_with_home_network.rego")
	if err != nil {
		t.Fatal(err)
	}
	module, err := ast.ParseModuleWithOpts("vpn406.rego", string(text), ast.ParserOptions{ProcessAnnotation: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range module.Rules {
		if rule.Head.Name.String() != "homes" {
			continue
		}
		result, err := rego.New(rego.Query("x = " + rule.Head.Value.String())).Eval(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		warned := result[0].Bindings["x"].(map[string]any)
		for _, h := range cidrplan.Homes() {
			if warned[h.Prefix.String()] != h.Who {
				t.Errorf("%s: the rule says %v, cidrplan.Homes says %q", h.Prefix, warned[h.Prefix.String()], h.Who)
			}
		}
		if len(warned) != len(cidrplan.Homes()) {
			t.Errorf("the rule knows %d networks, cidrplan.Homes %d", len(warned), len(cidrplan.Homes()))
		}
		return
	}
	t.Fatal("VPN406 has no homes")
}
