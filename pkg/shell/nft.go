package shell

import "strings"

// NFTRule is one call of nft.
type NFTRule struct {
	// Opaque: the rules stand in a file or on standard input that is not known.
	Opaque bool
	// Op is add, insert, delete, flush, list...; Object table, chain or rule.
	Op, Object string
	// Family is ip, ip6 or inet ("ip" if none is named); Table and Chain as
	// written.
	Family, Table, Chain string
	// Verdict is masquerade, snat, accept, drop, reject, return, dnat; "" if
	// none stands there. For a chain it is its policy.
	Verdict string
	// Body is the rule after the chain.
	Body []Word
	// Known: every word is known.
	Known   bool
	Command *Command
}

// NFT reads a call of nft with its rule on the command line.
func NFT(c *Command) (rule *NFTRule, ok bool) {
	if c.Name() != "nft" {
		return nil, false
	}
	r := &NFTRule{Family: "ip", Known: true, Command: c}
	var words []Word
	for _, w := range c.args() {
		r.Known = r.Known && w.Known
		if w.Text == "-f" || w.Text == "--file" || strings.HasPrefix(w.Text, "--file=") {
			r.Opaque = true
		}
		// nft takes a rule as one quoted word, too.
		for _, f := range strings.Fields(w.Text) {
			words = append(words, Word{Text: f, Known: w.Known, Arg: w.Arg, Start: w.Start, End: w.End})
		}
	}
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	if !r.Opaque {
		r.read(words)
	}
	return r, true
}

// read reads a statement, the options before it left out.
func (r *NFTRule) read(words []Word) {
	p := &ipArgs{args: words}
	r.Op = p.next().Text
	switch p.peek().Text {
	case "table", "chain", "rule", "ruleset", "set", "map", "element":
		r.Object = p.next().Text
	default:
		r.Object = "rule"
	}
	switch p.peek().Text {
	case "ip", "ip6", "inet", "arp", "bridge", "netdev":
		r.Family = p.next().Text
	}
	r.Table = p.next().Text
	if r.Object == "chain" || r.Object == "rule" {
		r.Chain = p.next().Text
	}
	r.Body = words[min(p.at, len(words)):]
	r.verdict()
}

func (r *NFTRule) verdict() {
	for i, w := range r.Body {
		switch v := strings.Trim(w.Text, ";{}"); v {
		case "masquerade", "snat", "dnat", "accept", "drop", "reject", "return":
			r.Verdict = v
		case "policy":
			if i+1 < len(r.Body) {
				r.Verdict = strings.Trim(r.Body[i+1].Text, ";{}")
			}
		}
	}
}
