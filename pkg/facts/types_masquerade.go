package facts

import (
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Agent is a masquerade agent of a cluster and the list that it applies
// (FG A). A list without an agent in view has a zero Ref.
type Agent struct {
	// Kind: ip-masq-agent | gke-managed | gke-autopilot | azure-v2 | cilium |
	// aws-vpc-cni | calico | cilium-native-routing | flannel | kube-router | none
	// (the plan says that there is none).
	Kind      string             `json:"kind"`
	Object    finding.ObjectName `json:"object"`
	Ref       source.Ref         `json:"ref"` // DaemonSet container, or the ContainerCluster
	Container string             `json:"container"`
	Workload  string             `json:"workload"`
	Cluster   string             `json:"cluster"`
	List      List               `json:"list"`
	// Effective are the destinations that keep the pod's address, defaults
	// included; empty when List.Source is unknown.
	Effective []string `json:"effective"`
	// Targets are the cluster's VPN destinations held against the list.
	Targets []Target `json:"targets"`
	// Missing parts of the cluster's ranges, exact.
	MissingPods  []string `json:"missing_pods"`
	MissingNodes []string `json:"missing_nodes"`
	// Wide are entries that are an RFC 1918 block far beyond the pod range.
	Wide []PrefixAt `json:"wide"`
	// Minimal is the list to write instead: pods, nodes and internal ranges
	// minus the destinations that want node sources; empty when the pod range is
	// unknown.
	Minimal []string `json:"minimal"`
	// MissedPools are node pools of the cluster on which no agent runs.
	MissedPools []MissedPool `json:"missed_pools"`
	PodRanges   []RangeAt    `json:"pod_ranges"`
	NodeRanges  []RangeAt    `json:"node_ranges"`
}

// MissedPool is a declared node pool on which a DaemonSet certainly does not run.
type MissedPool struct {
	Name   string             `json:"name"`
	Object finding.ObjectName `json:"object"`
	Pool   source.Ref         `json:"pool"` // the pool's taint, else the pool
	// Ref is the DaemonSet's tolerations, nodeSelector or affinity; the pod spec
	// where it has none.
	Ref source.Ref `json:"ref"`
	Why string     `json:"why"` // "does not tolerate its taint dedicated=batch:NoSchedule"
}

// List is the exemption list of a masquerade agent: what keeps the pod's address on
// its way out (FG A1).
type List struct {
	// Source: explicit | default | unknown | none (nothing is masqueraded).
	Source  string     `json:"source"`
	Ref     source.Ref `json:"ref"` // the list, else the config, else the agent
	Why     string     `json:"why"`
	Entries []PrefixAt `json:"entries"`
	// Valid: the agent accepts it (VPN205 speaks otherwise).
	Valid Known `json:"valid"`
	// Resync is the interval at which an agent that knows one writes its rules
	// anew. State Absent: the default of 60s, written or not.
	Resync Setting `json:"resync"`
	// ResyncReason is the comment next to the interval, "" for none.
	ResyncReason string `json:"resync_reason"`
	// Refused are the pieces for which the agent refuses its configuration.
	Refused []RefusedConfig `json:"refused"`
	// more: the agent reads further lists that cannot be seen, so that what is not
	// on this one may be exempt all the same.
	more bool
	// unread is the reason of a list that cannot be seen.
	unread reason
}

// unreadList is a list of which nothing is known.
func unreadList(at source.Ref, why reason) List {
	return List{Source: "unknown", Ref: at, Why: why.text, Valid: Unknown, unread: why}
}

// RefusedConfig is a piece of a configuration for which its reader refuses the
// whole.
type RefusedConfig struct {
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"` // "10.4.1.0/14 has bits set right of its mask; ..."
	// Fate is what the reader does then.
	Fate string `json:"fate"`
}

// UnreadList is a ConfigMap with an exemption list that no agent reads.
type UnreadList struct {
	Object  finding.ObjectName `json:"object"`
	Ref     source.Ref         `json:"ref"` // what is wrong: a key, the name, the mount
	Cluster string             `json:"cluster"`
	// Agent is the workload that should read it, "" when none is in view.
	Agent string `json:"agent"`
	// AgentNamespace and AgentContainer are for checks on the cluster.
	AgentNamespace string `json:"agent_namespace"`
	AgentContainer string `json:"agent_container"`
	// Wrong: key | name | namespace | path | directory | mount | autopilot.
	Wrong string `json:"wrong"`
	Why   string `json:"why"`
	// Expected is where the agent looks instead; it may be zero.
	Expected source.Ref `json:"expected"`
}

// Target is one VPN destination held against an exemption list.
type Target struct {
	Site   string     `json:"site"`
	Prefix string     `json:"prefix"`
	Ref    source.Ref `json:"ref"`
	// Wanted is the source address that the far side can answer: node | pod |
	// unknown.
	Wanted    string     `json:"wanted"`
	WantedWhy string     `json:"wanted_why"`
	WantedRef source.Ref `json:"wanted_ref"`
	// Covered is the part of Prefix that is exempt; Entry the list entry (index
	// into List.Entries, -1 for a default) that covers most of it.
	Covered []string `json:"covered"`
	// Lacks are the steps of the path that leave out a part of the pod range, as
	// far as they are stated.
	Lacks []PathLack `json:"lacks"`
	Entry int        `json:"entry"`
}

// PathLack is a step of a path that leaves out a part of the pod range.
type PathLack struct {
	// Kind: selectors (the tunnel's local selectors, or its router's announcements,
	// do not hold it) | return-route (the far side has no route back to it) |
	// far-side (the far side's firewall does not let it in) | choice (nothing
	// masquerades, and the plan wants node addresses there).
	Kind    string     `json:"kind"`
	Ref     source.Ref `json:"ref"`
	Outside []string   `json:"outside"` // the part, exact
}
