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
	// in is the container that runs it.
	in     *containerView
	cmd    *shell.Command
	script script
	// words are the command's words; wrappers such as busybox, exec or sh -c were
	// looked through.
	words []shell.Word
	// conditional, loop, awaited (a loop goes on until it succeeds) and tolerated
	// include what encloses the script.
	conditional, loop, awaited, tolerated bool
	// forks are the ways that it stands on, those of what encloses its script
	// first.
	forks []shell.Fork
	// before are the commands that its reader met before it.
	before []command
	// file is the file that it loads, where its rules are read.
	file source.Ref
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
			in: r.c, script: s, opaque: true, forks: outer.forks, conditional: outer.conditional, loop: outer.loop, awaited: outer.awaited, tolerated: outer.tolerated,
		})
		return
	}
	var parsed *shell.Script
	if s.argv != nil {
		words := make([]string, 0, len(s.argv))
		for _, w := range s.argv {
			words = append(words, w.Text)
		}
		parsed = shell.ParseArgv(words, s.Env)
	} else {
		parsed = shell.ParseEnv(s.Text, s.Env)
	}
	for _, cmd := range parsed.Commands {
		if len(r.out) >= maxCommands {
			r.rest(s, outer)
			return
		}
		if cmd.FirstNetNS && r.c.pod.spec.get("hostPID").boolean() == Absent {
			cmd.OtherNetNS = false // process 1 is in the pod, and its namespace is the pod's
		}
		it := command{
			in: r.c, cmd: cmd, script: s, words: cmd.Words, before: r.out[:len(r.out):len(r.out)],
			forks:       append(outer.forks[:len(outer.forks):len(outer.forks)], cmd.Forks...),
			conditional: outer.conditional || cmd.Conditional,
			loop:        outer.loop || cmd.Loop,
			awaited:     outer.awaited || cmd.LoopCondition && cmd.Awaited,
			tolerated:   outer.tolerated || cmd.Tolerated,
		}
		r.out = append(r.out, it)
		if depth < maxDepth {
			r.follow(it, depth)
		}
	}
	if parsed.Err != nil {
		r.broken(s, parsed, outer)
	}
	if parsed.Truncated {
		r.rest(s, outer)
	}
}

// broken stands for the part of a script from its first mistake on. What the
// shell that runs it makes of that is not known.
func (r *commandReader) broken(s script, parsed *shell.Script, outer command) {
	text, at, arg := s.Text, parsed.ErrAt, parsed.ErrArg
	if s.argv != nil {
		text = s.argv[min(max(arg, 0), len(s.argv)-1)].Text
	}
	at = min(max(at, 0), len(text))
	end := at + strings.IndexByte(text[at:]+"\n", '\n')
	if end == at { // at the end of a line: the line
		at = strings.LastIndexByte(text[:at], '\n') + 1
	}
	s.Ref = command{cmd: &shell.Command{}, script: s}.place(arg, at, end)
	s.State, s.Why = Unknown, because("the script cannot be read as shell from here on: "+clip(parsed.Err.Error()), "correct the script")
	r.out = append(r.out, command{
		in: r.c, script: s, opaque: true, forks: outer.forks, conditional: outer.conditional, loop: outer.loop, awaited: outer.awaited, tolerated: outer.tolerated,
	})
}

// rest stands for the part of a script that was not read: it may do anything.
func (r *commandReader) rest(s script, outer command) {
	s.State, s.Why = Unknown, because("its script is too long or too deeply nested to be read to its end", "make it shorter")
	r.out = append(r.out, command{
		in: r.c, script: s, opaque: true, forks: outer.forks, conditional: outer.conditional, loop: outer.loop, awaited: outer.awaited, tolerated: outer.tolerated,
	})
}

// follow reads the mounted file that a command runs: sh file, . file, file.
func (r *commandReader) follow(it command, depth int) {
	name := it.runs()
	if !strings.HasPrefix(name, "/") || r.visited[name] {
		return
	}
	s, found := r.c.scriptFile(name, it.script.Env)
	if !found {
		return
	}
	r.visited[name] = true
	if it.words0() == name { // the kernel reads its first line
		switch by := interpreter(s.Text); {
		case by == "nft":
			r.out = append(r.out, it.as("nft", "-f", name))
			return
		case by != "" && !isShell(by) && s.State == Present:
			s.State, s.Why = Unknown, because(name+" is a script for "+by+", which is not read", noAdvice)
		}
	}
	if it.script.Kind != scriptCommand {
		s.Kind = it.script.Kind
	}
	r.read(s, it, depth+1)
}

// as is another command in the place of one.
func (c command) as(words ...string) command {
	cmd := *c.cmd
	at := cmd.Words[0]
	cmd.Words = nil
	for _, w := range words {
		cmd.Words = append(cmd.Words, shell.Word{Text: w, Known: true, Arg: at.Arg, Start: at.Start, End: at.End})
	}
	c.cmd, c.words = &cmd, cmd.Words
	return c
}

// interpreter is the program that the first line of a script names, "" for none.
func interpreter(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, is := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	for is && len(words) > 0 {
		name := path.Base(words[0])
		switch {
		case name == "env" || name == "with-contenv" || name == "busybox" || strings.HasPrefix(name, "-") || strings.Contains(name, "="):
			words = words[1:]
		default:
			return name
		}
	}
	return ""
}

func isShell(name string) bool {
	switch name {
	case "sh", "bash", "ash", "dash", "ksh", "mksh", "zsh":
		return true
	}
	return false
}

// runs is the program that a command runs, or the script that it gives a shell.
func (c command) runs() string {
	switch c.name() {
	case "sh", "bash", "ash", "dash", "ksh", "mksh", "zsh", ".", "source":
		for _, arg := range c.args() {
			if !strings.HasPrefix(arg, "-") {
				return arg
			}
		}
		return ""
	default:
		return c.words0()
	}
}

// words0 is the program as written.
func (c command) words0() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0].Text
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

// whole: the command is the argument vector itself, no part of a script in it.
func (c command) whole() bool {
	if c.cmd == nil || c.script.argv == nil {
		return false
	}
	arg := c.cmd.Arg
	return arg < 0 || arg >= len(c.script.argv) || len(c.words) > 0 && c.words[0].Arg == arg && c.words[0].Text == c.script.argv[arg].Text
}

// place returns the place of the bytes [start, end) of an argument, or of the
// script.
func (c command) place(arg, start, end int) source.Ref {
	if c.cmd == nil || c.script.argv == nil {
		return c.script.within(start, end)
	}
	if arg < 0 || arg >= len(c.script.argv) {
		return c.script.Ref
	}
	w := c.script.argv[arg]
	if w.Moved || start < 0 || end > len(w.Text) || end <= start || start == 0 && end == len(w.Text) {
		return w.Ref
	}
	return w.Ref.Within(start, end)
}

// ref is the command's place: the list of arguments, or a part of a script.
func (c command) ref() source.Ref {
	if c.cmd == nil || c.whole() {
		return c.script.Ref
	}
	return c.place(c.cmd.Arg, c.cmd.Start, c.cmd.End)
}

// wordRef is the place of one of the command's words.
func (c command) wordRef(w shell.Word) source.Ref {
	switch {
	case !w.Loaded:
		return c.place(w.Arg, w.Start, w.End)
	case c.file.IsZero(): // the script writes it first
		return c.ref()
	}
	return c.file.Within(w.Start, w.End)
}

// text is the command as written.
func (c command) text() string {
	if c.cmd == nil {
		return c.script.Text
	}
	in := c.script.Text
	if c.script.argv != nil {
		if c.whole() {
			return quoteWords(c.script.argv)
		}
		in = c.script.argv[c.cmd.Arg].Text
	}
	if c.cmd.Start < 0 || c.cmd.End > len(in) || c.cmd.End <= c.cmd.Start {
		return ""
	}
	return in[c.cmd.Start:c.cmd.End]
}

// says is the command as written, on one line.
func (c command) says() string { return clip(c.text()) }

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
	if c.cmd.OtherNetNS {
		return talksNothing // not through the pod's namespace
	}
	if !shell.TalksToNetwork(c.cmd) {
		if c.usesLoopback() {
			return talksLocal
		}
		return talksNothing
	}
	switch c.name() {
	case "apk", "apt", "apt-get", "yum", "dnf", "microdnf", "zypper", "opkg", "pacman", "pip", "pip3", "npm", "yarn", "pnpm", "gem",
		"cargo", "composer", "go", "helm":
		return talksOutside
	case "kubectl":
		return talksCluster
	}
	return c.destination()
}

// usesLoopback: a client that asks the pod itself.
func (c command) usesLoopback() bool {
	switch c.name() {
	case "curl", "wget", "nc", "ncat", "ping":
		return true
	default:
		return false
	}
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
