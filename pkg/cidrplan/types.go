// Package cidrplan is the address plan: which ranges pods, services, nodes and
// VPNs use, where they overlap, and which lists of prefixes repair that. It is
// pure arithmetic over claims and knows neither Kubernetes nor files.
package cidrplan

import (
	"net/netip"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Role is what a range is used for.
type Role string

// The roles. Pod, Service, Node and VPN are the four ranges of the address plan
// (claim C6).
const (
	Pod     Role = "pod"
	Service Role = "service"
	Node    Role = "node"
	// VPN is a destination behind a tunnel.
	VPN Role = "vpn"
	// Pool is the address pool that a VPN gateway hands to its clients, or the
	// range of a mesh.
	Pool Role = "pool"
	// LB are the addresses that a load balancer of the cluster hands to Services.
	// Where they are announced by ARP they lie inside the node range by design.
	LB Role = "lb"
	// API is the address of the API server.
	API Role = "api"
	// DNS is the cluster's resolver.
	DNS Role = "dns"
)

// Strength says how much a claim is worth.
type Strength string

const (
	// Planned: the plan file says so, about the whole range.
	Planned Strength = "planned"
	// Declared: somebody wrote it.
	Declared Strength = "declared"
	// Default: a component would use it because nothing was written.
	Default Strength = "default"
	// Evidence: one address or part proves a piece of the range (a clusterIP, a
	// node's podCIDR).
	Evidence Strength = "evidence"
)

// Idiom marks a claim whose overlap with another is meant.
type Idiom string

const (
	// NoIdiom: nothing is known that would excuse an overlap.
	NoIdiom Idiom = ""
	// EnclosesCluster: encloses pods and services by design (kops
	// nonMasqueradeCIDR, FG B).
	EnclosesCluster Idiom = "encloses-cluster"
	// NoSNATPool: a pool that only exempts a destination (Calico, FG A6.2).
	NoSNATPool Idiom = "no-snat-pool"
	// ClusterRoute: a route to the cluster's own ranges, announced to clients.
	ClusterRoute Idiom = "cluster-route"
	// DefaultRoute: a default route; it covers everything and overlaps nothing.
	DefaultRoute Idiom = "default-route"
)

// Claim is one statement about a range. Claims of the same cluster, role and
// owner add up to one range.
type Claim struct {
	// Cluster is the routing domain; "" when the tree names none.
	Cluster  string       `json:"cluster"`
	Role     Role         `json:"role"`
	Prefix   netip.Prefix `json:"prefix"` // masked
	At       source.Ref   `json:"at"`
	Says     string       `json:"says"` // "podSubnet", "AllowedIPs", "--cluster-cidr"
	Strength Strength     `json:"strength"`
	// Owner tells ranges of one role apart: the tunnel or gateway ("Deployment
	// edge/wg"), "" for the cluster's own.
	Owner string `json:"owner,omitempty"`
	Idiom Idiom  `json:"idiom,omitempty"`
	// Part: a piece that is cut from the range, such as a Calico pool or the pod
	// range of a node pool; the range itself may be larger.
	Part bool `json:"part,omitempty"`
	// PodLocal: a route of one pod's network namespace. It meets the cluster's
	// own ranges there, but not what other pods' tunnels use.
	PodLocal bool `json:"pod_local,omitempty"`
}

// Relation is how two ranges lie to each other that share addresses.
type Relation string

// The relations of Overlap.A to Overlap.B.
const (
	Equal   Relation = "equal"
	AInB    Relation = "a-in-b"
	BInA    Relation = "b-in-a"
	Partial Relation = "partial"
)

// Overlap is the exact intersection of claims of two ranges that differ in role
// (see Compute for which pairs are reported).
type Overlap struct {
	Cluster  string   `json:"cluster"`
	A        Claim    `json:"a"` // the VPN side where there is one, else the lower role
	B        Claim    `json:"b"`
	Relation Relation `json:"relation"`
	// Set is the intersection as minimal prefixes.
	Set []netip.Prefix `json:"set"`
	// More counts overlaps that are left out after it (see MostOverlaps).
	More int `json:"more,omitempty"`
}

// Conflict is two claims of one role and owner that cannot both hold: two
// declarations, or what the plan file says (A) and what the tree does (B).
type Conflict struct {
	Cluster string `json:"cluster"`
	A       Claim  `json:"a"`
	B       Claim  `json:"b"`
}

// Range is the union of the claims of one cluster, role and owner.
type Range struct {
	Cluster string `json:"cluster"`
	Role    Role   `json:"role"`
	Owner   string `json:"owner,omitempty"`
	// Prefixes is the union of the claims without an idiom, minimal.
	Prefixes []netip.Prefix `json:"prefixes"`
	Claims   []Claim        `json:"claims"`
}

// Plan is the address plan of everything in view.
type Plan struct {
	Ranges    []Range    `json:"ranges"`
	Overlaps  []Overlap  `json:"overlaps"`
	Conflicts []Conflict `json:"conflicts"`
}
