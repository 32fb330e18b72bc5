package facts

import (
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Role is what a pod does for the network (rules.md, "Role comes first").
type Role string

// The roles of pods.
const (
	// Gateway forwards other hosts' packets: VPN server, subnet router, exit
	// node, pod-gateway.
	Gateway Role = "gateway"
	// Sidecar is a VPN client that shares the pod with an application.
	Sidecar Role = "sidecar"
	// Client is a VPN client or proxy alone in its pod, or one image that is
	// client and application.
	Client Role = "client"
	// Mesh is a node-level mesh, on the host network by design.
	Mesh Role = "mesh"
	// Control is a control plane, UI, exporter or helper without data plane.
	Control Role = "control"
	// RoleUnknown: a VPN image whose configuration cannot be seen.
	RoleUnknown Role = "unknown"
	// None: no VPN in it.
	None Role = "none"
)

// Pod is a pod or the pod template of a workload.
type Pod struct {
	// ID joins findings of several rules about one pod.
	ID     string             `json:"id"`
	Object finding.ObjectName `json:"object"`
	// Namespace is where it runs, "" for the default one. That of a pod which an
	// operator makes is the operator's, whatever that of the object is.
	Namespace string `json:"namespace"`
	// Maker is the controller that makes the pod in the cluster because of Object,
	// "" for a pod that stands in the tree.
	Maker string `json:"maker"`
	// Workload is a reference that kubectl accepts: "deploy/openvpn"; or "pods/"
	// and the labels by which kubectl finds its pods, where its name is made up in
	// the cluster.
	Workload string `json:"workload"`
	// Ref is the pod spec; Metadata the pod's (template's) metadata.
	Ref      source.Ref `json:"ref"`
	Metadata source.Ref `json:"metadata"`
	// NameRef is the name of the object, else its kind: what speaks of the workload
	// as a whole.
	NameRef source.Ref `json:"name_ref"`
	// Labels are the pod's; Annotations the workload's and the pod's, the pod's win.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Replicas    int               `json:"replicas"` // 1 where not said
	// ReplicasRef is the number, Surge how many pods a rolling update adds before
	// the old ones end ("" for none), StatePerReplica a volume claim template that
	// the VPN's container mounts.
	// Scaled is the most that an autoscaler in view may run.
	ReplicasRef     source.Ref `json:"replicas_ref"`
	Surge           Setting    `json:"surge"`
	Scaled          Setting    `json:"scaled"`
	StatePerReplica bool       `json:"state_per_replica"`
	// RunsToCompletion: Job, CronJob, and a Pod that is a hook or test of a chart,
	// for Helm waits until it has succeeded.
	RunsToCompletion bool `json:"runs_to_completion"`
	PerNode          bool `json:"per_node"` // DaemonSet

	Role    Role   `json:"role"`
	RoleWhy string `json:"role_why"`
	// Unit is the directory of what was rendered as one: the chart, the
	// kustomization, or that of a plain manifest; "." for the working directory.
	Unit string `json:"unit"`
	// Clusters it belongs to; empty: the nameless one of the tree, or it is not known.
	Clusters []string `json:"clusters"`
	// ClusterKnown: Unknown where several clusters are equally near, so that it may
	// run in any of them; Present otherwise.
	ClusterKnown Known   `json:"cluster_known"`
	HostNetwork  Setting `json:"host_network"` // Value "true" or "false"
	DNSPolicy    Setting `json:"dns_policy"`
	// ClusterResolver: the pod's own settings give it the cluster's resolver; Ref
	// is the field that decides (FG D6.4).
	ClusterResolver Switch `json:"cluster_resolver"`
	// FirstResolver is a public name server that the pod's own settings put before
	// the cluster's, "" for none.
	FirstResolver string      `json:"first_resolver"`
	Containers    []Container `json:"containers"` // in start order

	// HostPID and HostIPC: the pod shares the node's processes or shared memory.
	HostPID Setting `json:"host_pid"`
	HostIPC Setting `json:"host_ipc"`
	// SharedProcesses: its containers see and can end each other's processes.
	SharedProcesses Setting `json:"shared_processes"`

	Forwarding Forwarding `json:"forwarding"`
	// Sysctls are those of the pod's securityContext.
	Sysctls []PodSysctl `json:"sysctls"`
	// Rejections are the checks of the enforced Pod Security level that the pod
	// fails.
	Rejections []Rejection `json:"rejections"`
	// Injected are the containers that admission webhooks certainly add. They are
	// part of what Rejections are about, and not of Containers.
	Injected []Injected `json:"injected"`
	// Attached: other networks than the cluster's own are attached to the pod
	// (Multus), so that it has further interfaces.
	Attached Switch `json:"attached"`
	// SrcValidMark and LooseFilter decide whether packets that come back outside
	// a tunnel with fwmark routing survive reverse path filtering (FG D3.6);
	// IPv6Off whether the pod speaks IPv6 at all.
	SrcValidMark SysctlEvidence `json:"src_valid_mark"`
	LooseFilter  SysctlEvidence `json:"loose_filter"`
	IPv6Off      SysctlEvidence `json:"ipv6_off"`
	Tunnels      []Tunnel       `json:"tunnels"`
	// Needs are the reasons why containers other than the tunnel's own need the
	// cluster (rules.md, reading rules).
	Needs []Need `json:"needs"`
	// Mentions are the addresses that containers other than the tunnel's own
	// name in their environment, arguments or mounted configuration.
	Mentions []Mention `json:"mentions"`
	// Inbound is what reaches the pod from outside: probes and Services. It is
	// looked for where there is a tunnel only.
	Inbound []Inbound `json:"inbound"`
	// NodeProbes are probes that ask for a loopback address, which is the node's
	// own: the kubelet asks from there. None for a pod on the host network.
	NodeProbes []NamedRef `json:"node_probes"`
	Gates      []Gate     `json:"gates"`
	Egress     Egress     `json:"egress"`
}

// Inbound is one way in which something outside reaches a port of the pod.
type Inbound struct {
	Kind      string     `json:"kind"`      // probe | service
	Container string     `json:"container"` // "" when no container is known to listen
	Port      int        `json:"port"`
	Protocol  string     `json:"protocol"`
	Ref       source.Ref `json:"ref"`
	Says      string     `json:"says"` // "startupProbe httpGet 9999", "Service media/web port 80"
	// Tunnel: the tunnel's own container answers.
	Tunnel bool `json:"tunnel"`
}

// PodSysctl is one entry of a pod's securityContext.sysctls.
type PodSysctl struct {
	Name  string     `json:"name"` // with dots
	Value string     `json:"value"`
	Ref   source.Ref `json:"ref"` // the entry
	// Safe: kubelets take it without being told to (FG D2).
	Safe bool `json:"safe"`
	// Allowed: allowed (a kubelet configuration of the pod's cluster allows it) |
	// refused (there are such configurations, and none does) | unseen (there is
	// none) | unknown.
	Allowed string `json:"allowed"`
	// KubeletRef is the configuration that decides, zero for none.
	KubeletRef source.Ref `json:"kubelet_ref"`
}

// Rejection is one check of Pod Security that a pod fails (FG D4).
type Rejection struct {
	// Level and Version are what the namespace enforces: "baseline", "v1.29" or
	// "latest".
	Level   string `json:"level"`
	Version string `json:"version"`
	// Says names the check and what it forbids: "non-default capabilities
	// (container "vpn" must not include "NET_ADMIN")".
	Says string `json:"says"`
	// Ref is the field to blame, else the pod's spec; LabelRef the namespace's
	// label.
	Ref      source.Ref `json:"ref"`
	LabelRef source.Ref `json:"label_ref"`
}

// Injected is a container that an admission webhook adds to a pod.
type Injected struct {
	Name string `json:"name"`
	// Carries: packets of a VPN go through it, or by the routes that it makes.
	Carries bool `json:"carries"`
	// Ref is the field that makes the webhook of By do so.
	Ref source.Ref `json:"ref"`
	By  string     `json:"by"` // "NetBird's webhook"
}

// UnreachedResolver is a resolver that clients are told to use and have no route
// to.
type UnreachedResolver struct {
	Resolver PrefixAt `json:"resolver"`
	// Within are the cluster's service ranges that hold it, none for a resolver
	// elsewhere.
	Within []RangeAt `json:"within"`
}

// Need is one reason why a container needs the cluster.
type Need struct {
	Container string     `json:"container"`
	Ref       source.Ref `json:"ref"`
	// Kind: name (a cluster DNS name) | service | pod | api (an address) |
	// replies (a Service or probe reaches it).
	Kind string `json:"kind"`
	Says string `json:"says"` // "http://ledger.billing.svc.cluster.local:8080"
}

// Mention is an address that a container names.
type Mention struct {
	Container string     `json:"container"`
	Address   string     `json:"address"` // canonical
	Ref       source.Ref `json:"ref"`
	Says      string     `json:"says"` // "tcp://10.20.0.7:5432"
	// Proxied: the container is told to use a proxy, which may know the way.
	Proxied bool `json:"proxied"`
}

// Gate is how the application is kept waiting for one tunnel (C8).
type Gate struct {
	Tunnel string     `json:"tunnel"` // container name
	Ref    source.Ref `json:"ref"`
	Stage  Stage      `json:"stage"`
	// StartupProbe of a native sidecar. Absent: none or disabled.
	StartupProbe Switch `json:"startup_probe"`
	// PostStartBlocks: its postStart hook returns only when the tunnel is up.
	PostStartBlocks Switch `json:"post_start_blocks"`
	// Before are the application containers that start before the tunnel;
	// After those that start after it; Waits those of either that wait by
	// themselves.
	Before []string `json:"before"`
	After  []string `json:"after"`
	Waits  []string `json:"waits"`
	// FakeGates are init containers that "wait for the VPN" before it exists;
	// EarlyInits those that need the network before the native sidecar starts.
	FakeGates  []NamedRef `json:"fake_gates"`
	EarlyInits []NamedRef `json:"early_inits"`
}

// Egress is what network policies let a pod send.
type Egress struct {
	// DenyByDefault: Present when a policy isolates the pod for egress and does
	// not admit everything.
	DenyByDefault Known `json:"deny_by_default"`
	// TunnelOnly: Present when what is admitted is only the tunnel's transport
	// (one address or port), with or without DNS.
	TunnelOnly Known        `json:"tunnel_only"`
	Policies   []source.Ref `json:"policies"`
	// Unenforced: Present when policies select the pod but only a CNI is in view
	// that enforces none (plain flannel, FG D6.3); DenyByDefault is Absent then.
	Unenforced Switch `json:"unenforced"`
}
