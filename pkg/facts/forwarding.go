package facts

import (
	"path"
	"sort"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/finding"
	"github.com/vpnlint/vpnlint/pkg/grammar"
	"github.com/vpnlint/vpnlint/pkg/images"
	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// knob is a property of a network namespace that sysctls decide and VPNs depend
// on.
type knob int

// The knobs. Of each, "1" is what a VPN wants.
const (
	noKnob      knob = iota
	forward4         // IPv4 is forwarded
	forward6         // IPv6 is forwarded
	validMark        // reverse path filtering looks at the packet's mark (FG D3.6)
	looseFilter      // reverse path filtering is not strict
	withoutIPv6      // IPv6 is off
)

// sysctl is what a sysctl's name says about a knob.
type sysctl struct {
	knob knob
	// partly: it counts for some interfaces, or for those that are made later,
	// only.
	partly bool
}

// sysctlOf tells which knob a sysctl turns; noKnob for one that is of no
// interest. Writing ip_forward or conf.all.forwarding is the same (FG D1.1). Of
// rp_filter and src_valid_mark the higher of conf.all and the interface counts,
// and what returns outside the tunnel comes in on eth0.
func sysctlOf(name string) sysctl {
	name = normalSysctl(name)
	switch name {
	case "net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding":
		return sysctl{knob: forward4}
	case "net.ipv6.conf.all.forwarding":
		return sysctl{knob: forward6}
	}
	which, leaf, found := strings.Cut(strings.TrimPrefix(name, "net.ipv4.conf."), ".")
	if found && strings.HasPrefix(name, "net.ipv4.conf.") {
		partly := which != "all" && which != "eth0"
		switch leaf {
		case "src_valid_mark":
			return sysctl{validMark, partly}
		case "rp_filter":
			return sysctl{looseFilter, partly}
		}
	}
	if which, is := strings.CutPrefix(name, "net.ipv6.conf."); is && strings.HasSuffix(which, ".disable_ipv6") {
		return sysctl{withoutIPv6, which != "all.disable_ipv6"}
	}
	return sysctl{}
}

// normalSysctl spells a sysctl with dots; procfs paths and slashes are the same
// name (FG D2.4).
func normalSysctl(name string) string {
	name = strings.TrimSpace(name)
	if rest, isPath := strings.CutPrefix(path.Clean(name), "/proc/sys/"); isPath {
		name = rest
	}
	return strings.ReplaceAll(name, "/", ".")
}

// readForwarding gathers every attempt to set forwarding in the pod's network
// namespace, for any pod: a node-level writer matters to gateways elsewhere.
func readForwarding(p *podView) {
	r := &forwardingReader{p: p, lead: -1, writes: map[knob][]timed{}}
	if c := leadOf(p); c != nil {
		r.lead = c.c.Order
	}
	r.needed()
	r.hostNetwork()
	r.nodes()
	r.attachments()
	r.podSysctls()
	for _, c := range p.containers {
		r.container(c)
	}
	p.pod.Forwarding.IPv4 = r.family(forward4)
	p.pod.Forwarding.IPv6 = r.family(forward6)
	p.pod.SrcValidMark = r.evidence(validMark)
	p.pod.LooseFilter = r.evidence(looseFilter)
	p.pod.IPv6Off = r.evidence(withoutIPv6)
	p.pod.Forwarding.IPv6Off = p.pod.IPv6Off.State
	r.judgePrivileges()
	if p.pod.Forwarding.Needed == Present {
		r.recordGap()
	}
	r.recordMarkGap()
}

// leadOf returns the container that carries the VPN: a server before a client,
// one that stays before one that ends; nil for none.
func leadOf(p *podView) *containerView {
	var lead *containerView
	best := 0
	for _, c := range p.containers {
		if !c.c.DataPlane {
			continue
		}
		rank := 1
		if c.c.Stage != Init {
			rank = 2
		}
		if does, _ := p.partOf(c); does == partServer {
			rank += 2
		}
		if rank > best {
			lead, best = c, rank
		}
	}
	return lead
}

type forwardingReader struct {
	p *podView
	// lead is the order of the container that carries the VPN, -1 for none.
	lead   int
	writes map[knob][]timed
	// unseen are scripts that might write it.
	unseen []unseenScript
}

// timed is a piece of evidence with the moment it acts: -1 at sandbox creation,
// then the order of its container.
type timed struct {
	ForwardEvidence
	at int
	// maybe: it may not be reached, or what it writes is not known.
	maybe bool
}

type unseenScript struct {
	container string
	ref       source.Ref
	why       string
}

func (r *forwardingReader) add(k knob, t timed) { r.writes[k] = append(r.writes[k], t) }

// needed decides whether the kernel has to forward at all.
func (r *forwardingReader) needed() {
	f := &r.p.pod.Forwarding
	f.Needed, f.NeededWhy = Absent, "the pod is no gateway"
	if r.p.pod.Role == RoleUnknown {
		f.Needed, f.NeededWhy = Unknown, r.p.pod.RoleWhy
		return
	}
	if r.p.pod.Role != Gateway {
		return
	}
	f.Needed, f.NeededWhy = Present, r.p.pod.RoleWhy
	userSpace := Absent
	why := ""
	for _, c := range r.p.containers {
		if !c.c.DataPlane {
			continue
		}
		if does, _ := r.p.partOf(c); does != partServer {
			continue
		}
		state, says := r.userSpace(c)
		if state == Absent {
			return // one kernel data plane is enough
		}
		if userSpace != Unknown {
			userSpace, why = state, says
		}
	}
	switch userSpace {
	case Present:
		f.Needed, f.NeededWhy = Absent, why
	case Unknown:
		f.Needed, f.NeededWhy = Unknown, why
	}
}

// userSpace tells whether a server moves packets without the kernel's routing.
func (r *forwardingReader) userSpace(c *containerView) (Known, string) {
	switch c.c.Family {
	case "softether":
		return Present, "SoftEther's SecureNAT routes in user space"
	case "tailscale", "tailscale-other", "netbird":
		for _, t := range r.p.pod.Tunnels {
			if t.Container == c.c.Name {
				return t.UserSpace, c.c.FamilyTitle + " routes in user space"
			}
		}
	}
	return Absent, ""
}

func (r *forwardingReader) hostNetwork() {
	host := r.p.pod.HostNetwork
	if host.Value != "true" {
		return
	}
	// The node's own namespace forwards, or no pod on it would work (FG D1.8).
	for _, family := range []knob{forward4, forward6} {
		r.add(family, timed{at: -1, maybe: family == forward6, ForwardEvidence: ForwardEvidence{
			How: "host-network", Value: "1", Ref: host.Ref, Says: "hostNetwork: true", Effective: Present, When: "before",
		}})
	}
}

// nodes adds what the clusters guarantee to every pod. It counts only when all
// the clusters that the pod belongs to do.
func (r *forwardingReader) nodes() {
	if r.p.pod.HostNetwork.Value == "true" || len(r.p.clusters) == 0 {
		return
	}
	maybe := false
	var on []*Cluster
	for _, c := range r.p.clusters {
		switch c.ForwardingOn.State {
		case Present:
			on = append(on, c)
		case Unknown:
			on, maybe = append(on, c), true
		default:
			maybe = true
		}
	}
	for _, c := range on {
		r.add(forward4, timed{at: -1, maybe: maybe, ForwardEvidence: ForwardEvidence{
			How: "node", Value: "1", Ref: c.ForwardingOn.Ref, Says: c.ForwardingOn.Why, Effective: c.ForwardingOn.State, When: "before",
		}})
	}
}

func (r *forwardingReader) podSysctls() {
	for _, s := range r.p.spec.get("securityContext", "sysctls").items() {
		set := sysctlOf(s.get("name").text())
		if set.knob == noKnob {
			continue
		}
		text, given := s.get("value").str()
		if !given {
			text, _ = s.get("value").scalar()
		}
		e := ForwardEvidence{
			How: "pod-sysctl", Value: text, Ref: s.get("value").ref(), Says: s.get("name").text() + "=" + text,
			Effective: Present, When: "before",
		}
		if r.p.pod.HostNetwork.Value == "true" {
			e.Effective = Absent // refused with hostNetwork (FG D2.4)
		}
		r.write(set, text, timed{ForwardEvidence: e, at: -1})
	}
}

// write adds evidence whose value is text.
func (r *forwardingReader) write(set sysctl, text string, t timed) {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	if set.knob == looseFilter {
		switch text {
		case "0": // the interface's own value may still be strict
			text, set.partly = "1", true
		case "1":
			text = "0"
		}
	}
	if set.partly {
		t.maybe, t.Effective = true, and(t.Effective, Unknown)
	}
	switch text {
	case "1":
		t.Value = "1"
	case "0":
		t.Value = "0"
	default:
		if placeholder(text) == "" && !strings.Contains(text, "$") && text != "" {
			if isNumber(text) {
				t.Value = "1" // any other number forwards as well
				break
			}
			return
		}
		t.Value, t.maybe = "1", true
		t.Effective = and(t.Effective, Unknown)
	}
	r.add(set.knob, t)
}

// canWrite tells whether a container can write below /proc/sys: it is mounted
// read-only unless the container is privileged or asks for an unmasked /proc
// (FG D3.1).
func (c *containerView) canWrite() Known {
	if c.c.Privileged != Absent {
		if c.c.NonRoot.State == Present {
			return and(c.c.Privileged, Unknown) // perhaps through sudo
		}
		return c.c.Privileged
	}
	if c.c.Unmasked {
		return Present
	}
	for _, m := range c.spec.get("volumeMounts").items() {
		for _, v := range c.pod.spec.get("volumes").items() {
			host := path.Clean("/" + v.get("hostPath", "path").text())
			if v.get("hostPath").exists() && v.get("name").text() == m.get("name").text() &&
				(host == "/" || host == "/proc" || strings.HasPrefix(host, "/proc/sys")) {
				return Unknown // the node's /proc is not masked
			}
		}
	}
	return Absent
}

// when places a moment relative to the VPN container's start.
func (r *forwardingReader) when(c *containerView, kind scriptKind) string {
	own := c.c.Order == r.lead
	switch {
	case r.lead < 0:
		return "before"
	case kind == scriptPostStart && own, kind == scriptPreStop, kind == scriptProbe && c.c.Order >= r.lead:
		return "after"
	case own:
		return "start"
	case c.c.Order > r.lead:
		return "after"
	default:
		return "before"
	}
}

// container looks at everything that one container runs.
func (r *forwardingReader) container(c *containerView) {
	r.scripts(c, c.commands())
	r.image(c)
	r.wgQuick(c)
	if c.c.DataPlane {
		r.configHooks(c)
		r.envHooks(c)
	}
	r.startupFiles(c)
}

func howOf(kind scriptKind) string {
	if kind == scriptPostStart || kind == scriptPreStop {
		return "hook"
	}
	return "script"
}

// scripts looks for writers among commands. Files that a script writes are
// remembered: `echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf; sysctl -p`.
func (r *forwardingReader) scripts(c *containerView, commands []command) {
	w := newSysctlWriter(r, c)
	for _, cmd := range commands {
		if cmd.script.Kind == scriptPreStop {
			continue
		}
		if cmd.opaque {
			r.hidden(c, cmd.script.Ref, cmd.script.Why, r.when(c, cmd.script.Kind))
			continue
		}
		w.command(cmd, howOf(cmd.script.Kind))
	}
	if c.c.Stage == Init || c.c.Order == r.lead {
		r.opaqueProgram(c, commands)
	}
}

// hidden notes a script that cannot be seen, if it could write.
func (r *forwardingReader) hidden(c *containerView, ref source.Ref, why, when string) {
	if c.canWrite() != Absent && when != "after" {
		r.unseen = append(r.unseen, unseenScript{c.c.Name, ref, why})
	}
}

// opaqueProgram: a privileged container that runs a program of its image that
// nothing is known of might write it.
func (r *forwardingReader) opaqueProgram(c *containerView, commands []command) {
	if c.canWrite() == Absent {
		return
	}
	argv, entrypoint := c.argv()
	if entrypoint && len(argv) == 0 {
		if c.image.Family == nil && c.image.LookAlike == nil && !bareImage(c.image.Repository) && !helperImage(c.image.Repository) {
			r.unseen = append(r.unseen, unseenScript{c.c.Name, c.c.ImageRef, "what image " + c.c.Image + " runs is not in the tree"})
		}
		return
	}
	for _, cmd := range commands {
		if cmd.script.Kind != scriptCommand && cmd.script.Kind != scriptFile || len(cmd.words) == 0 {
			continue
		}
		program := cmd.words[0].Text
		if len(cmd.words) > 1 {
			switch cmd.name() {
			case "sh", "bash", "ash", "dash", ".", "source":
				if program = cmd.words[1].Text; strings.HasPrefix(program, "-") {
					continue
				}
			}
		}
		if strings.HasSuffix(program, ".sh") && c.file(program).State == Absent {
			r.unseen = append(r.unseen, unseenScript{c.c.Name, cmd.ref(), program + " lies in the image"})
		}
	}
}

// image adds what a family's entrypoint does by itself.
func (r *forwardingReader) image(c *containerView) {
	f := c.image.Family
	if f == nil || !c.c.DataPlane || c.c.Stage == Init && f.ID != "pod-gateway" {
		return
	}
	t := timed{at: c.c.Order, ForwardEvidence: ForwardEvidence{
		How: "image", Value: "1", Container: c.c.Name, Ref: c.c.ImageRef,
		Says: f.Title + "'s entrypoint writes it", Effective: c.canWrite(), When: r.when(c, scriptCommand),
	}}
	families := []knob{forward4}
	switch f.Defaults.EnablesForwarding {
	case images.DefaultNo:
		return
	case images.DefaultUnknown:
		t.maybe = true
		families = []knob{forward4, forward6}
		if t.Effective == Absent {
			return // it could not, whatever it does
		}
		t.Says = "what " + f.Title + "'s entrypoint does is not known"
		t.Effective = Unknown
	case images.DefaultConditional:
		sets, says, both := r.conditionalImage(c)
		if sets == Absent {
			return
		}
		t.maybe, t.Says = sets == Unknown, says
		if sets == Unknown {
			t.Effective = and(t.Effective, Unknown)
		}
		families = both
		t.Tolerant = strings.HasPrefix(f.ID, "hwdsl2-")
	case images.DefaultYes:
		if f.ID == "bryopsida-wireguard" {
			return // its chart's init container does, which is in view
		}
		if f.ID == "pod-gateway" {
			if !c.runs("gateway_init.sh") {
				return
			}
		}
	}
	if c.replacesEntrypoint() {
		t.maybe = true
		t.Effective = and(t.Effective, Unknown)
		t.Says += ", if command still runs it"
	}
	for _, family := range families {
		r.add(family, t)
	}
	if f.Defaults.EnablesForwarding == images.DefaultYes && f.ID != "netmaker-netclient" && t.Effective != Absent {
		// Whether it also does so for IPv6 was not read from its entrypoint.
		t.maybe, t.Effective = true, Unknown
		r.add(forward6, t)
	} else if f.ID == "netmaker-netclient" {
		r.add(forward6, t)
	}
}

// replacesEntrypoint: command names something else than the image's own
// programs.
func (c *containerView) replacesEntrypoint() bool {
	first := c.spec.get("command").texts()
	if len(first) == 0 {
		return false
	}
	for _, own := range c.image.Family.Hints.Commands {
		for _, w := range first {
			if w.text() == own || path.Base(w.text()) == path.Base(own) {
				return false
			}
		}
	}
	return true
}

// runs reports whether one of the container's commands is the program.
func (c *containerView) runs(program string) bool {
	for _, cmd := range c.commands() {
		if cmd.name() == program {
			return true
		}
	}
	return false
}

// conditionalImage evaluates the condition of families that set forwarding
// sometimes (FG C0).
func (r *forwardingReader) conditionalImage(c *containerView) (sets Known, says string, families []knob) {
	switch c.c.Family {
	case "tailscale":
		return r.tailscaleImage(c)
	case "denefoster-k8s-wireguard":
		v := c.env("WG_IP_FORWARDING")
		if v.State == Unknown {
			return Unknown, "WG_IP_FORWARDING cannot be seen", []knob{forward4}
		}
		return answer(v.Text != ""), "WG_IP_FORWARDING is set", []knob{forward4}
	case "hwdsl2-openvpn":
		return Present, "its entrypoint tries sysctl and ignores errors", []knob{forward4, forward6}
	case "hwdsl2-ipsec":
		return Present, "its entrypoint tries sysctl and ignores errors", []knob{forward4}
	default:
		return Unknown, c.c.FamilyTitle + " sets it in some set-ups", []knob{forward4, forward6}
	}
}

// tailscaleImage: containerboot sets forwarding in kernel mode for what its own
// variables name; --advertise-routes in TS_EXTRA_ARGS does not count (FG C6).
func (r *forwardingReader) tailscaleImage(c *containerView) (sets Known, says string, families []knob) {
	for _, t := range r.p.pod.Tunnels {
		if t.Container == c.c.Name && t.UserSpace == Present {
			return Absent, "", nil
		}
	}
	v4, v6 := false, false
	sets = Absent
	for _, key := range []string{"TS_ROUTES", "TS_DEST_IP", "TS_EXPERIMENTAL_DEST_DNS_NAME", "TS_TAILNET_TARGET_IP", "TS_TAILNET_TARGET_FQDN"} {
		v := c.env(key)
		switch {
		case v.State == Absent || v.State == Present && strings.TrimSpace(v.Text) == "":
			continue
		case v.State == Unknown && !c.setsKey(key):
			sets = or(sets, Unknown)
			continue
		case v.State == Unknown:
			sets, says = Present, key
			v4 = true
			continue
		}
		sets, says = Present, key
		for _, entry := range grammar.ParsePrefixes(v.Text, 0, ",") {
			v4 = v4 || entry.Valid && entry.Prefix.Addr().Is4()
			v6 = v6 || entry.Valid && entry.Prefix.Addr().Is6()
		}
		if strings.HasSuffix(key, "NAME") || strings.HasSuffix(key, "FQDN") {
			v4, v6 = true, true
		}
	}
	if sets != Present {
		return sets, "containerboot may set it", []knob{forward4, forward6}
	}
	if v4 || !v6 {
		families = append(families, forward4)
	}
	if v6 {
		families = append(families, forward6)
	}
	return sets, "containerboot sets it because of " + says, families
}

// configHooks looks at PreUp and PostUp of WireGuard configurations and at the
// scripts of OpenVPN's.
func (r *forwardingReader) configHooks(c *containerView) {
	for _, f := range c.files("/**/*.conf", "/**/*.ovpn") {
		if f.State != Present || len(f.Text) > maxConfigBytes {
			continue
		}
		if strings.Contains(strings.ToLower(f.Text), "[interface]") {
			conf := grammar.ParseWireGuard(f.Text)
			for _, hook := range append(append([]grammar.Word{}, conf.Interface.PreUp...), conf.Interface.PostUp...) {
				r.hook(c, hook.Text, f.Ref.Within(hook.Start, hook.End), "config-hook", false)
			}
			continue
		}
		for _, d := range grammar.ParseOpenVPN(f.Text).UpScripts() {
			r.hook(c, d.Arg(0).Text, f.Ref.Within(d.Start, d.End), "config-hook", true)
		}
	}
}

// envHooks looks at variables in which an image takes commands to run when the
// interface comes up.
func (r *forwardingReader) envHooks(c *containerView) {
	keys := map[string][]string{
		"wg-easy-v14": {"WG_PRE_UP", "WG_POST_UP"},
		"nordlynx":    {"PRE_UP", "POST_UP"},
		"wireguard-ui": {
			"WGUI_SERVER_POST_UP_SCRIPT",
		},
	}[c.c.Family]
	for _, key := range keys {
		v := c.env(key)
		if v.State == Absent || v.Text == "" {
			continue
		}
		r.hook(c, v.Text, v.Ref, "config-hook", v.Moved)
	}
}

// hook reads the shell text of a hook that runs at the tunnel's start.
func (r *forwardingReader) hook(c *containerView, text string, ref source.Ref, how string, moved bool) {
	s := script{Kind: scriptCommand, Text: text, Ref: ref, Moved: moved, State: Present, Env: c.knownEnv()}
	w := newSysctlWriter(r, c)
	for _, cmd := range c.commandsOf(s) {
		if cmd.opaque {
			r.hidden(c, ref, cmd.script.Why, r.when(c, scriptCommand))
			continue
		}
		w.command(cmd, how)
	}
}

// startupFiles are scripts that LinuxServer images run from a well-known
// directory before their services.
func (r *forwardingReader) startupFiles(c *containerView) {
	if c.c.Family != "linuxserver-wireguard" {
		return
	}
	for _, f := range c.files("/custom-cont-init.d/*") {
		s := script{Kind: scriptFile, Text: f.Text, Ref: f.Ref, State: f.State, Why: f.Why, Path: f.Path, Env: c.knownEnv()}
		r.scripts(c, c.commandsOf(s))
	}
}

// evidence sums one knob up.
func (r *forwardingReader) evidence(k knob) SysctlEvidence {
	list := r.writes[k]
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].at != list[j].at {
			return list[i].at < list[j].at
		}
		return whenRank(list[i].When) < whenRank(list[j].When)
	})
	out := SysctlEvidence{State: Absent, Evidence: []ForwardEvidence{}}
	for _, t := range list {
		out.Evidence = append(out.Evidence, t.ForwardEvidence)
		if t.When == "after" || t.Effective == Absent {
			continue
		}
		certain := t.Effective == Present && !t.maybe
		switch {
		case t.Value == "1" && certain:
			out.State = Present
		case t.Value == "1" && out.State != Present:
			out.State = Unknown
		case t.Value == "0" && certain:
			out.State = Absent
		case t.Value == "0" && out.State == Present:
			out.State = Unknown
		}
	}
	if len(r.unseen) > 0 && out.State == Absent {
		out.State = Unknown
	}
	return out
}

// family sums one address family up.
func (r *forwardingReader) family(k knob) FamilyForwarding {
	found := r.evidence(k)
	out := FamilyForwarding{State: found.State, Evidence: found.Evidence, TurnedOff: Absent}
	if r.p.pod.HostNetwork.Value != "true" {
		for _, c := range r.p.clusters {
			if c.ForwardingOff.State == Present {
				out.TurnedOff, out.TurnedOffBy, out.TurnedOffRef = Present, c.ForwardingOff.Why, c.ForwardingOff.Ref
				break
			}
			if c.ForwardingOff.State == Unknown {
				out.TurnedOff = Unknown
			}
		}
	}
	return out
}

func whenRank(when string) int {
	switch when {
	case "before":
		return 0
	case "start":
		return 1
	default:
		return 2
	}
}

func (r *forwardingReader) recordGap() {
	if r.p.pod.Forwarding.IPv4.State != Unknown || len(r.unseen) == 0 {
		return
	}
	u := r.unseen[0]
	r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod turns IP forwarding on", u.why,
		"a privileged container might write net.ipv4.ip_forward there: VPN101 and VPN108 stay silent about this pod",
		"VPN101", "VPN108")
}

// recordMarkGap: whether the mark is set hangs on a script that cannot be seen.
func (r *forwardingReader) recordMarkGap() {
	if r.p.pod.SrcValidMark.State != Unknown || len(r.unseen) == 0 {
		return
	}
	for _, t := range r.p.pod.Tunnels {
		if t.MarkWrite == "" {
			continue
		}
		u := r.unseen[0]
		r.p.ix.gapAt(finding.Unresolved, r.p.object, u.ref, "whether the pod sets net.ipv4.conf.all.src_valid_mark", u.why,
			"a privileged container might write it there: VPN309 stays silent about this pod", "VPN309")
		return
	}
}

// sysctlWriter reads the commands of one container in order.
type sysctlWriter struct {
	r *forwardingReader
	c *containerView
	// files are the settings that the commands so far put into files, for
	// sysctl -p.
	files map[string][]setLine
	// asked: an earlier command of the scripts reads the sysctl, so that a
	// condition is about its value.
	asked bool
	// remounted: an earlier command remounts /proc/sys, which SYS_ADMIN may.
	remounted bool
}

// setLine is a line of settings that a script puts into a file.
type setLine struct {
	set   sysctl
	value string
	by    command
}

func newSysctlWriter(r *forwardingReader, c *containerView) *sysctlWriter {
	return &sysctlWriter{r: r, c: c, files: map[string][]setLine{}}
}

func (w *sysctlWriter) command(cmd command, how string) {
	if cmd.cmd == nil || cmd.cmd.OtherNetNS {
		return // what it writes is another namespace's
	}
	for _, set := range shell.Sysctls(cmd.cmd) {
		switch of := sysctlOf(set.Key); {
		case set.File != "":
			w.load(cmd, how, set)
		case of.knob != noKnob:
			value := set.Value
			if !set.Known && placeholder(value) == "" && !strings.Contains(value, "$") {
				value = "$" + value
			}
			conditional := cmd.conditional && !set.Ensured && !w.asked
			w.write(cmd, how, of, value, cmd.ref(), cmd.says(), conditional, set.Quiet)
		}
	}
	switch cmd.name() {
	case "kubectl":
		w.kubectl(cmd)
	case "mount", "umount":
		w.remounted = w.remounted || strings.Contains(strings.Join(cmd.args(), " "), "/proc")
	}
	w.remember(cmd)
	for _, name := range []string{"ip_forward", "forwarding", "src_valid_mark", "rp_filter", "disable_ipv6"} {
		w.asked = w.asked || strings.Contains(cmd.text(), name)
	}
}

// remember keeps what echo, printf, cat or tee put into a file:
// echo net.ipv4.ip_forward=1 >> /etc/sysctl.conf.
func (w *sysctlWriter) remember(cmd command) {
	var text string
	switch cmd.name() {
	case "echo", "printf":
		text = strings.ReplaceAll(strings.Join(cmd.args(), " "), `\n`, "\n")
	case "cat", "tee":
		text = input(cmd.cmd)
	default:
		return
	}
	var targets []string
	for _, redirect := range cmd.cmd.Redirects {
		targets = append(targets, redirect.Target.Text)
	}
	if cmd.name() == "tee" {
		targets = append(targets, cmd.args()...)
	}
	for _, target := range targets {
		for _, a := range assignments(text) {
			target := path.Clean(target)
			w.files[target] = append(w.files[target], setLine{set: a.set, value: a.value, by: cmd})
		}
	}
}

// input is what a command reads: a here-document, or what echo pipes into it.
func input(cmd *shell.Command) string {
	if cmd.HereDoc != "" || cmd.PipedFrom == nil {
		return cmd.HereDoc
	}
	var out []string
	for i, word := range cmd.PipedFrom.Words {
		if i > 0 {
			out = append(out, word.Text)
		}
	}
	return strings.ReplaceAll(strings.Join(out, " "), `\n`, "\n")
}

// assignment is one setting of a sysctl.conf.
type assignment struct {
	set        sysctl
	value      string
	start, end int
}

// assignments reads the lines of a sysctl.conf that turn a knob.
func assignments(text string) []assignment {
	var out []assignment
	at := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		body := strings.TrimRight(line, "\r\n")
		start := at + len(body) - len(strings.TrimLeft(body, " \t"))
		at += len(line)
		setting := strings.TrimPrefix(strings.TrimSpace(body), "-")
		name, value, found := strings.Cut(setting, "=")
		if !found || strings.HasPrefix(setting, "#") || strings.HasPrefix(setting, ";") {
			continue
		}
		if set := sysctlOf(name); set.knob != noKnob {
			out = append(out, assignment{set, strings.TrimSpace(value), start, start + len(strings.TrimSpace(body))})
		}
	}
	return out
}

// load reads the settings of sysctl -p and --system: from files that the script
// wrote before, and from mounted ones.
func (w *sysctlWriter) load(cmd command, how string, set shell.Sysctl) {
	names := []string{path.Clean(set.File)}
	switch set.File {
	case "*":
		names = []string{"/etc/sysctl.conf", "/etc/sysctl.d"}
	case "-", "/dev/stdin":
		for _, a := range assignments(input(cmd.cmd)) {
			w.write(cmd, how, a.set, a.value, cmd.ref(), cmd.says(), cmd.conditional, set.Quiet)
		}
		return
	}
	if !set.KeyKnown {
		w.r.hidden(w.c, cmd.ref(), "which file "+cmd.says()+" reads is known only at run time", w.r.when(w.c, cmd.script.Kind))
		return
	}
	for _, name := range names {
		for _, target := range sortedKeys(w.files) {
			if target != name && !strings.HasPrefix(target, name+"/") {
				continue
			}
			for _, f := range w.files[target] {
				w.write(cmd, how, f.set, f.value, f.by.ref(), f.by.says(), cmd.conditional || f.by.conditional, set.Quiet)
			}
		}
		for _, f := range w.c.files(name, name+"/*.conf") {
			if f.State == Unknown {
				w.r.hidden(w.c, f.Ref, f.Why, w.r.when(w.c, cmd.script.Kind))
				continue
			}
			for _, a := range assignments(f.Text) {
				w.write(cmd, how, a.set, a.value, f.Ref.Within(a.start, a.end), clip(f.Text[a.start:a.end]), cmd.conditional, set.Quiet)
			}
		}
	}
}

// write records one write by a command.
func (w *sysctlWriter) write(cmd command, how string, set sysctl, value string, ref source.Ref, says string, conditional, quiet bool) {
	can := w.c.canWrite()
	if can == Absent && w.remounted && w.c.mayUse("SYS_ADMIN") {
		can = Unknown
	}
	// A write that fails matters only where it is tried at all, however certain
	// the value would be after one that works.
	tried := conditional
	if can == Absent {
		tried = cmd.conditional
	}
	w.r.write(set, value, timed{
		at: w.c.c.Order, maybe: conditional,
		ForwardEvidence: ForwardEvidence{
			How: how, Container: w.c.c.Name, Ref: ref, Says: says, Effective: can,
			When: w.r.when(w.c, cmd.script.Kind), Tolerant: cmd.tolerated || quiet, Conditional: tried,
		},
	})
}

// kubectl: a command that writes in another pod's namespace is lost with that
// pod's next restart, and never acts on this one.
func (w *sysctlWriter) kubectl(cmd command) {
	args := cmd.args()
	if !containsWord(args, "exec") {
		return
	}
	for _, token := range strings.Fields(strings.Join(args, " ")) {
		token = strings.Trim(token, `"';`)
		name, value, _ := strings.Cut(token, "=")
		set := sysctlOf(name)
		if set.knob == noKnob || value == "0" {
			continue
		}
		w.r.add(set.knob, timed{at: w.c.c.Order, maybe: true, ForwardEvidence: ForwardEvidence{
			How: "kubectl-exec", Value: "1", Container: w.c.c.Name, Ref: cmd.ref(), Says: cmd.says(),
			Effective: Absent, When: "after", Tolerant: cmd.tolerated,
		}})
		return
	}
}
