package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// ListState tells where the agent's exemption list comes from.
type ListState string

// The states of a list.
const (
	// ListDefault: the key is absent, the agent's built-in list stays (FG A1.5).
	ListDefault ListState = "default"
	// ListExplicit: the configuration has the key, also with an empty list.
	ListExplicit ListState = "explicit"
	// ListUnknown: template text stands where the list would be.
	ListUnknown ListState = "unknown"
)

// DefaultCIDRLimit is the most entries that the upstream agent accepts unless
// cidrLimit says otherwise (FG A1.4).
const DefaultCIDRLimit = 64

// IPMasq is the configuration of an ip-masq-agent (FG A1.3-A1.8).
type IPMasq struct {
	List ListState
	// Empty: the list is explicit and has no entries: all but link-local is
	// masqueraded.
	Empty bool
	// Blank: the whole text holds nothing but white space and comments. The
	// readers differ there (FG A1.5, A3.2, A5.3).
	Blank bool
	// Key is the range of the key, ListRange that of key and list.
	Key, ListRange Range
	Entries        []Prefix

	MasqLinkLocal     Flag
	MasqLinkLocalIPv6 Flag
	// ResyncInterval is the text of the duration, Resync its value (0: not set
	// or not valid).
	ResyncInterval Word
	Resync         time.Duration
	// CIDRLimit is in force since agent v2.9.0; DefaultCIDRLimit if not set.
	CIDRLimit      int
	CIDRLimitRange Range
	Problems       []Problem
}

// Flag is a boolean of a configuration with the place of its value.
type Flag struct {
	Range
	// Set: the key is there with a value; Value is false otherwise.
	Set, Value bool
}

// IPv6Entries returns the entries that the upstream agent refuses unless it
// runs with --enable-ipv6 (FG A1.7); they are no Problem by themselves.
func (c *IPMasq) IPv6Entries() []Prefix {
	var out []Prefix
	for _, p := range c.Entries {
		if p.Valid && p.Addr.Is6() && !p.Addr.Is4In6() {
			out = append(out, p)
		}
	}
	return out
}

// Refused returns the problems for which the upstream agent refuses the text.
func (c *IPMasq) Refused() []Problem {
	var out []Problem
	for _, p := range c.Problems {
		if p.Fatal {
			out = append(out, p)
		}
	}
	return out
}

// ParseIPMasq reads the configuration as the upstream agent does: YAML or JSON
// turned into JSON and laid over a struct with defaults, keys matched without
// regard to case, unknown keys ignored.
func ParseIPMasq(text string) *IPMasq {
	r := &masqReader{text: text, refused: map[*yaml.Node]bool{}, conf: &IPMasq{List: ListDefault, CIDRLimit: DefaultCIDRLimit}}
	r.read()
	sortProblems(r.conf.Problems)
	return r.conf
}

type masqReader struct {
	text string
	conf *IPMasq
	at   *nodeOffsets
	// refused are the entries that a problem names already.
	refused map[*yaml.Node]bool
}

func (r *masqReader) problem(at Range, kind ProblemKind, fatal bool, format string, args ...any) {
	r.conf.Problems = append(r.conf.Problems, Problem{Range: at, Kind: kind, Fatal: fatal, Says: fmt.Sprintf(format, args...)})
}

func (r *masqReader) read() {
	whole := Range{0, len(r.text)}
	if encrypted(r.text) {
		r.conf.List = ListUnknown
		r.problem(whole, Placeholder, false, "the whole configuration is filled in later")
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(r.text), &doc); err != nil {
		if p := placeholder(r.text); p != "" {
			r.conf.List = ListUnknown
			r.problem(whole, Placeholder, false, "template text %q is filled in later", shorten(p))
			return
		}
		r.problem(brokenLine(r.text), Syntax, true, "neither YAML nor JSON: %s", yamlMessage(err))
		return
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		r.conf.Blank = true
		return
	}
	r.at = newNodeOffsets(r.text)
	root := resolve(doc.Content[0])
	switch {
	case isNull(root):
		r.conf.Blank = root.Value == ""
	case root.Kind == yaml.MappingNode:
		r.mapping(root)
	default:
		if placeholder(r.text) != "" {
			r.conf.List = ListUnknown
			r.problem(whole, Placeholder, false, "the configuration is filled in later")
			return
		}
		r.problem(r.at.rangeOf(root), WrongType, true, "the configuration is %s, not a mapping", kindName(root))
	}
}

// mapping lays the keys over the defaults in the order in which encoding/json
// meets them: YAML maps become JSON with sorted keys, and of two keys that
// differ in case only, the later one wins.
func (r *masqReader) mapping(root *yaml.Node) {
	type pair struct{ key, value *yaml.Node }
	byName := map[string]pair{}
	var names []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k.Tag == "!!merge" {
			r.conf.List = ListUnknown
			r.problem(r.at.rangeOf(k), Syntax, false, "a YAML merge key is not read here")
			continue
		}
		if placeholder(k.Value) != "" {
			r.conf.List = ListUnknown
			r.problem(r.at.rangeOf(k), Placeholder, false, "the key %q is filled in later", shorten(k.Value))
			continue
		}
		if old, ok := byName[k.Value]; ok {
			r.problem(r.at.rangeOf(old.key), Duplicate, false, "the key %q comes twice; the last one is read", shorten(k.Value))
		} else {
			names = append(names, k.Value)
		}
		byName[k.Value] = pair{k, v}
	}
	slices.Sort(names)
	for _, name := range names {
		p := byName[name]
		r.key(p.key, resolve(p.value))
	}
	if n := len(r.conf.Entries); n > r.conf.CIDRLimit {
		r.problem(r.conf.ListRange, TooMany, true, "%d entries, and the agent accepts at most %d", n, r.conf.CIDRLimit)
	}
}

func (r *masqReader) key(k, v *yaml.Node) {
	switch strings.ToLower(k.Value) {
	case "nonmasqueradecidrs":
		r.list(k, v)
	case "masqlinklocal":
		r.flag(&r.conf.MasqLinkLocal, k, v)
	case "masqlinklocalipv6":
		r.flag(&r.conf.MasqLinkLocalIPv6, k, v)
	case "resyncinterval":
		r.duration(k, v)
	case "cidrlimit":
		r.limit(k, v)
	}
}

func (r *masqReader) list(k, v *yaml.Node) {
	c := r.conf
	c.Key = r.at.rangeOf(k)
	c.ListRange = Range{c.Key.Start, max(c.Key.End, r.at.rangeOf(v).End)}
	c.Entries = nil
	if isNull(v) {
		c.List, c.Empty = ListExplicit, true
		return
	}
	if v.Kind != yaml.SequenceNode {
		if placeholder(v.Value) != "" || v.Kind == yaml.MappingNode && placeholder(r.text) != "" {
			c.List = ListUnknown
			r.problem(r.at.rangeOf(v), Placeholder, false, "%s is filled in later", k.Value)
			return
		}
		c.List = ListExplicit
		r.problem(r.at.rangeOf(v), WrongType, true, "%s is %s, not a list", k.Value, kindName(v))
		return
	}
	c.List, c.Empty = ListExplicit, len(v.Content) == 0
	for _, item := range v.Content {
		r.entry(item)
	}
}

func (r *masqReader) entry(item *yaml.Node) {
	at := r.at.rangeOf(item)
	n := resolve(item)
	if n.Kind == yaml.MappingNode && placeholder(r.text) != "" {
		r.conf.List = ListUnknown
		r.problem(at, Placeholder, false, "an entry is filled in later")
		return
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && !isNull(n) && n.Tag != "!!timestamp" {
		r.conf.Entries = append(r.conf.Entries, Prefix{Range: at, Text: n.Value})
		if !r.refused[n] { // aliases repeat one entry, which is wrong once
			r.refused[n] = true
			r.problem(at, WrongType, true, "an entry is %s, not a string", kindName(n))
		}
		return
	}
	value := n.Value
	if isNull(n) {
		value = ""
	}
	p := ParsePrefix(value, at.Start)
	p.Range = at
	r.conf.Entries = append(r.conf.Entries, p)
	switch {
	case p.Unknown:
		r.conf.List = ListUnknown
		r.problem(at, Placeholder, false, "the entry %q is filled in later", shorten(value))
	case p.Bare:
		r.problem(at, BareAddress, true, "%q is an address without a mask", value)
	case !p.Valid && !goAccepts(value):
		r.problem(at, Malformed, true, "%q is no prefix", shorten(value))
	case p.HostBits:
		r.problem(at, Unaligned, true, "%s has bits set right of its mask; the network is %s", value, p.Prefix)
	}
}

// goAccepts: net.ParseCIDR takes a few texts that netip refuses (a mask with a
// leading zero); the agent uses the former.
func goAccepts(text string) bool {
	_, _, err := net.ParseCIDR(text)
	return err == nil
}

func (r *masqReader) flag(f *Flag, k, v *yaml.Node) {
	if isNull(v) {
		return
	}
	f.Range = Range{r.at.rangeOf(k).Start, max(r.at.rangeOf(k).End, r.at.rangeOf(v).End)}
	if v.Kind == yaml.ScalarNode && v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		// YAML 1.1, which the agent's reader speaks: on and yes are booleans.
		switch strings.ToLower(v.Value) {
		case "true", "yes", "on", "y":
			f.Set, f.Value = true, true
			return
		case "false", "no", "off", "n":
			f.Set = true
			return
		}
	}
	r.wrongType(k, v, "a boolean")
}

func (r *masqReader) wrongType(k, v *yaml.Node, want string) {
	if placeholder(v.Value) != "" || v.Kind == yaml.MappingNode && placeholder(r.text) != "" {
		r.problem(r.at.rangeOf(v), Placeholder, false, "%s is filled in later", k.Value)
		return
	}
	r.problem(r.at.rangeOf(v), WrongType, true, "%s is %s, not %s", k.Value, kindName(v), want)
}

// duration: the agent's Duration type takes a JSON string only; a bare number
// is refused (FG A1.4).
func (r *masqReader) duration(k, v *yaml.Node) {
	at := r.at.rangeOf(v)
	if isNull(v) {
		return
	}
	if v.Kind != yaml.ScalarNode || v.Tag == "!!int" || v.Tag == "!!float" || v.Tag == "!!bool" {
		r.conf.ResyncInterval = Word{Range: at, Text: v.Value}
		r.wrongType(k, v, `a duration string such as "60s"`)
		return
	}
	r.conf.ResyncInterval = Word{Range: at, Text: v.Value, Unknown: placeholder(v.Value) != ""}
	if r.conf.ResyncInterval.Unknown {
		r.problem(at, Placeholder, false, "%s is filled in later", k.Value)
		return
	}
	d, err := time.ParseDuration(v.Value)
	if err != nil {
		r.problem(at, BadValue, true, "%s is %q, no duration", k.Value, shorten(v.Value))
		return
	}
	r.conf.Resync = d
}

func (r *masqReader) limit(k, v *yaml.Node) {
	if isNull(v) {
		return
	}
	r.conf.CIDRLimitRange = r.at.rangeOf(v)
	var n int
	if v.Kind != yaml.ScalarNode || v.Tag != "!!int" || json.Unmarshal([]byte(v.Value), &n) != nil {
		r.wrongType(k, v, "a whole number")
		return
	}
	r.conf.CIDRLimit = n
}

// resolve follows an alias. yaml refuses an alias inside its own anchor when it
// decodes, but not in a node tree: one step is enough and cannot loop, because
// an alias node points at the anchored node itself.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "the number " + shorten(n.Value)
	case "!!bool":
		return "the boolean " + shorten(n.Value)
	case "!!null":
		return "null"
	}
	return fmt.Sprintf("the string %q", shorten(n.Value))
}

// yamlPlace is what the library says before its message: the line that it names
// is often that of the construct around the mistake, and counts from 0 or from 1.
var yamlPlace = regexp.MustCompile(`^(?:yaml: )?(?:line \d+: )?`)

func yamlMessage(err error) string {
	return shorten(strings.TrimPrefix(err.Error(), yamlPlace.FindString(err.Error())))
}

// brokenLine is the line that breaks a text which is no YAML: the one after the
// longest beginning that is, of JSON where its reader stops. It is all of a text
// that is too long to try.
func brokenLine(text string) (at Range) {
	const most, longest = 256, 1 << 16 // each line costs a parse of what is before
	whole := Range{0, len(text)}
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > most || len(text) > longest {
		return whole
	}
	var wrong *json.SyntaxError
	if flow := strings.TrimSpace(text); strings.HasPrefix(flow, "{") || strings.HasPrefix(flow, "[") {
		if errors.As(jsonError(text), &wrong) {
			return lineAt(text, int(wrong.Offset)-1)
		}
	}
	defer func() { // the parser is not ours
		if recover() != nil {
			at = whole
		}
	}()
	end := len(text)
	for i, line := range slices.Backward(lines) {
		start := end - len(line)
		var doc yaml.Node
		if i == 0 || yaml.Unmarshal([]byte(text[:start]), &doc) == nil {
			return lineAt(text, start)
		}
		end = start
	}
	return whole
}

func jsonError(text string) error {
	var value any
	return json.Unmarshal([]byte(text), &value)
}

// lineAt is the line of an offset without the blanks around it.
func lineAt(text string, offset int) Range {
	offset = min(max(offset, 0), len(text))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	bare := strings.TrimSpace(line)
	start += strings.Index(line, bare)
	return Range{start, start + len(bare)}
}
