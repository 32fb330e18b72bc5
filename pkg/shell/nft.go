package shell

import "strings"

// NFTRule is one statement of nft, of a command line or of a file of rules.
type NFTRule struct {
	// Opaque: the rules stand in a file or on standard input that is not known.
	Opaque bool
	// File is the file of an Opaque call, "-" for standard input.
	File Word
	// Op is add, insert, delete, flush, list...; Object table, chain or rule.
	Op, Object string
	// Family is ip, ip6 or inet ("ip" if none is named); Table and Chain as
	// written.
	Family, Table, Chain string
	// Hook is where packets come to the chain (output, postrouting), "" where the
	// statement does not say.
	Hook string
	// Verdict is masquerade, snat, accept, drop, reject, return, dnat; "" if
	// none stands there. For a chain it is its policy.
	Verdict string
	// Body is the rule after the chain.
	Body []Word
	// Known: every word is known.
	Known   bool
	Command *Command
	// Broken is the line of an Opaque here-document, or of what is printed into the
	// command, that is not to be understood; without a text for none.
	Broken Word
	// block is what nft refuses of the blocks around the rules, of the first of them.
	block *Refusal
	// head are the first words, none where a block says where the rule stands.
	head []Word
}

// NFT reads a call of nft with its rule on the command line.
func NFT(c *Command) (rule *NFTRule, ok bool) {
	if c.Name() != "nft" {
		return nil, false
	}
	r := &NFTRule{Family: "ip", Known: true, Command: c}
	var words []Word
	args := c.args()
	for i := 0; i < len(args); i++ {
		w := args[i]
		r.Known = r.Known && w.Known
		if name, joined := strings.CutPrefix(w.Text, "--file="); joined {
			r.Opaque, r.File = true, Word{Text: name, Known: w.Known, Arg: w.Arg, Start: w.Start, End: w.End}
			continue
		}
		if w.Text == "-f" || w.Text == "--file" {
			if r.Opaque = true; i+1 < len(args) {
				i++
				r.File = args[i]
			}
			continue
		}
		if w.Text == "-I" || w.Text == "--includepath" || w.Text == "-D" || w.Text == "--define" {
			i++
			continue
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
	switch first := p.peek().Text; first {
	case "table", "chain", "rule":
		r.Op = "add" // what nft does with an object that nothing is said of
	default:
		r.Op = p.next().Text
	}
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
	r.head, r.Body = words[:min(len(words), 5)], words[min(p.at, len(words)):]
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
		case "hook":
			if r.Object == "chain" && i+1 < len(r.Body) {
				r.Hook = strings.Trim(r.Body[i+1].Text, ";{}")
			}
		}
	}
}
