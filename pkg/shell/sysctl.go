package shell

import (
	"path"
	"slices"
	"strings"
)

// Sysctl is one kernel setting that a command writes.
type Sysctl struct {
	// Key with dots: net.ipv4.ip_forward. A * stands for what a wildcard or an
	// unknown part of the name may be. KeyKnown is false if nothing of it is
	// known.
	Key      string
	KeyKnown bool
	// Value as written; Known tells whether it is known.
	Value string
	Known bool
	// File is set for sysctl -p FILE: the settings stand in that file
	// (/etc/sysctl.conf without a name; "*" for --system). Key is then empty.
	File string
	// Quiet: errors of this write are ignored by sysctl itself (-e).
	Quiet bool
	// Ensured: the value holds after the command wherever the script goes on,
	// although the write may be conditional: every condition reads the same key.
	Ensured bool
	// Mount is where another /proc is mounted that it writes to: /host for
	// /host/proc/sys/net/ipv4/ip_forward.
	Mount string
	// Word is the word to point at.
	Word Word
}

// Everywhere tells whether the write is to all that a wildcard of the shell stands
// for, as in /proc/sys/net/ipv4/conf/*/forwarding, and to no unknown part of a name.
func (s Sysctl) Everywhere() bool { return s.Word.Known && strings.Contains(s.Key, "*") }

// sysctlRoot is where the kernel shows its settings as files.
const sysctlRoot = "/proc/sys/"

// Sysctls returns the settings that a command writes: sysctl in any spelling,
// or a write to a file of /proc/sys.
func Sysctls(c *Command) []Sysctl {
	out := sysctlCommand(c)
	out = append(out, procWrites(c)...)
	for i := range out {
		out[i].Ensured = ensured(c, out[i].Key)
	}
	return out
}

func sysctlCommand(c *Command) []Sysctl {
	if c.Name() != "sysctl" {
		return nil
	}
	args := append(c.args(), handedOver(c)...)
	quiet, load := false, false
	var out []Sysctl
	var files []Word
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.Text == "--system":
			out = append(out, Sysctl{File: "*", KeyKnown: true, Word: w})
		case w.Text == "--load":
			load = true
		case strings.HasPrefix(w.Text, "--load="):
			out = append(out, Sysctl{File: strings.TrimPrefix(w.Text, "--load="), KeyKnown: true, Known: w.Known, Word: w})
		case w.Text == "--ignore":
			quiet = true
		case w.Text == "-r" || w.Text == "--pattern":
			i++
		case strings.HasPrefix(w.Text, "--"):
		case len(w.Text) > 1 && w.Text[0] == '-':
			flags := w.Text[1:]
			if at := strings.IndexAny(flags, "pf"); at >= 0 {
				load = true
				if file := flags[at+1:]; file != "" && w.Known {
					files = append(files, Word{Text: file, Known: true, Arg: w.Arg, Start: w.Start, End: w.End})
				}
				flags = flags[:at]
			}
			quiet = quiet || strings.Contains(flags, "e")
		case load:
			files = append(files, w)
		default:
			if s, ok := assignmentOf(w); ok {
				out = append(out, s)
			}
		}
	}
	if load {
		if len(files) == 0 {
			out = append(out, Sysctl{File: "/etc/sysctl.conf", KeyKnown: true, Known: true, Word: c.Words[0]})
		}
		for _, f := range files {
			out = append(out, Sysctl{File: f.Text, KeyKnown: f.Known, Known: f.Known, Word: f})
		}
	}
	for i := range out {
		out[i].Quiet = quiet
	}
	return out
}

// handedOver are the words that xargs takes from standard input and gives to the
// command; one that is unknown where the input is.
func handedOver(c *Command) []Word {
	if !slices.Contains(c.Wrappers, "xargs") {
		return nil
	}
	at := c.Words[0]
	from := func(text string) []Word {
		var out []Word
		for _, field := range strings.Fields(text) {
			out = append(out, Word{Text: strings.Trim(field, `"'`), Known: true, Arg: at.Arg, Start: at.Start, End: at.End})
		}
		return out
	}
	switch text, known := "", false; {
	case c.PipedFrom != nil:
		if text, known = printed(c.PipedFrom); known {
			return from(text)
		}
	case c.HereDoc != "" && c.HereDocKnown:
		return from(c.HereDoc)
	}
	return []Word{{Text: "$", Arg: at.Arg, Start: at.Start, End: at.End}}
}

// assignmentOf reads key=value. The name may be known where the value is not; of
// a word of which neither is, it may be any assignment.
func assignmentOf(w Word) (Sysctl, bool) {
	key, value, ok := strings.Cut(w.Text, "=")
	if !ok {
		return Sysctl{Key: "*", Word: w}, !w.Known
	}
	s := Sysctl{Value: strings.Trim(strings.TrimSpace(value), `"'`), Word: w}
	s.Key, s.KeyKnown = normalise(strings.TrimSpace(key), w.Known)
	s.Known = w.Known || !strings.ContainsAny(value, "$`")
	return s, true
}

// normalise writes a name with dots. In a name with slashes first, dots belong
// to an interface's name (net/ipv4/conf/eth0.100/forwarding).
func normalise(key string, wordKnown bool) (string, bool) {
	if i := strings.IndexAny(key, "./"); i >= 0 && key[i] == '/' {
		key = strings.NewReplacer("/", ".", ".", "/").Replace(key)
	}
	if wordKnown || !strings.ContainsAny(key, "$`") {
		return key, true
	}
	parts := strings.Split(key, ".")
	some := false
	for i, p := range parts {
		if strings.ContainsAny(p, "$`") {
			parts[i] = "*"
		} else {
			some = true
		}
	}
	return strings.Join(parts, "."), some
}

// procWrites reads echo 1 > /proc/sys/..., printf, tee, cp, dd and a
// here-document.
func procWrites(c *Command) []Sysctl {
	var out []Sysctl
	add := func(target Word, value string, known bool) {
		name := target.Text
		if strings.HasPrefix(name, "/") {
			name = path.Clean(name)
		}
		mount, rest, ok := strings.Cut(name, sysctlRoot)
		if !ok || mount != "" && !strings.HasPrefix(mount, "/") {
			return
		}
		s := Sysctl{Value: value, Known: known, Word: target, Mount: mount}
		// Below /proc/sys every slash separates; dots belong to names.
		s.Key = strings.NewReplacer("/", ".", ".", "/").Replace(rest)
		s.Key, s.KeyKnown = normalise(s.Key, target.Known)
		out = append(out, s)
	}
	for _, r := range c.Redirects {
		value, known := printed(c)
		add(r.Target, value, known)
	}
	switch args := c.args(); c.Name() {
	case "cp", "mv": // what it copies is not read
		if n := len(args); n > 1 {
			add(args[n-1], "", false)
		}
	case "dd":
		for _, w := range args {
			if to, is := strings.CutPrefix(w.Text, "of="); is {
				w.Text = to
				add(w, "", false)
			}
		}
	}
	if c.Name() == "tee" {
		value, known := "", false
		if c.PipedFrom != nil {
			value, known = printed(c.PipedFrom)
		} else if c.HereDoc != "" {
			value, known = strings.TrimSpace(c.HereDoc), c.HereDocKnown
		}
		for _, w := range c.args() {
			if !strings.HasPrefix(w.Text, "-") {
				add(w, value, known)
			}
		}
	}
	return out
}

// printed is what a command writes to standard output, where that is known.
func printed(c *Command) (string, bool) {
	switch c.Name() {
	case "echo":
		args := c.args()
		for len(args) > 0 && (args[0].Text == "-n" || args[0].Text == "-e" || args[0].Text == "-ne") {
			args = args[1:]
		}
		return strings.TrimSpace(strings.Join(texts(args), " ")), known(args)
	case "printf":
		args := c.args()
		if len(args) == 1 {
			text := strings.NewReplacer(`\n`, "", "\n", "").Replace(args[0].Text)
			return text, args[0].Known && !strings.Contains(text, "%")
		}
		if len(args) == 2 {
			format := strings.NewReplacer(`\n`, "", "\n", "").Replace(args[0].Text)
			if format == "%s" || format == "%d" {
				return args[1].Text, known(args)
			}
		}
	case "cat":
		if len(c.args()) == 0 && c.HereDoc != "" {
			return strings.TrimSpace(c.HereDoc), c.HereDocKnown
		}
	}
	return "", false
}

// readsSysctl reports whether a command looks at a setting: sysctl -n KEY, cat
// of its file, or a test with either inside of $(...).
func readsSysctl(c *Command, key string) bool {
	slashed := strings.ReplaceAll(key, ".", "/")
	for i := 0; c != nil && i < maxPipe; i++ {
		for _, w := range c.Words {
			if strings.Contains(w.Text, key) || strings.Contains(w.Text, slashed) {
				return true
			}
		}
		c = c.PipedFrom
	}
	return false
}

// ensured: the write is unconditional, or made unless the value is there
// already.
func ensured(c *Command, key string) bool {
	if !c.Conditional {
		return true
	}
	if key == "" || len(c.Conditions) == 0 {
		return false
	}
	for _, cond := range c.Conditions {
		if cond.Name() == "sysctl" && len(Sysctls(cond)) > 0 {
			// The other spelling was tried first and failed.
			if c.OrElse == cond && len(c.Conditions) == 1 {
				continue
			}
			return false
		}
		if !readsSysctl(cond, key) {
			return false
		}
	}
	return true
}
