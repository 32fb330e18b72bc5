package shell

import "strings"

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "ash", "dash", "ksh", "mksh", "zsh":
		return true
	}
	return false
}

// shellScript finds the script of sh -c '...'. ok is false for a shell that
// runs a file.
func shellScript(name string, args []Word) (Word, bool) {
	if name != "su" && !isShell(name) {
		return Word{}, false
	}
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case a == "-o" || a == "+o":
			i++
		case a == "--command" && name == "su", len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "c"):
			// Options may still follow before the script: bash -c -e '...'.
			i++
			for i < len(args) && len(args[i].Text) > 1 && (args[i].Text[0] == '-' || args[i].Text[0] == '+') {
				i++
			}
			if i < len(args) {
				return args[i], true
			}
			return Word{}, false
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "+"), name == "su":
		default:
			return Word{}, false
		}
	}
	return Word{}, false
}

// readsInput reports whether a shell with these arguments reads its script from
// standard input.
func readsInput(args []Word) bool {
	for _, a := range args {
		if a.Text == "-s" || a.Text == "-" {
			return true
		}
		if !strings.HasPrefix(a.Text, "-") {
			return false
		}
	}
	return true
}

// wrapperValues are the options of wrappers that take the next word.
var wrapperValues = map[string]string{
	"sudo": "ugpCDhrtTU", "doas": "uC", "nice": "n", "ionice": "cnp", "timeout": "ks", "env": "uCS", "stdbuf": "ioe", "nsenter": "tSGw",
	"unshare": "", "chroot": "", "setpriv": "", "chrt": "p", "taskset": "", "flock": "wE", "xargs": "ILnPsdaE", "tini": "pe",
	"dumb-init": "r", "runuser": "ug", "su-exec": "", "gosu": "", "catatonit": "g", "watch": "n", "strace": "eopsu",
}

// namespace is the network namespace that a wrapper runs a command in.
type namespace int

const (
	ownNamespace namespace = iota
	// firstNamespace is that of process 1: the node's where the container sees the
	// node's processes, else its own.
	firstNamespace
	otherNamespace
)

// unwrap returns the command that a wrapper runs, and in which network namespace.
func unwrap(name string, args []Word) (inner []Word, netns namespace, ok bool) {
	positional := 0
	switch name {
	case "command", "builtin":
		for _, a := range args {
			if a.Text == "-v" || a.Text == "-V" {
				return nil, ownNamespace, false
			}
		}
	case "time", "nohup", "setsid", "sudo", "doas", "nice", "ionice", "env", "stdbuf", "nsenter", "unshare", "setpriv",
		"xargs", "tini", "tini-static", "dumb-init", "catatonit", "watch", "strace", "runuser":
	case "timeout", "chroot", "chrt", "taskset", "flock", "su-exec", "gosu", "s6-setuidgid":
		positional = 1
	case "busybox", "toybox":
		return args, ownNamespace, len(args) > 0 && !strings.HasPrefix(args[0].Text, "-")
	case "with-contenv":
	case "ip":
		return netnsExec(args)
	default:
		return nil, ownNamespace, false
	}
	values := wrapperValues[name]
	i := 0
	for i < len(args) {
		a := args[i].Text
		if a == "--" {
			i++
			break
		}
		if name == "env" && strings.Contains(a, "=") && !strings.HasPrefix(a, "-") {
			i++
			continue
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		if name == "nsenter" && entersNet(a) || name == "unshare" && (a == "-n" || strings.HasPrefix(a, "--net")) {
			netns = otherNamespace
		}
		i++
		switch {
		case a[1] == '-':
			// A long option holds its value after "=", but a few take a word.
			if (a == "--target" || a == "--user" || a == "--signal" || a == "--kill-after" || a == "--adjustment") && i < len(args) {
				i++
			}
		case strings.IndexByte(values, a[len(a)-1]) >= 0 && i < len(args):
			i++
		}
	}
	if name == "nsenter" && netns == otherNamespace && ofFirstProcess(args[:i]) {
		netns = firstNamespace
	}
	i += positional
	if i >= len(args) {
		return nil, ownNamespace, false
	}
	return args[i:], netns, true
}

// entersNet: nsenter -n, --net, -a, and bundles such as -tn.
func entersNet(option string) bool {
	if strings.HasPrefix(option, "--") {
		return strings.HasPrefix(option, "--net") || option == "--all"
	}
	return strings.ContainsAny(option, "na")
}

// ofFirstProcess: the options of nsenter name process 1, as -t 1 or by the file of
// its network namespace.
func ofFirstProcess(options []Word) bool {
	for i, o := range options {
		switch a := o.Text; {
		case a == "--target=1", strings.HasSuffix(a, "=/proc/1/ns/net"), strings.HasSuffix(a, "n/proc/1/ns/net"):
			return true
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "t1"):
			return true
		case i > 0 && a == "1":
			before := options[i-1].Text
			return before == "--target" || strings.HasPrefix(before, "-") && !strings.HasPrefix(before, "--") && strings.HasSuffix(before, "t")
		}
	}
	return false
}

// netnsExec looks through "ip netns exec NAME command" and "ip -n NAME ...".
func netnsExec(args []Word) (inner []Word, netns namespace, ok bool) {
	if len(args) > 3 && args[0].Text == "netns" && args[1].Text == "exec" {
		return args[3:], otherNamespace, true
	}
	return nil, ownNamespace, false
}
