package facts

import (
	"path"
	"strconv"
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

// settingLine is a line of a sysctl.conf that is no comment.
type settingLine struct {
	name, value string
	// sets: a = stands in it.
	sets       bool
	start, end int
}

func settingLines(text string) []settingLine {
	var out []settingLine
	at := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		body := strings.TrimRight(line, "\r\n")
		l := settingLine{start: at + len(body) - len(strings.TrimLeft(body, " \t"))}
		at += len(line)
		l.end = l.start + len(strings.TrimSpace(body))
		setting := strings.TrimPrefix(strings.TrimSpace(body), "-")
		if setting == "" || setting[0] == '#' || setting[0] == ';' {
			continue
		}
		l.name, l.value, l.sets = strings.Cut(setting, "=")
		l.value = strings.TrimSpace(l.value)
		out = append(out, l)
	}
	return out
}

// assignments reads the lines of a sysctl.conf that turn a knob.
func assignments(text string) []assignment {
	var out []assignment
	for _, l := range settingLines(text) {
		if set := sysctlOf(l.name); l.sets && set.knob != noKnob {
			out = append(out, assignment{set, l.value, l.start, l.end})
		}
	}
	return out
}

// refusedSetting is a line of which nobody makes the setting that it is meant to be.
type refusedSetting struct {
	why        string
	start, end int
}

// refusedSettings are the lines with a name that the kernel does not have, or with no
// value that it takes.
func refusedSettings(text string) []refusedSetting {
	var out []refusedSetting
	for _, l := range settingLines(text) {
		name, _, _ := strings.Cut(normalSysctl(l.name), " ")
		bad := refusedSetting{start: l.start, end: l.end}
		switch meant := shell.MisspeltSysctl(name); {
		case meant != "":
			bad.why = "the kernel has no setting " + clip(name) + ", " + strconv.Quote(meant) + " is near"
		case !shell.MeansForwarding(name) || placeholder(l.value) != "":
			continue
		case !l.sets:
			bad.why = "it is no setting: no = stands between the name and a value"
		case !shell.TakenByKernel(l.value):
			bad.why = strconv.Quote(clip(l.value)) + " is no number, and " + name + " takes one"
		default:
			continue
		}
		out = append(out, bad)
	}
	return out
}
