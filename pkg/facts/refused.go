package facts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// refused is why the program of a command refuses it, and the word that it refuses;
// the zero reason for one that it takes.
func (c command) refused() (why reason, at source.Ref) {
	if c.cmd == nil || c.cmd.Refused == nil {
		return reason{}, source.Ref{}
	}
	return refusalReason(c.cmd.Refused), cmp.Or(c.wordRef(c.cmd.Refused.Word), c.ref())
}

func refusalReason(bad *shell.Refusal) reason {
	return because(strconv.Quote(clip(bad.Word.Text))+" is refused: "+bad.Why, correctIt)
}

// behindRefused: an earlier command of the script is refused, and whether the script
// goes on behind it is not known.
func (c command) behindRefused() bool {
	return slices.ContainsFunc(c.forks, func(f shell.Fork) bool { return f.Choice != nil && f.Refused })
}

// refusedCommand notes a command that fails because of what it says. It does not do
// what it was meant to do, and nobody would say that this was wanted: what hangs on it
// is not known.
func (r *tunnelReader) refusedCommand(c command, why reason, at source.Ref, iface string) {
	switch c.name() {
	case "iptables", "iptables-legacy", "iptables-nft", "ip6tables", "ip6tables-legacy", "ip6tables-nft":
		rule, _ := shell.IPTables(c.cmd)
		if rule.Target == "MASQUERADE" || rule.Target == "SNAT" {
			if rule.Source.Set && rule.Source.Known && r.refusedSource(c, rule.Source.Word, "the source (-s) of a masquerade rule") {
				return
			}
		}
		r.rulesMissing(why, at, rule.Table != "filter", rule.Table != "nat")
	case "nft":
		rules, _ := shell.NFTRules(c.cmd)
		if slices.ContainsFunc(rules, func(rule *shell.NFTRule) bool { return r.refusedNFTSource(rule, c) }) {
			return
		}
		r.rulesMissing(why, at, true, true)
	case "ip":
		r.routeMissing(c, why, at, iface)
	}
	r.pod.ix.gapAt(finding.Unresolved, r.pod.object, at, "what "+c.says()+" does", why,
		"the command fails and does nothing, and whether its script goes on is not known")
}

// rulesMissing: rules that a script was to set are not there.
func (r *tunnelReader) rulesMissing(why reason, at source.Ref, nat, filter bool) {
	r.hookOpaque = true
	if nat {
		if r.t.Masquerade.State == Absent {
			r.t.Masquerade.State = Unknown
		}
		r.missed(why, at, aspectMasquerade)
	}
	if filter {
		r.mayStopAt(why, at)
	}
}

// nothingLoaded: none of the rules of a file are there.
func (r *tunnelReader) nothingLoaded() {
	r.hookOpaque, r.filterUnknown = true, true
	r.hooksUnseen()
}

// routeMissing: a route, a rule or the size of packets that a script was to set is
// not there.
func (r *tunnelReader) routeMissing(c command, why reason, at source.Ref, iface string) {
	if dev, _, is := shell.LinkMTU(c.cmd); is {
		if dev.Text == iface || dev.Text == "%i" {
			r.t.MTU.Size = 0
		}
		return
	}
	route, adds := shell.IPRoute(c.cmd)
	switch {
	case adds && (route.Dev.Text == iface || route.Dev.Text == "%i"):
		if rt := &r.t.Routes; rt.State == Absent || rt.State == Present && !rt.Default {
			rt.State = Unknown
			r.missed(why, at, aspectRoutes)
		}
	case adds && route.Type != "unicast", adds && route.Delete:
		r.mayStopAt(why, at)
	default:
		r.t.Bypass.State = Unknown
		r.missed(why, at, aspectBypass)
	}
}

// mayStopAt is mayStop for what stands at another place than a whole command.
func (r *tunnelReader) mayStopAt(why reason, at source.Ref) {
	r.filterUnknown = true
	if r.t.KillSwitch.State == Absent {
		r.t.KillSwitch.State = Unknown
	}
	r.missed(why, at, aspectKillSwitch)
}

// refusedNFTSource is refusedSource for a rule of nft that masquerades.
func (r *tunnelReader) refusedNFTSource(rule *shell.NFTRule, c command) bool {
	if rule.Verdict != "masquerade" && rule.Verdict != "snat" {
		return false
	}
	i := slices.IndexFunc(rule.Body, func(w shell.Word) bool { return w.Text == "saddr" })
	return i >= 0 && i+1 < len(rule.Body) && rule.Body[i+1].Known && rule.Body[i+1].Text != "" && rule.Body[i+1].Text[0] != '{' &&
		r.refusedSource(c, rule.Body[i+1], "the source (saddr) of a masquerade rule")
}
