package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// nftCommand reads a call of nft, and the file that it loads.
func (r *tunnelReader) nftCommand(c command, iface string) {
	rules, file, at, why := c.nftRules()
	c.file = file
	if state, _ := c.reached(); why.holds() && state != Absent {
		if slices.ContainsFunc(rules, func(rule *shell.NFTRule) bool { return r.refusedNFTSource(rule, c) }) {
			r.nothingLoaded()
			return
		}
		r.opaqueHook(command{script: script{Why: why, Ref: cmp.Or(at, c.ref())}})
		return
	}
	for _, rule := range rules {
		r.nftables(rule, c, iface)
	}
}

// nftRules returns the rules of a call of nft, those of the file that it loads too,
// and that file; why holds when some cannot be seen, or nft loads none, and then at is
// what hides them.
func (c command) nftRules() (out []*shell.NFTRule, file, at source.Ref, why reason) {
	rules, _ := shell.NFTRules(c.cmd)
	for _, rule := range rules {
		if !rule.Opaque {
			out = append(out, rule)
			continue
		}
		if rule.Broken.Text != "" {
			return out, file, c.wordRef(rule.Broken), because("parts of the rules that nft loads stand elsewhere or are not to be understood", noAdvice)
		}
		text, from, hidden := c.loads(rule.File)
		if hidden.holds() {
			return out, file, at, hidden
		}
		loaded, broken, bad := shell.NFTFile(c.cmd, text)
		switch {
		case broken >= 0:
			at, why = lineOf(from, text, broken), because("parts of the rules that nft loads stand elsewhere or are not to be understood", noAdvice)
		case bad != nil:
			c.file = from
			at, why = c.wordRef(bad.Word), refusalReason(bad)
		}
		out, file = append(out, loaded...), from
	}
	return out, file, at, why
}

// lineOf is what is left of a line of a file from an offset on.
func lineOf(file source.Ref, text string, start int) source.Ref {
	if file.IsZero() {
		return file
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	return file.Within(start, start+len(strings.TrimRight(line, " \t\r")))
}

// maxLoaded bounds the bytes of rules that the scripts of one container load.
const maxLoaded = 16 << 20

// loads is loaded within that bound.
func (c command) loads(file shell.Word) (text string, at source.Ref, why reason) {
	if text, at, why = c.loaded(file); c.in != nil && !why.holds() {
		if c.in.loadedBytes += len(text); c.in.loadedBytes > maxLoaded {
			return "", source.Ref{}, because("the rules that scripts load are too long to be read to their end", noAdvice)
		}
	}
	return text, at, why
}

// loaded returns the text of a file that a command reads: one that its script
// wrote before, or a mounted one, which stands at a place of its own. why holds when
// it cannot be seen.
func (c command) loaded(file shell.Word) (text string, at source.Ref, why reason) {
	unseen := func(why reason) (string, source.Ref, reason) { return "", source.Ref{}, why }
	name := file.Text
	switch {
	case name == "" || name == "-" || name == "/dev/stdin":
		return unseen(because("what "+c.says()+" reads is known at run time only", noAdvice))
	case !file.Known || !strings.HasPrefix(name, "/"):
		return unseen(because("which file "+c.says()+" reads is known at run time only", noAdvice))
	}
	if text, known, found := c.written(name); found {
		if !known {
			return unseen(because("what a script writes into "+name+" is known at run time only", noAdvice))
		}
		return text, source.Ref{}, reason{}
	}
	if c.in == nil {
		return unseen(notInTree("file "+name, noAdvice))
	}
	switch f := c.in.file(path.Clean(name)); f.State {
	case Present:
		return f.Text, f.Ref, reason{}
	case Unknown:
		return unseen(f.Why)
	default:
		return unseen(because("file "+name+" is a part of the image", lintFileInstead))
	}
}

// written returns what the commands before one put into a file.
func (c command) written(name string) (text string, known, found bool) {
	known = true
	const maxBefore = 1000
	list := c.before
	if n := len(list); n > maxBefore {
		list, known = list[n-maxBefore:], false
	}
	for _, b := range list {
		if b.cmd == nil {
			continue
		}
		in, appends, writes := shell.Writes(b.cmd, name)
		if !writes {
			continue
		}
		state, _ := b.reached()
		if state == Absent {
			continue
		}
		found = true
		if !appends && state == Present {
			text, known = "", true
		}
		if in.File != "" || in.Text == "" || state != Present {
			known = false
		}
		text += in.Text
	}
	return text, known, found
}

// nftables reads one statement: masquerading, and what stops packets on their
// way out.
func (r *tunnelReader) nftables(rule *shell.NFTRule, c command, iface string) {
	switch rule.Op {
	case "delete", "destroy", "flush", "list", "reset", "monitor", "":
		return
	}
	if rule.Object == "chain" {
		r.nftChain(rule, c)
		return
	}
	if rule.Object != "rule" {
		return
	}
	m := rule.Matches()
	switch rule.Verdict {
	case "masquerade", "snat":
		r.nftMasquerade(rule, m, c, iface)
	case "drop", "reject":
		r.nftStops(rule, m, c, iface)
	}
}

// nftChain notes where packets come to a chain, and the policy of the one that
// what leaves goes through.
func (r *tunnelReader) nftChain(rule *shell.NFTRule, c command) {
	if r.nftHooks == nil {
		r.nftHooks = map[string]string{}
	}
	if rule.Hook != "" {
		r.nftHooks[nftName(rule)] = rule.Hook
	}
	if rule.Verdict != "drop" || r.nftHook(rule) != "output" {
		return
	}
	r.stopsFamilies(c, rule.Family)
}

func nftName(rule *shell.NFTRule) string {
	return rule.Family + " " + rule.Table + " " + rule.Chain
}

// nftHook is where packets come to the chain of a rule. A chain that is declared
// elsewhere is told by the names that iptables has.
func (r *tunnelReader) nftHook(rule *shell.NFTRule) string {
	if rule.Hook != "" {
		return rule.Hook
	}
	if hook, declared := r.nftHooks[nftName(rule)]; declared {
		return hook
	}
	switch name := strings.ToLower(rule.Chain); name {
	case "output", "input", "forward", "prerouting", "postrouting":
		return name
	}
	return ""
}

// stopsFamilies: whatever leaves by IPv4, IPv6 or (inet) both is dropped.
func (r *tunnelReader) stopsFamilies(c command, family string) {
	if family != "ip" {
		r.brings(c, "stops IPv6", func(k Known) {
			r.stops6, r.filterUnknown = r.stops6 || k == Present, r.filterUnknown || k == Unknown
		})
	}
	if family != "ip6" {
		r.stopsTraffic(c)
	}
}

func (r *tunnelReader) nftMasquerade(rule *shell.NFTRule, m shell.NFTMatch, c command, iface string) {
	if r.refusedNFTSource(rule, c) {
		return
	}
	m.Out.Text = plus(m.Out.Text)
	// What enters the tunnel itself is another matter than the way back of the
	// clients.
	switch {
	case rule.Family == "ip6":
		return
	case isInterface(m.Out, iface) && !m.Out.Negate:
		r.misses(c, "translates what enters the tunnel, and not what clients send on")
		r.sendsOthers(c)
		return
	case !r.hidesPool(m.Source):
		r.misses(c, "translates other addresses")
		return
	}
	r.masquerades(c)
	out := OutInterface{Ref: c.ref(), Says: c.says()}
	if m.Out.Set && m.Out.Known && !m.Out.Negate && !strings.Contains(m.Out.Text, ",") {
		out.Name = m.Out.Text
	}
	r.masqueradesBy(c, out)
}

// plus writes a wildcard as iptables does.
func plus(name string) string {
	if stem, wild := strings.CutSuffix(name, "*"); wild {
		return stem + "+"
	}
	return name
}

// nftStops: a rule that drops what would leave by another interface than the
// tunnel's, or all that came so far.
func (r *tunnelReader) nftStops(rule *shell.NFTRule, m shell.NFTMatch, c command, iface string) {
	switch hook := r.nftHook(rule); {
	case hook == "":
		r.mayStop(c, because("where packets come to chain "+rule.Chain+" of nft is not in view", noAdvice))
		return
	case hook != "output" && hook != "postrouting", m.Part, m.Source.Set:
		return
	case m.Unclear:
		r.mayStop(c, because("what rule "+c.says()+" looks at is not to be understood", noAdvice))
		return
	}
	out := m.Out
	if out.Set {
		names := strings.Split(out.Text, ",")
		out.Text = plus(names[0])
		for _, n := range names {
			if out.Negate && n != "lo" {
				out.Text = plus(n)
			}
		}
		if !(out.Negate && (isInterface(out, iface) || !out.Known) || !out.Negate && strings.HasPrefix(out.Text, "eth")) {
			return
		}
	}
	if !m.Destination.Set || m.Destination.Negate || strings.HasSuffix(m.Destination.Text, "/0") {
		r.stopsFamilies(c, rule.Family)
		return
	}
	if !m.Destination.Known {
		r.mayStop(c, because("which destinations "+c.says()+" stops is not in view", noAdvice))
		return
	}
	for _, p := range grammar.ParsePrefixes(m.Destination.Text, 0, ",") {
		if p.Valid {
			r.stopsRange(c, p)
		}
	}
}
