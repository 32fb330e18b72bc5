package shell

import (
	"strconv"
	"strings"
)

// Asks reports whether a command asks rather than acts.
func Asks(c *Command) bool {
	args := c.args()
	arg := func(i int) string {
		if i < len(args) {
			return args[i].Text
		}
		return ""
	}
	switch c.Name() {
	case "[", "test", "[[", "grep", "egrep", "fgrep", "command", "which", "type", "hash", "ping", "ping6", "nc", "pgrep", "pidof",
		"true", "false", "expr", "cmp", "diff", "lsmod", "getent", "mountpoint":
		return true
	case "iptables", "ip6tables", "iptables-legacy", "iptables-nft", "ip6tables-legacy", "ip6tables-nft":
		for _, a := range args {
			if a.Text == "-C" || a.Text == "--check" {
				return true
			}
		}
	case "ip":
		for _, a := range args {
			switch a.Text {
			case "show", "list", "ls", "get":
				return true
			}
		}
	case "wg":
		return arg(0) == "show" || arg(0) == ""
	case "sysctl":
		for _, a := range args {
			if strings.Contains(a.Text, "=") || a.Text == "-p" || a.Text == "-w" || strings.HasPrefix(a.Text, "--load") || a.Text == "--system" {
				return false
			}
		}
		return true
	}
	return false
}

// exitStatus reads the argument of exit or return.
func exitStatus(args []Word) (failed bool) {
	if len(args) == 0 || !args[0].Known {
		return false
	}
	n, err := strconv.Atoi(args[0].Text)
	return err == nil && n != 0
}
