package cidrplan

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// Compute adds the claims up to ranges and finds where ranges overlap. The
// order of the claims does not matter; claims whose prefix is not valid are
// left out. It costs O(n log n) and what it returns, which is bounded: see
// MostOverlaps.
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

// MostOverlaps is how many overlaps are returned that differ in nothing but the
// ranges: of the same roles, relation, strengths and idioms, in the same two objects of
// one cluster. A list that was pasted twice makes one for each of its lines. The last
// of them counts those that are left out. A claim that meets more ranges of one kind
// than that counts the others, too.
const MostOverlaps = 100

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

func (k *rangeKey) compare(l *rangeKey) int {
	return cmp.Or(
		strings.Compare(k.cluster, l.cluster),
		cmp.Compare(k.role.order(), l.role.order()),
		strings.Compare(string(k.role), string(l.role)),
		strings.Compare(k.owner, l.owner),
		strings.Compare(string(k.idiom), string(l.idiom)),
		cmp.Compare(k.slot(), l.slot()))
}

// item is a claim in the sweep's order. Claims with an idiom are a range of
// their own there: what excuses one must not hide the others. It holds no
// pointer: a hundred thousand of them are sorted and kept, and the collector
// need not look into any.
type item struct {
	hi, lo  uint64 // the address, masked
	key     int32  // rank of the rangeKey
	claim   int32  // index into sweep.claims
	cluster int32  // rank of the cluster
	bits    uint8
	six     bool
}

func (x *item) size() uint8 {
	if x.six {
		return 128
	}
	return 32
}

// same reports whether two items have one prefix.
func (x *item) same(y *item) bool {
	return x.hi == y.hi && x.lo == y.lo && x.bits == y.bits && x.six == y.six
}

// encloses reports whether y's prefix is x's or inside it.
func (x *item) encloses(y *item) bool {
	if x.bits > y.bits || x.six != y.six {
		return false
	}
	// IPv4 addresses are the low half of lo.
	host := uint(x.size() - x.bits)
	if host >= 64 {
		return (x.hi^y.hi)>>(host-64) == 0
	}
	return x.hi == y.hi && (x.lo^y.lo)>>host == 0
}

type sweep struct {
	claims []Claim
	keys   []rangeKey
	items  []item // by cluster, family, address, bits, key, strength, place
	// looked counts the ranges that were held against a claim: the cost beyond
	// sorting, which a test bounds.
	looked int
}

// numbers gives equal values the same number, in order of appearance.
type numbers[K comparable] struct {
	of     map[K]int32
	last   K // claims of one range usually stand together
	number int32
	values []K
}

func (n *numbers[K]) add(k K) int32 {
	if len(n.values) > 0 && k == n.last {
		return n.number
	}
	id, ok := n.of[k]
	if !ok {
		if n.of == nil {
			n.of = map[K]int32{}
		}
		id = int32(len(n.values))
		n.of[k] = id
		n.values = append(n.values, k)
	}
	n.last, n.number = k, id
	return id
}

// smallKey is a rangeKey with numbers for its texts, quicker to look up.
type smallKey struct {
	cluster, owner, role, idiom int32
	podLocal                    bool
}

func newSweep(claims []Claim) *sweep {
	s := &sweep{claims: claims, items: make([]item, 0, len(claims))}
	var clusters, owners numbers[string]
	var roles numbers[Role]
	var idioms numbers[Idiom]
	var ids numbers[smallKey]
	for i := range claims {
		c := &claims[i]
		if !c.Prefix.IsValid() {
			continue
		}
		k := smallKey{
			cluster: clusters.add(c.Cluster), owner: owners.add(c.Owner), role: roles.add(c.Role), idiom: idioms.add(c.Idiom),
			podLocal: c.PodLocal && c.Role == VPN,
		}
		id := ids.add(k)
		if int(id) == len(s.keys) {
			s.keys = append(s.keys, rangeKey{cluster: c.Cluster, owner: c.Owner, role: c.Role, idiom: c.Idiom, podLocal: k.podLocal})
		}
		it := item{key: id, claim: int32(i), bits: uint8(c.Prefix.Bits())}
		if addr := c.Prefix.Masked().Addr(); addr.Is4() {
			raw := addr.As4()
			it.lo = uint64(binary.BigEndian.Uint32(raw[:]))
		} else {
			raw := addr.As16()
			it.hi, it.lo, it.six = binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:]), true
		}
		s.items = append(s.items, it)
	}
	s.sort(s.rank())
	return s
}

// rank replaces the numbers of keys, given in order of appearance, by ranks, and
// returns the number of clusters.
func (s *sweep) rank() int {
	byRank := make([]int32, len(s.keys))
	for i := range byRank {
		byRank[i] = int32(i)
	}
	slices.SortFunc(byRank, func(a, b int32) int { return s.keys[a].compare(&s.keys[b]) })
	rank := make([]int32, len(s.keys))
	clusters := make([]int32, len(s.keys))
	keys := make([]rangeKey, len(s.keys))
	n := 0
	for r, id := range byRank {
		rank[id], keys[r] = int32(r), s.keys[id]
		if r == 0 || keys[r].cluster != keys[r-1].cluster {
			n++
		}
		clusters[id] = int32(n - 1)
	}
	for i := range s.items {
		it := &s.items[i]
		it.cluster, it.key = clusters[it.key], rank[it.key]
	}
	s.keys = keys
	return n
}

// sort deals the items out to their clusters, which needs no comparison, and
// sorts each cluster by itself.
func (s *sweep) sort(clusters int) {
	start := make([]int, clusters+1)
	for i := range s.items {
		start[s.items[i].cluster+1]++
	}
	for i := range clusters {
		start[i+1] += start[i]
	}
	next := slices.Clone(start)
	sorted := make([]item, len(s.items))
	for _, it := range s.items {
		sorted[next[it.cluster]] = it
		next[it.cluster]++
	}
	s.items = sorted
	for i := range clusters {
		slices.SortFunc(s.items[start[i]:start[i+1]], s.compare)
	}
}

// compare orders the items of one cluster: an enclosing prefix stands before all
// that it encloses.
func (s *sweep) compare(x, y item) int {
	switch {
	case x.six != y.six:
		if x.six {
			return 1
		}
		return -1
	case x.hi != y.hi:
		return cmp.Compare(x.hi, y.hi)
	case x.lo != y.lo:
		return cmp.Compare(x.lo, y.lo)
	case x.bits != y.bits:
		return cmp.Compare(x.bits, y.bits)
	case x.key != y.key:
		return cmp.Compare(x.key, y.key)
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

// prefix returns the prefix of an item's claim, masked.
func (s *sweep) prefix(it item) netip.Prefix { return s.claims[it.claim].Prefix.Masked() }

// at returns the claim with its prefix masked.
func (s *sweep) at(it item) Claim {
	c := s.claims[it.claim]
	c.Prefix = c.Prefix.Masked()
	return c
}

func (s *sweep) ranges() []Range {
	of := make([]int, len(s.keys)) // the range of a key
	n := 0
	for i := range s.keys {
		if i == 0 || !s.keys[i].oneRange(&s.keys[i-1]) {
			n++
		}
		of[i] = n - 1
	}
	if n == 0 {
		return nil
	}
	out := make([]Range, n)
	for i, k := range s.keys {
		out[of[i]].Cluster, out[of[i]].Role, out[of[i]].Owner = k.cluster, k.role, k.owner
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
			plain[n] = append(plain[n], s.prefix(it))
		}
	}
	for i := range out {
		out[i].Prefixes = aggregate(plain[i])
	}
	return out
}

// oneRange: the keys differ in nothing but what excuses their claims.
func (k *rangeKey) oneRange(l *rangeKey) bool {
	return k.cluster == l.cluster && k.role == l.role && k.owner == l.owner
}

// active is where the sweep stands: the claims that enclose the current
// address. As enclosing prefixes come and go like brackets, every list here is a
// stack.
type active struct {
	open  []opened
	top   []int32        // by key: where its innermost open claim stands in open, -1 for none
	slots [slots][]int32 // the keys with an open claim
}

// opened is an open claim, and where the one of its key around it stands.
type opened struct {
	item
	around int32
}

func newActive(keys int) *active {
	a := &active{top: make([]int32, keys)}
	for i := range a.top {
		a.top[i] = -1
	}
	return a
}

func (a *active) push(it item, in slot) {
	if a.top[it.key] < 0 {
		a.slots[in] = append(a.slots[in], it.key)
	}
	a.open = append(a.open, opened{item: it, around: a.top[it.key]})
	a.top[it.key] = int32(len(a.open) - 1)
}

// leave closes what does not enclose the item.
func (a *active) leave(next *item, keys []rangeKey) {
	for n := len(a.open); n > 0; n = len(a.open) {
		it := &a.open[n-1]
		if it.cluster == next.cluster && it.encloses(next) {
			return
		}
		a.top[it.key] = it.around
		if it.around < 0 {
			in := keys[it.key].slot()
			a.slots[in] = a.slots[in][:len(a.slots[in])-1]
		}
		a.open = a.open[:n-1]
	}
}

// innermost returns the innermost open claim of a key that has one.
func (a *active) innermost(key int32) *item { return &a.open[a.top[key]].item }

// pair is two claims that meet, and how many more of them were left out after it.
type pair struct {
	a, b item
	more int
}

func (s *sweep) overlaps() []Overlap {
	act := newActive(len(s.keys))
	evidence := make([][]netip.Prefix, len(s.keys)) // the outermost, by key
	var pairs []pair
	for i := 0; i < len(s.items); {
		first := s.items[i]
		act.leave(&first, s.keys)
		from := len(act.open)
		for ; i < len(s.items) && s.items[i].cluster == first.cluster && s.items[i].same(&first); i++ {
			it := s.items[i]
			if !s.takesPart(it) || s.saidAlready(act, it) {
				continue
			}
			if s.claims[it.claim].Strength == Evidence {
				evidence[it.key] = append(evidence[it.key], s.prefix(it))
			}
			act.push(it, s.keys[it.key].slot())
		}
		for _, o := range act.open[from:] {
			pairs = s.meet(act, o, pairs)
		}
	}
	return s.merge(pairs, evidence)
}

func (s *sweep) takesPart(it item) bool {
	k := &s.keys[it.key]
	return k.slot() < slots && it.bits > 0 && k.idiom != DefaultRoute && k.idiom != ClusterRoute
}

// saidAlready: an equal claim of the range stands before it, or any encloses
// what is evidence only.
func (s *sweep) saidAlready(act *active, it item) bool {
	if act.top[it.key] < 0 {
		return false
	}
	return s.claims[it.claim].Strength == Evidence || act.innermost(it.key).same(&it)
}

// meet pairs the claim with those that enclose it.
func (s *sweep) meet(act *active, o opened, pairs []pair) []pair {
	in := s.keys[o.item.key].slot()
	for other := range slots {
		switch {
		case !in.meets(other):
		case other > in:
			pairs = s.meetSlot(act, o.item, other, pairs, func(k int32) (pair, bool) {
				return pair{a: o.item, b: *act.innermost(k)}, true
			})
		case o.around < 0: // else its range has met them with a larger claim
			pairs = s.meetSlot(act, o.item, other, pairs, func(k int32) (pair, bool) {
				a := act.innermost(k)
				return pair{a: *a, b: o.item}, !a.same(&o.item)
			})
		}
	}
	return pairs
}

// meetSlot pairs the claim with the open ranges of one slot, MostOverlaps of them. The
// last pair counts the ranges that were not looked at.
func (s *sweep) meetSlot(act *active, it item, other slot, pairs []pair, with func(key int32) (pair, bool)) []pair {
	from := len(pairs)
	for i, k := range act.slots[other] {
		if len(pairs)-from == MostOverlaps {
			pairs[len(pairs)-1].more = len(act.slots[other]) - i
			break
		}
		s.looked++
		if oneOwner(&s.keys[it.key], &s.keys[k]) {
			continue
		}
		if p, ok := with(k); ok {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// oneOwner: the pool and the destinations of one tunnel.
func oneOwner(k, l *rangeKey) bool { return k.owner != "" && k.owner == l.owner }

// merge turns the pairs into overlaps, all evidence of one range against one
// claim together, and no more than MostOverlaps of a kind.
func (s *sweep) merge(pairs []pair, evidence [][]netip.Prefix) []Overlap {
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(
			cmp.Compare(x.a.key, y.a.key), comparePrefix(s.prefix(x.a), s.prefix(y.a)),
			cmp.Compare(x.b.key, y.b.key), comparePrefix(s.prefix(x.b), s.prefix(y.b)))
	})
	type group struct {
		claim, key int32
		aInB       bool
	}
	groups := make(map[group]int) // index into out, or leftOut
	const leftOut = -1
	kinds := make(map[kind]*kept)
	var out []Overlap
	for _, p := range pairs {
		o := Overlap{Cluster: s.keys[p.a.key].cluster, A: s.at(p.a), B: s.at(p.b), More: p.more}
		o.Relation, o.Set = relation(o.A.Prefix, o.B.Prefix)
		var g *group
		switch {
		case o.Relation == BInA && o.B.Strength == Evidence:
			g = &group{claim: p.a.claim, key: p.b.key}
		case o.Relation == AInB && o.A.Strength == Evidence:
			g = &group{claim: p.b.claim, key: p.a.key, aInB: true}
		}
		if g != nil {
			at, ok := groups[*g]
			if ok && at != leftOut {
				out[at].Set = append(out[at].Set, o.Set...)
				out[at].More += o.More
			}
			if ok {
				continue
			}
			enclosing := o.A.Prefix
			if g.aInB {
				enclosing = o.B.Prefix
			}
			if !allInside(evidence[g.key], enclosing) {
				o.Relation = Partial
			}
			groups[*g] = leftOut
		}
		k := kindOf(&o)
		had := kinds[k]
		if had == nil {
			had = &kept{}
			kinds[k] = had
		}
		if had.n == MostOverlaps {
			out[had.last].More += 1 + o.More
			continue
		}
		had.n, had.last = had.n+1, len(out)
		if g != nil {
			groups[*g] = len(out)
		}
		out = append(out, o)
	}
	for i := range out {
		if len(out[i].Set) > 1 {
			out[i].Set = aggregate(out[i].Set)
		}
	}
	return slices.Clip(out)
}

// kind is what overlaps have in common of which MostOverlaps are enough.
type kind struct {
	cluster  string
	a, b     side
	relation Relation
}

type side struct {
	object   source.ObjectID
	role     Role
	strength Strength
	idiom    Idiom
}

// kept is how many overlaps of a kind there are, and where the last one stands.
type kept struct{ n, last int }

func kindOf(o *Overlap) kind {
	of := func(c *Claim) side { return side{c.At.Object, c.Role, c.Strength, c.Idiom} }
	return kind{cluster: o.Cluster, a: of(&o.A), b: of(&o.B), relation: o.Relation}
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
