package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
)

// natReader reads the rules of nat that the scripts of a pod set, in the order in
// which they run.
type natReader struct {
	tables *natTables
	c      *containerView
	actor  string
}

// natRules reads the pod's scripts, and those that the daemon of a tunnel runs when
// the tunnel comes up. What ends a container or asks how it is does not count.
func natRules(p *podView, t *Tunnel) *natTables {
	r := &natReader{tables: &natTables{chains: map[string][]natRule{}}}
	for _, c := range p.containers {
		r.c = c
		for _, cmd := range c.commands() {
			switch cmd.script.Kind {
			case scriptPreStop, scriptProbe:
				continue
			case scriptPostStart:
				r.actor = c.c.Name + " after its start"
			default:
				r.actor = c.c.Name
			}
			if c.c.Stage == Init {
				r.actor = ""
			}
			r.command(cmd)
		}
	}
	for _, c := range p.containers {
		if c.c.Name == t.Container {
			r.c, r.actor = c, c.c.Name
			for _, up := range t.updown {
				r.updown(up, t)
			}
		}
	}
	return r.tables
}

// updown reads a script that strongSwan or Libreswan runs for a connection, with the
// selectors in variables. Their own, ipsec _updown, writes no rules of nat.
func (r *natReader) updown(up hookScript, t *Tunnel) {
	fields := strings.Fields(up.text)
	if len(fields) == 0 || path.Base(fields[0]) == "_updown" || len(fields) > 1 && fields[0] == "ipsec" && fields[1] == "_updown" {
		return
	}
	env := map[string]string{
		"PLUTO_VERB": "up-client", "PLUTO_CONNECTION": up.name, "PLUTO_INTERFACE": "eth0",
		"PLUTO_MY_CLIENT": selectorTexts(t.Local), "PLUTO_PEER_CLIENT": selectorTexts(t.Routes.Prefixes),
	}
	s, found := r.c.scriptFile(fields[0], env)
	if !found {
		r.tables.hidden = true // a part of the image
		return
	}
	s.Env = env
	for _, cmd := range r.c.commandsOf(s) {
		r.command(cmd)
	}
}

func selectorTexts(list []PrefixAt) string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		out = append(out, p.Prefix)
	}
	return strings.Join(out, ",")
}

func (r *natReader) command(cmd command) {
	switch {
	case cmd.opaque || r.c.hidden(cmd.runs()):
		r.tables.hidden = true
		return
	case cmd.cmd == nil || cmd.cmd.OtherNetNS:
		return
	case cmd.cmd.Refused != nil:
		_, isTables := shell.IPTables(cmd.cmd)
		r.tables.hidden = r.tables.hidden || isTables || cmd.name() == "nft"
		return
	}
	if state, _ := cmd.reached(); state == Absent {
		return
	}
	if file, loads := shell.Restores(cmd.cmd); loads {
		r.restore(cmd, file)
		return
	}
	if rule, is := shell.IPTables(cmd.cmd); is {
		r.iptables(rule, cmd)
		return
	}
	switch cmd.name() {
	case "ufw", "firewall-cmd", "shorewall", "shorewall-lite", "ferm", "firehol", "awall":
		r.tables.hidden = true
		return
	}
	rules, _, _, why := cmd.nftRules()
	if r.tables.hidden = r.tables.hidden || why.holds(); why.holds() {
		return
	}
	for _, rule := range rules {
		r.nft(rule, cmd)
	}
}

// restore takes what iptables-restore loads; the tables of it begin anew unless
// --noflush says otherwise.
func (r *natReader) restore(cmd command, file shell.Word) {
	rules, _, _, why := cmd.restored(file)
	if why.holds() {
		r.tables.hidden = true
		return
	}
	isNAT := func(rule *shell.IPTablesRule) bool { return rule.Table == "nat" }
	if slices.ContainsFunc(rules, isNAT) && !slices.ContainsFunc(cmd.args(), func(a string) bool { return a == "-n" || a == "--noflush" }) {
		family := "ip "
		if strings.HasPrefix(cmd.name(), "ip6") {
			family = "ip6 "
		}
		r.tables.flush(family, "")
	}
	for _, rule := range rules {
		r.iptables(rule, cmd)
	}
}

// iptables takes one call. A rule of which a word is not known may be anything that
// the known ones leave open.
func (r *natReader) iptables(rule *shell.IPTablesRule, cmd command) {
	if rule.Op == "" && unknownWord(rule) || strings.Contains(rule.Table, "$") || rule.Table == "nat" && strings.Contains(rule.Chain, "$") {
		r.tables.hidden = true
		return
	}
	if rule.Table != "nat" {
		return
	}
	family := "ip "
	if rule.IPv6 {
		family = "ip6 "
	}
	chain := family + rule.Chain
	if rule.Chain == "POSTROUTING" {
		r.tables.base(chain)
	}
	switch rule.Op {
	case "F":
		if rule.Chain == "" {
			chain = ""
		}
		r.tables.flush(family, chain)
	case "D":
		r.tables.drop(chain, rule.Number, ruleText(cmd, rule.Op))
	case "I":
		r.tables.put(chain, max(rule.Number, 1), r.rule(rule, cmd, family))
	case "R":
		r.tables.drop(chain, rule.Number, "")
		r.tables.put(chain, rule.Number, r.rule(rule, cmd, family))
	case "A":
		r.tables.put(chain, 0, r.rule(rule, cmd, family))
	}
}

// ruleText is a rule without what says where it goes, so that the call that deletes
// it has the same.
func ruleText(cmd command, op string) string {
	var out []string
	for _, w := range cmd.words {
		if w.Text != "-"+op && w.Text != "-w" && w.Text != "--wait" {
			out = append(out, w.Text)
		}
	}
	return strings.Join(out, " ")
}

func (r *natReader) rule(rule *shell.IPTablesRule, cmd command, family string) natRule {
	out := natRule{
		from: natMatchOf(rule.Source), to: natMatchOf(rule.Destination), actor: r.actor,
		ref: cmd.ref(), text: ruleText(cmd, rule.Op), says: clip(cmd.says()),
		never: otherInterface(rule.Out) || localTypes(rule),
		maybe: !cmd.certain() && !rule.Ensured || len(rule.Unread) > 0 || rule.Mark.Set || rule.State.Set || rule.Owner.Set || rule.In.Set ||
			unknownWord(rule) || rule.Out.Set && !rule.Out.Known,
	}
	switch rule.Target {
	case "MASQUERADE":
		out.verdict, out.own = natRewrites, true
	case "SNAT":
		out.verdict = natRewrites
		r.takes(&out, rule.ToSource, cmd)
	case "NETMAP":
		out.verdict, out.maybe = natRewrites, true
	case "ACCEPT":
		out.verdict = natAccepts
	case "RETURN":
		out.verdict = natReturns
	case "":
		if unknownWord(rule) {
			out.verdict = natOpen
		}
	case "LOG", "NFLOG", "MARK", "CONNMARK", "TRACE", "TCPMSS":
	default:
		if strings.Contains(rule.Target, "$") {
			out.verdict = natOpen
			break
		}
		out.verdict, out.chain = natJumps, family+rule.Target
	}
	if rule.Policy.Set {
		ipsec := rule.Policy.Text == "ipsec"
		if rule.PolicyDir == "out" && rule.Policy.Known && (ipsec || rule.Policy.Text == "none") {
			out.never = out.never || ipsec == rule.Policy.Negate
		} else {
			out.maybe = true
		}
	}
	out.never = out.never || rule.SourcePorts.Set || rule.DestinationPorts.Set // a small part of a tunnel
	protocol(&out, rule.Protocol)
	return out
}

// protocol: tunnels carry any. Their own transport is no packet that they carry, and
// what leaves one whole protocol alone may be half of a pair.
func protocol(out *natRule, m shell.Match) {
	switch name := strings.ToLower(strings.Trim(m.Text, ";")); {
	case !m.Set || name == "all" || name == "0":
	case !m.Known:
		out.maybe = true
	case m.Negate || name == "tcp" || name == "udp" || name == "6" || name == "17" || strings.Contains(name, ","):
		out.part = true
	default:
		out.never = true // esp, ah, icmp and the like
	}
}

// unknownWord: a word of the rule is not known that is none of the values which are
// looked at by themselves.
func unknownWord(rule *shell.IPTablesRule) bool {
	if rule.Known {
		return false
	}
	for _, w := range rule.Command.Words {
		if w.Known || rule.Comment == w.Text {
			continue
		}
		if w == rule.Source.Word || w == rule.Destination.Word || w == rule.Out.Word || w == rule.ToSource || w == rule.Protocol.Word {
			continue
		}
		return true
	}
	return false
}

// otherInterface: packets that leave by it are not those of a policy-based tunnel,
// which leave by the pod's own interface.
func otherInterface(out shell.Match) bool {
	if !out.Set || !out.Known {
		return false
	}
	name := strings.Trim(out.Text, `"`)
	tunnel := name == "lo" || slices.ContainsFunc([]string{"tun", "tap", "wg", "ppp", "ipsec", "vti", "xfrm", "gre", "docker", "tailscale", "nebula"}, func(stem string) bool {
		return strings.HasPrefix(name, stem)
	})
	return tunnel != out.Negate
}

// localTypes: the rule is for packets to or from the pod itself.
func localTypes(rule *shell.IPTablesRule) bool {
	local := func(m shell.Match) bool { return m.Set && m.Text == "LOCAL" && !m.Negate }
	return local(rule.AddrType) || local(rule.SourceType)
}

// takes notes the address that takes the source's place.
func (r *natReader) takes(out *natRule, to shell.Word, cmd command) {
	text, _, _ := strings.Cut(to.Text, "-") // of a range the first one
	if to.Known {
		text = strings.Trim(text, "[]")
		if m := natMatchOf(shell.Match{Word: shell.Word{Text: text, Known: true}, Set: true}); !m.unknown && len(m.list) == 1 {
			out.source = m.list
			return
		}
		if host, _, has := strings.Cut(text, ":"); has { // with a port
			if m := natMatchOf(shell.Match{Word: shell.Word{Text: host, Known: true}, Set: true}); !m.unknown && len(m.list) == 1 {
				out.source = m.list
				return
			}
		}
	}
	if out.own = r.ownAddress(to.Text, cmd, 0); !out.own {
		out.maybe = true
	}
}

// ownAddress: the text stands for the pod's own address, asked for by a command or
// given by the downward API.
func (r *natReader) ownAddress(text string, cmd command, hops int) bool {
	text = strings.Trim(text, `"`)
	if strings.HasPrefix(text, "$(") || strings.HasPrefix(text, "`") {
		return asksOwnAddress(text)
	}
	if host, _, has := strings.Cut(text, ":"); has && strings.HasPrefix(host, "$") && !strings.Contains(host, "{") {
		text = host // with ports
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "$"), "{"), "}")
	if !strings.HasPrefix(text, "$") || !isVariableName(name) || hops > 2 {
		return false
	}
	for _, e := range r.c.spec.get("env").items() {
		if e.get("name").text() == name {
			field := e.get("valueFrom", "fieldRef", "fieldPath").text()
			return field == "status.podIP" || field == "status.podIPs"
		}
	}
	in := cmd.script.Text
	if cmd.script.argv != nil && cmd.cmd.Arg >= 0 && cmd.cmd.Arg < len(cmd.script.argv) {
		in = cmd.script.argv[cmd.cmd.Arg].Text
	}
	from := -1
	for i := range in {
		if strings.HasPrefix(in[i:], name+"=") && (i == 0 || strings.IndexByte(" \t\n;&", in[i-1]) >= 0) {
			if from >= 0 {
				return false // set twice
			}
			from = i + len(name) + 1
		}
	}
	if from < 0 {
		return false
	}
	set, _, _ := strings.Cut(in[from:], "\n")
	return r.ownAddress(set, cmd, hops+1)
}

// asksOwnAddress knows the ways of scripts to ask for the pod's own address.
func asksOwnAddress(text string) bool {
	words := strings.FieldsFunc(text, func(ch rune) bool { return strings.ContainsRune(" \t$()`|;\"'", ch) })
	for i, w := range words {
		after := words[i+1:]
		switch w {
		case "hostname":
			return len(after) > 0 && (strings.HasPrefix(after[0], "-i") || strings.HasPrefix(after[0], "-I") || after[0] == "--ip-address" || after[0] == "--all-ip-addresses")
		case "ifconfig":
			return true
		case "ip":
			for j, a := range after[:min(len(after), 5)] {
				switch a {
				case "a", "addr", "address":
					return true
				case "route", "r", "ro":
					return j+1 < len(after) && after[j+1] == "get"
				}
			}
			return false
		}
	}
	return false
}
