package facts

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// Read learns what a network engineer would from the objects of one run and the
// plan file. It never fails on what the objects hold: what it cannot see becomes a gap. The
// error is the context's.
func Read(ctx context.Context, objects []*source.Object, catalog *images.Catalog, opts Options) (*Facts, error) {
	ix := newIndex(objects)
	cs := readClusters(ix, opts)
	ix.apart = cs.apart
	ix.nodePools = sync.OnceValue(func() []nodePool { return readNodePools(ix, cs) })
	var pods []*podView
	limit := cmp.Or(opts.Workloads, DefaultWorkloads)
	workloads := 0
	another := func() bool { workloads++; return workloads <= limit }
	for _, o := range ix.objects {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		for i, t := range findTemplates(o) {
			p := newPodView(ix, t, cs.of(o), catalog)
			p.tied = cs.tied(o)
			p.pod.ClusterKnown = knownIf(!p.tied)
			if i > 0 {
				p.pod.ID += "#" + t.pod.ptr
			}
			if isLoose(o) && !p.hasVPN() {
				continue // a block of values that may be anything
			}
			if p.hasVPN() && !another() {
				return tooMany(ix, o, limit), nil
			}
			pods = append(pods, p)
		}
	}
	for _, p := range pods {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read facts: %w", err)
		}
		p.read()
		if p.pod.Role != None && !p.hasVPN() && !another() {
			return tooMany(ix, p.object, limit), nil
		}
	}
	for _, p := range append(tailscaleProxies(ix, cs, pods, catalog), netbirdRouters(ix, cs, catalog)...) {
		if !another() {
			return tooMany(ix, p.made.asks.obj, limit), nil
		}
		p.read()
		pods = append(pods, p)
	}
	return joinFacts(ix, cs, append(pods, wireguardServers(ix, cs, catalog)...)), nil
}

// read reads the pod, and blurs what further values or patches may set.
func (p *podView) read() {
	readPod(p)
	if p.partial() {
		p.blur()
	}
	p.fillEmpty()
}

// joinFacts learns what several objects say together: of pods that were read.
func joinFacts(ix *index, cs *clusterSet, pods []*podView) *Facts {
	sites := readSites(ix, cs)
	agents, unread := readAgents(ix, cs, sites, pods)
	out := &Facts{
		Pods:     make([]Pod, 0, len(pods)),
		Sites:    orEmpty(sites),
		Agents:   orEmpty(agents),
		Clusters: make([]Cluster, 0, len(cs.clusters)),
		Claims:   orEmpty(readClaims(ix, cs, pods, sites)),

		PolicyBlocks: readPolicyBlocks(ix, cs),
		UnreadLists:  orEmpty(unread),
		Backends:     orEmpty(readBackends(ix, cs)),
		NodeRoutes:   orEmpty(readNodeRoutes(ix, cs)),
		PeerGroups:   orEmpty(readPeerGroups(ix, cs)),
	}
	readPoolRoutes(ix, pods)
	plannedPoolRoutes(pods)
	readRewrites(ix, cs, pods, agents)
	readConnectors(ix)
	readTypedFields(ix, cs, pods)
	for _, p := range pods {
		out.Pods = append(out.Pods, *p.pod)
	}
	for _, c := range cs.clusters {
		out.Clusters = append(out.Clusters, *c)
	}
	out.Gaps = ix.sortedGaps()
	out.Invalid = ix.sortedInvalid()
	return out
}

// tooMany are the facts of an input with more workloads than are read at once;
// first is the one that is too many.
func tooMany(ix *index, first *source.Object, limit int) *Facts {
	ix.gapAt(finding.Unreadable, first, first.Ref(),
		fmt.Sprintf("this is one of more than %d workloads with a VPN, and none of them was checked", limit),
		because("more are not held in memory at once", "lint fewer paths at once, or raise --limit-workloads"),
		"no rule was evaluated over the inputs that were given together")
	return &Facts{Gaps: ix.sortedGaps()}
}

// readPod fills a pod. The order matters: the role rests on the tunnels,
// forwarding on the role, captures on what the pod needs.
func readPod(p *podView) {
	p.pod.Tunnels = orEmpty(readTunnels(p))
	if p.pod.Role, p.pod.RoleWhy = readRole(p); p.pod.Role == Gateway {
		p.pod.Scaled = p.ix.scaled(p.object)
	}
	readSysctls(p)
	readPrivilegeNeeds(p)
	readRejections(p)
	readForwarding(p)
	readNeeds(p)
	p.pod.ClusterResolver = clusterResolver(p)
	p.pod.Egress = readEgress(p)
	readCaptures(p)
	readGates(p)
	readListeners(p)
	p.mutated()
}

// fillEmpty makes lists of what has none.
func (p *podView) fillEmpty() {
	p.pod.Needs = orEmpty(p.pod.Needs)
	p.pod.Mentions = orEmpty(p.pod.Mentions)
	p.pod.Gates = orEmpty(p.pod.Gates)
	p.pod.NodeProbes = orEmpty(p.pod.NodeProbes)
	p.pod.Sysctls = orEmpty(p.pod.Sysctls)
	p.pod.Rejections = orEmpty(p.pod.Rejections)
	p.pod.Injected = orEmpty(p.pod.Injected)
}

// orEmpty turns a nil slice into an empty one: rules see [] and never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
