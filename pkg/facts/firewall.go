package facts

import (
	"net/netip"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// firewallOf reads what a script of the tunnel's interface does to the packet
// filter: a kill switch, and masquerading.
func (r *tunnelReader) firewallOf(s script, iface string) {
	for _, c := range r.c.commandsOf(s) {
		if c.opaque {
			r.opaqueHook(c)
			continue
		}
		r.filterCommand(c, iface)
	}
}

// firewall reads a script that is not tied to one interface name.
func (r *tunnelReader) firewall(s script) { r.firewallOf(s, r.t.Interface) }

// opaqueHook: a hook runs a script that cannot be seen, which may do anything.
func (r *tunnelReader) opaqueHook(c command) {
	if r.t.KillSwitch.State == Absent {
		r.t.KillSwitch.State = Unknown
	}
	if r.t.Masquerade.State == Absent {
		r.t.Masquerade.State = Unknown
	}
	r.missed(c.script.Why, c.script.Ref, aspectKillSwitch, aspectMasquerade)
}

// filterCommand looks at one command.
func (r *tunnelReader) filterCommand(c command, iface string) {
	t := r.t
	rule, is := iptablesRule(c)
	if !is {
		return
	}
	switch {
	case rule.table == "nat" && rule.chain == "POSTROUTING" && (rule.target == "MASQUERADE" || rule.target == "SNAT"):
		// What enters the tunnel itself is another matter than the way back of
		// the clients.
		if rule.out == iface && !rule.outNot || rule.out == "%i" && !rule.outNot {
			return
		}
		if !r.hidesPool(rule.source) {
			return
		}
		t.Masquerade = Switch{State: Present, Ref: c.ref(), Why: c.says()}
	case rule.table == "filter" && rule.chain == "OUTPUT" && (rule.target == "REJECT" || rule.target == "DROP"):
		if r.stopsOutside(rule, iface) {
			t.KillSwitch = Switch{State: Present, Ref: c.ref(), Why: c.says()}
		}
	}
}

// hidesPool: the rule's source takes the client pool in, as far as both are
// known.
func (r *tunnelReader) hidesPool(sourceText string) bool {
	from, err := netip.ParsePrefix(sourceText)
	if err != nil || len(r.t.Pool) == 0 {
		return true
	}
	return cidrplan.Overlaps([]netip.Prefix{from.Masked()}, prefixesAt(r.t.Pool))
}

// stopsOutside: the rule drops what would leave by another interface than the
// tunnel's. A rule for some destinations is a kill switch for a tunnel that
// takes no others.
func (r *tunnelReader) stopsOutside(rule filterRule, iface string) bool {
	if rule.policy {
		return true
	}
	other := rule.outNot && (rule.out == "%i" || rule.out == iface || rule.out == "") ||
		!rule.outNot && (strings.HasPrefix(rule.out, "eth") || rule.out == "$(uplink)")
	if !other {
		return false
	}
	if rule.dest == "" || strings.HasSuffix(rule.dest, "/0") {
		return true
	}
	dest, err := netip.ParsePrefix(rule.dest)
	if err != nil {
		return false
	}
	r.stopped = append(r.stopped, dest.Masked())
	return false
}

// partialSwitch: rules for single destinations add up to a kill switch when
// they hold all that the tunnel takes.
func (r *tunnelReader) partialSwitch(ref source.Ref) {
	t := r.t
	if t.KillSwitch.State == Present || len(r.stopped) == 0 || t.Routes.State != Present {
		return
	}
	if cidrplan.Contains(r.stopped, prefixesAt(t.Routes.Prefixes)) {
		t.KillSwitch = Switch{State: Present, Ref: ref, Why: "hooks reject the tunnel's destinations outside it"}
	}
}

// routing reads the routes and rules of a hook: what they keep out of the
// tunnel, and what they send into it.
func (r *tunnelReader) routing(s script, iface string, ref source.Ref) {
	for _, c := range r.c.commandsOf(s) {
		if c.opaque {
			r.t.Bypass.State = Unknown
			r.missed(c.script.Why, c.script.Ref, aspectBypass)
			continue
		}
		r.routingCommand(c, iface, ref)
	}
}

func (r *tunnelReader) routingCommand(c command, iface string, ref source.Ref) {
	b := &r.t.Bypass
	take := func(to string, known bool) {
		if !known {
			b.State = Unknown
			r.missed("a hook adds routes for networks that are known at run time only", ref, aspectBypass)
			return
		}
		p := grammar.ParsePrefix(to, 0)
		if at, valid := prefixAt(p, ref); valid {
			b.Entries = append(b.Entries, at)
		}
	}
	if rule, is := ipRuleOf(c); is {
		// A rule that looks into the tunnel's own table keeps nothing out.
		if rule.add && rule.to.Text != "" && rule.table != "51820" {
			take(rule.to.Text, rule.to.Known)
		}
		return
	}
	if route, is := ipRouteOf(c); is && route.add {
		inside := route.dev == iface || route.dev == "%i"
		switch {
		case route.to.Text == "default" || route.to.Text == "":
			if inside {
				r.hookRoutes = true
			}
		case inside:
			r.hookRoutes = true
		default:
			take(route.to.Text, route.to.Known)
		}
	}
}

// podScripts adds what other scripts of the pod do to the namespace that all
// of them share: masquerading and a kill switch.
func (r *tunnelReader) podScripts() {
	for _, c := range r.pod.containers {
		for _, cmd := range c.commands() {
			if !cmd.opaque && cmd.script.Kind != scriptPreStop && cmd.script.Kind != scriptProbe {
				r.filterCommand(cmd, r.t.Interface)
			}
		}
	}
	r.partialSwitch(anchorOf(r.t.Config, r.t.ContainerRef))
}

func anchorOf(ref, fallback source.Ref) source.Ref {
	if ref.IsZero() {
		return fallback
	}
	return ref
}

// openVPNArgs returns the options on the command line as a configuration: each
// --option with its arguments is a line.
func (r *tunnelReader) openVPNArgs() []confText {
	var out []confText
	for _, c := range r.c.commands() {
		if c.opaque || c.script.Kind != scriptCommand && c.script.Kind != scriptFile {
			continue
		}
		if conf, has := optionsOf(c); has {
			out = append(out, conf)
		}
	}
	return out
}

// optionsOf writes a command's options as lines; places lead back to its words.
func optionsOf(c command) (confText, bool) {
	if c.name() != "openvpn" && !strings.HasPrefix(firstText(c.words), "--") {
		return confText{}, false
	}
	type piece struct {
		from, to int
		word     shell.Word
	}
	var b strings.Builder
	var pieces []piece
	started := false
	for _, w := range c.words {
		switch {
		case strings.HasPrefix(w.Text, "--"):
			if started {
				b.WriteByte('\n')
			}
			started = true
		case !started:
			continue
		default:
			b.WriteByte(' ')
		}
		from := b.Len()
		if strings.ContainsAny(w.Text, " \t\"'#;") && !strings.Contains(w.Text, `"`) {
			b.WriteString(`"` + w.Text + `"`)
		} else {
			b.WriteString(w.Text)
		}
		pieces = append(pieces, piece{from, b.Len(), w})
	}
	if !started {
		return confText{}, false
	}
	at := func(g grammar.Range) source.Ref {
		start, end := -1, 0
		for _, p := range pieces {
			if p.to > g.Start && p.from < g.End {
				if start < 0 {
					start = p.word.Start
				}
				end = p.word.End
			}
		}
		if start < 0 {
			return c.ref()
		}
		return c.script.within(start, end)
	}
	return confText{path: "command line", text: b.String(), whole: c.ref(), at: at}, true
}

func firstText(words []shell.Word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].Text
}
