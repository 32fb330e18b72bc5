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
	// Workload is a reference that kubectl accepts: "deploy/openvpn".
	Workload string `json:"workload"`
	// Ref is the pod spec; Metadata the pod's (template's) metadata.
	Ref      source.Ref `json:"ref"`
	Metadata source.Ref `json:"metadata"`
	// Labels are the pod's; Annotations the workload's and the pod's, the pod's win.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Replicas    int               `json:"replicas"` // 1 where not said
	// ReplicasRef is the number, Surge how many pods a rolling update adds before
	// the old ones end ("" for none), StatePerReplica a volume claim template that
	// the VPN's container mounts.
	ReplicasRef     source.Ref `json:"replicas_ref"`
	Surge           Setting    `json:"surge"`
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
	ClusterResolver Switch      `json:"cluster_resolver"`
	Containers      []Container `json:"containers"` // in start order

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
	Gates   []Gate    `json:"gates"`
	Egress  Egress    `json:"egress"`
}

// Stage is when a container runs.
type Stage string

// The stages. NativeSidecar is an init container with restartPolicy Always.
const (
	Init          Stage = "init"
	NativeSidecar Stage = "sidecar"
	Main          Stage = "main"
)

// Container is one container of a pod.
type Container struct {
	Name  string     `json:"name"`
	Ref   source.Ref `json:"ref"`
	Stage Stage      `json:"stage"`
	// Order is the start order over all containers of the pod, from 0.
	Order    int        `json:"order"`
	Image    string     `json:"image"`
	ImageRef source.Ref `json:"image_ref"`
	// Family is the id of the VPN image family, "" for none or a look-alike.
	Family      string `json:"family"`
	FamilyTitle string `json:"family_title"`
	// Version is the image's version, "" when the tag does not tell.
	Version string `json:"version"`
	// DataPlane: it carries packets of a VPN.
	DataPlane bool `json:"data_plane"`
	// Application: neither VPN, nor helper, nor an init container that ends.
	Application  bool     `json:"application"`
	Privileged   Known    `json:"privileged"`
	Capabilities []string `json:"capabilities"` // added and not dropped again, upper case, without CAP_
	Dropped      []string `json:"dropped"`      // dropped, in the same form
	// SecurityRef is the container's securityContext, else the container.
	SecurityRef source.Ref `json:"security_ref"`
	// NonRoot: Present when it certainly does not run as user 0 (runAsUser or
	// runAsNonRoot, of the container before the pod's); Unknown when only the
	// image decides.
	NonRoot Setting `json:"non_root"`
	// Unmasked: procMount Unmasked, so that /proc/sys is writable.
	Unmasked bool `json:"unmasked"`
	// TunDevice: /dev/net/tun is mounted, or a device plugin is asked for it.
	TunDevice bool `json:"tun_device"`
	// Combined: one image is VPN and application (FG C0, "client+app").
	Combined bool `json:"combined"`
	// NeedsAdmin: its image needs NET_ADMIN as it is set up here; Unknown where
	// that was not read from the image.
	NeedsAdmin Known `json:"needs_admin"`
	// MakesTun: its image makes /dev/net/tun itself when it is not there.
	MakesTun bool `json:"makes_tun"`
	// UsesNetwork: an init container whose script talks to the network.
	UsesNetwork Known `json:"uses_network"`
	// OwnCommand: the manifest replaces the image's own program.
	OwnCommand bool `json:"own_command"`
	// NeedsPrivilege: Absent when everything that the container does works with
	// capabilities alone. Unknown for containers that carry no VPN.
	NeedsPrivilege Switch `json:"needs_privilege"`
	// Modules are what lets it load kernel modules: SYS_MODULE, /lib/modules of
	// the node; empty where the image asks for that (FG C0, Needs).
	Modules   []NamedRef `json:"modules"`
	Listeners []Listener `json:"listeners"`
}

// Listener is a port on which a container listens in the pod's namespace.
type Listener struct {
	Port     int    `json:"port"`
	Protocol string `json:"protocol"` // TCP | UDP | SCTP
	// Source: declared (ports of the manifest) | image (what is known of the
	// image). A port that the manifest declares for a VPN image whose listeners
	// are known, and that is none of them, is not listed: it is another
	// container's.
	Source string     `json:"source"`
	Ref    source.Ref `json:"ref"`
	Says   string     `json:"says"` // "Gluetun's control server (:8000)"
	// Loopback: only processes of the pod reach it.
	Loopback Known `json:"loopback"`
	// Used: something else than the declaration says that the container listens
	// there: its image, a probe, an argument or a variable. A declared port alone
	// is only documentation.
	Used bool `json:"used"`
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

// Forwarding is what makes a pod's network namespace forward (FG D1).
type Forwarding struct {
	// Needed is Absent for pods that forward without the kernel's help: user
	// space data planes, proxies, pods that are no gateway.
	Needed    Known  `json:"needed"`
	NeededWhy string `json:"needed_why"`
	// IPv6Off: IPv6 is disabled in the pod; Unknown when something that cannot
	// be seen may do so.
	IPv6Off Known            `json:"ipv6_off"`
	IPv4    FamilyForwarding `json:"ipv4"`
	IPv6    FamilyForwarding `json:"ipv6"`
}

// FamilyForwarding is the evidence for one address family.
type FamilyForwarding struct {
	// State: Present when some evidence certainly turns it on before the VPN
	// container needs it; Absent when nothing does; Unknown when something that
	// cannot be seen (a script in a missing ConfigMap) might.
	State    Known             `json:"state"`
	Evidence []ForwardEvidence `json:"evidence"`
	// TurnedOff: a CNI of the pod's cluster writes 0 into every new pod (FG D1.3).
	TurnedOff    Known      `json:"turned_off"`
	TurnedOffBy  string     `json:"turned_off_by"`
	TurnedOffRef source.Ref `json:"turned_off_ref"`
}

// SysctlEvidence is the evidence for one setting of the pod's network
// namespace, with the same meaning of State. Evidence whose Value is "1" is for
// it.
type SysctlEvidence struct {
	State    Known             `json:"state"`
	Evidence []ForwardEvidence `json:"evidence"`
}

// ForwardEvidence is one attempt to set forwarding, or another sysctl.
type ForwardEvidence struct {
	// How: pod-sysctl | script | hook | config-hook | image | host-network | node | cni | plan | kubectl-exec
	// (script: command/args or a mounted script; hook: lifecycle; config-hook:
	// PostUp of a WireGuard configuration or an env of the image that runs one).
	How       string     `json:"how"`
	Value     string     `json:"value"` // "0" or "1"
	Container string     `json:"container"`
	Ref       source.Ref `json:"ref"`
	Says      string     `json:"says"` // "sysctl -w net.ipv4.ip_forward=1"
	// Effective: Absent when it certainly fails (an unprivileged container
	// cannot write /proc/sys, FG D3.1).
	Effective Known `json:"effective"`
	// When: before (the VPN container's start) | start (its own start) | after.
	When string `json:"when"`
	// Tolerant: a failure does not fail the script (|| true).
	Tolerant bool `json:"tolerant"`
	// Conditional: it is only reached under a condition of the script.
	Conditional bool `json:"conditional"`
}

// Tunnel is one VPN in a pod.
type Tunnel struct {
	Container    string     `json:"container"`
	ContainerRef source.Ref `json:"container_ref"`
	Family       string     `json:"family"`
	FamilyTitle  string     `json:"family_title"`
	Version      string     `json:"version"`
	Kind         string     `json:"kind"` // wireguard | openvpn | ipsec | mesh | proxy | other
	Side         string     `json:"side"` // client | server | mesh | unknown
	UserSpace    Known      `json:"user_space"`
	Interface    string     `json:"interface"` // "" unknown
	// Config is the configuration it reads, zero when env alone decides.
	Config source.Ref `json:"config"`
	Routes Routes     `json:"routes"`
	Bypass Bypass     `json:"bypass"`
	// Captures has one entry a cluster of the pod.
	Captures   []Capture `json:"captures"`
	Resolver   Resolver  `json:"resolver"`
	KillSwitch Switch    `json:"kill_switch"`
	Masquerade Switch    `json:"masquerade"`
	// MasqueradeOut are masquerade rules that are bound to an interface by name.
	MasqueradeOut []OutInterface `json:"masquerade_out"`
	Pool          []PrefixAt     `json:"pool"`
	// PoolRouted: something else in the tree leads the pool back to the pod, or
	// may do so.
	PoolRouted Switch `json:"pool_routed"`
	// ImageKnown: what the image's start script does by itself was read (FG C0).
	ImageKnown bool `json:"image_known"`
	// Advertised are the networks that a mesh member announces to the others.
	Advertised []PrefixAt `json:"advertised"`
	// Addresses are the tunnel's own addresses inside the VPN, as far as seen.
	Addresses []PrefixAt `json:"addresses"`
	// Local are the traffic selectors of this side (IPsec).
	Local []PrefixAt `json:"local"`
	// Rewrites are the masquerade rules that rewrite packets for the selectors of
	// an IPsec tunnel before they reach them.
	Rewrites []Rewrite `json:"rewrites"`
	// Peers are the [Peer] sections of a WireGuard configuration.
	Peers []Peer `json:"peers"`
	// Clients is what a server tells its clients.
	Clients Clients `json:"clients"`
	// RepliesKept: replies to connections from outside leave by the original
	// gateway although the default route is captured (gluetun rule 100, dperson).
	RepliesKept Known `json:"replies_kept"`
	// MarkWrite is what its wg-quick does about src_valid_mark (FG D3.4): always
	// (without the privilege it fails, whatever the value) | when-unset | upstream
	// (one of the two, its version is not known) | never | unknown; "" where no
	// mark is needed.
	MarkWrite string `json:"mark_write"`
	// Input is the image's own firewall for what reaches the pod.
	Input Input `json:"input"`
	// IPv6: the tunnel carries IPv6 or stops it. Unknown where it cannot be seen.
	IPv6 Switch `json:"ipv6"`
	// MTU of its interface, as far as it is set.
	MTU MTU `json:"mtu"`
}

// Input is a firewall that drops what reaches the pod from beyond its own
// subnet, but for a list of ports.
type Input struct {
	// Closed: Present when it drops by default. Ports then is complete.
	Closed Known      `json:"closed"`
	Key    string     `json:"key"` // the variable of the list
	Ports  []int      `json:"ports"`
	Ref    source.Ref `json:"ref"` // the list, else the container
}

// MTU is a maximum packet size in bytes; 0 for none that is set.
type MTU struct {
	Size int        `json:"size"`
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"` // "MTU = 1420"
	// Outer6: the endpoint is an IPv6 address, so that the tunnel adds 80 bytes
	// and not 60.
	Outer6 bool `json:"outer6"`
}

// OutInterface is a rule that names the interface by which packets leave.
type OutInterface struct {
	Name string     `json:"name"` // "eth0", "eth+"
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"`
}

// Rewrite is a masquerade rule on the way into an IPsec tunnel.
type Rewrite struct {
	Ref      source.Ref `json:"ref"`
	Says     string     `json:"says"`     // "natOutgoing of IPPool pods"
	Prefixes []string   `json:"prefixes"` // the part of the remote selectors
}

// Routes is what a tunnel takes from its own pod.
type Routes struct {
	// State: Present: Prefixes is complete. Absent: it takes nothing. Unknown.
	State    Known      `json:"state"`
	Default  bool       `json:"default"` // a default route, also as two /1
	Prefixes []PrefixAt `json:"prefixes"`
	// Ref is the line to change: the AllowedIPs entry, redirect-gateway, or the
	// container where the image's default decides.
	Ref source.Ref `json:"ref"`
	Why string     `json:"why"` // "AllowedIPs = 0.0.0.0/0", "gluetun's default"
	// MoreSpecificWin: routes of the main table win over the captured default
	// (wg-quick, FG E1.6; def1).
	MoreSpecificWin bool `json:"more_specific_win"`
	// Named are the private networks that the routes name although a default
	// route of their family stands next to them; the tunnel's own addresses and
	// resolvers are none.
	Named []PrefixAt `json:"named"`
	// FwMark: wg-quick's fwmark policy routing carries the default route, so
	// replies need src_valid_mark under strict reverse path filtering (FG D3.6).
	FwMark bool `json:"fw_mark"`
}

// Peer is a [Peer] section of a WireGuard configuration.
type Peer struct {
	Ref source.Ref `json:"ref"` // its PublicKey line, else its first line
	// Interface is the one it belongs to: prefixes of two interfaces never clash.
	Interface string `json:"interface"`
	// PublicKey is what the tunnel tells peers apart by.
	PublicKey string `json:"public_key"`
	// Endpoint: the interface can call this peer.
	Endpoint bool `json:"endpoint"`
	// EndpointAddress is its address, "" for a name or none.
	EndpointAddress string `json:"endpoint_address"`
	// Table is where the routes go: auto, off, or the number of a table (FG E1.8).
	Table      string     `json:"table"`
	AllowedIPs []PrefixAt `json:"allowed_ips"`
}

// PeerGroup is the peers of one WireGuard interface that an operator configures
// from an object each. Their order means nothing: the operator decides it.
type PeerGroup struct {
	Says    string `json:"says"` // "the server Wireguard vpn/office", "Kilo's mesh"
	Cluster string `json:"cluster"`
	Peers   []Peer `json:"peers"`
}

// Clients is what a VPN server makes its clients do. It never routes anything
// of the server's own pod.
type Clients struct {
	// State: Present: Routes, Default and Resolvers are complete. Absent: no
	// server, or nothing is pushed.
	State   Known      `json:"state"`
	Default bool       `json:"default"` // clients send everything
	Routes  []PrefixAt `json:"routes"`
	// Resolvers are host prefixes.
	Resolvers []PrefixAt `json:"resolvers"`
	// Unreached are those of the resolvers that the clients have no route to: one
	// inside the service range of the server's cluster, or another private one.
	// Empty unless State is Present.
	Unreached []UnreachedResolver `json:"unreached"`
}

// UnreachedResolver is a resolver that clients are told to use and have no route
// to.
type UnreachedResolver struct {
	Resolver PrefixAt `json:"resolver"`
	// Within are the cluster's service ranges that hold it, none for a resolver
	// elsewhere.
	Within []RangeAt `json:"within"`
}

// Bypass is what a tunnel leaves out.
type Bypass struct {
	// State: Present: Entries is complete. Absent: none. Unknown.
	State Known `json:"state"`
	// Key and Separator are the image's own syntax, "" when it has none.
	Key       string `json:"key"`
	Separator string `json:"separator"`
	// Ref is the line to change: the list, else the place where it is missing.
	// Never zero.
	Ref     source.Ref `json:"ref"`
	Entries []PrefixAt `json:"entries"`
	// Malformed are the pieces that the image does not take as written.
	Malformed []Malformed `json:"malformed"`
	// Contended are the entries that stand in the main table next to the tunnel's
	// own routes, so that the longer prefix wins.
	Contended []ContendedEntry `json:"-"`
}

// ContendedEntry is an entry of a bypass that holds only as far as the main
// table has no longer route into the tunnel. Rule: a rule that looks into that
// whole table, where any route of the tunnel's but the default is found first.
type ContendedEntry struct {
	Entry PrefixAt
	Rule  bool
}

// Malformed is a piece of a list that its reader does not take as written.
type Malformed struct {
	Text string     `json:"text"`
	Ref  source.Ref `json:"ref"`
	// Effect: refused (the reader stops or drops the list) | ignored (nothing
	// reads it) | unclear (readers differ or are not known to refuse it) |
	// renamed (an old name that still works).
	Effect string `json:"effect"`
	Why    string `json:"why"` // "FIREWALL_OUTBOUND_SUBNETS wants commas"
}

// Capture is what a tunnel takes of one cluster.
type Capture struct {
	Cluster string `json:"cluster"`
	// Known: the cluster's service range is known.
	Known    bool     `json:"known"`
	Services []string `json:"services"` // captured prefixes, minimal
	Pods     []string `json:"pods"`
	Nodes    []string `json:"nodes"`
	API      []string `json:"api"`
	// PodsCertain: the CNI in view proves that pod addresses are captured (FG E1.6).
	PodsCertain bool `json:"pods_certain"`
	// Missing is the list of cluster prefixes to add to the bypass; Suggestion
	// writes the whole bypass in the image's syntax.
	Missing    []string `json:"missing"`
	Suggestion string   `json:"suggestion"`
	// Overruled are the tunnel's routes that win over wider entries of the bypass,
	// because they are the longer prefixes in the same table: no entry helps, but
	// to take them away.
	Overruled []string `json:"overruled"`
	// Alternative is another way to write it, "" for none.
	Alternative string    `json:"alternative"`
	Ranges      []RangeAt `json:"ranges"` // the declarations it was held against
}

// RangeAt is a range of a cluster and its declaration.
type RangeAt struct {
	Role     cidrplan.Role     `json:"role"`
	Prefix   string            `json:"prefix"`
	Ref      source.Ref        `json:"ref"`
	Says     string            `json:"says"`
	Strength cidrplan.Strength `json:"strength"`
}

// Resolver is what a tunnel does to the pod's /etc/resolv.conf.
type Resolver struct {
	Rewrites Known      `json:"rewrites"`
	Servers  []string   `json:"servers"`
	Ref      source.Ref `json:"ref"`
	Why      string     `json:"why"`
	// Split: local names are handed to the name servers that the pod had before
	// (gluetun from 3.41, FG C1).
	Split Known `json:"split"`
	// ReachesCluster: cluster names still resolve (split DNS with the bypass it
	// needs, kept name servers, the cluster's resolver itself).
	ReachesCluster Known `json:"reaches_cluster"`
}

// Switch is a yes/no property and the place that decides it.
type Switch struct {
	State Known      `json:"state"`
	Ref   source.Ref `json:"ref"`
	Why   string     `json:"why"`
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

// NamedRef is a container and its place.
type NamedRef struct {
	Name string     `json:"name"`
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"`
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

// List is an exemption list.
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
}

// RefusedConfig is a piece of a configuration for which its reader refuses the
// whole.
type RefusedConfig struct {
	Ref  source.Ref `json:"ref"`
	Says string     `json:"says"` // "10.4.1.0/14 has bits set right of its mask; ..."
	// Fate is what the reader does then.
	Fate string `json:"fate"`
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
	// Wrong: key | name | namespace | path | mount | autopilot.
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
	// far-side (the far side's firewall does not let it in).
	Kind    string     `json:"kind"`
	Ref     source.Ref `json:"ref"`
	Outside []string   `json:"outside"` // the part, exact
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
}
