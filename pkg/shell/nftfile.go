package shell

import (
	"slices"
	"strings"
)

// NFTRules reads a call of nft with all its rules: those on the command line,
// or, for nft -f -, those of a here-document or of what is printed into it. A
// file, and what cannot be read to its end, is one opaque rule.
func NFTRules(c *Command) (rules []*NFTRule, ok bool) {
	rule, ok := NFT(c)
	if !ok {
		return nil, false
	}
	text, at := "", commandPlace(c)
	switch {
	case !rule.Opaque:
		for _, w := range c.args() {
			if !strings.HasPrefix(w.Text, "-") || text != "" {
				text += w.Text + " "
			}
		}
		if rules, whole := nftText(c, text, commandPlace(c)); whole && len(rules) > 1 {
			return rules, true
		}
		return []*NFTRule{rule}, true
	case rule.File.Text == "-" || rule.File.Text == "/dev/stdin":
		in, reads := StandardInput(c)
		if !reads {
			return []*NFTRule{rule}, true
		}
		if in.File != "" {
			rule.File = Word{Text: in.File, Known: in.Known}
			return []*NFTRule{rule}, true
		}
		if text = in.Text; c.PipedFrom == nil {
			at = c.hereDoc
		}
	default:
		return []*NFTRule{rule}, true
	}
	r := &nftReader{command: c, defined: map[string]string{}}
	broken := r.read(text, at)
	if broken < 0 {
		if bad := r.refused; bad != nil && len(r.rules) > 0 {
			r.rules[0].block = bad
		}
		return r.rules, true
	}
	rule.Broken = lineAt(text, broken, at)
	return []*NFTRule{rule}, true
}

// lineAt is what is left of a line of a text from an offset on.
func lineAt(text string, offset int, at place) Word {
	line, _, _ := strings.Cut(text[offset:], "\n")
	line = strings.TrimRight(line, " \t\r")
	w := Word{Text: line, Known: true, Arg: at.arg}
	w.Start, w.End = at.of(offset, offset+len(line))
	return w
}

// NFTFile reads the text of a file of nft that a command loads. What stands
// elsewhere or makes no sense ends it: broken is the offset of that in the text, -1
// for none. Of a file of which nft refuses a word it loads nothing.
func NFTFile(c *Command, text string) (rules []*NFTRule, broken int, refused *Refusal) {
	r := &nftReader{command: c, defined: map[string]string{}, loaded: true}
	if broken = r.read(text, place{exact: true, arg: c.Arg}); broken >= 0 {
		return nil, broken, nil
	}
	return r.rules, -1, r.refusal()
}

// commandPlace is that of words which stand in none of the command's.
func commandPlace(c *Command) place { return place{start: c.Start, end: c.End, arg: c.Arg} }

// nftBlock is a table or a chain that is open.
type nftBlock struct {
	object, family, table, chain, hook string
}

// nftReader reads a file of nft: statements as on the command line, and tables
// and chains in braces.
type nftReader struct {
	command *Command
	open    []nftBlock
	words   []Word
	rules   []*NFTRule
	// opened are the offsets at which the open blocks begin.
	opened []int
	// loaded: the text is that of a file that the command loads.
	loaded bool
	// defined are the names of define, with their values.
	defined map[string]string
	// named are all names of define, those in blocks too.
	named []string
	// refused is the first word of a block or a name that nft refuses.
	refused *Refusal
}

// nftText reads the text of a file; false when a part of it stands elsewhere or
// makes no sense. at is where it stands.
func nftText(c *Command, text string, at place) (rules []*NFTRule, whole bool) {
	r := &nftReader{command: c, defined: map[string]string{}}
	if r.read(text, at) >= 0 {
		return nil, false
	}
	return r.rules, true
}

// read reads a text that stands at a place; it returns the offset at which it makes
// no sense, of a block that is not closed its head, and -1 for none.
func (r *nftReader) read(text string, at place) (broken int) {
	length, statement := len(text), 0
	for text != "" {
		if len(r.words) == 0 {
			statement = length - len(text)
		}
		switch ch := text[0]; {
		case ch == '\n' || ch == ';':
			if !r.end() {
				return statement
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
			r.opened = append(r.opened, statement)
			text = text[1:]
		case ch == '}':
			if !r.end() || len(r.open) == 0 {
				return statement
			}
			r.open, r.opened = r.open[:len(r.open)-1], r.opened[:len(r.opened)-1]
			text = text[1:]
		default:
			n := nftWord(text)
			if n == 0 {
				return statement
			}
			word := strings.Trim(text[:n], `"`)
			begin := length - len(text) + strings.Index(text[:n], word)
			start, end := at.of(begin, begin+len(word))
			name, isName := strings.CutPrefix(word, "$")
			if value, has := r.defined[name]; has && isName {
				word = value
			} else if isName && r.loaded && isVariableName(name) && !slices.Contains(r.named, name) && !r.definesElsewhere() {
				r.refuses(Word{Text: word, Arg: at.arg, Start: start, End: end, Loaded: true}, "nothing in the file defines it", near(name, r.named))
			}
			r.words = append(r.words, Word{Text: word, Known: !strings.Contains(word, "$"), Arg: at.arg, Start: start, End: end, Loaded: r.loaded})
			text = text[n:]
		}
	}
	switch {
	case !r.end():
		return statement
	case len(r.opened) > 0:
		return r.opened[len(r.opened)-1]
	}
	return -1
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

// refusal is the first thing that nft refuses of the text.
func (r *nftReader) refusal() *Refusal {
	first := r.refused
	for _, rule := range r.rules {
		if bad := rule.refused(); bad != nil && (first == nil || bad.Word.Start < first.Word.Start) {
			first = bad
		}
	}
	return first
}

// refuses notes what nft refuses of the text besides its rules.
func (r *nftReader) refuses(w Word, why, meant string) {
	if r.refused == nil && !filledLater(w) {
		r.refused = refuse(w, why, meant)
	}
}

// definesElsewhere: the command line may define names.
func (r *nftReader) definesElsewhere() bool {
	return slices.ContainsFunc(r.command.args(), func(w Word) bool {
		return !w.Known || strings.HasPrefix(w.Text, "-D") || strings.HasPrefix(w.Text, "--define")
	})
}

func isVariableName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// nftBlocks are what stands before a brace, of which a set is none of the rules.
var nftBlocks = []string{"table", "chain", "set", "map", "flowtable", "counter", "quota", "limit"}

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
	if meant := near(b.object, []string{"table", "chain"}); meant != "" && meant != b.object && !slices.Contains(nftBlocks, b.object) {
		r.refuses(words[0], "nft has no such block", meant)
		b.object = meant
	}
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
		if b.table = rest[0].Text; len(rest) > 1 && near(b.table, nftFamilies) != "" {
			r.refuses(rest[0], "nft has no such family", near(b.table, nftFamilies))
		}
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
	if words[0].Text == "include" || len(words) == 1 && !words[0].Known {
		return false // rules that stand elsewhere
	}
	rule := &NFTRule{Op: "add", Object: "rule", Family: "ip", Known: known(words), Command: r.command}
	switch {
	case words[0].Text == "define" || words[0].Text == "redefine" || words[0].Text == "undefine":
		if len(words) > 1 {
			r.named = append(r.named, words[1].Text)
		}
		if len(r.open) == 0 && len(words) == 4 && words[2].Text == "=" && words[3].Known {
			r.defined[words[1].Text] = words[3].Text
		}
		return true
	case len(r.open) == 0:
		rule.read(words)
	case r.open[len(r.open)-1].object == "table" && (words[0].Text == "chain" || words[0].Text == "set" || words[0].Text == "map"):
		return false // its brace is missing
	case r.open[len(r.open)-1].object != "chain":
		return true
	default:
		b := r.open[len(r.open)-1]
		rule.Family, rule.Table, rule.Chain, rule.Body = b.family, b.table, b.chain, words
		switch words[0].Text {
		case "type", "policy", "comment", "devices":
			rule.Object = "chain"
		}
		rule.Hook = b.hook
		rule.verdict()
		r.open[len(r.open)-1].hook = rule.Hook
	}
	r.rules = append(r.rules, rule)
	return true
}
