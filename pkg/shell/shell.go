// Package shell reads POSIX/bash scripts the way a careful reader does: which
// commands run, under which conditions, with which words, and what the reader
// cannot know. It uses a real shell parser and never runs anything.
package shell

import "path"

// Command is one simple command of a script in the order in which a shell meets
// it. Wrappers (exec, sudo, env, timeout, nsenter, ...) are looked through: the
// command is the inner one. A function's commands stand where it is called.
type Command struct {
	// Words are the expanded words. A word whose value depends on something
	// unknown has Known false and Text with the unknown parts as written.
	Words []Word
	// Redirects of standard output: `echo 1 > /proc/sys/net/ipv4/ip_forward`.
	Redirects []Redirect
	// HereDoc is the text of a here-document on standard input, HereDocKnown
	// whether all of it is known.
	HereDoc      string
	HereDocKnown bool
	// hereDoc is where its text stands.
	hereDoc place
	// Input is the file of standard input, < FILE; its Text is "" without one.
	Input Word
	// PipedFrom is the command whose standard output it reads, nil for none.
	PipedFrom *Command
	// Conditional: it is reached only if some test holds (if, case, &&, a loop
	// that may not run, an earlier exit 0 in a branch). A left operand of && or
	// || is not conditional, and neither is what follows "action &&": an action
	// that is no test is expected to succeed. A test whose outcome is certain
	// makes nothing conditional; what it excludes is not reported at all.
	Conditional bool
	// Conditions are the commands whose outcome decides whether it is reached,
	// the outermost first. It may be empty for a Conditional command.
	Conditions []*Command
	// Forks are the ways of the choices around it, and of those before it that
	// may end the script, the outermost first; empty for a command that is not
	// Conditional.
	Forks []Fork
	// OrElse is the left operand of || whose failure it answers.
	OrElse *Command
	// Loop: it stands in a loop (while/until/for), its condition included.
	Loop bool
	// LoopCondition: it is (part of) the condition of a while or until loop, or
	// decides a break.
	LoopCondition bool
	// Awaited: a LoopCondition whose loop ends once what it looks for is there:
	// `until CMD`, `while ! CMD`, `while [ ! -e FILE ]`, `CMD && break`.
	Awaited bool
	// Tolerated: the script goes on if it fails (|| true, || :, a condition, no
	// set -e and not the last command).
	Tolerated bool
	// Background: started with &.
	Background bool
	// Substituted: its output becomes part of another command: $(...).
	Substituted bool
	// Exec: run through exec; nothing after it runs.
	Exec bool
	// Wrappers are the names of the wrappers that were looked through, the
	// outermost first. OtherNetNS: one of them enters another network namespace
	// (nsenter -n, ip netns exec), so that it is not the pod's that it changes.
	// FirstNetNS: that is the one of process 1 (nsenter -t 1 -n), which is the
	// container's own unless it sees the node's processes.
	Wrappers   []string
	OtherNetNS bool
	FirstNetNS bool
	// Refused is what the program refuses of its own command line, nil for none: the
	// command fails, whatever it would have done.
	Refused *Refusal
	// Arg is the element of the argument vector in which the offsets count, 0
	// for a script.
	Arg int
	// Start and End are byte offsets in the script.
	Start, End int
}

// Name returns the command's name without its directory, "" if it is unknown.
func (c *Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].Known || c.Words[0].Text == "" {
		return ""
	}
	return path.Base(c.Words[0].Text)
}

// args returns the words after the name.
func (c *Command) args() []Word {
	if len(c.Words) == 0 {
		return nil
	}
	return c.Words[1:]
}

// Word is an expanded word of a command.
type Word struct {
	Text  string
	Known bool
	// Arg is the element of the argument vector in which the offsets count.
	Arg        int
	Start, End int
	// Loaded: the offsets count in the text of a file that the command loads.
	Loaded bool

	// several: an unknown value that may be any number of words: $X without
	// quotes, "$@".
	several bool
}

// Redirect is an output redirection with its target.
type Redirect struct {
	Op     string // ">", ">>"
	Target Word
}

// Script is a parsed script: its commands in the order in which they are written,
// those of functions, substitutions and scripts inside of it where they run.
type Script struct {
	Commands []*Command
	// Err is the parser's message for a script, or one inside of it, that is not
	// valid shell; Commands then holds what was read before it. ErrAt is its byte
	// offset in ErrArg, the element of the argument vector, 0 for a script.
	Err    error
	ErrAt  int
	ErrArg int
	// Truncated: the script is so large or so deeply nested that reading it was
	// given up; Commands holds its beginning.
	Truncated bool
}
