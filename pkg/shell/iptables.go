package shell

import (
	"slices"
	"strconv"
	"strings"
)

// Match is the value of a rule's match, which may be negated.
type Match struct {
	Word
	Set    bool
	Negate bool
}

// IPTablesRule is one call of iptables or ip6tables.
type IPTablesRule struct {
	IPv6  bool
	Table string // filter if none is named
	Chain string
	// Op is the letter of the operation: A, I, D, R, P, F, N, X, C, E, L, S, Z;
	// "" if there is none.
	Op string
	// Source and Destination may be lists with commas.
	Source, Destination Match
	In, Out             Match
	Protocol            Match
	// SourcePorts and DestinationPorts also hold multiport lists.
	SourcePorts, DestinationPorts Match
	Mark                          Match
	AddrType                      Match // --dst-type
	SourceType                    Match // --src-type
	State                         Match // --state or --ctstate
	Policy                        Match // --pol
	PolicyDir                     string
	Owner                         Match // --uid-owner or --gid-owner
	// Target is MASQUERADE, SNAT, REJECT, DROP, ACCEPT, RETURN, MARK or a chain;
	// for Op P the policy.
	Target string
	Goto   bool
	// Number is the place that -I, -R and -D name, 0 for none.
	Number int
	// Unread are conditions that are on the rule and not here: a set, a limit.
	Unread   []string
	ToSource Word
	// ToDestination is that of DNAT; SetMark that of MARK.
	ToDestination Word
	SetMark       Word
	Comment       string
	// Modules are the matches that -m loads.
	Modules []string
	// Known: every word of the rule is known.
	Known bool
	// Ensured: the rule is there wherever the script goes on: the command is
	// unconditional, or answers an own -C of the same rule.
	Ensured bool
	Command *Command
}

// IPTables reads a call of iptables in any of its names. ok is false for other
// commands, and for iptables-save and -restore.
func IPTables(c *Command) (rule *IPTablesRule, ok bool) {
	r := &IPTablesRule{Table: "filter", Known: true, Command: c}
	switch c.Name() {
	case "iptables", "iptables-legacy", "iptables-nft":
	case "ip6tables", "ip6tables-legacy", "ip6tables-nft":
		r.IPv6 = true
	default:
		return nil, false
	}
	p := &ipArgs{args: c.args()}
	for p.more() {
		r.option(p)
	}
	for _, w := range c.Words {
		r.Known = r.Known && w.Known
	}
	r.Ensured = !c.Conditional || r.answersCheck(c)
	return r, true
}

// answersCheck: iptables -C RULE || iptables -A RULE, or the same with
// if ! iptables -C RULE.
func (r *IPTablesRule) answersCheck(c *Command) bool {
	if len(c.Conditions) != 1 || c.Conditions[0].Conditional {
		return false
	}
	check, ok := IPTables(c.Conditions[0])
	return ok && check.Op == "C" && check.Chain == r.Chain && check.Table == r.Table && check.Target == r.Target
}

// ipArgs walks over words.
type ipArgs struct {
	args   []Word
	at     int
	negate bool
}

func (p *ipArgs) more() bool { return p.at < len(p.args) }

func (p *ipArgs) next() Word {
	if p.at >= len(p.args) {
		return Word{}
	}
	p.at++
	return p.args[p.at-1]
}

func (p *ipArgs) peek() Word {
	if p.at >= len(p.args) {
		return Word{}
	}
	return p.args[p.at]
}

// match reads a match's value; "!" may stand before the option or, in the old
// spelling, before the value.
func (p *ipArgs) match() Match {
	m := Match{Set: true, Negate: p.negate}
	if p.peek().Text == "!" {
		p.next()
		m.Negate = !m.Negate
	}
	m.Word = p.next()
	return m
}

// chain reads the chain and, for some operations, a rule number.
func (r *IPTablesRule) chain(p *ipArgs, op string) {
	r.Op = op
	if w := p.peek(); w.Text != "" && !strings.HasPrefix(w.Text, "-") && w.Text != "!" {
		r.Chain = p.next().Text
	}
	switch op {
	case "P":
		r.Target = p.next().Text
	case "I", "D", "R":
		if w := p.peek(); isNumber(w.Text) {
			r.Number, _ = strconv.Atoi(w.Text)
			p.next()
		}
	case "E":
		p.next()
	}
}

// harmless are options that narrow no rule.
func harmless() []string {
	return []string{
		"--random", "--random-fully", "--persistent", "--verbose", "--numeric", "--ipv4", "--ipv6", "--strict", "--set-counters",
		"--line-numbers", "--exact", "--modprobe", "--wait-interval", "--save-mark", "--restore-mark", "--nfmask", "--ctmask",
	}
}

func isNumber(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

func (r *IPTablesRule) option(p *ipArgs) {
	w := p.next()
	text := w.Text
	if text == "!" {
		p.negate = true
		return
	}
	// Long options may hold their value after "=".
	if name, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "--") {
		text = name
		p.at--
		p.args = append([]Word(nil), p.args...)
		p.args[p.at] = Word{Text: value, Known: w.Known, Arg: w.Arg, Start: w.Start, End: w.End}
	} else if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		// -tnat, -jACCEPT
		if strings.IndexByte("tsdiopjmg", text[1]) >= 0 {
			p.at--
			p.args = append([]Word(nil), p.args...)
			p.args[p.at] = Word{Text: text[2:], Known: w.Known, Arg: w.Arg, Start: w.Start, End: w.End}
			text = text[:2]
		}
	}
	switch text {
	case "-t", "--table":
		r.Table = p.next().Text
	case "-A", "--append":
		r.chain(p, "A")
	case "-I", "--insert":
		r.chain(p, "I")
	case "-D", "--delete":
		r.chain(p, "D")
	case "-R", "--replace":
		r.chain(p, "R")
	case "-C", "--check":
		r.chain(p, "C")
	case "-P", "--policy":
		if r.Op == "" || p.peek().Text != "" && r.Chain == "" {
			r.chain(p, "P")
		}
	case "-F", "--flush":
		r.chain(p, "F")
	case "-N", "--new-chain", "--new":
		r.chain(p, "N")
	case "-X", "--delete-chain":
		r.chain(p, "X")
	case "-E", "--rename-chain":
		r.chain(p, "E")
	case "-L", "--list":
		r.chain(p, "L")
	case "-S", "--list-rules":
		r.chain(p, "S")
	case "-Z", "--zero":
		r.chain(p, "Z")
	case "-s", "--source", "--src":
		r.Source = p.match()
	case "-d", "--destination", "--dst":
		r.Destination = p.match()
	case "-i", "--in-interface":
		r.In = p.match()
	case "-o", "--out-interface":
		r.Out = p.match()
	case "-p", "--protocol", "--proto":
		r.Protocol = p.match()
	case "--sport", "--source-port", "--sports", "--source-ports":
		r.SourcePorts = p.match()
	case "--dport", "--destination-port", "--dports", "--destination-ports":
		r.DestinationPorts = p.match()
	case "--mark":
		r.Mark = p.match()
	case "--dst-type":
		r.AddrType = p.match()
	case "--src-type":
		r.SourceType = p.match()
	case "--state", "--ctstate":
		r.State = p.match()
	case "--pol":
		r.Policy = p.match()
	case "--dir":
		r.PolicyDir = p.next().Text
	case "--uid-owner", "--gid-owner":
		r.Owner = p.match()
	case "-j", "--jump":
		r.Target = p.next().Text
	case "-g", "--goto":
		r.Target, r.Goto = p.next().Text, true
	case "--to-source":
		r.ToSource = p.next()
	case "--to-destination":
		r.ToDestination = p.next()
	case "--set-mark", "--set-xmark", "--or-mark":
		r.SetMark = p.next()
	case "--comment":
		r.Comment = p.next().Text
	case "-m", "--match":
		r.Modules = append(r.Modules, p.next().Text)
	case "--reject-with", "--to-ports", "--limit", "--limit-burst", "--tcp-flags", "--icmp-type", "--log-prefix",
		"--log-level", "--hitcount", "--seconds", "--name", "-w", "--wait":
		if text == "-w" || text == "--wait" {
			if isNumber(p.peek().Text) {
				p.next()
			}
			break
		}
		p.next()
		switch text {
		case "--tcp-flags":
			p.next()
			fallthrough
		case "--limit", "--limit-burst", "--icmp-type", "--hitcount", "--seconds":
			r.Unread = append(r.Unread, text)
		}
	default:
		if strings.HasPrefix(text, "--") && !slices.Contains(harmless(), text) {
			r.Unread = append(r.Unread, text)
		}
	}
	p.negate = false
}
