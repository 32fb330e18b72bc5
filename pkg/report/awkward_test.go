package report_test

import (
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/report"
	"github.com/vpnlint/vpnlint/pkg/source"
)

const (
	template = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: openvpn
  namespace: vpn
spec:
  template:
    metadata:
      labels: {app: openvpn}
    spec:
      {{- if .Values.ipForwardInitContainer }}
      initContainers:
        - name: ip-forward
          command: [sysctl, -w, net.ipv4.ip_forward=1]
          securityContext: {privileged: true}
      {{- end }}
      containers:
        - name: openvpn
          image: example.org/openvpn:2.6
          env:
            - {name: 説明, value: "東京 🚇 gateway"} # 备注
`
	values = `replicaCount: 1
# the chart's own switch
ipForwardInitContainer: false
`
	masq = `apiVersion: v1
kind: ConfigMap
metadata: {name: ip-masq-agent, namespace: kube-system}
data:
  config: |
` + "\t" + `nonMasqueradeCIDRs: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "203.0.113.0/24", "198.51.100.0/24"]
    resyncInterval: 60s
`
	hostile = "kind: Pod\nmetadata: {name: \"x\u202ey\x1b[31mz\x00\"}\n"
)

// at returns the place of the nth occurrence (from 0) of part in a text.
func at(f *source.File, part string) source.Location {
	i := strings.Index(f.Text(), part)
	if i < 0 {
		panic("the fixture " + f.Path() + " does not hold " + part)
	}
	return source.Location{File: f.Path(), Span: f.Span(i, i+len(part)), Precision: source.Exact}
}

// awkward is a report with everything that formats get wrong: two findings in
// one file, wide and multi-byte characters before a place, a tab, a line longer
// than a terminal, a finding without a line, a suppressed one, gaps, a message
// of two lines with `::` and HTML in it, control and bidirectional characters.
func awkward() report.Report {
	tpl := source.NewFile("charts/open vpn#1/templates/deployment.yaml", template)
	vals := source.NewFile("charts/open vpn#1/values.yaml", values)
	cm := source.NewFile("masq.yaml", masq)
	bad := source.NewFile("bad.yaml", hostile)

	deployment := finding.ObjectName{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "vpn", Name: "openvpn"}
	agent := finding.ObjectName{APIVersion: "v1", Kind: "ConfigMap", Namespace: "kube-system", Name: "ip-masq-agent"}
	claim := func(role cidrplan.Role, prefix, says string) cidrplan.Claim {
		return cidrplan.Claim{
			Cluster: "prod", Role: role, Prefix: netip.MustParsePrefix(prefix), Says: says,
			At: source.Ref{Object: "ConfigMap/kube-system/plan", Pointer: "/data/" + string(role)}, Strength: cidrplan.Declared,
		}
	}
	return report.Report{
		Version: "1.2.3",
		Files:   map[string]*source.File{tpl.Path(): tpl, vals.Path(): vals, cm.Path(): cm, bad.Path(): bad},
		Rules: []finding.RuleMeta{
			{
				ID: "VPN101", Name: "forwarding-not-declared", Title: "A VPN gateway's manifest does not turn IPv4 forwarding on",
				Description: "The pod answers for its **own** addresses and drops what it should pass on.",
				Severities:  []finding.Severity{finding.Warning, finding.Error}, Family: "forwarding",
				Fires: "Nothing in the manifest makes `net.ipv4.ip_forward=1` certain.", Silent: "A pod sysctl sets it.", Remedy: "Set the pod sysctl.",
				Sources: []finding.Link{{Title: "ip-sysctl", URL: "https://docs.kernel.org/networking/ip-sysctl.html"}},
			},
			{
				ID: "VPN201", Name: "exemption-too-broad", Title: "A masquerade exemption covers a VPN destination",
				Severities: []finding.Severity{finding.Error}, Family: "masquerade",
			},
			{
				ID: "VPN301", Name: "sidecar-on-host-network", Title: "A tunnel client reroutes the whole node",
				Severities: []finding.Severity{finding.Error}, Family: "sidecar",
			},
		},
		Findings: []finding.Finding{
			{
				Rule: "VPN301", Name: "sidecar-on-host-network", Severity: finding.Error,
				Message: "Pod x\u202ey\x1b[31mz\x00 runs on the host network: its routes are the node's",
				Object:  finding.ObjectName{APIVersion: "v1", Kind: "Pod", Name: "x\u202ey\x1b[31mz\x00"},
				Primary: at(bad, "\"x\u202ey\x1b[31mz\x00\""), Fingerprint: "f0",
			},
			{
				Rule: "VPN101", Name: "forwarding-not-declared", Severity: finding.Warning,
				Message: "nothing in this pod's manifest makes net.ipv4.ip_forward=1 certain, so whether packets that VPN clients send " +
					"beyond the pod are passed on or dropped depends on the node at sandbox creation",
				Pointer: "/spec/template/spec", Object: deployment, Containers: []string{"openvpn"},
				ValueSets: []string{"default", "ci/ha-values.yaml"}, Clusters: []string{"lab", "prod"},
				Primary: at(tpl, "spec:\n      {{-"),
				Related: []source.Note{
					{At: at(tpl, "if .Values.ipForwardInitContainer"), Says: "this condition keeps the init container out"},
					{At: at(vals, "ipForwardInitContainer: false"), Says: "false here keeps out the init container ip-forward, which writes net.ipv4.ip_forward=1 before the VPN starts"},
				},
				Fixes: []finding.Fix{{
					Title: "set ipForwardInitContainer to true", Proof: finding.Rendered,
					Edits: []finding.Edit{{At: at(vals, "false"), Text: "true"}},
				}},
				Verify: []string{
					"kubectl -n vpn exec deploy/openvpn -c openvpn -- sysctl net.ipv4.ip_forward",
					"kubectl -n vpn exec deploy/openvpn -c openvpn -- tcpdump -ni any -c 10 'icmp and host 10.20.0.1' # the request must be seen twice",
				},
				Fingerprint: "f1",
			},
			{
				Rule: "VPN999", Name: "wide-characters", Severity: finding.Note,
				Message: "the marks below must stand under 東京 🚇 gateway\n::error::<b>not a command</b> [link](1)",
				Object:  deployment, Primary: at(tpl, "東京 🚇 gateway"), Fingerprint: "f2",
			},
			{
				Rule: "VPN101", Name: "forwarding-not-declared", Severity: finding.Error, Message: "no line is known for this one",
				Object:  finding.ObjectName{APIVersion: "v1", Kind: "Pod", Name: "lineless"},
				Primary: source.Location{File: "charts/x/charts/dep-1.0.0.tgz", Precision: source.WholeFile},
			},
			{
				Rule: "VPN201", Name: "exemption-too-broad", Severity: finding.Error,
				Message: "203.0.113.0/24 in nonMasqueradeCIDRs covers 203.0.113.0/25 behind the VPN tunnel onprem",
				Pointer: "/data/config", Object: agent, Primary: at(cm, `"203.0.113.0/24"`), Clusters: []string{"prod"}, Fingerprint: "f3",
				Fixes: []finding.Fix{{
					Title: "exempt only the pod range", Proof: finding.Computed,
					Edits: []finding.Edit{
						{At: at(cm, `, "203.0.113.0/24"`), Text: ""},
						{At: at(cm, "    resyncInterval: 60s\n"), Text: "    resyncInterval: 60s\n    masqLinkLocal: false\n"},
					},
				}},
			},
			{
				Rule: "VPN201", Name: "exemption-too-broad", Severity: finding.Error, Message: "this one is meant",
				Pointer: "/data/config", Object: agent, Primary: at(cm, `"100.64.0.0/10"`), Fingerprint: "f4",
				Suppressed: &finding.Suppression{By: "comment", Reason: "the lab has no other way", File: "masq.yaml", Line: 6},
			},
			{
				Rule: "VPN301", Name: "sidecar-on-host-network", Severity: finding.Error, Message: "a place past the end of its file",
				Object: agent, Fingerprint: "f5",
				Primary: source.Location{File: "masq.yaml", Precision: source.WholeObject, Span: source.Span{
					Start: source.Position{Line: 5, Column: 400}, End: source.Position{Line: 90, Column: 2},
				}},
			},
		},
		Gaps: []finding.Gap{
			{
				Kind: finding.Unreadable, File: "charts/broken/templates/svc.yaml", Line: 7,
				What: "the chart does not render", Why: "it needs .Values.auth.secret; pass --set auth.secret=...",
				Consequence: "nothing in charts/broken was checked",
			},
			{
				Kind: finding.Unresolved, What: "the tunnel's routes", Why: "Secret vpn/wg0 is not in the tree; add it or its public part",
				Consequence: "what the tunnel captures is not known", Object: &deployment, Rules: []string{"VPN302", "VPN401"},
			},
		},
		Plan: cidrplan.Plan{
			Ranges: []cidrplan.Range{{
				Cluster: "prod", Role: cidrplan.Pod, Prefixes: []netip.Prefix{netip.MustParsePrefix("10.4.0.0/14")},
				Claims: []cidrplan.Claim{claim(cidrplan.Pod, "10.4.0.0/14", "podSubnet")},
			}},
			Overlaps: []cidrplan.Overlap{{
				Cluster: "prod", A: claim(cidrplan.VPN, "10.4.8.0/24", "AllowedIPs"), B: claim(cidrplan.Pod, "10.4.0.0/14", "podSubnet"),
				Relation: cidrplan.AInB, Set: []netip.Prefix{netip.MustParsePrefix("10.4.8.0/24")},
			}},
		},
		Summary: report.Summary{Inputs: 5, Objects: 12, Errors: 4, Warnings: 1, Notes: 1, Suppressed: 1, Gaps: 2},
	}
}
