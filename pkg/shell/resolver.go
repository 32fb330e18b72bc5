package shell

import (
	"net/netip"
	"strings"
)

// ResolverWrite is a command that changes /etc/resolv.conf.
type ResolverWrite struct {
	// Servers are the addresses of its nameserver lines; Known: they are all.
	Servers []string
	Known   bool
	// Append: what stood there stays in front of it.
	Append bool
}

const resolvConf = "/etc/resolv.conf"

// WritesResolver reads echo nameserver A > /etc/resolv.conf, tee, programs that
// put a file in its place or edit it, and resolvconf -a.
func WritesResolver(c *Command) (w ResolverWrite, ok bool) {
	for _, r := range c.Redirects {
		if r.Target.Known && r.Target.Text == resolvConf {
			text, known := printed(c)
			return resolverLines(text, known, r.Op == ">>")
		}
	}
	args := c.args()
	switch c.Name() {
	case "tee":
		to, more := false, false
		for _, a := range args {
			to, more = to || a.Text == resolvConf, more || a.Text == "-a" || a.Text == "--append"
		}
		if to {
			text, known := input(c)
			return resolverLines(text, known, more)
		}
	case "resolvconf":
		if len(args) > 0 && args[0].Text == "-a" {
			text, known := input(c)
			return resolverLines(text, known, false)
		}
	case "cp", "mv", "ln", "install":
		return ResolverWrite{}, len(args) > 1 && args[len(args)-1].Text == resolvConf
	case "sed":
		return ResolverWrite{}, len(args) > 1 && strings.HasPrefix(args[0].Text, "-i") && args[len(args)-1].Text == resolvConf
	}
	return ResolverWrite{}, false
}

// input is what a command reads from standard input, where that is known.
func input(c *Command) (text string, known bool) {
	if c.PipedFrom != nil {
		return printed(c.PipedFrom)
	}
	return c.HereDoc, c.HereDocKnown && c.HereDoc != ""
}

func resolverLines(text string, known, more bool) (w ResolverWrite, ok bool) {
	w = ResolverWrite{Known: known, Append: more}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, `\n`, "\n"), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "nameserver" {
			continue
		}
		if len(fields) != 2 {
			w.Known = false
			continue
		}
		if _, err := netip.ParseAddr(fields[1]); err != nil {
			w.Known = false
			continue
		}
		w.Servers = append(w.Servers, fields[1])
	}
	w.Known = w.Known && len(w.Servers) > 0
	// Search domains and options behind the servers change none of them.
	return w, !more || !known || len(w.Servers) > 0
}
