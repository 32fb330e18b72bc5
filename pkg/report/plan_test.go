package report_test

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// addressPlan is a plan with one of everything: overlaps of all kinds, a
// contradiction, defaults, evidence, idioms, both families, names that mean
// harm, and places that are unknown.
func addressPlan() report.AddressPlan {
	p := report.AddressPlan{Version: "1.2.3", Places: map[source.Ref]source.Location{}}
	line := 0
	claim := func(cluster string, role cidrplan.Role, owner, prefix, says string, strength cidrplan.Strength) cidrplan.Claim {
		line++
		ref := source.Ref{Object: source.ObjectID("o" + strconv.Itoa(line)), Pointer: "/x"}
		if strength == cidrplan.Default {
			ref = source.Ref{}
		} else {
			p.Places[ref] = source.Location{
				File:      "clusters/prod/a b&\"<plan>.yaml",
				Span:      source.Span{Start: source.Position{Line: line, Column: 3}, End: source.Position{Line: line, Column: 20}},
				Precision: source.Exact,
			}
		}
		return cidrplan.Claim{Cluster: cluster, Role: role, Owner: owner, Prefix: netip.MustParsePrefix(prefix), Says: says, Strength: strength, At: ref}
	}
	evil := "Deployment edge/<script>alert('\u202e')"
	everywhere := claim("prod", cidrplan.VPN, evil, "::/0", "AllowedIPs = ::/0", cidrplan.Declared)
	everywhere.Idiom = cidrplan.DefaultRoute
	claims := []cidrplan.Claim{
		claim("prod", cidrplan.Pod, "", "10.244.0.0/16", "podSubnet", cidrplan.Declared),
		claim("prod", cidrplan.Pod, "", "10.244.0.0/16", "clusterCIDR", cidrplan.Declared),
		claim("prod", cidrplan.Pod, "", "10.244.3.0/24", "podCIDR", cidrplan.Evidence),
		claim("prod", cidrplan.Pod, "", "fd00:10:244::/56", "podSubnet", cidrplan.Declared),
		claim("prod", cidrplan.Service, "", "10.96.0.0/12", "kubeadm's default", cidrplan.Default),
		claim("prod", cidrplan.Node, "", "10.244.128.0/20", "nodes", cidrplan.Planned),
		claim("prod", cidrplan.VPN, "ComputeVPNTunnel net/onprem", "10.0.0.0/8", "remoteTrafficSelector", cidrplan.Declared),
		claim("prod", cidrplan.Pool, "Deployment edge/openvpn", "10.244.8.0/24", "server", cidrplan.Declared),
		everywhere,
		claim("lab", cidrplan.Service, "", "10.96.0.0/12", "serviceSubnet", cidrplan.Declared),
		claim("lab", cidrplan.Service, "", "10.43.0.0/16", "service-cidr", cidrplan.Declared),
		claim("lab", cidrplan.Pod, "", "10.100.0.0/16", "podSubnet", cidrplan.Declared),
		claim("", cidrplan.DNS, "", "10.96.0.10/32", "clusterDNS", cidrplan.Declared),
	}
	p.Plan = cidrplan.Compute(claims)
	p.Suggestions = []report.Suggestion{{
		Kind: "bypass", Cluster: "prod", Object: finding.ObjectName{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "media", Name: "qbt"},
		Why: "the tunnel takes 10.96.0.0/12 of the cluster", Write: []string{"FIREWALL_OUTBOUND_SUBNETS=10.96.0.0/12,10.244.0.0/16", "a\nb"},
		Prefixes: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}, At: claims[0].At,
	}}
	p.Gaps = []finding.Gap{{Kind: finding.Unresolved, File: "env/secret.yaml", Line: 4, What: "the routes of Deployment edge/wg", Why: "they are in a Secret that is not in the tree", Consequence: "its ranges are missing"}}
	return p
}

func TestPlanGolden(t *testing.T) {
	for _, c := range []struct {
		file   string
		format report.PlanFormat
		width  int
		color  bool
	}{
		{"plan-80.txt", report.PlanTable, 80, false},
		{"plan-160.txt", report.PlanTable, 160, false},
		{"plan-color.txt", report.PlanTable, 100, true},
		{"plan.json", report.PlanJSON, 0, false},
		{"plan.svg", report.PlanSVG, 0, false},
		{"plan.html", report.PlanHTML, 0, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			var out bytes.Buffer
			if err := report.WritePlan(&out, c.format, addressPlan(), report.Options{Width: c.width, Color: c.color}); err != nil {
				t.Fatal(err)
			}
			compareGolden(t, c.file, out.Bytes())
		})
	}
}

func TestPlanJSONIsValidAgainstItsSchema(t *testing.T) {
	schema := compile(t, "plan.json", report.PlanSchema())
	for name, p := range map[string]report.AddressPlan{"everything": addressPlan(), "nothing": {}} {
		var out bytes.Buffer
		if err := report.WritePlan(&out, report.PlanJSON, p, report.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { validate(t, schema, out.Bytes()) })
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, ": null") && !strings.Contains(line, `"at"`) && !strings.Contains(line, `"object"`) {
				t.Errorf("%s: null where a value belongs: %s", name, line)
			}
		}
	}
}

// TestPlanLinks: links lead to the line, wherever the map lies, and never act.
func TestPlanLinks(t *testing.T) {
	p := addressPlan()
	for ref := range p.Places {
		at := p.Places[ref]
		at.File = "javascript:alert(1)/x y.yaml"
		p.Places[ref] = at
	}
	for links, want := range map[string]string{
		"":                               `href="./javascript:alert%281%29/x%20y.yaml#L1"`,
		"..":                             `href="../javascript:alert%281%29/x%20y.yaml#L1"`,
		"https://git.example/blob/main/": `href="https://git.example/blob/main/javascript:alert%281%29/x%20y.yaml#L1"`,
	} {
		var out bytes.Buffer
		if err := report.WritePlan(&out, report.PlanHTML, p, report.Options{Links: links}); err != nil {
			t.Fatal(err)
		}
		page := strings.ReplaceAll(out.String(), "#L2", "#L1")
		if !strings.Contains(page, strings.TrimSuffix(want, `1"`)) {
			t.Errorf("links %q: no %s in\n%.3000s", links, want, page)
		}
		if strings.Contains(page, `href="javascript`) {
			t.Errorf("links %q: a file name acts", links)
		}
	}
}

// TestPlanSaysWhatBreaks: every pair of uses has a sentence of its own kind.
func TestPlanSaysWhatBreaks(t *testing.T) {
	roles := []cidrplan.Role{cidrplan.VPN, cidrplan.Pool, cidrplan.Node, cidrplan.Pod, cidrplan.Service}
	for _, a := range roles {
		for _, b := range roles {
			plan := cidrplan.Compute([]cidrplan.Claim{
				{Role: a, Prefix: netip.MustParsePrefix("10.1.0.0/16"), Owner: "a", Strength: cidrplan.Declared},
				{Role: b, Prefix: netip.MustParsePrefix("10.1.8.0/24"), Owner: "b", Strength: cidrplan.Declared},
			})
			var out bytes.Buffer
			if err := report.WritePlan(&out, report.PlanTable, report.AddressPlan{Plan: plan}, report.Options{Width: 200}); err != nil {
				t.Fatal(err)
			}
			if a == b {
				if strings.Contains(out.String(), "overlap") {
					t.Errorf("%s and %s: %s", a, b, &out)
				}
				continue
			}
			if !strings.Contains(out.String(), "1 overlap") || !strings.Contains(out.String(), "10.1.8.0/24") {
				t.Errorf("%s and %s: %s", a, b, &out)
			}
		}
	}
}
