// Package grammar reads the configuration languages that are embedded in
// ConfigMaps, Secrets and environment variables: WireGuard/wg-quick, OpenVPN,
// ip-masq-agent, shell-style variable files and lists of prefixes. It turns
// text into values that know their byte offsets, judges nothing, and never
// fails as a whole: what it does not understand is returned as a Problem with
// its place.
package grammar

import "net/netip"

// Known is a three-valued answer. Its values are spelled as the facts spell
// theirs, so that one converts into the other.
type Known string

// The answers.
const (
	Yes     Known = "present"
	No      Known = "absent"
	Unknown Known = "unknown"
)

// Range is the half-open byte range [Start, End) of a piece of the input.
type Range struct{ Start, End int }

// ProblemKind says what is wrong with a piece, so that a caller who knows the
// reader can decide: Cilium masks an unaligned prefix that the upstream agent
// refuses (FG A1.7, A5.2).
type ProblemKind string

// The kinds of problems.
const (
	// Syntax: the text is not in the language at all.
	Syntax ProblemKind = "syntax"
	// UnknownKey: a key or line that the reader does not know.
	UnknownKey ProblemKind = "unknown-key"
	// BadValue: a value of the right type that the reader refuses.
	BadValue ProblemKind = "bad-value"
	// WrongType: a number where a string must be, and the like.
	WrongType ProblemKind = "wrong-type"
	// Malformed: no prefix at all.
	Malformed ProblemKind = "malformed-prefix"
	// BareAddress: an address without a mask where a prefix must be.
	BareAddress ProblemKind = "bare-address"
	// Unaligned: a prefix with bits right of its mask.
	Unaligned ProblemKind = "unaligned-prefix"
	// TooMany: a list longer than its reader allows.
	TooMany ProblemKind = "too-many"
	// Placeholder: a template placeholder that something else fills in later;
	// the value is unknown here. Never fatal.
	Placeholder ProblemKind = "placeholder"
	// NoKey: a cryptographic key that its reader needs is not there. In version control
	// keys are taken out as a rule.
	NoKey ProblemKind = "no-key"
	// Duplicate: a later piece replaces this one.
	Duplicate ProblemKind = "duplicate"
)

// Problem is a piece that the real reader would refuse, or that cannot be read
// here (a template placeholder).
type Problem struct {
	Range
	Kind ProblemKind
	Says string // "unknown key \"Adress\" in [Interface]"
	// Fatal: the real reader refuses the whole configuration because of it.
	Fatal bool
}

// Prefix is one entry of a list of prefixes.
type Prefix struct {
	Range
	Text string
	// Prefix is masked; Valid is false for what is no prefix. An address without
	// a mask is Valid with all bits set and Bare: whether that is allowed is up
	// to its reader.
	Prefix netip.Prefix
	Valid  bool
	// HostBits: the text has bits set right of the mask.
	HostBits bool
	// Bare: an address without a mask.
	Bare bool
	// Addr is the address as written, before masking ("10.8.0.1/24"); the zero
	// Addr when not Valid.
	Addr netip.Addr
	// Unknown: the text holds a template placeholder; Valid is then false.
	Unknown bool
	// Sign is the '+' or '-' before an AllowedIPs entry (wg set semantics: '-'
	// takes the prefix away), 0 without one. The sign is not part of Text.
	Sign byte
}

// Word is a piece of text with its place. The zero Word stands for what is not
// there.
type Word struct {
	Range
	Text string
	// Unknown: the text holds a template placeholder.
	Unknown bool
}

// Set reports whether the word is there at all; an empty one ("key =") has a place.
func (w Word) Set() bool { return w != Word{} }
