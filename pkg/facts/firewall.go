package facts

import (
	"cmp"
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
		if state, _ := c.reached(); state == Absent {
			continue
		}
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
		if name := c.runs(); r.c.hidden(name) {
			s := c.script
			s.Ref, s.Why = c.ref(), because(name+", which a hook runs, is a part of the image", writeInManifest)
			list[i] = command{in: c.in, script: s, opaque: true, forks: c.forks, conditional: c.conditional, loop: c.loop, awaited: c.awaited, tolerated: c.tolerated}
		}
	}
	return list
}

// hidden reports whether a path is that of a script which is not mounted.
func (c *containerView) hidden(name string) bool {
	if !strings.HasPrefix(name, "/") && !strings.HasSuffix(name, ".sh") {
		return false
	}
	switch path.Base(path.Dir(name)) {
	case "bin", "sbin":
		if !strings.HasSuffix(name, ".sh") {
			return false
		}
	}
	_, mounted := c.scriptFile(name, nil)
	return !mounted
}

// firewall reads a script that is not tied to one interface name.
func (r *tunnelReader) firewall(s script) { r.firewallOf(s, r.t.Interface) }

// opaqueHook: a hook runs a script that cannot be seen, which may do anything.
func (r *tunnelReader) opaqueHook(c command) {
	r.nothingLoaded()
	r.missed(c.script.Why, c.script.Ref, aspectKillSwitch, aspectMasquerade)
}

// filterCommand looks at one command.
func (r *tunnelReader) filterCommand(c command, iface string) {
	if c.opaque || c.cmd == nil || c.cmd.OtherNetNS {
		return
	}
	if why, at := c.refused(); why.holds() {
		r.refusedCommand(c, why, at, iface)
		return
	}
	if rule, is := shell.IPTables(c.cmd); is {
		r.iptables(rule, c, iface)
		return
	}
	if dev, mtu, is := shell.LinkMTU(c.cmd); is {
		r.linkMTU(dev, mtu, c, iface)
		return
	}
	if route, is := shell.IPRoute(c.cmd); is {
		r.stopsByRoute(route, c, iface)
		return
	}
	if file, loads := shell.Restores(c.cmd); loads {
		r.restored(c, file, iface)
		return
	}
	switch c.name() {
	case "ufw", "firewall-cmd", "shorewall", "shorewall-lite", "ferm", "firehol", "awall":
		if state, _ := c.reached(); state != Absent {
			r.opaqueHook(command{script: script{Why: because("what "+c.says()+" makes of the packet filter is not read", noAdvice), Ref: c.ref()}})
		}
		return
	}
	r.nftCommand(c, iface)
}

// restored reads the rules that iptables-restore loads.
func (r *tunnelReader) restored(c command, file shell.Word, iface string) {
	rules, from, at, why := c.restored(file)
	c.file = from
	if why.holds() {
		if slices.ContainsFunc(rules, func(rule *shell.IPTablesRule) bool {
			return (rule.Target == "MASQUERADE" || rule.Target == "SNAT") && rule.Source.Set && rule.Source.Known &&
				r.refusedSource(c, rule.Source.Word, "the source (-s) of a masquerade rule")
		}) {
			r.nothingLoaded()
			return
		}
		if state, _ := c.reached(); state != Absent {
			r.opaqueHook(command{script: script{Why: why, Ref: cmp.Or(at, c.ref())}})
		}
		return
	}
	for _, rule := range rules {
		r.iptables(rule, c, iface)
	}
}

// restored returns the rules that iptables-restore loads, and the file that they
// stand in; why is not empty when nothing is loaded, or it cannot be seen, and then at
// is what hides them. The rules are then those that were read all the same.
func (c command) restored(file shell.Word) (rules []*shell.IPTablesRule, from, at source.Ref, why reason) {
	text, inline := "", false
	if in, reads := shell.StandardInput(c.cmd); file.Text != "-" {
		text, from, why = c.loads(file)
	} else if reads && in.File != "" {
		text, from, why = c.loads(shell.Word{Text: in.File, Known: in.Known})
	} else if text, inline = in.Text, reads; !reads {
		why = because("what "+c.says()+" reads is known at run time only", noAdvice)
	}
	if why.holds() {
		return nil, from, from, why
	}
	rules, broken, bad := shell.Restored(c.cmd, text, inline)
	c.file = from
	switch {
	case bad != nil:
		at, why = c.wordRef(bad.Word), refusalReason(bad)
	case broken >= 0:
		if at = lineOf(from, text, broken); inline {
			at = c.wordRef(shell.InputLine(c.cmd, text, broken))
		}
		why = because("the rules that "+c.says()+" loads are not to be understood", noAdvice)
	}
	return rules, from, at, why
}

func (r *tunnelReader) iptables(rule *shell.IPTablesRule, c command, iface string) {
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
		switch {
		case rule.IPv6 && r.handsOutIPv4():
			return
		case isInterface(rule.Out, iface) && !rule.Out.Negate:
			r.misses(c, "translates what enters the tunnel, and not what clients send on")
			r.sendsOthers(c)
			return
		case !r.hidesPool(rule.Source):
			r.misses(c, "translates other addresses")
			return
		}
		r.masquerades(c)
		r.boundTo(rule, c)
	case rule.Table != "filter":
	case rule.Chain == "OUTPUT" && rule.Op != "P" && !rule.IPv6 && !builtinTarget(rule.Target):
		// Packets come to another chain from here.
		r.jumped = append(r.jumped, rule.Target)
	case !builtinChain(rule.Chain) && (rule.Target == "REJECT" || rule.Target == "DROP"):
		r.chained = append(r.chained, chained{rule, c, iface})
	case rule.Chain == "OUTPUT" && (rule.Target == "REJECT" || rule.Target == "DROP"):
		if rule.IPv6 && !rule.Destination.Set && !rule.Protocol.Set {
			r.brings(c, "stops IPv6", func(k Known) {
				r.stops6, r.filterUnknown = r.stops6 || k == Present, r.filterUnknown || k == Unknown
			})
		}
		if r.stopsOutside(rule, c, iface) {
			r.stopsTraffic(c)
		}
	}
}

// chained is a rule of a chain of one's own that stops packets.
type chained struct {
	rule  *shell.IPTablesRule
	c     command
	iface string
}

// chainedRules takes the rules of chains that OUTPUT leads to for rules of
// OUTPUT.
func (r *tunnelReader) chainedRules() {
	list := r.chained
	r.chained = nil
	for _, it := range list {
		if slices.Contains(r.jumped, it.rule.Chain) {
			rule := *it.rule
			rule.Chain = "OUTPUT"
			r.iptables(&rule, it.c, it.iface)
		}
	}
}

func builtinChain(name string) bool {
	switch name {
	case "INPUT", "OUTPUT", "FORWARD", "PREROUTING", "POSTROUTING":
		return true
	}
	return false
}

// builtinTarget: what iptables itself does with a packet.
func builtinTarget(name string) bool {
	switch name {
	case "", "ACCEPT", "DROP", "REJECT", "RETURN", "LOG", "NFLOG", "ULOG", "MARK", "CONNMARK", "TCPMSS", "TOS", "DSCP", "TTL", "NFQUEUE", "QUEUE", "AUDIT", "SET",
		"CLASSIFY", "TRACE", "CT", "NOTRACK", "SNAT", "DNAT", "MASQUERADE", "REDIRECT", "TPROXY", "CHECKSUM", "SECMARK", "HL":
		return true
	}
	return false
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
	r.masqueradesBy(c, out)
}

// masqueradesBy notes the interface that a masquerade rule is bound to.
func (r *tunnelReader) masqueradesBy(c command, out OutInterface) {
	r.brings(c, "masquerade out of "+out.Name, func(k Known) {
		if k == Present && !slices.Contains(r.t.MasqueradeOut, out) {
			r.t.MasqueradeOut = append(r.t.MasqueradeOut, out)
		}
	})
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
		r.refused = true
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

// handsOutIPv4: some of the client pool is IPv4, or it is not known.
func (r *tunnelReader) handsOutIPv4() bool {
	return len(r.t.Pool) == 0 || slices.ContainsFunc(r.t.Pool, func(p PrefixAt) bool { return !strings.Contains(p.Prefix, ":") })
}

// sendsOthers: a rule that translates what enters the tunnel is there for packets
// of other hosts.
func (r *tunnelReader) sendsOthers(c command) {
	r.brings(c, "sends others on", func(k Known) {
		if k == Present {
			r.t.forOthers = c.says()
		}
	})
}

// misses notes a rule that translates, but not the clients' pool: where nothing
// else does, it is the one to correct.
func (r *tunnelReader) misses(c command, why string) {
	if state, _ := c.reached(); state != Absent && r.missing == nil {
		r.missing = &Switch{State: Absent, Ref: c.ref(), Why: `"` + c.says() + `" ` + why}
	}
}

// stopsOutside: the rule drops what would leave by another interface than the
// tunnel's. A rule for some destinations is a kill switch for a tunnel that
// takes no others.
func (r *tunnelReader) stopsOutside(rule *shell.IPTablesRule, c command, iface string) bool {
	if rule.Op == "P" {
		return !rule.IPv6
	}
	// A rule for one protocol, one user or one state stops only a part.
	if rule.IPv6 || rule.Protocol.Set && rule.Protocol.Text != "all" || rule.Owner.Set || rule.State.Set || rule.DestinationPorts.Set ||
		rule.SourcePorts.Set || slices.ContainsFunc(rule.Modules, looksCloser) {
		return false
	}
	// Without an interface it is the last rule, for all that those before it did
	// not accept.
	other := !rule.Out.Set || rule.Out.Negate && (isInterface(rule.Out, iface) || !rule.Out.Known) ||
		!rule.Out.Negate && strings.HasPrefix(rule.Out.Text, "eth")
	if !other {
		return false
	}
	if !rule.Destination.Set || strings.HasSuffix(rule.Destination.Text, "/0") || rule.Destination.Negate {
		return true
	}
	for _, p := range grammar.ParsePrefixes(rule.Destination.Text, 0, ",") {
		if !p.Valid || !rule.Destination.Known {
			continue
		}
		r.stopsRange(c, p)
	}
	return false
}

// looksCloser: a match of iptables that picks some packets out of all.
func looksCloser(module string) bool {
	switch module {
	case "comment", "mark", "connmark", "addrtype":
		return false
	}
	return true
}

// stopsRange notes a destination that a rule stops outside the tunnel.
func (r *tunnelReader) stopsRange(c command, p grammar.Prefix) {
	r.brings(c, "stops "+p.Text, func(k Known) {
		if k == Present {
			r.stopped = append(r.stopped, p.Prefix)
			return
		}
		r.mayStop(c, c.perhaps())
	})
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

// podScripts adds what other scripts of the pod do to the namespace that all
// of them share: masquerading, a kill switch, and routes around a tunnel that
// lets more specific routes win.
func (r *tunnelReader) podScripts() {
	for _, c := range r.pod.containers {
		for _, cmd := range c.commands() {
			if state, _ := cmd.reached(); state == Absent || cmd.script.Kind == scriptPreStop || cmd.script.Kind == scriptProbe {
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
			} else {
				r.ruleBefore(cmd)
			}
		}
	}
	r.strangers()
	r.chainedRules()
	r.settle()
	r.withoutDefault()
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
		r.opaqueHook(command{script: script{Why: runsUnseen(clip(c.c.Image)), Ref: c.c.ImageRef}})
	}
}
