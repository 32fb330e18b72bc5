package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
)

// reached tells whether the script comes to a command: Present where it does on
// every way, or where what decides is what a reader takes for granted (a tool
// that is there, a file that the manifest mounts, an action that works, a check
// before the same change); Absent where that excludes it; Unknown otherwise,
// with the ways that stay open.
func (c command) reached() (Known, []shell.Fork) {
	var open []shell.Fork
	for _, f := range c.forks {
		switch c.taken(f) {
		case Absent:
			return Absent, nil
		case Unknown:
			open = append(open, f)
		}
	}
	if len(open) > 0 {
		return Unknown, open
	}
	return Present, nil
}

// certain reports whether the script surely comes to a command.
func (c command) certain() bool {
	state, _ := c.reached()
	return state == Present
}

// taken tells whether a way is taken.
func (c command) taken(f shell.Fork) Known {
	switch {
	case f.Choice == nil || f.Test == nil:
		return Unknown
	case !f.Succeeds && c.cmd != nil && shell.Answers(c.cmd, f.Test):
		return Present // what it adds is there already, or now
	case len(f.Also) == 0:
		return c.ends(f.Test, f.Succeeds)
	}
	// All of them did what they had to, or one did not.
	onAll := f.Way == f.AllOn
	all := c.ends(f.Test, f.Succeeds == onAll)
	for _, o := range f.Also {
		all = and(all, c.ends(o.Command, o.Succeeds))
	}
	switch {
	case onAll:
		return all
	case all == Absent:
		return Present
	default:
		return Unknown
	}
}

// ends tells whether a command ends as it must. What is expected to work is no
// proof that the answer to its failure is never given.
func (c command) ends(test *shell.Command, well bool) Known {
	switch test.Name() {
	case "[", "test", "[[":
		return as(c.holds(test), well)
	}
	if well && c.works(test) {
		return Present
	}
	return Unknown
}

// as turns the answer around unless it is success that is asked for.
func as(k Known, success bool) Known {
	if success {
		return k
	}
	return k.not()
}

// works: a reader expects the command to succeed: a tool that is looked for, the
// tunnel's own interface, a change.
func (c command) works(test *shell.Command) bool {
	if test.Refused != nil {
		return false
	}
	switch test.Name() {
	case "command", "which", "type", "hash":
		return true
	case "ip", "ifconfig", "wg", "grep", "egrep", "fgrep":
		if shell.WaitsFor(test) == shell.TunnelInterface {
			return true
		}
	}
	if shell.Asks(test) {
		return false
	}
	switch test.Name() {
	case "wg-quick", "wg", "awg-quick", "awg", "ip", "iptables", "ip6tables", "nft", "sysctl", "modprobe", "openvpn", "mkdir", "mknod", "chmod", "chown", "cp", "mv",
		"ln", "touch", "echo", "printf", "cat", "tee", "sleep", "set", "export", "cd", ":":
		return true
	}
	return false
}

// holds evaluates a test of a file. Of anything else the script's own reader
// knows whether it can be told.
func (c command) holds(test *shell.Command) Known {
	words := make([]string, 0, len(test.Words))
	for _, w := range test.Words[1:] {
		if w.Text != "]" && w.Text != "]]" {
			words = append(words, w.Text)
		}
	}
	negated := false
	for len(words) > 0 && words[0] == "!" {
		words, negated = words[1:], !negated
	}
	if len(words) != 2 {
		return Unknown
	}
	switch words[0] {
	case "-e", "-a", "-f", "-r", "-s", "-d", "-x", "-c", "-L", "-h", "-w", "-p", "-S":
	default:
		return Unknown
	}
	return as(c.exists(words[1], words[0] == "-w"), !negated)
}

// exists tells whether a file is there when the script starts: one that the
// manifest mounts, or a setting of the kernel; nothing stands in a fresh /tmp or
// /run. What lies in the image or a volume is not known.
func (c command) exists(name string, writable bool) Known {
	if !strings.HasPrefix(name, "/") || strings.ContainsAny(name, "$`*?") || c.in == nil {
		return Unknown
	}
	for _, dir := range []string{"/proc/sys/net/ipv4/", "/proc/self", "/sys/class/net"} {
		if strings.HasPrefix(name, dir) && !writable {
			if _, iface, of := strings.Cut(name, "/sys/class/net/"); of && !shell.TunnelName(iface) && iface != "eth0" {
				return Unknown
			}
			return Present
		}
	}
	f := c.in.file(name)
	at := c.in.mountOf(path.Clean(name))
	switch {
	case writable:
		return Unknown
	case f.State == Present, at >= 0 && c.in.mountList[at].shows(path.Clean(name)):
		return Present
	case f.State == Absent && (at >= 0 || strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/run/") || strings.HasPrefix(name, "/var/run/")):
		return Absent
	default:
		return Unknown
	}
}

// shows reports whether a path is the mount's own, or a directory with a file of
// it.
func (m mount) shows(name string) bool {
	return name == m.path || slices.ContainsFunc(m.files, func(f mountedFile) bool { return strings.HasPrefix(f.Path, name+"/") })
}
