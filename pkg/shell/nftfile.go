package shell

import "strings"

// NFTRules reads a call of nft with all its rules: the one on the command line,
// or, for nft -f -, those of a here-document whose text is known. What cannot be
// read to its end is one opaque rule.
func NFTRules(c *Command) (rules []*NFTRule, ok bool) {
	rule, ok := NFT(c)
	if !ok {
		return nil, false
	}
	if rule.Opaque && rule.readsInput() && c.HereDocKnown {
		if rules, whole := nftText(c, c.HereDoc); whole {
			return rules, true
		}
	}
	return []*NFTRule{rule}, true
}

// readsInput: the file is standard input.
func (r *NFTRule) readsInput() bool {
	args := r.Command.args()
	for i, w := range args {
		name, joined := strings.CutPrefix(w.Text, "--file=")
		if !joined && (w.Text == "-f" || w.Text == "--file") && i+1 < len(args) {
			name = args[i+1].Text
		}
		if name == "-" || name == "/dev/stdin" {
			return true
		}
	}
	return false
}

// nftBlock is a table or a chain that is open.
type nftBlock struct {
	object, family, table, chain string
}

// nftReader reads a file of nft: statements as on the command line, and tables
// and chains in braces.
type nftReader struct {
	command *Command
	open    []nftBlock
	words   []Word
	rules   []*NFTRule
}

// nftText reads the text of a file; false when a part of it stands elsewhere or
// makes no sense.
func nftText(c *Command, text string) (rules []*NFTRule, whole bool) {
	r := &nftReader{command: c}
	for text != "" {
		switch ch := text[0]; {
		case ch == '\n' || ch == ';':
			if !r.end() {
				return nil, false
			}
			text = text[1:]
		case ch == '#':
			_, text, _ = strings.Cut(text, "\n")
			text = "\n" + text
		case ch == ' ' || ch == '\t' || ch == '\r':
			text = text[1:]
		case strings.HasPrefix(text, "\\\n"):
			text = text[2:]
		case ch == '{' && r.opens():
			text = text[1:]
		case ch == '}':
			if !r.end() || len(r.open) == 0 {
				return nil, false
			}
			r.open = r.open[:len(r.open)-1]
			text = text[1:]
		default:
			n := nftWord(text)
			if n == 0 {
				return nil, false
			}
			// A name from a define or of another file is not known here.
			word := strings.Trim(text[:n], `"`)
			r.words = append(r.words, Word{Text: word, Known: !strings.Contains(word, "$"), Arg: c.Arg})
			text = text[n:]
		}
	}
	return r.rules, r.end() && len(r.open) == 0
}

// nftWord is the length of the word at the beginning: a quoted string, a set in
// braces, or what stands up to the next separator; 0 for one that never ends.
func nftWord(text string) int {
	switch text[0] {
	case '"':
		if i := strings.IndexByte(text[1:], '"'); i >= 0 {
			return i + 2
		}
		return 0
	case '{':
		return strings.IndexByte(text, '}') + 1
	}
	if i := strings.IndexAny(text, " \t\r\n;{}\""); i >= 0 {
		return i
	}
	return len(text)
}

// opens: the words so far are the head of a table, chain or set in braces.
func (r *nftReader) opens() bool {
	words := r.words
	if len(words) > 0 && (words[0].Text == "add" || words[0].Text == "create") {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	b := nftBlock{object: words[0].Text, family: "ip"}
	if len(r.open) > 0 {
		if r.open[len(r.open)-1].object != "table" {
			return false
		}
		b.family, b.table = r.open[len(r.open)-1].family, r.open[len(r.open)-1].table
	}
	rest := words[1:]
	switch rest[0].Text {
	case "ip", "ip6", "inet", "arp", "bridge", "netdev":
		b.family, rest = rest[0].Text, rest[1:]
	}
	if len(rest) == 0 {
		return false
	}
	switch b.object {
	case "table":
		b.table = rest[0].Text
	case "chain":
		if b.table == "" {
			b.table = rest[0].Text
		}
		b.chain = rest[len(rest)-1].Text
	case "set", "map", "flowtable", "counter", "quota", "limit":
		// What stands in it are no rules.
	default:
		return false
	}
	r.open = append(r.open, b)
	r.words = nil
	return true
}

// end takes the words so far as a statement; false for one that reads another
// file.
func (r *nftReader) end() bool {
	words := r.words
	r.words = nil
	if len(words) == 0 {
		return true
	}
	if words[0].Text == "include" {
		return false
	}
	rule := &NFTRule{Op: "add", Object: "rule", Family: "ip", Known: known(words), Command: r.command}
	switch {
	case len(r.open) == 0 && (words[0].Text == "define" || words[0].Text == "redefine" || words[0].Text == "undefine"):
		return true
	case len(r.open) == 0:
		rule.read(words)
	case r.open[len(r.open)-1].object != "chain":
		return true
	default:
		b := r.open[len(r.open)-1]
		rule.Family, rule.Table, rule.Chain, rule.Body = b.family, b.table, b.chain, words
		switch words[0].Text {
		case "type", "policy", "comment", "devices":
			rule.Object = "chain"
		}
		rule.verdict()
	}
	r.rules = append(r.rules, rule)
	return true
}
