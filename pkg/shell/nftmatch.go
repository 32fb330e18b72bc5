package shell

import (
	"slices"
	"strings"
)

// NFTMatch is what a rule of nft looks at, as far as it bears on where a packet
// goes.
type NFTMatch struct {
	// Out is the interface by which the packet leaves, Source and Destination are
	// addresses; a set is a list with commas.
	Out, Source, Destination Match
	// Part: it is for one protocol, port, user, state or family only.
	Part bool
	// Unclear: it looks at something else.
	Unclear bool
}

// NFTExpr is a part of a rule: a condition, or what becomes of the packet.
type NFTExpr struct {
	// Key is the field that a condition looks at ("ip saddr", "oifname", "meta
	// l4proto", "fib type") or the word of a verdict (masquerade, jump); a word that
	// is none of these as it stands, and "" for one that is not known.
	Key string
	// Match is what the field is compared with.
	Match Match
	// To is the address of masquerade, snat and dnat, and the chain of a jump.
	To Word
	// at is the last word of Key, as it is written.
	at Word
}

// Exprs reads the parts of a rule. What only counts or names is passed over.
func (r *NFTRule) Exprs() []NFTExpr {
	var out []NFTExpr
	p := &ipArgs{args: r.Body}
	for p.more() {
		w := p.next()
		if !w.Known {
			out = append(out, NFTExpr{})
			continue
		}
		e := NFTExpr{Key: strings.Trim(w.Text, ";"), at: w}
		switch e.Key {
		case "", "{", "}", "random", "fully-random", "persistent":
			continue
		case "comment":
			p.next()
			continue
		case "counter":
			p.nftOptions("packets", "bytes")
			continue
		case "log":
			p.nftOptions("prefix", "level", "flags", "group")
			continue
		case "oif", "oifname", "iif", "iifname", "mark", "skuid", "skgid":
			e.Match = p.nftMatch()
		case "meta":
			e.at = p.next()
			e.Key = e.at.Text
			switch e.Key {
			case "oif", "oifname", "mark":
			default:
				e.Key = "meta " + e.Key
			}
			e.Match = p.nftMatch()
		case "ip", "ip6", "ct", "tcp", "udp", "th", "icmp", "icmpv6", "rt":
			e.at = p.next()
			e.Key += " " + e.at.Text
			e.Match = p.nftMatch()
		case "fib":
			for p.more() && p.peek().Text != "type" {
				p.next()
			}
			e.Key += " " + p.next().Text
			e.Match = p.nftMatch()
		case "ipsec": // ipsec out ip daddr ...: of the transform's own addresses
			for p.more() && !nftVerdicts[p.peek().Text] {
				p.next()
			}
		case "masquerade", "snat", "dnat":
			if f := p.peek().Text; f == "ip" || f == "ip6" {
				p.next()
			}
			if p.peek().Text == "to" {
				p.next()
				e.To = p.next()
				e.To.Text = strings.Trim(e.To.Text, ";")
			}
		case "jump", "goto":
			e.To = p.next()
		}
		out = append(out, e)
	}
	return out
}

// nftVerdicts are the words that end the conditions of a rule.
var nftVerdicts = map[string]bool{
	"accept": true, "drop": true, "reject": true, "return": true, "masquerade": true, "snat": true, "dnat": true,
	"jump": true, "goto": true, "counter": true,
}

// nftOptions passes over options with a value each.
func (p *ipArgs) nftOptions(names ...string) {
	for slices.Contains(names, p.peek().Text) {
		p.next()
		p.next()
	}
}

// Matches reads the matches of a rule. Marks and the type of an address, with
// which a tunnel tells its own packets, are passed over.
func (r *NFTRule) Matches() NFTMatch {
	var m NFTMatch
	for _, e := range r.Exprs() {
		field, _, _ := strings.Cut(e.Key, " ")
		switch e.Key {
		case "masquerade", "snat", "dnat", "accept", "drop", "reject", "return":
			return m
		case "oif", "oifname":
			m.Out = e.Match
		case "ip saddr", "ip6 saddr":
			m.Source = e.Match
		case "ip daddr", "ip6 daddr":
			m.Destination = e.Match
		case "mark", "fib type":
		default:
			switch field {
			case "ip", "ip6", "meta", "ct", "tcp", "udp", "th", "icmp", "icmpv6", "skuid", "skgid", "iif", "iifname":
				m.Part = true
			default:
				m.Unclear = true
			}
		}
	}
	return m
}

// nftMatch reads an operator, if there is one, and a value.
func (p *ipArgs) nftMatch() Match {
	m := Match{Set: true}
	switch p.peek().Text {
	case "!=", "ne":
		m.Negate = true
		p.next()
	case "==", "eq":
		p.next()
	}
	m.Word = p.next()
	if strings.HasPrefix(m.Text, "{") { // on the command line a set is several words
		all := m.Text
		for !strings.HasSuffix(all, "}") && p.more() {
			w := p.next()
			m.Known = m.Known && w.Known
			all += w.Text
		}
		m.Text = all
	}
	m.Text = strings.NewReplacer(" ", "", `"`, "").Replace(strings.Trim(m.Text, "{} "))
	if strings.ContainsAny(m.Text, "@") {
		m.Known = false
	}
	return m
}
