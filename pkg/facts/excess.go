package facts

import (
	"path"
	"regexp"
	"slices"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// What a tunnel's wg-quick does about src_valid_mark (FG D3.4).
const (
	markAlways   = "always"
	markUnset    = "when-unset"
	markUpstream = "upstream"
	markNever    = "never"
	markUnknown  = "unknown"
)

// lastUnconditional is the date of the last wg-quick that writes the mark
// whatever its value (FG D3.4).
const lastUnconditional = "20250521"

var tagDate = regexp.MustCompile(`(?:^|\D)(20[0-9]{6})(?:\D|$)`)

// markWrite tells what the wg-quick of a tunnel with fwmark routing does.
func (r *tunnelReader) markWrite() string {
	switch r.family.ID {
	case "linuxserver-wireguard":
		return markUnset
	case "jordanpotter-wireguard", "nordlynx":
		return markNever // taken out of wg-quick (FG C4, D3.4)
	case "masipcat-wireguard-go", "cmulk-wireguard":
		if date := tagDate.FindStringSubmatch(r.c.image.Tag); len(date) == 2 && date[1] <= lastUnconditional {
			return markAlways
		}
		return markUpstream
	case "wireguard-generic", "boringtun", "bryopsida-wireguard", "denefoster-k8s-wireguard":
		return markUpstream
	default:
		return markUnknown
	}
}

// wgQuick adds what wg-quick itself does when it makes a default route.
func (r *forwardingReader) wgQuick(c *containerView) {
	for _, t := range r.p.pod.Tunnels {
		if t.Container != c.c.Name || t.MarkWrite == "" || t.MarkWrite == markNever {
			continue
		}
		e := timed{at: c.c.Order, ForwardEvidence: ForwardEvidence{
			How: "image", Value: "1", Container: c.c.Name, Ref: c.c.ImageRef, Says: "wg-quick writes src_valid_mark",
			Effective: c.canWrite(), When: r.when(c, scriptCommand),
		}}
		if t.MarkWrite == markUnknown && e.Effective != Absent {
			e.maybe, e.Effective = true, Unknown
		}
		r.add(validMark, e)
		return
	}
}

// judgePrivileges fills in, for containers that carry a VPN, whether they need
// to be privileged and what else they may do to the node.
func (r *forwardingReader) judgePrivileges() {
	for _, c := range r.p.containers {
		c.c.NeedsPrivilege = Switch{State: Unknown, Ref: c.c.Ref}
		c.c.Modules = []NamedRef{}
		if c.c.DataPlane && c.image.Family != nil {
			c.c.NeedsPrivilege = r.needsPrivilege(c)
			c.c.Modules = c.modules()
		}
	}
}

// needsPrivilege: NET_ADMIN and the tun device carry a VPN; writing sysctls
// takes more (FG D3.1), and some images ask for it (FG C0, Needs).
func (r *forwardingReader) needsPrivilege(c *containerView) Switch {
	yes := func(ref source.Ref, why string) Switch { return Switch{State: Present, Ref: ref, Why: why} }
	unknown := func(ref source.Ref, why string) Switch { return Switch{State: Unknown, Ref: ref, Why: why} }
	if granted := c.spec.get("securityContext", "privileged"); granted.exists() && granted.moved() {
		return yes(granted.ref(), "what makes the pod runs it so")
	}
	if c.image.Family.Needs.Privileged {
		return yes(c.c.ImageRef, "the image needs it")
	}
	if c.c.Family == "netbird" {
		return yes(c.c.ImageRef, "in kernel mode it writes sysctls") // FG C7
	}
	for _, k := range []knob{forward4, forward6, validMark, looseFilter, withoutIPv6} {
		for _, e := range r.writes[k] {
			if e.Container == c.c.Name && e.Effective != Absent && !r.spared(k, c, e) {
				return yes(e.Ref, e.Says)
			}
		}
	}
	forwarding := r.p.pod.Forwarding
	if forwarding.Needed != Absent && forwarding.IPv4.State != Present {
		return unknown(c.c.Ref, "the pod must forward, and nothing else makes sure of it")
	}
	if why, missing := r.lacksSysctl(c); missing {
		return unknown(c.c.ImageRef, why)
	}
	for _, u := range r.unseen {
		if u.container == c.c.Name {
			return unknown(u.ref, u.why.text)
		}
	}
	for _, cmd := range c.commands() {
		if cmd.opaque {
			return unknown(cmd.script.Ref, cmd.script.Why.text)
		}
		switch cmd.name() {
		case "modprobe", "insmod", "mount", "umount", "nsenter", "unshare", "chroot":
			return yes(cmd.ref(), cmd.says())
		}
	}
	return Switch{State: Absent, Ref: c.c.Ref, Why: "NET_ADMIN is enough"}
}

// spared: a wg-quick that only writes the mark where it differs needs no right
// to do so when the pod has it set.
func (r *forwardingReader) spared(k knob, c *containerView, e timed) bool {
	if k != validMark || e.How != "image" {
		return false
	}
	for _, t := range r.p.pod.Tunnels {
		if t.Container == c.c.Name && t.MarkWrite != markUnset && t.MarkWrite != markUnknown {
			return false
		}
	}
	return r.setBesides(validMark, c)
}

// setBesides: something else than the container certainly turns a knob before.
func (r *forwardingReader) setBesides(k knob, c *containerView) bool {
	for _, e := range r.writes[k] {
		if e.Container != c.c.Name && e.Value == "1" && e.Effective == Present && !e.maybe && e.When != "after" {
			return true
		}
	}
	return false
}

// lacksSysctl: the image wants a sysctl for its routing that nothing else sets;
// whether it would write it itself is not known.
func (r *forwardingReader) lacksSysctl(c *containerView) (string, bool) {
	if c.c.Family == "linuxserver-wireguard" {
		return "", false // only with fwmark routing, which wgQuick accounts for
	}
	kind := ""
	for _, t := range r.p.pod.Tunnels {
		if t.Container == c.c.Name {
			kind = t.Kind
		}
	}
	for _, s := range c.image.Family.Needs.Sysctls {
		k := sysctlOf(s.Key).knob
		if k != validMark && k != looseFilter || s.When == "wireguard" && kind != "wireguard" && kind != "" {
			continue
		}
		if !r.setBesides(validMark, c) && !r.setBesides(looseFilter, c) {
			return s.Key + " is not set by anything else", true
		}
	}
	return "", false
}

// modules are the ways in which a container may load kernel modules. Kernels
// since 5.6 bring WireGuard and load it by themselves (FG D3.5).
func (c *containerView) modules() []NamedRef {
	out := []NamedRef{}
	if containsWord(c.image.Family.Needs.Capabilities, "SYS_MODULE") {
		return out
	}
	for _, cmd := range c.commands() {
		if cmd.opaque || cmd.name() == "modprobe" || cmd.name() == "insmod" {
			return out
		}
	}
	for _, add := range c.spec.get("securityContext", "capabilities", "add").texts() {
		if capability(add) == "SYS_MODULE" && containsWord(c.c.Capabilities, "SYS_MODULE") {
			out = append(out, NamedRef{Name: c.c.Name, Ref: add.ref(), Says: "SYS_MODULE"})
		}
	}
	for _, m := range c.spec.get("volumeMounts").items() {
		for _, v := range c.pod.spec.get("volumes").items() {
			host := v.get("hostPath", "path")
			if host.exists() && v.get("name").text() == m.get("name").text() && path.Clean("/"+host.text()) == "/lib/modules" &&
				!slices.Contains(c.image.Family.Needs.HostPaths, "/lib/modules") {
				out = append(out, NamedRef{Name: c.c.Name, Ref: m.ref(), Says: "/lib/modules of the node"})
			}
		}
	}
	return out
}
