package facts

import (
	"net/netip"
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/shell"
	"github.com/vpnlint/vpnlint/pkg/source"
)

// command is a command of one of a container's scripts.
type command struct {
	cmd    *shell.Command
	script script
	// words are the command's words without wrappers such as busybox or exec.
	words []shell.Word
	// conditional, loop and tolerated include what encloses the script.
	conditional, loop, tolerated bool
	// opaque: it stands for a script that cannot be seen; cmd is nil.
	opaque bool
}

// commands returns the commands of all scripts of the container, mounted
// scripts that they run included, in the order in which they run. A script that
// cannot be seen is one opaque command.
func (c *containerView) commands() []command {
	if !c.commandsRead {
		c.commandsRead = true
		for _, s := range c.scripts() {
			c.commandList = append(c.commandList, c.commandsOf(s)...)
		}
	}
	return c.commandList
}

// commandsOf reads one script and those that it runs.
func (c *containerView) commandsOf(s script) []command {
	r := &commandReader{c: c, visited: map[string]bool{}}
	if s.Path != "" {
		r.visited[s.Path] = true
	}
	r.read(s, command{}, 0)
	return r.out
}

type commandReader struct {
	c       *containerView
	visited map[string]bool
	out     []command
}

func (r *commandReader) read(s script, outer command, depth int) {
	const maxDepth, maxCommands = 5, 5000
	if s.State == Unknown {
		r.out = append(r.out, command{
			script: s, opaque: true, conditional: outer.conditional, loop: outer.loop, tolerated: outer.tolerated,
		})
		return
	}
	for _, cmd := range parseShell(s.Text, s.Env) {
		if len(r.out) >= maxCommands {
			return
		}
		it := command{
			cmd: cmd, script: s, words: unwrapCommand(cmd.Words),
			conditional: outer.conditional || cmd.Conditional,
			loop:        outer.loop || cmd.Loop,
			tolerated:   outer.tolerated || cmd.Tolerated,
		}
		r.out = append(r.out, it)
		if depth < maxDepth {
			r.follow(it, depth)
		}
	}
}

// follow reads what a command runs in turn: sh -c, sh file, . file, file.
func (r *commandReader) follow(it command, depth int) {
	if len(it.words) == 0 {
		return
	}
	var argv []word
	for _, w := range it.words {
		state := Present
		if !w.Known {
			state = Unknown
		}
		argv = append(argv, word{value: value{State: state, Text: w.Text, Ref: it.ref(), Moved: true}})
	}
	inline, file, _ := unwrapShell(argv)
	name := ""
	switch {
	case inline != nil:
		r.read(script{
			Kind: it.script.Kind, Text: inline.Text, Ref: it.ref(), Moved: true, State: Present, Env: it.script.Env,
		}, it, depth+1)
		return
	case file != nil:
		name = file.Text
	case (it.words[0].Text == "." || it.words[0].Text == "source") && len(it.words) > 1:
		name = it.words[1].Text
	case strings.HasPrefix(it.words[0].Text, "/"):
		name = it.words[0].Text
	}
	if !strings.HasPrefix(name, "/") || r.visited[name] {
		return
	}
	s, found := r.c.scriptFile(name, it.script.Env)
	if !found {
		return
	}
	r.visited[name] = true
	if it.script.Kind != scriptCommand {
		s.Kind = it.script.Kind
	}
	r.read(s, it, depth+1)
}

// unwrapCommand drops programs that only start another one.
func unwrapCommand(words []shell.Word) []shell.Word {
	for len(words) > 1 {
		skip := 0
		switch path.Base(words[0].Text) {
		case "busybox", "exec", "command", "nohup", "sudo", "env", "time", "nice", "chroot", "tini", "dumb-init", "su-exec", "gosu", "timeout":
			skip = 1
		default:
			return words
		}
		wrapper := path.Base(words[0].Text)
		for skip < len(words) && (strings.HasPrefix(words[skip].Text, "-") || wrapper == "env" && strings.Contains(words[skip].Text, "=")) {
			skip++
		}
		switch wrapper {
		case "chroot", "su-exec", "gosu", "timeout":
			skip++ // its own operand
		}
		if skip >= len(words) {
			return words
		}
		words = words[skip:]
	}
	return words
}

// name is the program's name without its directory, "" for an assignment or an
// opaque script.
func (c command) name() string {
	if len(c.words) == 0 {
		return ""
	}
	return path.Base(c.words[0].Text)
}

// args are the words after the name.
func (c command) args() []string {
	var out []string
	for i, w := range c.words {
		if i > 0 {
			out = append(out, w.Text)
		}
	}
	return out
}

// ref is the command's place.
func (c command) ref() source.Ref {
	if c.cmd == nil {
		return c.script.Ref
	}
	return c.script.within(c.cmd.Start, c.cmd.End)
}

// says is the command as written, on one line.
func (c command) says() string {
	if c.cmd == nil || c.cmd.Start < 0 || c.cmd.End > len(c.script.Text) || c.cmd.End <= c.cmd.Start {
		return clip(c.script.Text)
	}
	return clip(c.script.Text[c.cmd.Start:c.cmd.End])
}

// text is the command as written.
func (c command) text() string {
	if c.cmd == nil || c.cmd.Start < 0 || c.cmd.End > len(c.script.Text) || c.cmd.End <= c.cmd.Start {
		return ""
	}
	return c.script.Text[c.cmd.Start:c.cmd.End]
}

// talk is whom a command talks to over the network.
type talk int

const (
	talksNothing talk = iota
	talksLocal        // to the pod itself
	talksCluster      // to a name or address that only exists inside
	talksUnclear      // it uses the network, the destination is not certain
	talksOutside
)

// talks tells whom a command talks to.
func (c command) talks() talk {
	if c.opaque {
		return talksUnclear
	}
	switch c.name() {
	case "wget", "curl", "ping", "ping6", "nc", "ncat", "nslookup", "dig", "host", "telnet", "traceroute", "ssh", "psql", "mysql",
		"redis-cli", "pg_isready", "openssl", "getent", "drill", "socat", "mc", "aria2c", "rsync", "scp", "sftp", "ftp":
	case "apk", "apt", "apt-get", "yum", "dnf", "pip", "pip3", "npm", "gem", "go":
		for _, w := range c.args() {
			switch w {
			case "add", "install", "update", "upgrade", "get", "download":
				return talksOutside
			}
		}
		return talksNothing
	case "git":
		for _, w := range c.args() {
			switch w {
			case "clone", "fetch", "pull", "push", "ls-remote":
				return c.destination()
			}
		}
		return talksNothing
	default:
		return talksNothing
	}
	return c.destination()
}

// destination classifies the hosts among a command's words.
func (c command) destination() talk {
	far := talksNothing
	for i, w := range c.words {
		if i == 0 || strings.HasPrefix(w.Text, "-") && !strings.Contains(w.Text, "=") {
			continue
		}
		if !w.Known {
			far = max(far, talksUnclear)
			continue
		}
		for _, h := range hosts(w.Text) {
			if isNumber(h.name) {
				continue // a count, a port, a time
			}
			far = max(far, hostTalk(h))
		}
	}
	if far == talksNothing {
		return talksUnclear
	}
	return far
}

func hostTalk(h host) talk {
	name := strings.TrimSuffix(strings.ToLower(h.name), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		switch {
		case addr.IsLoopback(), addr.IsUnspecified():
			return talksLocal
		case isPrivate(netip.PrefixFrom(addr, addr.BitLen())):
			return talksCluster
		default:
			return talksOutside
		}
	}
	labels := strings.Split(name, ".")
	switch {
	case name == "localhost":
		return talksLocal
	case len(labels) == 1:
		return talksCluster // no public name has one label
	case strings.HasSuffix(name, ".svc"), strings.HasSuffix(name, ".cluster.local"), strings.HasSuffix(name, ".local"),
		strings.HasSuffix(name, ".internal"), strings.HasSuffix(name, ".lan"), strings.HasSuffix(name, ".home.arpa"):
		return talksCluster
	case len(labels) == 2 && !h.url && !publicSuffix(labels[1]):
		return talksCluster // name.namespace
	default:
		return talksOutside
	}
}

// publicSuffix knows the ends of the names that scripts test the network with.
func publicSuffix(label string) bool {
	switch label {
	case "com", "net", "org", "io", "dev", "me", "co", "info", "app", "ch", "de", "uk", "eu", "us", "se", "nl", "fr", "at", "cloud", "biz", "gov", "edu":
		return true
	default:
		return false
	}
}
