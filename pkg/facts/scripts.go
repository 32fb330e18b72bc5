package facts

import (
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
	Why   reason
	Path  string // of a file
	// Env are the known variables of its container.
	Env map[string]string
	// argv is set for an argument vector; Text is then for reading only.
	argv []word
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
			out = append(out, word{value{State: Unknown, Ref: item.ref(), Moved: true, Why: because("it is no string", quoteIt)}, item})
			continue
		}
		// A ${NAME} is the shell's own here, so the text counts as known.
		v := c.expand(value{State: Present, Text: text, Ref: item.ref(), Moved: item.moved()})
		out = append(out, word{v, item})
	}
	return out
}

// scripts returns everything that the container runs: its command with args,
// its hooks and its exec probes, each as an argument vector.
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
	text := quoteWords(argv)
	return []script{{Kind: kind, Text: text, Ref: where, Moved: true, State: Present, Env: c.knownEnv(), argv: argv}}
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
