package facts

import (
	"path"
	"strings"

	"github.com/vpnlint/vpnlint/pkg/source"
)

// scriptKind says when a script runs.
type scriptKind string

const (
	scriptCommand   scriptKind = "command" // the container's own command and args
	scriptFile      scriptKind = "file"    // a mounted file that the command runs
	scriptPostStart scriptKind = "hook-poststart"
	scriptPreStop   scriptKind = "hook-prestop"
	scriptProbe     scriptKind = "probe"
)

// script is shell text that a container runs.
type script struct {
	Kind scriptKind
	Text string
	// Ref is the string; for a script made from an argument vector the command.
	Ref source.Ref
	// Moved: offsets in Text mean nothing at Ref.
	Moved bool
	// State Unknown: the container runs a file that cannot be seen; Why says so.
	State Known
	Why   string
	Path  string // of a file
	// Env are the known variables of its container.
	Env map[string]string
}

// within returns the place of the bytes [start, end) of Text.
func (s script) within(start, end int) source.Ref {
	if s.Moved || end <= start {
		return s.Ref
	}
	return s.Ref.Within(start, end)
}

// word is one argument of a command vector.
type word struct {
	value
	node node
}

// argv returns command followed by args, with $(NAME) expanded, and whether
// the image's own entrypoint runs (no command is given).
func (c *containerView) argv() (words []word, entrypoint bool) {
	command := c.spec.get("command")
	words = c.words(command)
	return append(words, c.words(c.spec.get("args"))...), len(words) == 0
}

func (c *containerView) words(list node) []word {
	c.readEnv()
	var out []word
	for _, item := range list.items() {
		text, is := item.str()
		if !is {
			out = append(out, word{value{State: Unknown, Ref: item.ref(), Moved: true, Why: "it is no string"}, item})
			continue
		}
		// A ${NAME} is the shell's own here, so the text counts as known.
		v := c.expand(value{State: Present, Text: text, Ref: item.ref()})
		out = append(out, word{v, item})
	}
	return out
}

// scripts returns everything that the container runs in a shell, and argument
// vectors as scripts of one command.
func (c *containerView) scripts() []script {
	argv, entrypoint := c.argv()
	where := c.spec.get("command")
	if entrypoint {
		where = c.spec.get("args")
	}
	out := c.scriptsOf(scriptCommand, argv, where.ref())
	for _, hook := range []struct {
		kind scriptKind
		exec node
	}{
		{scriptPostStart, c.spec.get("lifecycle", "postStart", "exec", "command")},
		{scriptPreStop, c.spec.get("lifecycle", "preStop", "exec", "command")},
		{scriptProbe, c.spec.get("startupProbe", "exec", "command")},
		{scriptProbe, c.spec.get("livenessProbe", "exec", "command")},
		{scriptProbe, c.spec.get("readinessProbe", "exec", "command")},
	} {
		out = append(out, c.scriptsOf(hook.kind, c.words(hook.exec), hook.exec.ref())...)
	}
	return out
}

// scriptsOf turns one argument vector into scripts.
func (c *containerView) scriptsOf(kind scriptKind, argv []word, where source.Ref) []script {
	if len(argv) == 0 {
		return nil
	}
	env := c.knownEnv()
	inline, file, plain := unwrapShell(argv)
	switch {
	case inline != nil:
		return []script{{
			Kind: kind, Text: inline.Text, Ref: inline.Ref, Moved: inline.Moved, State: Present, Env: env,
		}}
	case file != nil:
		if s, found := c.scriptFile(file.Text, env); found {
			if kind != scriptCommand {
				s.Kind = kind
			}
			return []script{s}
		}
		// A script inside the image: opaque, but its arguments are visible.
		return []script{{Kind: kind, Text: quoteWords(argv), Ref: where, Moved: true, State: Present, Env: env}}
	default:
		if strings.HasPrefix(plain[0].Text, "/") {
			if s, found := c.scriptFile(plain[0].Text, env); found {
				if kind != scriptCommand {
					s.Kind = kind
				}
				return []script{s}
			}
		}
		return []script{{Kind: kind, Text: quoteWords(plain), Ref: where, Moved: true, State: Present, Env: env}}
	}
}

// scriptFile returns the mounted file at a path as a script; false when the
// path lies in the image.
func (c *containerView) scriptFile(name string, env map[string]string) (script, bool) {
	f := c.file(name)
	if f.State == Absent {
		return script{}, false
	}
	return script{Kind: scriptFile, Text: f.Text, Ref: f.Ref, State: f.State, Why: f.Why, Path: f.Path, Env: env}, true
}

// unwrapShell looks through wrappers such as tini and env for a shell with -c
// (inline) or with a script file; plain is the vector without wrappers.
func unwrapShell(argv []word) (inline, file *word, plain []word) {
	for len(argv) > 0 {
		name := path.Base(argv[0].Text)
		switch name {
		case "tini", "dumb-init", "catatonit", "env", "exec", "nice", "nohup", "busybox", "su-exec", "gosu", "s6-setuidgid":
			rest := argv[1:]
			if (name == "su-exec" || name == "gosu" || name == "s6-setuidgid") && len(rest) > 0 {
				rest = rest[1:]
			}
			for len(rest) > 0 && (strings.HasPrefix(rest[0].Text, "-") || name == "env" && strings.Contains(rest[0].Text, "=")) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				return nil, nil, argv
			}
			argv = rest
			continue
		case "sh", "bash", "ash", "dash", "ksh", "zsh":
			inline, file = shellOperand(argv[1:])
			return inline, file, argv
		}
		return nil, nil, argv
	}
	return nil, nil, argv
}

// shellOperand finds the string of -c or the script file among a shell's
// arguments.
func shellOperand(args []word) (inline, file *word) {
	command := false
	for i := 0; i < len(args); i++ {
		text := args[i].Text
		switch {
		case text == "--" || text == "-":
		case strings.HasPrefix(text, "--"):
		case (strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+")) && len(text) > 1:
			flags := text[1:]
			command = command || strings.HasPrefix(text, "-") && strings.Contains(flags, "c")
			if strings.HasSuffix(flags, "o") || strings.HasSuffix(flags, "O") {
				i++ // -o pipefail
			}
		case command:
			return &args[i], nil
		default:
			return nil, &args[i]
		}
	}
	return nil, nil
}

// quoteWords writes an argument vector as one shell command.
func quoteWords(argv []word) string {
	var b strings.Builder
	for i, w := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.Text != "" && strings.Trim(w.Text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+-@%=") == "" {
			b.WriteString(w.Text)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'")
	}
	return b.String()
}
