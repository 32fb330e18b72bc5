// Package facts turns objects into what a network engineer sees: pods with
// their roles, tunnels and forwarding, masquerade agents with their lists,
// ranges and clusters. Every element carries a source.Ref to the place that
// says so. The exported types are the rules' input: rules/schema/input.json is
// generated from them.
package facts

import (
	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Known is the three-valued answer. Unknown never fires a rule.
type Known string

// The answers.
const (
	Present Known = "present" // yes
	Absent  Known = "absent"  // no
	Unknown Known = "unknown" // cannot be seen from the tree
)

// Facts is all that was learned from the objects of a run.
type Facts struct {
	Pods     []Pod     `json:"pods"`
	Agents   []Agent   `json:"agents"`
	Sites    []Site    `json:"sites"`
	Clusters []Cluster `json:"clusters"`
	// Invalid are the ranges that their readers refuse.
	Invalid []InvalidRange `json:"invalid"`
	// PolicyBlocks are the addresses that policies and firewalls name.
	PolicyBlocks []PolicyBlock `json:"policy_blocks"`
	// UnreadLists are the exemption lists that no agent reads.
	UnreadLists []UnreadList `json:"unread_lists"`
	// Backends are addresses that Endpoints and EndpointSlices without a selector
	// name: Services of something outside the cluster.
	Backends []Backend `json:"backends"`
	// NodeRoutes are routes of the node network into something that may be a VPN.
	NodeRoutes []NodeRoute `json:"node_routes"`
	// PeerGroups are peers that operators configure, by the interface that they
	// share.
	PeerGroups []PeerGroup `json:"peer_groups"`

	// Claims go to cidrplan.Compute; rules see the resulting plan.
	Claims []cidrplan.Claim `json:"-"`
	Gaps   []finding.Gap    `json:"-"`
}

// PrefixAt is a prefix and the place that says it.
type PrefixAt struct {
	Prefix string     `json:"prefix"` // canonical, masked: 10.0.0.0/8
	Text   string     `json:"text"`   // as written
	Ref    source.Ref `json:"ref"`
}

// Setting is a value and its place. State Absent: not set, Value is the default.
type Setting struct {
	State Known      `json:"state"`
	Value string     `json:"value"`
	Ref   source.Ref `json:"ref"`
}

// RangeAt is a range of a cluster and its declaration.
type RangeAt struct {
	Role     cidrplan.Role     `json:"role"`
	Prefix   string            `json:"prefix"`
	Ref      source.Ref        `json:"ref"`
	Says     string            `json:"says"`
	Strength cidrplan.Strength `json:"strength"`
}

// Switch is a yes/no property and the place that decides it.
type Switch struct {
	State Known      `json:"state"`
	Ref   source.Ref `json:"ref"`
	Why   string     `json:"why"`
}

// NamedRef is a container, or what a field lists, by its name and with its place.
type NamedRef struct {
	Name string     `json:"name"`
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"`
}
