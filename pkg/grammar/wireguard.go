package grammar

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// WireGuard is a configuration as wg-quick and wg setconf read it together
// (FG E1.1-E1.3).
type WireGuard struct {
	Interface Interface
	// Peers are in the order of the text, which decides who keeps a prefix that
	// two of them claim: the last (FG E1.5).
	Peers    []Peer
	Problems []Problem
	// Unknown: the text is encrypted or one placeholder; nothing was read.
	Unknown bool
}

// Interface is the [Interface] section; several of them are read as one.
type Interface struct {
	// Range is that of the first section header, empty without one.
	Range
	PrivateKey Word
	Address    []Prefix
	// DNS are resolvers and search domains, as written.
	DNS        []Word
	MTU        Word
	Table      Word // "auto", "off" or a number; FG E1.8
	ListenPort Word
	FwMark     Word
	SaveConfig Word
	// The hooks are shell commands in which %i stands for the interface.
	PreUp, PostUp, PreDown, PostDown []Word
}

// Peer is one [Peer] section. What it does not have is the zero Word or an empty
// list.
type Peer struct {
	// Range is that of the section: from its header to its last key.
	Range
	// Header is the range of "[Peer]".
	Header       Range
	PublicKey    Word
	PresharedKey Word
	AllowedIPs   []Prefix
	// AllowedIPsKey is the range of the first AllowedIPs key, empty without one.
	AllowedIPsKey       Range
	Endpoint            Word
	PersistentKeepalive Word
}

// The keys of the two sections, in lower case with their usual spelling. Keys
// are matched without regard to case (wg-quick sets nocasematch, wg uses
// strncasecmp).
var (
	interfaceKeys = map[string]string{
		"privatekey": "PrivateKey", "listenport": "ListenPort", "fwmark": "FwMark", "address": "Address", "dns": "DNS",
		"mtu": "MTU", "table": "Table", "preup": "PreUp", "postup": "PostUp", "predown": "PreDown", "postdown": "PostDown",
		"saveconfig": "SaveConfig",
	}
	peerKeys = map[string]string{
		"publickey": "PublicKey", "presharedkey": "PresharedKey", "allowedips": "AllowedIPs", "endpoint": "Endpoint",
		"persistentkeepalive": "PersistentKeepalive",
	}
)

// ParseWireGuard reads a wg-quick configuration. Keys themselves (base64) are
// not checked: in version control they are redacted as a rule.
func ParseWireGuard(text string) *WireGuard {
	r := &wgReader{text: text, wg: &WireGuard{}}
	if encrypted(text) {
		r.wg.Unknown = true
		r.problem(Range{0, len(text)}, Placeholder, false, "the whole configuration is filled in later")
		return r.wg
	}
	for _, l := range splitLines(text) {
		r.line(l.start, l.end)
	}
	for i := range r.wg.Peers {
		if p := &r.wg.Peers[i]; !p.PublicKey.Set() {
			r.problem(p.Header, NoKey, true, "the peer has no PublicKey")
		}
	}
	sortProblems(r.wg.Problems)
	return r.wg
}

type wgReader struct {
	text    string
	wg      *WireGuard
	section string // "", "interface", "peer", "other"
}

func (r *wgReader) problem(at Range, kind ProblemKind, fatal bool, format string, args ...any) {
	r.wg.Problems = append(r.wg.Problems, Problem{Range: at, Kind: kind, Fatal: fatal, Says: fmt.Sprintf(format, args...)})
}

// line reads one line. The comment is cut first, except that a hook keeps its
// '#' (wg-quick since 2025): a hook cut at '#' would be another command.
func (r *wgReader) line(start, end int) {
	full := end
	if i := strings.IndexByte(r.text[start:end], '#'); i >= 0 {
		end = start + i
	}
	from, to := trimRange(r.text, start, end)
	if from == to {
		return
	}
	at := Range{from, to}
	body := r.text[from:to]
	if body[0] == '[' {
		r.header(at, body)
		return
	}
	eq := strings.IndexByte(body, '=')
	if eq < 0 {
		r.unrecognised(at, body)
		return
	}
	kFrom, kTo := trimRange(r.text, from, from+eq)
	vFrom, vTo := trimRange(r.text, from+eq+1, to)
	key := r.text[kFrom:kTo]
	hook := false
	switch strings.ToLower(key) {
	case "preup", "postup", "predown", "postdown":
		hook = true
		vFrom, vTo = trimRange(r.text, from+eq+1, full)
	}
	value := Word{Range: Range{vFrom, vTo}, Text: r.text[vFrom:vTo]}
	// A hook is a shell command: its $NAME is no placeholder.
	value.Unknown = !hook && placeholder(value.Text) != ""
	keyAt := Range{kFrom, kTo}
	switch r.section {
	case "interface":
		r.interfaceKey(keyAt, key, value)
	case "peer":
		r.peerKey(keyAt, key, value)
	case "other":
		// Its header was reported.
	default:
		r.unrecognised(at, body)
	}
}

func (r *wgReader) header(at Range, body string) {
	switch strings.ToLower(strings.Join(strings.Fields(body), "")) {
	case "[interface]":
		r.section = "interface"
		if r.wg.Interface.Range == (Range{}) {
			r.wg.Interface.Range = at
		}
	case "[peer]":
		r.section = "peer"
		r.wg.Peers = append(r.wg.Peers, Peer{Range: at, Header: at})
	default:
		r.section = "other"
		kind := UnknownKey
		if !strings.HasSuffix(body, "]") {
			kind = Syntax
		}
		r.problem(at, kind, true, "unknown section %s", body)
	}
}

// unrecognised reports a line that wg refuses, unless a template engine
// consumes it before wg sees it.
func (r *wgReader) unrecognised(at Range, body string) {
	if placeholder(body) != "" {
		r.problem(at, Placeholder, false, "template text %q is filled in later", shorten(body))
		return
	}
	r.problem(at, Syntax, true, "line %q is no section and no key", shorten(body))
}

func (r *wgReader) interfaceKey(keyAt Range, key string, v Word) {
	name, ok := interfaceKeys[strings.ToLower(key)]
	if !ok {
		r.unknownKey(keyAt, key, "[Interface]")
		return
	}
	if r.empty(keyAt, name, v) {
		return
	}
	in := &r.wg.Interface
	switch name {
	case "PrivateKey":
		in.PrivateKey = v
	case "Address":
		// wg-quick turns commas into spaces and splits.
		ps := ParsePrefixes(v.Text, v.Start, ", ")
		in.Address = append(in.Address, ps...)
		r.prefixes(name, ps)
	case "DNS":
		in.DNS = append(in.DNS, splitWords(v, ", ")...)
	case "MTU":
		in.MTU = r.number(name, v, 65535, "")
	case "Table":
		in.Table = v
		if !tableName.MatchString(v.Text) {
			r.number(name, v, 1<<32-1, "")
		}
	case "ListenPort":
		in.ListenPort = r.number(name, v, 65535, "")
	case "FwMark":
		in.FwMark = r.number(name, v, 1<<32-1, "off")
	case "SaveConfig":
		in.SaveConfig = v
		if n := strings.ToLower(v.Text); n != "true" && n != "false" && !r.unknown(name, v) {
			r.problem(v.Range, BadValue, true, "SaveConfig is %q, neither true nor false", shorten(v.Text))
		}
	case "PreUp":
		in.PreUp = append(in.PreUp, v)
	case "PostUp":
		in.PostUp = append(in.PostUp, v)
	case "PreDown":
		in.PreDown = append(in.PreDown, v)
	case "PostDown":
		in.PostDown = append(in.PostDown, v)
	}
}

func (r *wgReader) peerKey(keyAt Range, key string, v Word) {
	name, ok := peerKeys[strings.ToLower(key)]
	if !ok {
		r.unknownKey(keyAt, key, "[Peer]")
		return
	}
	p := &r.wg.Peers[len(r.wg.Peers)-1]
	if name == "AllowedIPs" {
		// An empty value is legal here and clears nothing.
		if p.AllowedIPsKey == (Range{}) {
			p.AllowedIPsKey = keyAt
		}
		p.End = max(keyAt.End, v.End)
		ps := allowedIPs(v)
		p.AllowedIPs = append(p.AllowedIPs, ps...)
		r.prefixes(name, ps)
		for entry := range strings.SplitSeq(v.Text, ",") {
			if v.Text != "" && !v.Unknown && strings.TrimSpace(entry) == "" {
				r.problem(v.Range, BadValue, true, "AllowedIPs has an entry without an address in %q", shorten(v.Text))
				break
			}
		}
		return
	}
	if r.empty(keyAt, name, v) {
		return
	}
	p.End = v.End
	switch name {
	case "PublicKey":
		p.PublicKey = v
	case "PresharedKey":
		p.PresharedKey = v
	case "Endpoint":
		p.Endpoint = v
		if !r.unknown(name, v) && !endpoint(v.Text) {
			r.problem(v.Range, BadValue, true, "Endpoint is %q, not host:port", shorten(v.Text))
		}
	case "PersistentKeepalive":
		p.PersistentKeepalive = r.number(name, v, 65535, "off")
	}
}

// tableName is a word that may stand for a routing table: auto, off, main, and what
// /etc/iproute2/rt_tables of the image calls one.
var tableName = regexp.MustCompile(`^[A-Za-z_][\w.-]*$`)

var amnezia = regexp.MustCompile(`(?i)^(jc|jmin|jmax|s[1-4]|h[1-4]|i[1-5]|j[1-3]|itime|advancedsecurity)$`)

func (r *wgReader) unknownKey(at Range, key, section string) {
	if placeholder(key) != "" {
		r.problem(at, Placeholder, false, "the key %q is filled in later", shorten(key))
		return
	}
	// The fork AmneziaWG has keys of its own, and its images are called like others.
	r.problem(at, UnknownKey, !amnezia.MatchString(key), "unknown key %q in %s", shorten(key), section)
}

func (r *wgReader) empty(keyAt Range, name string, v Word) bool {
	if v.Text != "" {
		return false
	}
	// Hooks and wg-quick's own keys may be empty; wg's may not.
	switch name {
	case "PrivateKey", "PublicKey", "PresharedKey":
		r.problem(keyAt, NoKey, true, "%s has no value", name)
	case "ListenPort", "FwMark", "Endpoint", "PersistentKeepalive", "SaveConfig":
		r.problem(keyAt, BadValue, true, "%s has no value", name)
	default:
		r.problem(keyAt, BadValue, false, "%s has no value", name)
	}
	return true
}

func (r *wgReader) unknown(name string, v Word) bool {
	unknown := v.Unknown || replaced.MatchString(v.Text) // REPLACE_ME
	if unknown {
		r.problem(v.Range, Placeholder, false, "%s is %q, filled in later", name, shorten(v.Text))
	}
	return unknown
}

// number checks a number in decimal or 0x notation, or the one word that may
// stand for it.
func (r *wgReader) number(name string, v Word, high uint64, word string) Word {
	if word != "" && strings.EqualFold(v.Text, word) || r.unknown(name, v) {
		return v
	}
	n, err := strconv.ParseUint(v.Text, 0, 64)
	if err != nil || n > high {
		r.problem(v.Range, BadValue, true, "%s is %q, not a number up to %d", name, shorten(v.Text), high)
	}
	return v
}

func (r *wgReader) prefixes(name string, ps []Prefix) {
	for _, p := range ps {
		switch {
		case p.Unknown:
			r.problem(p.Range, Placeholder, false, "%s entry %q is filled in later", name, shorten(p.Text))
		case !p.Valid:
			r.problem(p.Range, Malformed, true, "%s entry %q is no address and no prefix", name, shorten(p.Text))
		case p.HostBits && name == "AllowedIPs":
			r.problem(p.Range, Unaligned, false, "AllowedIPs entry %s has host bits set; wg reads %s", p.Text, p.Prefix)
		}
	}
}

// allowedIPs splits at commas and takes the sign off each entry (FG E1.3).
func allowedIPs(v Word) []Prefix {
	var out []Prefix
	for _, w := range splitWords(v, ",") {
		var sign byte
		text, start := w.Text, w.Start
		if text[0] == '+' || text[0] == '-' {
			sign = text[0]
			text, start = text[1:], start+1
		}
		p := ParsePrefix(text, start)
		p.Sign = sign
		p.Start = w.Start
		out = append(out, p)
	}
	return out
}

// splitWords cuts a word at any of the separators; a space in them stands for
// any white space.
func splitWords(v Word, separators string) []Word {
	var out []Word
	for _, p := range ParsePrefixes(v.Text, v.Start, separators) {
		out = append(out, Word{Range: p.Range, Text: p.Text, Unknown: placeholder(p.Text) != ""})
	}
	return out
}

// endpoint reports whether text is host:port or [v6]:port.
func endpoint(text string) bool {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 || i == len(text)-1 {
		return false
	}
	host, port := text[:i], text[i+1:]
	if strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]") || strings.ContainsAny(host, " \t") {
		return false
	}
	if strings.Contains(host, ":") && host[0] != '[' {
		return false
	}
	for _, c := range port {
		if c < '0' || c > '9' {
			return namedPort(port)
		}
	}
	n, err := strconv.Atoi(port)
	return err == nil && n <= 65535
}

// namedPort: getaddrinfo also takes service names.
func namedPort(port string) bool {
	for _, c := range port {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// shorten keeps a message readable when the text is hostile.
func shorten(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
