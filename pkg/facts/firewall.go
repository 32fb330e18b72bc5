package facts

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/cidrplan"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// firewallOf reads what a script of the tunnel's interface does to the packet
// filter: a kill switch, and masquerading.
func (r *tunnelReader) firewallOf(s script, iface string) {
	for _, c := range r.hookCommands(s) {
		if c.opaque {
			r.opaqueHook(c)
			continue
		}
		r.filterCommand(c, iface)
		r.resolverCommand(c, true)
	}
}

// hookCommands reads a hook. A program of the image that is a script of its own
// is opaque: unlike the image's entrypoint it runs for the interface's sake.
func (r *tunnelReader) hookCommands(s script) []command {
	list := r.c.commandsOf(s)
	for i, c := range list {
		if name := c.runs(); r.hidden(name) {
			s := c.script
			s.Ref, s.Why = c.ref(), name+", which a hook runs, is a part of the image"
			list[i] = command{script: s, opaque: true, conditional: c.conditional, loop: c.loop, awaited: c.awaited, tolerated: c.tolerated}
		}
	}
	return list
}

// hidden reports whether a path is that of a script which is not mounted.
func (r *tunnelReader) hidden(name string) bool {
	if !strings.HasPrefix(name, "/") && !strings.HasSuffix(name, ".sh") {
		return false
	}
	switch path.Base(path.Dir(name)) {
	case "bin", "sbin":
		if !strings.HasSuffix(name, ".sh") {
			return false
		}
	}
	_, mounted := r.c.scriptFile(name, nil)
	return !mounted
}

// firewall reads a script that is not tied to one interface name.
func (r *tunnelReader) firewall(s script) { r.firewallOf(s, r.t.Interface) }

// opaqueHook: a hook runs a script that cannot be seen, which may do anything.
func (r *tunnelReader) opaqueHook(c command) {
	r.filterUnknown, r.hookOpaque = true, true
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
	if c.opaque || c.cmd == nil || c.cmd.OtherNetNS {
		return
	}
	if rule, is := shell.IPTables(c.cmd); is {
		r.iptables(rule, c, iface)
		return
	}
	rules, _ := shell.NFTRules(c.cmd)
	for _, rule := range rules {
		r.nftables(rule, c)
	}
}

func (r *tunnelReader) iptables(rule *shell.IPTablesRule, c command, iface string) {
	t := r.t
	switch rule.Op {
	case "A", "I", "R", "P":
	default:
		return
	}
	switch {
	case rule.Table == "nat" && rule.Chain == "POSTROUTING" && (rule.Target == "MASQUERADE" || rule.Target == "SNAT"):
		if rule.Source.Set && rule.Source.Known && r.refusedSource(c, rule.Source.Word, "the source (-s) of a masquerade rule") {
			return
		}
		// What enters the tunnel itself is another matter than the way back of
		// the clients.
		if isInterface(rule.Out, iface) && !rule.Out.Negate || !r.hidesPool(rule.Source) {
			return
		}
		if t.Masquerade.State != Present || t.Masquerade.Ref == t.ContainerRef {
			t.Masquerade = Switch{State: Present, Ref: c.ref(), Why: c.says()}
		}
		r.boundTo(rule, c)
	case rule.Table == "filter" && rule.Chain == "OUTPUT" && (rule.Target == "REJECT" || rule.Target == "DROP"):
		r.stops6 = r.stops6 || rule.IPv6 && !rule.Destination.Set && !rule.Protocol.Set
		if r.stopsOutside(rule, iface) {
			r.hookSwitch = true
			t.KillSwitch = Switch{State: Present, Ref: c.ref(), Why: c.says()}
		}
	}
}

// boundTo notes by which interface a masquerade rule lets packets leave; a rule
// that does not name one, or names those that it leaves out, has no name.
func (r *tunnelReader) boundTo(rule *shell.IPTablesRule, c command) {
	if rule.IPv6 {
		return
	}
	out := OutInterface{Ref: c.ref(), Says: c.says()}
	if rule.Out.Set && rule.Out.Known && !rule.Out.Negate {
		out.Name = rule.Out.Text
	}
	if !slices.Contains(r.t.MasqueradeOut, out) {
		r.t.MasqueradeOut = append(r.t.MasqueradeOut, out)
	}
}

// nftables: a masquerade verdict is read as it stands; filter rules are not
// understood well enough to deny a kill switch.
func (r *tunnelReader) nftables(rule *shell.NFTRule, c command) {
	t := r.t
	if rule.Op == "delete" || rule.Op == "flush" || rule.Op == "list" {
		return
	}
	switch {
	case rule.Opaque:
		r.opaqueHook(command{script: script{Why: "nft reads its rules from elsewhere", Ref: c.ref()}})
	case rule.Verdict == "masquerade" || rule.Verdict == "snat":
		if i := slices.IndexFunc(rule.Body, func(w shell.Word) bool { return w.Text == "saddr" }); i >= 0 && i+1 < len(rule.Body) &&
			rule.Body[i+1].Known && r.refusedSource(c, rule.Body[i+1], "the source (saddr) of a masquerade rule") {
			return
		}
		if t.Masquerade.State != Present || t.Masquerade.Ref == t.ContainerRef {
			t.Masquerade = Switch{State: Present, Ref: c.ref(), Why: c.says()}
		}
	case rule.Verdict == "drop" || rule.Verdict == "reject":
		r.filterUnknown = true
		if t.KillSwitch.State == Absent {
			t.KillSwitch = Switch{State: Unknown, Ref: c.ref(), Why: c.says()}
			r.missed("nft rules are not read in full", c.ref(), aspectKillSwitch)
		}
	}
}

// refusedSource notes the source of a masquerade rule that its program refuses.
// Then the rule is not there, and whether anything masquerades is not known of the
// one who meant it.
func (r *tunnelReader) refusedSource(c command, w shell.Word, says string) bool {
	for _, p := range grammar.ParsePrefixes(w.Text, 0, ",") {
		network, mask, _ := strings.Cut(p.Text, "/")
		if _, dotted := grammar.ParseNetmask(network, mask); p.Valid || p.Unknown || dotted || !meantAsRange(p.Text) {
			continue
		}
		r.pod.ix.invalidRange(InvalidRange{
			Pod: r.pod.pod.ID, Ref: c.wordRef(w), Text: p.Text, Says: says, Why: "it is no prefix", Fate: "the command fails, and it translates nothing",
		})
		if r.t.Masquerade.State == Absent {
			r.t.Masquerade.State = Unknown
		}
		return true
	}
	return false
}

// isInterface reports whether a match names the tunnel's interface; %i stands
// for it in hooks, and a + for any name that begins alike.
func isInterface(m shell.Match, iface string) bool {
	if !m.Set {
		return false
	}
	if m.Text == "%i" || m.Text == iface {
		return true
	}
	stem, wild := strings.CutSuffix(m.Text, "+")
	return wild && stem != "" && strings.HasPrefix(iface, stem)
}

// hidesPool: the rule's source takes the client pool in, as far as both are
// known.
func (r *tunnelReader) hidesPool(from shell.Match) bool {
	if !from.Set || !from.Known || len(r.t.Pool) == 0 {
		return true
	}
	var list []netip.Prefix
	for _, p := range grammar.ParsePrefixes(from.Text, 0, ",") {
		if !p.Valid {
			return true
		}
		list = append(list, p.Prefix)
	}
	return cidrplan.Overlaps(list, prefixesAt(r.t.Pool)) != from.Negate
}

// stopsOutside: the rule drops what would leave by another interface than the
// tunnel's. A rule for some destinations is a kill switch for a tunnel that
// takes no others.
func (r *tunnelReader) stopsOutside(rule *shell.IPTablesRule, iface string) bool {
	if rule.Op == "P" {
		return !rule.IPv6
	}
	// A rule for one protocol, one user or one state stops only a part.
	if rule.IPv6 || rule.Protocol.Set || rule.Owner.Set || rule.State.Set || rule.DestinationPorts.Set || rule.SourcePorts.Set {
		return false
	}
	other := rule.Out.Negate && (isInterface(rule.Out, iface) || !rule.Out.Known) ||
		rule.Out.Set && !rule.Out.Negate && strings.HasPrefix(rule.Out.Text, "eth")
	if !other {
		return false
	}
	if !rule.Destination.Set || strings.HasSuffix(rule.Destination.Text, "/0") || rule.Destination.Negate {
		return true
	}
	for _, p := range grammar.ParsePrefixes(rule.Destination.Text, 0, ",") {
		if p.Valid && rule.Destination.Known {
			r.stopped = append(r.stopped, p.Prefix)
		}
	}
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
		r.hookSwitch = true
		t.KillSwitch = Switch{State: Present, Ref: ref, Why: "hooks reject the tunnel's destinations outside it"}
	}
}

// routing reads the routes and rules of a hook: what they keep out of the
// tunnel, and what they send into it.
func (r *tunnelReader) routing(s script, iface string, ref source.Ref) {
	for _, c := range r.hookCommands(s) {
		if c.opaque {
			r.t.Bypass.State = Unknown
			r.missed(c.script.Why, c.script.Ref, aspectBypass)
			continue
		}
		r.routingCommand(c, iface, ref)
	}
}

// hookRoute is a route or rule that a hook adds.
type hookRoute struct {
	PrefixAt
	// byRule: a rule that looks into the main table; it keeps nothing out of a
	// tunnel whose routes stand in the main table themselves.
	byRule bool
	// firm: a rule that looks into another table, which no route of the main
	// table comes before.
	firm bool
}

func (r *tunnelReader) routingCommand(c command, iface string, ref source.Ref) {
	if c.cmd == nil || c.cmd.OtherNetNS {
		return
	}
	if rule, is := shell.IPRule(c.cmd); is {
		// A rule that looks into the tunnel's own table keeps nothing out.
		if rule.Delete || rule.Not || rule.To.Text == "" || rule.Table.Text == "51820" {
			return
		}
		byRule := rule.Table.Text == "main" || rule.Table.Text == "254"
		r.around(rule.To, hookRoute{byRule: byRule, firm: !byRule}, ref)
		return
	}
	route, is := shell.IPRoute(c.cmd)
	if !is || route.Delete || route.Type != "unicast" {
		return
	}
	inside := route.Dev.Text == iface || route.Dev.Text == "%i"
	ownTable := route.Table.Text != "" && route.Table.Text != "main" && route.Table.Text != "254"
	switch {
	case inside && ownTable:
		// Some rule leads there, or none.
		r.inwardUnknown = true
	case inside:
		r.into(route, ref)
	case ownTable, route.Destination.Text == "default", route.Destination.Text == "":
	default:
		to := route.Destination
		if p, ok := grammar.ParseNetmask(to.Text, route.Netmask.Text); ok {
			to.Text = p.String()
		}
		r.around(to, hookRoute{}, ref)
	}
}

// around notes a network that a hook keeps out of the tunnel.
func (r *tunnelReader) around(to shell.Word, as hookRoute, ref source.Ref) {
	if !to.Known {
		r.t.Bypass.State = Unknown
		r.missed("a hook adds routes for networks that are known at run time only", ref, aspectBypass)
		return
	}
	if at, valid := prefixAt(grammar.ParsePrefix(to.Text, 0), ref); valid {
		as.PrefixAt = at
		r.bypassed = append(r.bypassed, as)
	}
}

// into notes a route that a hook sends into the tunnel.
func (r *tunnelReader) into(route *shell.RouteChange, ref source.Ref) {
	text := route.Destination.Text
	if text == "default" || text == "" {
		text = "0.0.0.0/0"
		if route.IPv6 {
			text = "::/0"
		}
	}
	at, valid := prefixAt(grammar.ParsePrefix(text, 0), ref)
	if !valid || !route.Destination.Known {
		r.inwardUnknown = true
		return
	}
	r.inward = append(r.inward, at)
}

// takeHookRoutes turns what hooks and scripts keep out of the tunnel into
// bypass entries. It may be called again after more was read.
func (r *tunnelReader) takeHookRoutes() {
	t := r.t
	for _, h := range r.bypassed {
		if h.byRule && t.Routes.MoreSpecificWin && !t.Routes.FwMark {
			continue
		}
		t.Bypass.Entries = append(t.Bypass.Entries, h.PrefixAt)
		if !h.firm {
			t.Bypass.Contended = append(t.Bypass.Contended, ContendedEntry{h.PrefixAt, h.byRule})
		}
		if t.Bypass.State == Absent {
			t.Bypass.State = Present
			if t.Bypass.Key == wgHookBypass {
				t.Bypass.Ref = h.Ref
			}
		}
	}
	r.bypassed = nil
}

// podScripts adds what other scripts of the pod do to the namespace that all
// of them share: masquerading, a kill switch, and routes around a tunnel that
// lets more specific routes win.
func (r *tunnelReader) podScripts() {
	for _, c := range r.pod.containers {
		for _, cmd := range c.commands() {
			if cmd.script.Kind == scriptPreStop || cmd.script.Kind == scriptProbe {
				continue
			}
			if cmd.opaque {
				if c.mayFilter() {
					r.opaqueHook(cmd)
				}
				continue
			}
			r.filterCommand(cmd, r.t.Interface)
			r.resolverCommand(cmd, c == r.c)
			if r.t.Routes.MoreSpecificWin {
				r.routingCommand(cmd, r.t.Interface, cmd.ref())
			}
		}
	}
	r.strangers()
	r.takeHookRoutes()
	if len(r.inward) > 0 || r.inwardUnknown {
		r.scriptedRoutes()
	}
	r.partialSwitch(anchorOf(r.t.Config, r.t.ContainerRef))
}

// mayFilter: the container has, or may have, the right to change the packet
// filter of the pod.
func (c *containerView) mayFilter() bool {
	return c.c.Privileged != Absent || c.mayUse("NET_ADMIN")
}

// strangers: a container of an image that nothing is known of, with the right
// to change the packet filter, may be there for just that.
func (r *tunnelReader) strangers() {
	for _, c := range r.pod.containers {
		argv, entrypoint := c.argv()
		if c == r.c || !c.mayFilter() || !entrypoint || len(argv) > 0 || c.image.Family != nil || c.image.LookAlike != nil ||
			bareImage(c.image.Repository) || helperImage(c.image.Repository) {
			continue
		}
		r.opaqueHook(command{script: script{Why: "what image " + clip(c.c.Image) + " runs is not in the tree", Ref: c.c.ImageRef}})
	}
}

// scriptedRoutes adds the routes that hooks and scripts send into the tunnel.
func (r *tunnelReader) scriptedRoutes() {
	rt := &r.t.Routes
	if r.inwardUnknown {
		if rt.State == Absent || rt.State == Present && !rt.Default {
			rt.State = Unknown
			r.missed("hooks add routes that are known at run time only", anchorOf(r.t.Config, r.t.ContainerRef), aspectRoutes)
		}
		return
	}
	if rt.State == Absent {
		rt.State, rt.Ref, rt.Why = Present, r.inward[0].Ref, "route "+r.inward[0].Text+" of a hook"
		rt.MoreSpecificWin = true
	}
	if rt.State == Present {
		rt.Prefixes = append(rt.Prefixes, r.inward...)
		rt.Default = hasDefault(rt.Prefixes)
	}
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
		// An option of several words stands where its name does.
		for _, p := range pieces {
			if p.to > g.Start && p.from < g.End {
				return c.wordRef(p.word)
			}
		}
		return c.ref()
	}
	return confText{path: "command line", options: true, text: b.String(), whole: c.ref(), at: at}, true
}

func firstText(words []shell.Word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].Text
}
