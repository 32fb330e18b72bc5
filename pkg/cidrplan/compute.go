package cidrplan

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Compute adds the claims up to ranges and finds where ranges overlap. The
// order of the claims does not matter; claims whose prefix is not valid are
// left out. It costs O(n log n) and what it returns.
//
// An overlap is a pair of claims of two ranges of one cluster that differ in
// role, one of which encloses the other (prefixes never overlap in part). Of
// all such pairs it returns those that a reader needs:
//
//	           ┌──────────── b' ────────────┐
//	B's range  │        ┌── b ──┐           │     each a inside the smallest b
//	           └────────┴───────┴───────────┘     that encloses it: (a, b)
//	A's range            ├─ a ─┤
//
//	A's range  ├──────────── a ─────────────┤     else the largest b inside the
//	B's range    ┌── b ──┐     ┌── b″ ──┐         smallest a: (a, b), (a, b″)
//
// Claims that are mere evidence say nothing beside a stronger claim of their
// range that encloses them; otherwise all evidence of a range that the same
// claim meets makes one overlap. It is Partial when other evidence of the range
// lies outside.
//
// Never in Overlaps: default routes (they cover everything and overlap
// nothing), routes to the cluster's own ranges (ClusterRoute), the API, DNS and
// load balancer addresses (inside a node or service range by design), two ranges of one role
// (tunnels of different pods may lead to one network), the routes of one pod and
// what the tunnels of others use, and the pool and the destinations of one and
// the same owner. Other idioms are carried in the claims, for the rule to judge.
func Compute(claims []Claim) Plan {
	s := newSweep(claims)
	return Plan{Ranges: s.ranges(), Overlaps: s.overlaps(), Conflicts: s.conflicts()}
}

// order is the order of roles: the lower of two is Overlap.A.
func (r Role) order() int {
	switch r {
	case VPN:
		return 0
	case Pool:
		return 1
	case Node:
		return 2
	case Pod:
		return 3
	case Service:
		return 4
	case LB:
		return 5
	case API:
		return 6
	case DNS:
		return 7
	default:
		return 8
	}
}

// slot groups ranges by what they can overlap with. Of two slots that meet, the
// lower one is Overlap.A.
type slot int

const (
	sites    slot = iota // VPN destinations of the whole cluster
	podSites             // VPN destinations of one pod
	pools
	nodes
	pods
	services
	slots // of this number and above: meets nothing
)

func (k *rangeKey) slot() slot {
	switch {
	case k.role == VPN && k.podLocal:
		return podSites
	case k.role == VPN:
		return sites
	case k.role == Pool:
		return pools
	case k.role == Node:
		return nodes
	case k.role == Pod:
		return pods
	case k.role == Service:
		return services
	default:
		return slots
	}
}

func (x slot) meets(y slot) bool {
	low, high := min(x, y), max(x, y)
	bothVPN := high <= podSites
	otherPods := low == podSites && high == pools
	return x != y && !bothVPN && !otherPods
}

func (s Strength) order() int {
	switch s {
	case Declared:
		return 0
	case Planned: // after what takes effect by itself
		return 1
	case Default:
		return 2
	default:
		return 3
	}
}

type rangeKey struct {
	cluster, owner string
	role           Role
	idiom          Idiom
	podLocal       bool
}

func (k rangeKey) compare(l rangeKey) int {
	return cmp.Or(
		strings.Compare(k.cluster, l.cluster),
		cmp.Compare(k.role.order(), l.role.order()),
		strings.Compare(string(k.role), string(l.role)),
		strings.Compare(k.owner, l.owner),
		strings.Compare(string(k.idiom), string(l.idiom)),
		cmp.Compare(k.slot(), l.slot()))
}

// item is a claim in the sweep's order. Claims with an idiom are a range of
// their own there: what excuses one must not hide the others.
type item struct {
	prefix  netip.Prefix
	cluster int32 // rank of the cluster
	key     int32 // rank of the rangeKey
	claim   int32 // index into sweep.claims
}

type sweep struct {
	claims []Claim
	keys   []rangeKey
	items  []item // by cluster, family, address, bits, key, strength, place
	// looked counts the ranges that were held against a claim: the cost beyond
	// sorting, which a test bounds.
	looked int
}

func newSweep(claims []Claim) *sweep {
	s := &sweep{claims: claims, items: make([]item, 0, len(claims))}
	ids := make(map[rangeKey]int32)
	for i := range claims {
		c := &claims[i]
		if !c.Prefix.IsValid() {
			continue
		}
		k := rangeKey{cluster: c.Cluster, owner: c.Owner, role: c.Role, idiom: c.Idiom, podLocal: c.PodLocal && c.Role == VPN}
		id, ok := ids[k]
		if !ok {
			id = int32(len(s.keys))
			ids[k] = id
			s.keys = append(s.keys, k)
		}
		s.items = append(s.items, item{prefix: c.Prefix.Masked(), key: id, claim: int32(i)})
	}
	s.rank()
	slices.SortFunc(s.items, s.compare)
	return s
}

// rank replaces the numbers of keys, given in order of appearance, by ranks.
func (s *sweep) rank() {
	byRank := make([]int32, len(s.keys))
	for i := range byRank {
		byRank[i] = int32(i)
	}
	slices.SortFunc(byRank, func(a, b int32) int { return s.keys[a].compare(s.keys[b]) })
	rank := make([]int32, len(s.keys))
	clusters := make([]int32, len(s.keys))
	keys := make([]rangeKey, len(s.keys))
	for r, id := range byRank {
		rank[id], keys[r] = int32(r), s.keys[id]
		if r > 0 {
			clusters[id] = clusters[byRank[r-1]]
			if keys[r].cluster != keys[r-1].cluster {
				clusters[id]++
			}
		}
	}
	for i := range s.items {
		it := &s.items[i]
		it.cluster, it.key = clusters[it.key], rank[it.key]
	}
	s.keys = keys
}

func (s *sweep) compare(x, y item) int {
	if c := cmp.Compare(x.cluster, y.cluster); c != 0 {
		return c
	}
	if c := comparePrefix(x.prefix, y.prefix); c != 0 {
		return c
	}
	if c := cmp.Compare(x.key, y.key); c != 0 {
		return c
	}
	a, b := &s.claims[x.claim], &s.claims[y.claim]
	return cmp.Or(
		cmp.Compare(a.Strength.order(), b.Strength.order()),
		strings.Compare(string(a.Strength), string(b.Strength)),
		strings.Compare(string(a.At.Object), string(b.At.Object)),
		strings.Compare(a.At.Pointer, b.At.Pointer),
		cmp.Compare(a.At.Start, b.At.Start),
		cmp.Compare(a.At.End, b.At.End),
		strings.Compare(a.Says, b.Says))
}

// comparePrefix puts an enclosing prefix before all that it encloses.
func comparePrefix(p, q netip.Prefix) int {
	if c := p.Addr().Compare(q.Addr()); c != 0 { // IPv4 comes first
		return c
	}
	return cmp.Compare(p.Bits(), q.Bits())
}

// at returns the claim with its prefix masked.
func (s *sweep) at(it item) Claim {
	c := s.claims[it.claim]
	c.Prefix = it.prefix
	return c
}

func (s *sweep) ranges() []Range {
	var out []Range
	of := make([]int, len(s.keys))
	for i, k := range s.keys {
		if i == 0 || k.cluster != s.keys[i-1].cluster || k.role != s.keys[i-1].role || k.owner != s.keys[i-1].owner {
			out = append(out, Range{Cluster: k.cluster, Role: k.role, Owner: k.owner})
		}
		of[i] = len(out) - 1
	}
	// One array each for all claims and prefixes, cut to ranges.
	size := make([]int, len(out))
	for _, it := range s.items {
		size[of[it.key]]++
	}
	claims := make([]Claim, len(s.items))
	all := make([]netip.Prefix, len(s.items))
	plain := make([][]netip.Prefix, len(out))
	for i, n := range size {
		out[i].Claims, claims = claims[:0:n], claims[n:]
		plain[i], all = all[:0:n], all[n:]
	}
	for _, it := range s.items {
		n := of[it.key]
		out[n].Claims = append(out[n].Claims, s.at(it))
		if s.keys[it.key].idiom == NoIdiom {
			plain[n] = append(plain[n], it.prefix)
		}
	}
	for i := range out {
		out[i].Prefixes = aggregate(plain[i])
	}
	return out
}

// active is where the sweep stands: the claims that enclose the current
// address, by key. As enclosing prefixes come and go like brackets, every list
// here is a stack.
type active struct {
	open  []item         // all, outermost first
	byKey [][]item       // of one key, outermost first
	slots [slots][]int32 // the keys with an open claim
}

func (a *active) push(it item, in slot) {
	a.open = append(a.open, it)
	if len(a.byKey[it.key]) == 0 {
		a.slots[in] = append(a.slots[in], it.key)
	}
	a.byKey[it.key] = append(a.byKey[it.key], it)
}

// leave closes what does not enclose p.
func (a *active) leave(cluster int32, p netip.Prefix, keys []rangeKey) {
	for n := len(a.open); n > 0; n = len(a.open) {
		it := a.open[n-1]
		if it.cluster == cluster && covers(it.prefix, p) {
			return
		}
		a.open = a.open[:n-1]
		of := a.byKey[it.key]
		a.byKey[it.key] = of[:len(of)-1]
		if len(of) == 1 {
			in := keys[it.key].slot()
			a.slots[in] = a.slots[in][:len(a.slots[in])-1]
		}
	}
}

func (a *active) innermost(key int32) item {
	of := a.byKey[key]
	return of[len(of)-1]
}

type pair struct{ a, b item }

func (s *sweep) overlaps() []Overlap {
	act := &active{byKey: make([][]item, len(s.keys))}
	evidence := make([][]netip.Prefix, len(s.keys)) // the outermost, by key
	var pairs []pair
	for i := 0; i < len(s.items); {
		first := s.items[i]
		act.leave(first.cluster, first.prefix, s.keys)
		from := len(act.open)
		for ; i < len(s.items) && s.items[i].cluster == first.cluster && s.items[i].prefix == first.prefix; i++ {
			it := s.items[i]
			if !s.takesPart(it) || s.saidAlready(act, it) {
				continue
			}
			if s.claims[it.claim].Strength == Evidence {
				evidence[it.key] = append(evidence[it.key], it.prefix)
			}
			act.push(it, s.keys[it.key].slot())
		}
		for _, it := range act.open[from:] {
			pairs = s.meet(act, it, pairs)
		}
	}
	return s.merge(pairs, evidence)
}

func (s *sweep) takesPart(it item) bool {
	k := &s.keys[it.key]
	return k.slot() < slots && it.prefix.Bits() > 0 && k.idiom != DefaultRoute && k.idiom != ClusterRoute
}

// saidAlready: an equal claim of the range stands before it, or any encloses
// what is evidence only.
func (s *sweep) saidAlready(act *active, it item) bool {
	if len(act.byKey[it.key]) == 0 {
		return false
	}
	return s.claims[it.claim].Strength == Evidence || act.innermost(it.key).prefix == it.prefix
}

// meet pairs the claim with those that enclose it.
func (s *sweep) meet(act *active, it item, pairs []pair) []pair {
	key := &s.keys[it.key]
	in := key.slot()
	for other := in + 1; other < slots; other++ {
		if !in.meets(other) {
			continue
		}
		s.looked += len(act.slots[other])
		for _, k := range act.slots[other] {
			if !oneOwner(key, &s.keys[k]) {
				pairs = append(pairs, pair{a: it, b: act.innermost(k)})
			}
		}
	}
	if len(act.byKey[it.key]) > 1 { // its range has met them with a larger claim
		return pairs
	}
	for other := range in {
		if !in.meets(other) {
			continue
		}
		s.looked += len(act.slots[other])
		for _, k := range act.slots[other] {
			if a := act.innermost(k); a.prefix != it.prefix && !oneOwner(key, &s.keys[k]) {
				pairs = append(pairs, pair{a: a, b: it})
			}
		}
	}
	return pairs
}

// oneOwner: the pool and the destinations of one tunnel.
func oneOwner(k, l *rangeKey) bool { return k.owner != "" && k.owner == l.owner }

// merge turns the pairs into overlaps, all evidence of one range against one
// claim together.
func (s *sweep) merge(pairs []pair, evidence [][]netip.Prefix) []Overlap {
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(
			cmp.Compare(x.a.key, y.a.key), comparePrefix(x.a.prefix, y.a.prefix),
			cmp.Compare(x.b.key, y.b.key), comparePrefix(x.b.prefix, y.b.prefix))
	})
	type group struct {
		claim, key int32
		aInB       bool
	}
	groups := make(map[group]int) // index into out
	out := make([]Overlap, 0, len(pairs))
	for _, p := range pairs {
		o := Overlap{Cluster: s.keys[p.a.key].cluster, A: s.at(p.a), B: s.at(p.b)}
		o.Relation, o.Set = relation(p.a.prefix, p.b.prefix)
		var g group
		switch {
		case o.Relation == BInA && o.B.Strength == Evidence:
			g = group{claim: p.a.claim, key: p.b.key}
		case o.Relation == AInB && o.A.Strength == Evidence:
			g = group{claim: p.b.claim, key: p.a.key, aInB: true}
		default:
			out = append(out, o)
			continue
		}
		at, ok := groups[g]
		if ok {
			out[at].Set = append(out[at].Set, o.Set...)
			continue
		}
		enclosing := p.a.prefix
		if g.aInB {
			enclosing = p.b.prefix
		}
		if !allInside(evidence[g.key], enclosing) {
			o.Relation = Partial
		}
		groups[g] = len(out)
		out = append(out, o)
	}
	for i := range out {
		if len(out[i].Set) > 1 {
			out[i].Set = aggregate(out[i].Set)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// allInside reports whether the prefixes, which are in order, all lie inside p.
func allInside(sorted []netip.Prefix, p netip.Prefix) bool {
	return covers(p, sorted[0]) && covers(p, sorted[len(sorted)-1])
}

func relation(a, b netip.Prefix) (Relation, []netip.Prefix) {
	switch {
	case a == b:
		return Equal, []netip.Prefix{a}
	case a.Bits() > b.Bits():
		return AInB, []netip.Prefix{a}
	default:
		return BInA, []netip.Prefix{b}
	}
}

// conflicts compares what was declared of one range. A cluster has one service
// range a family, wherever it is declared; its pods may have several, but two
// documents that state the pod range in different terms must agree (one range
// inside the other is agreement: pools are cut from the pod range). Nodes, VPN
// destinations and pools may have as many as they like.
func (s *sweep) conflicts() []Conflict {
	type family struct {
		key int32
		v4  bool
	}
	first := make(map[family]item)
	var out []Conflict
	for _, it := range s.items {
		k := &s.keys[it.key]
		c := &s.claims[it.claim]
		if k.idiom != NoIdiom || c.Strength != Declared || (k.role != Pod && k.role != Service) {
			continue
		}
		f := family{key: it.key, v4: it.prefix.Addr().Is4()}
		one, ok := first[f]
		if !ok {
			first[f] = it
			continue
		}
		other := &s.claims[one.claim]
		if covers(one.prefix, it.prefix) || c.At.Object == other.At.Object || (k.role == Pod && c.Says == other.Says) {
			continue
		}
		out = append(out, Conflict{Cluster: k.cluster, A: s.at(one), B: s.at(it)})
	}
	slices.SortStableFunc(out, func(x, y Conflict) int {
		return cmp.Or(strings.Compare(x.Cluster, y.Cluster), cmp.Compare(x.A.Role.order(), y.A.Role.order()))
	})
	return out
}
