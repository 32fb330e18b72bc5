package facts

import (
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Backend is an address outside the cluster that a Service leads to, by
// Endpoints of the same name or by its ExternalName.
type Backend struct {
	Object  finding.ObjectName `json:"object"`
	Cluster string             `json:"cluster"`
	// ClusterKnown as that of a Pod.
	ClusterKnown Known      `json:"cluster_known"`
	Address      string     `json:"address"`
	Ref          source.Ref `json:"ref"`
	// Resolved is where the cluster's CoreDNS gives an ExternalName this address;
	// zero where the address itself is written.
	Resolved source.Ref `json:"resolved"`
}

// NodeRoute is a route that all nodes have.
type NodeRoute struct {
	Cluster string `json:"cluster"`
	// ClusterKnown as that of a Pod.
	ClusterKnown Known      `json:"cluster_known"`
	Prefix       string     `json:"prefix"`
	Ref          source.Ref `json:"ref"`
}

// PolicyBlock is an address range that a NetworkPolicy or firewall names.
type PolicyBlock struct {
	Object finding.ObjectName `json:"object"`
	// Cluster it belongs to; Known is false when that cannot be told.
	Cluster string     `json:"cluster"`
	Known   bool       `json:"known"`
	Prefix  string     `json:"prefix"`
	Ref     source.Ref `json:"ref"`
	// Except: it takes a part out of a wider block.
	Except bool `json:"except"`
	// Source: it names where packets come from; otherwise where they go.
	Source bool `json:"source"`
}

// InvalidRange is a range that its reader refuses. What a reader merely masks
// or ignores is none.
type InvalidRange struct {
	Object finding.ObjectName `json:"object"`
	Pod    string             `json:"pod"` // the id of the pod that reads it, "" for none
	Ref    source.Ref         `json:"ref"`
	Text   string             `json:"text"`
	// Says is the field or key: "podSubnet"; Why what is wrong with the text.
	Says string `json:"says"`
	Why  string `json:"why"`
	// Fate is what happens then: "kubeadm refuses its configuration".
	Fate string `json:"fate"`
}

// Site is a site-to-site VPN of the node network (Cloud VPN, ...).
type Site struct {
	Name    string             `json:"name"`
	Object  finding.ObjectName `json:"object"`
	Ref     source.Ref         `json:"ref"`
	Cluster string             `json:"cluster"`
	// ClusterKnown as that of a Pod.
	ClusterKnown Known `json:"cluster_known"`
	// Remote and Local are the traffic selectors (or routes).
	RemoteState Known      `json:"remote_state"`
	Remote      []PrefixAt `json:"remote"`
	LocalState  Known      `json:"local_state"`
	Local       []PrefixAt `json:"local"`
	// Planned: the plan declares it, and no object of the tree does.
	Planned bool `json:"planned"`
}

// Cluster is a declared cluster, or the nameless one that a tree is for.
type Cluster struct {
	Name string     `json:"name"` // "" when nothing names it
	Ref  source.Ref `json:"ref"`
	// Planned: the plan file describes it; Plan is what it says beside the ranges.
	Planned bool           `json:"planned"`
	Plan    PlannedCluster `json:"plan"`
	// Elsewhere: it is in the plan, but nothing that is read here belongs to it. Its
	// ranges are known and are no claims of this reading.
	Elsewhere bool `json:"elsewhere"`
	// Unit is the directory whose inputs belong to it.
	Unit   string    `json:"unit"`
	Ranges []RangeAt `json:"ranges"`
	// CNI: calico | cilium | flannel | kindnet | aws | ovn | "".
	CNI    string     `json:"cni"`
	CNIRef source.Ref `json:"cni_ref"`
	// ForwardingOff: its CNI writes 0 into every pod's ip_forward (FG D1.3).
	ForwardingOff Switch `json:"forwarding_off"`
	// SourceCheck: its CNI drops what a pod sends with an address that is not its
	// own. Absent, too, where the CNI is not known to do so.
	SourceCheck Switch `json:"source_check"`
	// SpoofingAllowed: Calico's Felix heeds the annotation with which a pod asks for
	// further source addresses; otherwise it refuses the pod's endpoint.
	SpoofingAllowed Switch `json:"spoofing_allowed"`
	// ForwardingOn: nodes or CNI guarantee 1 in every pod (FG D1.6, plan).
	ForwardingOn Switch `json:"forwarding_on"`
	// MTU of the pods' interface, as far as the CNI's configuration says it.
	MTU MTU `json:"mtu"`

	// kubeletLists are the kubelet configurations in view.
	kubeletLists []kubeletList
	// mixedPools are what decides ForwardingOn where only some of them do.
	mixedPools []poolClaim
}
