package config

import (
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/suggest"
)

// This file is the shape of the plan file. The decoder and the published schema
// both walk these types: the json tag names the key, doc says what it means,
// need:"true" that it must be there. Only what its readers need has a Go field
// that is read; the clusters' keys are read by pkg/facts from the same tree.

type document struct {
	Version  version           `json:"version" need:"true" doc:"The version of this format: 1."`
	Clusters []clusterDoc      `json:"clusters" doc:"The clusters that this repository is for. A cluster of this list takes the place of what the tree itself declares of clusters."`
	Targets  []targetDoc       `json:"targets" doc:"How to render charts and kustomizations that lint finds. A chart with targets is rendered once for each of them, and with none of the values files in its ci directory."`
	Rules    map[ruleID]choice `json:"rules" doc:"The severity of rules, by their id."`
	Suppress []suppressDoc     `json:"suppress" doc:"Findings to leave out. Each entry needs a reason, and is reported when it suppresses nothing."`
}

type clusterDoc struct {
	Name                 name          `json:"name" need:"true" doc:"How reports name the cluster."`
	Paths                []glob        `json:"paths" doc:"Which inputs belong to the cluster: globs relative to this file, matched against the directory of a chart or kustomization, or against a manifest file. A glob without a wildcard names a file, or a directory with all that is in it. Absent: all inputs. An input may belong to several clusters; it is checked against each of them."`
	Pods                 []prefix      `json:"pods" doc:"The ranges that pods take their addresses from."`
	Services             []prefix      `json:"services" doc:"The ranges of ClusterIPs."`
	Nodes                []prefix      `json:"nodes" doc:"The ranges of the nodes' addresses."`
	DNS                  []address     `json:"dns" doc:"The addresses of the cluster's resolver."`
	APIServer            []endpoint    `json:"apiServer" doc:"The addresses of the API server: its ClusterIP, and where nodes reach it. A range stands for an address inside it."`
	PodForwarding        forwarding    `json:"podForwarding" doc:"guaranteed: nodes and CNI guarantee net.ipv4.ip_forward=1 in every new pod's network namespace."`
	AllowedUnsafeSysctls []sysctl      `json:"allowedUnsafeSysctls" doc:"The unsafe sysctls that the kubelets allow, as in their configuration: names, or a prefix with * at its end."`
	Masquerade           masqueradeDoc `json:"masquerade" doc:"Who rewrites pod addresses on the way out of the cluster."`
	Internal             []prefix      `json:"internal" doc:"Private ranges beyond the cluster that expect pod addresses."`
	NodePools            []nodePoolDoc `json:"nodePools" doc:"The pools of Linux nodes."`
	VPN                  []vpnDoc      `json:"vpn" doc:"The networks that the cluster reaches through VPNs."`
	ClientPools          []poolDoc     `json:"clientPools" doc:"The ranges that VPN servers of the cluster hand to their clients."`
}

type masqueradeDoc struct {
	Agent agent `json:"agent" need:"true" doc:"The agent that masquerades; none: nothing rewrites pod addresses."`
}

type nodePoolDoc struct {
	Name   name            `json:"name" need:"true" doc:"The pool's name."`
	Labels map[string]text `json:"labels" doc:"The labels of its nodes."`
	Taints []taintDoc      `json:"taints" doc:"The taints of its nodes."`
}

type taintDoc struct {
	Key    name   `json:"key" need:"true" doc:"The taint's key."`
	Value  text   `json:"value" doc:"The taint's value."`
	Effect effect `json:"effect" need:"true" doc:"What it does to pods that do not tolerate it."`
}

type vpnDoc struct {
	Name                  name          `json:"name" need:"true" doc:"How reports name the VPN."`
	Tunnel                tunnelDoc     `json:"tunnel" doc:"The object that carries it, if it is in the tree."`
	FullTunnel            bool          `json:"fullTunnel" doc:"true: a default route through it is the purpose."`
	Destinations          []prefix      `json:"destinations" doc:"The networks behind it."`
	SourceAddress         sourceAddress `json:"sourceAddress" doc:"Which address the far side shall see: that of the node, or that of the pod."`
	Reason                text          `json:"reason" doc:"Why that address."`
	LocalTrafficSelectors []prefix      `json:"localTrafficSelectors" doc:"The sources that the tunnel carries. Each must meet a range of the cluster."`
	ReturnRoutes          []prefix      `json:"returnRoutes" doc:"The networks to which the far side has a route through the VPN."`
	FarSideAllows         []prefix      `json:"farSideAllows" doc:"The sources that the far side's firewall admits."`
}

type tunnelDoc struct {
	Kind name `json:"kind" need:"true" doc:"The object's kind."`
	Name name `json:"name" need:"true" doc:"The object's name."`
}

type poolDoc struct {
	Name        name     `json:"name" need:"true" doc:"How reports name the pool."`
	Range       prefix   `json:"range" need:"true" doc:"The range."`
	Routed      bool     `json:"routed" doc:"true: the cluster's network has a route to the pool, so that clients may keep their addresses."`
	Acknowledge []ruleID `json:"acknowledge" doc:"Rules whose remark on this pool is known and accepted."`
	Reason      text     `json:"reason" doc:"Why it is accepted."`
}

type targetDoc struct {
	Path      filePath        `json:"path" need:"true" doc:"The directory of the chart or kustomization, or a packed chart, relative to this file."`
	Values    []filePath      `json:"values" doc:"Values files, relative to this file; later ones win."`
	Set       map[name]scalar `json:"set" doc:"Single values by their dotted path, as helm's --set takes it; they win over values files."`
	Release   name            `json:"release" doc:"The name of the release; absent: the chart's name."`
	Namespace name            `json:"namespace" doc:"The namespace of the release; absent: default."`
	Cluster   name            `json:"cluster" doc:"The cluster that it runs in, one of clusters. Absent: the paths of the clusters decide."`
}

type choice struct {
	Severity severity `json:"severity" need:"true" doc:"The severity of all findings of the rule; off: it reports nothing."`
}

type suppressDoc struct {
	Rule   ruleID `json:"rule" need:"true" doc:"The rule."`
	Path   glob   `json:"path" doc:"The files whose findings to leave out, relative to this file. Absent: all files."`
	Reason text   `json:"reason" doc:"Why they are no fault."`
}

// word is a scalar of the file with a meaning of its own. describe adds to the
// schema what it can say of the word; judge returns what is wrong with a text of
// it, "" for nothing.
type word interface {
	describe() map[string]any
	judge(text string) string
}

type (
	version       int
	name          string
	text          string
	glob          string
	filePath      string
	prefix        string
	address       string
	endpoint      string
	sysctl        string
	ruleID        string
	severity      string
	forwarding    string
	agent         string
	effect        string
	sourceAddress string
	// scalar is a value of set: text, number or truth.
	scalar any
)

func described(extra map[string]any) map[string]any {
	out := map[string]any{"type": "string"}
	for k, v := range extra {
		out[k] = v
	}
	return out
}

func (name) describe() map[string]any { return described(map[string]any{"minLength": 1}) }

func (name) judge(s string) string {
	if strings.TrimSpace(s) == "" {
		return "it is empty"
	}
	return ""
}

func (text) describe() map[string]any { return described(nil) }

func (text) judge(string) string { return "" }

func (glob) describe() map[string]any { return described(map[string]any{"minLength": 1}) }

func (glob) judge(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "it is empty"
	case strings.HasPrefix(s, "/"):
		return "it is absolute; globs are relative to the directory of this file"
	case slices.Contains(strings.Split(s, "/"), ".."):
		return "it leaves the directory of this file"
	case strings.ContainsAny(s, "{}"):
		return "braces mean nothing in it; write a glob for each of the alternatives"
	}
	for segment := range strings.SplitSeq(s, "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return "it is no glob: a bracket or backslash is not closed"
		}
	}
	return ""
}

func (filePath) describe() map[string]any { return described(map[string]any{"minLength": 1}) }

func (filePath) judge(s string) string {
	if strings.HasPrefix(s, "/") {
		return "it is absolute; paths are relative to the directory of this file"
	}
	return name("").judge(s)
}

// prefixPattern and addressPattern only keep editors from accepting anything;
// the decoder knows better.
const (
	prefixPattern  = `^[0-9A-Fa-f:.]+/[0-9]{1,3}$`
	addressPattern = `^[0-9A-Fa-f:.]+$`
)

func (prefix) describe() map[string]any {
	return described(map[string]any{"pattern": prefixPattern, "examples": []string{"10.4.0.0/14"}})
}

func (prefix) judge(s string) string {
	e := grammar.ParsePrefix(s, 0)
	switch {
	case e.Bare:
		return "it is an address without a mask; the range of this one address is " + e.Prefix.String()
	case !e.Valid:
		return "it is no range of the form 10.4.0.0/14"
	case e.HostBits:
		return "it has bits set right of its mask; the network is " + e.Prefix.String()
	case e.Addr.Is4In6():
		return "it is an IPv4 address written as IPv6; write it as IPv4"
	}
	return ""
}

func (address) describe() map[string]any {
	return described(map[string]any{"pattern": addressPattern, "examples": []string{"10.8.0.10"}})
}

func (address) judge(s string) string {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil || a.Zone() != "":
		return "it is no address of the form 10.8.0.10"
	case a.Is4In6():
		return "it is an IPv4 address written as IPv6; write it as IPv4"
	case a.IsUnspecified() || a.IsMulticast():
		return "nothing answers at this address"
	}
	return ""
}

func (endpoint) describe() map[string]any {
	return described(map[string]any{"pattern": `^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$`, "examples": []string{"10.8.0.1"}})
}

func (endpoint) judge(s string) string {
	if strings.Contains(s, "/") {
		return prefix("").judge(s)
	}
	return address("").judge(s)
}

func (sysctl) describe() map[string]any { return described(map[string]any{"minLength": 1}) }

// judge: kubelets take the names of kernel parameters with dots or slashes.
func (sysctl) judge(s string) string {
	if !regexp.MustCompile(`^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*([./])?\*?$`).MatchString(s) {
		return "it is no name of a sysctl such as net.ipv4.ip_forward or net.*"
	}
	return ""
}

// ruleIDPattern is the form of rules' ids, the user's own included.
const ruleIDPattern = `^[A-Z]{2,12}[0-9]{1,5}$`

func (ruleID) describe() map[string]any {
	return described(map[string]any{"pattern": ruleIDPattern, "examples": []string{"VPN305"}})
}

// judge leaves what is written to the list of rules.
func (ruleID) judge(text string) string {
	if text == "" {
		return "it is empty; vpnlint rules lists the ids"
	}
	return ""
}

// enum is a word of a closed list.
type enum interface{ values() []string }

func (severity) values() []string {
	return []string{"error", "warning", "note", "off"}
}
func (forwarding) values() []string    { return []string{"guaranteed"} }
func (effect) values() []string        { return []string{"NoSchedule", "PreferNoSchedule", "NoExecute"} }
func (sourceAddress) values() []string { return []string{"node", "pod"} }

func (agent) values() []string {
	return []string{
		"gke-managed", "gke-autopilot", "ip-masq-agent", "azure-v2", "aws-vpc-cni", "cilium", "calico", "flannel", "kube-router", "ovn", "none",
	}
}

func describeEnum(e enum) map[string]any { return map[string]any{"enum": e.values()} }

func judgeEnum(e enum, s string) string {
	values := e.values()
	if slices.Contains(values, s) {
		return ""
	}
	if near := suggest.Nearest(s, values); near != "" {
		return fmt.Sprintf("%q is none of its values; did you mean %s?", clip(s), near)
	}
	if len(values) == 1 {
		return fmt.Sprintf("%q is not its value; it can only be %s", clip(s), values[0])
	}
	return fmt.Sprintf("%q is none of its values: %s", clip(s), strings.Join(values, ", "))
}

func (severity) describe() map[string]any {
	// In YAML 1.1, which Kubernetes and the decoder here read, off is false.
	values := []any{false}
	for _, v := range severity("").values() {
		values = append(values, v)
	}
	return map[string]any{"enum": values}
}
func (forwarding) describe() map[string]any    { return describeEnum(forwarding("")) }
func (agent) describe() map[string]any         { return describeEnum(agent("")) }
func (effect) describe() map[string]any        { return describeEnum(effect("")) }
func (sourceAddress) describe() map[string]any { return describeEnum(sourceAddress("")) }

func (severity) judge(s string) string      { return judgeEnum(severity(""), s) }
func (forwarding) judge(s string) string    { return judgeEnum(forwarding(""), s) }
func (agent) judge(s string) string         { return judgeEnum(agent(""), s) }
func (effect) judge(s string) string        { return judgeEnum(effect(""), s) }
func (sourceAddress) judge(s string) string { return judgeEnum(sourceAddress(""), s) }
