package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// natVerdict is what a rule of nat makes of the packets that it takes.
type natVerdict int

const (
	natNothing natVerdict = iota // it counts, logs or marks
	natRewrites
	natAccepts
	natReturns
	natJumps
	natOpen // it may be any of these
)

// natRule is a rule that scripts put where packets leave: POSTROUTING of nat, a nat
// chain of nft with that hook, or a chain that these lead to.
type natRule struct {
	verdict natVerdict
	chain   string // that it jumps to
	// from and to are the addresses that it takes.
	from, to natMatch
	// never: it takes nothing of what an IPsec tunnel carries, because of its
	// interface, its protocol or the IPsec policy that it asks for.
	never bool
	// part: of those addresses it takes some protocols only. maybe: conditions that
	// cannot be told, or a rule that may not be there.
	part, maybe bool
	// source is the address that takes the place, known where source is set; own: it
	// is that of the interface that the packet leaves by.
	source []netip.Prefix
	own    bool
	// actor is who sets it: rules of two that run at one time have no order.
	actor string
	text  string // without where it goes
	says  string
	ref   source.Ref
}

// natMatch is a set of addresses; the zero value holds all of them.
type natMatch struct {
	set, negate, unknown bool
	list                 []netip.Prefix
}

// of returns the part of a set that the match holds.
func (m natMatch) of(list []netip.Prefix) []netip.Prefix {
	switch {
	case !m.set, m.unknown:
		return list
	case m.negate:
		return cidrplan.Subtract(list, m.list)
	default:
		return cidrplan.Intersect(list, m.list)
	}
}

func natMatchOf(m shell.Match) natMatch {
	out := natMatch{set: m.Set, negate: m.Negate, unknown: m.Set && !m.Known}
	if !m.Set || out.unknown {
		return out
	}
	for _, p := range grammar.ParsePrefixes(strings.Trim(m.Text, "{} "), 0, ", ") {
		network, mask, _ := strings.Cut(p.Text, "/")
		dotted, is := grammar.ParseNetmask(network, mask)
		switch {
		case p.Text == "":
		case p.Valid:
			out.list = append(out.list, p.Prefix.Masked())
		case is:
			out.list = append(out.list, dotted)
		default:
			out.unknown = true // a name, or a set of nft's
		}
	}
	return out
}

// natTables are the chains of nat as scripts leave them, in the order in which
// their rules stand.
type natTables struct {
	chains map[string][]natRule
	// based are the chains that packets come to by themselves, in the order in which
	// they were met.
	based []string
	// hidden: something that cannot be seen may have put rules there.
	hidden bool
}

func (t *natTables) base(chain string) {
	if !slices.Contains(t.based, chain) {
		t.based = append(t.based, chain)
	}
}

// put adds a rule: at a number from 1, at the end for 0.
func (t *natTables) put(chain string, at int, rule natRule) {
	list := t.chains[chain]
	if at <= 0 || at > len(list) {
		t.chains[chain] = append(list, rule)
		return
	}
	t.chains[chain] = slices.Insert(list, at-1, rule)
}

// drop takes a rule away: that of a number, else the first of this text.
func (t *natTables) drop(chain string, at int, text string) {
	list := t.chains[chain]
	if at == 0 {
		at = 1 + slices.IndexFunc(list, func(r natRule) bool { return r.text == text })
	}
	if at >= 1 && at <= len(list) {
		t.chains[chain] = slices.Delete(slices.Clone(list), at-1, at)
	}
}

func (t *natTables) flush(prefix, chain string) {
	for name := range t.chains {
		if name == chain || chain == "" && strings.HasPrefix(name, prefix) {
			delete(t.chains, name)
		}
	}
}

// natFlows are packets from one set of addresses to another.
type natFlows struct{ from, to []netip.Prefix }

// natHit is a rule that rewrites, and the packets that it takes.
type natHit struct {
	rule natRule
	natFlows
}

// natWalk leads packets through the chains.
type natWalk struct {
	tables *natTables
	hits   []natHit
	// carried: packets with the addresses of a rule fit the tunnel still, so that
	// the rule does no harm.
	carried func(natRule) bool
	steps   int
}

// maxNATSteps bounds the work: chains of chains multiply, and so do rules and
// selectors. It counts the prefixes that are held against each other.
const maxNATSteps = 100_000

// chain leads packets through a chain and returns those that came to its end. With
// sure false nothing that happens on the way is certain, so that no rule is hit.
func (w *natWalk) chain(name string, flows []natFlows, sure bool, depth int) (through []natFlows) {
	rules := w.tables.chains[name]
	var returned []natFlows
	for _, r := range rules {
		w.steps += 1 + len(r.from.list) + len(r.to.list)
		for _, f := range flows {
			w.steps += len(f.from) + len(f.to)
		}
		if w.steps > maxNATSteps || len(flows) > 64 || depth > 8 {
			w.steps = maxNATSteps + 1
			return nil
		}
		if r.never || r.verdict == natNothing {
			continue
		}
		taken, rest := r.split(flows)
		if len(taken) == 0 {
			continue
		}
		certain := sure && !r.maybe && !r.from.unknown && !r.to.unknown
		switch r.verdict {
		case natRewrites:
			switch {
			case w.carried(r):
				flows = rest // whether it is certain or not, they fit
			case certain:
				for _, f := range taken {
					w.hits = append(w.hits, natHit{r, f})
				}
				if !r.part {
					flows = rest
				}
			}
		case natReturns:
			returned = append(returned, taken...)
			flows = rest
		case natJumps:
			back := w.chain(r.chain, taken, certain && !r.part, depth+1)
			flows = slices.Concat(rest, back)
		default:
			flows = rest
		}
	}
	return append(flows, returned...)
}

// split returns the packets that the rule takes, and the others.
func (r natRule) split(flows []natFlows) (taken, rest []natFlows) {
	add := func(list *[]natFlows, from, to []netip.Prefix) {
		if len(from) > 0 && len(to) > 0 {
			*list = append(*list, natFlows{from, to})
		}
	}
	for _, f := range flows {
		from, to := r.from.of(f.from), r.to.of(f.to)
		if len(from) == 0 || len(to) == 0 {
			rest = append(rest, f)
			continue
		}
		add(&taken, from, to)
		add(&rest, cidrplan.Subtract(f.from, from), f.to)
		add(&rest, from, cidrplan.Subtract(f.to, to))
	}
	return taken, rest
}

// run leads packets through every chain that they come to. Each of them may rewrite
// what another one let pass.
func (t *natTables) run(flows natFlows, carried func(natRule) bool) []natHit {
	var out []natHit
	for _, name := range t.based {
		w := &natWalk{tables: t.unordered(name), carried: carried}
		four, six := natFlows{}, natFlows{}
		four.from, six.from = byFamily(flows.from)
		four.to, six.to = byFamily(flows.to)
		for _, f := range []natFlows{four, six} {
			if len(f.from) > 0 && len(f.to) > 0 && natFamily(name, len(six.to) > 0 && f.to[0] == six.to[0]) {
				w.chain(name, []natFlows{f}, true, 0)
			}
		}
		if w.steps <= maxNATSteps {
			out = append(out, w.hits...)
		}
	}
	return out
}

// unordered moves what leaves packets alone before what rewrites them where two
// that run at one time set them.
func (t *natTables) unordered(name string) *natTables {
	list := t.chains[name]
	var first []natRule
	for i, r := range list {
		if r.verdict == natRewrites || r.verdict == natNothing || r.actor == "" {
			continue
		}
		if slices.ContainsFunc(list[:i], func(before natRule) bool { return before.actor != "" && before.actor != r.actor }) {
			first = append(first, r)
		}
	}
	if len(first) == 0 {
		return t
	}
	out := &natTables{chains: map[string][]natRule{}, based: t.based}
	for chain, rules := range t.chains {
		out.chains[chain] = rules
	}
	out.chains[name] = append(first, list...)
	return out
}

// exempts are the destinations that some rule leaves alone, wherever it stands: other
// rules of the node may stand before or behind it.
func (t *natTables) exempts(flows natFlows) []netip.Prefix {
	var out []netip.Prefix
	for _, rules := range t.chains {
		for _, r := range rules {
			if r.never || r.verdict == natRewrites || r.verdict == natNothing || r.verdict == natJumps {
				continue
			}
			taken, _ := r.split([]natFlows{flows})
			for _, f := range taken {
				out = append(out, f.to...)
			}
		}
	}
	return out
}

func byFamily(list []netip.Prefix) (four, six []netip.Prefix) {
	for _, p := range list {
		if p.Addr().Is4() {
			four = append(four, p)
		} else {
			six = append(six, p)
		}
	}
	return four, six
}

// natFamily: packets of the family come to a chain of this name.
func natFamily(chain string, six bool) bool {
	family, _, _ := strings.Cut(chain, " ")
	return family == "inet" || (family == "ip6") == six
}
