package facts

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
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

// masqDir is where masquerade agents read, masqConfig the file of the upstream
// agent and of Cilium in it (FG A1.1, A3.1, A5.1).
const (
	masqDir    = "/etc/config"
	masqConfig = masqDir + "/ip-masq-agent"
)

// masqDialect is what one kind of agent makes of its configuration. The format is
// one; what a missing key, an odd prefix or a mistake leads to is each agent's own.
type masqDialect struct {
	kind string
	// files are globs of what the agent reads.
	files []string
	// keepsDefault: with this configuration the agent's default list stays; why
	// says so. Otherwise a configuration starts from an empty list.
	keepsDefault func(*grammar.IPMasq) (why string, keeps bool)
	// tolerates a piece for which the upstream agent refuses the configuration.
	tolerates func(*grammar.IPMasq, grammar.Problem) bool
	// merges: the lists of all its files are one.
	merges bool
	// needsDir: it ends where its directory is not there.
	needsDir bool
	// limit is the most entries of one file, 0 where the grammar's own answer holds.
	limit int
	// ipv6ByFlag: it refuses IPv6 without --enable-ipv6.
	ipv6ByFlag bool
	// late tells of a ConfigMap that is not in the tree that the platform writes it;
	// every other optional one that is not there is taken for absent.
	late func(name string) bool
	// resyncs: the configuration says how often the rules are written.
	resyncs bool
	// fate is what it does when it refuses its configuration.
	fate string
}

func dialectOf(kind string) masqDialect {
	switch kind {
	case agentAzure:
		return azureDialect()
	case agentCilium:
		return ciliumDialect()
	default: // GKE runs the upstream agent (FG A2.1)
		return upstreamDialect()
	}
}

// readAgents reads the masquerade agents (FG A1-A5): the workloads that run
// one, the lists of agents that are deployed elsewhere, and the default that
// GKE applies where nothing else is in view.
func readAgents(ix *index, cs *clusterSet, sites []Site, pods []*podView) ([]Agent, []UnreadList) {
	r := &agentReader{ix: ix, cs: cs, sites: sites, tunnels: nodeTunnels(pods), readBy: map[source.ObjectID]bool{}}
	for _, p := range pods {
		for _, c := range p.containers {
			if kind := agentKind(p, c); kind != "" {
				r.workload(p, c, kind)
			}
			r.awsNode(p, c)
		}
	}
	r.agentCharts()
	unread := append(r.ciliumReleases(), r.unreadLists()...)
	r.listsWithoutAgent()
	r.aksLists()
	r.egressNATPolicies()
	r.managed()
	r.plannedAgents()
	r.awsAddons()
	r.layers(pods)
	r.missedPools()
	slices.SortStableFunc(unread, func(a, b UnreadList) int { return compareRefs(a.Ref, b.Ref) })
	slices.SortStableFunc(r.agents, func(a, b Agent) int {
		return cmp.Or(strings.Compare(a.Cluster, b.Cluster), compareRefs(a.Ref, b.Ref), compareRefs(a.List.Ref, b.List.Ref))
	})
	return r.agents, unread
}

type agentReader struct {
	ix    *index
	cs    *clusterSet
	sites []Site
	// tunnels are those of the nodes themselves.
	tunnels []Site
	agents  []Agent
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

// flags are those of the upstream agent, which Azure's took over (FG A1.12).
type flags struct {
	allReserved, ipv6 Known
}

// masqFlags reads them from the command line: the words of the agent itself, which
// a shell may start. What stands in a script that cannot be seen, or is filled in
// later, leaves them open.
func masqFlags(c *containerView) flags {
	out := flags{allReserved: Absent, ipv6: Absent}
	for _, cmd := range c.commands() {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile {
			continue
		}
		if cmd.opaque {
			return flags{allReserved: Unknown, ipv6: Unknown}
		}
		for _, w := range cmd.words {
			name, text, has := strings.Cut(w.Text, "=")
			on := goBool(text, has)
			if !w.Known || placeholder(text) != "" {
				on = Unknown
			}
			switch {
			case placeholder(name) != "" || !w.Known && !has:
				return flags{allReserved: Unknown, ipv6: Unknown}
			case !strings.HasPrefix(name, "-"):
			case strings.TrimLeft(name, "-") == "nomasq-all-reserved-ranges":
				out.allReserved = on
			case strings.TrimLeft(name, "-") == "enable-ipv6":
				out.ipv6 = on
			}
		}
	}
	return out
}

// goBool reads the value of a boolean flag as Go's package does; without one the
// flag is on.
func goBool(text string, has bool) Known {
	if !has {
		return Present
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return Unknown // the agent does not start
	}
	return knownOr(on)
}

// knownOr is Present for true, Absent for false.
func knownOr(on bool) Known {
	if on {
		return Present
	}
	return Absent
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
	fl := masqFlags(c)
	if kind == agentCilium {
		fl = flags{allReserved: Present, ipv6: Present}
	}
	d := dialectOf(kind)
	if kind == agentUpstream {
		d = upstreamOf(c)
	}
	files, unseen := r.configFiles(p, c, d)
	switch {
	case len(files) > 0 && (!unseen.holds() || d.merges):
		a.List = readList(d, fl, files, c.c.Ref)
		if a.List.more = a.List.more || unseen.holds(); a.List.more {
			r.openList(a, p.object, c.c.Ref, cmp.Or(unseen, filledIn("a part of it")))
		}
	case unseen.holds():
		a.List = unreadList(c.c.Ref, unseen)
		a.List.Entries = []PrefixAt{}
		r.ix.gapAt(finding.Unresolved, p.object, c.c.Ref, "the exemption list of "+p.pod.Object.String(), unseen,
			"what it masquerades on the way to a VPN is unknown", "VPN201", "VPN202", "VPN203")
	case kind == agentUpstream && c.hasDirectory(masqConfig):
		a.List = unreadList(c.c.Ref, because("a directory is mounted where the agent reads a file", noAdvice))
	default:
		a.List = List{Source: "default", Ref: c.c.Ref, Why: "nothing in the tree is mounted where the agent reads its list", Valid: Unknown}
	}
	for _, f := range files {
		r.readBy[f.Ref.Object] = true
	}
	r.running = append(r.running, runningAgent{pod: p, container: c, kind: kind, cluster: known, reads: len(files)})
	r.add(a, fl, known, r.cs.tied(p.object))
}

// hasDirectory: files are mounted below the path.
func (c *containerView) hasDirectory(name string) bool {
	return slices.ContainsFunc(c.files(name+"/**"), func(f mountedFile) bool {
		return f.State == Present && strings.HasPrefix(f.Path, name+"/")
	})
}

// openList tells of a list that more may be added to than can be seen.
func (r *agentReader) openList(a *Agent, o *source.Object, at source.Ref, why reason) {
	r.ix.gapAt(finding.Unresolved, o, at, "the whole exemption list of "+a.Object.String(), why, "what it exempts besides the lists in the tree is unknown", "VPN203")
}

// configFiles returns the files that the agent reads its list from; unseen says
// why there may be more that cannot be read. An optional ConfigMap that is not
// in the tree is taken for absent: the agent runs, with its default.
func (r *agentReader) configFiles(p *podView, c *containerView, d masqDialect) (files []mountedFile, unseen reason) {
	for _, f := range c.files(d.files...) {
		switch {
		case f.State == Present:
			files = append(files, f)
		case f.State == Unknown && !r.optionalAndAbsent(p, c, f, d.late):
			unseen = cmp.Or(unseen, f.Why, because("its content cannot be seen", noAdvice))
		}
	}
	if c.mountOf(path.Join(masqDir, masqName)) < 0 && d.needsDir {
		unseen = because("nothing is mounted at "+masqDir+", and the agent does not run without that directory", noAdvice)
	}
	return files, unseen
}

func (r *agentReader) optionalAndAbsent(p *podView, c *containerView, f mountedFile, late func(string) bool) bool {
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
			if state == Absent && (cm.get("optional").boolean() != Present || late(cm.get("name").text())) || state == Unknown {
				return false
			}
			missing = missing || state == Absent
		}
		return missing
	}
	return false
}

// readList reads the agent's configuration as that agent does. The lists of several
// files are one; one that the agent refuses decides for all of them.
func readList(d masqDialect, fl flags, files []mountedFile, agent source.Ref) List {
	out := List{Source: "explicit", Valid: Present, Entries: []PrefixAt{}}
	for _, f := range files {
		conf := grammar.ParseIPMasq(f.Text)
		at := f.Ref
		if conf.ListRange.End > conf.ListRange.Start {
			at = f.Ref.Within(conf.ListRange.Start, conf.ListRange.End)
		}
		if out.Ref.IsZero() || len(out.Entries) == 0 && len(conf.Entries) > 0 {
			out.Ref = at
		}
		if refused := d.refusals(fl, conf, f.Ref); len(refused) > 0 {
			return List{
				Source: "unknown", Ref: at, Why: "the agent refuses its configuration: " + refused[0].Says, Valid: Absent,
				Entries: []PrefixAt{}, Refused: refused,
			}
		}
		if conf.List == grammar.ListUnknown && d.merges && len(files) > 1 {
			out.more = true
			continue
		}
		if conf.List == grammar.ListUnknown {
			return unreadList(at, filledIn("the list"))
		}
		if why, keeps := d.keepsDefault(conf); keeps {
			out.Source, out.Why = "default", why
		}
		for _, e := range conf.Entries {
			if e.Valid {
				out.Entries = append(out.Entries, PrefixAt{Prefix: e.Prefix.String(), Text: e.Text, Ref: f.Ref.Within(e.Start, e.End)})
			}
		}
	}
	if d.resyncs && len(files) > 0 {
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

// refusals are the pieces for which the agent refuses a configuration, none when
// it takes it (FG A1.7, A3.3, A5.2).
func (d masqDialect) refusals(fl flags, conf *grammar.IPMasq, at source.Ref) []RefusedConfig {
	var out []RefusedConfig
	add := func(where grammar.Range, says string) {
		r := RefusedConfig{Ref: at, Says: says, Fate: d.fate}
		if where.End > where.Start {
			r.Ref = at.Within(where.Start, where.End)
		}
		out = append(out, r)
	}
	for _, p := range conf.Refused() {
		if !d.tolerates(conf, p) {
			add(p.Range, p.Says)
		}
	}
	if n := len(conf.Entries); d.limit > 0 && n > d.limit {
		add(conf.ListRange, fmt.Sprintf("%d entries, and the agent accepts at most %d", n, d.limit))
	}
	if d.ipv6ByFlag && fl.ipv6 == Absent {
		for _, six := range conf.IPv6Entries() {
			add(six.Range, six.Text+" is IPv6 and the agent runs without --enable-ipv6")
		}
	}
	return out
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
		// GKE's agent runs with all reserved ranges as its default (FG A2.1). Of one
		// that is not in view the flags are not known.
		fl := flags{allReserved: Unknown, ipv6: Unknown}
		if f != nil && (f.gke != nil || f.Plan.Masquerade.Value == agentGKE) {
			a.Kind, fl.allReserved = agentGKE, Present
		}
		a.Object = nameOf(o)
		if f != nil && (f.Plan.Masquerade.Value == agentCilium || r.ciliumReads(f)) {
			a.Kind, fl = agentCilium, flags{allReserved: Present, ipv6: Present}
		}
		a.List = readList(dialectOf(a.Kind), fl, []mountedFile{{Path: masqConfig, Text: text, State: Present, Ref: root(o).get("data", "config").ref()}}, source.Ref{})
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
		pods, nodes, services = fl.families(f.prefixes(cidrplan.Pod)), fl.families(f.prefixes(cidrplan.Node)), f.prefixes(cidrplan.Service)
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
		exempt = defaultList(fl.allReserved == Present)
	}
	if a.Kind == agentCilium && a.List.Source != "unknown" && f != nil {
		exempt = append(exempt, f.nativeRouting...) // both lists apply (FG A5.5)
	}
	a.Effective = written(cidrplan.Union(exempt, nil))

	var wantNode []netip.Prefix
	if !tied {
		a.Targets, wantNode = r.targets(a, f, exempt, pods, slices.Concat(pods, nodes, services, r.internal(f)))
	}
	if a.List.Source == "explicit" && !ownRangesExempt(a.Kind) {
		if !a.List.more {
			a.MissingPods = written(cidrplan.Missing(exempt, pods))
			a.MissingNodes = written(cidrplan.Missing(exempt, nodes))
		}
		if a.Kind == agentCilium {
			r.ciliumMissing(a, f)
		}
		a.Wide = wide(a.List.Entries, pods, cidrplan.Union(cidrplan.Union(pods, nodes), services))
	}
	if len(pods) > 0 && f != nil && !ownRangesExempt(a.Kind) {
		internal := fl.families(parsed(f.Plan.Internal))
		a.Minimal = written(cidrplan.MinimalExemption(cidrplan.Union(cidrplan.Union(pods, nodes), internal), wantNode))
	}
	r.agents = append(r.agents, *a)
}

// families are the ranges whose packets the agent may rewrite.
func (fl flags) families(list []netip.Prefix) []netip.Prefix {
	if fl.ipv6 == Present {
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
//
// A VPN may lead to a whole private block in which the cluster lies, too: the
// cluster's own ranges, of which own is the list, are not behind it.
func (r *agentReader) targets(a *Agent, f *founded, exempt, pods, own []netip.Prefix) (out []Target, wantNode []netip.Prefix) {
	out = []Target{}
	entries := parsed(a.List.Entries)
	var plan leading
	if f != nil {
		plan = f.Plan.leading()
	}
	type answer struct {
		remote netip.Prefix
		wanted string
	}
	had := map[answer]bool{}
	sites := r.sites
	if a.Kind != agentCilium && a.Kind != agentNative { // which rewrite at the network cards alone
		sites = slices.Concat(sites, r.tunnels)
	}
	for i := range sites {
		s := &sites[i]
		if name, known := r.clusterOf(s); !known || name != a.Cluster {
			continue
		}
		for j, remote := range parsed(s.Remote) {
			t := Target{Site: s.Name, Prefix: remote.String(), Ref: s.Remote[j].Ref, Entry: -1}
			inside := insideOf(own, remote)
			isOwn := func(p netip.Prefix) bool { return len(inside) > 0 && cidrplan.Contains(inside, []netip.Prefix{p}) }
			planned := plan.to(remote)
			if planned == nil && f != nil {
				planned = f.Plan.byTunnel(s, remote)
			}
			t.Wanted, t.WantedWhy, t.WantedRef = wanted(s, planned, ofSame(pods, remote))
			t.Lacks = lacks(s, planned, ofSame(pods, remote))
			if t.Wanted == "node" {
				wantNode = append(wantNode, cidrplan.Subtract([]netip.Prefix{remote}, inside)...)
				if a.List.Source == plannedNone && len(t.Lacks) == 0 {
					t.Lacks = append(t.Lacks, PathLack{Kind: "choice", Ref: t.WantedRef, Outside: written(ofSame(pods, remote))})
				}
			}
			if had[answer{remote, t.Wanted}] {
				continue
			}
			switch a.List.Source {
			case "none":
				t.Covered = []string{t.Prefix}
			case "unknown":
				t.Covered = []string{}
			default:
				t.Covered = written(slices.DeleteFunc(cidrplan.Intersect([]netip.Prefix{remote}, exempt), isOwn))
				t.Entry = bestEntry(entries, remote, isOwn)
			}
			if (a.Kind == agentCilium || a.Kind == agentNative) && r.egressGateways(f, remote) {
				t.Covered, t.Entry = []string{}, -1
			}
			if byChoice(a.Kind) && t.Wanted == "unknown" && len(t.Lacks) == 0 {
				continue
			}
			had[answer{remote, t.Wanted}] = true
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
// plan records, else the one that the plan's return routes and allow-list, the
// tunnel's local selectors, or its router's announcements hold.
func wanted(s *Site, planned *PlannedVPN, pods []netip.Prefix) (answer, why string, at source.Ref) {
	if answer, why, at, recorded := planned.wants(); recorded {
		return answer, why, at
	}
	answer, why, at = planned.farSide(pods)
	if answer == "node" {
		return answer, why, at
	}
	if s.LocalState != Present && answer != "" {
		return answer, why, at
	}
	at = s.Ref
	if len(s.Local) > 0 {
		at = s.Local[0].Ref
	}
	local, says := parsed(slices.DeleteFunc(slices.Clone(s.Local), isDefaultRoute)), sayPrefixes(s.Local)
	switch {
	case s.LocalState != Present && len(pods) > 0 && cidrplan.Contains(local, pods):
		return "pod", s.Object.String() + " carries " + says + " and more, which holds the pod range", at
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

// insideOf are the ranges that are a part of a wider one.
func insideOf(ranges []netip.Prefix, wide netip.Prefix) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range ranges {
		if p.Bits() > wide.Bits() && wide.Contains(p.Addr()) {
			out = append(out, p)
		}
	}
	return out
}

// internal are the ranges that the plan says are the cluster's, too.
func (r *agentReader) internal(f *founded) []netip.Prefix {
	if f == nil {
		return nil
	}
	return parsed(f.Plan.Internal)
}

// bestEntry returns the entry that covers most of the destination, the most
// specific of equals, without those that only hold the cluster's own; -1 for none.
func bestEntry(entries []netip.Prefix, remote netip.Prefix, isOwn func(netip.Prefix) bool) int {
	best, bits := -1, 0
	for i, e := range entries {
		if !e.Overlaps(remote) || isOwn(e) {
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
