package facts

import (
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
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
		case "forwarding":
			// The kernel asks the interface that a packet comes in by. That of the
			// pod's network alone is not enough; with others it may be.
			if which != "eth0" {
				return sysctl{forward4, true}
			}
			return sysctl{}
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

// sysctlWritten is what a write says about a knob. A wildcard of the shell stands
// for conf.all as well.
func sysctlWritten(set shell.Sysctl) sysctl {
	if set.Everywhere() {
		return sysctlOf(strings.ReplaceAll(set.Key, "*", "all"))
	}
	return sysctlOf(set.Key)
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
