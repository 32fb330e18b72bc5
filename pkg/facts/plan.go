package facts

import (
	"cmp"
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Options say what is known beside the objects.
type Options struct {
	// Plan is the plan file, an object of kind source.PlanKind; nil for none. It has been
	// validated: what has a wrong type or is no prefix is passed over here. It is
	// not one of the objects.
	Plan *source.Object
	// Here says which of the plan's clusters this reading is about, and what
	// belongs to them. A planned cluster takes the place of the implicit ones for
	// its objects; those that are listed nowhere belong to implicit clusters, and
	// no object is listed twice: where several clusters claim one input, each is
	// another reading. nil: all clusters of the plan are here, and all objects
	// belong to the first.
	Here []Members
	// Workloads is how many workloads with a VPN may be read at once; 0:
	// DefaultWorkloads. Where there are more, nothing is read but a gap that says
	// so: with some of them left out, others would be misjudged.
	Workloads int
}

// DefaultWorkloads is how many workloads with a VPN are read at once: each takes
// some 25 kB while the rules run.
const DefaultWorkloads = 10_000

// Members are the objects that belong to a cluster of the plan.
type Members struct {
	// Cluster is its place in the plan's list of clusters.
	Cluster int
	Objects map[source.ObjectID]bool
}

// PlannedCluster is what only the plan file says of a cluster. Where a key is missing,
// lists are empty and a Setting is Absent.
type PlannedCluster struct {
	// PodForwarding: nodes and CNI guarantee net.ipv4.ip_forward=1 in every new pod
	// namespace; Value "guaranteed".
	PodForwarding Setting `json:"pod_forwarding"`
	// AllowedUnsafeSysctls are names and patterns ("net.*"), as kubelets take them.
	AllowedUnsafeSysctls []TextAt `json:"allowed_unsafe_sysctls"`
	// Masquerade is the agent that rewrites pod addresses: gke-managed |
	// gke-autopilot | ip-masq-agent | azure-v2 | aws-vpc-cni | cilium | calico |
	// flannel | kube-router | ovn | none.
	Masquerade Setting `json:"masquerade"`
	// Internal are private ranges that expect pod addresses.
	Internal  []PrefixAt `json:"internal"`
	DNS       []PrefixAt `json:"dns"`        // host prefixes
	APIServer []PrefixAt `json:"api_server"` // host prefixes, or the range that holds it

	NodePools   []PlannedNodePool   `json:"node_pools"`
	VPN         []PlannedVPN        `json:"vpn"`
	ClientPools []PlannedClientPool `json:"client_pools"`
}

// TextAt is a text of the plan file, as written, and its place.
type TextAt struct {
	Text string     `json:"text"`
	Ref  source.Ref `json:"ref"`
}

// PlannedNodePool is a pool of Linux nodes with what decides which pods may run there.
type PlannedNodePool struct {
	Name   string            `json:"name"`
	Ref    source.Ref        `json:"ref"`
	Labels map[string]string `json:"labels"`
	Taints []PlannedTaint    `json:"taints"`
}

// PlannedTaint is a taint of a node pool.
type PlannedTaint struct {
	Key    string     `json:"key"`
	Value  string     `json:"value"`
	Effect string     `json:"effect"` // NoSchedule | PreferNoSchedule | NoExecute
	Ref    source.Ref `json:"ref"`
}

// PlannedVPN is a network behind a VPN of the cluster, and what its path lets pass.
type PlannedVPN struct {
	Name string     `json:"name"`
	Ref  source.Ref `json:"ref"`
	// Tunnel names the object that carries it; State Absent: not said.
	Tunnel PlannedTunnel `json:"tunnel"`
	// FullTunnel: a default route through it is the purpose.
	FullTunnel   Switch     `json:"full_tunnel"`
	Destinations []PrefixAt `json:"destinations"`
	// Owner is that of the destinations' claims in the address plan.
	Owner string `json:"owner"`
	// SourceAddress is which address the far side shall see, node | pod; Reason
	// why.
	SourceAddress Setting `json:"source_address"`
	Reason        Setting `json:"reason"`
	// What the path lets pass: an empty list means that it is not said.
	LocalTrafficSelectors []PrefixAt `json:"local_traffic_selectors"`
	ReturnRoutes          []PrefixAt `json:"return_routes"`
	FarSideAllows         []PrefixAt `json:"far_side_allows"`
}

// PlannedTunnel is the object that carries a VPN.
type PlannedTunnel struct {
	Kind string     `json:"kind"`
	Name string     `json:"name"`
	Ref  source.Ref `json:"ref"`
	// Object is the one object of this kind and name in the cluster's tree; zero
	// when there is none, or several.
	Object source.Ref `json:"object"`
}

// PlannedClientPool is the range that a VPN server hands to its clients.
type PlannedClientPool struct {
	Name  string     `json:"name"`
	Ref   source.Ref `json:"ref"`
	Range PrefixAt   `json:"range"`
	// Routed: the cluster's network has a route to the pool. Absent where it is
	// false or missing; Why tells which.
	Routed Switch `json:"routed"`
	// Acknowledge are ids of rules whose remark on the pool is known, for Reason.
	Acknowledge []TextAt `json:"acknowledge"`
	Reason      Setting  `json:"reason"`
}

func noPlan() PlannedCluster {
	absent := Setting{State: Absent}
	return PlannedCluster{
		PodForwarding: absent, Masquerade: absent, AllowedUnsafeSysctls: []TextAt{}, Internal: []PrefixAt{}, DNS: []PrefixAt{},
		APIServer: []PrefixAt{}, NodePools: []PlannedNodePool{}, VPN: []PlannedVPN{}, ClientPools: []PlannedClientPool{},
	}
}

// readPlan founds the clusters of the plan and gives them their members. It
// comes before all declarations, which then are parts of these clusters where
// they belong to one.
func (cs *clusterSet) readPlan(opts Options) {
	if opts.Plan == nil || opts.Plan.Origin == nil {
		return
	}
	cs.ix.byID[opts.Plan.ID] = opts.Plan
	byPlace := map[int]*founded{}
	for i, n := range root(opts.Plan).get("clusters").items() {
		f := cs.add(path.Clean(opts.Plan.Unit), n.ref())
		f.Name, f.Planned = n.get("name").text(), true
		f.Elsewhere = opts.Here != nil
		byPlace[i] = f
	}
	if opts.Here == nil {
		if first := byPlace[0]; first != nil {
			for _, o := range cs.ix.objects {
				cs.parts[o.ID] = first
			}
		}
	}
	for _, m := range opts.Here {
		f := byPlace[m.Cluster]
		if f == nil {
			continue
		}
		f.Elsewhere = false
		for id := range m.Objects {
			cs.parts[id] = f
		}
	}
	for i, n := range root(opts.Plan).get("clusters").items() {
		byPlace[i].readPlanned(n, cs)
	}
}

// readPlanned reads what the plan says of a cluster. Its ranges are claims like
// those of any declaration.
func (f *founded) readPlanned(n node, cs *clusterSet) {
	for _, field := range []struct {
		role cidrplan.Role
		key  string
	}{{cidrplan.Pod, "pods"}, {cidrplan.Service, "services"}, {cidrplan.Node, "nodes"}, {cidrplan.DNS, "dns"}, {cidrplan.API, "apiServer"}} {
		f.plannedClaims(cidrplan.Claim{Role: field.role, Says: field.key + " of the plan"}, plannedPrefixes(n.get(field.key)))
	}
	p := &f.Plan
	p.PodForwarding = setting(n.get("podForwarding"))
	if p.PodForwarding.Value == "guaranteed" {
		f.ForwardingOn = Switch{State: Present, Ref: p.PodForwarding.Ref, Why: "the plan says podForwarding: guaranteed"}
	}
	p.Masquerade = setting(n.get("masquerade", "agent"))
	p.AllowedUnsafeSysctls = textsAt(n.get("allowedUnsafeSysctls"))
	p.Internal, p.DNS, p.APIServer = plannedPrefixes(n.get("internal")), plannedPrefixes(n.get("dns")), plannedPrefixes(n.get("apiServer"))
	for _, pool := range n.get("nodePools").items() {
		out := PlannedNodePool{Name: pool.get("name").text(), Ref: pool.ref(), Labels: pool.get("labels").stringMap(), Taints: []PlannedTaint{}}
		for _, t := range pool.get("taints").items() {
			out.Taints = append(out.Taints, PlannedTaint{
				Key: t.get("key").text(), Value: t.get("value").text(), Effect: t.get("effect").text(), Ref: t.ref(),
			})
		}
		p.NodePools = append(p.NodePools, out)
	}
	for _, vpn := range n.get("vpn").items() {
		p.VPN = append(p.VPN, f.plannedVPN(vpn, cs))
	}
	for _, pool := range n.get("clientPools").items() {
		p.ClientPools = append(p.ClientPools, f.plannedClientPool(pool))
	}
}

func (f *founded) plannedVPN(n node, cs *clusterSet) PlannedVPN {
	out := PlannedVPN{
		Name: n.get("name").text(), Ref: n.ref(),
		FullTunnel:   plannedSwitch(n.get("fullTunnel")),
		Destinations: plannedPrefixes(n.get("destinations")), SourceAddress: setting(n.get("sourceAddress")), Reason: setting(n.get("reason")),
		LocalTrafficSelectors: plannedPrefixes(n.get("localTrafficSelectors")), ReturnRoutes: plannedPrefixes(n.get("returnRoutes")),
		FarSideAllows: plannedPrefixes(n.get("farSideAllows")),
	}
	out.Owner = "VPN " + out.Name
	if tunnel := n.get("tunnel"); tunnel.exists() {
		out.Tunnel = PlannedTunnel{Kind: tunnel.get("kind").text(), Name: tunnel.get("name").text(), Ref: tunnel.ref()}
		// The tunnel's own claims and these are one range: what it hands to its
		// clients may lie inside its destinations.
		if o := cs.carrier(f, out.Tunnel); o != nil {
			out.Tunnel.Object, out.Owner = root(o).ref(), nameOf(o).String()
		}
	}
	f.plannedClaims(cidrplan.Claim{Role: cidrplan.VPN, Says: "destinations of the plan", Owner: out.Owner}, out.Destinations)
	return out
}

// carrier returns the one object of a kind and name that belongs to the cluster.
func (cs *clusterSet) carrier(f *founded, t PlannedTunnel) *source.Object {
	var found *source.Object
	for _, o := range cs.ix.byKind[t.Kind] {
		if o.Name != t.Name || t.Name == "" || cs.parts[o.ID] != f {
			continue
		}
		if found != nil && found.Namespace != o.Namespace {
			return nil
		}
		found = cmp.Or(found, o)
	}
	return found
}

func (f *founded) plannedClientPool(n node) PlannedClientPool {
	out := PlannedClientPool{
		Name: n.get("name").text(), Ref: n.ref(), Routed: plannedSwitch(n.get("routed")),
		Acknowledge: textsAt(n.get("acknowledge")), Reason: setting(n.get("reason")),
	}
	if at := plannedPrefixes(n.get("range")); len(at) == 1 {
		out.Range = at[0]
		f.plannedClaims(cidrplan.Claim{Role: cidrplan.Pool, Says: "range of the plan", Owner: "client pool " + out.Name}, at)
	}
	return out
}

// plannedClaims claims ranges for a cluster that this reading is about.
func (f *founded) plannedClaims(like cidrplan.Claim, list []PrefixAt) {
	like.Strength = cidrplan.Planned
	for _, at := range list {
		for _, p := range parsed([]PrefixAt{at}) {
			c := like
			c.Prefix, c.At = p, at.Ref
			if c.Role == cidrplan.VPN && leadsEverywhere(p) {
				c.Idiom = cidrplan.DefaultRoute
			}
			f.claim(c)
		}
	}
}

// plannedPrefixes reads a prefix or address, or a list of them.
func plannedPrefixes(n node) []PrefixAt {
	out := []PrefixAt{}
	list := n.texts()
	if _, is := n.str(); is {
		list = []node{n}
	}
	for _, item := range list {
		if e := grammar.ParsePrefix(strings.TrimSpace(item.text()), 0); e.Valid {
			out = append(out, PrefixAt{Prefix: e.Prefix.Masked().String(), Text: item.text(), Ref: item.ref()})
		}
	}
	return out
}

func setting(n node) Setting {
	if text, is := n.str(); is && strings.TrimSpace(text) != "" {
		return Setting{State: Present, Value: text, Ref: n.ref()}
	}
	return Setting{State: Absent, Ref: n.ref()}
}

func plannedSwitch(n node) Switch {
	out := Switch{State: n.boolean(), Ref: n.ref(), Why: "the plan says so"}
	if !n.exists() {
		out.Why = "the plan does not say"
	}
	return out
}

func textsAt(n node) []TextAt {
	out := []TextAt{}
	for _, item := range n.texts() {
		out = append(out, TextAt{Text: item.text(), Ref: item.ref()})
	}
	return out
}

// tied reports that several clusters are equally near to an object, so that it
// is not known to which it belongs.
func (cs *clusterSet) tied(o *source.Object) bool { return len(cs.nearest(o)) > 1 }

// anyImplicit reports whether the tree itself declares a cluster that is not one
// of the plan's.
func (cs *clusterSet) anyImplicit() bool {
	for _, f := range cs.founded {
		if !f.Planned {
			return true
		}
	}
	return false
}
