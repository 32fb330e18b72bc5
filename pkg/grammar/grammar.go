// Package grammar reads the configuration languages that are embedded in
// ConfigMaps, Secrets and environment variables: WireGuard/wg-quick, OpenVPN,
// ip-masq-agent and lists of prefixes. It turns text into values that know
// their byte offsets, judges nothing, and never fails as a whole: what it does
// not understand is returned as a Problem with its place.
package grammar

import "net/netip"

// Range is the half-open byte range [Start, End) of a piece of the input.
type Range struct{ Start, End int }

// Problem is a piece that the real reader would refuse, or that cannot be read
// here (a template placeholder).
type Problem struct {
	Range
	Says string // "unknown key \"Adress\" in [Interface]"
	// Fatal: the real reader refuses the whole configuration because of it.
	Fatal bool
}

// Prefix is one entry of a list of prefixes.
type Prefix struct {
	Range
	Text string
	// Prefix is masked; Valid is false for what is no prefix.
	Prefix netip.Prefix
	Valid  bool
	// HostBits: the text has bits set right of the mask.
	HostBits bool
	// Bare: an address without a mask.
	Bare bool
}

// Word is a piece of text with its place.
type Word struct {
	Range
	Text string
}
