package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
)

// nft takes one statement of nft. Chains are told by their hook, or where they were
// made elsewhere by the name that everybody gives them.
func (r *natReader) nft(rule *shell.NFTRule, cmd command) {
	chain := rule.Family + " nft " + rule.Table + " " + rule.Chain
	table := rule.Family + " nft " + rule.Table + " "
	switch {
	case rule.Op == "list":
	case rule.Op == "flush" && rule.Object == "ruleset":
		for _, family := range []string{"ip nft ", "ip6 nft ", "inet nft "} {
			r.tables.flush(family, "")
		}
	case (rule.Op == "flush" || rule.Op == "delete" || rule.Op == "destroy") && rule.Object == "table":
		r.tables.flush(table, "")
	case rule.Op == "flush" && rule.Object == "chain", rule.Op == "delete" && rule.Object == "chain":
		r.tables.flush("", chain)
	case rule.Op == "delete", rule.Op == "replace":
		// By a handle that is known at run time only.
		r.tables.hidden = true
	case rule.Object == "chain":
		if nftPostrouting(rule.Body) {
			r.tables.base(chain)
		}
	case rule.Object != "rule":
	case rule.Op == "insert":
		at, whole := 1, *rule
		if len(rule.Body) > 1 && rule.Body[0].Text == "index" {
			n, _ := strconv.Atoi(rule.Body[1].Text)
			at, whole.Body = n+1, rule.Body[2:]
		}
		r.putNFT(chain, at, &whole, cmd)
	default:
		r.putNFT(chain, 0, rule, cmd)
	}
}

func (r *natReader) putNFT(chain string, at int, rule *shell.NFTRule, cmd command) {
	if strings.EqualFold(rule.Chain, "postrouting") {
		r.tables.base(chain)
	}
	r.tables.put(chain, at, r.nftRule(rule, cmd))
}

// nftPostrouting: type nat hook postrouting.
func nftPostrouting(body []shell.Word) bool {
	nat, hook := false, false
	for i := 0; i+1 < len(body); i++ {
		next := strings.Trim(body[i+1].Text, ";")
		nat = nat || body[i].Text == "type" && next == "nat"
		hook = hook || body[i].Text == "hook" && next == "postrouting"
	}
	return nat && hook
}

// nftRule reads the parts that tunnels' packets are told by. What else stands in a
// rule is a condition that cannot be told.
func (r *natReader) nftRule(rule *shell.NFTRule, cmd command) natRule {
	out := natRule{actor: r.actor, ref: cmd.ref(), says: clip(cmd.says()), maybe: !cmd.certain()}
	for _, e := range rule.Exprs() {
		switch e.Key {
		case "":
			out.maybe = true
			if out.verdict == natNothing {
				out.verdict = natOpen
			}
		case "masquerade":
			out.verdict, out.own = natRewrites, true
		case "snat":
			out.verdict = natRewrites
			r.takes(&out, e.To, cmd)
		case "accept":
			out.verdict = natAccepts
		case "return":
			out.verdict = natReturns
		case "jump", "goto":
			out.verdict = natJumps
			out.chain = rule.Family + " nft " + rule.Table + " " + e.To.Text
		default:
			nftCondition(&out, e)
		}
	}
	// A rule for one family's packets takes nothing of the other's.
	if rule.Family == "inet" && !out.from.set && !out.to.set {
		out.maybe = out.maybe || slices.ContainsFunc(rule.Exprs(), func(e shell.NFTExpr) bool { return strings.HasPrefix(e.Key, "ip6 ") })
	}
	return out
}

// nftCondition reads a condition on addresses, the protocol, the interface or the
// IPsec policy.
func nftCondition(out *natRule, e shell.NFTExpr) {
	missing := e.Match.Text == "missing" || e.Match.Text == "0"
	switch e.Key {
	case "ip saddr", "ip6 saddr":
		out.from = natMatchOf(e.Match)
	case "ip daddr", "ip6 daddr":
		out.to = natMatchOf(e.Match)
	case "ip protocol", "ip6 nexthdr", "meta l4proto":
		protocol(out, e.Match)
	case "meta nfproto":
		out.maybe = out.maybe || e.Match.Negate || e.Match.Text != "ipv4"
	case "oifname", "oif":
		out.never = out.never || nftOtherInterface(e.Match)
		out.maybe = out.maybe || !e.Match.Known
	case "tcp dport", "tcp sport", "udp dport", "udp sport":
		out.never = true
	case "fib type": // fib daddr type local: the pod itself
		out.never = out.never || e.Match.Text == "local" && !e.Match.Negate
	case "rt ipsec": // packets that a policy is for have one: missing takes none of them
		out.never = out.never || missing != e.Match.Negate
	case "meta ipsec", "meta secpath": // packets that came out of a tunnel, not those that go into one
		out.maybe = out.maybe || missing == e.Match.Negate
	default:
		out.maybe = true
	}
}

// nftOtherInterface is otherInterface for a name or a set of them.
func nftOtherInterface(m shell.Match) bool {
	own := false // one of them may be the pod's own
	for _, name := range strings.FieldsFunc(strings.Trim(m.Text, "{} "), func(ch rune) bool { return ch == ',' || ch == ' ' }) {
		own = own || !otherInterface(shell.Match{Word: shell.Word{Text: name, Known: true}, Set: true})
	}
	return m.Known && own == m.Negate
}
