package facts

import "github.com/vpnlint/vpnlint/pkg/source"

// Tunnel is one VPN in a pod: what its configuration, its image and the pod's
// scripts together make of it. Family and Version are those of its container.
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

	updown []hookScript
	// forOthers is the command that translates what enters the tunnel, "" for none:
	// packets of the pod itself have the tunnel's address already.
	forOthers string
	// clientRefused: a configuration that its reader refuses is a client's as far as
	// it can be read, whatever the image is by default.
	clientRefused bool
}

// hookScript is what a connection of IPsec runs when it comes up, as written.
type hookScript struct{ name, text string }

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
	Sources  []string   `json:"sources"`  // the part of the local selectors
	Prefixes []string   `json:"prefixes"` // the part of the remote selectors
	// Unless: where this holds the packets fit the tunnel all the same, and it cannot
	// be told from the tree; "" for nothing.
	Unless string `json:"unless"`
}

// Routes is what a tunnel takes from its own pod.
type Routes struct {
	// State: Present: Prefixes is complete. Absent: it takes nothing. Unknown.
	State   Known `json:"state"`
	Default bool  `json:"default"` // a default route, also as two /1
	// Internet: they are for the internet, as a default route or as what is left of
	// one without the private ranges.
	Internet bool       `json:"internet"`
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

// Bypass is what a tunnel leaves out of the routes that it takes: the list by which
// an image keeps destinations on the pod's own network (FG C1, C4).
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
	// reads it) | unread (a switch that nothing reads) | noroute (the kernel refuses
	// the route that the image makes of the entry) | unclear (readers differ or are
	// not known to refuse it) | renamed (an old name that still works).
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
	// First is a public resolver that is asked before the cluster's own, "" for
	// none.
	First string `json:"first"`
}
