package facts

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// The kinds of masquerade agents.
const (
	agentUpstream = "ip-masq-agent"
	agentGKE      = "gke-managed"
	agentAzure    = "azure-v2"
	agentCilium   = "cilium"
)

// masqConfig is where the upstream agent and Cilium read their list (FG A1.1).
const masqConfig = "/etc/config/ip-masq-agent"

// readAgents reads the masquerade agents (FG A1-A5): the workloads that run
// one, the lists of agents that are deployed elsewhere, and the default that
// GKE applies where nothing else is in view.
//
// What the agents make of one file differs. The upstream agent lays it over its
// defaults, so that a missing key keeps them; Azure's and Cilium's start from
// an empty list as soon as there is a file. The upstream agent and Azure's
// refuse a prefix with host bits, Cilium masks it.
func readAgents(ix *index, cs *clusterSet, sites []Site, pods []*podView) ([]Agent, []UnreadList) {
	r := &agentReader{ix: ix, cs: cs, sites: sites, readBy: map[source.ObjectID]bool{}}
	for _, p := range pods {
		for _, c := range p.containers {
			if kind := agentKind(p, c); kind != "" {
				r.workload(p, c, kind)
			}
			r.awsNode(p, c)
		}
	}
	unread := r.unreadLists()
	r.listsWithoutAgent()
	r.egressNATPolicies()
	r.managed()
	r.plannedAgents()
	r.layers(pods)
	r.missedPools()
	slices.SortStableFunc(r.agents, func(a, b Agent) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), compareRefs(a.Ref, b.Ref), compareRefs(a.List.Ref, b.List.Ref))
	})
	return r.agents, unread
}

type agentReader struct {
	ix     *index
	cs     *clusterSet
	sites  []Site
	agents []Agent
	// readBy are the ConfigMaps that an agent reads.
	readBy map[source.ObjectID]bool
	// unplaced: an agent whose cluster is not known may be anybody's.
	unplaced bool
	running  []runningAgent
}

// runningAgent is an agent's container and what it reads.
type runningAgent struct {
	pod       *podView
	container *containerView
	kind      string
	cluster   *founded
	reads     int // files
}

func agentKind(p *podView, c *containerView) string {
	switch repository := imageRepository(c.c.Image); {
	case strings.Contains(path.Base(repository), "ip-masq-agent-v2"):
		return agentAzure
	case strings.Contains(path.Base(repository), "ip-masq-agent"):
		return agentUpstream
	case strings.HasSuffix(repository, "cilium/cilium") && c.c.Stage == Main && ciliumMasquerades(p):
		return agentCilium
	}
	return ""
}

// flags are the upstream agent's (FG A1.12).
type flags struct {
	allReserved, ipv6 bool
	// seen: the agent itself is in view, so that its flags are known.
	seen bool
}

func flagsOf(c *containerView) flags {
	var out flags
	for _, n := range append(c.spec.get("command").texts(), c.spec.get("args").texts()...) {
		name, value, has := strings.Cut(strings.TrimLeft(n.text(), "-"), "=")
		on := !has || value == "true" || value == "1" || value == "t" || value == "T" || value == "TRUE" || value == "True"
		switch name {
		case "nomasq-all-reserved-ranges":
			out.allReserved = on
		case "enable-ipv6":
			out.ipv6 = on
		}
	}
	return out
}

// defaultList is the list that applies without one (FG A1.6).
func defaultList(allReserved bool) []netip.Prefix {
	texts := []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}
	if allReserved {
		texts = append(texts, "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
			"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4")
	}
	var out []netip.Prefix
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func (r *agentReader) workload(p *podView, c *containerView, kind string) {
	a := &Agent{
		Kind: kind, Object: p.pod.Object, Ref: c.c.Ref, Container: c.c.Name, Workload: p.pod.Workload,
	}
	known := r.place(a, p.object)
	fl := flagsOf(c)
	if kind == agentCilium {
		fl.allReserved, fl.ipv6 = true, true
	}
	files, unseen := r.configFiles(p, c, kind)
	switch {
	case unseen != "":
		a.List = List{Source: "unknown", Ref: c.c.Ref, Why: unseen, Valid: Unknown, Entries: []PrefixAt{}}
		r.ix.gapAt(finding.Unresolved, p.object, c.c.Ref, "the exemption list of "+p.pod.Object.String(), unseen,
			"what it masquerades on the way to a VPN is unknown", "VPN201", "VPN202", "VPN203")
	case len(files) == 0:
		a.List = List{Source: "default", Ref: c.c.Ref, Why: "nothing in the tree is mounted where the agent reads its list", Valid: Unknown}
	default:
		fl.seen = true
		a.List = readList(kind, fl, files, c.c.Ref)
	}
	for _, f := range files {
		r.readBy[f.Ref.Object] = true
	}
	r.running = append(r.running, runningAgent{pod: p, container: c, kind: kind, cluster: known, reads: len(files)})
	r.add(a, fl, known, r.cs.tied(p.object))
}

// configFiles returns the files that the agent reads its list from; unseen says
// why they may be there but cannot be read. An optional ConfigMap that is not
// in the tree is taken for absent: the agent runs, with its default.
func (r *agentReader) configFiles(p *podView, c *containerView, kind string) (files []mountedFile, unseen string) {
	globs := []string{masqConfig}
	switch kind {
	case agentAzure:
		globs = []string{"/etc/config/ip-masq*"} // every file of this name (FG A3.1)
	case agentCilium:
		globs = append(globs, masqConfig+"/*")
	}
	for _, f := range c.files(globs...) {
		switch {
		case f.State == Present:
			files = append(files, f)
		case f.State == Unknown && !r.optionalAndAbsent(p, c, f):
			return nil, cmp.Or(f.Why, "its content cannot be seen")
		}
	}
	return files, ""
}

func (r *agentReader) optionalAndAbsent(p *podView, c *containerView, f mountedFile) bool {
	i := c.mountOf(f.Path)
	if i < 0 {
		return false
	}
	for _, v := range p.spec.get("volumes").items() {
		if v.get("name").text() != c.mountList[i].volume {
			continue
		}
		maps := []node{v.get("configMap")}
		for _, s := range v.get("projected", "sources").items() {
			maps = append(maps, s.get("configMap"))
		}
		missing := false
		for _, cm := range maps {
			if !cm.exists() {
				continue
			}
			_, state := r.ix.find("ConfigMap", p.object.Namespace, cm.get("name").text(), p.object)
			if state == Absent && cm.get("optional").boolean() != Present || state == Unknown {
				return false
			}
			missing = missing || state == Absent
		}
		return missing
	}
	return false
}

// readList reads the agent's configuration as that agent does.
func readList(kind string, fl flags, files []mountedFile, agent source.Ref) List {
	out := List{Source: "explicit", Valid: Present, Entries: []PrefixAt{}}
	for _, f := range files {
		conf := grammar.ParseIPMasq(f.Text)
		if out.Ref.IsZero() {
			out.Ref = f.Ref
			if conf.ListRange.End > conf.ListRange.Start {
				out.Ref = f.Ref.Within(conf.ListRange.Start, conf.ListRange.End)
			}
		}
		if refused := refusals(kind, fl, conf, f.Ref); len(refused) > 0 {
			return List{
				Source: "unknown", Ref: out.Ref, Why: "the agent refuses its configuration: " + refused[0].Says, Valid: Absent,
				Entries: []PrefixAt{}, Refused: refused,
			}
		}
		switch {
		case conf.List == grammar.ListUnknown:
			return List{Source: "unknown", Ref: out.Ref, Why: "the list is filled in when the tree is applied", Valid: Unknown}
		case kind == agentUpstream && conf.List == grammar.ListDefault:
			out.Source, out.Why = "default", "the configuration has no nonMasqueradeCIDRs"
		case kind == agentCilium && conf.Blank:
			out.Source, out.Why = "default", "the configuration is empty"
		}
		for _, e := range conf.Entries {
			if e.Valid {
				out.Entries = append(out.Entries, PrefixAt{Prefix: e.Prefix.String(), Text: e.Text, Ref: f.Ref.Within(e.Start, e.End)})
			}
		}
	}
	if kind == agentUpstream && len(files) > 0 {
		readResync(&out, files[0])
	}
	if out.Source == "explicit" {
		out.Why = "nonMasqueradeCIDRs"
		if len(out.Entries) == 0 {
			out.Why = "the list is empty: everything is masqueraded"
		}
	}
	if out.Ref.IsZero() {
		out.Ref = agent
	}
	return out
}

// refusals are the pieces for which an agent refuses a configuration, none when
// it takes it (FG A1.7, A3.3, A5.2). Azure's and Cilium's know neither
// resyncInterval nor cidrLimit and read past them.
func refusals(kind string, fl flags, conf *grammar.IPMasq, at source.Ref) []RefusedConfig {
	var out []RefusedConfig
	add := func(where grammar.Range, says string) {
		r := RefusedConfig{Ref: at, Says: says, Fate: fateOfAgent(kind)}
		if where.End > where.Start {
			r.Ref = at.Within(where.Start, where.End)
		}
		out = append(out, r)
	}
	foreign := kind == agentAzure || kind == agentCilium
	for _, p := range conf.Refused() {
		switch {
		case kind == agentCilium && (p.Kind == grammar.Unaligned || p.Kind == grammar.TooMany),
			foreign && (p.Range == conf.ResyncInterval.Range || p.Range == conf.CIDRLimitRange):
			continue
		}
		add(p.Range, p.Says)
	}
	if kind != agentCilium && fl.seen && !fl.ipv6 {
		for _, six := range conf.IPv6Entries() {
			add(six.Range, six.Text+" is IPv6 and the agent runs without --enable-ipv6")
		}
	}
	return out
}

// fateOfAgent says what an agent does with a configuration that it refuses
// (FG A1.8, A3.3).
func fateOfAgent(kind string) string {
	switch kind {
	case agentAzure:
		return "the agent exits and keeps crashing; the rules of its node stay as they were, and a new node gets none"
	case agentCilium:
		return "Cilium reports an error and keeps the list that it had"
	default:
		return "the agent that runs keeps its old rules; one that restarts, on a node that reboots or is added, installs none, and nothing is masqueraded there"
	}
}

// place sets the agent's cluster, nil when it is not known which.
func (r *agentReader) place(a *Agent, o *source.Object) *founded {
	f := r.cs.one(o)
	if f != nil {
		a.Cluster = f.Name
		return f
	}
	if r.cs.tied(o) {
		r.unplaced = true
		r.cs.tell(o)
	}
	return nil
}

// listsWithoutAgent: the ConfigMap that an agent would read, but no agent of
// its cluster in view: GKE's own reads it, or one that is deployed elsewhere.
func (r *agentReader) listsWithoutAgent() {
	if r.unplaced {
		return
	}
	for _, o := range r.ix.ofKind("", "ConfigMap") {
		text, has := root(o).get("data", "config").str()
		if o.Name != "ip-masq-agent" || o.Namespace != "kube-system" || !has || r.readBy[o.ID] {
			continue
		}
		a := &Agent{Kind: agentUpstream}
		f := r.place(a, o)
		if r.cs.tied(o) || r.hasAgent(a.Cluster) {
			continue
		}
		if f != nil && autopilot(f) {
			continue // nothing reads it there (FG A2.7)
		}
		// GKE's agent runs with all reserved ranges as its default (FG A2.1).
		var fl flags
		if f != nil && (f.gke != nil || f.Plan.Masquerade.Value == agentGKE) {
			a.Kind, fl.allReserved = agentGKE, true
		}
		a.Object = nameOf(o)
		reader := agentUpstream
		if f != nil && f.Plan.Masquerade.Value == agentCilium {
			a.Kind, reader, fl.allReserved, fl.ipv6 = agentCilium, agentCilium, true, true
		}
		a.List = readList(reader, fl, []mountedFile{{Path: masqConfig, Text: text, State: Present, Ref: root(o).get("data", "config").ref()}}, source.Ref{})
		r.readBy[o.ID] = true
		if f != nil {
			plannedElsewise(a, f.Plan.Masquerade)
		}
		r.add(a, fl, f, false)
	}
}

func (r *agentReader) hasAgent(cluster string) bool {
	return slices.ContainsFunc(r.agents, func(a Agent) bool { return a.Cluster == cluster })
}

// add computes what the list does to the cluster's ranges and VPNs. tied: it is
// not known which cluster's.
func (r *agentReader) add(a *Agent, fl flags, f *founded, tied bool) {
	a.List.Entries = orEmpty(a.List.Entries)
	a.MissedPools = []MissedPool{}
	a.Effective, a.MissingPods, a.MissingNodes, a.Minimal = []string{}, []string{}, []string{}, []string{}
	a.Targets, a.Wide, a.PodRanges, a.NodeRanges = []Target{}, []PrefixAt{}, []RangeAt{}, []RangeAt{}
	var pods, nodes, services []netip.Prefix
	if f != nil {
		// Without --enable-ipv6 the agent leaves IPv6 alone (FG A1.10).
		pods, nodes, services = ofFamily(f.prefixes(cidrplan.Pod), fl.ipv6), ofFamily(f.prefixes(cidrplan.Node), fl.ipv6), f.prefixes(cidrplan.Service)
		a.PodRanges, a.NodeRanges = f.ranges(cidrplan.Pod), f.ranges(cidrplan.Node)
	}
	if a.Kind == agentAWS && len(pods) == 0 {
		pods = nodes // they take addresses of the VPC
	}
	var exempt []netip.Prefix
	switch a.List.Source {
	case "explicit":
		exempt = parsed(a.List.Entries)
	case "default":
		exempt = defaultList(fl.allReserved)
	}
	if a.Kind == agentCilium && a.List.Source != "unknown" && f != nil {
		exempt = append(exempt, f.nativeRouting...) // both lists apply (FG A5.5)
	}
	a.Effective = written(cidrplan.Union(exempt, nil))

	var wantNode []netip.Prefix
	if !tied {
		a.Targets, wantNode = r.targets(a, f, exempt, pods)
	}
	if a.List.Source == "explicit" && !ownRangesExempt(a.Kind) {
		a.MissingPods = written(cidrplan.Missing(exempt, pods))
		a.MissingNodes = written(cidrplan.Missing(exempt, nodes))
		a.Wide = wide(a.List.Entries, pods, cidrplan.Union(cidrplan.Union(pods, nodes), services))
	}
	if len(pods) > 0 && f != nil && !ownRangesExempt(a.Kind) {
		internal := ofFamily(parsed(f.Plan.Internal), fl.ipv6)
		a.Minimal = written(cidrplan.MinimalExemption(cidrplan.Union(cidrplan.Union(pods, nodes), internal), wantNode))
	}
	r.agents = append(r.agents, *a)
}

func ofFamily(list []netip.Prefix, both bool) []netip.Prefix {
	if both {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(p netip.Prefix) bool { return !p.Addr().Is4() })
}

func written(list []netip.Prefix) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		out = append(out, p.String())
	}
	return out
}

// targets holds the cluster's VPN destinations against the list. Tunnels that
// lead to one network with one answer (a redundant pair) are one target.
func (r *agentReader) targets(a *Agent, f *founded, exempt, pods []netip.Prefix) (out []Target, wantNode []netip.Prefix) {
	out = []Target{}
	entries := parsed(a.List.Entries)
	for i := range r.sites {
		s := &r.sites[i]
		if name, known := r.clusterOf(s); !known || name != a.Cluster {
			continue
		}
		for j, remote := range parsed(s.Remote) {
			t := Target{Site: s.Name, Prefix: remote.String(), Ref: s.Remote[j].Ref, Entry: -1}
			var planned *PlannedVPN
			if f != nil {
				planned = f.plannedFor(remote)
			}
			t.Wanted, t.WantedWhy, t.WantedRef = wanted(s, planned, ofSame(pods, remote))
			t.Lacks = lacks(s, planned, ofSame(pods, remote))
			if t.Wanted == "node" {
				wantNode = append(wantNode, remote)
			}
			if slices.ContainsFunc(out, func(u Target) bool { return u.Prefix == t.Prefix && u.Wanted == t.Wanted }) {
				continue
			}
			switch a.List.Source {
			case "none":
				t.Covered = []string{t.Prefix}
			case "unknown":
				t.Covered = []string{}
			default:
				t.Covered = written(cidrplan.Intersect([]netip.Prefix{remote}, exempt))
				t.Entry = bestEntry(entries, remote)
			}
			if (a.Kind == agentCilium || a.Kind == agentNative) && r.egressGateways(f, remote) {
				t.Covered, t.Entry = []string{}, -1
			}
			if byChoice(a.Kind) && t.Wanted == "unknown" && len(t.Lacks) == 0 {
				continue
			}
			out = append(out, t)
		}
	}
	return out, wantNode
}

// clusterOf returns the name of a site's cluster; false when it is not known.
func (r *agentReader) clusterOf(s *Site) (string, bool) {
	if s.Planned {
		return s.Cluster, true
	}
	return r.cs.name(r.ix.byID[s.Ref.Object])
}

func ofSame(list []netip.Prefix, family netip.Prefix) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(list), func(p netip.Prefix) bool { return p.Addr().Is4() != family.Addr().Is4() })
}

// wanted says which source address the far side can answer: the one that the
// plan records, else the one that the tunnel's local selectors, or its router's
// announcements, hold.
func wanted(s *Site, planned *PlannedVPN, pods []netip.Prefix) (answer, why string, at source.Ref) {
	if answer, why, at, recorded := planned.wants(); recorded {
		return answer, why, at
	}
	at = s.Ref
	if len(s.Local) > 0 {
		at = s.Local[0].Ref
	}
	var texts []string
	for _, p := range s.Local {
		texts = append(texts, p.Prefix)
	}
	local := parsed(s.Local)
	says := strings.Join(texts, ", ")
	switch {
	case s.LocalState != Present:
		return "unknown", "what " + s.Object.String() + " lets the far side answer is not stated", at
	case len(pods) == 0:
		return "unknown", "the pod range is not known", at
	case !cidrplan.Overlaps(local, pods):
		return "node", s.Object.String() + " carries " + says + " only, which holds no pod address", at
	case cidrplan.Contains(local, pods):
		return "pod", s.Object.String() + " carries " + says + ", which holds the pod range", at
	default:
		return "unknown", s.Object.String() + " carries " + says + ", which holds a part of the pod range", at
	}
}

// bestEntry returns the entry that covers most of the destination, the most
// specific of equals; -1 for none.
func bestEntry(entries []netip.Prefix, remote netip.Prefix) int {
	best, bits := -1, 0
	for i, e := range entries {
		if !e.Overlaps(remote) {
			continue
		}
		part := max(e.Bits(), remote.Bits()) // the longer it is, the less it covers
		current := 0
		if best >= 0 {
			current = max(bits, remote.Bits())
		}
		if best < 0 || part < current || part == current && e.Bits() > bits {
			best, bits = i, e.Bits()
		}
	}
	return best
}

// wide returns the entries that are a whole RFC 1918 block of which the cluster
// uses a quarter at most.
func wide(entries []PrefixAt, pods, cluster []netip.Prefix) []PrefixAt {
	out := []PrefixAt{}
	if len(pods) == 0 {
		return out
	}
	blocks := privateBlocks()[:3]
	for _, at := range entries {
		e, err := netip.ParsePrefix(at.Prefix)
		if err != nil || !slices.ContainsFunc(blocks, func(b netip.Prefix) bool { return e.Bits() <= b.Bits() && e.Contains(b.Addr()) }) {
			continue
		}
		used := 0.0
		for _, p := range cidrplan.Intersect([]netip.Prefix{e}, cluster) {
			used += 1 / float64(uint64(1)<<min(p.Bits()-e.Bits(), 62))
		}
		if used <= 0.25 {
			out = append(out, at)
		}
	}
	return out
}
