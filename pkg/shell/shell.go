// Package shell reads POSIX/bash scripts the way a careful reader does: which
// commands run, under which conditions, with which words, and what the reader
// cannot know. It uses a real shell parser and never runs anything.
package shell

// Command is one simple command of a script in the order of its text.
type Command struct {
	// Words are the expanded words. A word whose value depends on something
	// unknown has Known false and Text with the unknown parts as written.
	Words []Word
	// Redirects: `echo 1 > /proc/sys/net/ipv4/ip_forward`.
	Redirects []Redirect
	// PipedFrom is the command whose standard output it reads, nil for none.
	PipedFrom *Command
	// Conditional: it is reached only if some test holds (if, case, &&, a loop
	// that may not run). A left operand of && or || is not conditional.
	Conditional bool
	// Loop: it stands in a loop (while/until/for), its condition included.
	Loop bool
	// LoopCondition: it is (part of) the condition of a while or until loop.
	LoopCondition bool
	// Tolerated: the script goes on if it fails (|| true, || :, a condition, no
	// set -e and not the last command).
	Tolerated bool
	// Background: started with &.
	Background bool
	// Exec: run through exec; nothing after it runs.
	Exec bool
	// Start and End are byte offsets in the script.
	Start, End int
}

// Word is an expanded word of a command.
type Word struct {
	Text       string
	Known      bool
	Start, End int
}

// Redirect is an output redirection with its target.
type Redirect struct {
	Op     string // ">", ">>"
	Target Word
}

// Script is a parsed script.
type Script struct {
	Commands []*Command
	// Err is the parser's message for a script that is not valid shell;
	// Commands then holds what was read before it. ErrAt is its byte offset.
	Err   error
	ErrAt int
}
