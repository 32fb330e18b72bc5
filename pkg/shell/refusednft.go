package shell

import (
	"slices"
	"strconv"
	"strings"
)

// What stands at the beginning of a statement of nft.
var (
	nftOps     = words("add create insert replace delete destroy get list reset flush rename export import monitor describe")
	nftObjects = words(`table chain rule set map element flowtable counter quota ct limit secmark synproxy ruleset tables chains rules sets maps
		flowtables counters quotas limits hooks meter meters tunnel`)
	nftFamilies = words("ip ip6 inet arp bridge netdev")
	nftHooks    = words("prerouting input forward output postrouting ingress egress")
	nftTypes    = words("filter nat route")
	nftOrders   = words("raw mangle dstnat filter security srcnat out")
)

// nftStatements are the words with which a part of a rule begins and that mean
// something here: one that is near them is a slip.
var nftStatements = words(`masquerade snat dnat redirect accept drop reject return continue queue jump goto counter notrack comment
	oifname iifname saddr daddr sport dport meta limit`)

// nftOpen are words with which no rule ends.
var nftOpen = words("to saddr daddr oifname iifname oif iif sport dport jump goto ip ip6 meta ct !=")

// nftFields are the fields of ct and meta.
var nftFields = map[string][]string{
	"ct": words(`state status direction mark expiration helper label l3proto saddr daddr protocol proto-src proto-dst bytes packets avgpkt zone id
		original reply event timeout expectation count secmark ip ip6 eventmask`),
	"meta": words(`length protocol priority random secmark nfproto l4proto mark iif iifname iiftype oif oifname oiftype skuid skgid nftrace rtclassid
		ibrname obrname ibriport obriport iifgroup oifgroup pkttype cpu cgroup ipsec secpath time day hour sdif sdifname iifkind oifkind
		ibrpvid ibrvproto ibrhwaddr broute set`),
}

// nftWords are all other words of the language, so that none of them is taken for a
// slip.
var nftWords = words(`log level prefix group snaplen flags packets bytes rate over burst second minute hour day week with tcp udp udplite
	icmp icmpv6 icmpx igmp type code reset port unreachable ip ip6 inet arp bridge netdev ether vlan ct state status direction original reply helper
	label zone expiration proto avgpkt count mark iif oif iifgroup oifgroup skuid skgid nftrace rtclassid pkttype cpu cgroup secpath ipsec
	random persistent fully-random to from dup fwd device tproxy osf synproxy socket transparent wildcard rt mtu maxseg size set map vmap
	option dst hash jhash symhash numgen inc mod offset exthdr frag hbh mh ah esp comp sctp dccp th fib addrtype local unicast
	multicast broadcast anycast blackhole exists missing established related new invalid untracked dnat snat assured confirmed expected
	and or xor not eq ne lt gt le ge lshift rshift add update delete timeout expires name quota used until connlimit flow offload
	dynamic interval last key nexthdr length protocol priority version dscp ecn ttl id hoplimit checksum sequence l4proto nfproto
	ibrname obrname ibriport obriport day host time sdif sdifname exists echo-request echo-reply mss window sack nop eol fin syn rst
	psh ack urg cwr all bypass fanout in out spi reqid saddr daddr nexthop classid bank index handle continue reject accept drop
	secmark synproxy device devices hook policy elements typeof constant auto-merge second dport sport`)

// refusedNFT says what nft refuses of the rules on a command line; those of a file
// are looked at where that is read.
func refusedNFT(c *Command) *Refusal {
	rules, _ := NFTRules(c)
	for _, r := range rules {
		if bad := r.refused(); bad != nil {
			return bad
		}
	}
	return nil
}

// refused says what nft refuses of a statement.
func (r *NFTRule) refused() *Refusal {
	switch {
	case r.Opaque || slices.ContainsFunc(r.Body, filledLater):
		return nil
	case r.block != nil:
		return r.block
	case len(r.head) > 0:
		if bad := refusedHead(r.head); bad != nil {
			return bad
		}
		if len(r.head) > 1 && r.Object == "rule" && r.head[1].Text != "rule" && slices.Contains(nftObjects, r.head[1].Text) {
			return nil // a counter, a flow table and the like, which are not read
		}
	}
	switch r.Op {
	case "add", "create", "insert", "replace", "":
	default:
		return nil
	}
	switch r.Object {
	case "chain":
		return refusedChain(r.Body)
	case "rule":
		if r.Known && r.Chain == "" && len(r.head) > 1 && !strings.Contains(r.head[0].Text, "{") {
			return refuse(r.head[len(r.head)-1], "a rule has a table, a chain and what it does", "")
		}
		return r.refusedRule()
	}
	return nil
}

// refusedHead looks at the operation and the object.
func refusedHead(head []Word) *Refusal {
	w := head[0]
	if !w.Known || strings.HasPrefix(w.Text, "-") {
		return nil
	}
	if !slices.Contains(nftOps, w.Text) {
		if slices.Contains(nftObjects, w.Text) || slices.Contains(nftFamilies, w.Text) {
			return nil // add is what it means
		}
		if meant := near(w.Text, nftOps); meant != "" {
			return refuse(w, "nft has no such operation", meant)
		}
		return nil
	}
	if len(head) < 2 || !head[1].Known {
		return nil
	}
	w = head[1]
	if slices.Contains(nftObjects, w.Text) || slices.Contains(nftFamilies, w.Text) || w.Text == "vmap" {
		return nil
	}
	if meant := near(w.Text, []string{"table", "chain", "rule", "ruleset", "element"}); meant != "" && len(head) > 2 && slices.Contains(nftFamilies, head[2].Text) {
		return refuse(w, "nft has no such object", meant)
	}
	return nil
}

// refusedChain looks at what makes a chain a base chain: "{ type nat hook postrouting
// priority 100; policy accept; }".
func refusedChain(body []Word) *Refusal {
	var list []Word
	for _, w := range body {
		w.Text = strings.Trim(w.Text, ";{}\\")
		if w.Text == "" {
			continue
		}
		if list = append(list, w); !w.Known {
			return nil
		}
	}
	p := &ipArgs{args: list}
	for p.more() {
		switch w := p.next(); w.Text {
		case "type":
			if bad := refusedHook(p, w); bad != nil {
				return bad
			}
		case "policy":
			if v := p.next(); v.Text != "accept" && v.Text != "drop" {
				return refuse(orWord(v, w), "a policy is accept or drop", near(v.Text, []string{"accept", "drop"}))
			}
		case "hook", "priority":
			return refuse(w, "the chain's type stands before it", "")
		default:
			if meant := near(w.Text, []string{"type", "policy"}); meant != "" && w.Text != "comment" {
				return refuse(w, "nft has no such word for a chain", meant)
			}
			return nil
		}
	}
	return nil
}

func orWord(w, or Word) Word {
	if w.Text == "" {
		return or
	}
	return w
}

// refusedHook reads "nat hook postrouting priority 100" behind type.
func refusedHook(p *ipArgs, at Word) *Refusal {
	kind := orWord(p.next(), at)
	if !slices.Contains(nftTypes, kind.Text) {
		return refuse(kind, "a chain's type is filter, nat or route", near(kind.Text, nftTypes))
	}
	word := orWord(p.next(), kind)
	if word.Text != "hook" {
		return refuse(word, "the word hook stands behind a chain's type", "")
	}
	hook := orWord(p.next(), word)
	switch {
	case !slices.Contains(nftHooks, hook.Text):
		return refuse(hook, "nft has no such hook", near(hook.Text, nftHooks))
	case kind.Text == "nat" && (hook.Text == "forward" || hook.Text == "ingress" || hook.Text == "egress"), kind.Text == "route" && hook.Text != "output":
		return refuse(hook, "a chain of type "+kind.Text+" has no such hook", "")
	}
	for p.more() && p.peek().Text != "priority" {
		if w := p.next(); w.Text == "policy" || near(w.Text, []string{"priority"}) != "" {
			return refuse(w, "the word priority stands behind a chain's hook", "")
		}
	}
	if !p.more() {
		return refuse(hook, "a base chain has a priority", "")
	}
	w := p.next()
	order := orWord(p.next(), w)
	text := strings.TrimLeft(order.Text, "-+")
	if i := strings.IndexAny(text, "+-"); i > 0 { // dstnat-5
		text = text[:i]
	}
	if _, err := strconv.Atoi(text); err != nil && !slices.Contains(nftOrders, text) {
		return refuse(order, "it is no priority", near(text, nftOrders))
	}
	if op := p.peek().Text; op == "+" || op == "-" {
		p.next()
		p.next()
	}
	return nil
}

// refusedRule looks at the parts of a rule.
func (r *NFTRule) refusedRule() *Refusal {
	if len(r.head) == 0 && len(r.Body) > 1 && r.Body[0].Known {
		if meant := near(r.Body[0].Text, []string{"type", "policy"}); meant != "" && !slices.Contains(nftWords, r.Body[0].Text) {
			return refuse(r.Body[0], "nft has no such word for a chain", meant)
		}
	}
	if n := len(r.Body); n > 0 && slices.Contains(nftOpen, r.Body[n-1].Text) {
		return refuse(r.Body[n-1], "nothing stands behind it", "")
	}
	for _, e := range r.Exprs() {
		switch e.Key {
		case "ip saddr", "ip daddr", "ip6 saddr", "ip6 daddr":
			if e.Match.Known && !strings.Contains(e.Match.Text, "-") && !strings.ContainsAny(e.Match.Text, "&|") {
				if bad := badNetworks(e.Match.Word, strings.HasPrefix(e.Key, "ip6"), false); bad != nil {
					return bad
				}
			}
		case "tcp dport", "tcp sport", "udp dport", "udp sport":
			for _, p := range strings.Split(e.Match.Text, ",") {
				if why := badPort(p); e.Match.Known && why != "" {
					return refuse(e.Match.Word, why, "")
				}
			}
		default:
			if e.at.Text == "" || slices.Contains(nftWords, e.Key) || slices.Contains(nftStatements, e.Key) {
				continue
			}
			if meant := near(e.Key, nftStatements); meant != "" && len(e.Key) > 3 {
				return refuse(e.at, "nft has no such word", meant)
			}
		}
		field, of, two := strings.Cut(e.Key, " ")
		if fields := nftFields[field]; two && fields != nil && !slices.Contains(fields, of) && near(of, fields) != "" {
			return refuse(e.at, field+" has no such field", near(of, fields))
		}
		if two && (field == "ip" || field == "ip6") && !slices.Contains(nftWords, of) {
			if meant := near(of, []string{"saddr", "daddr"}); meant != "" {
				return refuse(e.at, field+" has no such field", meant)
			}
		}
	}
	return nil
}
